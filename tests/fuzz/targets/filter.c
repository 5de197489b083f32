/* Filter texts in every dialect. What is taken is written in gconv's own form and in ImageMagick's,
 * and must come back the same. */
#include "../fuzz.h"

#include <math.h>
#include <string.h>

/* Weights of a filter that is written and read again. */
enum { WRITTEN_MAX = 200, NUMBER_BYTES = 32 };

static void check_filter(const gconv_filter *filter)
{
    FUZZ_REQUIRE(filter->width >= 1 && filter->width <= GCONV_FILTER_SIDE_MAX &&
                     filter->height >= 1 && filter->height <= GCONV_FILTER_SIDE_MAX,
                 "%d x %d", filter->width, filter->height);
    FUZZ_REQUIRE(filter->anchor_x >= 0 && filter->anchor_x < filter->width &&
                     filter->anchor_y >= 0 && filter->anchor_y < filter->height,
                 "anchor %d %d", filter->anchor_x, filter->anchor_y);
    FUZZ_REQUIRE(isfinite(filter->divisor) && filter->divisor != 0, "divisor %g", filter->divisor);
    FUZZ_REQUIRE(isfinite(filter->offset) && (filter->has_offset || filter->offset == 0),
                 "offset %g", filter->offset);
    for (int i = 0; i < filter->width * filter->height; i++)
        FUZZ_REQUIRE(isfinite(filter->weights[i]), "weight %d", i);
    FUZZ_REQUIRE(!isnan(gconv_filter_gain(filter)), "no gain");
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

static void check_written(const gconv_filter *filter, bool own)
{
    char text[256 + WRITTEN_MAX * NUMBER_BYTES];
    gconv_filter *again;
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
    size_t bytes = (size_t)filter->width * (size_t)filter->height * sizeof *filter->weights;
    FUZZ_REQUIRE(memcmp(again->weights, filter->weights, bytes) == 0, "other weights: %s", text);
    gconv_filter_free(again);
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
    if (filter->width * filter->height <= WRITTEN_MAX) {
        check_written(filter, true);
        check_written(filter, false);
    }
    gconv_filter_free(filter);
    return 0;
}
