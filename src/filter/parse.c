/* Reads filter texts: plain rows, ImageMagick strings, libvips matrices (contract.md, rules 17 to
 * 25).
 *
 * Lines are read into one array of values and a table of rows. The dialect is decided at the end: a
 * libvips matrix is a text that cannot be read as plain rows. */
#include "filter/fields.h"
#include "filter/filter.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WHOLE_WEIGHTS_MAX = 625 }; /* of a matrix that keep_whole takes */

/* ---- Dialects -------------------------------------------------------------------------------- */

static gconv_status fail_ragged(const gc_parser *p, int ragged)
{
    const gc_row *found = &p->rows[ragged];
    if (gc_vips_begins(p) && gc_first_ragged(p, 1) == p->row_count)
        return gc_refuse(p, found->line,
                         "%d %s where line %d has %d; nor is it a libvips matrix: %g x %g "
                         "in line %d, then %d x %d%s",
                         found->count, gc_weights_word((size_t)found->count), p->rows[0].line,
                         p->rows[0].count, p->values[0].value, p->values[1].value, p->rows[0].line,
                         p->rows[1].count, p->row_count - 1, gc_comma_hint(p));
    return gc_refuse(p, found->line, "%d %s where line %d has %d%s", found->count,
                     gc_weights_word((size_t)found->count), p->rows[0].line, p->rows[0].count,
                     gc_comma_hint(p));
}

/* Whether the rows have the form of a libvips matrix. */
static bool is_vips(const gc_parser *p)
{
    return gc_vips_begins(p) && gc_first_ragged(p, 1) == p->row_count &&
           p->rows[1].count == p->values[0].value && p->row_count - 1 == p->values[1].value;
}

static void take_plain_rows(gc_parser *p)
{
    p->width = p->rows[0].count;
    p->height = p->row_count;
    p->weights = p->values;
    p->dialect = "rows of weights";
    if (is_vips(p)) {
        p->vips_width = (int)p->values[0].value;
        p->vips_height = (int)p->values[1].value;
    }
}

static gconv_status take_vectors(gc_parser *p)
{
    const char *word;
    int line = gc_vector_line(p, &word);
    if (p->column.line == 0 || p->row.line == 0)
        return gc_refuse(p, line, "a %s line without a %s line: a filter needs both", word,
                         p->column.line == 0 ? "column" : "row");
    p->width = p->row_length;
    p->height = p->column_length;
    p->dialect = "a column and a row";
    return GCONV_OK;
}

/* Decides what the rows are: plain rows if they can be, else a libvips matrix. */
static gconv_status take_rows(gc_parser *p)
{
    if (p->row_count == 0)
        return gc_refuse(p, p->line > 0 ? p->line : 1, "no weights: at least one row");
    int ragged = gc_first_ragged(p, 0), first = 0;
    gconv_status status = GCONV_OK;
    if (ragged == p->row_count && p->row_count <= GCONV_FILTER_SIDE_MAX) {
        take_plain_rows(p);
    } else if (is_vips(p)) {
        first = 1;
        status = gc_vips_take(p);
    } else if (ragged < p->row_count)
        return fail_ragged(p, ragged);
    else
        return gc_refuse(p, p->rows[GCONV_FILTER_SIDE_MAX].line, "more than %d rows",
                         GCONV_FILTER_SIDE_MAX);

    for (int i = first; status == GCONV_OK && i < p->row_count; i++)
        for (int j = 0; status == GCONV_OK && j < p->width; j++)
            status =
                gc_check_weight(p, p->rows[i].line, p->weights[(i - first) * p->width + j].value);
    return status;
}

/* ---- The whole text -------------------------------------------------------------------------- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* True for a line that begins with a word: a header line, or an error. */
static bool begins_with_word(gc_span line)
{
    size_t length = 0;
    while (length < line.length && line.text[length] != ',' && !gc_is_blank(line.text[length]))
        length++;
    return is_letter(line.text[0]) && !gc_names_no_finite((gc_span){line.text, length});
}

static gconv_status read_text(gc_parser *p)
{
    gc_span line;
    while (gc_next_line(p, &line)) {
        gconv_status status = GCONV_OK;
        if (line.length == 0)
            continue;
        if (begins_with_word(line))
            status = gc_plain_read_header(p, line);
        else if (p->row_count == 0 && memchr(line.text, ':', line.length) != NULL)
            return gc_imagemagick_read(p, line);
        else
            status = gc_plain_read_row(p, line);
        GC_TRY(status);
    }
    return p->column.line + p->row.line > 0 ? take_vectors(p) : take_rows(p);
}

/* Refuses bytes that are no text, before a message quotes a line of them. */
static gconv_status check_text(const char *text, size_t length, gconv_error *error)
{
    if (text == NULL && length > 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "no filter text: a null pointer");
    if (length > GC_FILTER_TEXT_MAX)
        return gc_fail(error, GCONV_ERROR_FILTER, "not a filter: longer than %d MiB",
                       GC_FILTER_TEXT_MAX >> 20);
    if (length >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0))
        return gc_fail_line(error, 1, "UTF-16 text: save it as UTF-8");
    if (length >= 6 && memcmp(text, "\x93NUMPY", 6) == 0)
        return gc_fail(
            error, GCONV_ERROR_FILTER,
            "an NPY array, not a text; numpy.savetxt('k.txt', numpy.load('k.npy')) makes "
            "a filter file of it");
    const char *nul = length == 0 ? NULL : memchr(text, '\0', length);
    if (nul == NULL)
        return GCONV_OK;
    int line = 1;
    for (const char *c = text; c < nul; c++)
        line += *c == '\n';
    return gc_fail_line(error, line, "a NUL byte: this is not a text");
}

/* Whether the numbers of a vector sum to 0, but for the rounding of so many additions in double. */
static bool sums_to_zero(const double *values, int count)
{
    double magnitudes = 0;
    for (int i = 0; i < count; i++)
        magnitudes += fabs(values[i]);
    return fabs(gc_sum_of(values, count)) <= 0x1p-40 * magnitudes;
}

static gconv_status use_sum_of_vectors(const gc_parser *p, gconv_filter *filter)
{
    double sum = gc_sum_of(filter->column, filter->height) * gc_sum_of(filter->row, filter->width);
    if (sum == 0 || sums_to_zero(filter->column, filter->height) ||
        sums_to_zero(filter->row, filter->width))
        return gc_refuse(p, p->divisor.line, "divisor sum, but the weights sum to 0");
    filter->divisor = sum;
    return GCONV_OK;
}

/* The divisor of `divisor sum`. Rounding the weights to float32 can leave a small sum although the
 * written weights add up to 0 (0.1 0.2 -0.3). A sum no larger than that rounding counts as 0. */
static gconv_status use_sum(const gc_parser *p, gconv_filter *filter)
{
    double sum = 0, rounding = 0;
    if (p->weights == NULL)
        return use_sum_of_vectors(p, filter);
    for (int i = 0; i < filter->width * filter->height; i++) {
        sum += filter->weights[i];
        if (filter->weights[i] != p->weights[i].value)
            rounding += 0x1p-24 * fabs(p->weights[i].value);
    }
    if (fabs(sum) <= rounding)
        return gc_refuse(p, p->divisor.line, "divisor sum, but the weights sum to 0");
    filter->divisor = sum;
    return GCONV_OK;
}

static gconv_status use_anchor(const gc_parser *p, gconv_filter *filter)
{
    if (p->anchor_x < 0 || p->anchor_x >= p->width || p->anchor_y < 0 || p->anchor_y >= p->height)
        return gc_refuse(p, p->anchor.line,
                         "the anchor %g,%g is outside the filter of %d x %d (it counts from "
                         "0,0)",
                         p->anchor_x, p->anchor_y, p->width, p->height);
    filter->anchor_x = (int)p->anchor_x;
    filter->anchor_y = (int)p->anchor_y;
    return GCONV_OK;
}

static gconv_status use_name(const gc_parser *p, const char *name, gconv_filter *filter)
{
    if (p->name.line == 0)
        return gc_filter_set_name(filter, name, p->error);
    filter->name = malloc(p->name_text.length + 1);
    GC_TRY_MEMORY(filter->name != NULL, p->error, p->name_text.length + 1);
    memcpy(filter->name, p->name_text.text, p->name_text.length);
    filter->name[p->name_text.length] = '\0';
    return GCONV_OK;
}

/* The least common denominator of numbers as they are written; 0 if it is above 2^53. */
static int64_t common_denominator(const gc_fraction *numbers, int count)
{
    const int64_t most = INT64_C(1) << 53;
    int64_t common = 1;
    for (int i = 0; common > 0 && i < count; i++) {
        int64_t under = numbers[i].under;
        int64_t factor = under > 0 ? under / gc_common_divisor(under, common) : most + 1;
        common = factor <= most / common ? common * factor : 0;
    }
    return common;
}

static double times(gc_fraction number, int64_t factor)
{
    return (double)number.over * (double)(factor / number.under);
}

/* The sum of the magnitudes of these numbers times `factor`. */
static double sum_whole(const gc_fraction *numbers, int count, int64_t factor)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += fabs(times(numbers[i], factor));
    return sum;
}

/* Keeps the numbers that the weights are over a common denominator. The divisor takes it. */
static gconv_status keep_terms(const gc_parser *p, const gc_fraction *first, int count,
                               const int64_t factors[2], double divisor, gconv_filter *filter)
{
    int more = p->weights == NULL ? p->width : 0;
    double *terms = filter->terms = gc_allocate_array((size_t)(count + more), sizeof *terms);
    GC_TRY_MEMORY(terms != NULL, p->error, (size_t)(count + more) * sizeof *terms);
    for (int i = 0; i < count; i++)
        terms[i] = times(first[i], factors[0]);
    for (int i = 0; i < more; i++)
        terms[count + i] = times(p->row_values[i], factors[1]);
    if (p->divisor_is_sum)
        divisor = gc_sum_of(terms, count) * (more > 0 ? gc_sum_of(terms + count, more) : 1);
    filter->terms_divisor = divisor;
    filter->whole_hash = gc_filter_hash(filter);
    return GCONV_OK;
}

/* Makes the filter of whole weights that `terms` are. */
static gconv_status make_whole(const gc_parser *p, gconv_filter *filter)
{
    GC_TRY(gc_filter_create_like(filter, &filter->whole, p->error));
    gconv_filter *made = filter->whole;
    for (int i = 0; made->weights != NULL && i < p->width * p->height; i++)
        made->weights[i] = (float)filter->terms[i];
    for (int i = 0; made->weights == NULL && i < p->height; i++)
        made->column[i] = filter->terms[i];
    for (int i = 0; made->weights == NULL && i < p->width; i++)
        made->row[i] = filter->terms[p->height + i];
    made->divisor = filter->terms_divisor;
    return GCONV_OK;
}

/* The terms are of the magnitude of the weights, so that long chains do not overflow. */
static void normalise(gconv_filter *filter)
{
    int count = filter->weights != NULL ? filter->width * filter->height : filter->height;
    int exponent = ilogb(filter->terms_divisor / filter->divisor);
    for (int i = 0; i < count; i++)
        filter->terms[i] = ldexp(filter->terms[i], -exponent);
    filter->terms_divisor = ldexp(filter->terms_divisor, -exponent);
}

/* Keeps the weights as they are written beside those that are rounded to float32. If they make an
 * exact chain on 8 bits (contract.md, rule 3), a filter of whole weights is computed in the place
 * of this one. There are none if the weights are whole numbers of float32 as they are, if sums of
 * them are no doubles, or if there are so many weights that Fourier transforms may be the fastest
 * way: they cannot always promise exact sums. */
static gconv_status keep_whole(const gc_parser *p, gconv_filter *filter)
{
    const int64_t most = INT64_C(1) << 53;
    bool vectors = p->weights == NULL, sums = p->divisor_is_sum || p->divisor.line == 0;
    const gc_fraction divisor = sums ? (gc_fraction){1, 1, 1} : p->divisor.number;
    const gc_fraction *first = vectors ? p->column_values : p->weights;
    int count = vectors ? p->height : p->width * p->height;
    if (!vectors && count > WHOLE_WEIGHTS_MAX)
        return GCONV_OK;
    int64_t common = common_denominator(first, count);
    int64_t factors[] = {0, vectors ? common_denominator(p->row_values, p->width) : 1};
    if (common > 0 && divisor.under > 0 && divisor.under <= most / common)
        factors[0] = common * divisor.under;
    double whole = (double)divisor.over * (double)common * (double)factors[1];
    if (factors[0] == 0 || factors[1] == 0 || fabs(whole) > 0x1p53)
        return GCONV_OK;
    double sum = sum_whole(first, count, factors[0]);
    sum *= vectors ? sum_whole(p->row_values, p->width, factors[1]) : 1;
    if ((factors[0] == 1 && factors[1] == 1 && sum < 0x1p24) || sum * UINT8_MAX >= 0x1p53)
        return GCONV_OK;
    gconv_status status = keep_terms(p, first, count, factors, whole, filter);
    if (status == GCONV_OK && sum * UINT8_MAX < 0x1p24)
        return make_whole(p, filter);
    if (status == GCONV_OK)
        normalise(filter);
    return status;
}

static void copy_weights(const gc_parser *p, gconv_filter *filter)
{
    for (int i = 0; p->weights != NULL && i < p->width * p->height; i++)
        filter->weights[i] = (float)p->weights[i].value;
    for (int i = 0; p->weights == NULL && i < p->height; i++)
        filter->column[i] = p->column_values[i].value;
    for (int i = 0; p->weights == NULL && i < p->width; i++)
        filter->row[i] = p->row_values[i].value;
    if (p->divisor.line > 0)
        filter->divisor = p->divisor.number.value;
}

static gconv_status fill_filter(const gc_parser *p, const char *name, gconv_filter *filter)
{
    copy_weights(p, filter);
    filter->offset = p->offset.number.value;
    filter->offset_denominator = (double)p->offset.number.under;
    filter->has_offset = p->offset.line > 0;
    filter->dialect = p->dialect;
    filter->vips_width = p->vips_width;
    filter->vips_height = p->vips_height;
    bool has_lines = p->row_count + p->column.line > 0; /* no size tells how many are meant */
    filter->decimal_commas = has_lines && p->groups > 1 && p->decimal_commas == p->groups;
    GC_TRY(use_name(p, name, filter));
    if (p->divisor_is_sum)
        GC_TRY(use_sum(p, filter));
    if (p->anchor.line > 0)
        GC_TRY(use_anchor(p, filter));
    return keep_whole(p, filter);
}

gconv_status gconv_filter_parse(const char *text, size_t length, const char *name,
                                gconv_filter **filter, gconv_error *error)
{
    *filter = NULL;
    GC_TRY(check_text(text, length, error));
    if (text == NULL)
        text = ""; /* what follows does arithmetic with it */
    bool marked = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
    gc_parser p = {.next = text + (marked ? 3 : 0), .end = text + length, .error = error};
    size_t weights = (size_t)GC_ROWS_MAX * GCONV_FILTER_SIDE_MAX;
    p.values = gc_allocate_array(weights + 2 * GCONV_FILTER_VECTOR_MAX, sizeof *p.values);
    GC_TRY_MEMORY(p.values != NULL, error, weights * sizeof *p.values);
    p.column_values = p.values + weights;
    p.row_values = p.column_values + GCONV_FILTER_VECTOR_MAX;
    gconv_filter *made = NULL;
    gconv_status status = read_text(&p);
    GC_THEN(status, (p.weights == NULL ? gconv_filter_create_vectors
                                       : gconv_filter_create)(p.width, p.height, &made, error));
    GC_THEN(status, fill_filter(&p, name, made));
    if (status == GCONV_OK)
        *filter = made;
    else
        gconv_filter_free(made);
    free(p.values);
    return status;
}
