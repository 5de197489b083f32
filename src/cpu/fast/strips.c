/* The pass of rank1_bytes.h through an area, from rows of samples to rows of output. It goes in
 * strips of columns, whose sums stay in the first-level cache. A strip goes down the area. Each row
 * of samples is summed once, into one of height + 1 rows of sums that are used in turn; two rows of
 * output come from them at a time. */
#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "core/border.h"
#include "cpu/cost.h"
#include "cpu/fast/rank1_bytes.h"
#include "cpu/pipeline/settle.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes of sums that a strip holds: they stay in the first-level cache beside samples. Caches have
 * 32 or 48 KiB. */
enum { LARGE_CACHE = 48 << 10, STRIP_BYTES = 20 << 10, STRIP_BYTES_LARGE = 32 << 10 };

/* Of these, what samples and levels of a wide strip of colours take, which are copies. */
enum { COLOURS_BYTES = 8 << 10 };

enum { STRIP_VALUES_MIN = 256, STRIP_VALUES_MAX = GC_RANK1_VALUES_MAX };

/* What loops read and write beyond the last value. */
enum { SLACK = 64 };

/* How many times GC_RANK1_ROWS rows wait until they are settled together. */
enum { WAITING = 16 };

/* How many rows ahead samples are requested. */
enum { ROWS_AHEAD = 3 };

/* What one thread needs. */
typedef struct strip_memory {
    const gc_rank1 *rank1;
    const gc_instructions *set;
    size_t values; /* of a strip */
    /* Sums of height + 1 rows in turn. Each stands twice, so that all rows from one on are here. */
    float *sums[2 * GC_RANK1_SIDE_MAX + 2];
    float *scratch;                    /* of the loops that sum a row */
    uint8_t *extended;                 /* a part of a row with what the border puts beside it */
    uint8_t *levels[GC_RANK1_ROWS];    /* of colours whose alpha is kept */
    gc_rank1_output output[WAITING];   /* rows that wait to be settled */
    int64_t beside[GC_RANK1_SIDE_MAX]; /* the columns that stand beside a row; -1 for a constant */
    gc_settler settler;
    void *memory; /* that holds all rows */
} strip_memory;

static size_t reach_of(const gc_rank1 *rank1)
{
    return (size_t)((rank1->step->width - 1) * rank1->channels);
}

/* Values that the filter reads to the left of a value. */
static size_t left_of(const gc_rank1 *rank1)
{
    return (size_t)(rank1->step->left * rank1->channels);
}

/* The channels of a row of samples. */
static size_t samples_of(const gc_rank1 *rank1)
{
    return (size_t)rank1->problem->conversion.input.channels;
}

/* Where value `at` lies in a row of samples. */
static size_t place_of(const gc_rank1 *rank1, size_t at)
{
    return rank1->splits_alpha ? at / (size_t)rank1->channels * samples_of(rank1) : at;
}

/* Values of a strip are a multiple of it: of whole pixels if alpha is taken out or kept. */
static size_t unit_of(const gc_rank1 *rank1)
{
    return (size_t)(rank1->splits_alpha ? SLACK * rank1->channels : SLACK);
}

/* Sums that lie in the place of a float. */
static size_t sums_a_float(const gc_rank1 *rank1)
{
    return rank1->row.is_short ? sizeof(float) / sizeof(uint16_t) : 1;
}

/* Room for `count` elements at the end of what was handed out before. */
static size_t hand_out(size_t *used, size_t count, size_t size)
{
    size_t at = *used;
    *used += gc_aligned(count * size);
    return at;
}

static size_t sums_bytes(void)
{
    long cache = 0;
#if defined(_SC_LEVEL1_DCACHE_SIZE)
    cache = sysconf(_SC_LEVEL1_DCACHE_SIZE);
#endif
    return cache < LARGE_CACHE ? STRIP_BYTES : STRIP_BYTES_LARGE;
}

/* Notes what the border puts beside a row: to the left of it, then to the right. */
static void find_beside(strip_memory *s)
{
    const gc_chain *chain = &s->rank1->problem->chain;
    const gc_step *step = s->rank1->step;
    for (int i = 0; i < step->width - 1; i++) {
        int64_t x = i - step->left + (i < step->left ? 0 : (int64_t)chain->width);
        s->beside[i] = gc_border_index(chain->border, x, chain->width);
    }
}

static gconv_status open_strips(const void *shared, void **own, gconv_error *error)
{
    const gc_rank1 *rank1 = shared;
    strip_memory *s = *own = calloc(1, sizeof *s);
    if (s == NULL)
        return gc_fail_memory(error, sizeof *s);
    size_t height = (size_t)rank1->step->height, used = 0;
    size_t others = rank1->splits_alpha && rank1->row.is_short ? COLOURS_BYTES : 0;
    size_t floats = (sums_bytes() - others) / sizeof(float) / (height + 1);
    size_t values = floats * sums_a_float(rank1), unit = unit_of(rank1);
    values = values < STRIP_VALUES_MIN ? STRIP_VALUES_MIN : values;
    values = (values > STRIP_VALUES_MAX ? STRIP_VALUES_MAX : values) / unit * unit;
    size_t row = values + reach_of(rank1) + 2 * SLACK;
    *s = (strip_memory){.rank1 = rank1, .set = gc_instructions_chosen(), .values = values};
    size_t stride = (values / sums_a_float(rank1) + SLACK) * sizeof(float);
    size_t sums = hand_out(&used, height + 1, stride);
    size_t scratch = hand_out(&used, row, sizeof *s->scratch);
    size_t extended = hand_out(&used, row, sizeof *s->extended);
    size_t levels = hand_out(&used, GC_RANK1_ROWS * row, sizeof **s->levels);
    char *memory = s->memory = gc_allocate_aligned(used, 1);
    if (memory == NULL)
        return gc_fail_memory(error, used);
    memset(memory, 0, used);
    for (size_t i = 0; i < 2 * (height + 1); i++)
        s->sums[i] = (float *)(void *)(memory + sums + i % (height + 1) * stride);
    s->scratch = (float *)(void *)(memory + scratch);
    s->extended = (uint8_t *)(memory + extended);
    for (size_t o = 0; o < GC_RANK1_ROWS; o++)
        s->levels[o] = (uint8_t *)(memory + levels) + o * row;
    find_beside(s);
    return gc_settler_create(&s->settler, rank1->problem, s->set->taps, &(gc_levels){.error = 0},
                             error);
}

static void close_strips(void *own)
{
    strip_memory *s = own;
    gc_settler_destroy(&s->settler);
    free(s->memory);
    free(s);
}

/* ---- Rows of samples ------------------------------------------------------------------------- */

/* One call of `run`, and the strip that it is at. */
typedef struct strip {
    strip_memory *strips;
    const gc_rank1 *rank1;
    const gc_instructions *set;
    const gc_sample_rows *input;
    gc_area area;
    char *output;
    size_t stride;
    size_t first, count; /* values of the strip */
    bool is_large;       /* its rows come from memory, not from caches */
    bool streams;        /* its output goes past the caches */
} strip;

static size_t row_values(const strip *s)
{
    return (size_t)s->rank1->problem->chain.width * (size_t)s->rank1->channels;
}

/* Row y of the image as the border extends it; NULL in a constant border. */
static const uint8_t *samples_row(const strip *s, int64_t y)
{
    const gc_chain *chain = &s->rank1->problem->chain;
    const int64_t capacity = s->input->capacity;
    y = gc_border_index(chain->border, y, chain->height);
    if (y < 0)
        return NULL;
    y = y < capacity ? y : y % capacity; /* a division takes long */
    return (const uint8_t *)s->input->samples + (size_t)y * s->input->stride;
}

static const uint8_t *pixel_inside(const strip *s, const uint8_t *row, int64_t x)
{
    return row + (size_t)x * samples_of(s->rank1);
}

/* Pixel x of the image as the border extends it, of a row that may lie in a constant border. `x` is
 * outside, or the row is. */
static const uint8_t *pixel_beside(const strip *s, const uint8_t *row, int64_t x)
{
    const int64_t width = s->rank1->problem->chain.width, left = s->rank1->step->left;
    x = row == NULL ? -1 : s->strips->beside[x < 0 ? x + left : x - width + left];
    return x < 0 ? s->rank1->border : pixel_inside(s, row, x);
}

/* Copies values of a row, and what the filter reads beside them. Values begin with any channel,
 * unless alpha is taken out. */
static const uint8_t *extend(const strip *s, const uint8_t *row, size_t first, size_t count)
{
    int64_t channels = s->rank1->channels, width = s->rank1->problem->chain.width;
    int64_t x = (int64_t)(first / (size_t)channels) - s->rank1->step->left;
    int64_t c = (int64_t)(first % (size_t)channels);
    int64_t rest = (int64_t)(count + reach_of(s->rank1));
    uint8_t *to = s->strips->extended;
    while (rest > 0) {
        bool inside = row != NULL && x >= 0 && x < width;
        int64_t pixels = inside ? width - x : 1, size = gc_smaller(pixels * channels - c, rest);
        if (inside && s->rank1->splits_alpha)
            s->set->rank1->take_colours((int)samples_of(s->rank1), pixel_inside(s, row, x),
                                        (size_t)(size / channels), to);
        else
            memcpy(to, (inside ? pixel_inside(s, row, x) : pixel_beside(s, row, x)) + c,
                   (size_t)size);
        to += size;
        rest -= size;
        x += pixels;
        c = 0;
    }
    return s->strips->extended;
}

/* The first sample that the taps of a row read for value `first`, and for how many of *count values
 * from there: in the row itself where loops stay inside it, which they do for `room` values, else
 * in a copy. One copy is faster than parts, unless the row comes from memory (`is_large`). */
static const uint8_t *find_taps(const strip *s, const uint8_t *row, size_t first, size_t *count)
{
    const size_t left = left_of(s->rank1), beyond = reach_of(s->rank1) + 2 * SLACK;
    const size_t end = row_values(s) + left, room = end > first + beyond ? end - first - beyond : 0;
    const bool is_row = row != NULL && !s->rank1->splits_alpha;
    if (is_row && first >= left && (room >= *count || (s->is_large && room >= SLACK))) {
        *count = room < *count ? room / SLACK * SLACK : *count;
        return row + first - left;
    }
    if (is_row && s->is_large && left > first && *count > SLACK)
        *count = SLACK;
    return extend(s, row, first, *count);
}

/* ---- Values near a tie ----------------------------------------------------------------------- */

/* Settles the values of row y that have bits: words side by side together, since they may be
 * flat. */
static void settle(const strip *s, int64_t y, gc_rank1_near *near)
{
    char *output = s->output + (size_t)(y - s->area.top) * s->stride;
    for (uint64_t words = near->words; words != 0; words &= words + (words & -words)) {
        size_t word = (size_t)__builtin_ctzll(words);
        size_t end = word + (size_t)__builtin_ctzll(~(words >> word));
        size_t count = (64 * end < s->count ? 64 * end : s->count) - 64 * word;
        if (64 * end > s->count)
            near->bits[end - 1] &= ((uint64_t)1 << s->count % 64) - 1;
        gc_settle(&s->strips->settler, y, s->first + 64 * word, count, NULL, near->bits + word,
                  output);
    }
}

/* Settles `count` rows from row y on, whose bits wait. If they went past the caches, their lines
 * come back from memory, all at one time. */
static void settle_rows(const strip *s, int64_t y, size_t count)
{
    gc_rank1_output *output = s->strips->output;
    const char *row = s->output + (size_t)(y - s->area.top) * s->stride;
    for (size_t i = 0; i < count && s->streams; i++, row += s->stride)
        for (uint64_t words = output[i / GC_RANK1_ROWS].near[i % GC_RANK1_ROWS].words; words != 0;
             words &= words - 1)
            __builtin_prefetch(
                row + place_of(s->rank1, s->first + 64 * (size_t)__builtin_ctzll(words)), 1);
    for (size_t i = 0; i < count; i++) {
        gc_rank1_near *near = &output[i / GC_RANK1_ROWS].near[i % GC_RANK1_ROWS];
        if (near->words != 0)
            settle(s, y + (int64_t)i, near);
    }
}

/* ---- Strips ---------------------------------------------------------------------------------- */

/* The slot that comes `count` slots after a slot. */
static int slot_after(const strip *s, int slot, int count)
{
    int capacity = s->rank1->step->height + 1;
    return slot + count < capacity ? slot + count : slot + count - capacity;
}

/* Loops request as many bytes from `at` on as a strip has values. Requests the rest of `size`
 * bytes, and returns `at`. It is always inlined, since gcc drops calls of a function that only
 * requests memory. */
static inline __attribute__((always_inline)) const uint8_t *
request_rest(const strip *s, const uint8_t *at, size_t size)
{
    for (size_t i = s->count; i < size; i += GC_ALIGNMENT)
        __builtin_prefetch((const void *)((uintptr_t)at + i)); /* may lie behind the image */
    return at;
}

/* Samples of row y that loops request while they sum a row above. */
static const uint8_t *samples_ahead(const strip *s, int64_t y)
{
    const uint8_t *row = s->is_large ? samples_row(s, y) : NULL;
    size_t left = left_of(s->rank1), first = s->first > left ? s->first - left : 0;
    if (row == NULL)
        return s->strips->extended;
    size_t size = place_of(s->rank1, s->count + reach_of(s->rank1)) + GC_ALIGNMENT;
    return request_rest(s, row + place_of(s->rank1, first), size);
}

static void sum_row(const strip *s, int64_t y, int slot)
{
    const uint8_t *row = samples_row(s, y), *ahead = samples_ahead(s, y + ROWS_AHEAD);
    for (size_t at = 0, count; at < s->count; at += count) {
        count = s->count - at;
        const uint8_t *taps = find_taps(s, row, s->first + at, &count);
        s->set->rank1->sum(&s->rank1->row, taps, ahead + at, count, s->strips->scratch,
                           s->strips->sums[slot] + (s->rank1->row.is_short ? at / 2 : at));
    }
}

/* The strip's place in row y of output. */
static uint8_t *output_row(const strip *s, int64_t y)
{
    return (uint8_t *)s->output + (size_t)(y - s->area.top) * s->stride +
           place_of(s->rank1, s->first);
}

/* The places of rows of output from row y on. What loops store below the first `row_count` of them
 * is not wanted: it goes to `scratch`. */
static void find_output(const strip *s, int64_t y, int row_count, gc_rank1_output *output)
{
    const size_t size = place_of(s->rank1, s->count);
    output->streams = s->streams && !s->rank1->splits_alpha;
    const bool keeps = s->rank1->problem->conversion.keeps_alpha && !s->rank1->splits_alpha;
    output->kept_bytes = samples_of(s->rank1) == 2 ? 0xaaaaaaaaaaaaaaaa : 0x8888888888888888;
    for (int o = 0; o < GC_RANK1_ROWS; o++) {
        output->near[o].words = 0;
        output->out[o] = s->rank1->splits_alpha ? s->strips->levels[o]
                         : o < row_count        ? output_row(s, y + o)
                                                : (uint8_t *)s->strips->scratch;
        output->kept[o] = !keeps ? NULL : samples_row(s, y + (o < row_count ? o : 0)) + s->first;
        output->ahead[o] = output->out[o];
        if (s->is_large && !s->streams && y + o + GC_RANK1_ROWS < s->area.bottom)
            output->ahead[o] = request_rest(s, output_row(s, y + o + GC_RANK1_ROWS), size);
    }
}

/* Output rows y and y + 1, or y alone. Their first row of sums is in `slot`. */
static void finish_rows(const strip *s, int64_t y, int row_count, int slot, gc_rank1_output *output)
{
    find_output(s, y, row_count, output);
    s->set->rank1->finish(&s->rank1->column, (const float *const *)s->strips->sums + slot, s->count,
                          output);
    for (int o = 0; o < row_count && s->rank1->splits_alpha; o++)
        s->set->rank1->put_colours((int)samples_of(s->rank1), output->out[o],
                                   samples_row(s, y + o) + place_of(s->rank1, s->first),
                                   s->count / (size_t)s->rank1->channels, s->streams,
                                   output_row(s, y + o));
}

static void compute_strip(const strip *s)
{
    const gc_step *step = s->rank1->step;
    int64_t ready = s->area.top - step->top;
    int ready_slot = 0, slot = 0;
    size_t waiting = 0;
    for (int64_t y = s->area.top; y < s->area.bottom; y += GC_RANK1_ROWS) {
        int64_t last = gc_smaller(y + GC_RANK1_ROWS, s->area.bottom) - 1;
        for (; ready < last - step->top + step->height; ready++) {
            sum_row(s, ready, ready_slot);
            ready_slot = slot_after(s, ready_slot, 1);
        }
        finish_rows(s, y, (int)(last - y + 1), slot, &s->strips->output[waiting / GC_RANK1_ROWS]);
        slot = slot_after(s, slot, GC_RANK1_ROWS);
        waiting += (size_t)(last - y + 1);
        if (last + 1 == s->area.bottom || waiting == WAITING * GC_RANK1_ROWS) {
            settle_rows(s, last + 1 - (int64_t)waiting, waiting);
            waiting = 0;
        }
    }
}

/* Values of a strip: as few strips as there can be, which are as wide as each other. */
static size_t even_width(const strip_memory *strips, size_t values)
{
    size_t count = (values + strips->values - 1) / strips->values;
    size_t unit = unit_of(strips->rank1);
    return ((values + count - 1) / count + unit - 1) / unit * unit;
}

static void compute_levels(strip *s, bool is_large)
{
    size_t values = row_values(s), width = even_width(s->strips, values);
    s->is_large = is_large;
    s->streams = is_large && s->set->rank1->stores_lines && s->stride % GC_ALIGNMENT == 0 &&
                 (uintptr_t)s->output % GC_ALIGNMENT == 0; /* so strips begin on cache lines */
    for (; s->first < values; s->first += s->count) {
        s->count = values - s->first < width ? values - s->first : width;
        compute_strip(s);
    }
    atomic_thread_fence(memory_order_seq_cst); /* what goes past the caches has no other order */
}

/* Stages give chain values. */
static bool run(void *own, const gc_pass_job *job)
{
    strip_memory *strips = own;
    strip s = {.strips = strips,
               .rank1 = strips->rank1,
               .set = strips->set,
               .input = &job->input,
               .area = job->area,
               .output = job->output,
               .stride = job->stride};
    if (job->chain_only)
        return false;
    strips->settler.input = &job->input;
    compute_levels(&s, job->is_large);
    return true;
}

/* ---- The pass -------------------------------------------------------------------------------- */

static double seconds(const gc_problem *problem)
{
    const gc_chain *chain = &problem->chain;
    double values = (double)chain->width * chain->height * chain->channels;
    return gc_rank1_applies(problem)
               ? values * gc_rank1_seconds(problem) + chain->height * GC_ROW_SECONDS
               : HUGE_VAL;
}

static gconv_status create(const gc_problem *problem, void **shared, gconv_error *error)
{
    gc_rank1 *rank1 = *shared = calloc(1, sizeof *rank1);
    if (rank1 == NULL)
        return gc_fail_memory(error, sizeof *rank1);
    gconv_status status = gc_rank1_create(rank1, problem, error);
    if (status != GCONV_OK || rank1->step == NULL) {
        free(rank1);
        *shared = NULL;
    }
    return status;
}

static void release(void *shared)
{
    gc_rank1_destroy(shared);
    free(shared);
}

static void describe(const void *shared, char *text, size_t size)
{
    const gc_rank1 *rank1 = shared;
    snprintf(text, size, "%dx%d by %s", rank1->step->width, rank1->step->height,
             gc_rank1_describe(rank1));
}

extern const gc_pass gc_pass_rank1;
const gc_pass gc_pass_rank1 = {
    .seconds = seconds,
    .create = create,
    .release = release,
    .open = open_strips,
    .close = close_strips,
    .run = run,
    .describe = describe,
    .goes_in_strips = true,
};
