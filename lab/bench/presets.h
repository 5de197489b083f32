/* --preset: experiments of the sources, as options of `bench`. */
#pragma once

#include "cli/options/options.h"

/* A thread block of the source, and the implementations that get it. Others have their own: those
 * that choose it by a rule or a table, too. */
typedef struct gc_preset_block {
    int width, height;
    const char *names; /* with commas; NULL: none */
} gc_preset_block;

enum { GC_PRESET_BLOCKS = 2 };

typedef struct gc_preset {
    const char *name;
    /* Transforms of lines are measured. Sizes, filters, samples and border are NULL. */
    bool has_transforms;
    const char *sizes, *filters; /* as --sizes and --filters take them */
    const char *implementations; /* as --impl takes them */
    /* Of these, with commas, what is measured with filters of full rank alone, and of rank 1 alone;
     * NULL: none. */
    const char *full_rank, *rank1;
    const char *samples, *border; /* as --samples and --border take them */
    double time;                  /* as --time */
    bool has_steps;  /* the implementations are steps, each faster than the one before */
    bool has_theory; /* its source predicts rates: theory.h */
    bool has_roofs;  /* the roofs of the processors are measured */
    gc_preset_block blocks[GC_PRESET_BLOCKS];
} gc_preset;

/* The preset of this name. If there is none, NULL, with a message. */
const gc_preset *gc_preset_named(const char *name, gconv_error *error);

/* Sets the options that a preset stands for, if the command line leaves them open. */
gconv_status gc_preset_apply(const gc_preset *preset, gc_options *options, gconv_error *error);

/* Whether an implementation is measured with filters of this rank: always, unless the
 * implementations are those of a preset that says otherwise. */
bool gc_preset_measures(const gc_options *options, const char *implementation, bool rank1);

/* The tiling that options say for an implementation. If --preset is given with a block for it, and
 * --block is not, it has that block. */
gconv_tiling gc_preset_tiling(const gc_options *options, const char *implementation);

enum { GC_PRESET_TEXT_BYTES = 512 };

/* Says for whom of these names the preset has which thread block, in sentences behind a space; ""
 * if it has none, or --block is given. */
void gc_preset_describe_blocks(const gc_options *options, const char *const *names, int count,
                               char text[GC_PRESET_TEXT_BYTES]);
