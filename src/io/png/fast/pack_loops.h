/* Names of the loops of one instruction set, which several files have: GC_PACK_LOOPS, the name of
 * the set's table, begins them. */
#pragma once

#include "io/png/fast/loops.h"
#include "io/png/fast/vectors.h"

#define GC_JOIN_NAMES(set, name) set##_##name
#define GC_LOOP_NAME(set, name) GC_JOIN_NAMES(set, name)
#define GC_PACK(name) GC_LOOP_NAME(GC_PACK_LOOPS, name)

/* As the members of gc_pack_loops with these names. */
void GC_PACK(put_bytes)(gc_bits *to, const uint8_t *bytes, size_t count,
                        const gc_byte_codes *codes);
size_t GC_PACK(find_tokens)(const uint8_t *bytes, size_t count, uint16_t *tokens);
void GC_PACK(count_tokens)(const uint16_t *tokens, size_t count, uint32_t counts[GC_TOKENS]);
void GC_PACK(put_tokens)(gc_bits *to, const uint16_t *tokens, size_t count,
                         const uint32_t codes[GC_TOKENS]);
#ifdef GC_HAS_VECTORS
void GC_PACK(unfilter)(uint8_t *rows, size_t count, size_t row_bytes, const uint8_t *above,
                       size_t pixel, uint8_t *spare);
#endif
