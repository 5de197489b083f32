/* Detectors: what finds edges in the values of a chain by any method but `laplace` (contract.md,
 * rules 100 to 104). Everything is computed in whole numbers. So each result is unique, whoever
 * computes it.
 *
 * The chain has whole weights (gc_make_weights_whole). Double holds its sums S without an error. A
 * detector works on values floor(S / 2^shift + 1/2), which int32_t holds, and so it does their
 * differences. Chains of whole weights have shift 0. */
#ifndef GC_CORE_DETECTOR_H
#define GC_CORE_DETECTOR_H

#include "core/chain.h"
#include "core/conversion.h"

enum { GC_OPERATOR_SIDE_MAX = 7 };

typedef struct gc_detector {
    gconv_detector asked;
    int shift;
    int32_t border; /* the value outside a constant border, and beside zero crossings */
    /* A gradient across is the sum of smooth[j] * slope[i] * value(x + i - side/2, y + j - side/2),
     * and one down the sum with i and j exchanged. Rounded to a multiple of 16, ties to even, if
     * `by_16`. `side` is 1, and both weights are 0, if the method needs no gradient. */
    int side;
    int32_t smooth[GC_OPERATOR_SIDE_MAX], slope[GC_OPERATOR_SIDE_MAX];
    bool by_16;
    gc_step stencil; /* with the size and the place alone of what one pixel is made from */
    int beside;      /* rows above and below a pixel whose magnitudes count beside its own */
    bool is_wide; /* squares of the norm L2, or products with the numbers below, exceed int32_t */
    /* A gradient lies across if |gy| * across < |gx| * tangent, and down if |gy| * across > |gx| *
     * (tangent + 2 across): sectors of 45 degrees. */
    int32_t across, tangent;
    /* A magnitude, or a difference of values, passes a threshold if it is greater. Those of the
     * norm L2 are squares. */
    int64_t low, high;
    double sample; /* what a magnitude of 1 is in samples of the input's depth */
} gc_detector;

/* Whether chain values go to a detector. Those of the method `laplace` become output by the
 * conversion alone. */
static inline bool gc_detects(const gc_detector *detector)
{
    return detector->asked.method != GCONV_METHOD_LAPLACE;
}

/* Whether the output depends on the whole image. */
static inline bool gc_detects_canny(const gc_detector *detector)
{
    return detector->asked.method == GCONV_METHOD_CANNY;
}

/* Replaces a filter by one of whole weights, unless its weights are whole: weights over 2^20, or of
 * a filter of rank 1 a column and a row over 2^18 each, for samples of 16 bits over 2^16. */
gconv_status gc_make_weights_whole(gconv_filter **filter, int depth, gconv_error *error);

/* Fills all but `asked`, which is read. GCONV_ERROR_FILTER if double does not hold the sums of the
 * chain. */
gconv_status gc_detector_create(const gconv_job *job, const gc_conversion *conversion,
                                const gc_chain *chain, gc_detector *detector, gconv_error *error);

/* What a detector works on, of a sum of the chain. */
static inline int32_t gc_detector_value(const gc_detector *detector, double sum)
{
    int64_t half = detector->shift > 0 ? (int64_t)1 << (detector->shift - 1) : 0;
    return (int32_t)(((int64_t)sum + half) >> detector->shift);
}

/* Stores what was found of `count` pixels as a row of output: of edges 0 or 1, else magnitudes.
 * They are int64_t, or int32_t. */
void gc_detector_store(const gc_detector *detector, const gc_conversion *conversion,
                       const void *found, bool are_wide, size_t count, void *output);

/* The rows of chain values, from *first to *last, that output rows `first` to `last` depend on. As
 * gc_step_range for a step. */
void gc_detector_range(const gc_chain *chain, const gc_detector *detector, int64_t *first,
                       int64_t *last);

#endif
