/* --samples: the kinds of samples that `bench` can make its images of. */
#ifndef GC_CLI_OPTIONS_SAMPLE_KINDS_H
#define GC_CLI_OPTIONS_SAMPLE_KINDS_H

#include "gconv.h"

/* Interleaved channels, and bits of a sample. */
typedef struct gc_sample_kind {
    const char *name;
    int channels, depth;
} gc_sample_kind;

/* Kind `index`, from 0 on; NULL where there is none. Kind 0 is grey with 8 bits, the default. */
const gc_sample_kind *gc_sample_kind_at(int index);

/* Reads names with commas between them, or "all". Bit i of *kinds becomes 1 for kind i. */
gconv_status gc_read_sample_kinds(const char *list, unsigned *kinds, gconv_error *error);

#endif
