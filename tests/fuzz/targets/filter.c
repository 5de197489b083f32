/* Filter texts in every dialect. What is taken is written in gconv's own form and in ImageMagick's,
 * and must come back the same. */
#include "../fuzz.h"

#include <math.h>
#include <string.h>

/* Weights of a filter that is written and read again. */
enum { WRITTEN_MAX = 200, NUMBER_BYTES = 32 };

static void check_filter(const gconv_filter *filter)
{
    bool vectors = filter->weights == NULL;
    int most = vectors ? GCONV_FILTER_VECTOR_MAX : GCONV_FILTER_SIDE_MAX;
    FUZZ_REQUIRE(filter->width >= 1 && filter->width <= most && filter->height >= 1 &&
                     filter->height <= most,
                 "%d x %d", filter->width, filter->height);
    FUZZ_REQUIRE((filter->column != NULL) == vectors && (filter->row != NULL) == vectors,
                 "a matrix and a vector");
    FUZZ_REQUIRE(filter->anchor_x >= 0 && filter->anchor_x < filter->width &&
                     filter->anchor_y >= 0 && filter->anchor_y < filter->height,
                 "anchor %d %d", filter->anchor_x, filter->anchor_y);
    FUZZ_REQUIRE(isfinite(filter->divisor) && filter->divisor != 0, "divisor %g", filter->divisor);
    FUZZ_REQUIRE(isfinite(filter->offset) && (filter->has_offset || filter->offset == 0),
                 "offset %g", filter->offset);
    for (int i = 0; !vectors && i < filter->width * filter->height; i++)
        FUZZ_REQUIRE(isfinite(filter->weights[i]), "weight %d", i);
    for (int i = 0; vectors && i < filter->width; i++)
        FUZZ_REQUIRE(isfinite((float)filter->row[i]), "number %d of the row", i);
    for (int j = 0; vectors && j < filter->height; j++)
        FUZZ_REQUIRE(isfinite((float)filter->column[j]), "number %d of the column", j);
    FUZZ_REQUIRE(!isnan(gconv_filter_gain(filter)), "no gain");
}

static size_t write_vector(const char *word, const double *values, int count, char *text,
                           size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s", word);
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, size - used, " %a", values[i]);
    return used + (size_t)snprintf(text + used, size - used, "\n");
}

/* `own` writes gconv's form, else ImageMagick's, which has neither divisor nor offset. */
static size_t write_filter(const gconv_filter *filter, bool own, char *text, size_t size)
{
    size_t used = 0;
    if (own)
        used = (size_t)snprintf(text, size, "divisor %a\nanchor %d %d\n", filter->divisor,
                                filter->anchor_x, filter->anchor_y);
    else
        used = (size_t)snprintf(text, size, "%dx%d+%d+%d:", filter->width, filter->height,
                                filter->anchor_x, filter->anchor_y);
    if (own && filter->has_offset)
        used += (size_t)snprintf(text + used, size - used, "offset %a\n", filter->offset);
    if (filter->weights == NULL) {
        used += write_vector("column", filter->column, filter->height, text + used, size - used);
        return used + write_vector("row", filter->row, filter->width, text + used, size - used);
    }
    for (int j = 0; j < filter->height; j++)
        for (int i = 0; i < filter->width; i++) {
            const char *end = own && i + 1 == filter->width ? "\n" : ",";
            if (j + 1 == filter->height && i + 1 == filter->width)
                end = "";
            used += (size_t)snprintf(text + used, size - used, "%a%s",
                                     (double)filter->weights[j * filter->width + i], end);
        }
    return used;
}

static bool has_same_weights(const gconv_filter *a, const gconv_filter *b)
{
    size_t width = (size_t)b->width, height = (size_t)b->height;
    if ((a->weights == NULL) != (b->weights == NULL))
        return false;
    if (b->weights != NULL)
        return memcmp(a->weights, b->weights, width * height * sizeof *b->weights) == 0;
    return memcmp(a->column, b->column, height * sizeof *b->column) == 0 &&
           memcmp(a->row, b->row, width * sizeof *b->row) == 0;
}

static void check_written(const gconv_filter *filter, bool own)
{
    char text[256 + WRITTEN_MAX * NUMBER_BYTES];
    OWNED_FILTER again;
    gconv_error error = {.status = GCONV_OK};
    size_t length = write_filter(filter, own, text, sizeof text);
    FUZZ_REQUIRE(gconv_filter_parse(text, length, NULL, &again, &error) == GCONV_OK, "%s: %s", text,
                 error.message);
    bool same = again->width == filter->width && again->height == filter->height &&
                again->anchor_x == filter->anchor_x && again->anchor_y == filter->anchor_y;
    if (own)
        same = same && again->divisor == filter->divisor && again->offset == filter->offset &&
               again->has_offset == filter->has_offset;
    FUZZ_REQUIRE(same, "read again differently: %s", text);
    FUZZ_REQUIRE(has_same_weights(again, filter), "other weights: %s", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gconv_filter *filter;
    gconv_error error = {.status = GCONV_OK};
    char *text = fuzz_copy(data, size);
    gconv_status status = gconv_filter_parse(text, size, "a name", &filter, &error);
    free(text);
    if (status != GCONV_OK) {
        fuzz_require_message(status, &error);
        FUZZ_REQUIRE(filter == NULL, "a filter after a failure");
        FUZZ_REQUIRE(error.line >= 0 && (size_t)error.line <= size + 1, "line %d", error.line);
        return 0;
    }
    check_filter(filter);
    FUZZ_REQUIRE(filter->name != NULL, "no name");
    bool vectors = filter->weights == NULL;
    int numbers = vectors ? filter->width + filter->height : filter->width * filter->height;
    if (numbers <= WRITTEN_MAX)
        check_written(filter, true);
    if (numbers <= WRITTEN_MAX && !vectors)
        check_written(filter, false);
    gconv_filter_free(filter);
    return 0;
}
