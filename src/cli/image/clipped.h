/* How many samples of an output may have been clipped (contract.md, rule 58). */
#ifndef GC_CLI_IMAGE_CLIPPED_H
#define GC_CLI_IMAGE_CLIPPED_H

#include "gconv.h"

/* Upper bounds: samples that are 0, or white, although values of the job can lie beyond it. */
typedef struct gc_clipped {
    bool counted; /* the output has levels: else nothing can be clipped */
    uint64_t below, above;
} gc_clipped;

/* A sink that counts what goes to another one. */
typedef struct gc_clip_counter {
    gconv_sink own;
    const gconv_sink *sink; /* the other one */
    gc_clipped *clipped;
    gconv_shape shape;
    bool below, above; /* some image has values there, by the weights of the filters alone */
} gc_clip_counter;

/* The sink for the job's output, and clears *clipped. It lies in `counter`, which lives as long as
 * the sink, and so does `clipped`. Where nothing can be clipped it is `sink`. */
const gconv_sink *gc_count_clipped(gc_clip_counter *counter, gc_clipped *clipped,
                                   const gconv_job *job, const gconv_shape *output,
                                   const gconv_sink *sink);

#endif
