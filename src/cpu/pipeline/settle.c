#include "cpu/pipeline/settle.h"

#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "core/border.h"
#include "core/sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Values of a word of bits. If more than FEW of them are doubtful, all are settled together. */
enum { TOGETHER = 64, FEW = 4 };

/* Values and rows of an area that are summed together. */
enum { AREA_VALUES = 2048, AREA_ROWS = 16 };

static bool are_many(uint64_t bits)
{
    for (int i = 0; i < FEW; i++)
        bits &= bits - 1;
    return bits != 0;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Products in a composition that are summed for a value alone. */
enum { ALONE_MAX = 2000 };

static double term_of(const gc_step *step, int j, int i)
{
    return step->column == NULL ? step->terms[j * step->width + i]
                                : step->terms[j] * step->terms[step->height + i];
}

/* Makes `taps` the composition of the chain, with zeros for other channels, and behind the last tap
 * of a row. If double holds every sum of the chain, it holds these taps and their sums. */
static void compose(gc_settler *settler, double *taps)
{
    const gc_chain *chain = &settler->problem->chain;
    size_t stride = (size_t)settler->taps.width, height = 1, end = 1;
    size_t channels = settler->in_areas ? (size_t)chain->channels
                                        : (size_t)settler->problem->conversion.input.channels;
    settler->taps.taps = taps;
    taps[0] = 1;
    for (const gc_step *step = chain->steps; step < chain->steps + chain->step_count; step++) {
        /* From the last tap on: what it spreads to has been spread, or is itself. */
        for (size_t at = (height - 1) * stride + end; at-- > 0;) {
            double tap = taps[at];
            taps[at] = 0;
            for (int n = step->width * step->height - 1; n >= 0 && tap != 0; n--)
                taps[at + (size_t)(n / step->width) * stride +
                     (size_t)(n % step->width) * channels] +=
                    tap * term_of(step, n / step->width, n % step->width);
        }
        height += (size_t)step->height - 1;
        end += ((size_t)step->width - 1) * channels;
        settler->left += step->left;
        settler->top += step->top;
    }
}

/* factor and offset err by u = 2^-53 of themselves, the product and the sum round by as much, with
 * levels that are not clamped below 2^16, and the product below that and the offset. If double does
 * not hold all sums, each term and each sum round by u of the largest sum. */
static gc_double_levels levels_of(const gc_settler *settler)
{
    const gc_rounding *r = &settler->problem->rounding;
    const gc_step *step = settler->problem->chain.steps;
    double offset = r->b / r->c, factor = r->a / r->c, sum = 0;
    int count = settler->lacking.taps != NULL ? step->width * step->height : 0;
    for (int i = 0; i < count; i++)
        sum += fabs(step->terms[i]) * step->largest_input;
    return (gc_double_levels){
        .factor = factor,
        .offset = offset,
        .largest = r->largest,
        .error = 0x1p-53 * (3 * 0x1p16 + 3 * fabs(offset) + (count + 1.01) * sum * fabs(factor)),
        .absolute = r->absolute};
}

/* Leaves multiples of `unit` in `taps`. */
static void split_taps(gc_settler *settler, double unit, double *taps, double *lacking)
{
    settler->lacking = settler->taps;
    settler->lacking.taps = lacking;
    for (int i = 0; i < settler->taps.width * settler->taps.height; i++) {
        double tap = rint(taps[i] / unit) * unit;
        lacking[i] = taps[i] - tap;
        taps[i] = tap;
    }
}

static void measure(gc_settler *settler)
{
    const gc_chain *chain = &settler->problem->chain;
    const gconv_shape *input = &settler->problem->conversion.input;
    bool in_areas = settler->in_areas;
    int width = 1, height = 1, channels = in_areas ? chain->channels : input->channels;
    for (int s = 0; s < chain->step_count; s++) {
        width += chain->steps[s].width - 1;
        height += chain->steps[s].height - 1;
    }
    settler->height = height;
    settler->stride = (in_areas ? AREA_VALUES : TOGETHER) +
                      (size_t)((width + 2) * chain->channels) + GC_DOUBLE_SLACK;
    if (in_areas ? !chain->sums_fit : width * height <= ALONE_MAX && input->depth == 8) {
        settler->taps.width = ((width - 1) * channels + GC_DOT_GROUP) / GC_DOT_GROUP * GC_DOT_GROUP;
        settler->taps.height = height;
    }
}

gconv_status gc_settler_create(gc_settler *settler, const gc_problem *problem,
                               const gc_taps_loops *loops, const gc_levels *levels,
                               gconv_error *error)
{
    *settler = (gc_settler){.problem = problem, .loops = loops, .in_areas = levels == NULL};
    measure(settler);
    if (levels != NULL)
        settler->levels = *levels;
    size_t rows = (size_t)settler->height + (settler->in_areas ? AREA_ROWS : 1) - 1;
    size_t taps = (size_t)settler->taps.width * (size_t)settler->taps.height;
    size_t plane = rows * settler->stride, doubles = 3 * plane + 2 * taps;
    size_t bytes = (size_t)settler->height * sizeof *settler->rows + doubles * sizeof(double);
    double *memory = settler->memory = calloc(bytes, 1);
    if (memory == NULL)
        return gc_fail_memory(error, bytes);
    settler->extended = memory;
    settler->plane = memory + plane;
    settler->columns = memory + 2 * plane;
    settler->rows = (const void **)(void *)(memory + doubles);
    if (taps > 0)
        compose(settler, memory + 3 * plane);
    double unit = settler->in_areas ? gc_cpu_split_at(problem) : 0;
    if (unit != 0)
        split_taps(settler, unit, memory + 3 * plane, memory + 3 * plane + taps);
    settler->in_double = levels_of(settler);
    return GCONV_OK;
}

void gc_settler_destroy(gc_settler *settler)
{
    free(settler->memory);
    settler->memory = NULL;
}

/* ---- What is doubtful ------------------------------------------------------------------------ */

/* Levels far outside are clamped. */
static bool is_near_tie(const gc_levels *levels, double value)
{
    value /= levels->divisor;
    value = levels->scale * (levels->absolute ? fabs(value) : value) + levels->offset;
    return value > -1 && value < 256 && fabs(value - (floor(value) + 0.5)) <= levels->error;
}

void gc_find_doubtful(const gc_settler *settler, const float *values, size_t count, uint64_t *near,
                      uint8_t *flags)
{
    const gc_levels *levels = &settler->levels;
    if (levels->has_boundary) {
        settler->loops->find_sides(values, count, &levels->boundary, flags, near);
        return;
    }
    memset(near, 0, (count + TOGETHER - 1) / TOGETHER * sizeof *near);
    for (size_t i = 0; i < count; i++)
        near[i / TOGETHER] |= (uint64_t)is_near_tie(levels, (double)values[i]) << i % TOGETHER;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

/* Columns [left, right) and rows [top, bottom) of pixels. */
typedef struct box {
    int64_t left, right, top, bottom;
} box;

/* What the step reads of the image as its border extends it. */
static box reach(const gc_step *step, box out)
{
    return (box){out.left - step->left, out.right - step->left + step->width - 1,
                 out.top - step->top, out.bottom - step->top + step->height - 1};
}

/* The part of the image that coordinates [*from, *end) stand for. Under wrap these are kept, since
 * wrapping commutes with convolution. */
static void fold(gconv_border border, int64_t size, int64_t *from, int64_t *end)
{
    int64_t low = size, high = -1;
    if (border == GCONV_BORDER_WRAP || (*from >= 0 && *end <= size))
        return;
    for (int64_t at = *from; at < *end; at++) {
        int64_t index = gc_border_index(border, at, size);
        low = index >= 0 ? gc_smaller(low, index) : low;
        high = gc_larger(high, index);
    }
    *from = low;
    *end = high + 1;
}

/* What a step reads: the samples of the image, or the plane that the step before has left. */
typedef struct source {
    const gc_settler *settler;
    const gc_step *step;
    const gc_sample_rows *samples; /* NULL for a plane */
    box plane;
} source;

/* Copies values of pixels [x, end) of row y, which lie in the source. */
static void copy_pixels(const source *from, int64_t y, int64_t x, int64_t end, double *to)
{
    const gc_settler *settler = from->settler;
    const gc_conversion *conversion = &settler->problem->conversion;
    size_t values = (size_t)conversion->chain_channels, count = (size_t)(end - x);
    size_t channels = (size_t)conversion->input.channels, first = (size_t)x * channels;
    if (from->samples == NULL) {
        const double *row = settler->plane + (size_t)(y - from->plane.top) * settler->stride;
        memcpy(to, row + (size_t)(x - from->plane.left) * values, count * values * sizeof *to);
        return;
    }
    const char *row =
        from->samples->samples + (size_t)(y % from->samples->capacity) * from->samples->stride;
    if (!conversion->keeps_alpha) {
        int depth = conversion->input.depth;
        settler->loops->widen(row + first * (size_t)depth / 8, depth, count * values, to);
        return;
    }
    for (size_t i = 0; i < count; i++, first += channels)
        for (size_t c = 0; c < values; c++)
            *to++ = conversion->input.depth == 8 ? ((const uint8_t *)row)[first + c]
                                                 : ((const uint16_t *)(const void *)row)[first + c];
}

/* Row y of what the step reads, columns [x, end), as the border extends it. */
static void extend_row(const source *from, int64_t y, int64_t x, int64_t end, double *to)
{
    const gc_chain *chain = &from->settler->problem->chain;
    size_t values = (size_t)chain->channels;
    bool is_plane = from->samples == NULL;
    bool wraps = is_plane && chain->border == GCONV_BORDER_WRAP;
    int64_t row = wraps ? y : gc_border_index(chain->border, y, chain->height);
    while (x < end) {
        bool inside = wraps || (x >= 0 && x < chain->width);
        int64_t at = inside ? x : gc_border_index(chain->border, x, chain->width);
        int64_t next = wraps ? end : inside ? gc_smaller(end, chain->width) : x + 1;
        if (!wraps && (row < 0 || at < 0)) {
            memcpy(to, from->step->terms_border, values * sizeof *to);
            next = x + 1;
        } else {
            copy_pixels(from, row, at, at + next - x, to);
        }
        to += (size_t)(next - x) * values;
        x = next;
    }
}

/* The sums of a step for the pixels of `out`, from `extended`, which is what they read. */
static void sum_step(const gc_settler *settler, const gc_step *step, box out)
{
    size_t stride = settler->stride, channels = (size_t)settler->problem->chain.channels;
    size_t values = (size_t)(out.right - out.left) * channels;
    size_t all = values + (size_t)(step->width - 1) * channels;
    size_t rows = (size_t)(out.bottom - out.top);
    const gc_double_taps taps = {step->terms, step->width, step->height, channels};
    const gc_double_taps column = {step->terms, 1, step->height, channels};
    const gc_double_taps row = {step->terms + step->height, step->width, 1, channels};
    const gc_taps_loops *loops = settler->loops;
    if (step->column == NULL) {
        loops->in_double(&taps, settler->extended, stride, rows, values, settler->plane);
        return;
    }
    loops->in_double(&column, settler->extended, stride, rows, all, settler->columns);
    loops->in_double(&row, settler->columns, stride, rows, values, settler->plane);
}

/* Sums of the whole chain for pixels of a box, to `plane`. */
static void sum_pixels(const gc_settler *settler, box out)
{
    const gc_chain *chain = &settler->problem->chain;
    box boxes[GC_ONCE_STEPS_MAX + 1];
    int count = chain->step_count;
    boxes[count] = out;
    for (int s = count - 1; s >= 0; s--) {
        boxes[s] = reach(&chain->steps[s], boxes[s + 1]);
        if (s == 0)
            break;
        fold(chain->border, chain->width, &boxes[s].left, &boxes[s].right);
        fold(chain->border, chain->height, &boxes[s].top, &boxes[s].bottom);
    }
    for (int s = 0; s < count; s++) {
        const gc_step *step = &chain->steps[s];
        const source from = {settler, step, s == 0 ? settler->input : NULL, boxes[s]};
        box extended = reach(step, boxes[s + 1]);
        for (int64_t row = extended.top; row < extended.bottom; row++)
            extend_row(&from, row, extended.left, extended.right,
                       settler->extended + (size_t)(row - extended.top) * settler->stride);
        sum_step(settler, step, boxes[s + 1]);
    }
}

/* Where value `at` lies in a row of samples. */
static size_t sample_of(const gc_settler *settler, size_t at)
{
    size_t values = (size_t)settler->problem->chain.channels;
    return at / values * (size_t)settler->problem->conversion.input.channels + at % values;
}

/* The sum of value `at` of row y, if the chain reads bytes inside the image for it alone. */
static bool sum_alone(const gc_settler *settler, int64_t y, size_t at, double *sum)
{
    const gc_sample_rows *input = settler->input;
    const gc_chain *chain = &settler->problem->chain;
    size_t channels = (size_t)settler->problem->conversion.input.channels;
    size_t left = (size_t)settler->left * channels;
    at = sample_of(settler, at);
    if (settler->taps.taps == NULL || at < left || y < settler->top ||
        at - left + (size_t)settler->taps.width > (size_t)chain->width * channels ||
        y - settler->top + settler->taps.height > (int64_t)chain->height)
        return false;
    int64_t row = (y - settler->top) % input->capacity;
    for (int j = 0; j < settler->taps.height; j++, row++) {
        row = row == input->capacity ? 0 : row;
        settler->rows[j] =
            (const uint8_t *)input->samples + (size_t)row * input->stride + at - left;
    }
    *sum = settler->loops->dot(&settler->taps, settler->rows, true);
    return true;
}

/* ---- Output ---------------------------------------------------------------------------------- */

/* In flat parts of an image all sums are the same. */
static uint32_t round_sum(gc_settler *settler, double sum, double rest)
{
    const gc_problem *problem = settler->problem;
    const gc_conversion *conversion = &problem->conversion;
    if (settler->has_sum && sum == settler->sum && rest == settler->rest)
        return settler->sample;
    settler->has_sum = true;
    settler->sum = sum;
    settler->rest = rest;
    if (conversion->finds_edges)
        settler->sample = gc_passes_threshold(&problem->rounding, sum) != conversion->invert
                              ? (1u << conversion->output.depth) - 1
                              : 0;
    else if (rest == 0)
        settler->sample = gc_round_once(&problem->rounding, sum);
    else
        settler->sample = gc_round_parts(&problem->rounding, (double[]){rest, sum}, 2);
    return settler->sample;
}

static void put(const gc_settler *settler, size_t value, uint32_t sample, char *output)
{
    const gc_conversion *conversion = &settler->problem->conversion;
    size_t values = (size_t)conversion->chain_channels;
    if (conversion->keeps_alpha)
        value = value / values * (values + 1) + value % values;
    gc_set_sample(conversion->output.depth, output, value, sample);
}

/* The sums of values [first, end) of row y, one for each channel, if each row that they read
 * is flat: pictures that are flat near a tie have doubtful values alone. */
static bool sum_flat(const gc_settler *settler, int64_t y, size_t first, size_t end, double *sums)
{
    size_t values = (size_t)settler->problem->chain.channels;
    size_t channels = (size_t)settler->problem->conversion.input.channels;
    size_t bytes = sample_of(settler, end - 1) - sample_of(settler, first);
    if (end - first < 2 * values || !sum_alone(settler, y, end - 1, sums) ||
        !sum_alone(settler, y, first, &sums[first % values]) ||
        !gc_rows_are_flat(settler->rows, settler->taps.height, bytes + (size_t)settler->taps.width,
                          channels))
        return false;
    for (size_t at = first + 1; at < first + values; at++)
        sum_alone(settler, y, at, &sums[at % values]);
    return true;
}

/* Settles values [first, end) of a row. */
static void settle_all(gc_settler *settler, int64_t y, size_t first, size_t end, char *output)
{
    size_t channels = (size_t)settler->problem->chain.channels, x = first / channels;
    double flat[GC_CHANNELS_MAX];
    if (sum_flat(settler, y, first, end, flat)) {
        bool repeats = settler->problem->conversion.output.depth == 8 &&
                       !settler->problem->conversion.keeps_alpha;
        size_t until = repeats ? first + channels : end;
        for (size_t at = first; at < until; at++)
            put(settler, at, round_sum(settler, flat[at % channels], 0), output);
        gc_repeat(output + first, until - first, end - first);
        return;
    }
    sum_pixels(settler, (box){(int64_t)x, (int64_t)((end + channels - 1) / channels), y, y + 1});
    for (size_t at = first; at < end; at++)
        put(settler, at, round_sum(settler, settler->plane[at - x * channels], 0), output);
}

/* The sums of an exact chain are its values. */
void gc_settle(gc_settler *settler, int64_t y, size_t first, size_t count, const float *values,
               const uint64_t *near, char *output)
{
    const bool exact = settler->problem->chain.exact;
    double sum;
    for (size_t word = 0; word * TOGETHER < count; word++) {
        uint64_t bits = near[word];
        if (bits == 0)
            continue;
        size_t from = first + word * TOGETHER;
        if (are_many(bits) && !exact) {
            settle_all(settler, y, from,
                       (size_t)gc_smaller((int64_t)(first + count), (int64_t)(from + TOGETHER)),
                       output);
            continue;
        }
        for (; bits != 0; bits &= bits - 1) {
            size_t at = from + (size_t)__builtin_ctzll(bits);
            sum = exact ? (double)values[at - first] : 0;
            if (exact || sum_alone(settler, y, at, &sum))
                put(settler, at, round_sum(settler, sum, 0), output);
            else
                settle_all(settler, y, at, at + 1, output);
        }
    }
}

/* ---- Areas ----------------------------------------------------------------------------------- */

/* The sample of a sum. `samples` is what its first tap reads: if double does not hold it, sums of
 * both parts of the taps are added up without an error. */
static uint32_t round_exactly(gc_settler *settler, double sum, const double *samples)
{
    double rest = 0;
    if (settler->lacking.taps != NULL) {
        for (int j = 0; j < settler->height; j++)
            settler->rows[j] = samples + (size_t)j * settler->stride;
        double high = settler->loops->dot(&settler->taps, settler->rows, false);
        double low = settler->loops->dot(&settler->lacking, settler->rows, false);
        sum = high + low;
        double back = sum - high;
        rest = (high - (sum - back)) + (low - back);
    }
    return round_sum(settler, sum, rest);
}

/* Stores `count` values of row `row` of an area that were summed, the first as value `first`. */
static void round_row(gc_settler *settler, size_t row, size_t first, size_t count, char *output)
{
    const gc_conversion *conversion = &settler->problem->conversion;
    const double *sums = settler->plane + row * settler->stride;
    const double *samples = settler->extended + row * settler->stride;
    uint64_t near[AREA_VALUES / 64];
    uint16_t levels[AREA_VALUES];
    bool in_place = conversion->output.depth == 16 && !conversion->keeps_alpha;
    if (conversion->bilevel)
        memset(near, -1, sizeof near);
    else
        settler->loops->round(&settler->in_double, sums, count,
                              in_place ? (uint16_t *)(void *)output + first : levels, near);
    for (size_t i = 0; i < count; i++) {
        bool is_near = near[i / 64] >> i % 64 & 1;
        if (in_place && near[i / 64] == 0)
            i |= 63;
        else if (!in_place || is_near)
            put(settler, first + i,
                is_near ? round_exactly(settler, sums[i], samples + i) : levels[i], output);
    }
}

/* Alpha of pixels [first, end) of row y, as rule 5 converts it: 16 bits have no ties between levels
 * of 8. */
static void keep_alpha(const gc_settler *settler, int64_t y, int64_t first, int64_t end,
                       char *output)
{
    const gc_conversion *conversion = &settler->problem->conversion;
    const gc_sample_rows *input = settler->input;
    size_t channels = (size_t)conversion->input.channels;
    const char *row = input->samples + (size_t)(y % input->capacity) * input->stride;
    for (size_t i = (size_t)(first + 1) * channels - 1; i < (size_t)end * channels; i += channels) {
        uint32_t alpha = conversion->input.depth == 8 ? ((const uint8_t *)row)[i] * 257u
                                                      : ((const uint16_t *)(const void *)row)[i];
        gc_set_sample(conversion->output.depth, output, i,
                      conversion->output.depth == 16 ? alpha : (alpha + 128) / 257);
    }
}

void gc_settle_area(gc_settler *settler, gc_area area, char *output, size_t stride)
{
    int64_t channels = settler->problem->chain.channels, columns = AREA_VALUES / channels;
    for (int64_t top = area.top; top < area.bottom; top += AREA_ROWS)
        for (int64_t x = area.first; x < area.end; x += columns) {
            box out = {x, gc_smaller(x + columns, area.end), top,
                       gc_smaller(top + AREA_ROWS, area.bottom)};
            sum_pixels(settler, out);
            for (int64_t y = top; y < out.bottom; y++)
                round_row(settler, (size_t)(y - top), (size_t)(x * channels),
                          (size_t)((out.right - x) * channels),
                          output + (size_t)(y - area.top) * stride);
        }
    for (int64_t y = area.top; y < area.bottom && settler->problem->conversion.keeps_alpha; y++)
        keep_alpha(settler, y, area.first, area.end, output + (size_t)(y - area.top) * stride);
}
