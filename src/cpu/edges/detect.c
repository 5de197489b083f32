/* The pass of detectors (core/detector.h): from samples to edges.
 *
 * Canny needs the whole image before its first row is known. Each band of rows leaves two bits a
 * pixel: whether it may be an edge, and whether it is one. Edges are followed within the band by
 * the thread that has it in its caches. At the end they are followed across the bands. */
#include "base/bits.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/processors.h"
#include "base/status.h"
#include "base/threads.h"
#include "cpu/cost.h"
#include "cpu/edges/hysteresis.h"
#include "cpu/edges/loops.h"
#include "cpu/edges/rows.h"
#include "cpu/instructions/instructions.h"
#include "cpu/pass.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What all threads share. */
typedef struct finding {
    const gc_problem *problem;
    gc_edge_bits bits; /* of Canny */
    bool *begins;      /* whether a band begins with this row */
    atomic_bool again; /* a band ran out of room: all edges are to be followed again */
} finding;

enum { STACK_WORDS = 1 << 12, RING = 3 };

/* Rows of one thread. Magnitudes begin at column 0, and reach a column beyond both ends. */
typedef struct finder {
    finding *shared;
    const gc_detector *detector;
    const gc_detector_loops *loops;
    const gc_magnitude_loops *magnitude;
    const gc_edge_bytes_loops *bytes; /* compute rows in 16-bit integers; else NULL */
    gc_value_rows rows;
    const gc_sample_rows *input;
    size_t width;
    int32_t *sums, *differences, *across, *down;
    char *magnitudes[RING], *nothing; /* the last is a row outside the image */
    uint8_t *sectors[RING];
    uint8_t *weak, *strong; /* flags */
    void *memory;           /* of all these rows */
    size_t stack[STACK_WORDS];
} finder;

static double seconds(const gc_problem *problem)
{
    const gc_chain *chain = &problem->chain;
    double taps = 0;
    for (int s = 0; s < chain->step_count; s++)
        taps += chain->steps[s].width + chain->steps[s].height;
    double tap = gc_instructions_chosen()->tap_seconds * (chain->exact ? 1 : GC_IN_DOUBLE_FACTOR);
    return (double)chain->width * chain->height * (GC_DETECTOR_SECONDS + tap * taps);
}

/* ---- Creating -------------------------------------------------------------------------------- */

static void release(void *opaque)
{
    finding *shared = opaque;
    free(shared->bits.weak);
    free(shared->bits.strong);
    free(shared->begins);
    free(shared);
}

static gconv_status create(const gc_problem *problem, void **result, gconv_error *error)
{
    finding *shared = calloc(1, sizeof *shared);
    GC_TRY_MEMORY(shared != NULL, error, sizeof *shared);
    shared->problem = problem;
    *result = shared;
    if (!gc_detects_canny(&problem->detector))
        return GCONV_OK;
    gc_edge_bits *bits = &shared->bits;
    bits->words = ((size_t)problem->chain.width + 63) / 64;
    bits->height = problem->chain.height;
    size_t bytes = bits->words * sizeof *bits->weak;
    bits->weak = calloc(problem->chain.height, bytes); /* rows may end within a word */
    bits->strong = calloc(problem->chain.height, bytes);
    shared->begins = calloc(problem->chain.height, sizeof *shared->begins);
    if (bits->weak != NULL && bits->strong != NULL && shared->begins != NULL)
        return GCONV_OK;
    release(shared);
    *result = NULL;
    return gc_fail_memory(error, 2 * bytes * problem->chain.height);
}

static gconv_status allocate_rows(finder *f, gconv_error *error)
{
    size_t columns = f->width + GC_OPERATOR_SIDE_MAX + 2 * GC_DETECTOR_SLACK;
    size_t values = gc_aligned(columns * sizeof(int32_t)),
           flags = gc_aligned(columns * sizeof(int16_t));
    size_t size = f->detector->is_wide ? sizeof(int64_t) : sizeof(int32_t);
    size_t magnitudes = gc_aligned(columns * size) + GC_ALIGNMENT;
    size_t bytes = 4 * values + (RING + 1) * magnitudes + (RING + 2) * flags;
    char *next = f->memory = gc_allocate_aligned(bytes, 1);
    GC_TRY_MEMORY(next != NULL, error, bytes);
    memset(next, 0, bytes);
    int32_t **const rows[] = {&f->sums, &f->differences, &f->across, &f->down};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++, next += values)
        *rows[i] = (int32_t *)(void *)next;
    for (int i = 0; i < RING; i++, next += magnitudes)
        f->magnitudes[i] = next + GC_ALIGNMENT;
    f->nothing = next + GC_ALIGNMENT;
    next += magnitudes;
    for (int i = 0; i < RING; i++, next += flags)
        f->sectors[i] = (uint8_t *)next;
    f->weak = (uint8_t *)next;
    f->strong = (uint8_t *)next + flags;
    return GCONV_OK;
}

static void close_finder(void *own)
{
    finder *f = own;
    gc_value_rows_destroy(&f->rows);
    free(f->memory);
    free(f);
}

static gconv_status open_finder(const void *shared, void **own, gconv_error *error)
{
    finder *f = *own = calloc(1, sizeof *f);
    GC_TRY_MEMORY(f != NULL, error, sizeof *f);
    f->shared = (finding *)shared;
    const gc_problem *problem = f->shared->problem;
    f->detector = &problem->detector;
    f->loops = gc_instructions_chosen()->detector;
    f->magnitude = &f->loops->magnitudes[f->detector->is_wide];
    f->width = problem->chain.width;
    bool takes_bytes = gc_detects_canny(f->detector) &&
                       f->detector->asked.like == GCONV_LIKE_OPENCV && f->detector->side == RING;
    f->bytes = takes_bytes ? gc_instructions_chosen()->edge_bytes : NULL;
    if (f->bytes == NULL)
        GC_TRY(gc_value_rows_create(&f->rows, problem, error));
    return allocate_rows(f, error);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void measure_bytes(finder *f, int64_t y)
{
    const gc_sample_rows *input = f->input;
    const uint8_t *rows[RING];
    for (int64_t j = 0; j < RING; j++) {
        int64_t row = gc_larger(0, gc_smaller(y + j - 1, f->shared->bits.height - 1));
        rows[j] = (const uint8_t *)gc_sample_row(input, row);
    }
    f->bytes->measure(rows, f->width, f->detector->asked.norm == GCONV_NORM_L2,
                      (int16_t *)(f->sums + 1), (int16_t *)(f->differences + 1),
                      f->magnitudes[y % RING], (int16_t *)(void *)f->sectors[y % RING]);
}

/* Computes the magnitudes of row y into the ring. */
static void measure_row(finder *f, int64_t y)
{
    if (f->bytes != NULL) {
        measure_bytes(f, y);
        return;
    }
    const gc_detector *d = f->detector;
    const int32_t *rows[GC_OPERATOR_SIDE_MAX];
    char *to = f->magnitudes[y % RING];
    for (int j = 0; j < d->side; j++)
        rows[j] = gc_value_row(&f->rows, y + j - d->side / 2);
    f->loops->gradient(d, rows, f->width, f->sums, f->differences, f->across, f->down);
    f->magnitude->measure(d, f->across, f->down, f->width, to, f->sectors[y % RING]);
    size_t size = d->is_wide ? sizeof(int64_t) : sizeof(int32_t);
    memset(to - size, 0, size);
    memset(to + f->width * size, 0, size);
}

static void find_peaks(finder *f, int64_t y)
{
    gc_edge_bits *bits = &f->shared->bits;
    const void *magnitudes[RING];
    if (y + 1 < bits->height)
        measure_row(f, y + 1);
    for (int j = 0; j < RING; j++) {
        int64_t row = y + j - 1;
        bool inside = row >= 0 && row < bits->height;
        magnitudes[j] = inside ? f->magnitudes[row % RING] : f->nothing;
    }
    uint8_t *weak = (uint8_t *)(bits->weak + (size_t)y * bits->words);
    uint8_t *strong = (uint8_t *)(bits->strong + (size_t)y * bits->words);
    const gc_detector *d = f->detector;
    if (f->bytes != NULL) {
        bool squared = d->asked.norm == GCONV_NORM_L2;
        int64_t most = squared ? INT32_MAX : INT16_MAX;
        f->bytes->peaks(magnitudes, (int16_t *)(void *)f->sectors[y % RING], f->width, squared,
                        (int32_t)gc_smaller(d->low, most), (int32_t)gc_smaller(d->high, most), weak,
                        strong);
        return;
    }
    f->magnitude->peaks(d, magnitudes, f->sectors[y % RING], f->width, f->weak, f->strong);
    gc_pack_bits(f->weak, f->width, weak);
    gc_pack_bits(f->strong, f->width, strong);
}

static void find_lines(finder *f, int64_t top, int64_t bottom)
{
    finding *shared = f->shared;
    gc_edge_stack stack = {.words = f->stack, .room = STACK_WORDS};
    for (int64_t y = gc_larger(top - 1, 0); y <= top; y++)
        measure_row(f, y);
    for (int64_t y = top; y < bottom; y++) {
        find_peaks(f, y);
        shared->begins[y] = y == top;
    }
    gc_follow_edges(&shared->bits, top, bottom, top, bottom, &stack);
    if (stack.failed)
        atomic_store(&shared->again, true);
}

static void find_crossings(finder *f, int64_t y)
{
    const int32_t *rows[RING];
    for (int j = 0; j < RING; j++) {
        int64_t row = y + j - 1;
        bool inside = row >= 0 && row < f->shared->problem->chain.height;
        rows[j] = inside ? gc_value_row(&f->rows, row) : (const int32_t *)(void *)f->nothing;
    }
    f->loops->crossings(f->detector, rows, f->width, f->weak);
}

static void store_row(const gc_conversion *conversion, uint8_t *flags, size_t width, char *output)
{
    for (size_t x = 0; x < width && conversion->invert; x++)
        flags[x] ^= 1;
    gc_store_flags(conversion, flags, 0, width, output);
}

/* A row of output, by a method that needs no other row of it. */
static void find_row(finder *f, int64_t y, char *output)
{
    const gc_conversion *conversion = &f->shared->problem->conversion;
    const char *magnitudes = f->magnitudes[y % RING];
    if (f->detector->side == 1)
        find_crossings(f, y);
    else
        measure_row(f, y);
    if (!conversion->finds_edges) {
        gc_detector_store(f->detector, conversion, magnitudes, f->detector->is_wide, f->width,
                          output);
        return;
    }
    if (f->detector->side > 1)
        f->magnitude->pass(f->detector, magnitudes, f->width, f->weak);
    store_row(conversion, f->weak, f->width, output);
}

static bool run(void *own, const gc_pass_job *job)
{
    finder *f = own;
    if (job->chain_only)
        return false;
    f->input = &job->input;
    if (f->bytes == NULL)
        gc_value_rows_begin(&f->rows, job);
    if (gc_detects_canny(f->detector))
        find_lines(f, job->area.top, job->area.bottom);
    else
        for (int64_t y = job->area.top; y < job->area.bottom; y++)
            find_row(f, y, job->output + (size_t)(y - job->area.top) * job->stride);
    return true;
}

/* ---- The end of an image --------------------------------------------------------------------- */

/* Rows of output that are made of bits. */
typedef struct storing {
    const finding *shared;
    int64_t first; /* row of the first one */
    char *output;
    size_t stride;
} storing;

static void store_line(const finding *shared, int64_t y, char *output)
{
    enum { CHUNK = 512 };
    const gc_conversion *conversion = &shared->problem->conversion;
    const uint8_t *bits = (const uint8_t *)(shared->bits.strong + (size_t)y * shared->bits.words);
    size_t width = shared->problem->chain.width;
    if (conversion->output.depth == 1 && !conversion->invert) {
        memcpy(output, bits, (width + 7) / 8);
        return;
    }
    for (size_t first = 0; first < width; first += CHUNK) {
        uint8_t flags[CHUNK];
        size_t count = width - first < CHUNK ? width - first : CHUNK;
        gc_unpack_bits(bits + first / 8, count, conversion->invert, flags);
        gc_store_flags(conversion, flags, first, count, output);
    }
}

static void store_lines(void *user, size_t first, size_t end)
{
    const storing *s = user;
    for (size_t y = first; y < end; y++)
        store_line(s->shared, s->first + (int64_t)y, s->output + y * s->stride);
}

static gconv_status write_lines(const finding *shared, gc_stream *stream, gconv_error *error)
{
    enum { ROWS = 64 };
    const gc_problem *problem = shared->problem;
    int threads = gc_thread_count(problem->job.threads);
    storing s = {shared, 0, stream->result.next, stream->result.stride};
    if (stream->result.next != NULL) {
        gc_share_out(problem->chain.height, threads, store_lines, &s);
        return GCONV_OK;
    }
    gconv_status status = GCONV_OK;
    s.stride = stream->output_bytes;
    s.output = gc_allocate_array(ROWS, s.stride);
    GC_TRY_MEMORY(s.output != NULL, error, ROWS * s.stride);
    for (; status == GCONV_OK && s.first < shared->bits.height; s.first += ROWS) {
        int64_t count = gc_smaller(shared->bits.height - s.first, ROWS);
        store_lines(&s, 0, (size_t)count);
        status = gc_stream_write(stream, (uint32_t)count, s.output, s.stride, error);
        while (stream->sink.help != NULL && stream->sink.help(stream->sink.user))
            ; /* compressed rows need less memory than those that wait */
    }
    free(s.output);
    return status;
}

static gconv_status finish(void *opaque, gc_stream *stream, gconv_error *error)
{
    finding *shared = opaque;
    const gc_edge_bits *bits = &shared->bits;
    gc_edge_stack stack = {.grows = true};
    bool again = atomic_exchange(&shared->again, false);
    for (int64_t y = 0; y < bits->height; y++)
        if (again || (y > 0 && shared->begins[y]))
            gc_follow_edges(bits, gc_larger(y - 1, 0), y + 1, 0, bits->height, &stack);
    free(stack.words);
    if (stack.failed)
        return gc_fail_memory(error, stack.room * sizeof *stack.words);
    return write_lines(shared, stream, error);
}

/* ---- The table ------------------------------------------------------------------------------- */

static void describe(const void *opaque, char *text, size_t size)
{
    static const char *const methods[] = {"laplace", "zero crossings", "gradients", "Canny"};
    const gc_problem *problem = ((const finding *)opaque)->problem;
    snprintf(text, size, "%s in whole numbers of %d bits", methods[problem->detector.asked.method],
             problem->detector.is_wide ? 64 : 32);
}

const gc_pass gc_pass_detector = {
    .seconds = seconds,
    .create = create,
    .release = release,
    .open = open_finder,
    .close = close_finder,
    .run = run,
    .finish = finish,
    .describe = describe,
};
