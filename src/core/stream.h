/* One run of a plan as an implementation sees it: rows of samples in, rows of output out. */
#pragma once

#include "base/memory_rows.h"
#include "core/conversion.h"
#include "core/problem.h"

/* Who is told how much of a run is done, as gconv_plan_watch says. */
typedef struct gc_watch {
    gconv_progress_function *function; /* NULL: nobody */
    void *user;
} gc_watch;

/* Who is told that a run waits, as gconv_plan_on_wait says. */
typedef struct gc_waiter {
    gconv_wait_function *function; /* NULL: nobody */
    void *user;
} gc_waiter;

/* Memory that is given back after use. */
typedef struct gc_lent_memory {
    char *bytes;
    void (*give)(void *user); /* NULL: `bytes` is freed */
    void *user;
} gc_lent_memory;

/* State of the functions below. Implementations must not touch it. */
typedef struct gc_stream_state {
    bool asked;            /* the source was called, and may have given rows */
    char *colours;         /* a row of the source, if the problem makes it grey */
    gc_lent_memory memory; /* of `kept` */
    char *converted;       /* output rows of gc_stream_write_chain */
    size_t converted_rows; /* that `converted` has room for */
    gc_watch watch;
    gc_waiter waiter;
    double told; /* the most that the watch was told */
} gc_stream_state;

/* Alpha that is not in the chain, from the reading of its row to the writing of it (rule 7). */
typedef struct gc_kept_alpha {
    const gconv_shape *input;
    /* Blocks of rows. A block exists from its first row's reading to its last row's writing. */
    void **blocks;
    size_t row_bytes; /* of a row of alpha samples; 0 if no alpha is kept */
} gc_kept_alpha;

/* The alpha samples of row y from pixel x on; NULL if no alpha is kept. Any thread, for a row that
 * was added. */
const void *gc_kept_alpha_at(const gc_kept_alpha *alpha, uint32_t y, size_t x);

typedef struct gc_stream {
    const gc_problem *problem;
    gconv_source source;
    gconv_sink sink;
    bool chain_only; /* output rows are chain values, without the conversion */
    char *chain_too; /* also wanted: chain values, which the reference alone gives; or NULL */
    size_t chain_too_stride;
    size_t input_bytes;     /* of a row of samples */
    size_t output_bytes;    /* of a row of output */
    gc_kept_alpha alpha;    /* nothing if only chain values are wanted */
    char *kept;             /* all rows of samples, after gc_stream_keep_in succeeded; else NULL */
    gc_memory_source image; /* samples that lie in memory; else its `next` is NULL */
    gc_memory_sink result;  /* output that lies in memory, likewise */
    uint32_t first, end;    /* rows [first, end) of the output are wanted */
    uint32_t rows_read;     /* the next row that is read */
    uint32_t rows_written;  /* the next row that is written */
    gconv_timings timings;
    bool timed; /* the caller wants the times; else a device need not time its parts */
    gc_stream_state own;
} gc_stream;

/* Copies source and sink. A stream is closed after a failure, too. */
gconv_status gc_stream_open(gc_stream *stream, const gc_problem *problem,
                            const gconv_source *source, const gconv_sink *sink, bool chain_only,
                            gconv_error *error);
void gc_stream_close(gc_stream *stream);

/* Says that source and sink are memory. An implementation may then read samples and store output
 * there directly. If alpha is kept and gc_stream_store_row needs it, the implementation has to read
 * rows: gc_stream_read keeps their alpha. */
void gc_stream_use_memory(gc_stream *stream, const gc_memory_source *image,
                          const gc_memory_sink *result);

/* The next `count` rows of input samples, `stride` bytes apart. `error` is not NULL, here
 * and below. */
gconv_status gc_stream_read(gc_stream *stream, uint32_t count, void *rows, size_t stride,
                            gconv_error *error);

/* Says that rows [first, end) of the input are needed alone, before the first is read. */
gconv_status gc_stream_select(gc_stream *stream, uint32_t first, uint32_t end, gconv_error *error);

/* Before the first row is read: tells source and sink how many threads may help them. */
void gc_stream_spread(gc_stream *stream, int threads);

/* Asks the source for its picture as it is stored, before any row is read: true if the device
 * of the run may decode it. The device has to find damage. The time counts as decoding; the caller
 * adds the time that its device takes. Rows can still be read until gc_stream_accept. */
bool gc_stream_offer(gc_stream *stream, gconv_encoded *picture);

/* The device has decoded the picture, which ends `size` bytes from the start of the file: all rows
 * count as read. Call it once nothing but writing can fail, so that another implementation can read
 * the rows until then. */
void gc_stream_accept(gc_stream *stream, size_t size);

/* Chain values of one row of samples. May be called from any thread. */
void gc_stream_load_row(const gc_stream *stream, const void *samples, float *row);

/* Output of row `y` from its chain values. May be called from any thread, once the row was
 * read. */
void gc_stream_store_row(const gc_stream *stream, uint32_t y, const float *row, void *output);

/* gc_stream_store_row for `count` pixels of output row `y` from pixel `first` on, with their chain
 * values at `row`. `first` is a multiple of 8 if the output is of depth 1. */
void gc_stream_store_pixels(const gc_stream *stream, uint32_t y, size_t first, size_t count,
                            const float *row, void *output);

/* Gives the next `count` rows of output to the sink, and tells the watch. */
gconv_status gc_stream_write(gc_stream *stream, uint32_t count, const void *rows, size_t stride,
                             gconv_error *error);

/* Whether the sink takes all rows of the image at once, compressed by the device of the run. */
bool gc_stream_takes_compressed(const gc_stream *stream);

/* gc_stream_write for all rows, if gc_stream_takes_compressed is true. */
gconv_status gc_stream_write_compressed(gc_stream *stream, const struct gc_compressed_rows *rows,
                                        uint64_t white, gconv_error *error);

/* Tells the watch how much of the run is done, from 0 to 1: for an implementation that computes
 * long before it writes. Must not be called while another thread writes. GCONV_ERROR_CANCELLED if
 * the run is to end. */
gconv_status gc_stream_tell(gc_stream *stream, double done, gconv_error *error);

/* Says that the calling thread begins to wait for a device or for memory, or that it goes on.
 * Saying that it goes on may take as long as other images are computed: hold no slot of a device
 * then. */
void gc_stream_waits(const gc_stream *stream, bool waits);

/* Reads all rows into memory of the caller's, stream->kept, input_bytes apart. They stay there
 * until the stream is closed: for implementations that need the whole image, and for another one
 * that starts again. They must not be kept already. The memory is given back when the stream is
 * closed; on failure, at once. */
gconv_status gc_stream_keep_in(gc_stream *stream, const gc_lent_memory *memory, gconv_error *error);

/* Gives the memory of stream->kept back before the stream is closed. */
void gc_stream_give_kept(gc_stream *stream);

/* Converts the next `count` rows of chain values, `stride` values apart, on all threads, and gives
 * them to the sink. */
gconv_status gc_stream_write_chain(gc_stream *stream, uint32_t count, const float *rows,
                                   size_t stride, gconv_error *error);
