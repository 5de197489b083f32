/* A part of a batch: --shard. */
#ifndef GC_CLI_OPTIONS_SHARD_H
#define GC_CLI_OPTIONS_SHARD_H

#include "gconv.h"

/* Part `index`, from 0, of `count`; count 0 stands for everything. */
typedef struct gc_shard {
    uint32_t index, count;
} gc_shard;

/* Reads I/N with I from 1 to N, or auto or auto/N: the part that the variables of a scheduler give
 * this process. */
gconv_status gc_read_shard(const char *text, gc_shard *shard, gconv_error *error);

/* Whether the part has the input of this name. It depends on nothing but the name and the number of
 * parts, so every process decides alike. */
bool gc_shard_has(const gc_shard *shard, const char *name);

#endif
