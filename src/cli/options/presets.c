#include "cli/options/presets.h"

#include "base/status.h"
#include "cli/options/implementations.h"
#include "cli/options/sample_kinds.h"
#include "cli/options/table.h"
#include "cli/options/words.h"

#include <string.h>

#define STEPS "cpu,naive,shared,const,tiled,adaptive"

static const gc_preset presets[] = {
    /* KTH 2018, tables 2 and 3, figures 8 and 9. */
    {.name = "kth",
     .sizes = "256,512,1024,2048,4096",
     .filters = "3,5",
     .implementations = "reference," STEPS ",adaptive:kth",
     .samples = "grey8",
     .border = "zero",
     .time = 60,
     .has_steps = true,
     .has_theory = true,
     .blocks = {{32, 32, "naive,shared,const,tiled,adaptive"}}},
    /* Abramov 2011: a Gaussian of radius 8 on RGB images. */
    {.name = "lecture",
     .sizes = "400,2000",
     .filters = "rank1:17",
     .implementations =
         "reference,cpu,naive,naive:const,const,twopass:lecture,twopass:lecture1d,twopass",
     .samples = "rgb8",
     .border = "zero",
     .time = 20,
     .has_steps = true,
     .blocks = {{16, 16, "naive,naive:const,const"}}},
    /* van Werkhoven et al. 2011, figures 2, 3, 5, 6 and 8. */
    {.name = "adaptive-2011",
     .sizes = "4096",
     .filters = "7..43x7..43",
     .implementations = "cpu,naive:const,const,tiled:nopad,tiled,adaptive",
     .samples = "grey8",
     .border = "zero",
     .time = 120,
     .blocks = {{16, 16, "naive:const,const,tiled:nopad,tiled"}, {16, 32, "adaptive"}}},
    /* van Werkhoven et al. 2014, figures 3, 5, 6, 9 to 12 and 14. */
    {.name = "adaptive-2014",
     .sizes = "4096",
     .filters = "3..43x3..43",
     .implementations =
         "cpu,naive,const,tiled:nopad,tiled,adaptive,adaptive:nc,adaptive:ours,adaptive:unrolled",
     .samples = "grey8",
     .border = "zero",
     .time = 120,
     .blocks = {{16, 16, "tiled:nopad"}, {32, 32, "naive,const,tiled,adaptive,adaptive:nc"}}},
    /* van Werkhoven et al. 2014, figure 17: where transforms are faster than sums, for whole images
     * and for tiles, by weights of full rank and of rank 1. */
    {.name = "fft-map",
     .sizes = "256,1024,4096",
     .filters = "3..63,rank1:3..63",
     .implementations = "cpu,direct,separable,tensor,tilefft,fft",
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
     * section 3). */
    {.name = "roofline",
     .sizes = "1024,4096",
     .filters = "3,5,9,17,31,rank1:9",
     .implementations = STEPS ",twopass,direct,separable,tensor,fused,tilefft,fft",
     .samples = "grey8",
     .border = "zero",
     .time = 60},
    /* The kernels and the CPU methods of gconv. */
    {.name = "ours",
     .sizes = "4096",
     .filters = "3..17,21,25,31,43,rank1:5,rank1:9,rank1:17,rank1:31,rank1:43",
     .implementations = "cpu,direct,separable,fused,tensor,tilefft,fft",
     .samples = "grey8",
     .border = "mirror",
     .time = 60},
    {.name = "quick",
     .sizes = "2048",
     .filters = "3,5,9,17,rank1:9",
     .implementations = STEPS ",direct,separable,tensor",
     .samples = "grey8",
     .border = "mirror",
     .time = 15},
};
enum { PRESET_COUNT = sizeof presets / sizeof presets[0] };

const gc_preset *gc_preset_named(const char *name, gconv_error *error)
{
    gc_word words[PRESET_COUNT];
    int index;
    for (int i = 0; i < PRESET_COUNT; i++)
        words[i] = (gc_word){presets[i].name, i};
    if (gc_read_word(words, PRESET_COUNT, name, &index, error) != GCONV_OK)
        return NULL;
    return &presets[index];
}

/* Refuses options that say what is convolved, where nothing is. */
static gconv_status check_convolves(const gc_preset *preset, const gc_options *options,
                                    gconv_error *error)
{
    static const char *const names[] = {"kernel",    "sizes", "filters", "samples",      "border",
                                        "correlate", "tile",  "block",   "shared-memory"};
    for (size_t i = 0; preset->has_transforms && i < sizeof names / sizeof names[0]; i++)
        if (gc_option_given(options, names[i]))
            return gc_fail(error, GCONV_ERROR_ARGUMENT,
                           "option '--%s': the preset '%s' convolves no images", names[i],
                           preset->name);
    return GCONV_OK;
}

gconv_status gc_preset_apply(const gc_preset *preset, gc_options *options, gconv_error *error)
{
    if (options->sizes == NULL)
        options->sizes = preset->sizes;
    if (options->filters == NULL && options->kernel_count == 0)
        options->filters = preset->filters;
    if (options->implementations == NULL)
        options->implementations = preset->implementations;
    if (options->time == 0)
        options->time = preset->time;
    gconv_status status = check_convolves(preset, options, error);
    if (preset->has_transforms)
        return status;
    if (options->samples == 0)
        status = gc_read_sample_kinds(preset->samples, &options->samples, error);
    if (status == GCONV_OK && !gc_option_given(options, "border"))
        status = gconv_border_parse(preset->border, &options->job.border,
                                    &options->job.border_value, error);
    return status;
}

void gc_preset_set_block(const gc_options *options, const char *implementation, gconv_job *job)
{
    if (options->preset == NULL || gc_option_given(options, "block"))
        return;
    const gc_preset *preset = gc_preset_named(options->preset, NULL);
    for (int i = 0; i < GC_PRESET_BLOCKS; i++) {
        const char *names = preset->blocks[i].names;
        char name[GC_NAME_BYTES];
        while (gc_next_name(&names, name))
            if (strcmp(name, implementation) == 0) {
                job->block_width = preset->blocks[i].width;
                job->block_height = preset->blocks[i].height;
            }
    }
}
