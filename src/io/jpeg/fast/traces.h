/* Traces: several threads pass over the codes of a JPEG at one time.
 *
 * Codes have to be followed from the first one on. But a Huffman code synchronises itself
 * (lanes.c), so the data are cut into spans. Any thread follows a span from its first byte, as if
 * an MCU began there, and marks where MCUs begin: that is a trace. One thread at a time *joins* the
 * traces in their order. It follows the true codes into a span, until an MCU begins where the trace
 * has a mark. From there on the trace is true, and the thread goes from mark to mark. If it meets
 * no mark, it follows the codes to the end of the span.
 *
 * Traces report no errors: the thread that decodes follows the codes again. */
#pragma once

#include "io/jpeg/fast/blocks.h"

/* The beginning of an MCU. */
typedef struct gc_jpeg_mark {
    uint32_t bit;                  /* of the span */
    int32_t dc[GC_JPEG_PARTS_MAX]; /* predictions, less those at the first mark */
} gc_jpeg_mark;

typedef struct gc_jpeg_trace {
    unsigned char *memory; /* room for what is left of the span before, then the span */
    unsigned char *bytes;  /* the span; it does not end between 0xff and the byte that is stuffed */
    size_t size;
    bool ended; /* the file ends with this span */
    gc_jpeg_mark *marks;
    uint32_t count; /* of marks */
} gc_jpeg_trace;

/* Bytes of a span at most. Only tests change it. */
extern size_t gc_jpeg_trace_bytes;

/* Of images without restart markers. On failure too it is destroyed by the caller. */
bool gc_jpeg_trace_create(gc_jpeg_trace *trace, const gc_jpeg_frame *frame);
void gc_jpeg_trace_destroy(gc_jpeg_trace *trace);

/* Follows the bytes, and fills the marks. */
void gc_jpeg_trace_follow(gc_jpeg_trace *trace, const gc_jpeg_frame *frame);

/* How far the true codes have been followed. All zeros: no span has been entered. */
typedef struct gc_jpeg_join {
    gc_jpeg_place place;        /* in the memory of `trace` */
    const gc_jpeg_trace *trace; /* NULL: none was entered */
    /* Before `met` the first mark at or behind the place, then the last mark at or before it. */
    uint32_t next;
    uint32_t missed;                 /* MCUs that began where the trace has no mark */
    bool met;                        /* the trace is true from here on */
    uint32_t number;                 /* `met`: MCUs from the first mark to the place, */
    int32_t base[GC_JPEG_PARTS_MAX]; /* and the predictions at the first mark */
} gc_jpeg_join;

typedef enum gc_jpeg_joined {
    GC_JPEG_JOINED,
    GC_JPEG_JOIN_LACKS,   /* the next span is needed */
    GC_JPEG_JOIN_REJECTED /* the data are not sound */
} gc_jpeg_joined;

/* Goes *left MCUs on from a span that was entered, and takes off *left what is done. Behind the
 * last MCU there are `behind` bytes then, or the file ends. */
gc_jpeg_joined gc_jpeg_join_pass(gc_jpeg_join *join, const gc_jpeg_frame *frame, uint64_t *left,
                                 size_t behind);

/* Goes on in the next span: what is left of the span before moves in front of it. */
void gc_jpeg_join_enter(gc_jpeg_join *join, gc_jpeg_trace *trace);
