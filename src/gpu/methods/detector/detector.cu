/* detector: edges by zero crossings, gradients and Canny (contract.md, rules 100 to 104).
 *
 * Idea: one kernel goes from samples to flags of a bit, in whole numbers. So it reads the image
 *   once and stores next to nothing. Of Canny it leaves pixels that may be edges, and those that
 *   are. Small kernels follow lines in these bits (lines.cuh).
 * Improves on: cpu.
 * Needs: 43 or 76 KiB of shared memory; of Canny 2 bytes a pixel.
 * Limits: see `supports`. The image is computed at once, and fits in the device's memory.
 * Loses: nowhere among implementations on GPUs, which find edges by the method laplace alone. */
#include "gpu/methods/detector/kernels.cuh"

#include "gpu/device/kernel.cuh"
#include "gpu/methods/passes.cuh"

#include <cstdio>
#include <cstring>

struct detector_state {
    gc_finding finding;
    gc_detect_form form;
    bool overlaps;                     /* blocks of a kernel start while the kernel before ends */
    gc_owned_memory<uint2> memory;     /* words, and parents */
    gc_owned_memory<unsigned> weights; /* of the values of the chain, and of what is compared */
};

/* ---- What can be done ------------------------------------------------------------------------ */

static bool is_canny(const gc_problem *problem)
{
    return gc_detects_canny(&problem->detector);
}

static double words_of(const gc_problem *problem, double rows)
{
    double tiles = ceil((double)problem->chain.width / GC_TILE_COLUMNS);
    return tiles * GC_TILE_WORDS * rows;
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

/* Weights of 7x7 samples: of two sums that are compared, and before them of the chain's values and
 * nothing. */
typedef int all_sums[2][2][GC_SUM_SIDE * GC_SUM_SIDE];

/* Sets weights of side x side around the middle. False if a step reaches further. */
static bool take_weights(const gc_step *step, int side, int *weights)
{
    int right = side / 2 - step->left, down = side / 2 - step->top;
    if (step->taps == nullptr || right < 0 || down < 0 || right + step->width > side ||
        down + step->height > side)
        return false;
    for (int k = 0; k < step->width * step->height; k++)
        weights[(k / step->width + down) * side + k % step->width + right] = (int)step->taps[k];
    return true;
}

/* Makes weights of samples from side x side ones of the first filter's values. False if they reach
 * further. */
static bool add_sum(const gc_finding *finding, int side, const int *weights, int *sum)
{
    bool fits = true;
    for (int k = 0; k < 25 * side * side; k++) {
        int i = k % 25, n = k / 25, weight = finding->blur[i] * weights[n];
        int y = i / 5 + n / side - side / 2 + 1, x = i % 5 + n % side - side / 2 + 1;
        bool inside = y >= 0 && y < GC_SUM_SIDE && x >= 0 && x < GC_SUM_SIDE;
        fits = fits && (inside || weight == 0);
        if (inside)
            sum[y * GC_SUM_SIDE + x] += weight;
    }
    return fits;
}

/* Sets the sums of a job, from zeros. False if they have another form. */
static bool take_sums(const gc_problem *problem, gc_finding *finding, all_sums sums)
{
    const gc_detector *d = &problem->detector;
    const gc_step *step = &problem->chain.steps[0], *second = step + 1;
    const int one = 1, side = d->side == 1 ? 3 : d->side;
    int weights[2][GC_SUM_SIDE * GC_SUM_SIDE] = {};
    if (problem->chain.step_count != (d->side == 1 ? 2 : 1) ||
        !take_weights(step, 5, finding->blur) ||
        (d->side == 1 && !take_weights(second, 3, weights[0])))
        return false;
    for (int k = 0; k < side * side && d->side > 1; k++) {
        weights[0][k] = d->smooth[k / side] * d->slope[k % side];
        weights[1][k] = d->slope[k / side] * d->smooth[k % side];
    }
    memcpy(finding->second[0], weights[0], sizeof finding->second[0]);
    memcpy(finding->second[1], weights[1], sizeof finding->second[1]);
    finding->outside = (int)step->terms_border[0];
    finding->between = d->side == 1 ? (int)second->terms_border[0] : d->border;
    bool is_identity =
        step->width * step->height == 1 && step->taps[0] == 1 &&
        (problem->chain.border != GCONV_BORDER_CONSTANT || finding->between == finding->outside);
    finding->mends = !is_identity && problem->chain.border != GCONV_BORDER_WRAP;
    return add_sum(finding, d->side == 1 ? 3 : 1, d->side == 1 ? weights[0] : &one, sums[0][0]) &&
           add_sum(finding, side, weights[0], sums[1][0]) &&
           add_sum(finding, side, weights[1], sums[1][1]) && (is_identity || side == 3) &&
           finding->outside >= 0 && finding->outside <= 255;
}

/* Digits to the base 256, from -128 to 127, of all weights. */
static int digits_of(const all_sums sums)
{
    const int *weights = sums[0][0];
    int digits = 1;
    int64_t largest = 0;
    for (size_t k = 0; k < sizeof(all_sums) / sizeof *weights; k++)
        largest = llabs(weights[k]) > largest ? llabs(weights[k]) : largest;
    for (int64_t limit = INT8_MAX; largest > limit; limit = limit * 256 + INT8_MAX)
        digits++;
    return digits;
}

static gconv_status supports(const gc_problem *problem, const gc_step *, const gconv_device_info *,
                             gconv_error *error)
{
    gc_finding finding = {};
    all_sums sums = {};
    const char *refused =
        !gc_detects(&problem->detector)       ? "it finds edges, and not by the method laplace"
        : !problem->conversion.finds_edges    ? "it writes edges, and no magnitudes"
        : gc_finish_type(problem) == GC_FLOAT ? "it stores no floats"
        : gc_input_type(problem) != GC_BYTE   ? "it takes samples of 8 bits"
        : !fits(problem)                      ? "its sums have 32 bits"
        : !take_sums(problem, &finding, sums) ? "it sums 7x7 samples, of a blur in 5x5"
        : words_of(problem, problem->chain.height) > 0x1p27 ? "its images have up to 2^32 pixels"
                                                            : nullptr;
    return refused == nullptr
               ? GCONV_OK
               : gc_fail(error, GCONV_ERROR_UNSUPPORTED, "'detector' refuses this: %s", refused);
}

/* ---- The method ------------------------------------------------------------------------------ */

static gc_detect_form form_of(const gc_detector *d, int digits)
{
    bool squares = d->asked.norm == GCONV_NORM_L2;
    if (digits > 1 || d->is_wide || 2 * d->gradient * (squares ? d->gradient : 1) >= 0x1p30)
        return GC_DETECT_WIDE;
    return gc_detects_canny(d) && !squares && !d->by_16 ? GC_DETECT_PLAIN : GC_DETECT_NARROW;
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
    size_t nodes = GC_NODES_OF_WORD * words + 1;
    GC_CUDA_TRY(error,
                cudaMalloc(&state->memory, words * sizeof(uint2) + nodes * sizeof(unsigned)));
    f->words = state->memory;
    f->parents = (unsigned *)(f->words + words);
    return GCONV_OK;
}

/* Uploads words of all weights, for each digit: b0 and b1 of the products, which have words 0 and 2
 * of the upper rows, of the lower rows, and word 1 of both (kernels.cuh). */
static gconv_status upload(const all_sums sums, detector_state *state, gconv_error *error)
{
    static const int word_of[] = {0, 2, 0, 2, 1, 1}, row_of[] = {0, 0, 4, 4, 0, 4};
    unsigned words[2 * 4 * GC_WEIGHT_WORDS] = {};
    const int digits = state->finding.digits = digits_of(sums);
    for (int k = 0; k < 4 * 2 * digits * GC_WEIGHT_WORDS; k++) {
        int byte = k % 4, lane = k / 4 % 32, which = k / 128 % (2 * GC_WEIGHT_PAIRS);
        int row = row_of[which] + lane % 4, column = 4 * word_of[which] + byte - 1 - lane / 8;
        bool inside = row < GC_SUM_SIDE && column >= 0 && column < GC_SUM_SIDE;
        int digit = k / 4 / GC_WEIGHT_WORDS, table = digit / digits;
        int at = inside ? row * GC_SUM_SIDE + column : 0;
        int weight = inside ? sums[table][lane / 4 % 2][at] : 0;
        for (digit %= digits; digit > 0; digit--)
            weight = (weight + 128) >> 8;
        words[k / 4] |= (unsigned)(weight & 255) << 8 * byte;
    }
    return gc_gpu_upload(words, sizeof words, &state->weights, error);
}

/* Kernels that were compiled for a GPU before Hopper do not wait (gc_await_kernel_before), whatever
 * GPU their PTX runs on. */
static gconv_status find_overlap(bool *overlaps, gconv_error *error)
{
    cudaFuncAttributes attributes;
    GC_CUDA_TRY(error, cudaFuncGetAttributes(&attributes, (const void *)gc_store_lines));
    *overlaps = attributes.ptxVersion >= 90;
    return GCONV_OK;
}

static gconv_status prepare(const gc_problem *problem, const gconv_device_info *device,
                            gc_pass_scope *, void **opaque, gconv_error *error)
{
    detector_state *state;
    all_sums sums = {};
    GC_TRY(gc_make(&state, opaque, error));
    gc_finding *f = &state->finding;
    take_sums(problem, f, sums);
    GC_TRY(upload(sums, state, error));
    f->detector = problem->detector;
    state->form = form_of(&f->detector, f->digits);
    const long long limit = state->form == GC_DETECT_WIDE ? 1ll << 61 : (1ll << 30) - 1;
    f->low = f->detector.low < limit ? f->detector.low : limit;
    f->high = f->detector.high < limit ? f->detector.high : limit;
    f->is_raw = f->detector.side == 1;
    f->width = (int)problem->chain.width;
    f->height = (int)problem->chain.height;
    f->border = problem->job.border;
    f->row_words = (unsigned)words_of(problem, 1);
    f->tile_rows = (f->height - 1) / GC_TILE_ROWS + 1;
    f->invert = problem->conversion.invert;
    GC_TRY(gc_gpu_opt_in((const void *)gc_detect_edges<GC_DETECT_WIDE>, device, error));
    GC_TRY(find_overlap(&state->overlaps, error));
    return is_canny(problem) ? allocate(problem, state, error) : GCONV_OK;
}

template <int FORM> static void find(const gc_finding &f, unsigned tiles, cudaStream_t stream)
{
    gc_detect_edges<FORM><<<tiles, GC_DETECT_THREADS, gc_detect_shared_bytes<FORM>(), stream>>>(f);
}

/* Launches a kernel that follows lines. It waits for the kernel before by itself. */
static cudaError_t follow(const detector_state *state, void (*kernel)(gc_finding), unsigned threads,
                          const gc_finding &f, cudaStream_t stream)
{
    cudaLaunchAttribute overlap = {};
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    const unsigned blocks = (threads + GC_DETECT_THREADS - 1) / GC_DETECT_THREADS;
    cudaLaunchConfig_t configuration = {blocks, GC_DETECT_THREADS, 0,
                                        stream, &overlap,          state->overlaps};
    return cudaLaunchKernelEx(&configuration, kernel, f);
}

static gconv_status run(void *opaque, gc_pass &pass, int, cudaStream_t stream, gconv_error *error)
{
    const detector_state *state = (const detector_state *)opaque;
    gc_finding f = state->finding;
    f.weights = state->weights + f.digits * GC_WEIGHT_WORDS;
    f.samples = (const unsigned char *)pass.input;
    f.pitch = pass.input_pitch;
    f.first = pass.input_first;
    f.output = pass.output;
    f.output_pitch = pass.output_pitch * (pass.output_type == GC_SHORT ? 2 : 1);
    f.output_type = pass.output_type;
    if (f.output_type == GC_FLOAT) {
        f.weights = state->weights;
        f.mends = f.mends && f.is_raw; /* a blur alone needs no values beyond */
        f.is_raw = 1;
        f.words = nullptr;
    }
    unsigned tiles = f.row_words / GC_TILE_WORDS * (unsigned)f.tile_rows;
    if (state->form == GC_DETECT_WIDE)
        find<GC_DETECT_WIDE>(f, tiles, stream);
    else if (state->form == GC_DETECT_NARROW || f.output_type == GC_FLOAT)
        find<GC_DETECT_NARROW>(f, tiles, stream);
    else
        find<GC_DETECT_PLAIN>(f, tiles, stream);
    GC_CUDA_TRY_LAUNCH(error);
    if (f.words == nullptr)
        return GCONV_OK;
    if (gc_lines_borders(f) > 0)
        GC_CUDA_TRY(error, follow(state, gc_join_lines, gc_lines_borders(f), f, stream));
    GC_CUDA_TRY(error, follow(state, gc_store_lines, f.row_words * (unsigned)f.height, f, stream));
    return GCONV_OK;
}

static void describe(const void *opaque, char *text, size_t size)
{
    const detector_state *state = (const detector_state *)opaque;
    snprintf(text, size, "tiles of %dx%d, in %d bits%s", (int)GC_TILE_COLUMNS, (int)GC_TILE_ROWS,
             state->form == GC_DETECT_WIDE ? 64 : 32,
             state->finding.words != nullptr ? ", lines by trees" : "");
}

static const gc_pass_method method = {
    {supports, seconds, gc_free<detector_state>, describe, extra_bytes, nullptr, slabs, nullptr,
     true, true},
    all_steps,
    prepare,
    run,
};

GC_OPERATIONS(gc_detector_operations, gc_pass_operations<method>());
