#include "cpu/pipeline/settle.h"

#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "core/border.h"
#include "core/separate.h"
#include "core/sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Values of a word of bits. If more than FEW of them are doubtful, all are settled together. */
enum { TOGETHER = 64, FEW = 4 };

/* Values of a row of an area that are summed together. A wide filter reads many values beside
 * these, so for each of them there are BESIDE values more. */
enum { AREA_VALUES = 2048, BESIDE = 8 };

/* Doubles of `extended`, which stay in the second-level cache. A row of it has whole blocks of the
 * loops, and pixels. */
enum { EXTENDED_MAX = 1 << 14, CHUNK = 96 };

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
    int64_t width = 1, height = 1, widest = 1, channels = chain->channels;
    for (const gc_step *step = chain->steps; step < chain->steps + chain->step_count; step++) {
        width += step->width - 1;
        height += step->height - 1;
        widest = gc_larger(widest, step->column == NULL ? step->width : 1);
    }
    settler->height = (int)height;
    int64_t chunks = EXTENDED_MAX / CHUNK / (height + (in_areas ? GC_AREA_ROWS : 1) - 1);
    settler->chunk = gc_larger(chunks, 1) * CHUNK / channels;
    int64_t columns = in_areas ? AREA_VALUES / channels + BESIDE * (width - 1) : TOGETHER;
    if (in_areas && !chain->sums_fit) /* round_exactly finds all that was extended */
        columns = settler->chunk;
    settler->columns_at_once = gc_smaller(columns, chain->width);
    settler->chunk = gc_smaller(settler->chunk, settler->columns_at_once + width);
    settler->extended_stride = (size_t)((settler->chunk + widest) * channels) + GC_DOUBLE_SLACK;
    settler->stride = (size_t)((settler->columns_at_once + width + 1) * channels) + GC_DOUBLE_SLACK;
    if (in_areas ? !chain->sums_fit : width * height <= ALONE_MAX && input->depth == 8) {
        int64_t taps = (width - 1) * (in_areas ? channels : input->channels) + 1;
        settler->taps.width = (int)((taps + GC_DOT_GROUP - 1) / GC_DOT_GROUP * GC_DOT_GROUP);
        settler->taps.height = (int)height;
    }
}

/* A column and a row whose product the terms are, at `vectors` if the step has none itself; else
 * NULL. Units and magnitudes of their sums multiply to those of the step. So if double holds its
 * sums, it holds theirs. */
static const double *find_vectors(const gc_chain *chain, const gc_step *step, double *vectors)
{
    float row[GCONV_FILTER_SIDE_MAX], column[GCONV_FILTER_SIDE_MAX];
    if (step->column != NULL)
        return step->terms;
    if (!chain->sums_fit || !gc_step_separate(step, row, column))
        return NULL;
    for (int n = 0; n < step->width * step->height; n++)
        if ((double)column[n / step->width] * (double)row[n % step->width] != step->terms[n])
            return NULL;
    for (int j = 0; j < step->height; j++)
        vectors[j] = (double)column[j];
    for (int i = 0; i < step->width; i++)
        vectors[step->height + i] = (double)row[i];
    return vectors;
}

gconv_status gc_settler_create(gc_settler *settler, const gc_problem *problem,
                               const gc_taps_loops *loops, const gc_levels *levels,
                               gconv_error *error)
{
    const gc_chain *chain = &problem->chain;
    *settler = (gc_settler){.problem = problem, .loops = loops, .in_areas = levels == NULL};
    measure(settler);
    if (levels != NULL)
        settler->levels = *levels;
    size_t steps = (size_t)chain->step_count, sides = 0, height = (size_t)settler->height;
    size_t rows = height + (settler->in_areas ? GC_AREA_ROWS : 1) - 1;
    size_t extended = rows * settler->extended_stride;
    size_t plane = (rows - (size_t)chain->steps[0].height + 1) * settler->stride;
    size_t taps = (size_t)settler->taps.width * (size_t)settler->taps.height;
    for (size_t s = 0; s < steps; s++)
        sides += (size_t)chain->steps[s].width + (size_t)chain->steps[s].height;
    size_t doubles = extended + 2 * plane + 2 * taps + sides;
    size_t bytes = doubles * sizeof(double) + (steps + 1) * sizeof *settler->areas +
                   (steps + height) * sizeof *settler->rows;
    double *memory = settler->memory = calloc(bytes, 1);
    GC_TRY_MEMORY(memory != NULL, error, bytes);
    settler->extended = memory;
    settler->plane = settler->extended + extended;
    settler->columns = settler->plane + plane;
    settler->areas = (gc_area *)(void *)(memory + doubles);
    settler->vectors = (const double **)(void *)(settler->areas + steps + 1);
    settler->rows = (const void **)(void *)(settler->vectors + steps);
    double *of_taps = settler->columns + plane, *of_vectors = of_taps + 2 * taps;
    for (size_t s = 0; s < steps; s++) {
        settler->vectors[s] = find_vectors(chain, &chain->steps[s], of_vectors);
        of_vectors += chain->steps[s].height + chain->steps[s].width;
    }
    if (taps > 0)
        compose(settler, of_taps);
    double unit = settler->in_areas ? gc_cpu_split_at(problem) : 0;
    if (unit != 0)
        split_taps(settler, unit, of_taps, of_taps + taps);
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

/* What the step reads of the image as its border extends it. */
static gc_area reach(const gc_step *step, gc_area out)
{
    return (gc_area){out.top - step->top, out.bottom - step->top + step->height - 1,
                     out.first - step->left, out.end - step->left + step->width - 1};
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
    gc_area plane;
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
        memcpy(to, row + (size_t)(x - from->plane.first) * values, count * values * sizeof *to);
        return;
    }
    const char *row = gc_sample_row(from->samples, y);
    if (!conversion->keeps_alpha) {
        size_t bytes = (size_t)conversion->input.depth / 8, size = count * values * bytes;
        int64_t last = settler->problem->chain.height - 1;
        const char *below =
            gc_sample_row(from->samples, gc_smaller(y + GC_AREA_ROWS, last)) + first * bytes;
        for (size_t at = 0; at < size; at += GC_ALIGNMENT) /* what the area below reads */
            __builtin_prefetch(below + at, 0, 2);
        settler->loops->widen(row + first * bytes, conversion->input.depth, count * values, to);
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

/* The sums of step s for the pixels of its area, to `plane`. */
static void sum_step(gc_settler *settler, int s)
{
    const gc_step *step = &settler->problem->chain.steps[s];
    const gc_area *out = &settler->areas[s + 1], all = reach(step, *out);
    const source from = {settler, step, s == 0 ? settler->input : NULL, settler->areas[s]};
    const double *vectors = settler->vectors[s];
    const size_t channels = (size_t)settler->problem->chain.channels, stride = settler->stride;
    const size_t rows = (size_t)(out->bottom - out->top);
    const int64_t beside = vectors == NULL ? step->width - 1 : 0, end = all.end - beside;
    const gc_double_taps taps = {vectors != NULL ? vectors : step->terms, (int)beside + 1,
                                 step->height, channels};
    for (int64_t x = all.first, next; x < end; x = next) {
        next = gc_smaller(x + settler->chunk, end);
        for (int64_t y = all.top; y < all.bottom; y++)
            extend_row(&from, y, x, next + beside,
                       settler->extended + (size_t)(y - all.top) * settler->extended_stride);
        settler->loops->in_double(&taps, settler->extended, settler->extended_stride, rows,
                                  (size_t)(next - x) * channels,
                                  settler->columns + (size_t)(x - all.first) * channels, stride);
    }
    if (vectors == NULL) {
        double *sums = settler->columns;
        settler->columns = settler->plane;
        settler->plane = sums;
        return;
    }
    const gc_double_taps row = {vectors + step->height, step->width, 1, channels};
    settler->loops->in_double(&row, settler->columns, stride, rows,
                              (size_t)(out->end - out->first) * channels, settler->plane, stride);
}

void gc_settler_sum(gc_settler *settler, gc_area area)
{
    const gc_chain *chain = &settler->problem->chain;
    gc_area *areas = settler->areas;
    areas[chain->step_count] = area;
    for (int s = chain->step_count - 1; s > 0; s--) {
        areas[s] = reach(&chain->steps[s], areas[s + 1]);
        fold(chain->border, chain->width, &areas[s].first, &areas[s].end);
        fold(chain->border, chain->height, &areas[s].top, &areas[s].bottom);
    }
    for (int s = 0; s < chain->step_count; s++)
        sum_step(settler, s);
}

/* Where value `at` lies in a row of samples. */
static size_t sample_of(const gc_settler *settler, size_t at)
{
    size_t values = (size_t)settler->problem->chain.channels;
    if (!settler->problem->conversion.keeps_alpha)
        return at;
    return at / values * (size_t)settler->problem->conversion.input.channels + at % values;
}

/* Finds the first samples that the chain reads for value `at` of row y. False if it does not read
 * bytes inside the image for it alone. */
static bool find_rows(const gc_settler *settler, int64_t y, size_t at)
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
    int64_t row = y - settler->top;
    row = row < input->capacity ? row : row % input->capacity; /* a division takes long */
    for (int j = 0; j < settler->taps.height; j++, row++) {
        row = row == input->capacity ? 0 : row;
        settler->rows[j] =
            (const uint8_t *)input->samples + (size_t)row * input->stride + at - left;
    }
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

/* Whether each row that values [first, end) of row y read is flat. Then all of a channel have one
 * sum: pictures that are flat near a tie have doubtful values alone. The last value has rows. */
static bool is_flat(const gc_settler *settler, int64_t y, size_t first, size_t end)
{
    size_t channels = (size_t)settler->problem->conversion.input.channels;
    size_t bytes = sample_of(settler, end - 1) - sample_of(settler, first) +
                   (size_t)settler->taps.width - channels;
    if (end - first < 2 * channels || !find_rows(settler, y, first))
        return false;
    for (int j = 0; j < settler->taps.height; j++)
        if (memcmp(settler->rows[j], (const char *)settler->rows[j] + channels, bytes) != 0)
            return false;
    return true;
}

/* Settles values [first, end) of row y, which are flat. */
static void settle_flat(gc_settler *settler, int64_t y, size_t first, size_t end, char *output)
{
    const gc_conversion *conversion = &settler->problem->conversion;
    size_t channels = (size_t)settler->problem->chain.channels;
    bool repeats = conversion->output.depth == 8 && !conversion->keeps_alpha;
    double sums[GC_CHANNELS_MAX] = {0};
    for (size_t at = first; at < (repeats ? first + channels : end); at++) {
        if (at < first + channels && find_rows(settler, y, at))
            sums[at % channels] = settler->loops->dot(&settler->taps, settler->rows, true);
        put(settler, at, round_sum(settler, sums[at % channels], 0), output);
    }
    for (size_t part, known = channels; repeats && known < end - first; known += part) {
        part = known < end - first - known ? known : end - first - known;
        memcpy(output + first + known, output + first, part);
    }
}

/* Settles values [first, end) of a row, at most TOGETHER. */
static void settle_all(gc_settler *settler, int64_t y, size_t first, size_t end, char *output)
{
    size_t channels = (size_t)settler->problem->chain.channels, x = first / channels;
    gc_settler_sum(settler,
                   (gc_area){y, y + 1, (int64_t)x, (int64_t)((end + channels - 1) / channels)});
    for (size_t at = first; at < end; at++)
        put(settler, at, round_sum(settler, settler->plane[at - x * channels], 0), output);
}

/* Settles the values of the first word of bits, or of all that have many if they are flat. Returns
 * how many words that are. */
static size_t settle_many(gc_settler *settler, int64_t y, size_t first, size_t count,
                          const uint64_t *near, char *output)
{
    size_t words = 1, end;
    while (words * TOGETHER < count && are_many(near[words]))
        words++;
    do
        end = first + (size_t)gc_smaller((int64_t)count, (int64_t)(words * TOGETHER));
    while (!find_rows(settler, y, end - 1) && --words > 0);
    if (words > 0 && is_flat(settler, y, first, end)) {
        settle_flat(settler, y, first, end, output);
        return words;
    }
    settle_all(settler, y, first, first + (count < TOGETHER ? count : TOGETHER), output);
    return 1;
}

/* The sums of an exact chain are its values. */
void gc_settle(gc_settler *settler, int64_t y, size_t first, size_t count, const float *values,
               const uint64_t *near, char *output)
{
    const bool exact = settler->problem->chain.exact;
    for (size_t word = 0; word * TOGETHER < count;) {
        uint64_t bits = near[word];
        size_t from = first + word * TOGETHER;
        if (bits != 0 && !exact && are_many(bits)) {
            word += settle_many(settler, y, from, first + count - from, near + word, output);
            continue;
        }
        for (; bits != 0; bits &= bits - 1) {
            size_t at = from + (size_t)__builtin_ctzll(bits);
            if (exact)
                put(settler, at, round_sum(settler, (double)values[at - first], 0), output);
            else if (find_rows(settler, y, at))
                put(settler, at,
                    round_sum(settler, settler->loops->dot(&settler->taps, settler->rows, true), 0),
                    output);
            else
                settle_all(settler, y, at, at + 1, output);
        }
        word++;
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
            settler->rows[j] = samples + (size_t)j * settler->extended_stride;
        double high = settler->loops->dot(&settler->taps, settler->rows, false);
        double low = settler->loops->dot(&settler->lacking, settler->rows, false);
        sum = high + low;
        double back = sum - high;
        rest = (high - (sum - back)) + (low - back);
    }
    return round_sum(settler, sum, rest);
}

/* Stores `count` sums, at most AREA_VALUES, the first as value `first`. `samples` is what its first
 * tap reads. */
static void round_sums(gc_settler *settler, const double *sums, const double *samples, size_t first,
                       size_t count, char *output)
{
    const gc_conversion *conversion = &settler->problem->conversion;
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
    size_t channels = (size_t)conversion->input.channels;
    const char *row = gc_sample_row(settler->input, y);
    for (size_t i = (size_t)(first + 1) * channels - 1; i < (size_t)end * channels; i += channels) {
        uint32_t alpha = conversion->input.depth == 8 ? ((const uint8_t *)row)[i] * 257u
                                                      : ((const uint16_t *)(const void *)row)[i];
        gc_set_sample(conversion->output.depth, output, i,
                      conversion->output.depth == 16 ? alpha : (alpha + 128) / 257);
    }
}

/* Stores an area that was summed. */
static void store_area(gc_settler *settler, gc_area area, char *output, size_t stride)
{
    size_t channels = (size_t)settler->problem->chain.channels;
    size_t first = (size_t)area.first * channels, count = (size_t)area.end * channels - first;
    for (size_t y = 0; y < (size_t)(area.bottom - area.top); y++)
        for (size_t i = 0; i < count; i += AREA_VALUES)
            round_sums(settler, settler->plane + y * settler->stride + i,
                       settler->extended + y * settler->extended_stride + i, first + i,
                       count - i < AREA_VALUES ? count - i : AREA_VALUES, output + y * stride);
}

void gc_settle_area(gc_settler *settler, gc_area area, char *output, size_t stride)
{
    const size_t rows = (size_t)(area.bottom - area.top), last = (size_t)(area.end - 1) / 8;
    for (size_t y = 0; y < rows && settler->problem->conversion.output.depth == 1; y++)
        output[y * stride + last] = 0; /* bits behind the last column, too */
    for (gc_area part = area; part.top < area.bottom; part.top = part.bottom) {
        part.bottom = gc_smaller(part.top + GC_AREA_ROWS, area.bottom);
        for (part.first = area.first; part.first < area.end; part.first = part.end) {
            part.end = gc_smaller(part.first + settler->columns_at_once, area.end);
            gc_settler_sum(settler, part);
            store_area(settler, part, output + (size_t)(part.top - area.top) * stride, stride);
        }
    }
    for (int64_t y = area.top; y < area.bottom && settler->problem->conversion.keeps_alpha; y++)
        keep_alpha(settler, y, area.first, area.end, output + (size_t)(y - area.top) * stride);
}
