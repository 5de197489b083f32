/* The thread block and the tiling factor of a step, chosen from a device's description. Plain C:
 * needs no GPU. */
#pragma once

#include "gconv.h"

enum { GC_FACTOR_MAX = 16, GC_SHARED_BANKS = 32 };

/* The largest factor of kernels that are compiled for it at run time. */
enum { GC_UNROLLED_FACTOR_MAX = 20 };

/* A thread block that computes `factor` horizontally neighbouring tiles of block_width x
 * block_height outputs (van Werkhoven et al. 2014, section 2). */
typedef struct gc_tiling {
    int block_width, block_height;
    int factor;
    int shared_pitch;      /* samples from row to row in shared memory */
    uint64_t shared_bytes; /* a block */
} gc_tiling;

/* Samples from row to row in shared memory: F_w - 1 + factor * B_w. In a block narrower than the
 * banks, the threads of a warp lie in several rows. Padding makes them meet different banks (van
 * Werkhoven et al. 2014, section 3). F_w - 1 is rounded up to a multiple of the banks, factor * B_w
 * to B_w more than such a multiple. */
int gc_tiling_pitch(int filter_width, int block_width, int factor);

/* Fills pitch and bytes for a filter; with the pitch of gc_tiling_pitch, or without padding. */
void gc_tiling_measure(int filter_width, int filter_height, gc_tiling *tiling);
void gc_tiling_measure_unpadded(int filter_width, int filter_height, gc_tiling *tiling);

/* Fills pitch and bytes for tiles that lie one below the other. Rows are not padded: the
 * filter has one column, so that rows have no apron. */
void gc_tiling_measure_down(int filter_width, int filter_height, gc_tiling *tiling);

/* Registers that a thread of the kernel of a tiling factor takes: indexed by factor, [0] not
 * used. */
typedef struct gc_factor_registers {
    int count[GC_FACTOR_MAX + 1];
} gc_factor_registers;

/* A filter of at most so many columns is small for gc_tiling_adapt. The papers do not say what is
 * small. With this bound the rule gives, on a GTX 680 with blocks of 32x32 and factors up to 4, the
 * counts that the 2014 paper prints (section 4). */
enum { GC_SMALL_FILTER_COLUMNS = 17 };

/* Adaptive tiling as published (van Werkhoven et al. 2011, section 7; 2014, section 4). Sets the
 * largest factor up to GC_FACTOR_MAX whose block fits in the device's shared memory, registers and
 * threads. From Kepler on (compute capability 3.0) two blocks have to fit on a multiprocessor while
 * the filter is small, if any factor allows that. `shared_limit` is the shared memory of a
 * multiprocessor if it is less than the device's, as on a device of the papers; 0: the device's.
 *
 * False if not even factor 1 fits. */
bool gc_tiling_adapt(const gconv_device_info *device, const gc_factor_registers *registers,
                     uint64_t shared_limit, int filter_width, int filter_height, gc_tiling *tiling);

/* Adaptive tiling by KTH 2018, section 3.5.1, on samples of 2 bytes in 48 KiB of shared memory.
 * Sets the factor of equation 8, rounded down, so that it fits, and 21 at most: the paper takes 21
 * for both of its filters. 0 if not one tile fits. Rows are not padded. */
enum { GC_KTH_FACTOR_MAX = 21 };
void gc_tiling_adapt_kth(int filter_width, int filter_height, gc_tiling *tiling);
