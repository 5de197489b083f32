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
} step;

/* Sample of channel `c` at any (x, y): inside, mirrored, wrapped, ... or the border constant. */
static const gc_word *sample(const step *s, int64_t x, int64_t y, int c)
{
    const gc_chain *chain = s->chain;
    x = gc_border_index(chain->border, x, chain->width);
    y = gc_border_index(chain->border, y, chain->height);
    if (x < 0 || y < 0)
        return s->border + (size_t)c * s->words;
    return s->in + (size_t)((y * chain->width + x) * chain->channels + c) * s->words;
}

/* Terms are the weights in reading order: the filter turned by half a turn, unless it
 * correlates. */
static void convolve_at(const step *s, int64_t x, int64_t y, int c, gc_word *sum)
{
    const gc_step *about = s->about;
    const gc_word *term = s->terms;
    for (int j = 0; j < about->height; j++)
        for (int i = 0; i < about->width; i++, term += s->words)
            gc_add_product(s->chain, sum, term,
                           sample(s, x + i - about->left, y + j - about->top, c));
}

/* ---- Filters of two vectors ------------------------------------------------------------------ */

/* F[j][i] = column[j] * row[i]: first sum_i row[i] * in(...) at each pixel. */
static void row_sum_at(const step *s, int64_t x, int64_t y, int c, gc_word *sum)
{
    const gc_word *term = s->terms + (size_t)s->about->height * s->words;
    for (int i = 0; i < s->about->width; i++, term += s->words)
        gc_add_product(s->chain, sum, term, sample(s, x + i - s->about->left, y, c));
}

/* Then sum_j column[j] * these. `sums` has a row for each of the image's, and one more for rows of
 * border constants. */
static void column_sum_at(const step *s, const gc_word *sums, int64_t x, int64_t y, int c,
                          gc_word *sum)
{
    const gc_chain *chain = s->chain;
    const gc_word *term = s->terms;
    for (int j = 0; j < s->about->height; j++, term += s->words) {
        int64_t row = gc_border_index(chain->border, y + j - s->about->top, chain->height);
        row = row < 0 ? chain->height : row;
        size_t at = (size_t)((row * chain->width + x) * chain->channels + c);
        gc_add_product(chain, sum, term, sums + at * s->words);
    }
}

/* NULL if memory is short. */
static gc_word *sum_rows(const step *s)
{
    const gc_chain *chain = s->chain;
    size_t row_words = gc_chain_row_values(chain) * s->words;
    gc_word *sums = calloc((size_t)chain->height + 1, row_words * sizeof *sums);
    gc_word *to = sums;
    if (sums == NULL)
        return NULL;
    for (int64_t y = 0; y <= chain->height; y++)
        for (int64_t x = 0; x < chain->width; x++)
            for (int c = 0; c < chain->channels; c++, to += s->words)
                row_sum_at(s, x, y, c, to);
    return sums;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* Fills `out`, which is all zeros. `sums` is NULL unless the filter has two vectors. */
static gconv_status convolve_rows(gc_stream *stream, int number, const step *s, const gc_word *sums,
                                  gc_word *out, gconv_error *error)
{
    const gc_chain *chain = s->chain;
    gconv_status status = GCONV_OK;
    for (int64_t y = 0; status == GCONV_OK && y < chain->height; y++) {
        for (int64_t x = 0; x < chain->width; x++)
            for (int c = 0; c < chain->channels; c++, out += s->words)
                if (sums == NULL)
                    convolve_at(s, x, y, c, out);
                else
                    column_sum_at(s, sums, x, y, c, out);
        double done = (number + (double)(y + 1) / chain->height) / chain->step_count;
        status = gc_stream_tell(stream, done, error);
    }
    return status;
}

/* Step `number` of the chain. */
static gconv_status convolve(gc_stream *stream, int number, const gc_word *in, gc_word *out,
                             gconv_error *error)
{
    const gc_chain *chain = &stream->problem->chain;
    step s = {chain, &chain->steps[number], .in = in, .words = gc_words(chain)};
    bool is_matrix = s.about->column == NULL;
    gc_word *terms = gc_words_of_step(chain, number), *sums = NULL;
    s.terms = terms;
    if (terms != NULL)
        s.border = terms + gc_step_term_count(s.about) * s.words;
    if (terms != NULL && !is_matrix)
        sums = sum_rows(&s);
    size_t bytes = chain->height * gc_chain_row_values(chain) * s.words * sizeof *out;
    memset(out, 0, bytes);
    gconv_status status = terms == NULL || (sums == NULL && !is_matrix)
                              ? gc_fail_memory(error, bytes)
                              : convolve_rows(stream, number, &s, sums, out, error);
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
        gconv_status status = gc_stream_read(stream, 1, samples, stream->input_bytes, error);
        if (status != GCONV_OK)
            return status;
        gc_stream_load_row(stream, samples, row);
        gc_words_load(chain, row, values, image + y * values * gc_words(chain));
    }
    return GCONV_OK;
}

/* `flags` are those of a detector, a row of them after the other, or NULL. */
static gconv_status write_image(gc_stream *stream, const gc_word *image, const uint8_t *flags,
                                void *output, float *row, gconv_error *error)
{
    const gc_conversion *conversion = &stream->problem->conversion;
    const gc_chain *chain = &stream->problem->chain;
    size_t values = gc_chain_row_values(chain);
    for (uint32_t y = stream->first; y < stream->end; y++) {
        const gc_word *sums = image + y * values * gc_words(chain);
        gc_words_to_chain(chain, sums, values, row);
        if (flags != NULL)
            gc_store_flags(conversion, flags + y * values, 0, values, output);
        else
            gc_stream_store_row(stream, y, row, output);
        if (!stream->chain_only && flags == NULL)
            gc_words_round(stream->problem, sums, chain->width, output);
        if (stream->chain_too != NULL)
            memcpy(stream->chain_too + y * stream->chain_too_stride, row, values * sizeof *row);
        gconv_status status = gc_stream_write(stream, 1, output, stream->output_bytes, error);
        if (status != GCONV_OK)
            return status;
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
    uint8_t *flags = NULL;
    gconv_status status = GCONV_OK;
    if (in == NULL || out == NULL || samples == NULL || row == NULL)
        status = gc_fail_memory(error, 2 * chain->height * row_words * sizeof *in);
    if (status == GCONV_OK)
        status = read_image(stream, samples, row, in, error);
    double start = gc_seconds();
    for (int s = 0; status == GCONV_OK && s < chain->step_count; s++) {
        status = convolve(stream, s, in, out, error);
        gc_word *swap = in;
        in = out;
        out = swap;
    }
    if (status == GCONV_OK && gc_detects(&problem->detector) && !stream->chain_only)
        status = gc_reference_detect(problem, in, &flags, error);
    stream->timings.compute += gc_seconds() - start;
    if (status == GCONV_OK)
        status = write_image(stream, in, flags, samples, row, error);
    free(flags);
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
