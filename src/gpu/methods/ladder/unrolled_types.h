/* What the host tells a kernel of tile.cuh. C++ and NVRTC read this file, so that it includes
 * nothing. */
#ifndef GC_GPU_METHODS_LADDER_UNROLLED_TYPES_H
#define GC_GPU_METHODS_LADDER_UNROLLED_TYPES_H

/* As gc_gpu_step: `input` is an extended image. Distances are in samples. */
typedef struct gc_unrolled_step {
    const float *input;
    long long input_pitch, input_plane;
    float *output;
    long long output_pitch, output_plane;
    int width, height; /* of the output */
    unsigned columns;  /* blocks in a row */
} gc_unrolled_step;

#endif
