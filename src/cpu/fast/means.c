/* The mean of a box, or another quotient of its sum, from samples to samples of the same depth, by
 * running sums: down the columns, then along the row (loops/box_loops.c). A sample takes the same
 * time whatever the box's size.
 *
 * S is the sum of the samples below a box, and S / D the level, with a whole D. The quotient is
 * rounded once:
 * - S + D / 2 is below 2^16: in whole numbers of 16 bits, as in rank1_bytes.c.
 * - Samples of 8 bits, S below 2^24: in float32, which holds S and D. A quotient is a tie, or at
 *   least 1 / (2 D) away from one. If D is odd there is no tie, and the product with 1 / D is at
 *   most 2^-15 off below 256: enough for D below 2^14. Other D are below 2^16. Float32 holds a tie,
 *   and the corrected product finds it. Any other is less than 2^-17 + 2^-36 off the quotient below
 *   256, and 1 / (2 D) is more. From 256 on the level is clamped.
 * - Samples of 16 bits, S below 2^24: S - 2 D h is a whole number of at most 2 D, which float32 has
 *   without an error, if h is within 0.9 of half of the level. Ties of its quotient are found as
 *   above. Others are 1 / (2 D) away, and the quotient is at most 2^-22 off. 2 h is even, so that
 *   it does not change which neighbour of a tie is.
 * - Samples of 16 bits, S below 2^32: in double, which is at most 2^-36 off below 65536.
 *
 * The pass goes in strips of columns. It reads rows of samples where they lie. What the border puts
 * beside the image are sums of columns again. */
#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "core/border.h"
#include "cpu/cost.h"
#include "cpu/fast/rank1_bytes.h"
#include "cpu/instructions/instructions.h"
#include "cpu/pass.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of samples of a strip, at most; and columns of which strips are multiples, so that blocks
 * of output begin on cache lines. */
enum { STRIP_BYTES = 8 << 10, GRANULE = 64 };

/* What loops read before the first sum and beyond the last. */
enum { SLACK = 64 };

/* The longest side of a box: sums of columns of bytes stay below 2^16, and the border reflects into
 * the strip beside it. */
enum { SIDE_MAX = 257, DIVISOR_MAX = UINT16_MAX };

typedef struct means {
    const gc_problem *problem;
    const gc_step *step;
    const gc_box_loops *loops;
    gc_box box;
    size_t sample, pixel; /* bytes */
    size_t columns;       /* of a strip, at most */
} means;

/* What one thread needs. */
typedef struct means_memory {
    const means *shared;
    void *sums;        /* of columns */
    size_t sums_bytes; /* with what lies before and behind */
    uint8_t *zeros;    /* a row */
    uint8_t *border;   /* a row above the image */
    uint32_t *copied;  /* places of sums */
    void *memory;      /* that holds all */
} means_memory;

/* ---- What the filter is ---------------------------------------------------------------------- */

/* The weight that all terms of the definition have, 0 if they differ. */
static double common_term(const gc_step *step)
{
    size_t height = (size_t)step->height, count = gc_step_term_count(step);
    for (size_t i = 1; i < count; i++)
        if (step->terms[i] != step->terms[i - 1] && (step->column == NULL || i != height))
            return 0;
    return step->column != NULL ? step->terms[0] * step->terms[height] : step->terms[0];
}

/* D, or 0. Levels stay below 2^31: D is more than 2. */
static double divisor_of(const gc_problem *problem)
{
    double term = common_term(&problem->chain.steps[0]);
    double divisor = term != 0 ? rint(problem->chain.divisor / term) : 0;
    bool is = gc_is_whole(term) && divisor > 2 && divisor <= DIVISOR_MAX &&
              divisor * term == problem->chain.divisor;
    return is ? divisor : 0;
}

/* Whether a constant border consists of samples. */
static bool border_fits(const gc_problem *problem)
{
    const double *border = problem->chain.steps[0].terms_border;
    bool fits = true;
    for (int c = 0; c < problem->chain.channels; c++)
        fits = fits && border[c] >= 0 && border[c] <= problem->conversion.sample_max &&
               gc_is_whole(border[c]);
    return fits;
}

static bool applies(const gc_problem *problem)
{
    const gc_conversion *conversion = &problem->conversion;
    const gc_step *step = &problem->chain.steps[0];
    const int depth = conversion->input.depth;
    double largest = (double)step->width * step->height * conversion->sample_max;
    return gc_instructions_chosen()->box->has_levels && problem->chain.step_count == 1 &&
           depth <= 16 && conversion->output.depth == depth && !conversion->bilevel &&
           !conversion->premultiplies && conversion->scale == 1 && conversion->offset == 0 &&
           problem->chain.denominator == 1 && step->width <= SIDE_MAX && step->height <= SIDE_MAX &&
           largest < (depth == 8 ? 0x1p24 : 0x1p32) && border_fits(problem) &&
           divisor_of(problem) != 0;
}

static double seconds(const gc_problem *problem)
{
    const gc_chain *chain = &problem->chain;
    const int height = chain->steps[0].height;
    double values = (double)chain->width * chain->height * problem->conversion.input.channels;
    double beginnings = height / fmin(chain->height, GC_MEAN_ROWS);
    return applies(problem) ? values * (GC_MEAN_SECONDS + beginnings * GC_MEAN_ROW_SECONDS) +
                                  chain->height * GC_ROW_SECONDS
                            : HUGE_VAL;
}

static gc_box box_of(const gc_problem *problem)
{
    const gc_step *step = &problem->chain.steps[0];
    const gc_conversion *conversion = &problem->conversion;
    const int depth = conversion->input.depth;
    size_t channels = (size_t)conversion->input.channels;
    uint32_t divisor = (uint32_t)divisor_of(problem);
    uint32_t largest = (uint32_t)(step->width * step->height) * UINT8_MAX + divisor / 2;
    gc_box box = {.kind = depth == 16 ? GC_BOX_WIDE : GC_BOX_LONG,
                  .channels = channels,
                  .span = (size_t)step->width * channels,
                  .divisor = divisor,
                  .is_small = step->width * step->height <= 256};
    if (depth == 8 && largest <= UINT16_MAX && gc_short_divisor_set(&box.by, divisor, largest))
        box.kind = GC_BOX_SHORT;
    for (size_t b = 0; conversion->keeps_alpha && b < sizeof box.kept_mask; b++)
        if (b / (size_t)(depth / 8) % channels == channels - 1)
            box.kept_mask |= UINT64_C(0xff) << 8 * b;
    return box;
}

/* Strips are as wide as each other. Under wrap there is one: sums at one end are those of the
 * other. */
static gconv_status create(const gc_problem *problem, void **shared, gconv_error *error)
{
    means *m = *shared = malloc(sizeof *m);
    GC_TRY_MEMORY(m != NULL, error, sizeof *m);
    *m = (means){.problem = problem,
                 .step = &problem->chain.steps[0],
                 .loops = gc_instructions_chosen()->box,
                 .box = box_of(problem)};
    m->sample = (size_t)problem->conversion.input.depth / 8;
    m->pixel = m->box.channels * m->sample;
    size_t width = problem->chain.width, strips = (width * m->pixel - 1) / STRIP_BYTES + 1;
    m->columns = problem->chain.border == GCONV_BORDER_WRAP || strips == 1
                     ? width
                     : ((width - 1) / strips + GRANULE) / GRANULE * GRANULE;
    return GCONV_OK;
}

static void fill_border(const means *m, uint8_t *row, size_t columns)
{
    for (size_t i = 0; i < columns * m->box.channels; i++) {
        double level = m->step->terms_border[i % m->box.channels];
        if (m->sample == 1)
            row[i] = (uint8_t)level;
        else
            ((uint16_t *)(void *)row)[i] = (uint16_t)level;
    }
}

static gconv_status open_strips(const void *shared, void **own, gconv_error *error)
{
    const means *m = shared;
    means_memory *memory = *own = calloc(1, sizeof *memory);
    GC_TRY_MEMORY(memory != NULL, error, sizeof *memory);
    const size_t columns = m->columns + 2 * (size_t)m->step->width;
    const size_t row = gc_aligned(columns * m->pixel + SLACK);
    memory->shared = m;
    memory->sums_bytes = 2 * row + SLACK;
    size_t bytes = memory->sums_bytes + 2 * row + m->box.span * sizeof *memory->copied;
    char *all = memory->memory = gc_allocate_aligned(bytes, 1);
    GC_TRY_MEMORY(all != NULL, error, bytes);
    memory->sums = all + SLACK;
    memory->zeros = memset(all + memory->sums_bytes, 0, row);
    memory->border = memory->zeros + row;
    memory->copied = (uint32_t *)(void *)(memory->border + row);
    fill_border(m, memory->border, columns);
    return GCONV_OK;
}

static void close_strips(void *own)
{
    means_memory *memory = own;
    free(memory->memory);
    free(memory);
}

/* ---- Strips ---------------------------------------------------------------------------------- */

/* Columns [first, end) of output need columns [before, behind), of which the image has those from
 * `low` to `high`. */
typedef struct strip {
    const means *shared;
    const means_memory *memory;
    const gc_pass_job *job;
    int64_t first, end, before, behind, low, high;
} strip;

/* The place of the sum of column x. */
static size_t place_of(const strip *s, int64_t x)
{
    return (size_t)(x - s->before) * s->shared->box.channels;
}

static void *sums_at(const strip *s, int64_t x)
{
    return (char *)s->memory->sums + 2 * (size_t)(x - s->before) * s->shared->pixel;
}

/* The samples of row y from column x on. */
static const uint8_t *samples_at(const strip *s, int64_t y, int64_t x)
{
    const gc_chain *chain = &s->shared->problem->chain;
    const gc_sample_rows *input = &s->job->input;
    y = gc_border_index(chain->border, y, chain->height);
    if (y < 0)
        return s->memory->border;
    y = y < input->capacity ? y : y % input->capacity; /* a division takes long */
    return (const uint8_t *)input->samples + (size_t)y * input->stride +
           (size_t)x * s->shared->pixel;
}

static void slide(const means *m, void *sums, const uint8_t *added, const uint8_t *removed,
                  size_t count)
{
    if (m->sample == 1)
        m->loops->slide8(sums, added, removed, count);
    else
        m->loops->slide16(sums, (const uint16_t *)(const void *)added,
                          (const uint16_t *)(const void *)removed, count);
}

/* Prepares columns [from, end) beside the image: notes what their sums are copies of, or sets them
 * to sums of a constant border. Returns the next place of `copied`. */
static uint32_t *begin_beside(const strip *s, int64_t from, int64_t end, uint32_t *copied)
{
    const means *m = s->shared;
    const gc_chain *chain = &m->problem->chain;
    for (int64_t x = from; x < end; x++) {
        int64_t inside = gc_border_index(chain->border, x, chain->width);
        for (size_t c = 0; c < m->box.channels && inside >= 0; c++)
            *copied++ = (uint32_t)(place_of(s, inside) + c);
        for (int j = 0; j < m->step->height && inside < 0; j++)
            slide(m, sums_at(s, x), s->memory->border, s->memory->zeros, m->box.channels);
    }
    return copied;
}

/* Adds row y to the sums of columns, and takes row `gone` away, if `goes`. */
static void slide_row(const strip *s, int64_t y, int64_t gone, bool goes)
{
    const means *m = s->shared;
    const size_t count = place_of(s, s->high) - place_of(s, s->low);
    const uint8_t *added = samples_at(s, y, s->low);
    const uint8_t *removed = goes ? samples_at(s, gone, s->low) : s->memory->zeros;
    slide(m, sums_at(s, s->low), added, removed, count);
}

/* Copies sums to places [place, end), which lie beside the image. Returns the next of `from`. */
static const uint32_t *copy_sums(const strip *s, size_t place, size_t end, const uint32_t *from)
{
    uint16_t *shorts = s->memory->sums;
    uint32_t *longs = s->memory->sums;
    if (s->shared->sample == 1)
        for (; place < end; place++)
            shorts[place] = shorts[*from++];
    else
        for (; place < end; place++)
            longs[place] = longs[*from++];
    return from;
}

static void finish_row(const strip *s, int64_t y, char *out)
{
    const means *m = s->shared;
    const uint8_t *kept = m->box.kept_mask != 0 ? samples_at(s, y, s->first) : NULL;
    if (m->problem->chain.border != GCONV_BORDER_CONSTANT)
        copy_sums(s, place_of(s, s->high), place_of(s, s->behind),
                  copy_sums(s, 0, place_of(s, s->low), s->memory->copied));
    m->loops->store(&m->box, s->memory->sums, (size_t)(s->end - s->first) * m->box.channels, kept,
                    out);
}

static void compute_strip(const strip *s)
{
    const gc_area area = s->job->area;
    const int64_t above = s->shared->step->top, below = s->shared->step->height - 1 - above;
    char *out = s->job->output + (size_t)s->first * s->shared->pixel;
    memset(s->memory->memory, 0, s->memory->sums_bytes);
    begin_beside(s, s->high, s->behind, begin_beside(s, s->before, s->low, s->memory->copied));
    for (int64_t y = area.top - above; y < area.top + below; y++)
        slide_row(s, y, 0, false);
    for (int64_t y = area.top; y < area.bottom; y++, out += s->job->stride) {
        slide_row(s, y + below, y - above - 1, y > area.top);
        finish_row(s, y, out);
    }
}

/* The last strip takes fewer columns than the box has with it: the border reflects into it alone.
 * Stages give chain values. */
static bool run(void *own, const gc_pass_job *job)
{
    const means_memory *memory = own;
    const means *m = memory->shared;
    const int64_t width = m->problem->chain.width, columns = (int64_t)m->columns;
    strip s = {.shared = m, .memory = memory, .job = job};
    for (; s.first < width && !job->chain_only; s.first = s.end) {
        s.end = width - s.first < columns + m->step->width ? width : s.first + columns;
        s.before = s.first - m->step->left;
        s.behind = s.before + s.end - s.first + m->step->width - 1;
        s.low = gc_larger(s.before, 0);
        s.high = gc_smaller(s.behind, width);
        compute_strip(&s);
    }
    return !job->chain_only;
}

static void describe(const void *shared, char *text, size_t size)
{
    const means *m = shared;
    snprintf(text, size, "%dx%d by running sums to levels", m->step->width, m->step->height);
}

const gc_pass gc_pass_means = {
    .seconds = seconds,
    .create = create,
    .release = free,
    .open = open_strips,
    .close = close_strips,
    .run = run,
    .describe = describe,
    .goes_in_strips = true,
};
