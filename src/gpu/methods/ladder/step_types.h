/* What the host tells a kernel of the ladder. C++ and NVRTC read this file, so that it includes
 * nothing. */
#pragma once

/* As gc_gpu_step: `input` is an extended image. Distances are in samples. */
typedef struct gc_ladder_step {
    const float *input;
    long long input_pitch, input_plane;
    float *output;
    long long output_pitch, output_plane;
    int width, height; /* of the output */
    unsigned columns;  /* blocks in a row */
    const float *taps;
    int filter_width, filter_height;
    int shared_pitch; /* of rows in shared memory */
} gc_ladder_step;
