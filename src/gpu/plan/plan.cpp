/* The life of a plan: it is prepared, started in a thread of its own while the caller reads the
 * image, awaited, described, and released. */
#include "gpu/plan/plan.cuh"

#include "gpu/device/check.cuh"
#include "gpu/device/device.cuh"
#include "gpu/jit/jit.h"

extern "C" {
#include "base/clock.h"
}

#include <algorithm>
#include <cstdio>
#include <cstdlib>

/* ---- The start ------------------------------------------------------------------------------- */

static gconv_status synchronize_copies(gconv_error *error)
{
    GC_CUDA_TRY(error, cudaStreamSynchronize(nullptr));
    return GCONV_OK;
}

static gconv_status prepare_sections(gc_gpu_plan *plan, gconv_error *error)
{
    GC_TRY(gc_plan_prepare_sections(plan, error));
    return synchronize_copies(
        error); /* the streams of slots do not wait for copies by themselves */
}

static gconv_status start(gc_gpu_plan *plan, gconv_error *error)
{
    double begin = gc_seconds();
    GC_CUDA_TRY(error, cudaSetDevice(plan->device.index));
    GC_TRY(gc_plan_choose_band(plan, error)); /* makes the context, if cudaSetDevice has not */
    double context = gc_device_context_seconds(plan->device.index);
    gc_measure_device(&plan->device, std::max(context, gc_seconds() - begin));
    for (;;) {
        gconv_status status = prepare_sections(plan, error);
        int64_t fewer = gc_band_whole(plan->problem, plan->memory.band_rows / 2, plan->slabs);
        if (status != GCONV_ERROR_MEMORY || fewer == 0)
            return status;
        /* Another process may have taken memory meanwhile: try half of the rows. */
        gc_plan_free_sections(plan);
        plan->memory.band_rows = fewer;
    }
}

static void *start_in_thread(void *opaque)
{
    gc_gpu_plan *plan = (gc_gpu_plan *)opaque;
    double compiled_before = gc_jit_seconds();
    plan->start.status = start(plan, &plan->start.error);
    plan->start.compile_seconds = gc_jit_seconds() - compiled_before;
    if (plan->start.status == GCONV_OK)
        gc_device_note_started(plan->device.index);
    __atomic_store_n(&plan->start.ended, true, __ATOMIC_RELEASE);
    return nullptr;
}

bool gc_plan_start_has_ended(const gc_gpu_plan *plan)
{
    return __atomic_load_n(&plan->start.ended, __ATOMIC_ACQUIRE);
}

gconv_status gc_plan_await_start(gc_gpu_plan *plan, gconv_error *error)
{
    if (plan->start.runs)
        pthread_join(plan->start.thread, nullptr);
    plan->start.runs = false;
    if (plan->start.status != GCONV_OK) {
        if (error != nullptr)
            *error = plan->start.error;
        return plan->start.status;
    }
    return GCONV_OK;
}

gconv_status gc_gpu_await(void *state, double *compile_seconds, gconv_error *error)
{
    gc_gpu_plan *plan = (gc_gpu_plan *)state;
    gconv_status status = gc_plan_await_start(plan, error);
    *compile_seconds = plan->start.compile_seconds;
    return status;
}

/* ---- Making and freeing ---------------------------------------------------------------------- */

static void free_plan(gc_gpu_plan *plan)
{
    free(plan->sections);
    free(plan->work.steps);
    free(plan->slabs);
    free(plan);
}

void gc_gpu_release(void *state)
{
    gc_gpu_plan *plan = (gc_gpu_plan *)state;
    if (plan->start.runs)
        pthread_join(plan->start.thread, nullptr);
    {
        gc_current_device current(plan->device.index);
        gc_plan_end_device_runs(plan);
        gc_plan_free_sections(plan);
    }
    gc_pool_leave();
    free_plan(plan);
}

/* A plan that has not been started, without slabs; null if memory is short. */
static gc_gpu_plan *create(const gc_gpu_method &method, bool by_steps, const gc_problem *problem,
                           const gconv_device_info *device, gconv_error *error)
{
    size_t steps = (size_t)problem->chain.step_count;
    gc_gpu_plan *plan = (gc_gpu_plan *)calloc(1, sizeof *plan);
    if (plan == nullptr) {
        gc_fail_memory(error, sizeof *plan);
        return nullptr;
    }
    plan->method = &method;
    plan->by_steps = by_steps;
    plan->problem = problem;
    plan->device = *device;
    plan->finishes = gc_gpu_finish_of(problem, &plan->finish);
    plan->settles = gc_gpu_settles(method, problem, device, &plan->finish);
    plan->sections = (gc_plan_section *)calloc(steps, sizeof *plan->sections);
    plan->work.steps = (gc_band_step *)calloc(steps, sizeof *plan->work.steps);
    if (plan->sections == nullptr || plan->work.steps == nullptr) {
        free_plan(plan);
        gc_fail_memory(error, steps * sizeof *plan->work.steps);
        return nullptr;
    }
    return plan;
}

static gconv_status make_slabs(gc_gpu_plan *plan, gconv_error *error)
{
    const gc_problem *problem = plan->problem;
    size_t bytes = (size_t)problem->chain.step_count * sizeof *plan->slabs;
    if (plan->method->slabs == nullptr)
        return GCONV_OK;
    plan->slabs = (gc_slabs *)malloc(bytes);
    GC_TRY_MEMORY(plan->slabs != nullptr, error, bytes);
    for (int s = 0; s < problem->chain.step_count; s++)
        plan->slabs[s] = plan->method->slabs(problem, &problem->chain.steps[s], &plan->device);
    return GCONV_OK;
}

static void begin_start(gc_gpu_plan *plan, void **state)
{
    gc_pool_enter();
    plan->start.runs = pthread_create(&plan->start.thread, nullptr, start_in_thread, plan) == 0;
    if (!plan->start.runs)
        start_in_thread(plan);
    *state = plan;
}

static gconv_status prepare(const gc_gpu_method &method, bool by_steps, const gc_problem *problem,
                            const gconv_device_info *device, void **state, gconv_error *error)
{
    gc_gpu_plan *plan = create(method, by_steps, problem, device, error);
    if (plan == nullptr)
        return GCONV_ERROR_MEMORY;
    if (method.extra_bytes != nullptr && method.extra_bytes(problem, 1) > 0)
        plan->memory.extra_bytes = method.extra_bytes;
    gconv_status status = make_slabs(plan, error);
    if (status == GCONV_OK)
        begin_start(plan, state);
    else
        free_plan(plan);
    return status;
}

gconv_status gc_gpu_prepare(const gc_step_method &method, const gc_problem *problem,
                            const gconv_device_info *device, void **state, gconv_error *error)
{
    return prepare(method, true, problem, device, state, error);
}

gconv_status gc_gpu_prepare(const gc_pass_method &method, const gc_problem *problem,
                            const gconv_device_info *device, void **state, gconv_error *error)
{
    return prepare(method, false, problem, device, state, error);
}

void gc_gpu_describe_plan(void *state, char *text, size_t size)
{
    gc_gpu_plan *plan = (gc_gpu_plan *)state;
    text[0] = '\0';
    if (gc_plan_await_start(plan, nullptr) != GCONV_OK)
        return;
    size_t used = 0;
    for (int i = 0; i < plan->section_count && used + 1 < size; i++) {
        const gc_plan_section *section = &plan->sections[i];
        const gc_step *step = &plan->problem->chain.steps[section->scope.first];
        char line[160];
        plan->method->describe(section->state, line, sizeof line);
        int length = snprintf(text + used, size - used, "step %d (%dx%d): %s\n",
                              section->scope.first + 1, step->width, step->height, line);
        used += length > 0 ? (size_t)length : 0;
    }
}
