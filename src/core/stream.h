/* One run of a plan as an implementation sees it: rows of samples in, rows of output out. */
#ifndef GC_CORE_STREAM_H
#define GC_CORE_STREAM_H

#include "core/problem.h"

/* Who is told how much of a run is done, from 0 to 1; `told` may be NULL. Told by implementations
 * that give no rows before all are computed, from one thread at a time. */
typedef struct gc_watch {
    void (*told)(void *user, double done);
    void *user;
} gc_watch;

typedef struct gc_stream {
    const gc_problem *problem;
    gconv_source source;
    gconv_sink sink;
    bool chain_only;     /* output rows are chain values, without the final conversion */
    size_t input_bytes;  /* of a row of samples */
    size_t output_bytes; /* of a row of output */
    void **alpha;        /* blocks of rows of alpha samples where alpha is kept, else NULL; a block
                          * exists from the reading of its first row to the writing of its last */
    size_t alpha_bytes;  /* of a row of them */
    bool asked;          /* the source was called: it may have left the first row */
    char *kept;          /* all rows of samples, after gc_stream_keep succeeded; else NULL */
    char *converted;     /* output rows of gc_stream_write_chain */
    const char *image;   /* all rows of samples where they already lie in memory, else NULL: */
    size_t image_stride; /* implementations may take them from there, without reading */
    char *result;        /* where all rows of output go in memory, else NULL: implementations may */
    size_t result_stride; /* put them there, without writing */
    size_t converted_rows;
    uint32_t rows_read;
    uint32_t rows_written;
    gconv_timings timings;
    gc_watch watch;
} gc_stream;

gconv_status gc_stream_open(gc_stream *stream, const gc_problem *problem, gconv_source source,
                            gconv_sink sink, bool chain_only, gconv_error *error);
void gc_stream_close(gc_stream *stream);

/* Says that source and sink are memory: rows `input_stride` and `output_stride` bytes apart. Not
 * where alpha is kept, since reading is what keeps it. */
void gc_stream_use_memory(gc_stream *stream, const void *input, size_t input_stride, void *output,
                          size_t output_stride);

/* The next `count` rows of input samples, `stride` bytes apart. `error` is not NULL, here and
 * below. / */
gconv_status gc_stream_read(gc_stream *stream, uint32_t count, void *rows, size_t stride,
                            gconv_error *error);

/* Chain values of one row of samples. May be called from any thread. */
void gc_stream_load_row(const gc_stream *stream, const void *samples, float *row);

/* Output of row `y` from its chain values. May be called from any thread, once row y has been read.
 */
void gc_stream_store_row(const gc_stream *stream, uint32_t y, const float *row, void *output);

/* The same for `count` pixels of output row `y` from pixel `first` on, with their chain values at
 * `row`. `first` is a multiple of 8 where the output is of depth 1. */
void gc_stream_store_pixels(const gc_stream *stream, uint32_t y, size_t first, size_t count,
                            const float *row, void *output);

/* Gives the next `count` rows of output to the sink. */
gconv_status gc_stream_write(gc_stream *stream, uint32_t count, const void *rows, size_t stride,
                             gconv_error *error);

/* Tells how much of the run is done. */
void gc_stream_tell(const gc_stream *stream, double done);

/* Reads all rows into stream->kept, input_bytes apart. They stay there until the stream is closed:
 * for implementations that need the whole image, and for another one that starts again. */
gconv_status gc_stream_keep(gc_stream *stream, gconv_error *error);

/* Converts the next `count` rows of chain values, `stride` values apart, on all threads, and gives
 * them to the sink. */
gconv_status gc_stream_write_chain(gc_stream *stream, uint32_t count, const float *rows,
                                   size_t stride, gconv_error *error);

/* Threads of the CPU for a run of `work` multiply-adds from file to file: more than one only where
 * the work pays for them. */
int gc_stream_threads(double work);

#endif
