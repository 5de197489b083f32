/* fft: whole-image convolution through cuFFT.
 *
 * Idea: a convolution is a product of spectra, whose cost hardly depends on the filter's size (van
 *   Werkhoven et al. 2014, section 7; Podlozhnyuk 2007, quoted there). The filter's spectrum is
 *   computed once a plan. Sizes are padded to products of 2, 3, 5 and 7. The extended image carries
 *   the border, so that no value that is read has wrapped around. Float32 results depend on the
 *   size of the transform. So this size must not depend on the device's memory: a transform takes
 *   the whole image, or one of equal shares of a large image's rows (transforms.h).
 * Improves on: all other implementations, for large filters of full rank.
 * Needs: the real image, its spectrum, the filter's spectrum and cuFFT's work area: about 5 planes,
 *   10 in double.
 * Exactness: exact chains (rule 3) are transformed in double and rounded to the nearest integer.
 *   gc_transform_error bounds the error before rounding. It counts levels of radix 2, of which
 *   there are more than of cuFFT's radix 3 to 7. A job whose bound is 1/2 or more is refused. Other
 *   chains are transformed in float32.
 * Limits: cuFFT's shared library has to be found at run time; memory; chains whose spectra exceed
 *   float32.
 * Loses: to everything else at small filters. */
#include "gpu/device/kernel.cuh"
#include "gpu/methods/fft/cufft.cuh"
#include "gpu/methods/fft/kernels.cuh"
#include "gpu/plan/method.cuh"

#include <algorithm>
#include <cmath>
#include <cstdio>

extern "C" {
#include "core/range.h"
#include "gpu/methods/fft/transforms.h"
}

/* ---- Sizes and bounds ------------------------------------------------------------------------ */

static double log2_points(const gc_problem *problem, const gc_step *step)
{
    return log2(gc_transform_points(problem, step));
}

/* How far double transforms of an exact chain's step may be from the integer they stand for. */
static double double_error(const gc_problem *problem, const gc_step *step)
{
    return gc_transform_error(log2_points(problem, step));
}

static double extra_terms(const gc_problem *problem)
{
    double most = 0;
    for (int s = 0; s < problem->chain.step_count; s++)
        most = std::max(most, log2_points(problem, &problem->chain.steps[s]));
    return 32 * most;
}

/* ---- A step ---------------------------------------------------------------------------------- */

struct fft_step {
    bool exact;            /* in double, rounded */
    int64_t width, height; /* of the transform */
    int64_t rows;          /* of output, that one transform gives */
    cufftHandle forward, backward;
    bool has_forward, has_backward;
    gc_owned_memory<void> image;    /* real */
    gc_owned_memory<void> spectrum; /* complex */
    gc_owned_memory<void> filter;   /* the filter's spectrum */
    ~fft_step()
    {
        if (has_forward)
            gc_cufft_get().destroy(forward);
        if (has_backward)
            gc_cufft_get().destroy(backward);
    }
};

static int64_t spectrum_count(const fft_step *s)
{
    return (s->width / 2 + 1) * s->height;
}

/* Transforms in float32 or in double. */
struct in_float {
    typedef cufftReal real;
    typedef cufftComplex complex;
    static cufftResult forward(const fft_step *s, void *spectrum)
    {
        return gc_cufft_get().r2c(s->forward, (real *)s->image, (complex *)spectrum);
    }
    static cufftResult backward(const fft_step *s)
    {
        return gc_cufft_get().c2r(s->backward, (complex *)s->spectrum, (real *)s->image);
    }
};

struct in_double {
    typedef cufftDoubleReal real;
    typedef cufftDoubleComplex complex;
    static cufftResult forward(const fft_step *s, void *spectrum)
    {
        return gc_cufft_get().d2z(s->forward, (real *)s->image, (complex *)spectrum);
    }
    static cufftResult backward(const fft_step *s)
    {
        return gc_cufft_get().z2d(s->backward, (complex *)s->spectrum, (real *)s->image);
    }
};

template <class kind>
static gconv_status transform(const fft_step *s, const float *plane, int64_t pitch, int width,
                              int height, void *spectrum, cudaStream_t stream, gconv_error *error)
{
    gc_fft_widen<<<gc_fft_grid(s->width, s->height), GC_FFT_THREADS, 0, stream>>>(
        plane, pitch, width, height, (typename kind::real *)s->image, s->width, s->height);
    GC_CUDA_TRY_LAUNCH(error);
    GC_CUFFT_TRY(error, kind::forward(s, spectrum));
    return GCONV_OK;
}

/* The rows of a channel that one transform gives, from row `first` on. */
template <class kind>
static gconv_status convolve_rows(const fft_step *s, const gc_gpu_step &step, int channel,
                                  int64_t first, cudaStream_t stream, gconv_error *error)
{
    typedef typename kind::real real;
    typedef typename kind::complex complex;
    int rows = (int)std::min(s->rows, step.height - first);
    int64_t count = spectrum_count(s);
    GC_TRY(transform<kind>(s, step.input + channel * step.input_plane + first * step.input_pitch,
                           step.input_pitch, step.width + step.filter_width - 1,
                           rows + step.filter_height - 1, s->spectrum, stream, error));
    gc_fft_multiply<<<gc_fft_blocks(count), GC_FFT_THREADS, 0, stream>>>(
        (complex *)s->spectrum, (const complex *)s->filter, count,
        (real)(1 / ((double)s->width * (double)s->height)));
    GC_CUDA_TRY_LAUNCH(error);
    GC_CUFFT_TRY(error, kind::backward(s));
    gc_fft_narrow<<<gc_fft_grid(step.width, rows), GC_FFT_THREADS, 0, stream>>>(
        (const real *)s->image, s->width,
        step.output + channel * step.output_plane + first * step.output_pitch, step.output_pitch,
        step.width, rows, s->exact);
    GC_CUDA_TRY_LAUNCH(error);
    return GCONV_OK;
}

static gconv_status convolve(void *state, const gc_gpu_step &step, cudaStream_t stream,
                             gconv_error *error)
{
    const fft_step *s = (const fft_step *)state;
    auto convolve_some = s->exact ? convolve_rows<in_double> : convolve_rows<in_float>;
    GC_CUFFT_TRY(error, gc_cufft_get().set_stream(s->forward, stream));
    GC_CUFFT_TRY(error, gc_cufft_get().set_stream(s->backward, stream));
    for (int c = 0; c < step.channels; c++)
        for (int64_t first = 0; first < step.height; first += s->rows)
            GC_TRY(convolve_some(s, step, c, first, stream, error));
    return GCONV_OK;
}

static gconv_status make_plans(fft_step *s, gconv_error *error)
{
    long long sizes[2] = {s->height, s->width};
    size_t work = 0;
    GC_CUFFT_TRY(error, gc_cufft_get().create(&s->forward));
    s->has_forward = true;
    GC_CUFFT_TRY(error, gc_cufft_get().create(&s->backward));
    s->has_backward = true;
    GC_CUFFT_TRY(error, gc_cufft_get().make_plan(s->forward, 2, sizes, nullptr, 1, 0, nullptr, 1, 0,
                                                 s->exact ? CUFFT_D2Z : CUFFT_R2C, 1, &work));
    GC_CUFFT_TRY(error, gc_cufft_get().make_plan(s->backward, 2, sizes, nullptr, 1, 0, nullptr, 1,
                                                 0, s->exact ? CUFFT_Z2D : CUFFT_C2R, 1, &work));
    return GCONV_OK;
}

/* The filter's spectrum, from its taps in the corner of an empty image. */
static gconv_status make_spectrum(const gc_step *step, fft_step *s, gconv_error *error)
{
    gc_owned_memory<float> taps;
    size_t bytes = (size_t)step->width * (size_t)step->height * sizeof *taps;
    GC_TRY(gc_gpu_upload(step->taps, bytes, &taps, error));
    auto transform_taps = s->exact ? transform<in_double> : transform<in_float>;
    GC_TRY(
        transform_taps(s, taps, step->width, step->width, step->height, s->filter, nullptr, error));
    GC_CUDA_TRY(error, cudaDeviceSynchronize());
    return GCONV_OK;
}

static gconv_status prepare(const gc_problem *problem, const gc_step *step,
                            const gconv_device_info *device, int rows, void **state,
                            gconv_error *error)
{
    (void)device;
    fft_step *s;
    GC_TRY(gc_make(&s, state, error));
    s->exact = problem->chain.exact;
    s->rows = s->exact ? rows : gc_transform_slabs(problem, step).rows;
    s->width = gc_transform_size((int64_t)problem->chain.width + step->width - 1);
    s->height = gc_transform_rows(step, s->rows);
    size_t real = s->exact ? sizeof(double) : sizeof(float);
    GC_CUDA_TRY(error, cudaMalloc(&s->image, (size_t)(s->width * s->height) * real));
    GC_CUDA_TRY(error, cudaMalloc(&s->spectrum, (size_t)spectrum_count(s) * 2 * real));
    GC_CUDA_TRY(error, cudaMalloc(&s->filter, (size_t)spectrum_count(s) * 2 * real));
    GC_TRY(make_plans(s, error));
    return make_spectrum(step, s, error);
}

/* ---- What the runtime asks ------------------------------------------------------------------- */

static gconv_status supports(const gc_problem *problem, const gc_step *step,
                             const gconv_device_info *device, gconv_error *error)
{
    (void)device;
    if (problem->chain.exact && double_error(problem, step) >= 0.5)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "rounding cannot restore the integers of a chain of this size (error up to "
                       "%.2g)",
                       double_error(problem, step));
    double points = gc_transform_points(problem, step);
    if (!problem->chain.exact && !gc_range_holds_fft(step, points))
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "float32 has no room for spectra of %.3g points of this chain", points);
    if (!gc_cufft_get().library.loaded)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED, "%s", gc_cufft_get().library.reason);
    return GCONV_OK;
}

/* For every step: the real image, two spectra, and two work areas about as large as a spectrum.
 * Rows are counted as in twopass.cu. */
static double extra_bytes(const gc_problem *problem, int64_t rows)
{
    double bytes = 0, reach = 0;
    for (int s = 0; s < problem->chain.step_count; s++)
        reach += 3.0 * (problem->chain.steps[s].height - 1);
    for (int s = 0; s < problem->chain.step_count; s++) {
        const gc_step *step = &problem->chain.steps[s];
        double width = (double)gc_transform_size((int64_t)problem->chain.width + step->width - 1);
        double points = problem->chain.exact ? width * 1.1 * ((double)rows + reach)
                                             : gc_transform_points(problem, step);
        bytes += 5.2 * points * (problem->chain.exact ? sizeof(double) : sizeof(float));
    }
    return bytes;
}

/* A double takes twice the bytes. */
static double seconds(const gc_problem *problem, const gc_step *step,
                      const gconv_device_info *device)
{
    double points = gc_transform_points(problem, step) * problem->chain.channels;
    gc_slabs slabs = gc_transform_slabs(problem, step);
    if (!problem->chain.exact)
        points *= (double)((slabs.last - slabs.first) / slabs.rows + 1);
    const gc_costs *costs = gc_costs_of(device);
    double bytes =
        points * costs->fft_crossings * (problem->chain.exact ? sizeof(double) : sizeof(float));
    return costs->fft_launch_seconds +
           bytes / (costs->fft_bandwidth_share * gc_cost_bandwidth(device));
}

static void describe(const void *state, char *text, size_t size)
{
    const fft_step *s = (const fft_step *)state;
    snprintf(text, size, "transforms of %lldx%lld points in %s", (long long)s->width,
             (long long)s->height, s->exact ? "double, rounded to integers" : "float32");
}

static gc_slabs slabs(const gc_problem *problem, const gc_step *step, const gconv_device_info *)
{
    return gc_transform_slabs(problem, step);
}

static const gc_step_method method = {
    {supports, seconds, gc_free<fft_step>, describe, extra_bytes, extra_terms, slabs},
    prepare,
    convolve,
};

GC_OPERATIONS(gc_fft_operations, gc_step_operations<method>());
