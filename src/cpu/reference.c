/* The reference: contract.md, rule 1, written down.
 *
 *     out(x,y) = sum_j sum_i F[j][i] * in(x - (i - ax), y - (j - ay))
 *
 * It runs on one thread and works on whole images. Each step meets the border of its own input
 * (rule 2). Weights are undivided (rule 3). Sums have no error, nor is there a rounding between
 * steps, but for jobs that core/sums.h cannot hold. Each result is rounded once (rule 5). It judges
 * every other implementation. So it stays short and obvious, and is not changed for speed. */
#include "cpu/edges/reference.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "core/border.h"
#include "core/file_time.h"
#include "core/implementation.h"
#include "core/sums.h"
#include "cpu/cost.h"

#include <stdlib.h>
#include <string.h>

/* A step at work. */
typedef struct step {
    const gc_chain *chain;
    const gc_step *about;
    const gc_word *terms, *border; /* one after the other, of gc_words_of_step */
    const gc_word *in;             /* the image */
    size_t words;                  /* of a number */
    int64_t *columns;              /* x of the image, for x from -left on; less than 0: outside */
} step;

/* Rows of an image, or of sums, that a pixel of row y is made from: inside, mirrored, wrapped, ...;
 * or `outside`, of the border constant. */
static void find_rows(const step *s, const gc_word *image, const gc_word *outside, int64_t y,
                      const gc_word **rows)
{
    const gc_chain *chain = s->chain;
    size_t row_words = gc_chain_row_values(chain) * s->words;
    for (int j = 0; j < s->about->height; j++) {
        int64_t row = gc_border_index(chain->border, y + j - s->about->top, chain->height);
        rows[j] = row < 0 ? outside : image + (size_t)row * row_words;
    }
}

/* The column that each x of step.columns stands for. NULL if memory is short. */
static int64_t *find_columns(const gc_chain *chain, const gc_step *about)
{
    int64_t count = chain->width + about->width;
    int64_t *columns = gc_allocate_array((size_t)count, sizeof *columns);
    for (int64_t i = 0; columns != NULL && i < count; i++)
        columns[i] = gc_border_index(chain->border, i - about->left, chain->width);
    return columns;
}

/* What tap `x` of a row, counted from the first tap at x = 0, reads of channel `c`. NULL is a row
 * of the border constant. */
static const gc_word *sample(const step *s, const gc_word *row, int64_t x, int c)
{
    x = s->columns[x];
    if (x < 0 || row == NULL)
        return s->border + (size_t)c * s->words;
    return row + (size_t)(x * s->chain->channels + c) * s->words;
}

/* Terms are the weights in reading order: the filter turned by half a turn, unless it
 * correlates. */
static inline void convolve_at(const step *s, size_t limbs, const gc_word *const *rows, int64_t x,
                               int c, gc_word *sum)
{
    const gc_word *term = s->terms;
    for (int j = 0; j < s->about->height; j++)
        for (int i = 0; i < s->about->width; i++, term += s->words)
            gc_add_product(limbs, sum, term, sample(s, rows[j], x + i, c));
}

/* ---- Filters of two vectors ------------------------------------------------------------------ */

/* F[j][i] = column[j] * row[i]: first sum_i row[i] * in(...) at each pixel. */
static inline void row_sum_at(const step *s, size_t limbs, const gc_word *row, int64_t x, int c,
                              gc_word *sum)
{
    const gc_word *term = s->terms + (size_t)s->about->height * s->words;
    for (int i = 0; i < s->about->width; i++, term += s->words)
        gc_add_product(limbs, sum, term, sample(s, row, x + i, c));
}

/* Then sum_j column[j] * these. */
static inline void column_sum_at(const step *s, size_t limbs, const gc_word *const *rows, int64_t x,
                                 int c, gc_word *sum)
{
    const gc_word *term = s->terms;
    size_t at = (size_t)(x * s->chain->channels + c) * s->words;
    for (int j = 0; j < s->about->height; j++, term += s->words)
        gc_add_product(limbs, sum, term, rows[j] + at);
}

static inline void sum_at(const step *s, size_t limbs, bool of_sums, const gc_word *const *rows,
                          int64_t x, int c, gc_word *sum)
{
    if (of_sums)
        column_sum_at(s, limbs, rows, x, c, sum);
    else
        convolve_at(s, limbs, rows, x, c, sum);
}

/* A row of sums for each of the image's, and one more for rows of border constants. NULL if memory
 * is short. */
static gc_word *sum_rows(const step *s)
{
    const gc_chain *chain = s->chain;
    size_t row_words = gc_chain_row_values(chain) * s->words;
    gc_word *sums = calloc((size_t)chain->height + 1, row_words * sizeof *sums);
    gc_word *to = sums;
    if (sums == NULL)
        return NULL;
    for (int64_t y = 0; y <= chain->height; y++) {
        const gc_word *row = y < chain->height ? s->in + (size_t)y * row_words : NULL;
        for (int64_t x = 0; x < chain->width; x++)
            for (int c = 0; c < chain->channels; c++, to += s->words)
                if (chain->limbs == 0)
                    row_sum_at(s, 0, row, x, c, to);
                else
                    row_sum_at(s, (size_t)chain->limbs, row, x, c, to);
    }
    return sums;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* Fills `out`, which is all zeros. `sums` is NULL unless the filter has two vectors. */
static gconv_status convolve_rows(gc_stream *stream, int number, const step *s, const gc_word *sums,
                                  gc_word *out, gconv_error *error)
{
    const gc_chain *chain = s->chain;
    const gc_word *rows[GCONV_FILTER_VECTOR_MAX];
    const gc_word *outside =
        sums != NULL ? sums + chain->height * gc_chain_row_values(chain) * s->words : NULL;
    for (int64_t y = 0; y < chain->height; y++) {
        find_rows(s, sums != NULL ? sums : s->in, outside, y, rows);
        for (int64_t x = 0; x < chain->width; x++)
            for (int c = 0; c < chain->channels; c++, out += s->words)
                if (chain->limbs == 0)
                    sum_at(s, 0, sums != NULL, rows, x, c, out);
                else
                    sum_at(s, (size_t)chain->limbs, sums != NULL, rows, x, c, out);
        double done = (number + (double)(y + 1) / chain->height) / chain->step_count;
        GC_TRY(gc_stream_tell(stream, done, error));
    }
    return GCONV_OK;
}

/* Step `number` of the chain. */
static gconv_status convolve(gc_stream *stream, int number, const gc_word *in, gc_word *out,
                             gconv_error *error)
{
    const gc_chain *chain = &stream->problem->chain;
    step s = {chain, &chain->steps[number], .in = in, .words = gc_words(chain)};
    s.columns = find_columns(chain, s.about);
    bool is_matrix = s.about->column == NULL;
    gc_word *terms = gc_words_of_step(chain, number), *sums = NULL;
    s.terms = terms;
    if (terms != NULL)
        s.border = terms + gc_step_term_count(s.about) * s.words;
    if (terms != NULL && s.columns != NULL && !is_matrix)
        sums = sum_rows(&s);
    size_t bytes = chain->height * gc_chain_row_values(chain) * s.words * sizeof *out;
    memset(out, 0, bytes);
    gconv_status status = terms == NULL || s.columns == NULL || (sums == NULL && !is_matrix)
                              ? gc_fail_memory(error, bytes)
                              : convolve_rows(stream, number, &s, sums, out, error);
    free(s.columns);
    free(sums);
    free(terms);
    return status;
}

/* Never the fastest. */
static double cost(const gc_problem *problem, const gconv_device_info *device)
{
    (void)device;
    double values = (double)problem->chain.width * problem->chain.height * problem->chain.channels;
    double seconds =
        GC_START_SECONDS + problem->chain.height * (problem->chain.step_count * GC_ROW_SECONDS) +
        values * (GC_REFERENCE_SECONDS + GC_REFERENCE_TAP_SECONDS * gc_chain_taps(&problem->chain));
    if (gc_counts_throughput(problem))
        return gc_cpu_throughput(problem, seconds, gc_file_threads(problem));
    return seconds;
}

static bool rounds_once(const gc_problem *problem, const gconv_device_info *device)
{
    (void)device;
    return gc_words_round_once(problem);
}

static gconv_status prepare(const gc_problem *problem, const gconv_device_info *device,
                            void **state, gconv_error *error)
{
    (void)device;
    (void)error;
    *state = (void *)problem;
    return GCONV_OK;
}

/* `samples` and `row` have room for a row of samples and of chain values. */
static gconv_status read_image(gc_stream *stream, void *samples, float *row, gc_word *image,
                               gconv_error *error)
{
    const gc_chain *chain = &stream->problem->chain;
    size_t values = gc_chain_row_values(chain);
    for (size_t y = 0; y < chain->height; y++) {
        GC_TRY(gc_stream_read(stream, 1, samples, stream->input_bytes, error));
        gc_stream_load_row(stream, samples, row);
        gc_words_load(chain, row, values, image + y * values * gc_words(chain));
    }
    return GCONV_OK;
}

/* `found` is what a detector found, row after row, or NULL. */
static gconv_status write_image(gc_stream *stream, const gc_word *image, const int64_t *found,
                                void *output, float *row, gconv_error *error)
{
    const gc_conversion *conversion = &stream->problem->conversion;
    const gc_chain *chain = &stream->problem->chain;
    size_t values = gc_chain_row_values(chain);
    for (uint32_t y = stream->first; y < stream->end; y++) {
        const gc_word *sums = image + y * values * gc_words(chain);
        gc_words_to_chain(chain, sums, values, row);
        if (found != NULL)
            gc_detector_store(&stream->problem->detector, conversion, found + y * values, true,
                              values, output);
        else
            gc_stream_store_row(stream, y, row, output);
        if (!stream->chain_only && found == NULL)
            gc_words_round(stream->problem, sums, chain->width, output);
        if (stream->chain_too != NULL)
            memcpy(stream->chain_too + y * stream->chain_too_stride, row, values * sizeof *row);
        GC_TRY(gc_stream_write(stream, 1, output, stream->output_bytes, error));
    }
    return GCONV_OK;
}

static gconv_status run(void *state, gc_stream *stream, gconv_error *error)
{
    const gc_problem *problem = state;
    const gc_chain *chain = &problem->chain;
    size_t values = gc_chain_row_values(chain), row_words = values * gc_words(chain);
    size_t row_bytes =
        stream->input_bytes > stream->output_bytes ? stream->input_bytes : stream->output_bytes;
    gc_word *in = gc_allocate_array(chain->height, row_words * sizeof *in);
    gc_word *out = gc_allocate_array(chain->height, row_words * sizeof *out);
    void *samples = gc_allocate_array(1, row_bytes);
    float *row = gc_allocate_array(values, sizeof *row);
    int64_t *found = NULL;
    gconv_status status = GCONV_OK;
    if (in == NULL || out == NULL || samples == NULL || row == NULL)
        status = gc_fail_memory(error, 2 * chain->height * row_words * sizeof *in);
    GC_THEN(status, read_image(stream, samples, row, in, error));
    double start = gc_seconds();
    for (int s = 0; status == GCONV_OK && s < chain->step_count; s++) {
        status = convolve(stream, s, in, out, error);
        gc_word *swap = in;
        in = out;
        out = swap;
    }
    if (status == GCONV_OK && gc_detects(&problem->detector) && !stream->chain_only)
        status = gc_reference_detect(problem, in, &found, error);
    stream->timings.compute += gc_seconds() - start;
    GC_THEN(status, write_image(stream, in, found, samples, row, error));
    free(found);
    free(row);
    free(samples);
    free(out);
    free(in);
    return status;
}

const gc_operations gc_reference_operations = {
    .cost = cost,
    .prepare = prepare,
    .run = run,
    .rounds_once = rounds_once,
    .rounded_once = "all but those of float samples, colours times alpha and extreme numbers",
    .detects = true,
};
