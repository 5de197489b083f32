/* VkFFT beside cuFFT, which README.md says how to build. Transforms of lines of 2 to 2^14 complex
 * numbers from memory to memory, 2^25 numbers in all as in the preset fft-locality, and two real
 * transforms of a picture, forth and back in place. Lines are compared with sums in double, a
 * picture with what it was. Rows of CSV on standard output. */
#include "harness.cuh"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cufft.h>
#include <string>
#include <vkFFT.h>

constexpr size_t numbers = size_t(1) << 25;

struct transform {
    int width, height; /* height 0: lines */
    bool by_vkfft;
    float2 *from, *to;
    CUdevice device;
    cudaStream_t stream;
    cufftHandle forward, inverse;
    VkFFTApplication application;
    pfUINT bytes;
};

static size_t pitch_of(const transform &t) /* in floats: a row holds its spectrum */
{
    return 2 * ((size_t)t.width / 2 + 1);
}

static float value_at(size_t i)
{
    return (float)((i * 0x9e3779b97f4a7c15u) >> 40) / (1 << 23) - 1;
}

/* ---- Both libraries -------------------------------------------------------------------------- */

static bool prepare_cufft(transform *t)
{
    int line = t->width;
    bool made = t->height == 0
                    ? cufftPlan1d(&t->forward, line, CUFFT_C2C, (int)(numbers / (size_t)line)) == 0
                    : cufftPlan2d(&t->forward, t->height, t->width, CUFFT_R2C) == 0 &&
                          cufftPlan2d(&t->inverse, t->height, t->width, CUFFT_C2R) == 0 &&
                          cufftSetStream(t->inverse, t->stream) == 0;
    return (made && cufftSetStream(t->forward, t->stream) == 0) || peers_fail("no plan of cuFFT");
}

static bool prepare_vkfft(transform *t)
{
    VkFFTConfiguration c = {};
    c.device = &t->device;
    c.stream = &t->stream;
    c.num_streams = 1;
    c.size[0] = (pfUINT)t->width;
    c.buffer = (void **)&t->to;
    c.bufferSize = &t->bytes;
    c.FFTdim = t->height == 0 ? 1 : 2;
    if (t->height == 0) {
        c.numberBatches = numbers / (size_t)t->width;
        c.makeForwardPlanOnly = 1;
        c.isInputFormatted = 1; /* in another buffer than the result */
        c.inputBuffer = (void **)&t->from;
        c.inputBufferSize = &t->bytes;
        c.inputBufferStride[0] = (pfUINT)t->width;
    } else {
        c.size[1] = (pfUINT)t->height;
        c.performR2C = 1;
    }
    int result = initializeVkFFT(&t->application, c);
    return result == VKFFT_SUCCESS || peers_fail("no plan of VkFFT: error %d", result);
}

static bool append(transform *t, int direction)
{
    VkFFTLaunchParams p = {};
    p.buffer = (void **)&t->to;
    if (t->height == 0)
        p.inputBuffer = (void **)&t->from;
    return VkFFTAppend(&t->application, direction, &p) == VKFFT_SUCCESS;
}

static bool launch(void *state, int, cudaStream_t)
{
    transform *t = (transform *)state;
    if (t->by_vkfft)
        return append(t, -1) && (t->height == 0 || append(t, 1));
    return t->height == 0 ? cufftExecC2C(t->forward, t->from, t->to, CUFFT_FORWARD) == 0
                          : cufftExecR2C(t->forward, (float *)t->to, t->to) == 0 &&
                                cufftExecC2R(t->inverse, t->to, (float *)t->to) == 0;
}

static void release(transform *t)
{
    if (t->by_vkfft)
        deleteVkFFT(&t->application);
    else
        cufftDestroy(t->forward);
    if (!t->by_vkfft && t->height > 0)
        cufftDestroy(t->inverse);
}

/* ---- Whether it is right: the greatest distance over the greatest number ----------------------- */

static bool judge_line(const transform &t, double *error)
{
    size_t first = (numbers / 2) / (size_t)t.width * (size_t)t.width;
    std::vector<float2> got((size_t)t.width);
    double most = 0, distance = 0;
    PEERS_CUDA(
        cudaMemcpy(got.data(), t.to + first, got.size() * sizeof(float2), cudaMemcpyDeviceToHost));
    for (int f = 0; f < t.width; f += 1 + t.width / 64) {
        std::complex<double> sum;
        for (int i = 0; i < t.width; i++) {
            size_t at = first + (size_t)i;
            std::complex<double> number(value_at(2 * at), value_at(2 * at + 1));
            sum += number * std::polar(1., -2 * M_PI * (double)((long)i * f % t.width) / t.width);
        }
        most = std::max(most, std::abs(sum));
        const float2 &g = got[(size_t)f];
        distance = std::max(distance, std::abs(sum - std::complex<double>(g.x, g.y)));
    }
    *error = distance / most;
    return true;
}

static bool judge_plane(const transform &t, double *error)
{
    std::vector<float> got(pitch_of(t) * (size_t)t.height);
    PEERS_CUDA(cudaMemcpy(got.data(), t.to, got.size() * sizeof(float), cudaMemcpyDeviceToHost));
    *error = 0;
    for (size_t i = 0; i < got.size(); i++)
        if (i % pitch_of(t) < (size_t)t.width)
            *error = std::max(*error, std::abs((double)got[i] / t.width / t.height - value_at(i)));
    return true;
}

/* ---- Rows ------------------------------------------------------------------------------------- */

static bool measure(transform t, const std::vector<float> &values)
{
    double error, microseconds, both = (double)t.width * t.height;
    t.bytes =
        t.height == 0 ? numbers * sizeof(float2) : pitch_of(t) * (size_t)t.height * sizeof(float);
    PEERS_CUDA(
        cudaMemcpy(t.height == 0 ? t.from : t.to, values.data(), t.bytes, cudaMemcpyHostToDevice));
    if (!(t.by_vkfft ? prepare_vkfft(&t) : prepare_cufft(&t)))
        return false;
    bool good = launch(&t, 0, t.stream) && cudaStreamSynchronize(t.stream) == cudaSuccess &&
                (t.height == 0 ? judge_line(t, &error) : judge_plane(t, &error));
    /* Planes that are transformed again and again grow beyond all numbers: time zeros. */
    if (good && t.height > 0)
        PEERS_CUDA(cudaMemset(t.to, 0, t.bytes));
    good = good && peers_time_events({&t, launch}, 1, 0.2, t.stream, &microseconds);
    double operations =
        t.height == 0 ? 5 * std::log2(t.width) * (double)numbers : 5 * both * std::log2(both);
    if (good)
        printf("%s,%d,%d,%.2f,%.1f,%.1e\n", t.by_vkfft ? "VkFFT" : "cuFFT", t.width, t.height,
               microseconds, 1e-3 * operations / microseconds, error);
    fflush(stdout);
    release(&t);
    return good || peers_fail("%dx%d failed", t.width, t.height);
}

int main()
{
    transform t = {};
    std::vector<float> values(2 * numbers);
    for (size_t i = 0; i < values.size(); i++)
        values[i] = value_at(i);
    if (cudaMalloc(&t.from, numbers * sizeof(float2)) != cudaSuccess ||
        cudaMalloc(&t.to, numbers * sizeof(float2)) != cudaSuccess ||
        cudaStreamCreateWithFlags(&t.stream, cudaStreamNonBlocking) != cudaSuccess ||
        cuDeviceGet(&t.device, 0) != CUDA_SUCCESS)
        return !peers_fail("no device");
    printf("# VkFFT %d\nlibrary,width,height,us,GFLOP/s,error\n", VkFFTGetVersion());
    bool good = true;
    for (int i = 1; i <= 14 + 6; i++) {
        static const int planes[] = {256, 1024, 4096, 4116, 4200, 4608};
        t.width = i <= 14 ? 1 << i : planes[i - 15];
        t.height = i <= 14 ? 0 : t.width;
        for (bool by_vkfft : {false, true}) {
            t.by_vkfft = by_vkfft;
            good = measure(t, values) && good;
        }
    }
    return !good;
}
