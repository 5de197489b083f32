/* Two places of a JPEG's data, followed at a time in one thread. */
#pragma once

#include "io/jpeg/fast/blocks.h"

typedef struct gc_jpeg_lanes gc_jpeg_lanes;

/* NULL if the frame or the processor does not suit, and if memory is out. Then gc_jpeg_take_mcus
 * alone follows. */
gc_jpeg_lanes *gc_jpeg_lanes_create(const gc_jpeg_frame *frame);
void gc_jpeg_lanes_free(gc_jpeg_lanes *lanes);

/* Takes some of the next `count` MCUs, and returns how many. What becomes of `blocks` is what
 * gc_jpeg_take_mcus makes of zeros. Behind those MCUs they may hold anything: behind the last of
 * `count` MCUs, too, there has to be room for a block. A 0 says that gc_jpeg_take_mcus has to go
 * on: the data at hand are few or unsound, or the lanes did not meet. *place is as before then. */
uint32_t gc_jpeg_lanes_take(gc_jpeg_lanes *lanes, gc_jpeg_place *place, uint32_t count,
                            int16_t *blocks);
