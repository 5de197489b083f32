#include "lab/bench/presets.h"

#include "base/status.h"
#include "cli/options/implementations.h"
#include "cli/options/table.h"

#include <stdio.h>
#include <string.h>

#define STEPS "cpu,naive,shared,const,tiled,adaptive"
/* Methods of the CPU that take filters of the presets, each if it can. */
#define CPU_METHODS "cpu,cpu:taps,cpu:bytes,cpu:products,cpu:tiles"
/* Filters that are not square, of sides all over the range of fft-map. */
#define RECTANGLES                                                                                 \
    "3x9,3x17,3x31,3x47,3x63,9x3,9x17,9x31,9x47,9x63,17x3,17x9,17x31,17x47,17x63,31x3,31x9,31x17," \
    "31x47,31x63,47x3,47x9,47x17,47x31,47x63,63x3,63x9,63x17,63x31,63x47"

static const gc_preset presets[] = {
    /* KTH 2018, tables 2 and 3, figures 4, 8 and 9, equations 9 to 14. */
    {.name = "kth",
     .sizes = "256,512,1024,2048,4096",
     .filters = "3,5,rank1:5",
     .implementations =
         "reference," STEPS ",const:kth,adaptive:kth,twopass:kth,twopass,twopass:transposed",
     .full_rank = "naive,shared,tiled,const:kth,adaptive:kth",
     .rank1 = "twopass:kth,twopass,twopass:transposed",
     .samples = "grey8",
     .border = "zero",
     .time = 60,
     .has_steps = true,
     .has_theory = true,
     .blocks = {{32, 32, "naive,shared,const,const:kth,tiled,adaptive"}}},
    /* Abramov 2011, RGB images: a filter of rank 1 with the sides of its Gaussian of radius 8. */
    {.name = "lecture",
     .sizes = "400,2000",
     .filters = "rank1:17",
     .implementations =
         "reference,cpu,naive,naive:lecture,const:lecture,twopass:lecture,twopass:lecture1d,"
         "naive:const,const,twopass",
     .samples = "rgb8",
     .border = "zero",
     .time = 20,
     .has_steps = true,
     .blocks = {{16, 16, "naive,naive:const,const"}}},
    /* van Werkhoven et al. 2011, figures 2 (naive:const), 3 (const), 5 (tiled:nopad, factors 2 and
     * 4), 6 (tiled), 7 (tiled, 32x32) and 8 (adaptive). Rows of const are not padded. The text has
     * the block of figure 8c alone: those of 8a and 8b are ours. */
    {.name = "adaptive-2011",
     .sizes = "4096",
     .filters = "7..43x7..43",
     .implementations = "cpu,naive:const,const,const:32x32,tiled:nopad:16x16x2,tiled:nopad,"
                        "tiled:16x16x2,tiled,tiled:32x32x2,tiled:32x32x4,adaptive:16x16,"
                        "adaptive:32x32,adaptive",
     .samples = "grey8",
     .border = "zero",
     .time = 120,
     .blocks = {{16, 16, "naive:const,const,tiled:nopad,tiled"}, {16, 32, "adaptive"}}},
    /* van Werkhoven et al. 2014, figures 3 (const), 5 (tiled), 6 (tiled:nopad), 9 and 10 (tiled,
     * 16x16), 11, 12 and 14 to 16; of rank 1, table 1 and figure 13 (twopass:tiled). */
    {.name = "adaptive-2014",
     .sizes = "4096",
     .filters = "3..43x3..43,rank1:3..43",
     .implementations =
         "cpu,naive,const:16x16,const,tiled:nopad:16x16x2,tiled:nopad,tiled:16x16x2,tiled:16x16x4,"
         "tiled:32x32x2,tiled,adaptive,adaptive:nc,adaptive:unrolled,adaptive:unrolled:nc,"
         "const:hwu,twopass,"
         "twopass:tiled:x1,twopass:tiled:x4,twopass:tiled:x8,twopass:tiled:x16,twopass:tiled",
     .full_rank = "naive,const:16x16,const,tiled:nopad:16x16x2,tiled:nopad,tiled:16x16x2,"
                  "tiled:16x16x4,tiled:32x32x2,tiled,adaptive:nc,adaptive:unrolled:nc,const:hwu",
     .rank1 = "twopass,twopass:tiled:x1,twopass:tiled:x4,twopass:tiled:x8,twopass:tiled:x16,"
              "twopass:tiled",
     .samples = "grey8",
     .border = "zero",
     .time = 120,
     .blocks = {{16, 16, "tiled:nopad"}, {32, 32, "naive,const,tiled,adaptive,adaptive:nc"}}},
    /* van Werkhoven et al. 2014, figure 17: the sizes from which transforms are faster than sums,
     * for whole images and for tiles, by weights of full rank and of rank 1. */
    {.name = "fft-map",
     .sizes = "256,1024,4096",
     .filters = "3..63," RECTANGLES ",rank1:3..63",
     .implementations = CPU_METHODS ",adaptive:unrolled,direct,separable,tensor,tilefft,fft",
     .samples = "grey8",
     .border = "mirror",
     .time = 120},
    /* De Smet 2011, table 1: the rate that the bandwidth of the memory allows a transform, and what
     * is reached. */
    {.name = "fft-locality",
     .has_transforms = true,
     .implementations = "cpu,fft",
     .time = 20,
     .has_theory = true},
    /* Arithmetic intensity against what is reached (KTH 2018, section 4; van Werkhoven et al. 2014,
     * section 2). */
    {.name = "roofline",
     .sizes = "1024,4096",
     .filters = "3,5,9,17,31,rank1:9",
     .implementations = CPU_METHODS ",naive,shared,const,tiled,adaptive,adaptive:unrolled,twopass,"
                                    "twopass:tiled,direct,separable,tensor,fused,tilefft,fft",
     .samples = "grey8",
     .border = "zero",
     .time = 60,
     .has_roofs = true},
    /* The kernels and the CPU methods of gconv. */
    {.name = "ours",
     .sizes = "4096",
     .filters = "3..17,21,25,31,43,rank1:5,rank1:9,rank1:17,rank1:31,rank1:43",
     .implementations = CPU_METHODS ",direct,separable,fused,tensor,tilefft,fft",
     .samples = "grey8",
     .border = "mirror",
     .time = 60},
    {.name = "quick",
     .sizes = "2048",
     .filters = "3,5,9,17,rank1:9",
     .implementations = CPU_METHODS ",naive,shared,const,tiled,adaptive,direct,separable,tensor",
     .samples = "grey8",
     .border = "mirror",
     .time = 15},
};
enum { PRESET_COUNT = sizeof presets / sizeof presets[0] };

const gc_preset *gc_preset_named(const char *name, gconv_error *error)
{
    for (int i = 0; i < PRESET_COUNT; i++)
        if (strcmp(presets[i].name, name) == 0)
            return &presets[i];
    gc_fail(error, GCONV_ERROR_ARGUMENT, "'%s' is no preset", name);
    return NULL;
}

/* Refuses options that say what is convolved, if nothing is. */
static gconv_status check_convolves(const gc_preset *preset, const gc_options *options,
                                    gconv_error *error)
{
    const char *given = gc_option_marked(options, GC_OPTION_CONVOLVES);
    if (preset->has_transforms && given != NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "option '--%s': the preset '%s' convolves no images", given, preset->name);
    return GCONV_OK;
}

gconv_status gc_preset_apply(const gc_preset *preset, gc_options *options, gconv_error *error)
{
    if (options->measure.sizes == NULL)
        options->measure.sizes = preset->sizes;
    if (options->measure.filters == NULL && options->kernel_count == 0)
        options->measure.filters = preset->filters;
    if (options->implementations == NULL)
        options->implementations = preset->implementations;
    if (options->measure.time == 0)
        options->measure.time = preset->time;
    gconv_status status = check_convolves(preset, options, error);
    if (preset->has_transforms)
        return status;
    if (options->measure.samples == NULL)
        options->measure.samples = preset->samples;
    if (status == GCONV_OK && !gc_option_given(options, "border"))
        status =
            gconv_border_parse(preset->border, &options->job.border, &options->job.border_value,
                               &options->job.border_denominator, error);
    return status;
}

/* Whether a list that may be NULL has a name. */
static bool has_name(const char *list, const char *wanted)
{
    char name[GC_NAME_BYTES];
    while (gc_next_name(&list, name))
        if (strcmp(name, wanted) == 0)
            return true;
    return false;
}

bool gc_preset_measures(const gc_options *options, const char *implementation, bool rank1)
{
    if (options->measure.preset == NULL || gc_option_given(options, "impl"))
        return true;
    const gc_preset *preset = gc_preset_named(options->measure.preset, NULL);
    return !has_name(rank1 ? preset->full_rank : preset->rank1, implementation);
}

gconv_tiling gc_preset_tiling(const gc_options *options, const char *implementation)
{
    gconv_tiling tiling = options->tiling;
    if (options->measure.preset == NULL || gc_option_given(options, "block"))
        return tiling;
    const gc_preset *preset = gc_preset_named(options->measure.preset, NULL);
    for (int i = 0; i < GC_PRESET_BLOCKS; i++)
        if (has_name(preset->blocks[i].names, implementation)) {
            tiling.block_width = preset->blocks[i].width;
            tiling.block_height = preset->blocks[i].height;
        }
    return tiling;
}

/* The names that get a block, and the block in front of the first. */
static void describe_block(const gc_preset_block *block, const char *const *names, int count,
                           FILE *stream)
{
    bool any = false;
    for (int i = 0; i < count; i++) {
        if (!has_name(block->names, names[i]))
            continue;
        if (any)
            fprintf(stream, ", %s", names[i]);
        else
            fprintf(stream, " Thread blocks of %dx%d: %s", block->width, block->height, names[i]);
        any = true;
    }
    fputs(any ? "." : "", stream);
}

void gc_preset_describe_blocks(const gc_options *options, const char *const *names, int count,
                               char text[GC_PRESET_TEXT_BYTES])
{
    text[0] = '\0';
    if (options->measure.preset == NULL || gc_option_given(options, "block"))
        return;
    const gc_preset *preset = gc_preset_named(options->measure.preset, NULL);
    FILE *stream = fmemopen(text, GC_PRESET_TEXT_BYTES, "w");
    for (int i = 0; stream != NULL && i < GC_PRESET_BLOCKS; i++)
        describe_block(&preset->blocks[i], names, count, stream);
    if (stream != NULL)
        fclose(stream);
}
