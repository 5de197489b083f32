#include "cpu/instructions/instructions.h"

#include "base/sized.h"
#include "base/status.h"
#include "base/x86.h"
#include "cpu/cost.h"

#include <stdlib.h>
#include <string.h>

#if GC_HAS_FAST
/* The loops of a set, and the members of gc_instructions that are so called in every set. SECONDS
 * is the name of the set in cpu/cost.h. */
#define DECLARE(set)                                                                               \
    extern const gc_taps_loops gc_taps_##set;                                                      \
    extern const struct gc_detector_loops gc_detector_##set;                                       \
    extern const struct gc_samples_loops gc_samples_##set;                                         \
    extern const struct gc_edges_loops gc_edges_##set;                                             \
    extern const struct gc_rank1_loops gc_rank1_##set;                                             \
    extern const struct gc_box_loops gc_box_##set;                                                 \
    extern const struct gc_transform_loops gc_transform_##set, gc_transform_double_##set;
#define LOOPS(set, SECONDS)                                                                        \
    .taps = &gc_taps_##set, .tap_seconds = GC_TAP_SECONDS_##SECONDS,                               \
    .matrix_factor = GC_MATRIX_FACTOR_##SECONDS, .detector = &gc_detector_##set,                   \
    .samples = &gc_samples_##set, .edges = &gc_edges_##set, .box = &gc_box_##set,                  \
    .row_seconds = GC_ROW_TAP_SECONDS_##SECONDS,                                                   \
    .transforms = {&gc_transform_##set, GC_TRANSFORM_SECONDS_##SECONDS},                           \
    .exact_transforms = {&gc_transform_double_##set, GC_TRANSFORM_DOUBLE_SECONDS_##SECONDS}
DECLARE(portable)
#else
extern const gc_taps_loops gc_taps_portable;
extern const struct gc_detector_loops gc_detector_portable;
#endif

static bool always(void)
{
    return true;
}

#if GC_HAS_X86_LOOPS
DECLARE(avx512)
DECLARE(avx2)
extern const struct gc_edge_bytes_loops gc_edge_bytes_avx2; /* of AVX-512, too */
extern const struct gc_rank1_loops gc_rank1_avx512vnni;
extern const struct gc_bytes_loops gc_bytes_avx512vnni;

static bool has_avx512(void)
{
    return gc_x86_has(AVX512F, "avx512f") && gc_x86_has(AVX512BW, "avx512bw") &&
           gc_x86_has(AVX512DQ, "avx512dq") && gc_x86_has(AVX512VL, "avx512vl");
}

static bool has_avx512vnni(void)
{
    return has_avx512() && gc_x86_has(AVX512_VNNI, "avx512vnni");
}

static bool has_avx2(void)
{
    return gc_x86_has(AVX2, "avx2") && gc_x86_has(FMA, "fma");
}
#endif

#if GC_HAS_NEON_LOOPS
extern const struct gc_edge_bytes_loops gc_edge_bytes_neon;
extern const struct gc_rank1_loops gc_rank1_neon;
#endif

static const gc_instructions instructions[] = {
#if GC_HAS_X86_LOOPS
    {.name = "avx512vnni",
     .usable = has_avx512vnni,
     LOOPS(avx512, AVX512),
     .edge_bytes = &gc_edge_bytes_avx2,
     .rank1 = &gc_rank1_avx512vnni,
     .bytes = &gc_bytes_avx512vnni},
    {.name = "avx512",
     .usable = has_avx512,
     LOOPS(avx512, AVX512),
     .edge_bytes = &gc_edge_bytes_avx2,
     .rank1 = &gc_rank1_avx512},
    {.name = "avx2",
     .usable = has_avx2,
     LOOPS(avx2, AVX2),
     .edge_bytes = &gc_edge_bytes_avx2,
     .rank1 = &gc_rank1_avx2},
#endif
#if GC_HAS_NEON_LOOPS /* every 64-bit ARM has NEON, and compilers use it for portable loops */
    {.name = "neon",
     .usable = always,
     LOOPS(portable, NEON),
     .edge_bytes = &gc_edge_bytes_neon,
     .rank1 = &gc_rank1_neon},
#endif
#if GC_HAS_FAST
    {.name = "portable", .usable = always, LOOPS(portable, PORTABLE), .rank1 = &gc_rank1_portable},
#else
    {.name = "portable",
     .usable = always,
     .taps = &gc_taps_portable,
     .detector = &gc_detector_portable,
     .tap_seconds = GC_TAP_SECONDS_PORTABLE,
     .matrix_factor = GC_MATRIX_FACTOR_PORTABLE},
#endif
};

int gc_instructions_count(void)
{
    return sizeof instructions / sizeof instructions[0];
}

const gc_instructions *gc_instructions_at(int index)
{
    return index >= 0 && index < gc_instructions_count() ? &instructions[index] : NULL;
}

const gc_instructions *gc_instructions_chosen(void)
{
    const char *wanted = getenv("GCONV_INSTRUCTIONS");
    const gc_instructions *best = NULL;
    for (int i = gc_instructions_count() - 1; i >= 0; i--) {
        if (!instructions[i].usable())
            continue;
        best = &instructions[i];
        if (wanted != NULL && strcmp(wanted, best->name) == 0)
            break;
    }
    return best;
}

/* ---- The public interface -------------------------------------------------------------------- */

int gconv_instructions_count(void)
{
    return gc_instructions_count();
}

gconv_status gconv_instructions_describe(int index, gconv_instructions_info *info,
                                         gconv_error *error)
{
    const gc_instructions *set = gc_instructions_at(index);
    if (set == NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "there is no instruction set %d", index);
    gconv_instructions_info known = {
        .name = set->name, .usable = set->usable(), .chosen = set == gc_instructions_chosen()};
    return gc_sized_fill(info, "gconv_instructions_info", &known, sizeof known, error);
}
