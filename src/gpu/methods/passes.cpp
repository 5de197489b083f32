#include "gpu/methods/passes.cuh"

#include "gpu/device/kernel.cuh"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

extern "C" {
#include "gpu/tunings/tuning.h"
}

/* ---- Kernels --------------------------------------------------------------------------------- */

gconv_status gc_pass_make_queue(unsigned **queue, gconv_error *error)
{
    size_t bytes = GC_CHANNELS_MAX * sizeof **queue;
    GC_CUDA_TRY(error, cudaMalloc(queue, bytes));
    GC_CUDA_TRY(error, cudaMemset(*queue, 0, bytes));
    GC_CUDA_TRY(error, cudaStreamSynchronize(nullptr)); /* launches wait for no other stream */
    return GCONV_OK;
}

static gconv_status begin(const gc_layout &layout, const gconv_device_info *device,
                          gc_pass_kernel *kernel, gconv_error *error)
{
    *kernel = {};
    kernel->layout = layout;
    size_t shared = gc_layout_shared_bytes(&layout);
    if (shared > device->shared_per_block_optin)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "a tile for this filter takes %.0f KiB of shared memory; %s has %.0f",
                       (double)shared / 1024, device->name,
                       (double)device->shared_per_block_optin / 1024);
    kernel->shared_bytes = (unsigned)shared;
    return layout.tuning.schedule == GC_QUEUE ? gc_pass_make_queue(&kernel->queue, error)
                                              : GCONV_OK;
}

/* Makes *kernel run the kernel compiled ahead, in its layout. */
static gconv_status use_ahead(const gc_layout &layout, const gc_pass_wanted &wanted,
                              const gconv_device_info *device, gc_pass_kernel *kernel,
                              gconv_error *error)
{
    size_t bytes = (size_t)wanted.count * sizeof *wanted.weights;
    const void *ahead = wanted.ahead->kernel;
    GC_TRY(begin(layout, device, kernel, error));
    kernel->weights = (float *)malloc(bytes);
    GC_TRY_MEMORY(kernel->weights != nullptr, error, bytes);
    memcpy(kernel->weights, wanted.weights, bytes);
    kernel->ahead = ahead;
    GC_CUDA_TRY(error, cudaFuncSetAttribute(ahead, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            (int)kernel->shared_bytes));
    return gc_gpu_resident(ahead, 32 * layout.tuning.warps, kernel->shared_bytes, device,
                           &kernel->resident, error);
}

static gconv_status compile_source(const char *source, const gconv_device_info *device,
                                   gc_jit_when when, gc_pass_kernel *kernel, gconv_error *error)
{
    GC_TRY(gc_jit_create(device, source, "gc_compiled_kernel", when, &kernel->compiled, error));
    GC_TRY(gc_jit_opt_in_shared(kernel->compiled, kernel->shared_bytes, error));
    int blocks = 0;
    GC_TRY(gc_jit_resident(kernel->compiled, 32 * kernel->layout.tuning.warps, kernel->shared_bytes,
                           &blocks, error));
    kernel->resident = std::max(1, blocks) * device->processors;
    return GCONV_OK;
}

gconv_status gc_pass_compile(const gc_layout &layout, const float *weights, int count,
                             const gconv_device_info *device, gc_jit_when when,
                             gc_pass_kernel *kernel, gconv_error *error)
{
    gconv_status status = begin(layout, device, kernel, error);
    gc_owned_array<char> source(status == GCONV_OK ? gc_kernel_source(layout, weights, count)
                                                   : nullptr);
    if (status == GCONV_OK && source == nullptr)
        status = gc_fail_memory(error, (size_t)count * 16);
    GC_THEN(status, compile_source(source, device, when, kernel, error));
    if (status != GCONV_OK)
        gc_pass_release(kernel);
    return status;
}

gconv_status gc_pass_prepare(const gc_pass_wanted &wanted, bool compiles,
                             const gconv_device_info *device, gc_pass_scope *scope,
                             gc_pass_kernel *kernel, gconv_error *error)
{
    gc_jit_when when = wanted.ahead == nullptr || compiles ? GC_JIT_COMPILE : GC_JIT_CACHED_ONLY;
    gconv_status status =
        gc_pass_compile(wanted.layout, wanted.weights, wanted.count, device, when, kernel, error);
    if (status == GCONV_OK || status == GCONV_ERROR_MEMORY || wanted.ahead == nullptr)
        return status;
    gc_layout other = wanted.layout;
    other.tuning = wanted.ahead->tuning;
    *scope = gc_pass_scope_of_planes(*scope);
    scope->output = GC_FLOAT;
    gc_pass_set_types(*scope, &other);
    return use_ahead(other, wanted, device, kernel, error);
}

bool gc_pass_is_cached(const gc_layout &layout, const float *weights, int count,
                       const gconv_device_info *device)
{
    gc_owned_array<char> source(gc_kernel_source(layout, weights, count));
    if (source == nullptr)
        return false;
    gc_owned_array<void> binary;
    size_t size = 0;
    gconv_error ignored;
    return gc_jit_binary(device, source, GC_JIT_CACHED_ONLY, &binary, &size, &ignored) == GCONV_OK;
}

/* ---- Expected times -------------------------------------------------------------------------- */

/* Multiply-adds that take as long as reading or storing a sample. */
static double work_of(gc_sample_type type, const gc_costs *costs)
{
    return type == GC_BYTE ? costs->byte_work : type == GC_SHORT ? costs->short_work : 0;
}

static double kernel_seconds(const gc_problem *problem, const gc_pass_scope &scope, double work,
                             const gconv_device_info *device)
{
    const gc_costs *costs = gc_costs_of(device);
    double samples = scope.channels > problem->chain.channels /* alpha is kept */
                         ? (double)scope.channels / problem->chain.channels
                         : 1;
    work += samples * (work_of(scope.input, costs) + work_of(scope.output, costs));
    if (scope.finish == GC_FINISH_REMAINDER)
        work += costs->remainder_work;
    return gc_cost_of_pass(problem, gc_pass_scope_bytes(scope), work, device,
                           costs->compiled_share);
}

double gc_pass_seconds(const gc_problem *problem, const gc_pass_scope &scope, double work,
                       const gconv_device_info *device)
{
    return kernel_seconds(problem, scope, work, device) +
           gc_pass_scope_planes(problem, scope, device);
}

double gc_pass_form_seconds(const gc_problem *problem, const gc_step *step, gc_form form,
                            const gconv_device_info *device)
{
    gc_pass_scope scope = gc_pass_scope_of(problem, (int)(step - problem->chain.steps), 1);
    gc_pass_layout(problem, step, form, &scope, device);
    return gc_pass_seconds(problem, scope, gc_form_work(form, step->width, step->height), device);
}

/* What a kernel compiled ahead reads and stores. */
static gc_pass_scope scope_ahead(const gc_pass_scope &scope)
{
    gc_pass_scope ahead = gc_pass_scope_of_planes(scope);
    ahead.output = GC_FLOAT;
    ahead.finish = GC_FINISH_NONE;
    return ahead;
}

gc_pass_times gc_pass_times_of(const gc_problem *problem, const gc_pass_scope &scope, double work,
                               bool is_ahead, double factor, const gconv_device_info *device)
{
    gc_pass_times times = {gc_pass_seconds(problem, scope, work, device), 0};
    gc_pass_scope ahead = scope_ahead(scope);
    double launch = gc_costs_of(device)->launch_seconds;
    if (is_ahead)
        times.ahead = launch + factor * (kernel_seconds(problem, ahead, work, device) - launch) +
                      gc_pass_scope_planes(problem, ahead, device);
    return times;
}

bool gc_pass_compiling_pays(const gc_problem *problem, const gc_pass_times &times,
                            const gconv_device_info *device)
{
    return (times.ahead - times.compiled) * (double)problem->job.runs >
           gc_costs_of(device)->compile_seconds;
}

double gc_pass_total_seconds(const gc_problem *problem, const gc_pass_times &times,
                             const gc_layout &layout, const float *weights, int count,
                             const gconv_device_info *device)
{
    if (gc_pass_is_cached(layout, weights, count, device))
        return times.compiled;
    if (times.ahead > 0 && !(gc_jit_available() && gc_pass_compiling_pays(problem, times, device)))
        return times.ahead;
    return times.compiled +
           gc_costs_of(device)->compile_seconds / (double)std::max<uint64_t>(1, problem->job.runs);
}

/* ---- Layouts --------------------------------------------------------------------------------- */

void gc_pass_set_types(const gc_pass_scope &scope, gc_layout *layout)
{
    layout->input = scope.input;
    layout->output = scope.output;
    layout->finish = scope.finish;
    layout->channels = scope.channels;
    layout->alpha = scope.alpha;
}

/* If a tile of all channels does not fit in shared memory, there are planes. */
gc_layout gc_pass_layout(const gc_problem *problem, const gc_step *step, gc_form form,
                         gc_pass_scope *scope, const gconv_device_info *device)
{
    gc_layout layout = gc_layout_of(problem, step);
    gc_pass_set_types(*scope, &layout);
    layout.tuning.form = form;
    layout.tuning = gc_tuning_of(device, &layout);
    if (scope->channels == 1 || gc_tuning_fits(device, &layout))
        return layout;
    *scope = gc_pass_scope_of_planes(*scope);
    return gc_pass_layout(problem, step, form, scope, device);
}

void gc_pass_describe(const void *state, char *text, size_t size)
{
    const gc_pass_kernel &kernel = *(const gc_pass_kernel *)state;
    const gc_tuning &t = kernel.layout.tuning;
    int products = gc_form_products(t.form);
    char sum[32] = "";
    if (products > 1)
        snprintf(sum, sizeof sum, ", a sum of %d products", products);
    snprintf(text, size, "%s%s%s: %d rows a thread, %d warps a block, schedule %s, %.1f KiB, %s",
             t.form == GC_FORM_PAIR ? "with the next step in one pass, " : "", gc_form_name(t.form),
             sum, t.rows, t.warps, gc_schedule_name(t.schedule), (double)kernel.shared_bytes / 1024,
             kernel.compiled == nullptr ? "compiled ahead"
             : t.form == GC_FORM_PAIR   ? "compiled for these filters"
                                        : "compiled for this filter");
}

void gc_pass_release(gc_pass_kernel *kernel)
{
    if (kernel->compiled != nullptr)
        gc_jit_destroy(kernel->compiled);
    cudaFree(kernel->queue);
    free(kernel->weights);
    *kernel = {};
}

/* Thread blocks for a plane. Sets the members of `pass` that the schedule reads. */
static unsigned blocks_for(const gc_pass_kernel &kernel, gc_pass &pass)
{
    int width, height;
    gc_layout_tile(&kernel.layout, &width, &height);
    unsigned columns = (unsigned)((pass.width + width - 1) / width);
    unsigned rows = (unsigned)((pass.rows + height - 1) / height);
    if (kernel.layout.tuning.schedule == GC_ONE_TILE)
        return columns * rows;
    pass.tiles = (int)(columns * rows);
    pass.queue = kernel.queue;
    return std::min((unsigned)kernel.resident, columns * rows);
}

gconv_status gc_pass_launch(const gc_pass_kernel &kernel, gc_pass &pass, int channels,
                            cudaStream_t stream, gconv_error *error)
{
    dim3 grid(blocks_for(kernel, pass), kernel.layout.channels > 1 ? 1 : (unsigned)channels);
    dim3 block(32 * (unsigned)kernel.layout.tuning.warps);
    void *arguments[] = {&pass, kernel.weights};
    if (kernel.compiled != nullptr)
        return gc_jit_launch(kernel.compiled, grid, block, kernel.shared_bytes, stream, arguments,
                             error);
    GC_CUDA_TRY(
        error, cudaLaunchKernel(kernel.ahead, grid, block, arguments, kernel.shared_bytes, stream));
    return GCONV_OK;
}

/* ---- Methods --------------------------------------------------------------------------------- */

bool gc_is_square(const gc_step *step, int side)
{
    return step->width == side && step->height == side && step->left == side / 2 &&
           step->top == side / 2;
}

const gc_ahead_kernel *gc_ahead_find(const gc_ahead_kernel *kernels, size_t count,
                                     const gc_step *step)
{
    for (size_t i = 0; i < count; i++)
        if (gc_is_square(step, kernels[i].side))
            return &kernels[i];
    return nullptr;
}

int gc_pass_one_step(const gc_problem *, int, const gconv_device_info *)
{
    return 1;
}

gconv_status gc_pass_run(void *state, gc_pass &pass, int channels, cudaStream_t stream,
                         gconv_error *error)
{
    return gc_pass_launch(*(const gc_pass_kernel *)state, pass, channels, stream, error);
}

void gc_pass_free(void *state)
{
    gc_pass_release((gc_pass_kernel *)state);
    free(state);
}
