/* The registry: the table of every implementation there is. */
#pragma once

#include "core/implementation.h"

const gc_implementation *gc_implementation_at(int index);

/* NULL if there is none. */
const gc_implementation *gc_implementation_named(const char *name);

/* What a name stands for: an implementation, and a thread block and a tiling factor if the name
 * gives them behind a colon, as in "tiled:32x32x4". 0: the name does not say it. */
typedef struct gc_named {
    const gc_implementation *implementation;
    int block_width, block_height, tile;
} gc_named;

/* Reads NAME, NAME:WxH, NAME:WxHxT or NAME:xT. False if there is no such implementation, or if the
 * implementation does not follow a block or a factor that the name gives. */
bool gc_implementation_read(const char *name, gc_named *named);

/* Whether an implementation can run on this machine at all; on a CUDA one, on device cuda:`index`.
 * Fills `device` with the device it runs on. */
gconv_status gc_implementation_device(const gc_implementation *implementation, int cuda_index,
                                      gconv_device_info *device, gconv_error *error);
