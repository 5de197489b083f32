#include "io/jpeg/fast/traces.h"

#include <stdlib.h>
#include <string.h>

/* The first MCUs of a trace have a mark each, because the join mostly meets the trace there. Later
 * marks are fewer: the thread that joins follows the few MCUs between a mark and its aim. */
enum { DENSE = 64, SPARSE = 8 };

/* After this many MCUs without a mark the join will hardly meet the trace: if codes repeat, a trace
 * may stay wrong for ever. The join then passes over several MCUs at a time. */
enum { MISSED_MAX = 32, AT_A_TIME = 16 };

/* How often a trace begins again after unsound codes, which a wrong beginning soon meets. */
enum { BEGINNINGS = 64 };

size_t gc_jpeg_trace_bytes = 16 * 1024;

/* ---- Memory ---------------------------------------------------------------------------------- */

static size_t mcu_bytes_max(const gc_jpeg_frame *frame)
{
    return (size_t)frame->block_count * GC_JPEG_BLOCK_BYTES_MAX;
}

bool gc_jpeg_trace_create(gc_jpeg_trace *trace, const gc_jpeg_frame *frame)
{
    size_t before = mcu_bytes_max(frame);
    /* A block has two codes of one bit at least. */
    size_t mcus = gc_jpeg_trace_bytes * 8 / (2 * (size_t)frame->block_count);
    *trace = (gc_jpeg_trace){.memory = malloc(before + gc_jpeg_trace_bytes),
                             .marks = calloc(DENSE + 1 + mcus / SPARSE, sizeof *trace->marks)};
    if (trace->memory == NULL || trace->marks == NULL)
        return false;
    trace->bytes = trace->memory + before;
    return true;
}

void gc_jpeg_trace_destroy(gc_jpeg_trace *trace)
{
    free(trace->memory);
    free(trace->marks);
    *trace = (gc_jpeg_trace){.memory = NULL};
}

/* ---- Following ------------------------------------------------------------------------------- */

static uint32_t mark_number(uint32_t mark)
{
    return mark < DENSE ? mark : DENSE + (mark - DENSE) * SPARSE;
}

/* Follows the bytes from byte `at` on, as far as there are MCUs. Returns the byte at which the next
 * one should begin. */
static size_t follow_from(gc_jpeg_trace *trace, const gc_jpeg_frame *frame, size_t at)
{
    int32_t dc[GC_JPEG_PARTS_MAX] = {0};
    gc_jpeg_place place = gc_jpeg_first_place(frame, trace->bytes, trace->size), before;
    gc_jpeg_set_place(&place, trace->bytes, trace->size, at, 0);
    trace->count = 0;
    for (uint32_t number = 0;; number++) {
        uint32_t bit;
        if (number < DENSE || number % SPARSE == 0) {
            at = (size_t)(gc_jpeg_place_byte(&place, &bit) - trace->bytes);
            trace->marks[trace->count++] =
                (gc_jpeg_mark){.bit = (uint32_t)at * 8 + bit, .dc = {dc[0], dc[1], dc[2]}};
        }
        before = place;
        if (!gc_jpeg_pass_mcus(frame, &place, 1))
            return (size_t)(gc_jpeg_place_byte(&before, &bit) - trace->bytes);
        for (int c = 0; c < GC_JPEG_PARTS_MAX; c++) {
            dc[c] += place.dc[c];
            place.dc[c] = 0;
        }
    }
}

void gc_jpeg_trace_follow(gc_jpeg_trace *trace, const gc_jpeg_frame *frame)
{
    size_t at = 0;
    for (int i = 0; i < BEGINNINGS; i++) {
        at = follow_from(trace, frame, at);
        if (trace->size - at < mcu_bytes_max(frame))
            return;
        at++;
        at += trace->bytes[at] == 0 && trace->bytes[at - 1] == 0xff;
    }
    trace->count = 0;
}

/* ---- Joining --------------------------------------------------------------------------------- */

void gc_jpeg_join_enter(gc_jpeg_join *join, gc_jpeg_trace *trace)
{
    gc_jpeg_place *place = &join->place;
    size_t left = 0;
    uint32_t bit = 0;
    if (join->trace != NULL) {
        const unsigned char *byte = gc_jpeg_place_byte(place, &bit);
        left = (size_t)(place->bits.bytes + place->bits.size - byte);
        memcpy(trace->bytes - left, byte, left);
    }
    gc_jpeg_set_place(place, trace->bytes - left, left + trace->size, 0, bit);
    join->trace = trace;
    join->next = join->missed = 0;
    join->met = false;
}

/* Notes that the join has met the trace, if the trace has a mark at the place. */
static void try_to_meet(gc_jpeg_join *join)
{
    const gc_jpeg_trace *trace = join->trace;
    uint32_t bits;
    ptrdiff_t byte = gc_jpeg_place_byte(&join->place, &bits) - trace->bytes;
    int64_t bit = (int64_t)byte * 8 + bits;
    while (join->next < trace->count && trace->marks[join->next].bit < bit)
        join->next++;
    join->met = join->next < trace->count && trace->marks[join->next].bit == bit;
    if (!join->met)
        return;
    join->number = mark_number(join->next);
    for (int c = 0; c < GC_JPEG_PARTS_MAX; c++)
        join->base[c] = join->place.dc[c] - trace->marks[join->next].dc[c];
}

/* Goes to the last mark that is at most *left MCUs away. */
static void go_to_mark(gc_jpeg_join *join, uint64_t *left)
{
    const gc_jpeg_trace *trace = join->trace;
    uint32_t last = join->next;
    while (last + 1 < trace->count && mark_number(last + 1) - join->number <= *left)
        last++;
    join->next = last;
    if (last >= trace->count || mark_number(last) <= join->number)
        return;
    const gc_jpeg_mark *mark = &trace->marks[last];
    const gc_jpeg_bits *bits = &join->place.bits;
    size_t begin = (size_t)(trace->bytes - bits->bytes);
    gc_jpeg_set_place(&join->place, bits->bytes, bits->size, begin + mark->bit / 8, mark->bit % 8);
    for (int c = 0; c < GC_JPEG_PARTS_MAX; c++)
        join->place.dc[c] = join->base[c] + mark->dc[c];
    *left -= mark_number(last) - join->number;
    join->number = mark_number(last);
}

static bool has_behind(const gc_jpeg_join *join, size_t behind)
{
    uint32_t bits;
    const gc_jpeg_bits *from = &join->place.bits;
    const unsigned char *byte = gc_jpeg_place_byte(&join->place, &bits);
    return join->trace->ended || (size_t)(from->bytes + from->size - byte) >= behind;
}

/* How many of `left` MCUs are passed over before a mark is looked for. */
static uint32_t choose_count(const gc_jpeg_join *join, uint64_t left)
{
    if (join->met || join->missed < MISSED_MAX)
        return 1;
    return left < AT_A_TIME ? (uint32_t)left : AT_A_TIME;
}

gc_jpeg_joined gc_jpeg_join_pass(gc_jpeg_join *join, const gc_jpeg_frame *frame, uint64_t *left,
                                 size_t behind)
{
    for (;;) {
        if (!join->met)
            try_to_meet(join);
        if (join->met)
            go_to_mark(join, left);
        if (*left == 0)
            return has_behind(join, behind) ? GC_JPEG_JOINED : GC_JPEG_JOIN_LACKS;
        const gc_jpeg_place before = join->place;
        uint32_t count = choose_count(join, *left);
        if (!gc_jpeg_pass_mcus(frame, &join->place, count)) {
            join->place = before;
            join->missed = 0;
            if (count > 1) /* one by one, to the last */
                continue;
            return has_behind(join, mcu_bytes_max(frame)) ? GC_JPEG_JOIN_REJECTED
                                                          : GC_JPEG_JOIN_LACKS;
        }
        *left -= count;
        join->number += count;
        join->missed += count;
    }
}
