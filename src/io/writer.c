/* Writers. Rows pass three layers: conversion to the format's channels, the encoder, the output. */
#include "base/memory.h"
#include "base/memory_rows.h"
#include "base/sized.h"
#include "base/status.h"
#include "core/background.h"
#include "core/grey.h"
#include "core/shape.h"
#include "io/codec.h"
#include "io/format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gconv_writer {
    gc_output *output;
    gc_encoder *encoder;
    gconv_shape shape;   /* of the rows that the caller gives */
    uint32_t taken;      /* rows so far */
    float least_alpha;   /* as in gconv_writer_options */
    unsigned char *row;  /* in the encoder's channels; NULL if the caller's rows have them */
    gconv_sink sink;     /* what gconv_writer_sink gave */
    gconv_error failure; /* the first one; every later call repeats it */
};

void gconv_writer_options_init(gconv_writer_options *options, size_t size)
{
    const gconv_writer_options defaults = {
        .quality = 90, .compression = -1, .keep = GCONV_KEEP_ALL, .white = 255};
    gc_sized_init(options, size, &defaults, sizeof defaults);
}

/* ---- Channels -------------------------------------------------------------------------------- */

static void replicate_row(const unsigned char *input, unsigned char *output, uint32_t width,
                          int channels, size_t sample_bytes)
{
    for (size_t i = 0; i < width; i++)
        for (size_t copy = 0; copy < 3; copy++)
            memcpy(output + (3 * i + copy) * sample_bytes,
                   input + i * (size_t)channels * sample_bytes, sample_bytes);
}

/* Drops alpha, and what has too little of it. */
static void unmask_row(const float *from, float *to, uint32_t width, int channels, float least)
{
    for (uint32_t x = 0; x < width; x++, from++)
        for (int c = 1; c < channels; c++, from++)
            *to++ = from[channels - c] > least ? *from : NAN;
}

static void adapt_row(const gconv_writer *writer, const unsigned char *row)
{
    int have = writer->shape.channels;
    int want = writer->encoder->shape.channels;
    size_t sample_bytes = (size_t)writer->shape.depth / 8;
    if (writer->least_alpha > 0)
        unmask_row((const float *)(const void *)row, (float *)(void *)writer->row,
                   writer->shape.width, have, writer->least_alpha);
    else if (want == 1 && have > 1 && writer->shape.depth <= 16)
        gc_grey_row(row, writer->row, writer->shape.width, have, writer->shape.depth, false);
    else if (want == 3 && have < 3)
        replicate_row(row, writer->row, writer->shape.width, have, sample_bytes);
    else
        gc_drop_alpha_row(row, writer->row, writer->shape.width, have, sample_bytes);
}

/* ---- Opening --------------------------------------------------------------------------------- */

static gconv_status check_part(const gconv_writer_options *options, gconv_error *error)
{
    uint32_t first = options->part_first, whole = options->part_of;
    if (whole == 0)
        return GCONV_OK;
    if (options->format != GCONV_FORMAT_PGM && options->format != GCONV_FORMAT_PPM)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "files of parts of an image are PGM or PPM");
    if (first >= whole || options->shape.height > whole - first)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "%lu rows from row %lu on are no part of an image of %lu rows",
                       (unsigned long)options->shape.height, (unsigned long)first,
                       (unsigned long)whole);
    return GCONV_OK;
}

static gconv_status check_options(const gconv_writer_options *options, gconv_error *error)
{
    const gc_format *format = gc_format_at(options->format);
    char list[GC_FORMAT_NAMES_BYTES];
    if (format != NULL && format->info.missing != NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "this build of gconv does not write %s: %s",
                       format->info.title, format->info.missing);
    if (format == NULL || format->encoder == NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "unknown output format: %s are possible",
                       gc_format_list(GC_FORMATS_WRITTEN, list));
    const gconv_shape *shape = &options->shape;
    char of[16];
    size_t bytes;
    snprintf(of, sizeof of, "%s: ", format->info.name);
    GC_TRY(gc_shape_check(shape, format->info.depths, of, error));
    if (shape->depth == 1 && shape->channels != 1)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "%schannels %d at depth 1: 1 is possible", of,
                       shape->channels);
    if (!gc_multiply(gconv_shape_row_bytes(shape), shape->height, &bytes) || bytes > PTRDIFF_MAX)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "%lu x %lu pixels exceed this machine's memory",
                       (unsigned long)shape->width, (unsigned long)shape->height);
    if (!(options->white > 0) || !isfinite(options->white))
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "white %g: a number above 0 is possible",
                       options->white);
    if (options->quality < GCONV_QUALITY_SAME || options->quality > 100)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "quality %d: 1 to 100 and GCONV_QUALITY_SAME are possible",
                       options->quality);
    if ((int)options->chroma < GCONV_CHROMA_420 || options->chroma > GCONV_CHROMA_SAME)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "chroma %d: none of gconv_chroma",
                       (int)options->chroma);
    if (options->compression == GCONV_COMPRESSION_LZW && options->format != GCONV_FORMAT_TIFF)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "%slzw is for TIFF alone; deflate, or 0 to 9, compresses PNG", of);
    if (options->compression < -1 || options->compression > GCONV_COMPRESSION_LZW)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "compression %d: -1 to 9 are possible",
                       options->compression);
    if (options->least_alpha != 0 &&
        (!(options->least_alpha > 0) || shape->depth != 32 || shape->channels % 2 == 1))
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "least_alpha is for floats with alpha");
    return check_part(options, error);
}

/* Copies a caller's options, which may be shorter or NULL, and refuses what cannot be written. */
static gconv_status read_options(const gconv_writer_options *given, gconv_writer_options *options,
                                 gconv_error *error)
{
    *options = gconv_writer_options_default();
    if (given != NULL)
        GC_TRY(gc_sized_read(given, "gconv_writer_options", options, sizeof *options, error));
    return check_options(options, error);
}

/* Channels of the rows that the encoder takes. Rows of one bit are grey; PPM's encoder makes three
 * channels of them. */
static int file_channels(const gconv_format_info *format, const gconv_shape *shape)
{
    if (shape->depth == 1)
        return shape->channels;
    if (format->channels > 0)
        return format->channels;
    return format->alpha || shape->channels % 2 == 1 ? shape->channels : shape->channels - 1;
}

/* Opens an encoder. If the writer has one, that goes on with this image. */
static gconv_status open_encoder(gconv_writer *writer, const gconv_writer_options *options,
                                 gconv_error *error)
{
    const gc_format *format = gc_format_at(options->format);
    gc_encoder common = {.type = format->encoder,
                         .output = writer->output,
                         .warnings = {.warn = options->warn,
                                      .damage = options->warn_damage,
                                      .user = options->warn_user},
                         .format = options->format,
                         .shape = options->shape,
                         .white = options->white,
                         .quality = options->quality,
                         .lossy = options->lossy,
                         .chroma = options->chroma,
                         .progressive = options->progressive,
                         .compression = options->compression,
                         .part_of = options->part_of,
                         .part_first = options->part_first};
    bool masked = options->least_alpha > 0;
    common.shape.channels =
        masked ? options->shape.channels - 1 : file_channels(&format->info, &options->shape);
    writer->least_alpha = (float)options->least_alpha;
    common.metadata = gc_metadata_select(options->metadata, options->keep, options->format,
                                         common.shape.channels, &common.warnings);
    if (options->shape.channels % 2 == 0 && !format->info.alpha && !masked)
        gc_warn(&common.warnings, "%s has no alpha: dropped", format->info.name);
    if (options->shape.channels > 2 && common.shape.channels == 1)
        gc_warn(&common.warnings, "%s has no colours: made grey", format->info.name);
    if (common.shape.channels != options->shape.channels) {
        size_t row_bytes = gconv_shape_row_bytes(&common.shape);
        writer->row = gc_allocate_aligned(1, row_bytes);
        GC_TRY_MEMORY(writer->row != NULL, error, row_bytes);
    }
    bool goes_on = writer->encoder != NULL;
    if (!goes_on)
        writer->encoder = calloc(1, format->encoder->size);
    GC_TRY_MEMORY(writer->encoder != NULL, error, format->encoder->size);
    *writer->encoder = common;
    gconv_status status = goes_on ? format->encoder->next(writer->encoder, error)
                                  : format->encoder->open(writer->encoder, error);
    writer->encoder->metadata = (gconv_metadata){0};
    return status;
}

gconv_status gconv_writer_open(const char *path, const gconv_writer_options *given,
                               gconv_writer **writer, gconv_error *error)
{
    *writer = NULL;
    if (path == NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "no file is named: a null pointer");
    gconv_writer_options options;
    GC_TRY(read_options(given, &options, error));
    gconv_writer *opened = calloc(1, sizeof *opened);
    GC_TRY_MEMORY(opened != NULL, error, sizeof *opened);
    opened->shape = options.shape;
    gc_output_options output_options = {.no_clobber = options.no_clobber,
                                        .sync = options.sync,
                                        .complete = options.complete,
                                        .written = options.written,
                                        .complete_user = options.complete_user};
    gconv_status status = gc_output_open(path, &output_options, &opened->output, error);
    GC_THEN(status, open_encoder(opened, &options, error));
    if (status == GCONV_OK)
        *writer = opened;
    else
        gconv_writer_free(opened);
    return status;
}

void gconv_writer_free(gconv_writer *writer)
{
    if (writer == NULL)
        return;
    if (writer->encoder != NULL)
        writer->encoder->type->free(writer->encoder);
    gc_output_free(writer->output);
    free(writer->row);
    free(writer);
}

/* ---- Writing --------------------------------------------------------------------------------- */

static bool holds_several(gconv_format format)
{
    return gc_format_at(format)->info.several;
}

/* Whether images of both formats may be in one file. */
static gconv_status check_together(gconv_format one, gconv_format other, gconv_error *error)
{
    char list[GC_FORMAT_NAMES_BYTES];
    if (holds_several(one) && gc_format_at(one)->encoder == gc_format_at(other)->encoder)
        return GCONV_OK;
    return gc_fail(error, GCONV_ERROR_ARGUMENT,
                   "%s and %s are not in one file; %s hold several images",
                   gc_format_at(one)->info.title, gc_format_at(other)->info.title,
                   gc_format_list(GC_FORMATS_SEVERAL, list));
}

static gconv_status write_rows(gconv_writer *writer, uint32_t count, const unsigned char *rows,
                               size_t stride, gconv_error *error)
{
    gc_encoder *encoder = writer->encoder;
    const gc_encoder_type *type = encoder->type;
    if (writer->row == NULL && type->write != NULL)
        return type->write(encoder, count, rows, stride, error);
    for (uint32_t i = 0; i < count; i++) {
        const unsigned char *row = writer->row != NULL ? writer->row : rows + i * stride;
        if (writer->row != NULL)
            adapt_row(writer, rows + i * stride);
        GC_TRY(type->write != NULL ? type->write(encoder, 1, row, 0, error)
                                   : type->write_row(encoder, row, error));
    }
    return GCONV_OK;
}

/* Keeps the first failure, and gives the caller a copy. */
static gconv_status settle(gconv_writer *writer, gconv_status status, gconv_error *error)
{
    writer->failure.status = status;
    if (status != GCONV_OK && error != NULL)
        *error = writer->failure;
    return status;
}

gconv_status gconv_writer_write(gconv_writer *writer, uint32_t count, const void *rows,
                                size_t stride, gconv_error *error)
{
    if (writer->failure.status != GCONV_OK)
        return settle(writer, writer->failure.status, error);
    if (count > writer->shape.height - writer->taken)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "more rows written than the image has");
    if (count == 0)
        return GCONV_OK;
    writer->taken += count;
    gconv_status status = write_rows(writer, count, rows, stride, &writer->failure);
    /* A program that reads a stream of images gets each image as soon as it is complete. */
    if (status == GCONV_OK && writer->taken == writer->shape.height &&
        holds_several(writer->encoder->format) && !gc_output_seeks(writer->output))
        status = gc_output_flush(writer->output, &writer->failure);
    return settle(writer, status, error);
}

static gconv_status check_complete(const gconv_writer *writer, gconv_error *error)
{
    if (writer->taken < writer->shape.height)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "%lu rows are missing",
                       (unsigned long)(writer->shape.height - writer->taken));
    return GCONV_OK;
}

gconv_status gconv_writer_next(gconv_writer *writer, const gconv_writer_options *given,
                               gconv_error *error)
{
    if (writer->failure.status != GCONV_OK)
        return settle(writer, writer->failure.status, error);
    gconv_writer_options options;
    GC_TRY(check_complete(writer, error));
    GC_TRY(read_options(given, &options, error));
    GC_TRY(check_together(options.format, writer->encoder->format, error));
    gconv_status status = GCONV_OK;
    if (writer->encoder->type->next == NULL) {
        status = writer->encoder->type->finish(writer->encoder, &writer->failure);
        writer->encoder->type->free(writer->encoder);
        writer->encoder = NULL;
    }
    free(writer->row);
    writer->row = NULL;
    writer->shape = options.shape;
    writer->taken = 0;
    GC_THEN(status, open_encoder(writer, &options, &writer->failure));
    return settle(writer, status, error);
}

gconv_status gconv_writer_finish(gconv_writer *writer, gconv_error *error)
{
    if (writer->failure.status != GCONV_OK)
        return settle(writer, writer->failure.status, error);
    GC_TRY(check_complete(writer, error));
    gconv_status status = GCONV_OK;
    if (writer->encoder->type->finish != NULL)
        status = writer->encoder->type->finish(writer->encoder, &writer->failure);
    GC_THEN(status, gc_output_commit(writer->output, &writer->failure));
    return settle(writer, status, error);
}

static gconv_status write_for_sink(void *user, uint32_t count, const void *rows, size_t stride,
                                   gconv_error *error)
{
    return gconv_writer_write(user, count, rows, stride, error);
}

static bool help_for_sink(void *user)
{
    gconv_writer *writer = user;
    return writer->encoder->type->help(writer->encoder);
}

static void spread_for_sink(void *user, int threads)
{
    gconv_writer *writer = user;
    if (writer->failure.status == GCONV_OK && writer->taken == 0)
        writer->encoder->type->spread(writer->encoder, threads);
}

/* Whether the image is all that the writer waits for, and rows are the encoder's as they are. */
static bool takes_compressed(void *user, const gconv_shape *shape)
{
    gconv_writer *writer = user;
    return writer->failure.status == GCONV_OK && writer->taken == 0 && writer->row == NULL &&
           gc_is_same_shape(shape, &writer->shape) &&
           writer->encoder->type->takes_compressed(writer->encoder);
}

static gconv_status write_compressed(void *user, const struct gc_compressed_rows *rows,
                                     uint64_t white, gconv_error *error)
{
    gconv_writer *writer = user;
    (void)white;
    writer->taken = writer->shape.height;
    gconv_status status =
        writer->encoder->type->write_compressed(writer->encoder, rows, &writer->failure);
    return settle(writer, status, error);
}

const gconv_sink *gconv_writer_sink(gconv_writer *writer)
{
    gconv_sink *sink = &writer->sink;
    *sink = (gconv_sink){.size = sizeof *sink, .write = write_for_sink, .user = writer};
    if (writer->encoder->type->help != NULL)
        sink->help = help_for_sink;
    if (writer->encoder->type->spread != NULL)
        sink->spread = spread_for_sink;
    if (writer->encoder->type->write_compressed != NULL) {
        sink->takes_compressed = takes_compressed;
        sink->write_compressed = write_compressed;
    }
    return sink;
}
