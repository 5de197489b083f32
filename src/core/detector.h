/* Detectors find edges in the values of a chain by any method but `laplace` (contract.md, rules 100
 * to 104). They compute in whole numbers, so every implementation gives the same result.
 *
 * The chain has whole weights (gc_make_weights_whole). Double holds its sums S without an error. A
 * detector works on the values floor(S / 2^shift + 1/2). int32_t holds these values and their
 * differences. Chains of whole weights have shift 0. */
#pragma once

#include "core/chain.h"
#include "core/conversion.h"
#include "core/rounding.h"

enum { GC_OPERATOR_SIDE_MAX = 7 };

typedef struct gc_detector {
    gconv_detector asked;
    int shift;
    int32_t border; /* the value outside a constant border, and beside zero crossings */
    /* The horizontal gradient is the sum of smooth[j] * slope[i] * value(x + i - side/2, y + j -
     * side/2). The vertical gradient has i and j exchanged. If `by_16`, both are rounded to a
     * multiple of 16, ties to even. `side` is 1, and both weights are 0, if the method needs no
     * gradient. */
    int side;
    int32_t smooth[GC_OPERATOR_SIDE_MAX], slope[GC_OPERATOR_SIDE_MAX];
    bool by_16;
    gc_step stencil; /* size and place of the values that decide a pixel; no weights */
    int beside;      /* rows above and below a pixel whose magnitudes decide about it, too */
    double gradient; /* the largest magnitude of one in one direction */
    bool is_wide; /* squares for the norm L2, or products with the numbers below, exceed int32_t */
    /* A gradient lies across if |gy| * across < |gx| * tangent, and down if |gy| * across > |gx| *
     * (tangent + 2 across): sectors of 45 degrees. */
    int32_t across, tangent;
    /* Thresholds of magnitudes, or of differences between values, which have to be greater. For the
     * norm L2 they are squares. */
    int64_t low, high;
    double level; /* the magnitude of 1 sample of the input's depth: a quotient rounds once */
    gc_rounding rounding; /* of a magnitude to a sample */
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

/* Replaces a filter whose weights are not whole by one whose weights are. They are multiplied by
 * 2^20 and rounded. If the filter has rank 1, its column and its row are multiplied by 2^18 each
 * (2^16 if samples have 16 bits). */
gconv_status gc_make_weights_whole(gconv_filter **filter, int depth, gconv_error *error);

/* Fills the detector from its `asked`, which the caller has set. GCONV_ERROR_FILTER if double does
 * not hold the sums of the chain. */
gconv_status gc_detector_create(const gconv_job *job, const gc_conversion *conversion,
                                const gc_chain *chain, gc_detector *detector, gconv_error *error);

/* The value that a detector makes of a sum of the chain. */
static inline int32_t gc_detector_value(const gc_detector *detector, double sum)
{
    int64_t half = detector->shift > 0 ? (int64_t)1 << (detector->shift - 1) : 0;
    return (int32_t)(((int64_t)sum + half) >> detector->shift);
}

/* Stores a row of output from what was found of `count` pixels: 0 or 1 for edges, else magnitudes.
 * `found` has int64_t if `are_wide`, else int32_t. */
void gc_detector_store(const gc_detector *detector, const gc_conversion *conversion,
                       const void *found, bool are_wide, size_t count, void *output);

/* Widens output rows *first to *last to the rows of chain values that they depend on, as
 * gc_step_range does for a step. */
void gc_detector_range(const gc_chain *chain, const gc_detector *detector, int64_t *first,
                       int64_t *last);
