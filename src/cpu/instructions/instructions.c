#include "cpu/instructions/instructions.h"

#include "base/sized.h"
#include "base/status.h"
#include "cpu/cost.h"

#include <stdlib.h>
#include <string.h>

extern const gc_taps_loops gc_taps_portable;
extern const gc_samples_loops gc_samples_portable;
extern const gc_transform_loops gc_transform_portable, gc_transform_double_portable;
extern const gc_edges_loops gc_edges_portable;
extern const gc_rank1_loops gc_rank1_portable;
extern const gc_box_loops gc_box_portable;

static bool always(void)
{
    return true;
}

#if GC_HAS_X86_LOOPS
extern const gc_taps_loops gc_taps_avx512, gc_taps_avx2;
extern const gc_samples_loops gc_samples_avx512, gc_samples_avx2;
extern const gc_transform_loops gc_transform_avx512, gc_transform_avx2;
extern const gc_transform_loops gc_transform_double_avx512, gc_transform_double_avx2;
extern const gc_edges_loops gc_edges_avx512, gc_edges_avx2;
extern const gc_rank1_loops gc_rank1_avx512vnni, gc_rank1_avx512, gc_rank1_avx2;
extern const gc_box_loops gc_box_avx512, gc_box_avx2;

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

extern gc_bytes_function *const gc_bytes_avx512vnni;

static bool has_avx512vnni(void)
{
    return has_avx512() && __builtin_cpu_supports("avx512vnni");
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif

static const gc_instructions instructions[] = {
#if GC_HAS_X86_LOOPS
    {
        .name = "avx512vnni",
        .usable = has_avx512vnni,
        .taps = &gc_taps_avx512,
        .samples = &gc_samples_avx512,
        .edges = &gc_edges_avx512,
        .rank1 = &gc_rank1_avx512vnni,
        .box = &gc_box_avx512,
        .bytes = &gc_bytes_avx512vnni,
        .tap_seconds = GC_TAP_SECONDS_AVX512,
        .row_seconds = GC_ROW_TAP_SECONDS,
        .transforms = {&gc_transform_avx512, GC_TRANSFORM_SECONDS_AVX512},
        .exact_transforms = {&gc_transform_double_avx512, GC_TRANSFORM_DOUBLE_SECONDS_AVX512},
    },
    {
        .name = "avx512",
        .usable = has_avx512,
        .taps = &gc_taps_avx512,
        .samples = &gc_samples_avx512,
        .edges = &gc_edges_avx512,
        .rank1 = &gc_rank1_avx512,
        .box = &gc_box_avx512,
        .tap_seconds = GC_TAP_SECONDS_AVX512,
        .row_seconds = GC_ROW_TAP_SECONDS,
        .transforms = {&gc_transform_avx512, GC_TRANSFORM_SECONDS_AVX512},
        .exact_transforms = {&gc_transform_double_avx512, GC_TRANSFORM_DOUBLE_SECONDS_AVX512},
    },
    {
        .name = "avx2",
        .usable = has_avx2,
        .taps = &gc_taps_avx2,
        .samples = &gc_samples_avx2,
        .edges = &gc_edges_avx2,
        .rank1 = &gc_rank1_avx2,
        .box = &gc_box_avx2,
        .tap_seconds = GC_TAP_SECONDS_AVX2,
        .row_seconds = GC_ROW_TAP_SECONDS,
        .transforms = {&gc_transform_avx2, GC_TRANSFORM_SECONDS_AVX2},
        .exact_transforms = {&gc_transform_double_avx2, GC_TRANSFORM_DOUBLE_SECONDS_AVX2},
    },
#endif
    {
        .name = "portable",
        .usable = always,
        .taps = &gc_taps_portable,
        .samples = &gc_samples_portable,
        .edges = &gc_edges_portable,
        .rank1 = &gc_rank1_portable,
        .box = &gc_box_portable,
        .tap_seconds = GC_TAP_SECONDS_PORTABLE,
        .row_seconds = GC_ROW_TAP_SECONDS_PORTABLE,
        .transforms = {&gc_transform_portable, GC_TRANSFORM_SECONDS_PORTABLE},
        .exact_transforms = {&gc_transform_double_portable, GC_TRANSFORM_DOUBLE_SECONDS_PORTABLE},
    },
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
