/* Fourier transforms of lines, for the experiment of De Smet 2011. */
#include "gconv_lab.h"
#include "gpu/device/check.cuh"
#include "gpu/device/current.cuh"
#include "gpu/device/owned.cuh"
#include "gpu/methods/fft/cufft.cuh"
#include "gpu/probe/contiguous.cuh"

struct gconv_gpu_lines {
    int index;                                       /* of the device */
    gc_owned_memory<cufftComplex> from, to, between; /* `between` after it was needed */
    size_t count;                                    /* numbers of each */
    int points;
    gconv_lines_way way;
    cufftHandle plan;
    bool has_plan;
    gc_owned_stream stream;
    gc_owned_event begin, end;
};

static gconv_status take(gconv_gpu_lines *l, const float *numbers, gconv_error *error)
{
    size_t bytes = l->count * sizeof *l->from;
    GC_CUDA_TRY(error, cudaStreamCreateWithFlags(&l->stream, cudaStreamNonBlocking));
    GC_CUDA_TRY(error, cudaEventCreate(&l->begin));
    GC_CUDA_TRY(error, cudaEventCreate(&l->end));
    GC_CUDA_TRY(error, cudaMalloc(&l->from, bytes));
    GC_CUDA_TRY(error, cudaMalloc(&l->to, bytes));
    GC_CUDA_TRY(error, cudaMemcpy(l->from, numbers, bytes, cudaMemcpyHostToDevice));
    return GCONV_OK;
}

gconv_status gconv_gpu_lines_create(int index, const float *numbers, size_t count,
                                    gconv_gpu_lines **lines, gconv_error *error)
{
    gc_current_device current(index);
    gconv_gpu_lines *l;
    GC_TRY(gc_make(&l, lines, error));
    l->index = index;
    l->count = count;
    gconv_status status = take(l, numbers, error);
    if (status != GCONV_OK) {
        gconv_gpu_lines_free(l);
        *lines = nullptr;
    }
    return status;
}

static void end_plan(gconv_gpu_lines *l)
{
    if (l->has_plan)
        gc_cufft_get().destroy(l->plan);
    l->has_plan = false;
}

void gconv_gpu_lines_free(gconv_gpu_lines *lines)
{
    if (lines == nullptr)
        return;
    gc_current_device current(lines->index);
    end_plan(lines);
    gc_free<gconv_gpu_lines>(lines);
    cudaGetLastError();
}

gconv_status gconv_gpu_lines_plan(gconv_gpu_lines *lines, int points, gconv_lines_way way,
                                  gconv_error *error)
{
    gc_current_device current(lines->index);
    const gc_cufft &cufft = gc_cufft_get();
    long long side = points;
    size_t work = 0;
    end_plan(lines);
    lines->points = points;
    lines->way = way;
    if (points > 1 && way != GCONV_LINES_CUFFT && lines->between == nullptr)
        GC_CUDA_TRY(error, cudaMalloc(&lines->between, lines->count * sizeof *lines->between));
    if (points == 1 || way != GCONV_LINES_CUFFT)
        return GCONV_OK;
    if (!cufft.library.loaded)
        return gc_fail(error, GCONV_ERROR_DEVICE, "%s", cufft.library.reason);
    GC_CUFFT_TRY(error, cufft.create(&lines->plan));
    lines->has_plan = true;
    GC_CUFFT_TRY(error, cufft.set_stream(lines->plan, lines->stream));
    GC_CUFFT_TRY(error, cufft.make_plan(lines->plan, 1, &side, nullptr, 1, side, nullptr, 1, side,
                                        CUFFT_C2C, (long long)(lines->count / points), &work));
    return GCONV_OK;
}

static gconv_status transform(const gconv_gpu_lines *l, gconv_error *error)
{
    if (l->points == 1)
        GC_CUDA_TRY(error, cudaMemcpyAsync(l->to, l->from, l->count * sizeof *l->to,
                                           cudaMemcpyDeviceToDevice, l->stream));
    else if (l->way != GCONV_LINES_CUFFT)
        return gc_contiguous_transform({l->from, l->between, l->to, l->count}, l->points, l->way,
                                       l->stream, error);
    else
        GC_CUFFT_TRY(error, gc_cufft_get().c2c(l->plan, l->from, l->to, CUFFT_FORWARD));
    return GCONV_OK;
}

gconv_status gconv_gpu_lines_pass(gconv_gpu_lines *lines, double *seconds, gconv_error *error)
{
    gc_current_device current(lines->index);
    const gconv_gpu_lines *l = lines;
    float milliseconds = 0;
    GC_CUDA_TRY(error, cudaEventRecord(l->begin, l->stream));
    GC_TRY(transform(l, error));
    GC_CUDA_TRY(error, cudaEventRecord(l->end, l->stream));
    GC_CUDA_TRY(error, cudaEventSynchronize(l->end));
    GC_CUDA_TRY(error, cudaEventElapsedTime(&milliseconds, l->begin, l->end));
    *seconds = 1e-3 * (double)milliseconds;
    return GCONV_OK;
}

gconv_status gconv_gpu_lines_read(const gconv_gpu_lines *lines, size_t first, size_t count,
                                  float *numbers, gconv_error *error)
{
    gc_current_device current(lines->index);
    GC_CUDA_TRY(error, cudaMemcpy(numbers, lines->to + first, count * sizeof *lines->to,
                                  cudaMemcpyDeviceToHost));
    return GCONV_OK;
}
