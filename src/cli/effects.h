/* Options that were given and changed nothing. */
#ifndef GC_CLI_EFFECTS_H
#define GC_CLI_EFFECTS_H

#include "cli/process.h"

/* What was met that options have an effect on, as bits. */
enum {
    GC_MET_JPEG = 1,
    GC_MET_PNG = 2,
    GC_MET_METADATA = 4, /* an output that can hold them */
    GC_MET_ALPHA = 8,
    GC_MET_EDGES = 16, /* the chain of edges */
    GC_MET_DIRECTORY = 32,
    GC_MET_THREADS = 64, /* an implementation that follows --threads, or several images */
    GC_MET_BLOCK = 128,
    GC_MET_TILE = 256,
};

/* What one implementation follows. */
unsigned gc_met_implementation(const char *name);

/* What an output's format holds. */
unsigned gc_met_format(gconv_format format);

/* Names, under -v, the options that were given and have an effect on nothing that was met. */
void gc_note_effects(const gc_options *options, unsigned met);

#endif
