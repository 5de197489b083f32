/* What the host tells kernels of a step. C++ and NVRTC read this file, so that it includes
 * nothing. */
#pragma once

/* One step on the device. `input` is an extended image, which carries the border, so that
 *     output[y][x] = sum_j sum_i taps[j][i] * input[y + j][x + i]
 * for all channels; kernels need no border logic. Channels lie in planes of their own. */
struct gc_gpu_step {
    const float *input;
    long long input_pitch, input_plane; /* samples from row to row, from channel to channel */
    float *output;
    long long output_pitch, output_plane;
    int width, height; /* of the output */
    int channels;
    const float *taps; /* on the device */
    int filter_width, filter_height;
};

/* The same for a kernel of the ladder. */
struct gc_ladder_step : gc_gpu_step {
    unsigned columns; /* blocks in a row */
    int shared_pitch; /* of rows in shared memory */
};
