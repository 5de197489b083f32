/* fft: whole-image convolution through cuFFT.
 *
 * Idea: a convolution is a product of spectra; its cost hardly depends on the filter's size
 *   (van Werkhoven et al. 2014, section 7; Podlozhnyuk 2007, quoted there). The filter's spectrum is
 *   computed once a plan, sizes are padded to products of 2, 3, 5 and 7, and since the scratch image
 *   carries the border, the cyclic convolution never wraps around where it is read.
 *   Where results are rounded they would depend on the transform's size: one transform then takes the whole
 *   image, a large one in equal shares of rows, whatever the device's memory (gpu/fast/transforms.h).
 * Improves on: all spatial implementations, for large filters of full rank.
 * Needs: real image, its spectrum, the filter's spectrum and cuFFT's work area: about 5 planes, 10
 *   in double.
 * Exactness: integer chains (rule 3) are transformed in double and rounded to the nearest integer.
 *   gc_transform_error bounds what they err by; cuFFT's levels of radix 3 to 7 are fewer than those of
 *   radix 2 that it counts. A job for which it is not under 1/2 is refused. Other chains are
 *   transformed in float32.
 * Limits: cuFFT's shared library must be found at run time; memory; chains whose spectra float32 has no room
 *   for.
 * Loses: to everything else at small filters. */
#include "gpu/ladder/shared_steps.cuh"
#include "gpu/runtime/check.cuh"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cufft.h>
#include <dlfcn.h>
#include <pthread.h>

extern "C" {
#include "core/range.h"
#include "gpu/fast/transforms.h"
}

/* ---- The library, loaded when first asked for ------------------------------------------------ */

/* Linking it would keep gconv from starting on machines without it. */
struct fft_library {
    decltype(&cufftCreate) create;
    decltype(&cufftDestroy) destroy;
    decltype(&cufftSetStream) set_stream;
    decltype(&cufftMakePlanMany64) make_plan;
    decltype(&cufftExecR2C) r2c;
    decltype(&cufftExecC2R) c2r;
    decltype(&cufftExecD2Z) d2z;
    decltype(&cufftExecZ2D) z2d;
    bool loaded;
    char reason[256];
};

static fft_library load_library()
{
    fft_library library = {};
    char name[32];
    snprintf(name, sizeof name, "libcufft.so.%d", CUFFT_VER_MAJOR);
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        snprintf(library.reason, sizeof library.reason, "cuFFT cannot be loaded: %s", dlerror());
        return library;
    }
    library.create = (decltype(library.create))dlsym(handle, "cufftCreate");
    library.destroy = (decltype(library.destroy))dlsym(handle, "cufftDestroy");
    library.set_stream = (decltype(library.set_stream))dlsym(handle, "cufftSetStream");
    library.make_plan = (decltype(library.make_plan))dlsym(handle, "cufftMakePlanMany64");
    library.r2c = (decltype(library.r2c))dlsym(handle, "cufftExecR2C");
    library.c2r = (decltype(library.c2r))dlsym(handle, "cufftExecC2R");
    library.d2z = (decltype(library.d2z))dlsym(handle, "cufftExecD2Z");
    library.z2d = (decltype(library.z2d))dlsym(handle, "cufftExecZ2D");
    library.loaded = library.create != nullptr && library.destroy != nullptr &&
                     library.set_stream != nullptr && library.make_plan != nullptr &&
                     library.r2c != nullptr && library.c2r != nullptr && library.d2z != nullptr &&
                     library.z2d != nullptr;
    if (!library.loaded)
        snprintf(library.reason, sizeof library.reason, "%s lacks a function", name);
    return library;
}

static fft_library the_library;
static pthread_once_t library_once = PTHREAD_ONCE_INIT;

static const fft_library &fft()
{
    pthread_once(&library_once, [] { the_library = load_library(); });
    return the_library;
}

static gconv_status fft_fail(gconv_error *error, cufftResult code, const char *what)
{
    gconv_status status = code == CUFFT_ALLOC_FAILED ? GCONV_ERROR_MEMORY : GCONV_ERROR_DEVICE;
    return gc_fail(error, status, "cuFFT: %s failed with result %d", what, (int)code);
}

#define FFT_TRY(error, call)                                                                       \
    do {                                                                                           \
        cufftResult fft_code = (call);                                                             \
        if (fft_code != CUFFT_SUCCESS)                                                             \
            return fft_fail(error, fft_code, #call);                                               \
    } while (0)

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

/* ---- Kernels --------------------------------------------------------------------------------- */

/* Copies a plane into a real image of `pitch` x `rows`, zero where the plane ends. */
template <typename real>
static __global__ void widen(const float *plane, int64_t plane_pitch, int width, int height,
                             real *image, int64_t pitch, int64_t rows)
{
    int64_t x = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= pitch)
        return;
    for (int64_t y = blockIdx.y; y < rows; y += gridDim.y)
        image[y * pitch + x] = x < width && y < height ? (real)plane[y * plane_pitch + x] : (real)0;
}

/* Multiplies by the conjugate of the filter's spectrum, which correlates (taps are in reading
 * order), and by 1 / points, which cuFFT leaves to its caller. */
template <typename complex, typename real>
static __global__ void multiply(complex *spectrum, const complex *filter, int64_t count, real scale)
{
    int64_t item = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= count)
        return;
    complex a = spectrum[item], b = filter[item];
    complex product;
    product.x = (a.x * b.x + a.y * b.y) * scale;
    product.y = (a.y * b.x - a.x * b.y) * scale;
    spectrum[item] = product;
}

/* Copies the part of a real image that a plane holds. Adding zero turns the -0 that rounding makes
 * into the +0 of a direct sum. */
template <typename real>
static __global__ void narrow(const real *image, int64_t pitch, float *plane, int64_t plane_pitch,
                              int width, int height, bool round)
{
    int64_t x = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= width)
        return;
    for (int64_t y = blockIdx.y; y < height; y += gridDim.y) {
        real value = image[y * pitch + x];
        plane[y * plane_pitch + x] = (float)(round ? (real)(rint((double)value) + 0.0) : value);
    }
}

enum { THREADS = 256, GRID_ROWS_MAX = 65535 };

/* A thread a column; rows go round where there are more than a grid is high. */
static dim3 grid_over(int64_t width, int64_t rows)
{
    return dim3((unsigned)((width + THREADS - 1) / THREADS),
                (unsigned)std::min<int64_t>(rows, GRID_ROWS_MAX));
}

static unsigned blocks_for(int64_t count)
{
    return (unsigned)((count + THREADS - 1) / THREADS);
}

/* ---- A step ---------------------------------------------------------------------------------- */

struct fft_step {
    bool exact;            /* in double, rounded */
    int64_t width, height; /* of the transform */
    int64_t rows;          /* of output, that one transform gives */
    cufftHandle forward, backward;
    bool has_forward, has_backward;
    void *image;    /* device: real */
    void *spectrum; /* device: complex */
    void *filter;   /* device: the filter's spectrum */
};

static int64_t spectrum_count(const fft_step *s)
{
    return (s->width / 2 + 1) * s->height;
}

static gconv_status transform_forward(const fft_step *s, void *spectrum, gconv_error *error)
{
    if (s->exact)
        FFT_TRY(error,
                fft().d2z(s->forward, (cufftDoubleReal *)s->image, (cufftDoubleComplex *)spectrum));
    else
        FFT_TRY(error, fft().r2c(s->forward, (cufftReal *)s->image, (cufftComplex *)spectrum));
    return GCONV_OK;
}

static gconv_status transform_backward(const fft_step *s, gconv_error *error)
{
    if (s->exact)
        FFT_TRY(error, fft().z2d(s->backward, (cufftDoubleComplex *)s->spectrum,
                                 (cufftDoubleReal *)s->image));
    else
        FFT_TRY(error, fft().c2r(s->backward, (cufftComplex *)s->spectrum, (cufftReal *)s->image));
    return GCONV_OK;
}

static gconv_status widen_to_image(const fft_step *s, const float *plane, int64_t pitch, int width,
                                   int height, cudaStream_t stream, gconv_error *error)
{
    dim3 blocks = grid_over(s->width, s->height);
    if (s->exact)
        widen<<<blocks, THREADS, 0, stream>>>(plane, pitch, width, height, (double *)s->image,
                                              s->width, s->height);
    else
        widen<<<blocks, THREADS, 0, stream>>>(plane, pitch, width, height, (float *)s->image,
                                              s->width, s->height);
    GC_CUDA_TRY_LAUNCH(error);
    return GCONV_OK;
}

static gconv_status multiply_spectra(const fft_step *s, cudaStream_t stream, gconv_error *error)
{
    int64_t count = spectrum_count(s);
    double scale = 1 / ((double)s->width * (double)s->height);
    if (s->exact)
        multiply<<<blocks_for(count), THREADS, 0, stream>>>(
            (cufftDoubleComplex *)s->spectrum, (const cufftDoubleComplex *)s->filter, count, scale);
    else
        multiply<<<blocks_for(count), THREADS, 0, stream>>>(
            (cufftComplex *)s->spectrum, (const cufftComplex *)s->filter, count, (float)scale);
    GC_CUDA_TRY_LAUNCH(error);
    return GCONV_OK;
}

static gconv_status narrow_to_plane(const fft_step *s, float *plane, int64_t pitch, int width,
                                    int height, cudaStream_t stream, gconv_error *error)
{
    dim3 blocks = grid_over(width, height);
    if (s->exact)
        narrow<<<blocks, THREADS, 0, stream>>>((const double *)s->image, s->width, plane, pitch,
                                               width, height, true);
    else
        narrow<<<blocks, THREADS, 0, stream>>>((const float *)s->image, s->width, plane, pitch,
                                               width, height, false);
    GC_CUDA_TRY_LAUNCH(error);
    return GCONV_OK;
}

/* The rows of a channel that one transform gives, from row `first` on. */
static gconv_status convolve_rows(const fft_step *s, const gc_gpu_step &step, int channel,
                                  int64_t first, cudaStream_t stream, gconv_error *error)
{
    int rows = (int)std::min(s->rows, step.height - first);
    GC_TRY(widen_to_image(s, step.input + channel * step.input_plane + first * step.input_pitch,
                          step.input_pitch, step.width + step.filter_width - 1,
                          rows + step.filter_height - 1, stream, error));
    GC_TRY(transform_forward(s, s->spectrum, error));
    GC_TRY(multiply_spectra(s, stream, error));
    GC_TRY(transform_backward(s, error));
    return narrow_to_plane(s, step.output + channel * step.output_plane + first * step.output_pitch,
                           step.output_pitch, step.width, rows, stream, error);
}

static gconv_status convolve(void *state, const gc_gpu_step &step, cudaStream_t stream,
                             gconv_error *error)
{
    const fft_step *s = (const fft_step *)state;
    FFT_TRY(error, fft().set_stream(s->forward, stream));
    FFT_TRY(error, fft().set_stream(s->backward, stream));
    for (int c = 0; c < step.channels; c++)
        for (int64_t first = 0; first < step.height; first += s->rows)
            GC_TRY(convolve_rows(s, step, c, first, stream, error));
    return GCONV_OK;
}

static void release(void *state)
{
    fft_step *s = (fft_step *)state;
    if (s->has_forward)
        fft().destroy(s->forward);
    if (s->has_backward)
        fft().destroy(s->backward);
    cudaFree(s->image);
    cudaFree(s->spectrum);
    cudaFree(s->filter);
    free(s);
}

static gconv_status make_plans(fft_step *s, gconv_error *error)
{
    long long sizes[2] = {s->height, s->width};
    size_t work = 0;
    FFT_TRY(error, fft().create(&s->forward));
    s->has_forward = true;
    FFT_TRY(error, fft().create(&s->backward));
    s->has_backward = true;
    FFT_TRY(error, fft().make_plan(s->forward, 2, sizes, nullptr, 1, 0, nullptr, 1, 0,
                                   s->exact ? CUFFT_D2Z : CUFFT_R2C, 1, &work));
    FFT_TRY(error, fft().make_plan(s->backward, 2, sizes, nullptr, 1, 0, nullptr, 1, 0,
                                   s->exact ? CUFFT_Z2D : CUFFT_C2R, 1, &work));
    return GCONV_OK;
}

/* The filter's spectrum, from its taps in the corner of an empty image. */
static gconv_status make_spectrum(const gc_step *step, fft_step *s, gconv_error *error)
{
    float *taps = nullptr;
    size_t bytes = (size_t)step->width * (size_t)step->height * sizeof *taps;
    GC_CUDA_TRY(error, cudaMalloc(&taps, bytes));
    cudaError_t code = cudaMemcpy(taps, step->taps, bytes, cudaMemcpyHostToDevice);
    gconv_status status = GCONV_OK;
    if (code != cudaSuccess)
        status = gc_cuda_fail(error, code, "copying the filter", __FILE__, __LINE__);
    if (status == GCONV_OK)
        status = widen_to_image(s, taps, step->width, step->width, step->height, nullptr, error);
    if (status == GCONV_OK)
        status = transform_forward(s, s->filter, error);
    cudaFree(taps);
    GC_TRY(status);
    GC_CUDA_TRY(error, cudaDeviceSynchronize());
    return GCONV_OK;
}

static gconv_status prepare(const gc_problem *problem, const gc_step *step,
                            const gconv_device_info *device, int rows, void **state,
                            gconv_error *error)
{
    (void)device;
    fft_step *s = (fft_step *)calloc(1, sizeof *s);
    if (s == nullptr)
        return gc_fail_memory(error, sizeof *s);
    *state = s;
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

/* ---- What the runner asks -------------------------------------------------------------------- */

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
    if (!fft().loaded)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED, "%s", fft().reason);
    return GCONV_OK;
}

/* Real image, two spectra and two work areas about as large as a spectrum each, for every step. */
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

/* Some ten passes over memory, twice the bytes in double. */
static double seconds(const gc_problem *problem, const gc_step *step,
                      const gconv_device_info *device)
{
    double points = gc_transform_points(problem, step) * problem->chain.channels;
    gc_slabs slabs = gc_transform_slabs(problem, step);
    if (!problem->chain.exact)
        points *= (double)((slabs.last - slabs.first) / slabs.rows + 1);
    double bytes = points * 14 * (problem->chain.exact ? sizeof(double) : sizeof(float));
    return 4e-5 + bytes / (0.7 * device->memory_bandwidth);
}

static void describe(const void *state, char *text, size_t size)
{
    const fft_step *s = (const fft_step *)state;
    snprintf(text, size, "transforms of %lldx%lld points in %s", (long long)s->width,
             (long long)s->height, s->exact ? "double, rounded to integers" : "float32");
}

static const gc_gpu_method method = {
    "fft",    supports,    seconds,     prepare, convolve, release, nullptr,
    describe, extra_bytes, extra_terms, nullptr, nullptr,  nullptr, gc_transform_slabs,
};

extern "C" {
extern const gc_operations gc_fft_operations;
const gc_operations gc_fft_operations = gc_gpu_operations<method>();
}
