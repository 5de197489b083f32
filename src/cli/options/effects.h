/* Options that were given and had no effect. */
#pragma once

#include "cli/options/options.h"
#include "gconv.h"

/* Things that options affect, as bits. A command collects the bits of the things that it met. */
enum {
    GC_MET_QUALITY = 1,
    GC_MET_COMPRESSION = 2,
    GC_MET_METADATA = 4, /* an output that can hold metadata */
    GC_MET_ALPHA = 8,
    GC_MET_EDGES = 16, /* edges were found */
    GC_MET_DIRECTORY = 32,
    GC_MET_THREADS = 64, /* an implementation that follows --threads ran, or several images did */
    GC_MET_BLOCK = 128,
    GC_MET_TILE = 256,
    GC_MET_DECODER = 512, /* a JPEG came, and a GPU computed it or libjpeg-turbo was asked for */
    GC_MET_SHARED = 1024,
    GC_MET_FLOATS = 2048,     /* as an input */
    GC_MET_BACKGROUND = 4096, /* transparent pixels were put on a background */
    GC_MET_PAGES = 8192,      /* an input that may have several */
    GC_MET_CHROMA = 16384,    /* an output whose colours may have a lower resolution */
    GC_MET_SCANS = 32768,     /* an output that may be progressive */
    GC_MET_VIDEO = 65536,     /* a Y4M as an input */
    GC_MET_MISSING = 131072,  /* samples that a TIFF says are missing */
};

/* The bits of an implementation: the options that it follows. */
unsigned gc_met_implementation(const char *name);

/* The bits of an output in this format. */
unsigned gc_met_format(gconv_format format);

/* If --block, --tile or --shared-memory was given and does not apply to all names that are
 * measured, says to which of them it applies. */
void gc_say_whom_options_reach(const gc_options *options, const char *const *names, int count);

/* With --verbose names the given options that affect nothing that was met, and says why. */
void gc_note_effects(const gc_options *options, unsigned met);
