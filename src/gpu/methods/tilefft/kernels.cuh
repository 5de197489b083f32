/* The kernels that transform tiles (tile.cuh; large_tile.cuh). */
#ifndef GC_GPU_METHODS_TILEFFT_KERNELS_CUH
#define GC_GPU_METHODS_TILEFFT_KERNELS_CUH

/* A kernel, and the threads and the bytes of shared memory of its blocks. */
struct gc_tilefft_kernel {
    const void *kernel; /* null: there is none */
    int threads, bytes;
};

/* The kernel for transforms of so many points. What it reads and stores: GC_FLOAT for chain values,
 * GC_BYTE or GC_SHORT for samples that are stored one by one, -1 for any types. */
gc_tilefft_kernel gc_tilefft_find(int columns, int lines, int type);

/* gc_tilefft_find among the kernels for one type, which were compiled together. */
typedef gc_tilefft_kernel gc_tilefft_part(int columns, int lines);
gc_tilefft_part gc_tilefft_floats, gc_tilefft_bytes, gc_tilefft_shorts, gc_tilefft_any;

/* The three kernels of large tiles (large_tile.cuh). */
struct gc_tilefft_large_kernels {
    gc_tilefft_kernel rows, columns, back;
    int rows_of_a_block;
    int column_blocks; /* that take all columns of a pair */
};

/* The kernels for large tiles of this size; `type` as above. */
gc_tilefft_large_kernels gc_tilefft_find_large(int columns, int lines, int type);

/* gc_tilefft_find_large among the kernels for one type, without the kernel of the columns; and that
 * kernel. */
typedef gc_tilefft_large_kernels gc_tilefft_large_part(int columns, int lines);
gc_tilefft_large_part gc_tilefft_large_floats, gc_tilefft_large_bytes, gc_tilefft_large_shorts,
    gc_tilefft_large_any;
gc_tilefft_kernel gc_tilefft_find_columns(int columns, int lines);

#endif
