/* Rows of a baseline JPEG, decoded by gconv's own code: the samples of Y, or RGB.
 *
 * libjpeg remains the judge. Rows come from here as long as the data are sound, in the sense of
 * docs/gpu-jpeg.md: then they are those of libjpeg-turbo. This decoder stops at the first data that
 * are not sound. The caller has libjpeg decode the file from its beginning, and drops the rows that
 * it has. */
#include "io/fast.h"
#include "io/jpeg/fast/frame.h"
#include "io/jpeg/fast/stretch.h"

#include <pthread.h>
#include <stdio.h> /* jpeglib.h needs it before */
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

enum {
    /* Of a stretch in several threads: many stretches, which stay in the L2 cache. */
    STRETCH_BYTES = 128 * 1024,
    STRETCHES_A_THREAD = 4, /* at least, if the image is small */
    AHEAD = 2,              /* stretches, or traces, more than there are threads */
    THREADS_MAX = 64,
    ENOUGH = 16 /* bytes behind the last MCU: what is left of the data, and EOI */
};

/* An entry of the ring. */
typedef struct entry {
    gc_jpeg_stretch stretch;
    bool decoded;  /* as far as it is sound */
    bool rejected; /* not to its end */
} entry;

/* Traces lie in a ring, too: trace i in entry i % slots. They are read in their order, by one
 * thread at a time, and followed by any. */
typedef struct tracing {
    struct {
        gc_jpeg_trace trace;
        bool followed;
    } * ring; /* NULL: codes are not followed by traces */
    int slots;
    uint64_t read, entered; /* so many are read, or being read; the join has entered so many */
    bool reading;
    bool ended;           /* no more is read */
    bool lacks;           /* the join needs the next trace */
    bool begun;           /* part of a stretch is joined */
    bool carried;         /* 0xff was read, which belongs to the next span */
    gc_jpeg_bits at_hand; /* what libjpeg has read already */
    gc_jpeg_join join;
} tracing;

/* One thread alone decodes stretch by stretch.
 *
 * In several threads the image is cut into stretches. Codes have to be followed from the first on,
 * so one thread at a time finds the end of a stretch; then any thread can do the rest:
 *
 * - Two threads: the first follows the codes and stores coefficients, which is the larger part of
 *   the work. The other makes samples of them.
 * - More: the first passes over the codes and copies the bytes. Another knows then the bit where
 *   the stretch begins, and the DC predictions there. It follows the codes once more. With restart
 *   markers the first looks for the next marker. Without them the codes are passed over by traces
 *   (traces.h), so that all threads share this, too, and the first only joins them.
 *
 * Stretches lie in a ring. Three counts say how far they are:
 *
 *   head <= begun <= found
 *
 * All before `head` are given to the caller, all before `begun` are decoded or being decoded, and
 * of all before `found` the end is known. Stretch i has entry i % slots. */
struct gc_jpeg_rows {
    gc_jpeg_image image;
    gc_jpeg_feed feed;
    gc_jpeg_place front;                     /* data are followed up to here */
    uint32_t front_row;                      /* rows of MCUs before it */
    gc_jpeg_lanes *lanes;                    /* of a thread that takes coefficients for others */
    uint32_t given;                          /* rows that the caller has */
    unsigned char *above[GC_JPEG_PARTS_MAX]; /* see gc_jpeg_stretch_give */

    pthread_mutex_t lock; /* of all below, but an entry belongs to the thread that works on it */
    pthread_cond_t changed;
    int slots;
    entry *ring;
    uint32_t stretch_rows; /* of MCUs */
    bool passes;           /* codes are passed over before others follow them */
    tracing traces;
    uint64_t head, begun, found;
    bool finding; /* a thread is looking for the end of a stretch */
    bool over;    /* no more is found: the image has ended, or its data are rejected */
    bool stopped; /* the caller gets no more rows, and nobody begins anything */
};

/* ---- Several threads ------------------------------------------------------------------------- */

/* Whether the join need not wait for a trace. */
static bool has_trace(const gc_jpeg_rows *rows)
{
    const tracing *t = &rows->traces;
    return t->ring == NULL || !t->lacks ||
           (t->entered < t->read && t->ring[t->entered % (uint64_t)t->slots].followed);
}

/* The trace that the join has entered last is in use. */
static bool may_trace(const gc_jpeg_rows *rows)
{
    const tracing *t = &rows->traces;
    return t->ring != NULL && !t->reading && !t->ended && !rows->over &&
           t->read + 1 < t->entered + (uint64_t)t->slots;
}

static entry *slot_of(const gc_jpeg_rows *rows, uint64_t index)
{
    return &rows->ring[index % (uint64_t)rows->slots];
}

/* The rows of MCUs that come next. */
static void begin_stretch(gc_jpeg_rows *rows, entry *of)
{
    gc_jpeg_stretch *stretch = &of->stretch;
    uint32_t left = rows->image.frame.mcus_down - rows->front_row;
    stretch->first = rows->front_row;
    stretch->count = left < rows->stretch_rows ? left : rows->stretch_rows;
    rows->front_row += stretch->count;
}

/* Goes on in the next trace, if one is needed, and joins what it has of the stretch. */
static gc_jpeg_joined join_stretch(gc_jpeg_rows *rows, entry *of)
{
    tracing *t = &rows->traces;
    if (!t->begun) {
        begin_stretch(rows, of);
        of->stretch.left = (uint64_t)of->stretch.count * rows->image.frame.mcus_across;
        t->begun = true;
    }
    if (t->lacks)
        gc_jpeg_join_enter(&t->join, &t->ring[t->entered % (uint64_t)t->slots].trace);
    gc_jpeg_joined joined = gc_jpeg_stretch_join(&of->stretch, &rows->image, &t->join, ENOUGH);
    if (joined == GC_JPEG_JOINED)
        rows->front = t->join.place;
    return joined;
}

/* Follows the codes of the next stretch, or as many as the traces have. */
static gc_jpeg_joined find_stretch(gc_jpeg_rows *rows, entry *of)
{
    bool sound;
    if (rows->traces.ring != NULL)
        return join_stretch(rows, of);
    begin_stretch(rows, of);
    if (rows->passes)
        sound = gc_jpeg_stretch_pass(&of->stretch, &rows->image, &rows->feed, &rows->front);
    else
        sound = gc_jpeg_stretch_take(&of->stretch, &rows->image, &rows->feed, &rows->front,
                                     rows->lanes);
    return sound ? GC_JPEG_JOINED : GC_JPEG_JOIN_REJECTED;
}

/* With the lock, which is not held meanwhile. */
static void find_next(gc_jpeg_rows *rows)
{
    tracing *t = &rows->traces;
    bool enters = t->lacks;
    rows->finding = true;
    pthread_mutex_unlock(&rows->lock);
    gc_jpeg_joined joined = find_stretch(rows, slot_of(rows, rows->found));
    pthread_mutex_lock(&rows->lock);
    rows->finding = false;
    t->entered += enters;
    t->lacks = joined == GC_JPEG_JOIN_LACKS;
    if (joined == GC_JPEG_JOINED) {
        rows->found++;
        t->begun = false;
        rows->over = rows->front_row == rows->image.frame.mcus_down;
    }
    rows->over = rows->over || joined == GC_JPEG_JOIN_REJECTED;
    pthread_cond_broadcast(&rows->changed);
}

/* Reads the next span of the data. What libjpeg has in its buffer comes first. */
static void read_span(gc_jpeg_rows *rows, gc_jpeg_trace *trace)
{
    tracing *t = &rows->traces;
    gc_jpeg_bits *at_hand = &t->at_hand;
    size_t size = 0, left = at_hand->size - at_hand->at;
    if (t->carried)
        trace->bytes[size++] = 0xff;
    if (left > gc_jpeg_trace_bytes - size)
        left = gc_jpeg_trace_bytes - size;
    memcpy(trace->bytes + size, at_hand->bytes + at_hand->at, left);
    at_hand->at += left;
    trace->size = gc_jpeg_feed_read(&rows->feed, trace->bytes, size + left, gc_jpeg_trace_bytes);
    trace->ended = rows->feed.ended;
    t->carried = !trace->ended && trace->size > 0 && trace->bytes[trace->size - 1] == 0xff;
    trace->size -= t->carried;
}

/* Reads the next span and follows it. The caller holds the lock, which is released meanwhile. */
static void trace_next(gc_jpeg_rows *rows)
{
    tracing *t = &rows->traces;
    uint64_t index = t->read++ % (uint64_t)t->slots;
    gc_jpeg_trace *trace = &t->ring[index].trace;
    t->ring[index].followed = false;
    t->reading = true;
    pthread_mutex_unlock(&rows->lock);
    read_span(rows, trace);
    pthread_mutex_lock(&rows->lock);
    t->reading = false;
    t->ended = trace->ended;
    pthread_cond_broadcast(&rows->changed);
    pthread_mutex_unlock(&rows->lock);
    gc_jpeg_trace_follow(trace, &rows->image.frame);
    pthread_mutex_lock(&rows->lock);
    t->ring[index].followed = true;
    pthread_cond_broadcast(&rows->changed);
}

/* Decodes the next stretch. The caller holds the lock, which is released meanwhile. */
static void decode_next(gc_jpeg_rows *rows)
{
    entry *of = slot_of(rows, rows->begun++);
    pthread_mutex_unlock(&rows->lock);
    bool sound = rows->passes ? gc_jpeg_stretch_decode_passed(&of->stretch, &rows->image)
                              : gc_jpeg_stretch_decode_taken(&of->stretch, &rows->image);
    pthread_mutex_lock(&rows->lock);
    of->rejected = !sound;
    of->decoded = true;
    pthread_cond_broadcast(&rows->changed);
}

/* Finding comes first: only one thread at a time can do it. Decoding comes last: it needs what is
 * found. False: there is nothing to begin. */
static bool work_once(gc_jpeg_rows *rows)
{
    if (rows->stopped)
        return false;
    if (!rows->finding && !rows->over && rows->found < rows->head + (uint64_t)rows->slots &&
        has_trace(rows))
        find_next(rows);
    else if (may_trace(rows))
        trace_next(rows);
    else if (rows->begun < rows->found)
        decode_next(rows);
    else
        return false;
    return true;
}

static bool help(gc_jpeg_rows *rows)
{
    pthread_mutex_lock(&rows->lock);
    bool helped = work_once(rows);
    while (!helped && rows->traces.reading) { /* for a moment */
        pthread_cond_wait(&rows->changed, &rows->lock);
        helped = work_once(rows);
    }
    pthread_mutex_unlock(&rows->lock);
    return helped;
}

/* The stretch whose rows come next, once it is decoded; NULL if there is none. */
static entry *await_head(gc_jpeg_rows *rows)
{
    entry *head = NULL;
    pthread_mutex_lock(&rows->lock);
    for (;;) {
        head = rows->head < rows->begun ? slot_of(rows, rows->head) : NULL;
        if (head != NULL && head->decoded)
            break;
        if (rows->over && rows->head == rows->found) {
            head = NULL;
            break;
        }
        if (!work_once(rows))
            pthread_cond_wait(&rows->changed, &rows->lock);
    }
    pthread_mutex_unlock(&rows->lock);
    return head;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* The stretch that has the next rows; NULL if there is none. */
static entry *next_stretch(gc_jpeg_rows *rows)
{
    entry *only = &rows->ring[0];
    if (rows->slots > 1)
        return await_head(rows);
    if (!only->decoded) {
        begin_stretch(rows, only);
        only->rejected =
            !gc_jpeg_stretch_decode(&only->stretch, &rows->image, &rows->feed, &rows->front);
        only->decoded = true;
    }
    return only;
}

/* Gives up to `count` rows of the stretch. Behind its last row the next stretch comes, and other
 * threads may use the entry. *over: no stretch comes, because the data of this one are rejected. */
static uint32_t give_some(gc_jpeg_rows *rows, entry *from, uint32_t count, unsigned char *to,
                          size_t stride, bool *over)
{
    gc_jpeg_stretch *stretch = &from->stretch;
    uint32_t there = stretch->end - rows->given, some = there < count ? there : count;
    for (uint32_t i = 0; i < some; i++)
        gc_jpeg_stretch_give(stretch, &rows->image, rows->above, rows->given + i, to + i * stride);
    bool ends = some == there && !from->rejected;
    *over = some == there && from->rejected;
    if (ends)
        gc_jpeg_stretch_save(stretch, &rows->image, rows->above);
    pthread_mutex_lock(&rows->lock);
    rows->given += some;
    if (ends) {
        from->decoded = false;
        rows->head++;
        pthread_cond_broadcast(&rows->changed);
    }
    pthread_mutex_unlock(&rows->lock);
    return some;
}

/* Lets nobody begin anything, and waits for threads that read the file. */
static void stop(gc_jpeg_rows *rows)
{
    pthread_mutex_lock(&rows->lock);
    rows->stopped = true;
    while (rows->finding || rows->traces.reading)
        pthread_cond_wait(&rows->changed, &rows->lock);
    pthread_mutex_unlock(&rows->lock);
}

static uint32_t read_rows(gc_jpeg_rows *rows, uint32_t count, unsigned char *to, size_t stride)
{
    uint32_t done = 0;
    while (done < count && !rows->stopped) {
        entry *from = next_stretch(rows);
        bool over = from == NULL;
        if (from != NULL)
            done += give_some(rows, from, count - done, to + done * stride, stride, &over);
        if (over)
            stop(rows); /* libjpeg reads the file next */
    }
    return done;
}

static bool end(gc_jpeg_rows *rows, bool *trailing)
{
    bool rejected = rows->stopped;
    stop(rows);
    gc_jpeg_feed_more(&rows->feed, &rows->front, ENOUGH);
    if (rejected || !gc_jpeg_take_end(&rows->front))
        return false;
    *trailing = rows->front.bits.at < rows->front.bits.size;
    return true;
}

/* ---- Making ---------------------------------------------------------------------------------- */

static void free_ring(entry *ring, int slots)
{
    for (int i = 0; ring != NULL && i < slots; i++)
        gc_jpeg_stretch_destroy(&ring[i].stretch);
    free(ring);
}

/* Makes `slots` stretches of `count` rows of MCUs in the place of those that are there. */
static bool make_ring(gc_jpeg_rows *rows, int slots, uint32_t count, gc_jpeg_holding holding)
{
    entry *ring = calloc((size_t)slots, sizeof *ring);
    bool made = ring != NULL;
    for (int i = 0; made && i < slots; i++)
        made = gc_jpeg_stretch_create(&ring[i].stretch, &rows->image, count, holding);
    free_ring(made ? rows->ring : ring, made ? rows->slots : slots);
    if (!made)
        return false;
    rows->ring = ring;
    rows->slots = slots;
    return true;
}

static void free_traces(tracing *t)
{
    for (int i = 0; t->ring != NULL && i < t->slots; i++)
        gc_jpeg_trace_destroy(&t->ring[i].trace);
    free(t->ring);
    t->ring = NULL;
}

/* Without memory one thread alone passes over the codes. */
static void make_traces(gc_jpeg_rows *rows, int slots)
{
    tracing *t = &rows->traces;
    *t = (tracing){.ring = calloc((size_t)slots, sizeof *t->ring),
                   .slots = slots,
                   .lacks = true,
                   .at_hand = rows->front.bits};
    bool made = t->ring != NULL;
    for (int i = 0; made && i < slots; i++)
        made = gc_jpeg_trace_create(&t->ring[i].trace, &rows->image.frame);
    if (!made)
        free_traces(t);
}

static bool spread(gc_jpeg_rows *rows, int threads)
{
    const gc_jpeg_frame *frame = &rows->image.frame;
    uint64_t pixels = (uint64_t)frame->width * frame->height;
    if (threads < 2 || pixels < gc_jpeg_rows_spread_min || rows->given > 0 || rows->slots > 1)
        return false;
    if (threads > THREADS_MAX)
        threads = THREADS_MAX;
    size_t row = gc_jpeg_image_row_bytes(&rows->image);
    uint32_t count = frame->mcus_down / (uint32_t)(threads * STRETCHES_A_THREAD);
    if (count > STRETCH_BYTES / row)
        count = (uint32_t)(STRETCH_BYTES / row);
    count = count > 0 ? count : 1;
    bool passes = threads > 2;
    if (!make_ring(rows, threads + AHEAD, count,
                   (gc_jpeg_holding){.coefficients = !passes, .rgb = true}))
        return false;
    if (passes && frame->restart_interval == 0)
        make_traces(rows, threads + AHEAD);
    rows->stretch_rows = count;
    rows->passes = passes;
    rows->lanes = passes ? NULL : gc_jpeg_lanes_create(frame);
    return true;
}

static bool prepare(gc_jpeg_rows *rows, const struct jpeg_source_mgr *at_hand)
{
    gc_jpeg_image *image = &rows->image;
    gc_jpeg_image_divide(image);
    for (int c = 0; image->interpolates && c < image->frame.part_count; c++) {
        rows->above[c] = malloc(image->pitch[c]);
        if (rows->above[c] == NULL)
            return false;
    }
    rows->feed.bytes = malloc(GC_JPEG_FEED_BYTES);
    rows->stretch_rows = 1 + image->piece / (image->frame.mcus_across + 1);
    if (rows->feed.bytes == NULL ||
        !make_ring(rows, 1, rows->stretch_rows, (gc_jpeg_holding){.rgb = false}))
        return false;
    rows->front =
        gc_jpeg_first_place(&image->frame, at_hand->next_input_byte, at_hand->bytes_in_buffer);
    return true;
}

static void free_rows(gc_jpeg_rows *rows)
{
    free_ring(rows->ring, rows->slots);
    free_traces(&rows->traces);
    free(rows->feed.bytes);
    gc_jpeg_lanes_free(rows->lanes);
    gc_jpeg_codings_release(rows->image.frame.codings);
    for (int c = 0; c < GC_JPEG_PARTS_MAX; c++)
        free(rows->above[c]);
    pthread_cond_destroy(&rows->changed);
    pthread_mutex_destroy(&rows->lock);
    free(rows);
}

static gc_jpeg_rows *create(const struct jpeg_decompress_struct *jpeg, const struct gc_input *input,
                            uint64_t data)
{
    uint64_t pixels = (uint64_t)jpeg->image_width * jpeg->image_height;
    gc_jpeg_rows *rows = NULL;
    if (gc_jpeg_can_decode() && pixels >= gc_jpeg_rows_pixels_min)
        rows = calloc(1, sizeof *rows);
    if (rows == NULL)
        return NULL;
    pthread_mutex_init(&rows->lock, NULL);
    pthread_cond_init(&rows->changed, NULL);
    rows->feed = (gc_jpeg_feed){.input = input, .offset = data + jpeg->src->bytes_in_buffer};
    if (gc_jpeg_describe(jpeg, &rows->image.frame) && prepare(rows, jpeg->src))
        return rows;
    free_rows(rows);
    return NULL;
}

const gc_jpeg_decoding gc_jpeg_decoding_own = {
    .create = create,
    .free = free_rows,
    .read = read_rows,
    .spread = spread,
    .help = help,
    .end = end,
};
