/* The kernels that transform tiles (kernels/fft/tile.cuh). */
#ifndef GC_GPU_FAST_TILEFFT_KERNELS_CUH
#define GC_GPU_FAST_TILEFFT_KERNELS_CUH

/* A kernel, and threads of its blocks. */
struct gc_tilefft_kernel {
    const void *kernel; /* null: there is none */
    int threads;
};

/* The kernel for transforms of so many points. `of_values` says that it reads and stores chain
 * values alone. */
gc_tilefft_kernel gc_tilefft_find(int columns, int lines, bool of_values);

#endif
