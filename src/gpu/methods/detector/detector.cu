/* detector: edges by zero crossings, gradients and Canny (contract.md, rules 100 to 104).
 *
 * Idea: one kernel goes from samples to flags of a bit, in whole numbers. So it reads the image
 *   once and stores next to nothing. Of Canny it leaves pixels that may be edges, and those that
 *   are. Small kernels follow lines in these bits (lines.cuh).
 * Improves on: cpu.
 * Needs: 68 KiB of shared memory; of Canny 2 bytes a pixel.
 * Limits: see `supports`. The image is computed at once, and fits in the device's memory.
 * Loses: nowhere among implementations on GPUs, which find edges by the method laplace alone. */
#include "gpu/methods/detector/kernels.cuh"

#include "gpu/device/kernel.cuh"
#include "gpu/methods/passes.cuh"

extern "C" {
#include "core/separate.h"
#include "gpu/cost/costs.h"
#include "gpu/pass/finish.h"
}

#include <cstdio>

enum { SHARED_BYTES = GC_TILE_MAPS * GC_TILE_PLACES * (int)sizeof(float) };

struct detector_state {
    gc_finding finding;
    bool in_float;
    gc_owned_memory<unsigned> memory; /* words, those that are sure, stamps, and parents */
};

/* ---- What can be done ------------------------------------------------------------------------ */

static bool is_canny(const gc_problem *problem)
{
    return gc_detects_canny(&problem->detector);
}

static double words_of(const gc_problem *problem, double rows)
{
    double tiles = ceil((double)problem->chain.width / GC_TILE_COLUMNS);
    return tiles * (GC_TILE_COLUMNS / 32) * rows;
}

/* Whether a step reaches so far to each side at most. */
static bool reaches(const gc_step *step, int reach)
{
    return step->taps != nullptr && step->left <= reach && step->top <= reach &&
           step->width - 1 - step->left <= reach && step->height - 1 - step->top <= reach;
}

/* Whether int holds all sums. */
static bool fits(const gc_problem *problem)
{
    bool all = problem->detector.shift == 0;
    for (int s = 0; s < problem->chain.step_count; s++) {
        const gc_step *step = &problem->chain.steps[s];
        double largest = fmax(fabs(step->terms_border[0]), step->largest_input);
        all = all && largest * step->absolute_sum < INT32_MAX;
    }
    return all;
}

/* Packs weights for columns k = 0 to 3 of a word of samples. Column k reads from byte k + 2 of the
 * word before on, so five bytes of two words. False if weights are no bytes. */
static bool pack_row(const float *row, int width, int left, gc_finding *finding)
{
    bool are_bytes = true;
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < width; i++) {
            int byte = k % 2 + GC_DETECT_BLUR / 2 + i - left + (k / 2 == 0 ? 2 : 0);
            are_bytes = are_bytes && row[i] >= 0 && row[i] <= 255;
            finding->row[k][byte / 4] |= (unsigned)(are_bytes ? row[i] : 0) << byte % 4 * 8;
        }
    return are_bytes;
}

/* Sets the chain of *finding. False if it has another form. */
static bool take_chain(const gc_problem *problem, gc_finding *finding)
{
    enum { REACH = GC_DETECT_BLUR / 2 };
    const gc_step *step = &problem->chain.steps[0], *second = step + 1;
    float row[GC_DETECT_BLUR], column[GC_DETECT_BLUR];
    bool crosses = problem->detector.side == 1;
    if (problem->chain.step_count != (crosses ? 2 : 1) || !reaches(step, REACH) ||
        !gc_step_separate(step, row, column) || (crosses && !reaches(second, 1)))
        return false;
    for (int j = 0; j < step->height; j++)
        finding->column[j + REACH - step->top] = (int)column[j];
    for (int k = 0; crosses && k < second->width * second->height; k++)
        finding->second[(k / second->width + 1 - second->top) * 3 + k % second->width + 1 -
                        second->left] = (int)second->taps[k];
    finding->outside = (int)step->terms_border[0];
    finding->between = crosses ? (int)second->terms_border[0] : problem->detector.border;
    finding->blurs =
        step->width * step->height > 1 || step->taps[0] != 1 ||
        (problem->chain.border == GCONV_BORDER_CONSTANT && finding->between != finding->outside);
    return pack_row(row, step->width, step->left, finding) && finding->outside >= 0 &&
           finding->outside <= 255 && (!finding->blurs || problem->detector.side <= 3);
}

static gconv_status supports(const gc_problem *problem, const gc_step *, const gconv_device_info *,
                             gconv_error *error)
{
    gc_finding finding = {};
    const char *refused =
        !gc_detects(&problem->detector)       ? "it finds edges, and not by the method laplace"
        : !problem->conversion.finds_edges    ? "it writes edges, and no magnitudes"
        : gc_finish_type(problem) == GC_FLOAT ? "it stores no floats"
        : gc_input_type(problem) != GC_BYTE   ? "it takes samples of 8 bits"
        : !fits(problem)                      ? "its sums have 32 bits"
        : !take_chain(problem, &finding)      ? "it blurs by small whole weights in 5x5, of rank 1"
        : words_of(problem, problem->chain.height) > 0x1p27 ? "its images have up to 2^32 pixels"
                                                            : nullptr;
    return refused == nullptr
               ? GCONV_OK
               : gc_fail(error, GCONV_ERROR_UNSUPPORTED, "'detector' refuses this: %s", refused);
}

/* ---- The method ------------------------------------------------------------------------------ */

static bool is_in_float(const gc_problem *problem)
{
    const gc_detector &d = problem->detector;
    return d.side == 3 && !d.is_wide && d.asked.norm == GCONV_NORM_L1;
}

static double seconds(const gc_problem *problem, const gc_step *step,
                      const gconv_device_info *device)
{
    const gc_costs *costs = gc_costs_of(device);
    double work = costs->detector_work * (is_canny(problem) ? 1 : 0.5);
    return step > problem->chain.steps
               ? 0
               : gc_cost_of_pass(problem, 1, work, device, costs->compiled_share);
}

static double extra_bytes(const gc_problem *problem, int64_t rows)
{
    double word = (2 + GC_NODES_OF_WORD) * sizeof(unsigned);
    return is_canny(problem) ? words_of(problem, (double)rows) * word : 0;
}

/* The image in one piece: edges depend on all of it, or on rows that no step says. */
static gc_slabs slabs(const gc_problem *problem, const gc_step *step, const gconv_device_info *)
{
    return gc_slabs_of(problem, step, problem->chain.height);
}

static int all_steps(const gc_problem *problem, int, const gconv_device_info *)
{
    return problem->chain.step_count;
}

static gconv_status allocate(const gc_problem *problem, detector_state *state, gconv_error *error)
{
    gc_finding *f = &state->finding;
    size_t words = (size_t)words_of(problem, problem->chain.height);
    size_t stamps = gc_lines_regions(*f) + 1, count = (2 + GC_NODES_OF_WORD) * words + stamps + 1;
    GC_CUDA_TRY(error, cudaMalloc(&state->memory, count * sizeof(unsigned)));
    f->words = state->memory;
    f->sure = f->words + words;
    f->stamps = f->sure + words;
    f->parents = f->stamps + stamps;
    return GCONV_OK;
}

static gconv_status prepare(const gc_problem *problem, const gconv_device_info *device,
                            gc_pass_scope *, void **opaque, gconv_error *error)
{
    detector_state *state;
    GC_TRY(gc_make(&state, opaque, error));
    gc_finding *f = &state->finding;
    take_chain(problem, f);
    f->detector = problem->detector;
    f->width = (int)problem->chain.width;
    f->height = (int)problem->chain.height;
    f->border = problem->job.border;
    f->row_words = (unsigned)words_of(problem, 1);
    f->invert = problem->conversion.invert;
    state->in_float = is_in_float(problem);
    GC_TRY(gc_gpu_opt_in((const void *)gc_detect_edges<float>, device, error));
    GC_TRY(gc_gpu_opt_in((const void *)gc_detect_edges<int>, device, error));
    return is_canny(problem) ? allocate(problem, state, error) : GCONV_OK;
}

static gconv_status run(void *opaque, gc_pass &pass, int, cudaStream_t stream, gconv_error *error)
{
    const detector_state *state = (const detector_state *)opaque;
    gc_finding f = state->finding;
    f.samples = (const unsigned char *)pass.input;
    f.pitch = pass.input_pitch;
    f.first = pass.input_first;
    f.output = pass.output;
    f.output_pitch = pass.output_pitch * (pass.output_type == GC_SHORT ? 2 : 1);
    f.output_type = pass.output_type;
    unsigned rows = ((unsigned)f.height + GC_TILE_ROWS - 1) / GC_TILE_ROWS;
    unsigned tiles = f.row_words / (GC_TILE_COLUMNS / 32) * rows;
    auto find = state->in_float ? gc_detect_edges<float> : gc_detect_edges<int>;
    find<<<tiles, GC_DETECT_THREADS, SHARED_BYTES, stream>>>(f);
    GC_CUDA_TRY_LAUNCH(error);
    if (f.words == nullptr || f.output_type == GC_FLOAT)
        return GCONV_OK;
    unsigned words = f.row_words * (unsigned)f.height;
    unsigned blocks = (words + GC_DETECT_THREADS - 1) / GC_DETECT_THREADS;
    for (int round = 0; round < GC_LINES_ROUNDS; round++)
        gc_grow_lines<<<gc_lines_regions(f), GC_DETECT_THREADS, 0, stream>>>(f, round);
    auto begin = gc_join_lines<true>, join = gc_join_lines<false>;
    begin<<<blocks, GC_DETECT_THREADS, 0, stream>>>(f);
    join<<<blocks, GC_DETECT_THREADS, 0, stream>>>(f);
    gc_store_lines<<<blocks, GC_DETECT_THREADS, 0, stream>>>(f);
    GC_CUDA_TRY_LAUNCH(error);
    return GCONV_OK;
}

static void describe(const void *opaque, char *text, size_t size)
{
    const detector_state *state = (const detector_state *)opaque;
    snprintf(text, size, "tiles of %dx%d, in %s%s", (int)GC_TILE_COLUMNS, (int)GC_TILE_ROWS,
             state->in_float ? "float32" : "whole numbers",
             state->finding.words != nullptr ? ", lines by regions" : "");
}

static const gc_pass_method method = {
    {supports, seconds, gc_free<detector_state>, describe, extra_bytes, nullptr, slabs, nullptr,
     true, true},
    all_steps,
    prepare,
    run,
};

GC_OPERATIONS(gc_detector_operations, gc_pass_operations<method>());
