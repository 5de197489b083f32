/* What the host tells the kernels of tilefft. */
#ifndef GC_GPU_KERNELS_FFT_TYPES_CUH
#define GC_GPU_KERNELS_FFT_TYPES_CUH

#include <cuda_runtime.h>

/* What these kernels are given beside gc_pass. */
struct gc_tilefft {
    const float2 *spectrum;
    int left, top;             /* of the filter */
    int width, height;         /* of a tile's outputs */
    int first_row;             /* of the image, of the first tile's outputs */
    int last_row, last_column; /* the last ones of the input that any output needs */
    int pairs;                 /* of tiles that lie side by side, in a row */
};

#endif
