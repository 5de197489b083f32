#include "lab/bench/lists.h"

#include "base/number.h"
#include "base/status.h"
#include "cli/options/implementations.h"
#include "cli/options/table.h"
#include "cli/options/words.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { SIDE_MIN = 16, SIDE_MAX = 32768 };
static const int64_t pixels_max = (int64_t)1 << 30;

/* Cuts `text` in two at the first `mark`. NULL if there is none. */
static char *cut(char *text, const char *mark)
{
    char *found = strstr(text, mark);
    if (found == NULL)
        return NULL;
    *found = '\0';
    return found + strlen(mark);
}

static bool read_side(const char *text, int low, int high, int *side)
{
    long long number;
    if (!gc_parse_integer(text, low, high, &number))
        return false;
    *side = (int)number;
    return true;
}

/* ---- Images ---------------------------------------------------------------------------------- */

gconv_status gc_read_sizes(const char *text, gc_sweep_sizes *sizes, gconv_error *error)
{
    char item[GC_NAME_BYTES], whole[GC_NAME_BYTES];
    for (sizes->count = 0; gc_next_name(&text, item);) {
        int width, height;
        strcpy(whole, item);
        const char *second = cut(item, "x");
        if (!read_side(item, SIDE_MIN, SIDE_MAX, &width) ||
            !read_side(second != NULL ? second : item, SIDE_MIN, SIDE_MAX, &height))
            return gc_fail(error, GCONV_ERROR_ARGUMENT,
                           "'%s' is not N or WxH, an image with sides from %d to %d", whole,
                           SIDE_MIN, SIDE_MAX);
        if ((int64_t)width * height > pixels_max)
            return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%s' is too large: more than 2^30 pixels",
                           whole);
        if (sizes->count == GC_SWEEP_SIZES_MAX)
            return gc_fail(error, GCONV_ERROR_ARGUMENT, "more than %d sizes", GC_SWEEP_SIZES_MAX);
        sizes->at[sizes->count].width = width;
        sizes->at[sizes->count++].height = height;
    }
    return GCONV_OK;
}

/* ---- Filters --------------------------------------------------------------------------------- */

/* Every second side from `first` to `last`. */
typedef struct range {
    int first, last;
} range;

static bool read_range(char *text, range *sides)
{
    const char *last = cut(text, "..");
    return read_side(text, 1, GCONV_FILTER_SIDE_MAX, &sides->first) &&
           read_side(last != NULL ? last : text, sides->first, GCONV_FILTER_SIDE_MAX, &sides->last);
}

static gconv_status add_filter(gc_sweep_filters *filters, int width, int height, bool separates,
                               gconv_error *error)
{
    if (filters->count == GC_SWEEP_FILTERS_MAX)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "more than %d filters", GC_SWEEP_FILTERS_MAX);
    filters->at[filters->count++] = (gc_timed_filter){width, height, separates};
    return GCONV_OK;
}

/* Adds squares if `rows` is NULL, else the grid of columns and rows. */
static gconv_status add_filters(gc_sweep_filters *filters, range columns, const range *rows,
                                bool separates, gconv_error *error)
{
    gconv_status status = GCONV_OK;
    for (int width = columns.first; status == GCONV_OK && width <= columns.last; width += 2) {
        range heights = rows != NULL ? *rows : (range){width, width};
        for (int height = heights.first; status == GCONV_OK && height <= heights.last; height += 2)
            status = add_filter(filters, width, height, separates, error);
    }
    return status;
}

gconv_status gc_read_filters(const char *text, gc_sweep_filters *filters, gconv_error *error)
{
    static const char mark[] = "rank1:";
    char item[GC_NAME_BYTES], whole[GC_NAME_BYTES];
    gconv_status status = GCONV_OK;
    for (filters->count = 0; status == GCONV_OK && gc_next_name(&text, item);) {
        strcpy(whole, item);
        bool separates = strncmp(item, mark, strlen(mark)) == 0;
        char *sides = item + (separates ? strlen(mark) : 0);
        char *second = cut(sides, "x");
        range columns, rows;
        if (!read_range(sides, &columns) || (second != NULL && !read_range(second, &rows)))
            return gc_fail(
                error, GCONV_ERROR_ARGUMENT,
                "'%s' is not N, WxH, A..B or A..BxC..D, filters with sides from 1 to %d, "
                "or one of these after %s",
                whole, GCONV_FILTER_SIDE_MAX, mark);
        status = add_filters(filters, columns, second != NULL ? &rows : NULL, separates, error);
    }
    return status;
}

/* ---- Samples --------------------------------------------------------------------------------- */

static const gc_sample_kind kinds_table[] = {
    {"grey8", 1, 8}, {"rgb8", 3, 8}, {"rgba8", 4, 8}, {"grey16", 1, 16}, {"rgb16", 3, 16},
};
enum { KIND_COUNT = sizeof kinds_table / sizeof kinds_table[0] };

const gc_sample_kind *gc_sample_kind_at(int index)
{
    return index >= 0 && index < KIND_COUNT ? &kinds_table[index] : NULL;
}

gconv_status gc_read_sample_kinds(const char *list, unsigned *kinds, gconv_error *error)
{
    gc_word words[KIND_COUNT + 2] = {{NULL, 0}};
    for (int i = 0; i < KIND_COUNT; i++)
        words[i] = (gc_word){kinds_table[i].name, 1 << i};
    words[KIND_COUNT] = (gc_word){"all", (1 << KIND_COUNT) - 1};
    char name[GC_NAME_BYTES];
    for (*kinds = 0; gc_next_name(&list, name);) {
        int bits;
        GC_TRY(gc_read_word(words, name, &bits, error));
        *kinds |= (unsigned)bits;
    }
    return GCONV_OK;
}

/* ---- Shares ---------------------------------------------------------------------------------- */

gconv_status gc_read_share(const char *text, gc_share *share, gconv_error *error)
{
    char number[GC_NAME_BYTES];
    size_t length = strlen(text);
    long long count;
    bool is_percent = length > 0 && text[length - 1] == '%' && length < sizeof number;
    *share = (gc_share){.count = 0};
    if (is_percent) {
        memcpy(number, text, length - 1);
        number[length - 1] = '\0';
        if (gc_parse_number(number, &share->percent) && share->percent > 0 && share->percent <= 100)
            return GCONV_OK;
    } else if (gc_parse_integer(text, 1, INT32_MAX, &count)) {
        share->count = (int)count;
        return GCONV_OK;
    }
    return gc_fail(error, GCONV_ERROR_ARGUMENT,
                   "'%s' is not N, at least 1, or a percentage above 0%% and up to 100%%", text);
}

size_t gc_share_of(gc_share share, size_t all)
{
    double part = share.percent > 0 ? ceil((double)all * share.percent / 100)
                  : share.count > 0 ? share.count
                                    : (double)all;
    return part < (double)all ? (size_t)part : all;
}

/* ---- All of them ----------------------------------------------------------------------------- */

/* The image and the filters that are timed if the command line names none. */
static const char default_sizes[] = "4096";
static const char default_filters[] =
    "3..17,21,25,31,43,rank1:3,rank1:5,rank1:9,rank1:17,rank1:31,rank1:43";

static const char *text_of(const char *given, const char *otherwise)
{
    return given != NULL ? given : otherwise;
}

gconv_status gc_lists_read(const gc_options *options, gc_lists *lists, gconv_error *error)
{
    lists->filters.count = 0;
    lists->sample = (gc_share){.count = 0};
    if (gc_read_sizes(text_of(options->measure.sizes, default_sizes), &lists->sizes, error) !=
        GCONV_OK)
        return gc_blame_option("sizes", error);
    if (options->kernel_count == 0 &&
        gc_read_filters(text_of(options->measure.filters, default_filters), &lists->filters,
                        error) != GCONV_OK)
        return gc_blame_option("filters", error);
    if (gc_read_sample_kinds(text_of(options->measure.samples, kinds_table[0].name),
                             &lists->samples, error) != GCONV_OK)
        return gc_blame_option("samples", error);
    if (options->measure.sample != NULL &&
        gc_read_share(options->measure.sample, &lists->sample, error) != GCONV_OK)
        return gc_blame_option("sample", error);
    return GCONV_OK;
}
