/* The buffers of a plan: how large a band fits in the device's memory, and allocating for it. */
#include "gpu/runtime/check.cuh"
#include "gpu/runtime/plan.cuh"

extern "C" {
#include "base/number.h"
}

#include <algorithm>
#include <cstdlib>

/* ---- Sizes ----------------------------------------------------------------------------------- */

int64_t gc_plan_input_rows(const gc_gpu_plan *plan)
{
    return gc_band_input_rows(plan->problem, plan->band_rows, plan->slabs);
}

gc_gpu_planes gc_plan_planes(const gc_gpu_plan *plan, float *values, int64_t rows, int64_t width)
{
    int64_t pitch = gc_device_pitch(width);
    return {values, pitch, pitch * rows, rows, (int)width, plan->problem->chain.channels};
}

bool gc_plan_samples_are_aligned(const gc_problem *problem)
{
    return gc_device_pitch(problem->chain.width) == (int64_t)problem->chain.width;
}

int64_t gc_plan_output_pitch(const gc_gpu_plan *plan, gc_sample_type type)
{
    int64_t pitch = gc_device_pitch(plan->problem->chain.width);
    return type == GC_BIT ? (pitch + 127) / 128 * 16 : pitch;
}

/* ---- The band -------------------------------------------------------------------------------- */

/* Share of the free memory that a plan takes. */
static const double memory_share = 0.9;

/* What a plan may take of the device's memory: a share of what is free, or what the user says. */
static gconv_status memory_budget(double *bytes, gconv_error *error)
{
    size_t available = 0, total = 0;
    GC_CUDA_TRY(error, cudaMemGetInfo(&available, &total));
    *bytes = memory_share * (double)available;
    const char *limit = getenv("GCONV_CUDA_MEMORY");
    long long number;
    if (limit == nullptr || limit[0] == '\0')
        return GCONV_OK;
    if (!gc_parse_integer(limit, 1, INT64_MAX, &number))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "GCONV_CUDA_MEMORY: '%s' is not a number of bytes", limit);
    *bytes = std::min(*bytes, (double)number);
    return GCONV_OK;
}

/* The most rows of output whose input pixels a grid can number, even with blocks of 1x1 threads. */
static int64_t rows_of_a_grid(const gc_gpu_plan *plan)
{
    int64_t reach = gc_plan_input_rows(plan) - plan->band_rows;
    return std::max<int64_t>(1, INT32_MAX / (int64_t)plan->problem->chain.width - reach);
}

gconv_status gc_plan_choose_band(gc_gpu_plan *plan, gconv_error *error)
{
    const gc_problem *problem = plan->problem;
    double bytes = 0;
    GC_TRY(memory_budget(&bytes, error));
    plan->band_rows = gc_band_rows(problem, bytes, plan->slabs, plan->extra_bytes);
    int64_t rows = std::min(plan->band_rows, rows_of_a_grid(plan));
    plan->band_rows = gc_band_whole(problem, rows, plan->slabs);
    int64_t fewest = plan->slabs != nullptr ? plan->slabs[problem->chain.step_count - 1].rows : 1;
    if (plan->band_rows == 0)
        return gc_fail(error, GCONV_ERROR_MEMORY,
                       "not even %lld row%s in the %.1f MiB that may be taken of %s",
                       (long long)fewest, fewest > 1 ? "s fit" : " fits", bytes / (1 << 20),
                       plan->device.name);
    return GCONV_OK;
}

/* ---- Buffers --------------------------------------------------------------------------------- */

/* Bytes of the extended image of that step which needs most. */
static size_t extended_bytes_of(const gc_gpu_plan *plan, int64_t rows)
{
    const gc_problem *problem = plan->problem;
    size_t most = 0;
    for (int s = 0; s < problem->chain.step_count; s++) {
        int64_t pitch =
            gc_device_pitch((int64_t)problem->chain.width + problem->chain.steps[s].width - 1);
        size_t bytes = (size_t)(pitch * rows * problem->chain.channels) * sizeof(float);
        most = std::max(most, bytes);
    }
    return most;
}

static gconv_status allocate_pieces(gc_gpu_plan *plan, gconv_error *error)
{
    const gc_problem *problem = plan->problem;
    size_t row_bytes = gc_chain_row_values(&problem->chain) * sizeof(float);
    plan->piece_bytes =
        std::min(std::max((size_t)GC_PIECE_BYTES, row_bytes), row_bytes * plan->band_rows);
    for (int i = 0; i < GC_PIECES; i++) {
        GC_CUDA_TRY(error, cudaMallocHost(&plan->pieces[i], plan->piece_bytes));
        GC_CUDA_TRY(error, cudaEventCreateWithFlags(&plan->arrived[i], cudaEventDisableTiming));
    }
    return GCONV_OK;
}

gconv_status gc_plan_allocate(gc_gpu_plan *plan, gconv_error *error)
{
    const gc_problem *problem = plan->problem;
    int64_t rows = gc_plan_input_rows(plan);
    size_t plane_bytes =
        (size_t)(gc_device_pitch(problem->chain.width) * rows * problem->chain.channels) *
        sizeof(float);
    size_t row_bytes = gconv_shape_row_bytes(&problem->job.input);
    GC_CUDA_TRY(error, cudaMalloc(&plan->samples, (size_t)rows * row_bytes));
    GC_CUDA_TRY(error, cudaMalloc(&plan->planes[0], plane_bytes));
    GC_CUDA_TRY(error, cudaMalloc(&plan->planes[1], plane_bytes));
    GC_CUDA_TRY(error, cudaMalloc(&plan->extended, extended_bytes_of(plan, rows)));
    return allocate_pieces(plan, error);
}

static void free_sections(gc_gpu_plan *plan)
{
    for (int i = 0; i < plan->problem->chain.step_count; i++) {
        gc_plan_section *section = &plan->sections[i];
        if (section->state != nullptr)
            plan->method->release(section->state);
        cudaFree(section->taps);
        *section = {};
    }
    plan->section_count = 0;
}

void gc_plan_free_memory(gc_gpu_plan *plan)
{
    free_sections(plan);
    for (int i = 0; i < GC_PIECES; i++) {
        cudaFreeHost(plan->pieces[i]);
        plan->pieces[i] = nullptr;
        if (plan->arrived[i] != nullptr)
            cudaEventDestroy(plan->arrived[i]);
        plan->arrived[i] = nullptr;
    }
    for (float **memory : {&plan->planes[0], &plan->planes[1], &plan->extended}) {
        cudaFree(*memory);
        *memory = nullptr;
    }
    cudaFree(plan->samples);
    plan->samples = nullptr;
    cudaGetLastError();
}
