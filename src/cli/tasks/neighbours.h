/* Images that lie beside an input and have its name but for the extension. */
#pragma once

#include "base/buffer.h"
#include "base/map.h"

#include <stdbool.h>
#include <stdint.h>

/* The images of the directories that were asked for. Their names tell that they are images. */
typedef struct gc_neighbours {
    gc_map last;     /* of a directory and a stem: the place in `names` of the last image, from 1 */
    gc_buffer names; /* of images, each behind the place of the one before it, 0 for the first */
} gc_neighbours;

/* The place of an image in the directory of `path` that has its stem; 0: there is none. It may be
 * `path` itself. Lists the directory when it is asked for first; one that cannot be listed has no
 * images. False if memory is out. */
bool gc_neighbours_find(gc_neighbours *neighbours, const char *path, uint64_t *place);

/* The name of the image at a place, which becomes that of another image or 0. */
const char *gc_neighbours_next(const gc_neighbours *neighbours, uint64_t *place);

void gc_neighbours_free(gc_neighbours *neighbours);
