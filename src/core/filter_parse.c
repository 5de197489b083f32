/* Reads filter texts: plain rows, ImageMagick strings, libvips matrices (see gconv-filter(5)).
 *
 * Lines are read into one array of values and a table of rows; which dialect they are is decided at
 * the end, because a libvips matrix is what cannot be read as plain rows. */
#include "core/filter.h"

#include "core/memory.h"
#include "core/number.h"
#include "core/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    SIDE_MAX = GCONV_FILTER_SIDE_MAX,
    ROWS_MAX = SIDE_MAX + 1, /* a libvips matrix has a line more than rows */
    NAME_BYTES_MAX = 255,
    QUOTE_MAX = 60 /* bytes of the text that a message repeats */
};

/* A piece of the text; not NUL-terminated. */
typedef struct span {
    const char *text;
    size_t length;
} span;

typedef struct row {
    int line;
    int count; /* of values */
} row;

/* A header line may stand once: `line` is where it stood, 0 where it did not. */
typedef struct header {
    int line;
    double value;
} header;

typedef struct parser {
    const char *next; /* the first byte that is not read yet */
    const char *end;
    int line; /* the line read last, from 1 */
    gconv_error *error;

    double *values; /* of all rows, one after the other; room for ROWS_MAX * SIDE_MAX */
    size_t value_count;
    row rows[ROWS_MAX];
    int row_count;

    header name, divisor, offset, anchor;
    span name_text;
    bool divisor_is_sum;
    double anchor_x, anchor_y; /* where anchor.line is not 0 */

    /* The filter, once the dialect is known. */
    int width, height;
    const double *weights;
} parser;

/* ---- Lines and fields ------------------------------------------------------------------------ */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static span trim(span text)
{
    while (text.length > 0 && is_blank(text.text[0])) {
        text.text++;
        text.length--;
    }
    while (text.length > 0 && is_blank(text.text[text.length - 1]))
        text.length--;
    return text;
}

/* The next line without its end, comment and outer blanks; false at the end of the text. */
static bool next_line(parser *p, span *line)
{
    if (p->next == p->end)
        return false;
    size_t left = (size_t)(p->end - p->next);
    const char *newline = memchr(p->next, '\n', left);
    line->text = p->next;
    line->length = newline == NULL ? left : (size_t)(newline - p->next);
    p->next = newline == NULL ? p->end : newline + 1;
    p->line++;
    if (line->length > 0 && line->text[line->length - 1] == '\r')
        line->length--;
    const char *comment = memchr(line->text, '#', line->length);
    if (comment != NULL)
        line->length = (size_t)(comment - line->text);
    *line = trim(*line);
    return true;
}

/* Values separated by blanks or one comma each. To go on in a further line, `rest` is replaced. */
typedef struct field_list {
    span rest;
    bool wants_value; /* at the beginning and after a comma */
} field_list;

typedef enum field_kind { FIELD_VALUE, FIELD_EMPTY, FIELD_END } field_kind;

static field_kind next_field(field_list *list, span *field)
{
    list->rest = trim(list->rest);
    if (list->rest.length > 0 && list->rest.text[0] == ',') {
        if (list->wants_value)
            return FIELD_EMPTY;
        list->wants_value = true;
        list->rest.text++;
        list->rest.length--;
        return next_field(list, field);
    }
    if (list->rest.length == 0)
        return FIELD_END;
    size_t length = 0;
    while (length < list->rest.length && list->rest.text[length] != ',' &&
           !is_blank(list->rest.text[length]))
        length++;
    *field = (span){list->rest.text, length};
    list->rest.text += length;
    list->rest.length -= length;
    list->wants_value = false;
    return FIELD_VALUE;
}

static bool span_is(span text, const char *word)
{
    return text.length == strlen(word) && memcmp(text.text, word, text.length) == 0;
}

static bool span_begins(span text, const char *word)
{
    return text.length >= strlen(word) && memcmp(text.text, word, strlen(word)) == 0;
}

static int quoted(span text)
{
    return (int)(text.length < QUOTE_MAX ? text.length : QUOTE_MAX);
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* A name that C reads as an infinity or NaN, with or without a sign. */
static bool names_no_finite(span field)
{
    static const char *const words[] = {"inf", "infinity", "nan"};
    if (field.length > 0 && (field.text[0] == '-' || field.text[0] == '+'))
        field = (span){field.text + 1, field.length - 1};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (field.length == strlen(words[i]) &&
            strncasecmp(field.text, words[i], field.length) == 0)
            return true;
    return false;
}

static gconv_status fail_not_a_number(const parser *p, span field)
{
    const char *advice = "";
    if (names_no_finite(field))
        return gc_fail_line(p->error, p->line, "'%.*s' is not a finite number", quoted(field),
                            field.text);
    if (memchr(field.text, '\r', field.length) != NULL)
        advice = " (lines end in LF or CRLF, this one has a CR inside)";
    else if (memchr(field.text, '/', field.length) != NULL)
        advice = " (a fraction is p/q, without blanks)";
    else if (span_begins(field, "\xe2\x88\x92") || span_begins(field, "\xe2\x80\x93"))
        advice = " (the minus sign is '-')";
    return gc_fail_line(p->error, p->line, "'%.*s' is not a number%s", quoted(field), field.text,
                        advice);
}

/* Reads a finite number or a fraction p/q. */
static gconv_status read_value(const parser *p, span field, double *value)
{
    size_t used = gc_read_number(field.text, field.length, value);
    double denominator = 1;
    if (used > 0 && used < field.length && field.text[used] == '/') {
        size_t more = gc_read_number(field.text + used + 1, field.length - used - 1, &denominator);
        used = more == 0 ? 0 : used + 1 + more;
    }
    if (used != field.length)
        return fail_not_a_number(p, field);
    if (denominator == 0)
        return gc_fail_line(p->error, p->line, "'%.*s' divides by zero", quoted(field), field.text);
    if (!isfinite(*value) || !isfinite(denominator) || !isfinite(*value / denominator))
        return gc_fail_line(p->error, p->line, "'%.*s' is too large", quoted(field), field.text);
    *value /= denominator;
    return GCONV_OK;
}

static gconv_status check_weight(const parser *p, int line, double value)
{
    if (gc_fits_float(value))
        return GCONV_OK;
    return gc_fail_line(p->error, line, "the weight %g is infinite in float32", value);
}

static gconv_status fail_field(const parser *p, field_kind kind)
{
    return gc_fail_line(p->error, p->line,
                        kind == FIELD_EMPTY ? "an empty field: a comma without a weight before it"
                                            : "a trailing comma");
}

/* ---- Header lines ---------------------------------------------------------------------------- */

/* Reads exactly `count` values of a header line. */
static gconv_status read_header_values(const parser *p, span text, int count, const char *usage,
                                       double *values)
{
    field_list list = {.rest = text, .wants_value = true};
    span field;
    int found = 0;
    field_kind kind;
    while ((kind = next_field(&list, &field)) == FIELD_VALUE) {
        if (found == count)
            break;
        gconv_status status = read_value(p, field, &values[found]);
        if (status != GCONV_OK)
            return status;
        found++;
    }
    if (kind != FIELD_END || found != count || list.wants_value)
        return gc_fail_line(p->error, p->line, "write %s and nothing else in the line", usage);
    return GCONV_OK;
}

static gconv_status read_name(parser *p, span text)
{
    char name[NAME_BYTES_MAX + 1], escaped[NAME_BYTES_MAX + 1];
    if (text.length == 0)
        return gc_fail_line(p->error, p->line, "the name is missing: write 'name TEXT'");
    if (text.length > NAME_BYTES_MAX)
        return gc_fail_line(p->error, p->line, "a name of more than %d bytes", NAME_BYTES_MAX);
    memcpy(name, text.text, text.length);
    name[text.length] = '\0';
    if (strcmp(gc_escape(name, escaped, sizeof escaped), name) != 0)
        return gc_fail_line(p->error, p->line,
                            "the name has a control character or is not valid UTF-8");
    p->name_text = text;
    return GCONV_OK;
}

static gconv_status read_divisor(parser *p, span text)
{
    p->divisor_is_sum = span_is(text, "sum");
    if (p->divisor_is_sum)
        return GCONV_OK;
    gconv_status status =
        read_header_values(p, text, 1, "'divisor V' or 'divisor sum'", &p->divisor.value);
    if (status == GCONV_OK && p->divisor.value == 0)
        return gc_fail_line(p->error, p->line, "the divisor is zero");
    return status;
}

static gconv_status read_offset(parser *p, span text)
{
    return read_header_values(p, text, 1, "'offset V'", &p->offset.value);
}

static gconv_status read_anchor(parser *p, span text)
{
    double values[2];
    gconv_status status = read_header_values(p, text, 2, "'anchor X Y'", values);
    if (status != GCONV_OK)
        return status;
    if (values[0] != floor(values[0]) || values[1] != floor(values[1]))
        return gc_fail_line(p->error, p->line, "the anchor is not two whole numbers");
    p->anchor_x = values[0];
    p->anchor_y = values[1];
    return GCONV_OK;
}

/* Takes the line as a header line: its first word and what follows. */
static gconv_status read_header(parser *p, span line)
{
    static const char *const words[] = {"name", "divisor", "offset", "anchor"};
    enum { WORD_COUNT = sizeof words / sizeof words[0] };
    gconv_status (*const readers[])(parser *, span) = {read_name, read_divisor, read_offset,
                                                       read_anchor};
    header *const headers[] = {&p->name, &p->divisor, &p->offset, &p->anchor};

    span word = {line.text, 0};
    while (word.length < line.length && !is_blank(line.text[word.length]))
        word.length++;
    size_t which = 0;
    while (which < WORD_COUNT && !span_is(word, words[which]))
        which++;
    if (which == WORD_COUNT)
        return gc_fail_line(p->error, p->line,
                            "'%.*s' is neither a number nor a header (name, divisor, offset, "
                            "anchor)",
                            quoted(word), word.text);
    if (p->row_count > 0)
        return gc_fail_line(p->error, p->line, "a %s line after the rows: move it before them",
                            words[which]);
    if (headers[which]->line > 0)
        return gc_fail_line(p->error, p->line, "a second %s line (the first is line %d)",
                            words[which], headers[which]->line);
    headers[which]->line = p->line;
    span rest = {line.text + word.length, line.length - word.length};
    return readers[which](p, trim(rest));
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static gconv_status read_row(parser *p, span line)
{
    if (p->row_count == ROWS_MAX)
        return gc_fail_line(p->error, p->line, "more than %d rows", SIDE_MAX);
    row *current = &p->rows[p->row_count++];
    *current = (row){.line = p->line, .count = 0};
    field_list list = {.rest = line, .wants_value = true};
    span field;
    field_kind kind;
    while ((kind = next_field(&list, &field)) == FIELD_VALUE) {
        if (current->count == SIDE_MAX)
            return gc_fail_line(p->error, p->line, "more than %d weights in a row", SIDE_MAX);
        gconv_status status = read_value(p, field, &p->values[p->value_count]);
        if (status != GCONV_OK)
            return status;
        p->value_count++;
        current->count++;
    }
    if (kind == FIELD_EMPTY || list.wants_value)
        return fail_field(p, kind);
    return GCONV_OK;
}

static bool is_side(double value)
{
    return value >= 1 && value <= SIDE_MAX && value == floor(value);
}

/* The first row whose length is not that of row `first`; row_count where there is none. */
static int first_ragged(const parser *p, int first)
{
    int i = first;
    while (i < p->row_count && p->rows[i].count == p->rows[first].count)
        i++;
    return i;
}

/* True when row 0 can be the first line of a libvips matrix: W H [SCALE [OFFSET]]. */
static bool begins_matrix(const parser *p)
{
    bool has_header = p->name.line + p->divisor.line + p->offset.line + p->anchor.line > 0;
    return !has_header && p->row_count > 1 && p->rows[0].count >= 2 && p->rows[0].count <= 4 &&
           is_side(p->values[0]) && is_side(p->values[1]);
}

static gconv_status take_matrix(parser *p)
{
    const row *first = &p->rows[0];
    p->width = (int)p->values[0];
    p->height = (int)p->values[1];
    if (first->count > 2)
        p->divisor = (header){.line = first->line, .value = p->values[2]};
    if (first->count > 3)
        p->offset = (header){.line = first->line, .value = p->values[3]};
    if (first->count > 2 && p->divisor.value == 0)
        return gc_fail_line(p->error, first->line, "the scale (the divisor) is zero");
    p->weights = p->values + first->count;
    return GCONV_OK;
}

static const char *weights_word(size_t count)
{
    return count == 1 ? "weight" : "weights";
}

static gconv_status fail_ragged(const parser *p, int ragged)
{
    const row *found = &p->rows[ragged];
    if (begins_matrix(p) && first_ragged(p, 1) == p->row_count)
        return gc_fail_line(p->error, found->line,
                            "%d %s where line %d has %d; nor is it a libvips matrix: %g x %g "
                            "in line %d, then %d x %d",
                            found->count, weights_word((size_t)found->count), p->rows[0].line,
                            p->rows[0].count, p->values[0], p->values[1], p->rows[0].line,
                            p->rows[1].count, p->row_count - 1);
    return gc_fail_line(p->error, found->line, "%d %s where line %d has %d", found->count,
                        weights_word((size_t)found->count), p->rows[0].line, p->rows[0].count);
}

/* Decides what the rows are: plain rows where they can be, else a libvips matrix. */
static gconv_status take_rows(parser *p)
{
    if (p->row_count == 0)
        return gc_fail_line(p->error, p->line > 0 ? p->line : 1, "no weights: at least one row");
    int ragged = first_ragged(p, 0), first = 0;
    gconv_status status = GCONV_OK;
    if (ragged == p->row_count && p->row_count <= SIDE_MAX) {
        p->width = p->rows[0].count;
        p->height = p->row_count;
        p->weights = p->values;
    } else if (begins_matrix(p) && first_ragged(p, 1) == p->row_count &&
               p->rows[1].count == p->values[0] && p->row_count - 1 == p->values[1]) {
        first = 1;
        status = take_matrix(p);
    } else if (ragged < p->row_count)
        return fail_ragged(p, ragged);
    else
        return gc_fail_line(p->error, p->rows[SIDE_MAX].line, "more than %d rows", SIDE_MAX);

    for (int i = first; status == GCONV_OK && i < p->row_count; i++)
        for (int j = 0; status == GCONV_OK && j < p->width; j++)
            status = check_weight(p, p->rows[i].line, p->weights[(i - first) * p->width + j]);
    return status;
}

/* ---- ImageMagick ----------------------------------------------------------------------------- */

/* Reads decimal digits, saturating; returns the bytes used. */
static size_t read_digits(span text, int *number)
{
    size_t used = 0;
    *number = 0;
    for (; used < text.length && text.text[used] >= '0' && text.text[used] <= '9'; used++)
        if (*number <= SIDE_MAX)
            *number = 10 * *number + (text.text[used] - '0');
    return used;
}

/* Reads `lead` and digits from the front of `text`. */
static bool take_digits(span *text, char lead, int *number)
{
    if (text->length == 0 || text->text[0] != lead)
        return false;
    span rest = {text->text + 1, text->length - 1};
    size_t used = read_digits(rest, number);
    *text = (span){rest.text + used, rest.length - used};
    return used > 0;
}

/* Reads WxH[+X+Y]: what stands before the colon. */
static gconv_status read_geometry(parser *p, span text)
{
    int x = 0, y = 0;
    span rest = text;
    size_t used = read_digits(rest, &p->width);
    rest = (span){rest.text + used, rest.length - used};
    bool valid = used > 0 && take_digits(&rest, 'x', &p->height);
    bool has_origin = valid && rest.length > 0;
    if (has_origin)
        valid = take_digits(&rest, '+', &x) && take_digits(&rest, '+', &y) && rest.length == 0;
    if (!valid)
        return gc_fail_line(p->error, p->line,
                            "'%.*s:' is not the beginning of an ImageMagick filter (WxH: or "
                            "WxH+X+Y:)",
                            quoted(text), text.text);
    if (!is_side(p->width) || !is_side(p->height))
        return gc_fail_line(p->error, p->line, "the size %.*s: sides are 1 to %d", quoted(text),
                            text.text, SIDE_MAX);
    if (has_origin && p->anchor.line > 0)
        return gc_fail_line(p->error, p->line, "an origin, and an anchor in line %d: leave one out",
                            p->anchor.line);
    if (p->anchor.line > 0)
        return GCONV_OK;
    p->anchor.line = p->line;
    p->anchor_x = has_origin ? x : (p->width - 1) / 2;
    p->anchor_y = has_origin ? y : (p->height - 1) / 2;
    return GCONV_OK;
}

static gconv_status read_imagemagick_value(parser *p, span field)
{
    double *value = &p->values[p->value_count];
    if (p->value_count == (size_t)p->width * (size_t)p->height)
        return gc_fail_line(p->error, p->line, "more than the %d %s of %dx%d", p->width * p->height,
                            weights_word((size_t)(p->width * p->height)), p->width, p->height);
    *value = 0;
    p->value_count++;
    if (span_is(field, "-") || (field.length == 3 && strncasecmp(field.text, "nan", 3) == 0))
        return GCONV_OK;
    gconv_status status = read_value(p, field, value);
    return status == GCONV_OK ? check_weight(p, p->line, *value) : status;
}

/* Reads the weights from the rest of a line and all lines after it. */
static gconv_status read_imagemagick(parser *p, span line)
{
    const char *colon = memchr(line.text, ':', line.length);
    size_t before = (size_t)(colon - line.text);
    gconv_status status = read_geometry(p, (span){line.text, before});
    if (status != GCONV_OK)
        return status;
    field_list list = {.rest = {colon + 1, line.length - before - 1}, .wants_value = true};
    int last_line = p->line;
    do {
        span field;
        field_kind kind;
        while ((kind = next_field(&list, &field)) == FIELD_VALUE) {
            status = read_imagemagick_value(p, field);
            if (status != GCONV_OK)
                return status;
            last_line = p->line;
        }
        if (kind == FIELD_EMPTY)
            return fail_field(p, kind);
    } while (next_line(p, &list.rest));
    p->line = last_line;
    int wanted = p->width * p->height;
    if (list.wants_value && p->value_count > 0)
        return fail_field(p, FIELD_END);
    if (p->value_count < (size_t)wanted)
        return gc_fail_line(p->error, p->line, "%zu %s where %dx%d needs %d", p->value_count,
                            weights_word(p->value_count), p->width, p->height, wanted);
    p->weights = p->values;
    return GCONV_OK;
}

/* ---- The whole text -------------------------------------------------------------------------- */

/* True for a line that begins with a word: a header line, or an error. */
static bool begins_with_word(span line)
{
    size_t length = 0;
    while (length < line.length && line.text[length] != ',' && !is_blank(line.text[length]))
        length++;
    return is_letter(line.text[0]) && !names_no_finite((span){line.text, length});
}

static gconv_status read_text(parser *p)
{
    span line;
    while (next_line(p, &line)) {
        gconv_status status = GCONV_OK;
        if (line.length == 0)
            continue;
        if (begins_with_word(line))
            status = read_header(p, line);
        else if (p->row_count == 0 && memchr(line.text, ':', line.length) != NULL)
            return read_imagemagick(p, line);
        else
            status = read_row(p, line);
        if (status != GCONV_OK)
            return status;
    }
    return take_rows(p);
}

/* Refuses what is no text at all, before a line of it is quoted. */
static gconv_status check_text(const char *text, size_t length, gconv_error *error)
{
    if (length > GC_FILTER_TEXT_MAX)
        return gc_fail(error, GCONV_ERROR_FILTER, "not a filter: longer than %d MiB",
                       GC_FILTER_TEXT_MAX >> 20);
    if (length >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0))
        return gc_fail_line(error, 1, "UTF-16 text: save it as UTF-8");
    const char *nul = length == 0 ? NULL : memchr(text, '\0', length);
    if (nul == NULL)
        return GCONV_OK;
    int line = 1;
    for (const char *c = text; c < nul; c++)
        line += *c == '\n';
    return gc_fail_line(error, line, "a NUL byte: this is not a text");
}

/* The divisor of `divisor sum`. A sum no larger than what rounding the weights to float32 may have
 * changed is a sum of 0: 0.1 0.2 -0.3. */
static gconv_status use_sum(const parser *p, gconv_filter *filter)
{
    double sum = 0, rounding = 0;
    for (int i = 0; i < filter->width * filter->height; i++) {
        sum += filter->weights[i];
        if (filter->weights[i] != p->weights[i])
            rounding += 0x1p-24 * fabs(p->weights[i]);
    }
    if (fabs(sum) <= rounding)
        return gc_fail_line(p->error, p->divisor.line, "divisor sum, but the weights sum to 0");
    filter->divisor = sum;
    return GCONV_OK;
}

static gconv_status use_anchor(const parser *p, gconv_filter *filter)
{
    if (p->anchor_x < 0 || p->anchor_x >= p->width || p->anchor_y < 0 || p->anchor_y >= p->height)
        return gc_fail_line(p->error, p->anchor.line,
                            "the anchor %g,%g is outside the filter of %d x %d (it counts from "
                            "0,0)",
                            p->anchor_x, p->anchor_y, p->width, p->height);
    filter->anchor_x = (int)p->anchor_x;
    filter->anchor_y = (int)p->anchor_y;
    return GCONV_OK;
}

static gconv_status use_name(const parser *p, const char *name, gconv_filter *filter)
{
    if (p->name.line == 0)
        return gc_filter_set_name(filter, name, p->error);
    filter->name = malloc(p->name_text.length + 1);
    if (filter->name == NULL)
        return gc_fail_memory(p->error, p->name_text.length + 1);
    memcpy(filter->name, p->name_text.text, p->name_text.length);
    filter->name[p->name_text.length] = '\0';
    return GCONV_OK;
}

/* Gives a filter of the right size what was read. */
static gconv_status fill_filter(const parser *p, const char *name, gconv_filter *filter)
{
    for (int i = 0; i < p->width * p->height; i++)
        filter->weights[i] = (float)p->weights[i];
    if (p->divisor.line > 0)
        filter->divisor = p->divisor.value;
    filter->offset = p->offset.value;
    filter->has_offset = p->offset.line > 0;
    gconv_status status = use_name(p, name, filter);
    if (status == GCONV_OK && p->divisor_is_sum)
        status = use_sum(p, filter);
    if (status == GCONV_OK && p->anchor.line > 0)
        status = use_anchor(p, filter);
    return status;
}

gconv_status gconv_filter_parse(const char *text, size_t length, const char *name,
                                gconv_filter **filter, gconv_error *error)
{
    *filter = NULL;
    gconv_status status = check_text(text, length, error);
    if (status != GCONV_OK)
        return status;
    bool marked = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
    parser p = {.next = text + (marked ? 3 : 0), .end = text + length, .error = error};
    p.values = gc_allocate_array((size_t)ROWS_MAX * SIDE_MAX, sizeof *p.values);
    if (p.values == NULL)
        return gc_fail_memory(error, (size_t)ROWS_MAX * SIDE_MAX * sizeof *p.values);
    gconv_filter *made = NULL;
    status = read_text(&p);
    if (status == GCONV_OK)
        status = gconv_filter_create(p.width, p.height, &made, error);
    if (status == GCONV_OK)
        status = fill_filter(&p, name, made);
    if (status == GCONV_OK)
        *filter = made;
    else
        gconv_filter_free(made);
    free(p.values);
    return status;
}
