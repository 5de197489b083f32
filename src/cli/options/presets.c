#include "cli/options/presets.h"

#include "base/status.h"
#include "cli/options/sample_kinds.h"
#include "cli/options/table.h"
#include "cli/options/words.h"

#define STEPS "cpu,naive,shared,const,tiled,adaptive"

static const gc_preset presets[] = {
    /* KTH 2018, tables 2 and 3, figures 8 and 9. */
    {"kth", "256,512,1024,2048,4096", "3,5", "reference," STEPS, "grey8", "zero", 60},
    /* Abramov 2011: a Gaussian of radius 8 on RGB images. */
    {"lecture", "400,2000", "rank1:17", "reference,cpu,naive,naive:const,const,twopass", "rgb8",
     "zero", 20},
    /* van Werkhoven et al. 2011, figures 2, 3, 5, 6 and 8. */
    {"adaptive-2011", "4096", "7..43x7..43", "naive:const,const,tiled:nopad,tiled,adaptive",
     "grey8", "zero", 120},
    /* van Werkhoven et al. 2014, figures 3, 5, 6, 9 to 11 and 14. */
    {"adaptive-2014", "4096", "3..43x3..43",
     "naive,const,tiled:nopad,tiled,adaptive,adaptive:nc,adaptive:ours", "grey8", "zero", 120},
    /* The kernels and the CPU methods of gconv. */
    {"ours", "4096", "3..17,21,25,31,43,rank1:5,rank1:9,rank1:17,rank1:31,rank1:43",
     "cpu,direct,separable,fused,tensor,tilefft,fft", "grey8", "mirror", 60},
    {"quick", "2048", "3,5,9,17,rank1:9", STEPS ",direct,separable,tensor", "grey8", "mirror", 15},
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
    gconv_status status = GCONV_OK;
    if (options->samples == 0)
        status = gc_read_sample_kinds(preset->samples, &options->samples, error);
    if (status == GCONV_OK && !gc_option_given(options, "border"))
        status = gconv_border_parse(preset->border, &options->job.border,
                                    &options->job.border_value, error);
    return status;
}
