/* Readers. Rows pass three layers: the decoder, the background and grey if they are asked for,
 * orientation. */
#include "base/memory.h"
#include "base/sized.h"
#include "base/status.h"
#include "core/grey.h"
#include "io/exif.h"
#include "io/format.h"
#include "io/orient.h"
#include "io/reader_parts.h"

#include <math.h>
#include <stdlib.h>

#define MAX_PIXELS_DEFAULT (UINT64_C(1) << 30)

void gconv_reader_options_init(gconv_reader_options *options, size_t size)
{
    const gconv_reader_options defaults = {.auto_orient = true,
                                           .max_pixels = MAX_PIXELS_DEFAULT,
                                           .background = {UINT8_MAX, UINT8_MAX, UINT8_MAX}};
    gc_sized_init(options, size, &defaults, sizeof defaults);
}

/* ---- What codecs share ----------------------------------------------------------------------- */

gconv_status gc_decoder_check_size(const gc_decoder *decoder, gconv_error *error)
{
    const gconv_shape *shape = &decoder->shape;
    uint64_t pixels = (uint64_t)shape->width * shape->height;
    if (pixels > decoder->max_pixels)
        return gc_fail(error, GCONV_ERROR_LIMIT,
                       "%lu x %lu is %llu pixels, more than the limit of %llu (--max-pixels)",
                       (unsigned long)shape->width, (unsigned long)shape->height,
                       (unsigned long long)pixels, (unsigned long long)decoder->max_pixels);
    size_t row_bytes = gconv_shape_row_bytes(shape);
    size_t bytes;
    if (row_bytes == 0 || !gc_multiply(row_bytes, shape->height, &bytes) || bytes > PTRDIFF_MAX)
        return gc_fail(error, GCONV_ERROR_LIMIT,
                       "%lu x %lu pixels do not fit this machine's memory",
                       (unsigned long)shape->width, (unsigned long)shape->height);
    return GCONV_OK;
}

gconv_status gc_decoder_tell_trailing(const gc_decoder *decoder, gconv_error *error)
{
    if (decoder->warnings.whole)
        return gc_metadata_lose(&decoder->warnings, GCONV_KEEP_NOTHING,
                                "bytes follow the end of the image", error);
    if (decoder->input->regular)
        gc_warn(&decoder->warnings, "bytes after the end of the image ignored");
    else
        gc_warn_damage(
            &decoder->warnings,
            "bytes after the end of the image ignored; if they are of a video, " GC_TAKE_FRAMES);
    return GCONV_OK;
}

gconv_status gc_decoder_check_trailing(gc_decoder *decoder, gconv_error *error)
{
    const int patience = 100; /* milliseconds; the next frame of a video may not be there yet */
    return gc_input_has_more(decoder->input, patience) ? gc_decoder_tell_trailing(decoder, error)
                                                       : GCONV_OK;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static gconv_status open_decoder(gconv_reader *reader, gc_decoder **decoder, gconv_error *error)
{
    const gconv_reader_options *options = &reader->options;
    const unsigned char *bytes;
    size_t size;
    gconv_format content = GCONV_FORMAT_UNKNOWN;
    /* A pipe may send no more than a small image. */
    for (size_t wanted = GC_SIGNATURE_BYTES_MIN;
         content == GCONV_FORMAT_UNKNOWN && wanted <= GC_SIGNATURE_BYTES_MAX;
         wanted += GC_SIGNATURE_BYTES_MAX - GC_SIGNATURE_BYTES_MIN) {
        GC_TRY(gc_input_peek(&reader->input, wanted, &bytes, &size, error));
        content = gconv_format_from_content(bytes, size);
    }
    const gc_format *format = gc_format_at(content);
    if (format == NULL)
        return gc_format_refuse(bytes, size, error);
    gc_decoder common = {.type = format->decoder,
                         .format = content,
                         .input = &reader->input,
                         .warnings = {options->warn, options->warn_damage, options->warn_user,
                                      options->keep, options->whole},
                         .max_pixels = options->max_pixels,
                         .white = options->white,
                         .page = options->page,
                         .all_planes = options->planes == GCONV_PLANES_ALL,
                         .tolerant = options->tolerant,
                         .libraries_only = options->decoder == GCONV_DECODER_CPU,
                         .grey_wanted = options->grey};
    *decoder = calloc(1, format->decoder->size);
    GC_TRY_MEMORY(*decoder != NULL, error, format->decoder->size);
    **decoder = common;
    return format->decoder->open(*decoder, error);
}

/* Rows become columns. */
static void swap_axes(gconv_metadata *metadata)
{
    gc_jpeg_form *jpeg = &metadata->jpeg;
    uint32_t x = metadata->resolution.x;
    metadata->resolution.x = metadata->resolution.y;
    metadata->resolution.y = x;
    for (int c = 0; c < 3; c++) {
        uint8_t across = jpeg->across[c];
        jpeg->across[c] = jpeg->down[c];
        jpeg->down[c] = across;
        for (int i = 0; i < 64; i++) {
            int other = i % 8 * 8 + i / 8;
            uint16_t step = jpeg->steps[c][i];
            if (i < other) {
                jpeg->steps[c][i] = jpeg->steps[c][other];
                jpeg->steps[c][other] = step;
            }
        }
    }
}

/* The place of an image that is turned. */
static void drop_place(gc_decoder *decoder)
{
    bool placed = false;
    for (int i = 0; i < GC_TIFF_GEO_TAGS; i++) {
        gc_tiff_tag *tag = &decoder->metadata.tags[i];
        placed |= tag->values != NULL;
        free(tag->values);
        tag->values = NULL;
    }
    if (placed)
        gc_warn(&decoder->warnings, "GeoTIFF tags dropped: they are for the image as it is stored");
}

/* The background as samples of the decoder's: of grey images its luma. */
static void set_background(gconv_reader *reader)
{
    const uint8_t *levels = reader->options.background;
    uint16_t *background = reader->background;
    for (int i = 0; i < 3; i++)
        background[i] = (uint16_t)(reader->decoder->shape.depth == 8 ? levels[i] : 257 * levels[i]);
    if (reader->decoder->shape.channels == 2)
        background[0] = (uint16_t)gc_luma(background[0], background[1], background[2]);
}

/* Sets up the layers above the decoder: background, grey, orientation. */
static gconv_status plan_layers(gconv_reader *reader, gconv_error *error)
{
    const gconv_reader_options *options = &reader->options;
    gc_decoder *decoder = reader->decoder;
    gconv_metadata *metadata = &decoder->metadata;
    bool is_float = decoder->shape.depth == 32;
    GC_TRY(gc_metadata_check(metadata, &decoder->warnings, error));
    if (options->nan == GCONV_NAN_IGNORE && is_float && decoder->shape.channels % 2 == 0)
        return gc_fail(error, GCONV_ERROR_FORMAT, "--nan ignore takes no alpha");
    reader->stored = decoder->shape;
    reader->to_grey = options->grey && decoder->shape.channels > 1;
    reader->flattens = (options->grey || options->opaque) && decoder->shape.channels % 2 == 0;
    reader->masks = options->nan == GCONV_NAN_IGNORE && is_float;
    reader->composited = false;
    set_background(reader);
    if (reader->to_grey)
        reader->stored.channels = 1;
    else if (reader->flattens)
        reader->stored.channels--;
    if (reader->masks)
        reader->stored.channels++;
    reader->stored_bytes = gconv_shape_row_bytes(&reader->stored);
    reader->shape = reader->stored;
    reader->end = reader->shape.height;
    reader->orientation = decoder->bottom_up ? GC_ORIENTATION_UPSIDE_DOWN : GC_ORIENTATION_UPRIGHT;
    const gc_blob *exif = &metadata->blobs[GC_EXIF];
    if (options->auto_orient && exif->bytes != NULL)
        reader->orientation = gc_exif_orientation(exif->bytes, exif->size);
    if (reader->orientation == GC_ORIENTATION_UPRIGHT)
        return GCONV_OK;
    gc_metadata_set_upright(metadata);
    drop_place(decoder);
    if (gc_orientation_swaps(reader->orientation)) {
        reader->shape.width = reader->stored.height;
        reader->shape.height = reader->end = reader->stored.width;
        swap_axes(metadata);
    }
    return GCONV_OK;
}

static gconv_status go_to_page(gconv_reader *reader, gconv_error *error);

/* Calls the options' `opened`, and has `read` see the bytes. */
static void introduce(gc_input *input, const gconv_reader_options *options)
{
    if (options->opened != NULL)
        options->opened(options->opened_user, input->descriptor);
    input->shown = options->read;
    input->shown_user = options->opened_user;
}

gconv_status gconv_reader_open(const char *path, const gconv_reader_options *options,
                               gconv_reader **reader, gconv_error *error)
{
    *reader = NULL;
    if (path == NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "no file is named: a null pointer");
    gconv_reader_options known = gconv_reader_options_default();
    if (options != NULL)
        GC_TRY(gc_sized_read(options, "gconv_reader_options", &known, sizeof known, error));
    if (!(known.white >= 0) || !isfinite(known.white))
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "white %g: 0 or a number above 0 is possible",
                       known.white);
    if (known.page_last == 0)
        known.page_last = known.page;
    if (known.page_last < known.page)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "the last page comes before the first one");
    gconv_reader *opened = calloc(1, sizeof *opened);
    GC_TRY_MEMORY(opened != NULL, error, sizeof *opened);
    opened->options = known;
    opened->reason = "";
    gconv_status status = gc_input_open(path, &opened->input, error);
    if (status == GCONV_OK && opened->input.owned)
        introduce(&opened->input, &known);
    GC_THEN(status, open_decoder(opened, &opened->decoder, error));
    GC_THEN(status, plan_layers(opened, error));
    GC_THEN(status, go_to_page(opened, error));
    if (status == GCONV_OK)
        *reader = opened;
    else
        gconv_reader_free(opened);
    return status;
}

static void free_decoder(gc_decoder *decoder)
{
    if (decoder == NULL)
        return;
    gc_metadata_clear(&decoder->metadata);
    decoder->type->free(decoder);
}

void gconv_reader_free(gconv_reader *reader)
{
    if (reader == NULL)
        return;
    free_decoder(reader->decoder);
    gc_input_close(&reader->input);
    free(reader->band);
    free(reader->image);
    free(reader->head);
    free(reader->piece);
    free(reader);
}

const gconv_shape *gconv_reader_shape(const gconv_reader *reader)
{
    return &reader->shape;
}

int gconv_reader_channels(const gconv_reader *reader)
{
    return reader->decoder->leaves_colour ? 3 : reader->decoder->shape.channels;
}

gconv_format gconv_reader_format(const gconv_reader *reader)
{
    return reader->decoder->format;
}

const gconv_metadata *gconv_reader_metadata(const gconv_reader *reader)
{
    return &reader->decoder->metadata;
}

const char *gconv_reader_decoder(const gconv_reader *reader)
{
    const gc_decoder *decoder = reader->decoder;
    if (!reader->accepted)
        return decoder->decoded_by != NULL ? decoder->decoded_by : decoder->type->name;
    return "cuda";
}

bool gconv_reader_composited(const gconv_reader *reader)
{
    return reader->composited;
}

bool gconv_reader_missing(const gconv_reader *reader)
{
    return reader->decoder->floats.has_missing;
}

const char *gconv_reader_fallback(const gconv_reader *reader)
{
    return reader->reason;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Keeps the first failure, and gives the caller a copy. */
static gconv_status settle(gconv_reader *reader, gconv_status status, gconv_error *error)
{
    reader->failure.status = status;
    if (status != GCONV_OK && error != NULL)
        *error = reader->failure;
    return status;
}

gconv_status gconv_reader_read(gconv_reader *reader, uint32_t count, void *rows, size_t stride,
                               gconv_error *error)
{
    if (reader->failure.status != GCONV_OK)
        return settle(reader, reader->failure.status, error);
    if (count > reader->end - reader->delivered)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "more rows asked for than the image has");
    if (count == 0)
        return GCONV_OK;
    if (reader->offered) {
        gc_reader_end_offer(reader);
        reader->reason = "data that the GPU rejects, or lacks memory for";
    }
    gconv_status status = gc_reader_decode(reader, count, rows, stride, &reader->failure);
    reader->delivered += count;
    return settle(reader, status, error);
}

/* Whether another image may follow that is wanted. */
static bool may_go_on(const gconv_reader *reader)
{
    uint32_t last = reader->options.page_last;
    return !reader->alone && !reader->selected && (last == 0 || reader->page < last) &&
           reader->decoder->type->look_behind != NULL;
}

static gconv_status look_behind(gconv_reader *reader, bool wait, gconv_error *error)
{
    gc_decoder *decoder = reader->decoder;
    return decoder->type->look_behind(decoder, wait, &reader->alone, error);
}

gconv_status gconv_reader_finish(gconv_reader *reader, gconv_error *error)
{
    if (reader->failure.status != GCONV_OK)
        return settle(reader, reader->failure.status, error);
    if (reader->delivered < reader->end)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "%lu rows are not read yet",
                       (unsigned long)(reader->end - reader->delivered));
    gc_decoder *decoder = reader->decoder;
    gconv_status status = GCONV_OK;
    if (!reader->selected)
        status = gc_floats_finish(&decoder->floats, &reader->options, &decoder->warnings,
                                  &reader->failure);
    if (status == GCONV_OK && !reader->selected && decoder->type->finish != NULL)
        status = decoder->type->finish(decoder, &reader->failure);
    if (status == GCONV_OK) /* a PNG may have more behind its image data */
        status = gc_metadata_check(&decoder->metadata, &decoder->warnings, &reader->failure);
    if (status == GCONV_OK && reader->composited && !reader->finished)
        gc_warn(&decoder->warnings, "transparent pixels were put on a background of #%02x%02x%02x",
                reader->options.background[0], reader->options.background[1],
                reader->options.background[2]);
    gconv_status behind = GCONV_OK; /* gconv_reader_next fails by it if this image can be kept */
    if (status == GCONV_OK && may_go_on(reader))
        behind = look_behind(reader, false, &reader->failure);
    if (status == GCONV_OK && reader->options.whole)
        status = behind;
    reader->finished = status == GCONV_OK;
    return settle(reader, status, error);
}

/* ---- The next image -------------------------------------------------------------------------- */

/* Takes the decoder on, or replaces it by one of the next image. On failure the old one stays, so
 * that callers can still ask for shape and metadata. */
static gconv_status open_next(gconv_reader *reader, gconv_error *error)
{
    gc_decoder *next = NULL;
    gconv_status status;
    gc_input_restart(&reader->input);
    if (reader->decoder->type->next != NULL)
        status = reader->decoder->type->next(reader->decoder, error);
    else
        status = open_decoder(reader, &next, error);
    if (status != GCONV_OK) {
        free_decoder(next);
        return status;
    }
    if (next != NULL) {
        free_decoder(reader->decoder);
        reader->decoder = next;
    }
    free(reader->band);
    free(reader->image);
    reader->band = reader->image = NULL;
    reader->delivered = reader->decoded = 0;
    reader->page++;
    reader->selected = false;
    reader->finished = false;
    return plan_layers(reader, error);
}

gconv_status gconv_reader_next(gconv_reader *reader, bool *more, gconv_error *error)
{
    *more = reader->next_failed;
    if (reader->failure.status != GCONV_OK)
        return settle(reader, reader->failure.status, error);
    if (!reader->finished)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "the image before is not finished");
    gconv_status status = GCONV_OK;
    if (may_go_on(reader))
        status = look_behind(reader, true, &reader->failure);
    if (status == GCONV_OK && may_go_on(reader)) {
        status = open_next(reader, &reader->failure);
        reader->next_failed = status != GCONV_OK;
        *more = true;
    } else if (status == GCONV_OK && reader->alone && reader->page < reader->options.page_last) {
        status = gc_fail(&reader->failure, GCONV_ERROR_FORMAT, "no page %lu: the file has %lu",
                         reader->page + 1ul, (unsigned long)reader->page);
    }
    return settle(reader, status, error);
}

/* ---- Some rows alone ------------------------------------------------------------------------- */

/* Passes over the images before the first one that is wanted. */
static gconv_status go_to_page(gconv_reader *reader, gconv_error *error)
{
    const gc_decoder_type *type = reader->decoder->type;
    uint32_t page = type->look_behind != NULL ? reader->options.page : 0;
    bool more;
    reader->page = type->finds_page && page > 0 ? page : 1;
    while (reader->page < page) {
        GC_TRY(gc_reader_skip(reader, reader->stored.height, error));
        reader->delivered = reader->end;
        GC_TRY(gconv_reader_finish(reader, error));
        GC_TRY(gconv_reader_next(reader, &more, error));
    }
    return GCONV_OK;
}

/* Orientations that exchange rows and columns need all rows. In others the selected rows lie one
 * behind the other in the file, and are treated as the whole image. */
static gconv_status select_for_source(void *user, uint32_t first, uint32_t count,
                                      gconv_error *error)
{
    gconv_reader *reader = user;
    uint32_t height = reader->shape.height;
    if (reader->failure.status != GCONV_OK)
        return settle(reader, reader->failure.status, error);
    if (reader->delivered > 0 || first > height || count > height - first)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "rows that cannot be selected");
    reader->selected = true;
    if (gc_orientation_swaps(reader->orientation)) {
        reader->delivered = first;
        reader->end = first + count;
        return GCONV_OK;
    }
    reader->stored.height = reader->end = count;
    bool from_below = reader->orientation >= 3; /* 3 and 4: turned over */
    uint32_t before = from_below ? height - first - count : first;
    return settle(reader, gc_reader_skip(reader, before, &reader->failure), error);
}

static gconv_status read_for_source(void *user, uint32_t count, void *rows, size_t stride,
                                    gconv_error *error)
{
    return gconv_reader_read(user, count, rows, stride, error);
}

static bool help_for_source(void *user)
{
    gconv_reader *reader = user;
    return reader->decoder->type->help(reader->decoder);
}

static void spread_for_source(void *user, int threads)
{
    gconv_reader *reader = user;
    if (reader->failure.status == GCONV_OK && reader->delivered == 0 && !reader->accepted)
        reader->decoder->type->spread(reader->decoder, threads);
}

const gconv_source *gconv_reader_source(gconv_reader *reader)
{
    gconv_source *source = &reader->source;
    *source = (gconv_source){.size = sizeof *source,
                             .read = read_for_source,
                             .user = reader,
                             .select = select_for_source};
    if (reader->decoder->type->help != NULL)
        source->help = help_for_source;
    if (gc_reader_makes_offers(reader)) {
        source->offer = gc_reader_offer;
        source->more = gc_reader_more;
        source->accept = gc_reader_accept;
    }
    if (reader->decoder->type->spread != NULL)
        source->spread = spread_for_source;
    return source;
}
