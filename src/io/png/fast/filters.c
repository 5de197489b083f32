#include "io/png/fast/filters.h"

#include "base/status.h"
#include "io/png/fast/literals.h"

#include <stdlib.h>

/* A filter is chosen anew every CHOICE_BYTES, by SAMPLES samples of a row that have SAMPLE_BYTES
 * each. */
enum { CHOICE_BYTES = 1 << 16, SAMPLES = 8, SAMPLE_BYTES = 256 };

/* Bytes of 0 on the left of a row: more than a pixel has. */
enum { LEFT = 64 };

gconv_status gc_filters_create(gc_filters *filters, const gconv_shape *shape,
                               const gc_pack_loops *loops, gconv_error *error)
{
    size_t row_bytes = gconv_shape_row_bytes(shape);
    const uint16_t one = 1;
    *filters = (gc_filters){.loops = loops,
                            .is_free = shape->depth > 1,
                            .pixel = (size_t)shape->channels * (size_t)shape->depth / 8,
                            .row_bytes = row_bytes,
                            .swap = shape->depth == 16 && *(const unsigned char *)&one == 1,
                            .since = CHOICE_BYTES};
    size_t room = LEFT + row_bytes;
    filters->memory = row_bytes < SIZE_MAX / 4 ? calloc(3, room) : NULL;
    GC_TRY_MEMORY(filters->memory != NULL, error, 3 * room);
    filters->row = filters->memory + LEFT;
    filters->above = filters->memory + room + LEFT;
    filters->filtered = filters->memory + 2 * room + LEFT - 1;
    return GCONV_OK;
}

void gc_filters_free(gc_filters *filters)
{
    free(filters->memory);
}

/* ---- The choice ------------------------------------------------------------------------------ */

/* What samples of the row take with a filter. */
static uint64_t try_filter(const gc_filters *filters, gc_row_filter filter)
{
    uint8_t bytes[SAMPLES * SAMPLE_BYTES];
    uint32_t counts[256] = {0};
    size_t sample = filters->row_bytes / SAMPLES, step = sample, taken = 0;
    if (sample > SAMPLE_BYTES)
        sample = SAMPLE_BYTES;
    if (sample < SAMPLE_BYTES / 4) /* a short row is one sample */
        sample = filters->row_bytes < sizeof bytes ? filters->row_bytes : sizeof bytes;
    for (size_t at = 0; at + sample <= filters->row_bytes && taken + sample <= sizeof bytes;
         at += step > sample ? step : sample, taken += sample)
        filters->loops->filter(filter, filters->row + at, filters->above + at, filters->pixel,
                               sample, bytes + taken);
    gc_survey survey;
    filters->loops->survey(bytes, taken, &survey);
    gc_count_bytes(bytes, taken, counts);
    uint64_t literals = gc_estimate_literals(counts), runs = gc_estimate_runs(counts, &survey);
    return literals < runs ? literals : runs;
}

/* The last two filters are slow to undo, so they have to save at least a 32nd. */
static void choose(gc_filters *filters)
{
    static const gc_row_filter all[] = {GC_FILTER_UP, GC_FILTER_SUB, GC_FILTER_NONE,
                                        GC_FILTER_AVERAGE, GC_FILTER_PAETH};
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        uint64_t cost = try_filter(filters, all[i]);
        if (all[i] == GC_FILTER_AVERAGE || all[i] == GC_FILTER_PAETH)
            cost += cost / 32;
        if (cost < least) {
            least = cost;
            filters->chosen = all[i];
        }
    }
    filters->since = 0;
}

/* ---- Filtering ------------------------------------------------------------------------------- */

static void swap_bytes(const uint8_t *from, size_t bytes, uint8_t *to)
{
    for (size_t i = 0; i < bytes; i += 2) {
        uint8_t first = from[i], second = from[i + 1];
        to[i] = second;
        to[i + 1] = first;
    }
}

void gc_filters_apply(gc_filters *filters, const uint8_t *row, uint8_t *filtered)
{
    if (!filters->is_free) {
        filtered[0] = GC_FILTER_NONE;
        memcpy(filtered + 1, row, filters->row_bytes);
        return;
    }
    uint8_t *above = filters->row;
    filters->row = filters->above;
    filters->above = above;
    if (filters->swap)
        swap_bytes(row, filters->row_bytes, filters->row);
    else
        memcpy(filters->row, row, filters->row_bytes);
    if (filters->since >= CHOICE_BYTES)
        choose(filters);
    /* The first row has none above it: the second chooses again. */
    filters->since += filters->started ? filters->row_bytes : CHOICE_BYTES;
    filters->started = true;
    filtered[0] = (uint8_t)filters->chosen;
    filters->loops->filter(filters->chosen, filters->row, filters->above, filters->pixel,
                           filters->row_bytes, filtered + 1);
}
