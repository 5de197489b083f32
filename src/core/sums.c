#include "core/sums.h"

#include "base/memory.h"
#include "base/number.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Numbers are whole multiples of 2^unit, which is at most 1. */
typedef struct extent {
    int unit;
    double largest, sum; /* of the magnitudes */
} extent;

static extent extent_of(const double *values, size_t count)
{
    extent e = {.unit = 0};
    for (size_t i = 0; i < count; i++) {
        e.unit = (int)gc_smaller(e.unit, gc_lowest_bit(values[i]));
        e.largest = fmax(e.largest, fabs(values[i]));
        e.sum += fabs(values[i]);
    }
    return e;
}

/* The range of the numbers that enter a step. */
typedef struct range {
    int unit;
    double largest;
    bool fits; /* double holds all of them */
    int bits;  /* of a number in limbs, without its sign */
} range;

static void note(range *r, double magnitude)
{
    int exponent;
    frexp(magnitude, &exponent);
    r->bits = (int)gc_larger(r->bits, exponent + 1 - r->unit);
}

/* The range after numbers are multiplied by weights and added up. Sums of multiples of 2^unit are
 * exact in any order if their magnitudes add up to less than 2^(53 + unit). Comparing the rounded
 * sum of magnitudes with this limit is safe, because the limit is a double. */
static void extend(range *r, extent weights)
{
    note(r, r->largest);
    r->unit += weights.unit;
    r->largest *= weights.sum;
    r->fits =
        r->fits && r->unit >= GC_ROUNDING_LEAST && r->largest < ldexp(1, DBL_MANT_DIG + r->unit);
    note(r, fmax(r->largest, weights.largest));
}

/* Sets the units of a step. The next step's border makes them smaller if it is no multiple of
 * them. */
static void pass(gc_step *step, const extent *next_border, range *r)
{
    size_t height = (size_t)step->height, count = gc_step_term_count(step);
    extent weights = extent_of(step->terms, step->column != NULL ? height : count), row;
    step->unit = r->unit;
    if (step->column != NULL) {
        row = extent_of(step->terms + height, count - height);
        step->row_unit = row.unit;
        extend(r, row);
    }
    if (next_border != NULL)
        weights.unit = (int)gc_smaller(weights.unit, next_border->unit - r->unit);
    step->terms_unit = weights.unit;
    extend(r, weights);
    if (next_border != NULL)
        r->largest = fmax(r->largest, next_border->largest);
}

void gc_chain_set_sums(const gc_conversion *conversion, gc_chain *chain)
{
    extent border = extent_of(chain->steps[0].terms_border, GC_CHANNELS_MAX);
    double white = conversion->sample_max * chain->denominator;
    range r = {border.unit, fmax(border.largest, white), true, 0};
    for (int s = 0; s < chain->step_count; s++) {
        bool last = s + 1 == chain->step_count;
        if (!last)
            border = extent_of(chain->steps[s + 1].terms_border, GC_CHANNELS_MAX);
        pass(&chain->steps[s], last ? NULL : &border, &r);
    }
    bool may = conversion->input.depth != 32 && !conversion->premultiplies && chain->divisor != 0;
    bool is_wide = may && !r.fits && r.unit >= GC_ROUNDING_LEAST &&
                   r.largest < ldexp(1, GC_ROUNDING_MOST) && r.bits < 64 * GC_LIMBS_MAX;
    chain->sums_fit = may && r.fits;
    chain->limbs = is_wide ? r.bits / 64 + 1 : 0;
    chain->unit = r.unit;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static void negate(gc_word *number, size_t limbs)
{
    uint64_t carry = 1;
    for (size_t i = 0; i < limbs; i++) {
        number[i].bits = ~number[i].bits + carry;
        carry = carry == 1 && number[i].bits == 0;
    }
}

/* A multiple of 2^unit becomes a whole number. */
static void set_word(const gc_chain *chain, double value, int unit, gc_word *word)
{
    size_t limbs = (size_t)chain->limbs;
    if (limbs == 0) {
        word->real = value;
        return;
    }
    memset(word, 0, limbs * sizeof *word);
    if (value == 0)
        return;
    int lowest = gc_lowest_bit(value), place = lowest - unit;
    uint64_t mantissa = (uint64_t)ldexp(fabs(value), -lowest);
    size_t limb = (size_t)place / 64;
    word[limb].bits = mantissa << place % 64;
    if (place % 64 > 0 && limb + 1 < limbs)
        word[limb + 1].bits = mantissa >> (64 - place % 64);
    if (value < 0)
        negate(word, limbs);
}

void gc_words_load(const gc_chain *chain, const float *values, size_t count, gc_word *words)
{
    for (size_t i = 0; i < count; i++)
        set_word(chain, (double)values[i] * chain->denominator, chain->steps[0].unit,
                 words + i * gc_words(chain));
}

gc_word *gc_words_of_step(const gc_chain *chain, int s)
{
    const gc_step *step = &chain->steps[s];
    size_t count = gc_step_term_count(step), size = gc_words(chain);
    size_t first = step->column != NULL ? (size_t)step->height : count;
    gc_word *words = gc_allocate_array(count + GC_CHANNELS_MAX, size * sizeof *words);
    for (size_t i = 0; words != NULL && i < count; i++)
        set_word(chain, step->terms[i], i < first ? step->terms_unit : step->row_unit,
                 words + i * size);
    for (size_t c = 0; words != NULL && c < GC_CHANNELS_MAX; c++)
        set_word(chain, step->terms_border[c], step->unit, words + (count + c) * size);
    return words;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

/* A sum as doubles that do not overlap, in ascending order, all with its sign. Returns how many. */
static int parts_of(const gc_chain *chain, const gc_word *sum, double parts[GC_ROUNDING_PARTS])
{
    size_t limbs = (size_t)chain->limbs;
    gc_word number[GC_LIMBS_MAX];
    if (limbs == 0) {
        parts[0] = sum->real;
        return 1;
    }
    memcpy(number, sum, limbs * sizeof *number);
    bool is_negative = number[limbs - 1].bits >> 63 == 1;
    if (is_negative)
        negate(number, limbs);
    int count = 0;
    for (int i = 0; i < 2 * chain->limbs; i++) {
        double half = (double)(uint32_t)(number[i / 2].bits >> 32 * (i % 2));
        if (half > 0)
            parts[count++] = ldexp(is_negative ? -half : half, chain->unit + 32 * i);
    }
    if (count == 0)
        parts[count++] = 0;
    return count;
}

void gc_words_to_chain(const gc_chain *chain, const gc_word *sums, size_t count, float *values)
{
    double parts[GC_ROUNDING_PARTS];
    for (size_t i = 0; i < count; i++) {
        int parts_count = parts_of(chain, sums + i * gc_words(chain), parts);
        double sum = 0;
        for (int k = 0; k < parts_count; k++)
            sum += parts[k];
        values[i] = (float)(sum * chain->value_of_sum);
    }
}

void gc_set_sample(int depth, void *output, size_t index, uint32_t sample)
{
    uint8_t *byte = (uint8_t *)output + (depth == 1 ? index / 8 : index);
    int bit = 7 - (int)(index % 8);
    if (depth == 1)
        *byte = (uint8_t)((*byte & ~(1 << bit)) | (int)sample << bit);
    else if (depth == 8)
        *byte = (uint8_t)sample;
    else
        ((uint16_t *)output)[index] = (uint16_t)sample;
}

static void round_sum(const gc_problem *problem, const gc_word *sum, size_t index, void *output)
{
    const gc_conversion *conversion = &problem->conversion;
    const gc_rounding *r = &problem->rounding;
    int depth = conversion->output.depth;
    double parts[GC_ROUNDING_PARTS];
    int count = parts_of(&problem->chain, sum, parts);
    bool white = conversion->finds_edges && gc_parts_pass(r, parts, count) != conversion->invert;
    if (depth == 32)
        ((float *)output)[index] = !conversion->finds_edges
                                       ? gc_round_parts_to_float(r, parts, count)
                                   : white ? (float)conversion->sample_max
                                           : 0;
    else if (conversion->finds_edges)
        gc_set_sample(depth, output, index, white ? (1U << depth) - 1 : 0);
    else
        gc_set_sample(depth, output, index, gc_round_parts(r, parts, count));
}

void gc_words_round(const gc_problem *problem, const gc_word *sums, size_t count, void *output)
{
    size_t colours = (size_t)problem->chain.channels;
    size_t channels = (size_t)problem->conversion.output.channels;
    for (size_t i = 0; gc_words_round_once(problem) && i < count; i++)
        for (size_t c = 0; c < colours; c++)
            round_sum(problem, sums + (i * colours + c) * gc_words(&problem->chain),
                      i * channels + c, output);
}
