/* Samples that a pass leaves in doubt (gc_doubts) are made anew: the exact sum in double from the
 * samples of the image, rounded once. The kernel comes right behind the pass, whose output it
 * corrects. If the list is too short, all samples are made anew. */
#include "gpu/device/kernel.cuh"
#include "gpu/pass/pass.cuh"
#include "gpu/plan/plan.cuh"

extern "C" {
#include "gpu/pass/once.cuh"
}

#include <algorithm>

/* A thread takes TOGETHER products at a time. */
enum { THREADS = 256, TOGETHER = 4, BLOCKS_OF_PROCESSOR = 4 };

/* What the kernel is told. S = sum_j sum_i weights[j][i] * in(x + i - left, y + j - top). Of the
 * pass count those members that say something of the image, and the output with its pitch in
 * bytes. */
struct gc_settling : gc_pass {
    const double *weights;
    int filter_width, filter_height, left, top;
    unsigned width_inverse;           /* 2^31 over the filter's width, rounded up */
    double constant[GC_CHANNELS_MAX]; /* border */
    int input_end;                    /* row of the image after those that are there */
    int image_channels, channels;     /* of a pixel, and of those the convolved ones */
    unsigned capacity;                /* of the doubts */
    int lanes;                        /* that make a sum together, a power of 2 up to 32 */
};

/* Where the sample of a column x and row `y` is, or would be. */
static __device__ inline const unsigned char *address_of(const gc_settling &s, int x, int y,
                                                         int channel)
{
    return (const unsigned char *)s.image + (y - s.image_first) * s.image_pitch +
           (long long)x * s.image_channels + channel;
}

/* The sample of any column x and row `y`. Under wrap there are rows beyond the image. */
static __device__ inline double sample_at(const gc_settling &s, int x, int y, int channel)
{
    x = gc_pass_index(s.border, x, s.width);
    y = s.border == GC_PASS_WRAP ? y : gc_pass_index(s.border, y, s.height);
    if (s.border == GC_PASS_CONSTANT && (x < 0 || y < 0))
        return s.constant[channel];
    return *address_of(s, x, y, channel);
}

/* Every `lanes`-th product of a sum from product `lane` on, several at a time. */
static __device__ inline double sum_part(const gc_settling &s, int x, int y, int channel, int lane,
                                         int lanes)
{
    x -= s.left;
    y -= s.top;
    bool inside = x >= 0 && x + s.filter_width <= s.width && y >= s.image_first &&
                  y + s.filter_height <= s.input_end;
    const unsigned char *from = address_of(s, x, y, channel);
    int count = s.filter_width * s.filter_height;
    double sum = 0;
    for (int first = lane; first < count; first += TOGETHER * lanes) {
        double samples[TOGETHER], weights[TOGETHER];
#pragma unroll
        for (int k = 0; k < TOGETHER; k++) {
            int n = first + k * lanes, j = (int)__umulhi(2 * (unsigned)n, s.width_inverse);
            int i = n - j * s.filter_width;
            weights[k] = n < count ? s.weights[n] : 0;
            samples[k] = n >= count ? 0
                         : inside   ? (double)from[j * s.image_pitch + i * s.image_channels]
                                    : sample_at(s, x + i, y + j, channel);
        }
#pragma unroll
        for (int k = 0; k < TOGETHER; k++)
            sum = fma(samples[k], weights[k], sum);
    }
    return sum;
}

/* The output of a pixel, which a group of `lanes` makes together. If there are several, all lanes
 * of a warp call this together. */
static __device__ inline unsigned settled(const gc_settling &s, int x, int y, int channel, int lane,
                                          int lanes)
{
    double sum = sum_part(s, x, y, channel, lane, lanes);
    for (int other = lanes / 2; other > 0; other /= 2)
        sum += __shfl_xor_sync(~0u, sum, other);
    return gc_once_sample(&s.finish, sum);
}

/* Makes the byte of the output that has a pixel. Other pixels give nothing if not `stores`. */
static __device__ inline void settle(const gc_settling &s, int x, int y, int channel, int lane,
                                     int lanes, bool stores)
{
    int end = s.output_first + s.rows;
    stores = stores && lane == 0 && x < s.width && y < end;
    x = min(x, s.width - 1);
    y = min(y, end - 1);
    long long at = (y - s.output_first) * s.output_pitch;
    unsigned made = 0;
    if (s.output_type == GC_BYTE) {
        at += (long long)x * s.image_channels + channel;
        made = settled(s, x, y, channel, lane, lanes);
    } else {
        at += x / 8;
        for (int column = x / 8 * 8, last = column + 7; column <= last; column++) {
            unsigned bit = settled(s, min(column, s.width - 1), y, 0, lane, lanes);
            made = made << 1 | (column < s.width ? bit & 1 : 0); /* 0 beyond the width */
        }
    }
    if (stores)
        ((unsigned char *)s.output)[at] = (unsigned char)made;
}

/* A group of lanes takes a doubt at a time. */
static __device__ inline void settle_list(const gc_settling &s, unsigned count, unsigned i,
                                          gc_doubt doubt)
{
    const unsigned groups = gridDim.x * (THREADS / (unsigned)s.lanes);
    int lane = (int)threadIdx.x % s.lanes;
    while (__any_sync(~0u, i < count)) {
        gc_doubt next = s.doubts->list[min(i + groups, s.capacity - 1)];
        if (i >= count)
            doubt = {0, s.output_first, 0, 0};
        for (unsigned mask = doubt.mask; __any_sync(~0u, mask != 0); mask &= mask - 1) {
            int k = mask != 0 ? __ffs((int)mask) - 1 : 0;
            settle(s, doubt.x + k % 4, doubt.y + k / 4, doubt.channel, lane, s.lanes, mask != 0);
        }
        i += groups;
        doubt = next;
    }
}

/* A block takes a row, a thread a byte at a time. */
static __device__ inline void settle_all(const gc_settling &s)
{
    int step = s.output_type == GC_BIT ? 8 : 1;
    for (int row = (int)blockIdx.x; row < s.rows; row += (int)gridDim.x)
        for (int channel = 0; channel < s.channels; channel++)
            for (int x = (int)threadIdx.x * step; x < s.width; x += THREADS * step)
                settle(s, x, s.output_first + row, channel, 0, 1, true);
}

static __global__ void __launch_bounds__(THREADS, BLOCKS_OF_PROCESSOR)
    settle_doubts(const __grid_constant__ gc_settling s)
{
#if __CUDA_ARCH__ >= 900
    /* One sample is made while the pass still runs, to load the code and the weights. None exceeds
     * 255, so that no thread returns here. */
    if (settled(s, 0, s.output_first, 0, (int)threadIdx.x % s.lanes, s.lanes) > 255)
        return;
    cudaGridDependencySynchronize();
#endif
    static __shared__ unsigned count;
    const bool reads = threadIdx.x == THREADS - 1; /* its warp has a doubt last */
    unsigned i = threadIdx.x / (unsigned)s.lanes * gridDim.x + blockIdx.x;
    gc_doubt doubt = s.doubts->list[min(i, s.capacity - 1)];
    if (reads)
        count = s.doubts->count;
    __syncthreads();
    if (count > s.capacity)
        settle_all(s);
    else
        settle_list(s, count, i, doubt);
    if (reads && atomicInc(&s.doubts->readers, gridDim.x - 1) == gridDim.x - 1)
        s.doubts->count = 0; /* all blocks have read it */
}

/* ---- Plans ----------------------------------------------------------------------------------- */

/* The list has room for one of 128 samples. */
static unsigned capacity_of(const gc_gpu_plan *plan)
{
    double row = (double)gc_chain_row_values(&plan->problem->chain);
    return (unsigned)std::min((double)plan->memory.band_rows * row / 128 + 1024, 0x1p26);
}

gconv_status gc_plan_prepare_settling(gc_gpu_plan *plan, gconv_error *error)
{
    const gc_problem *problem = plan->problem;
    const gc_step *step = &problem->chain.steps[0];
    gc_doubts header = {0, 0, capacity_of(plan), 0, {}};
    size_t terms = (size_t)step->width * (size_t)step->height * sizeof *step->terms;
    size_t bytes = sizeof header + header.capacity * sizeof *header.list;
    if (!plan->settles)
        return GCONV_OK;
    GC_CUDA_TRY(error, cudaMalloc(&plan->doubts, bytes));
    GC_CUDA_TRY(error, cudaMemcpy(plan->doubts, &header, sizeof header, cudaMemcpyHostToDevice));
    return gc_gpu_upload(step->terms, terms, &plan->terms, error);
}

static gc_settling settling_of(const gc_gpu_plan *plan, int64_t rows)
{
    const gc_problem *problem = plan->problem;
    const gc_step *step = &problem->chain.steps[0];
    gc_settling s = {gc_plan_pass(plan), plan->terms, step->width,
                     step->height,       step->left,  step->top};
    std::copy(step->terms_border, step->terms_border + GC_CHANNELS_MAX, s.constant);
    s.width_inverse = ((1u << 31) + (unsigned)step->width - 1) / (unsigned)step->width;
    s.input_end = (int)plan->work.steps[0].input_last + 1;
    s.image_channels = problem->job.input.channels;
    s.channels = problem->chain.channels;
    s.capacity = capacity_of(plan);
    s.lanes = 1;
    while (s.lanes < 32 && s.lanes * TOGETHER < step->width * step->height)
        s.lanes *= 2;
    s.output = plan->work.result;
    s.output_type = gc_finish_type(problem);
    s.output_pitch = (long long)gc_plan_result_of(plan, false, rows).pitch;
    s.output_first = (int)plan->work.steps[0].output_first;
    s.rows = (int)rows;
    return s;
}

/* From compute capability 9.0 on the kernel is there before the pass has ended. */
gconv_status gc_plan_settle(gc_gpu_plan *plan, int64_t rows, gconv_error *error)
{
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    int blocks = BLOCKS_OF_PROCESSOR * std::max(1, plan->device.processors);
    cudaLaunchConfig_t launch = {
        dim3((unsigned)blocks), dim3(THREADS), 0,
        plan->work.stream,      &early,        plan->device.compute_major >= 9 ? 1u : 0u};
    GC_CUDA_TRY(error, cudaLaunchKernelEx(&launch, settle_doubts, settling_of(plan, rows)));
    return GCONV_OK;
}
