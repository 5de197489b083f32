#include "core/stream.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/processors.h"
#include "base/sized.h"
#include "base/status.h"
#include "base/threads.h"
#include "core/background.h"
#include "core/conversion.h"
#include "core/grey.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* CONVERTED_VALUES: that a thread converts at a time, some 50 us. BLOCK_ROWS: of alpha. */
enum { CONVERTED_VALUES = 1 << 16, BLOCK_ROWS = 64 };

/* ---- Alpha that is not in the chain ---------------------------------------------------------- */

static size_t block_count(const gc_kept_alpha *alpha)
{
    return (alpha->input->height + BLOCK_ROWS - 1) / BLOCK_ROWS;
}

static size_t sample_bytes(const gconv_shape *input)
{
    return (size_t)input->depth / 8;
}

/* Room for the alpha of an image whose conversion keeps it; else nothing is kept. */
static gconv_status create_kept_alpha(gc_kept_alpha *alpha, const gc_conversion *conversion,
                                      gconv_error *error)
{
    *alpha = (gc_kept_alpha){.input = &conversion->input};
    if (!conversion->keeps_alpha)
        return GCONV_OK;
    alpha->row_bytes = (size_t)alpha->input->width * sample_bytes(alpha->input);
    alpha->blocks = calloc(block_count(alpha), sizeof *alpha->blocks);
    GC_TRY_MEMORY(alpha->blocks != NULL, error, block_count(alpha) * sizeof *alpha->blocks);
    return GCONV_OK;
}

static void destroy_kept_alpha(gc_kept_alpha *alpha)
{
    for (size_t i = 0; alpha->blocks != NULL && i < block_count(alpha); i++)
        free(alpha->blocks[i]);
    free(alpha->blocks);
    alpha->blocks = NULL;
}

static char *row_of(const gc_kept_alpha *alpha, uint32_t y)
{
    return (char *)alpha->blocks[y / BLOCK_ROWS] + y % BLOCK_ROWS * alpha->row_bytes;
}

/* Keeps the alpha of `count` rows of samples from row y on. */
static gconv_status add_kept_alpha(gc_kept_alpha *alpha, uint32_t y, uint32_t count,
                                   const void *rows, size_t stride, gconv_error *error)
{
    for (uint32_t i = 0; alpha->blocks != NULL && i < count; i++) {
        void **block = &alpha->blocks[(y + i) / BLOCK_ROWS];
        if (*block == NULL)
            *block = gc_allocate_array(BLOCK_ROWS, alpha->row_bytes);
        GC_TRY_MEMORY(*block != NULL, error, BLOCK_ROWS * alpha->row_bytes);
        gc_extract_alpha(alpha->input, (const char *)rows + i * stride, row_of(alpha, y + i));
    }
    return GCONV_OK;
}

const void *gc_kept_alpha_at(const gc_kept_alpha *alpha, uint32_t y, size_t x)
{
    return alpha->blocks == NULL ? NULL : row_of(alpha, y) + x * sample_bytes(alpha->input);
}

/* Says that rows [first, end) were written now. Frees each block whose last row is among them. */
static void drop_kept_alpha(gc_kept_alpha *alpha, uint32_t first, uint32_t end)
{
    for (uint32_t i = first / BLOCK_ROWS; alpha->blocks != NULL && i < end / BLOCK_ROWS; i++) {
        free(alpha->blocks[i]);
        alpha->blocks[i] = NULL;
    }
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static gconv_status read_sink(const gconv_sink *given, gconv_sink *sink, gconv_error *error)
{
    *sink = gconv_sink_default();
    gconv_status status = gc_sized_read(given, "gconv_sink", sink, sizeof *sink, error);
    if (status == GCONV_OK && sink->write == NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "the sink has no function `write`");
    return status;
}

static gconv_status read_source(const gconv_source *given, gconv_source *source, gconv_error *error)
{
    *source = gconv_source_default();
    gconv_status status = gc_sized_read(given, "gconv_source", source, sizeof *source, error);
    if (status == GCONV_OK && source->read == NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "the source has no function `read`");
    return status;
}

gconv_status gc_stream_open(gc_stream *stream, const gc_problem *problem,
                            const gconv_source *source, const gconv_sink *sink, bool chain_only,
                            gconv_error *error)
{
    memset(stream, 0, sizeof *stream);
    GC_TRY(read_source(source, &stream->source, error));
    GC_TRY(read_sink(sink, &stream->sink, error));
    stream->problem = problem;
    stream->chain_only = chain_only;
    stream->end = problem->chain.height;
    stream->input_bytes = gconv_shape_row_bytes(&problem->conversion.input);
    stream->output_bytes = gconv_shape_row_bytes(&problem->conversion.output);
    if (problem->to_grey) {
        size_t bytes = gconv_shape_row_bytes(&problem->given);
        stream->source.offer = NULL; /* a device would not make the same grey */
        stream->own.colours = gc_allocate_array(1, bytes);
        GC_TRY_MEMORY(stream->own.colours != NULL, error, bytes);
    }
    if (chain_only)
        stream->output_bytes = gc_chain_row_values(&problem->chain) * sizeof(float);
    else
        return create_kept_alpha(&stream->alpha, &problem->conversion, error);
    return GCONV_OK;
}

void gc_stream_use_memory(gc_stream *stream, const gc_memory_source *image,
                          const gc_memory_sink *result)
{
    stream->image = *image;
    stream->result = *result;
}

void gc_stream_give_kept(gc_stream *stream)
{
    if (stream->own.memory.give != NULL)
        stream->own.memory.give(stream->own.memory.user);
    else
        free(stream->own.memory.bytes);
    stream->own.memory = (gc_lent_memory){.bytes = NULL};
    stream->kept = NULL;
}

void gc_stream_close(gc_stream *stream)
{
    destroy_kept_alpha(&stream->alpha);
    gc_stream_give_kept(stream);
    free(stream->own.converted);
    free(stream->own.colours);
    stream->own.converted = stream->own.colours = NULL;
}

/* Writes the message of a failed callback that left none. */
static gconv_status require_message(gconv_status status, gconv_error *error)
{
    if (status != GCONV_OK && error->status != status)
        return gc_fail(error, status, "%s", gconv_status_text(status));
    return status;
}

/* Makes a row of the source grey. What is not opaque is put on white. */
static void make_grey(gc_stream *stream, char *row)
{
    const gconv_shape *given = &stream->problem->given;
    const uint16_t level = given->depth == 16 ? UINT16_MAX : UINT8_MAX;
    const uint16_t white[3] = {level, level, level};
    if (given->channels % 2 == 0)
        gc_flatten_row(stream->own.colours, given->width, given->channels, given->depth, white);
    gc_grey_row(stream->own.colours, row, given->width, given->channels, given->depth,
                stream->problem->job.order == GCONV_ORDER_BGR);
}

static gconv_status read_as_grey(gc_stream *stream, uint32_t count, char *rows, size_t stride,
                                 gconv_error *error)
{
    size_t bytes = gconv_shape_row_bytes(&stream->problem->given);
    gconv_status status = GCONV_OK;
    for (uint32_t y = 0; status == GCONV_OK && y < count; y++) {
        status = stream->source.read(stream->source.user, 1, stream->own.colours, bytes, error);
        if (status == GCONV_OK)
            make_grey(stream, rows + y * stride);
    }
    return status;
}

static gconv_status read_rows(gc_stream *stream, uint32_t count, void *rows, size_t stride,
                              gconv_error *error)
{
    return stream->own.colours != NULL
               ? read_as_grey(stream, count, rows, stride, error)
               : stream->source.read(stream->source.user, count, rows, stride, error);
}

gconv_status gc_stream_read(gc_stream *stream, uint32_t count, void *rows, size_t stride,
                            gconv_error *error)
{
    double start = gc_seconds();
    *error = (gconv_error){.status = GCONV_OK};
    stream->own.asked = true;
    gconv_status status = read_rows(stream, count, rows, stride, error);
    status = require_message(status, error);
    stream->timings.decode += gc_seconds() - start;
    GC_THEN(status, add_kept_alpha(&stream->alpha, stream->rows_read, count, rows, stride, error));
    if (status == GCONV_OK)
        stream->rows_read += count;
    return status;
}

static gconv_status drop_rows(gc_stream *stream, uint32_t count, gconv_error *error)
{
    void *row = gc_allocate_array(1, stream->input_bytes);
    GC_TRY_MEMORY(row != NULL, error, stream->input_bytes);
    gconv_status status = GCONV_OK;
    for (uint32_t y = 0; status == GCONV_OK && y < count; y++)
        status = read_rows(stream, 1, row, stream->input_bytes, error);
    free(row);
    return status;
}

gconv_status gc_stream_select(gc_stream *stream, uint32_t first, uint32_t end, gconv_error *error)
{
    const gconv_source *source = &stream->source;
    double start = gc_seconds();
    gconv_status status;
    *error = (gconv_error){.status = GCONV_OK};
    if (first == 0 && end == stream->problem->chain.height)
        return GCONV_OK;
    stream->own.asked = true;
    stream->rows_read = first;
    if (source->select != NULL)
        status = source->select(source->user, first, end - first, error);
    else
        status = drop_rows(stream, first, error);
    stream->timings.decode += gc_seconds() - start;
    return require_message(status, error);
}

void gc_stream_spread(gc_stream *stream, int threads)
{
    const gconv_source *source = &stream->source;
    const gconv_sink *sink = &stream->sink;
    if (threads > 1 && sink->help != NULL && sink->spread != NULL)
        sink->spread(sink->user, threads);
    if (threads > 1 && !stream->own.asked && source->help != NULL && source->spread != NULL)
        source->spread(source->user, threads);
}

bool gc_stream_offer(gc_stream *stream, gconv_encoded *picture)
{
    const gconv_source *source = &stream->source;
    double start = gc_seconds();
    bool offered = !stream->own.asked && source->offer != NULL && source->accept != NULL &&
                   source->offer(source->user, picture);
    stream->timings.decode += gc_seconds() - start;
    return offered;
}

void gc_stream_accept(gc_stream *stream, size_t size)
{
    stream->source.accept(stream->source.user, size);
    stream->own.asked = true;
    stream->rows_read = stream->problem->chain.height;
}

void gc_stream_load_row(const gc_stream *stream, const void *samples, float *row)
{
    gc_load_row(&stream->problem->conversion, samples, row);
}

void gc_stream_store_row(const gc_stream *stream, uint32_t y, const float *row, void *output)
{
    if (stream->chain_only)
        memcpy(output, row, stream->output_bytes);
    else
        gc_stream_store_pixels(stream, y, 0, stream->problem->chain.width, row, output);
}

void gc_stream_store_pixels(const gc_stream *stream, uint32_t y, size_t first, size_t count,
                            const float *row, void *output)
{
    const gc_problem *problem = stream->problem;
    const gconv_shape *shape = &problem->conversion.output;
    size_t bits = (size_t)shape->channels * (size_t)shape->depth;
    const void *alpha = gc_kept_alpha_at(&stream->alpha, y, first);
    gc_store_pixels(&problem->conversion, row, count, alpha, (char *)output + first * bits / 8);
}

/* What follows a call of the sink for `count` rows that began at `start`. */
static gconv_status finish_writing(gc_stream *stream, uint32_t count, double start,
                                   gconv_status status, gconv_error *error)
{
    status = require_message(status, error);
    stream->timings.encode += gc_seconds() - start;
    uint32_t first = stream->rows_written;
    stream->rows_written += count;
    drop_kept_alpha(&stream->alpha, first, stream->rows_written);
    GC_THEN(status, gc_stream_tell(stream,
                                   (double)(stream->rows_written - stream->first) /
                                       (stream->end - stream->first),
                                   error));
    return status;
}

gconv_status gc_stream_write(gc_stream *stream, uint32_t count, const void *rows, size_t stride,
                             gconv_error *error)
{
    double start = gc_seconds();
    *error = (gconv_error){.status = GCONV_OK};
    gconv_status status = stream->sink.write(stream->sink.user, count, rows, stride, error);
    return finish_writing(stream, count, start, status, error);
}

bool gc_stream_takes_compressed(const gc_stream *stream)
{
    const gconv_sink *sink = &stream->sink;
    const gconv_shape *shape = &stream->problem->conversion.output;
    return !stream->chain_only && shape->depth == 1 && shape->channels == 1 && stream->first == 0 &&
           stream->end == shape->height && stream->rows_written == 0 &&
           sink->takes_compressed != NULL && sink->write_compressed != NULL &&
           sink->takes_compressed(sink->user, shape);
}

gconv_status gc_stream_write_compressed(gc_stream *stream, const struct gc_compressed_rows *rows,
                                        uint64_t white, gconv_error *error)
{
    double start = gc_seconds();
    *error = (gconv_error){.status = GCONV_OK};
    gconv_status status = stream->sink.write_compressed(stream->sink.user, rows, white, error);
    return finish_writing(stream, stream->end, start, status, error);
}

gconv_status gc_stream_tell(gc_stream *stream, double done, gconv_error *error)
{
    if (done > stream->own.told)
        stream->own.told = done;
    if (stream->own.watch.function == NULL ||
        stream->own.watch.function(stream->own.watch.user, stream->own.told))
        return GCONV_OK;
    return gc_fail(error, GCONV_ERROR_CANCELLED, "%s", gconv_status_text(GCONV_ERROR_CANCELLED));
}

void gc_stream_waits(const gc_stream *stream, bool waits)
{
    if (stream->own.waiter.function != NULL)
        stream->own.waiter.function(stream->own.waiter.user, waits);
}

gconv_status gc_stream_keep_in(gc_stream *stream, const gc_lent_memory *memory, gconv_error *error)
{
    uint32_t height = stream->problem->chain.height;
    stream->own.memory = *memory;
    gconv_status status = gc_stream_read(stream, height, memory->bytes, stream->input_bytes, error);
    if (status == GCONV_OK)
        stream->kept = memory->bytes;
    else
        gc_stream_give_kept(stream);
    return status;
}

/* Rows that threads convert, some at a time. */
typedef struct rows_to_convert {
    const gc_stream *stream;
    const float *rows;
    size_t stride;
    uint32_t first; /* output row of the first */
    uint32_t count;
    uint32_t part;
    atomic_uint next;
} rows_to_convert;

static void convert_parts(void *user, int member)
{
    rows_to_convert *c = user;
    (void)member;
    uint32_t from;
    while ((from = atomic_fetch_add(&c->next, c->part)) < c->count)
        for (uint32_t i = from; i < c->count && i < from + c->part; i++)
            gc_stream_store_row(c->stream, c->first + i, c->rows + i * c->stride,
                                c->stream->own.converted + i * c->stream->output_bytes);
}

/* Converts `count` rows into stream->own.converted, on all threads that the work pays for. */
static void convert_rows(gc_stream *stream, uint32_t count, const float *rows, size_t stride)
{
    const gc_problem *problem = stream->problem;
    int64_t values = (int64_t)problem->chain.width * problem->chain.channels;
    uint32_t part = (uint32_t)gc_smaller(gc_larger(CONVERTED_VALUES / values, 1), count);
    rows_to_convert c = {.stream = stream,
                         .rows = rows,
                         .stride = stride,
                         .first = stream->rows_written,
                         .count = count,
                         .part = part};
    int64_t threads = gc_smaller(gc_thread_count(problem->job.threads), count / part);
    gc_team_run((int)threads, problem->job.threads > 0, convert_parts, &c);
}

gconv_status gc_stream_write_chain(gc_stream *stream, uint32_t count, const float *rows,
                                   size_t stride, gconv_error *error)
{
    if (stream->own.converted_rows < count) {
        free(stream->own.converted);
        stream->own.converted = gc_allocate_array(count, stream->output_bytes);
        stream->own.converted_rows = stream->own.converted != NULL ? count : 0;
        GC_TRY_MEMORY(stream->own.converted != NULL, error, count * stream->output_bytes);
    }
    double start = gc_seconds();
    convert_rows(stream, count, rows, stride);
    stream->timings.compute += gc_seconds() - start;
    return gc_stream_write(stream, count, stream->own.converted, stream->output_bytes, error);
}
