/* cuFFT: forward transform of the padded picture, product with the filter's spectrum, inverse. */
#include "groups.cuh"

#include <cmath>
#include <cufft.h>

static bool fft_ok(cufftResult result, const char *call, int line)
{
    return result == CUFFT_SUCCESS ||
           peers_fail("cufft.cu:%d: %s: cuFFT error %d", line, call, result);
}

#define FFT(call)                                                                                  \
    do {                                                                                           \
        if (!fft_ok((call), #call, __LINE__))                                                      \
            return false;                                                                          \
    } while (0)

struct fft_state {
    const peers_data *data;
    int side;   /* of the filter */
    int length; /* of the transforms, in both directions */
    peers_filter filter;
    cufftHandle forward, inverse;
    std::vector<float *> inputs, outputs; /* length x length */
    cufftComplex *spectrum, *filter_spectrum;
};

static fft_state empty_state(const peers_data *data, int side, int length)
{
    fft_state state = {};
    state.data = data;
    state.side = side;
    state.length = length;
    state.forward = state.inverse = CUFFT_PLAN_NULL;
    return state;
}

static size_t spectrum_size(const fft_state *state)
{
    return (size_t)state->length * (size_t)(state->length / 2 + 1);
}

static __global__ void multiply(cufftComplex *spectrum, const cufftComplex *filter, float scale,
                                size_t count)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    cufftComplex a = spectrum[i], b = filter[i];
    spectrum[i] = {(a.x * b.x - a.y * b.y) * scale, (a.x * b.y + a.y * b.x) * scale};
}

static bool launch_fft(void *state, int set, cudaStream_t stream)
{
    const fft_state *fft = (const fft_state *)state;
    size_t count = spectrum_size(fft);
    float scale = (float)(1.0 / ((double)fft->length * fft->length));
    FFT(cufftExecR2C(fft->forward, fft->inputs[(size_t)set], fft->spectrum));
    multiply<<<(unsigned)((count + 255) / 256), 256, 0, stream>>>(
        fft->spectrum, fft->filter_spectrum, scale, count);
    PEERS_CUDA(cudaGetLastError());
    FFT(cufftExecC2R(fft->inverse, fft->spectrum, fft->outputs[(size_t)set]));
    return true;
}

/* The part of the source that the filter sees, zeros up to the length. */
static bool make_input(const fft_state *fft, int set, float *input)
{
    const peers_pool &pool = fft->data->pools[PEERS_FLOAT];
    const float *source = (const float *)pool.source[(size_t)set];
    ptrdiff_t reach = fft->side / 2;
    ptrdiff_t pitch = (ptrdiff_t)(pool.source_pitch / sizeof(float));
    size_t used = (size_t)(fft->data->size + fft->side - 1);
    size_t bytes = (size_t)fft->length * sizeof(float);
    PEERS_CUDA(cudaMemset(input, 0, bytes * (size_t)fft->length));
    PEERS_CUDA(cudaMemcpy2D(input, bytes, source - reach * pitch - reach, pool.source_pitch,
                            used * sizeof(float), used, cudaMemcpyDeviceToDevice));
    return true;
}

static bool make_spectra(fft_state *fft)
{
    size_t bytes = (size_t)fft->length * sizeof(float), line = (size_t)fft->side * sizeof(float);
    float *plane = fft->outputs[0];
    PEERS_CUDA(cudaMalloc(&fft->spectrum, spectrum_size(fft) * sizeof(cufftComplex)));
    PEERS_CUDA(cudaMalloc(&fft->filter_spectrum, spectrum_size(fft) * sizeof(cufftComplex)));
    PEERS_CUDA(cudaMemset(plane, 0, bytes * (size_t)fft->length));
    PEERS_CUDA(cudaMemcpy2D(plane, bytes, fft->filter.single, line, line, (size_t)fft->side,
                            cudaMemcpyDeviceToDevice));
    PEERS_CUDA(cudaDeviceSynchronize()); /* the plan's stream does not wait for the default one */
    FFT(cufftExecR2C(fft->forward, plane, fft->filter_spectrum));
    PEERS_CUDA(cudaDeviceSynchronize());
    return true;
}

static bool prepare_length(fft_state *fft)
{
    FFT(cufftPlan2d(&fft->forward, fft->length, fft->length, CUFFT_R2C));
    FFT(cufftPlan2d(&fft->inverse, fft->length, fft->length, CUFFT_C2R));
    FFT(cufftSetStream(fft->forward, fft->data->stream));
    FFT(cufftSetStream(fft->inverse, fft->data->stream));
    size_t bytes = (size_t)fft->length * (size_t)fft->length * sizeof(float);
    int sets = fft->data->pools[PEERS_FLOAT].sets;
    for (int set = 0; set < sets; ++set) {
        fft->inputs.push_back(nullptr);
        PEERS_CUDA(cudaMalloc(&fft->inputs.back(), bytes));
        fft->outputs.push_back(nullptr);
        PEERS_CUDA(cudaMalloc(&fft->outputs.back(), bytes));
        if (!make_input(fft, set, fft->inputs.back()))
            return false;
    }
    return peers_filter_make(&fft->filter, fft->side, fft->side, false, 0) && make_spectra(fft);
}

static void release_length(fft_state *fft)
{
    for (float *input : fft->inputs)
        cudaFree(input);
    for (float *output : fft->outputs)
        cudaFree(output);
    cudaFree(fft->spectrum);
    cudaFree(fft->filter_spectrum);
    if (fft->forward != CUFFT_PLAN_NULL)
        cufftDestroy(fft->forward);
    if (fft->inverse != CUFFT_PLAN_NULL)
        cufftDestroy(fft->inverse);
    peers_filter_free(&fft->filter);
    *fft = empty_state(fft->data, fft->side, fft->length);
}

/* ---- Choosing the length --------------------------------------------------------------------- */

/* Only small prime factors, and rows of whole 16-byte words. */
static bool suits_transform(int length)
{
    if (length % 4 != 0)
        return false;
    for (int prime : {2, 3, 5, 7})
        while (length % prime == 0)
            length /= prime;
    return length == 1;
}

static double time_length(const fft_state &like, int length)
{
    fft_state trial = empty_state(like.data, like.side, length);
    double microseconds = INFINITY;
    if (!prepare_length(&trial) ||
        !peers_time_events({&trial, launch_fft}, trial.data->pools[PEERS_FLOAT].sets, 0.01,
                           trial.data->stream, &microseconds))
        microseconds = INFINITY;
    release_length(&trial);
    return microseconds;
}

struct timed_length {
    int length;
    double microseconds;
};

/* The fastest length is not always the smallest: all up to an eighth beyond are tried, once for all
 * filters. */
static int best_length(const fft_state &fft)
{
    static std::vector<timed_length> tried;
    int least = fft.data->size + fft.side - 1;
    timed_length best = {0, INFINITY};
    for (int length = least; length <= least + least / 8 || best.length == 0; ++length) {
        if (!suits_transform(length))
            continue;
        auto known = tried.begin();
        while (known != tried.end() && known->length != length)
            ++known;
        if (known == tried.end())
            known = tried.insert(tried.end(), {length, time_length(fft, length)});
        if (best.length == 0 || known->microseconds < best.microseconds)
            best = *known;
    }
    return best.length;
}

/* ---- The entries ----------------------------------------------------------------------------- */

static bool prepare_fft(void *state)
{
    fft_state *fft = (fft_state *)state;
    fft->length = best_length(*fft);
    return prepare_length(fft);
}

static bool verify_fft(void *state, double *max_error)
{
    const fft_state *fft = (const fft_state *)state;
    const float *first = fft->outputs[0] + (size_t)(fft->side - 1) * (size_t)(fft->length + 1);
    return peers_compare_float(*fft->data, first, (size_t)fft->length * sizeof(float),
                               fft->filter.weights, fft->side, fft->side, max_error);
}

static void release_fft(void *state)
{
    release_length((fft_state *)state);
    delete (fft_state *)state;
}

void peers_add_fft(std::vector<peers_entry> *entries, const peers_data &data, int side)
{
    double terms = side * side + 32.0 * 2.0 * log2((double)data.size);
    fft_state *state = new fft_state(empty_state(&data, side, 0));
    entries->push_back({PEERS_GROUP_FLOAT,
                        "cuFFT r2c + multiply + c2r",
                        side,
                        side,
                        PEERS_FLOAT,
                        false,
                        peers_float_tolerance(terms),
                        {state, launch_fft},
                        prepare_fft,
                        verify_fft,
                        release_fft});
}
