/* The kernels that transform tiles (tile.cuh; large_tile.cuh). */
#pragma once

/* A kernel, the threads and the bytes of shared memory of its blocks. */
struct gc_tilefft_kernel {
    const void *kernel; /* null: there is none */
    int threads, bytes;
    int resident; /* blocks on the device at once; 0 before it is prepared */
};

/* The kernels for transforms of one size. */
struct gc_tilefft_kernels {
    int columns, lines;             /* of a transform */
    gc_tilefft_kernel forward;      /* rows of large tiles; else it takes whole tiles */
    gc_tilefft_kernel middle, back; /* of large tiles: columns, and rows back */
    int rows_of_a_block;            /* of large tiles */
    int column_blocks;              /* that take all columns of a pair */
};

/* The kernels for transforms of so many points. What they read: GC_FLOAT, GC_BYTE or GC_SHORT. They
 * store chain values, or samples of the same type one by one. */
gc_tilefft_kernels gc_tilefft_find(int columns, int lines, int type);

/* gc_tilefft_find among the kernels for one type, which were compiled together. The middle kernel,
 * the same for all types, is among those for floats. */
typedef gc_tilefft_kernels gc_tilefft_part(int columns, int lines);
gc_tilefft_part gc_tilefft_floats, gc_tilefft_bytes, gc_tilefft_shorts;
