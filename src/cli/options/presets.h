/* --preset: experiments of the sources, as options of `bench`. */
#ifndef GC_CLI_OPTIONS_PRESETS_H
#define GC_CLI_OPTIONS_PRESETS_H

#include "cli/options/options.h"

typedef struct gc_preset {
    const char *name;
    const char *sizes, *filters;  /* as --sizes and --filters take them */
    const char *implementations;  /* as --impl takes them */
    const char *samples, *border; /* as --samples and --border take them */
    double time;                  /* as --time */
} gc_preset;

/* The preset of this name. Where there is none, NULL, with a message. */
const gc_preset *gc_preset_named(const char *name, gconv_error *error);

/* Sets the options that a preset stands for, where the command line leaves them open. */
gconv_status gc_preset_apply(const gc_preset *preset, gc_options *options, gconv_error *error);

#endif
