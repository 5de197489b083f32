/* Filters of the rows of a PNG (ISO/IEC 15948, 9.2), chosen now and then by what a row would take
 * with each. */
#pragma once

#include "gconv.h"
#include "io/png/fast/loops.h"

#include <stdbool.h>

typedef struct gc_filters {
    const gc_pack_loops *loops;
    bool is_free;     /* whether a filter is chosen; else rows have GC_FILTER_NONE */
    size_t pixel;     /* bytes of a pixel, if a filter is chosen */
    size_t row_bytes; /* of a row without its filter */
    bool swap;        /* samples of 16 bits, whose bytes change places */
    uint8_t *memory;
    uint8_t *row, *above; /* this row and the one before, with zeros on the left */
    uint8_t *filtered;    /* room for the filter and a filtered row */
    gc_row_filter chosen;
    size_t since; /* bytes filtered since it was chosen */
    bool started; /* whether a row was filtered */
} gc_filters;

/* For rows of this shape, whose samples are in host order. A filter is chosen for samples of 8 and
 * 16 bits. Filters take bytes for samples, and would lengthen what 1 bit a sample takes. */
gconv_status gc_filters_create(gc_filters *filters, const gconv_shape *shape,
                               const gc_pack_loops *loops, gconv_error *error);
void gc_filters_free(gc_filters *filters);

/* Filters the next row. `filtered` gets the filter and the row: row_bytes + 1 bytes. */
void gc_filters_apply(gc_filters *filters, const uint8_t *row, uint8_t *filtered);
