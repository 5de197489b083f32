/* Filters of random weights that are not 0, and whether a kernel computes them: every output, those
 * at the borders too, is compared with a sum in double. */
#include "gpu/device/check.cuh"
#include "gpu/tune/check_kernels.cuh"

#include <algorithm>

/* The largest weight for 8-bit samples. Sums of products have smaller ones, so that
 * gc_finish_divide can take the sum of all weights as divisor. */
enum { WEIGHT_MAX = 7 };

/* ---- What is expected ------------------------------------------------------------------------ */

static const dim3 threads_of_a_check(32, 8);

static dim3 blocks_of_a_check(const gc_tuner_view &image)
{
    return dim3((unsigned)(image.width + 31) / 32, (unsigned)(image.height + 7) / 8);
}

/* A weight that is not 0. For 8-bit samples it is a whole number, so that sums are exact; else it
 * has either sign. */
static float random_weight(const gc_layout &layout, int index)
{
    unsigned random = gc_scramble(0x9e3779b9u + (unsigned)index);
    unsigned products = (unsigned)gc_form_products(layout.tuning.form);
    if (layout.input == GC_BYTE)
        return (float)(1 + random % (WEIGHT_MAX / std::max(1u, products)));
    float magnitude = (float)(1 + (random >> 8)) * 0x1p-24f;
    return random & 1 ? magnitude : -magnitude;
}

/* The weight in row j and column i of the filter that the kernels' weights stand for. */
static double tap_at(const gc_search *s, int j, int i)
{
    const gc_layout &layout = s->layout;
    int products = gc_form_products(layout.tuning.form), lines = layout.width + layout.height;
    double tap = products == 0 ? s->weights[j * layout.width + i] : 0;
    for (int p = 0; p < products; p++)
        tap += (double)s->weights[p * lines + i] * s->weights[p * lines + layout.width + j];
    return tap;
}

static void make_weights(gc_search *s)
{
    const gc_layout &layout = s->layout;
    int width = layout.width, size = width * layout.height;
    s->weight_count = gc_form_weights(layout.tuning.form, width, layout.height);
    for (int i = 0; i < s->weight_count; i++)
        s->weights[i] = random_weight(layout, i);
    double sum = 0;
    for (int k = 0; k < size; k++) {
        s->taps[k] = tap_at(s, k / width, k % width);
        sum += fabs(s->taps[k]);
    }
    if (layout.input == GC_FLOAT) {
        /* contract.md, rule 4, for inputs up to 1. */
        s->tolerance = 4 * size * 0x1p-24 * sum;
        return;
    }
    s->divisor = sum;
    s->finish = {};
    s->finish.kind = GC_FINISH_QUOTIENT;
    gc_finish_divide(sum, &s->finish);
    s->finish.scale = s->finish.factor = 1;
    s->finish.sample_max = s->finish.largest = 255;
}

static void enqueue_expectation(const gc_search *s, const gc_tuner_view &image)
{
    const gc_tuner *tuner = s->tuner;
    dim3 blocks = blocks_of_a_check(image);
    if (s->layout.input == GC_FLOAT)
        expect<<<blocks, threads_of_a_check, 0, tuner->stream>>>(
            (const float *)tuner->inputs, image, s->layout, tuner->taps, s->divisor);
    else
        expect<<<blocks, threads_of_a_check, 0, tuner->stream>>>(
            (const unsigned char *)tuner->inputs, image, s->layout, tuner->taps, s->divisor);
}

gconv_status gc_search_begin(gc_search *s, gconv_error *error)
{
    gc_tuner *tuner = s->tuner;
    int size = s->layout.width * s->layout.height;
    GC_CUDA_TRY(error, cudaSetDevice(tuner->device.index));
    make_weights(s);
    GC_CUDA_TRY(error, cudaMemcpyAsync(tuner->taps, s->taps, (size_t)size * sizeof *s->taps,
                                       cudaMemcpyHostToDevice, tuner->stream));
    if (s->layout.tuning.form == GC_FORM_TILES)
        GC_CUDA_TRY(error, cudaMemcpyAsync(tuner->weights, s->weights, (size_t)size * sizeof(float),
                                           cudaMemcpyHostToDevice, tuner->stream));
    size_t words = (size_t)tuner->sets * (size_t)tuner->side * (size_t)tuner->side;
    fill<<<8 * (unsigned)tuner->device.processors, 256, 0, tuner->stream>>>(
        (unsigned *)tuner->inputs, words, s->layout.input == GC_FLOAT);
    GC_CUDA_TRY_LAUNCH(error);
    enqueue_expectation(s, gc_tuner_crop(tuner));
    GC_CUDA_TRY_LAUNCH(error);
    enqueue_expectation(s, gc_tuner_plane(tuner));
    GC_CUDA_TRY_LAUNCH(error);
    GC_CUDA_TRY(error, cudaStreamSynchronize(tuner->stream));
    return GCONV_OK;
}

/* ---- Checking -------------------------------------------------------------------------------- */

/* Adds the number of wrong outputs to tuner->wrong. */
static gconv_status check(const gc_search *s, const gc_contender &contender,
                          const gc_tuner_view &image, gconv_error *error)
{
    const gc_tuner *tuner = s->tuner;
    void *output = gc_search_output(s, 0);
    int columns = gc_search_columns(s, image), rows = gc_search_rows(s, image);
    size_t bytes =
        (size_t)image.pitch * (size_t)image.height * gc_tuner_sample_bytes(s->layout.output);
    /* This makes NaNs of floats, white of bytes. No expected output is one of these. */
    GC_CUDA_TRY(error, cudaMemsetAsync(output, 0xff, bytes, tuner->stream));
    GC_TRY(gc_contender_launch(s, contender, image, 0, error));
    dim3 blocks = blocks_of_a_check(image);
    if (s->layout.output == GC_FLOAT)
        compare<<<blocks, threads_of_a_check, 0, tuner->stream>>>(
            (const float *)output, image, columns, rows, s->tolerance, tuner->wrong);
    else
        compare<<<blocks, threads_of_a_check, 0, tuner->stream>>>(
            (const unsigned char *)output, image, columns, rows, s->tolerance, tuner->wrong);
    GC_CUDA_TRY_LAUNCH(error);
    return GCONV_OK;
}

gconv_status gc_search_check(const gc_search *s, const gc_contender &contender, bool *right,
                             gconv_error *error)
{
    const gc_tuner *tuner = s->tuner;
    unsigned wrong = 0;
    GC_CUDA_TRY(error, cudaMemsetAsync(tuner->wrong, 0, sizeof wrong, tuner->stream));
    GC_TRY(check(s, contender, gc_tuner_crop(tuner), error));
    GC_TRY(check(s, contender, gc_tuner_plane(tuner), error));
    GC_CUDA_TRY(error, cudaMemcpyAsync(&wrong, tuner->wrong, sizeof wrong, cudaMemcpyDeviceToHost,
                                       tuner->stream));
    GC_CUDA_TRY(error, cudaStreamSynchronize(tuner->stream));
    *right = wrong == 0;
    return GCONV_OK;
}
