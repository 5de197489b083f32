/* Alpha that is not in the chain, from the reading of its row to the writing of it (rule 7). */
#ifndef GC_CORE_KEPT_ALPHA_H
#define GC_CORE_KEPT_ALPHA_H

#include "core/conversion.h"

typedef struct gc_kept_alpha {
    const gconv_shape *input;
    /* Blocks of rows. A block exists from its first row's reading to its last row's writing. */
    void **blocks;
    size_t row_bytes; /* of a row of alpha samples; 0 if no alpha is kept */
} gc_kept_alpha;

/* Room for the alpha of an image whose conversion keeps it; else nothing is kept. */
gconv_status gc_kept_alpha_create(gc_kept_alpha *alpha, const gc_conversion *conversion,
                                  gconv_error *error);
void gc_kept_alpha_destroy(gc_kept_alpha *alpha);

/* Keeps the alpha of `count` rows of samples from row y on. */
gconv_status gc_kept_alpha_add(gc_kept_alpha *alpha, uint32_t y, uint32_t count, const void *rows,
                               size_t stride, gconv_error *error);

/* The alpha samples of row y from pixel x on; NULL if no alpha is kept. Any thread, for a row that
 * was added. */
const void *gc_kept_alpha_at(const gc_kept_alpha *alpha, uint32_t y, size_t x);

/* Says that rows [first, end) were written now. Frees each block whose last row is among them. */
void gc_kept_alpha_drop(gc_kept_alpha *alpha, uint32_t first, uint32_t end);

#endif
