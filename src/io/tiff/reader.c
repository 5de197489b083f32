/* TIFF, by libtiff. Rows of strips that are not compressed are read past it. */
#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "io/exif.h"
#include "io/raw.h"
#include "io/tiff/ahead.h"
#include "io/tiff/layout.h"
#include "io/whole.h"

#include <stdlib.h>
#include <string.h>

enum {
    PIECE_BYTES = 256 * 1024,   /* of rows that are read past libtiff at one time */
    STRIP_BYTES_MAX = 16 << 20, /* larger strips are decoded row by row, if libtiff can */
    TILE_PIXELS_MIN = 1 << 22   /* tiles up to this are never too large for their image */
};

typedef struct tiff_decoder {
    gc_decoder common;
    gc_tiff_file file;
    gc_tiff_layout layout;
    uint32_t page; /* of the image, from 1 */
    bool ahead;    /* libtiff is at the directory of the next image */
    bool raw;      /* strips are read past libtiff */
    bool by_rows;  /* libtiff decodes one row at a time */
    /* Units are strips or tiles. */
    uint32_t unit_width, unit_rows;
    size_t unit_row_bytes; /* of a row of a unit, packed */
    uint32_t across, down; /* units of a plane, side by side and below each other */
    int planes;            /* that are taken */
    unsigned char *units;  /* of some rows, decoded: planes, in them units side by side */
    size_t units_bytes;
    uint32_t first, end;   /* rows in `units` */
    uint32_t row;          /* the next one */
    unsigned char *line;   /* unpacked samples of a row; NULL if they are unpacked in place */
    bool passed_over;      /* a directory that is no page; a warning was given */
    gc_tiff_ahead *helped; /* NULL: one thread decodes */
    gconv_error behind;    /* why the directory of the next page cannot be read */
} tiff_decoder;

/* ---- Directories ----------------------------------------------------------------------------- */

/* Whether the directory has a smaller version of another image, or its mask. */
static bool is_secondary(const tiff_decoder *decoder)
{
    uint32_t kind = 0;
    gc_tiff.TIFFGetFieldDefaulted(decoder->file.tiff, TIFFTAG_SUBFILETYPE, &kind);
    return (kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) != 0;
}

/* A directory that is no page is not written either. */
static gconv_status pass_over(tiff_decoder *decoder, gconv_error *error)
{
    const bool told = decoder->passed_over;
    decoder->passed_over = true;
    return told ? GCONV_OK
                : gc_metadata_lose(&decoder->common.warnings, GCONV_KEEP_ALL,
                                   "a smaller version or a mask of a page is not kept", error);
}

static gconv_status fail_directory(const tiff_decoder *decoder, gconv_error *error)
{
    gconv_error failure;
    gconv_status status = gc_tiff_fail(&decoder->file, "it cannot be read", &failure);
    return gc_fail(error, status, "the directory of page %lu: %s", (unsigned long)decoder->page + 1,
                   failure.message);
}

/* Goes on to the next image; *found is false if there is none. */
static gconv_status find_next(tiff_decoder *decoder, bool *found, gconv_error *error)
{
    *found = false;
    while (!*found && !gc_tiff.TIFFLastDirectory(decoder->file.tiff)) {
        if (!gc_tiff.TIFFReadDirectory(decoder->file.tiff))
            return fail_directory(decoder, error);
        *found = !is_secondary(decoder);
        if (!*found && decoder->common.page == 0)
            GC_TRY(pass_over(decoder, error));
    }
    return GCONV_OK;
}

static gconv_status find_page(tiff_decoder *decoder, gconv_error *error)
{
    bool found = true;
    decoder->page = 1;
    while (decoder->page < decoder->common.page) {
        GC_TRY(find_next(decoder, &found, error));
        if (!found)
            return gc_fail(error, GCONV_ERROR_FORMAT, "no page %lu: the file has %lu",
                           (unsigned long)decoder->common.page, (unsigned long)decoder->page);
        decoder->page++;
    }
    return GCONV_OK;
}

/* ---- Metadata -------------------------------------------------------------------------------- */

/* EXIF that says the orientation and nothing else. */
static gconv_status keep_orientation(tiff_decoder *decoder, gconv_error *error)
{
    unsigned char exif[GC_TIFF_ORIENTATION_BYTES] = {'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3,
                                                     0,   1,   0,  0, 0, 0, 0, 0, 0, 0, 0,    0, 0};
    uint16_t orientation = ORIENTATION_TOPLEFT;
    gc_tiff.TIFFGetField(decoder->file.tiff, TIFFTAG_ORIENTATION, &orientation);
    if (orientation < 2 || orientation > GC_ORIENTATION_COUNT)
        return GCONV_OK;
    exif[18] = (unsigned char)orientation;
    return gc_metadata_keep(&decoder->common.metadata, GC_EXIF, exif, sizeof exif,
                            &decoder->common.warnings, error);
}

static void read_resolution(tiff_decoder *decoder)
{
    static const gc_resolution_unit units[] = {[RESUNIT_NONE] = GC_RESOLUTION_RATIO,
                                               [RESUNIT_INCH] = GC_RESOLUTION_PER_INCH,
                                               [RESUNIT_CENTIMETER] = GC_RESOLUTION_PER_CENTIMETRE};
    TIFF *tiff = decoder->file.tiff;
    uint16_t unit = RESUNIT_INCH;
    float x = 0, y = 0;
    gc_tiff.TIFFGetFieldDefaulted(tiff, TIFFTAG_RESOLUTIONUNIT, &unit);
    if (!gc_tiff.TIFFGetField(tiff, TIFFTAG_XRESOLUTION, &x) ||
        !gc_tiff.TIFFGetField(tiff, TIFFTAG_YRESOLUTION, &y) || unit < RESUNIT_NONE ||
        unit > RESUNIT_CENTIMETER || !(x >= 1 && y >= 1 && x < 1e6f && y < 1e6f))
        return;
    decoder->common.metadata.resolution =
        (gc_resolution){units[unit], (uint32_t)(x + 0.5f), (uint32_t)(y + 0.5f)};
}

/* Whether all pages may exceed 4 GiB: so may those of a BigTIFF, and others if they are compressed
 * as this one is. */
static bool is_long(const tiff_decoder *decoder)
{
    TIFF *tiff = decoder->file.tiff;
    const gconv_shape *shape = &decoder->common.shape;
    const uint64_t units = (uint64_t)decoder->across * decoder->down;
    double packed = 0, bytes = (double)gconv_shape_row_bytes(shape) * shape->height;
    if (gc_tiff.TIFFLastDirectory(tiff))
        return false;
    for (uint64_t unit = 0; unit < units * (uint64_t)decoder->planes; unit++)
        packed += (double)gc_tiff.TIFFGetStrileByteCount(tiff, (uint32_t)unit);
    return gc_tiff.TIFFIsBigTIFF(tiff) ||
           bytes * (double)decoder->file.size > packed * (double)GC_TIFF_SMALL_BYTES_MAX;
}

static gconv_status read_metadata(tiff_decoder *decoder, gconv_error *error)
{
    gconv_metadata *metadata = &decoder->common.metadata;
    const gc_warnings *warnings = &decoder->common.warnings;
    TIFF *tiff = decoder->file.tiff;
    uint32_t size;
    uint64_t place;
    void *bytes;
    read_resolution(decoder);
    metadata->is_long = is_long(decoder);
    if (decoder->layout.compression != COMPRESSION_NONE)
        metadata->compression = decoder->layout.compression == COMPRESSION_LZW
                                    ? GCONV_COMPRESSION_LZW
                                    : GC_TIFF_DEFLATE_LEVEL;
    if (gc_tiff.TIFFGetField(tiff, TIFFTAG_ICCPROFILE, &size, &bytes)) {
        GC_TRY(gc_whole_check_blob("ICC profile", size, error));
        GC_TRY(gc_metadata_keep(metadata, GC_ICC, bytes, size, warnings, error));
    }
    if (gc_tiff.TIFFGetField(tiff, TIFFTAG_XMLPACKET, &size, &bytes))
        GC_TRY(gc_metadata_keep(metadata, GC_XMP, bytes, size, warnings, error));
    if (gc_tiff.TIFFGetField(tiff, TIFFTAG_EXIFIFD, &place) ||
        gc_tiff.TIFFGetField(tiff, TIFFTAG_GPSIFD, &place))
        GC_TRY(gc_metadata_lose(warnings, GCONV_KEEP_ALL,
                                "EXIF of a TIFF is not kept but for the orientation", error));
    GC_TRY(gc_tiff_get_tags(&decoder->file, decoder->common.page == 0, metadata, error));
    return keep_orientation(decoder, error);
}

/* ---- Opening --------------------------------------------------------------------------------- */

static gconv_status plan_tiles(tiff_decoder *decoder, gconv_error *error)
{
    const gc_tiff_layout *layout = &decoder->layout;
    TIFF *tiff = decoder->file.tiff;
    uint32_t width = 0, rows = 0;
    gc_tiff.TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &width);
    gc_tiff.TIFFGetField(tiff, TIFFTAG_TILELENGTH, &rows);
    if (width == 0 || rows == 0)
        return gc_tiff_fail(&decoder->file, "tiles of no size", error);
    uint64_t pixels = (uint64_t)layout->width * layout->height, tile = (uint64_t)width * rows;
    if (tile > (pixels > TILE_PIXELS_MIN ? pixels : (uint64_t)TILE_PIXELS_MIN))
        return gc_fail(error, GCONV_ERROR_LIMIT, "tiles of %lu x %lu, larger than their image",
                       (unsigned long)width, (unsigned long)rows);
    decoder->unit_width = width;
    decoder->unit_rows = rows;
    decoder->unit_row_bytes = (size_t)gc_tiff.TIFFTileRowSize64(tiff);
    return GCONV_OK;
}

static void plan_strips(tiff_decoder *decoder)
{
    const gc_tiff_layout *layout = &decoder->layout;
    TIFF *tiff = decoder->file.tiff;
    uint32_t rows = layout->height;
    uint16_t order = FILLORDER_MSB2LSB;
    gc_tiff.TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &rows);
    gc_tiff.TIFFGetFieldDefaulted(tiff, TIFFTAG_FILLORDER, &order);
    decoder->unit_width = layout->width;
    decoder->unit_rows = rows == 0 || rows > layout->height ? layout->height : rows;
    decoder->unit_row_bytes = (size_t)gc_tiff.TIFFScanlineSize64(tiff);
    decoder->raw = layout->compression == COMPRESSION_NONE && decoder->planes == 1 &&
                   layout->bits == 8 * layout->cell && order == FILLORDER_MSB2LSB;
    decoder->by_rows = !decoder->raw && decoder->planes == 1 &&
                       decoder->unit_row_bytes > STRIP_BYTES_MAX / decoder->unit_rows;
}

/* How many rows `units` holds, and the memory for them. */
static gconv_status allocate(tiff_decoder *decoder, gconv_error *error)
{
    const gc_tiff_layout *layout = &decoder->layout;
    size_t rows = decoder->unit_rows < layout->height ? decoder->unit_rows : layout->height;
    size_t bytes = decoder->unit_row_bytes;
    size_t line_bytes = (size_t)layout->width * layout->samples;
    if (decoder->raw)
        rows = bytes < PIECE_BYTES ? PIECE_BYTES / bytes : 1;
    if (decoder->by_rows)
        rows = 1;
    if (!gc_multiply(bytes, rows, &bytes) || !gc_multiply(bytes, decoder->across, &bytes) ||
        !gc_multiply(bytes, (size_t)decoder->planes, &decoder->units_bytes) ||
        !gc_multiply(line_bytes, layout->cell, &line_bytes))
        return gc_fail_memory(error, SIZE_MAX);
    decoder->units = malloc(decoder->units_bytes);
    GC_TRY_MEMORY(decoder->units != NULL, error, decoder->units_bytes);
    decoder->line = layout->same ? NULL : calloc(1, line_bytes);
    return layout->same || decoder->line != NULL ? GCONV_OK : gc_fail_memory(error, line_bytes);
}

static gconv_status plan_units(tiff_decoder *decoder, gconv_error *error)
{
    const gc_tiff_layout *layout = &decoder->layout;
    decoder->planes = 1;
    if (layout->separate)
        decoder->planes = (layout->palette ? 1 : layout->colours) + (layout->alpha > 0);
    decoder->raw = decoder->by_rows = false;
    decoder->first = decoder->end = decoder->row = 0;
    if (layout->tiled)
        GC_TRY(plan_tiles(decoder, error));
    else
        plan_strips(decoder);
    decoder->across = (layout->width - 1) / decoder->unit_width + 1;
    decoder->down = (layout->height - 1) / decoder->unit_rows + 1;
    uint64_t bits =
        (uint64_t)decoder->unit_width * layout->bits * (layout->separate ? 1 : layout->samples);
    if (decoder->unit_row_bytes != (bits + 7) / 8)
        return gc_tiff_fail(&decoder->file, "rows of an unexpected size", error);
    return allocate(decoder, error);
}

static void free_image(tiff_decoder *decoder)
{
    gc_tiff_ahead_free(decoder->helped);
    decoder->helped = NULL;
    gc_tiff_layout_free(&decoder->layout);
    free(decoder->units);
    free(decoder->line);
    decoder->units = decoder->line = NULL;
}

/* Notes the sample that GDAL_NODATA says is missing. Whole samples are not looked for. */
static void note_missing(tiff_decoder *decoder)
{
    const gc_tiff_tag *tag = &decoder->common.metadata.tags[GC_TIFF_NODATA];
    const gc_tiff_layout *layout = &decoder->layout;
    double missing;
    if (gc_read_number(tag->values, tag->count, &missing) == 0)
        return;
    decoder->common.floats.missing = (float)missing;
    decoder->common.floats.has_missing =
        !layout->floats && missing >= 0 && missing < 1 << layout->bits;
}

/* Reads the image of the current directory. */
static gconv_status begin_image(tiff_decoder *decoder, gconv_error *error)
{
    gc_decoder *common = &decoder->common;
    TIFF *tiff = decoder->file.tiff;
    double white = 0;
    uint16_t below;
    void *places;
    GC_TRY(gc_tiff_layout_read(&decoder->layout, common, &decoder->file, error));
    GC_TRY(plan_units(decoder, error));
    if (gc_tiff.TIFFGetField(tiff, TIFFTAG_SUBIFD, &below, &places))
        GC_TRY(pass_over(decoder, error));
    if (decoder->layout.floats)
        gc_tiff.TIFFGetField(tiff, TIFFTAG_SMAXSAMPLEVALUE, &white);
    common->floats = (gc_floats){.white = 0};
    if (decoder->layout.floats)
        common->floats = gc_floats_begin(white, common->white, &common->shape);
    common->floats.samples = decoder->layout.samples;
    common->decoded_by = decoder->raw ? "gconv" : NULL;
    GC_TRY(read_metadata(decoder, error));
    note_missing(decoder);
    return GCONV_OK;
}

static gconv_status open_decoder(gc_decoder *common, gconv_error *error)
{
    tiff_decoder *opened = (tiff_decoder *)common;
    opened->file.warnings = &common->warnings;
    GC_TRY(gc_tiff_open_input(&opened->file, common->input, error));
    GC_TRY(find_page(opened, error));
    return begin_image(opened, error);
}

static void free_decoder(gc_decoder *common)
{
    tiff_decoder *decoder = (tiff_decoder *)common;
    free_image(decoder);
    gc_tiff_close(&decoder->file);
    free(decoder);
}

/* ---- Units ----------------------------------------------------------------------------------- */

/* Data that the file does not have: 0 to a tolerant reader. */
static gconv_status miss(tiff_decoder *decoder, unsigned char *bytes, size_t size,
                         gconv_error *error)
{
    memset(bytes, 0, size);
    return gc_raw_stop(&decoder->common, error);
}

/* Where a unit lies in the file. */
typedef struct place {
    uint64_t offset, size;
    bool left_out; /* it is not in the file, and is 0 */
    bool cut;      /* the file ends before it does */
} place;

static place find_unit(const tiff_decoder *decoder, uint32_t unit)
{
    place found = {.offset = gc_tiff.TIFFGetStrileOffset(decoder->file.tiff, unit),
                   .size = gc_tiff.TIFFGetStrileByteCount(decoder->file.tiff, unit)};
    found.left_out = found.offset == 0 && found.size == 0;
    found.cut = found.offset > decoder->file.size || found.size > decoder->file.size - found.offset;
    return found;
}

static gconv_status decode_unit(tiff_decoder *decoder, uint32_t unit, size_t size,
                                unsigned char *bytes, gconv_error *error)
{
    const place at = find_unit(decoder, unit);
    if (at.cut)
        return miss(decoder, bytes, size, error);
    memset(bytes, 0, size); /* libtiff leaves what a damaged JPEG does not have */
    if (at.left_out)
        return GCONV_OK;
    if (!gc_tiff_decode(&decoder->file, unit, bytes, size))
        return gc_tiff_fail(&decoder->file, "a strip or tile is too short", error);
    return GCONV_OK;
}

/* The sample that a plane has: colours come first, alpha is the last one. */
static int sample_of(const tiff_decoder *decoder, int plane)
{
    const gc_tiff_layout *layout = &decoder->layout;
    bool is_alpha = layout->separate && layout->alpha > 0 && plane == decoder->planes - 1;
    return is_alpha ? layout->alpha : plane;
}

/* Rows of a strip or a row of tiles. The last one may have fewer. */
static uint32_t rows_of(const tiff_decoder *decoder, uint32_t strip)
{
    uint32_t left = decoder->layout.height - strip * decoder->unit_rows;
    return left < decoder->unit_rows ? left : decoder->unit_rows;
}

/* The units of a row of units follow each other, plane by plane. */
static uint64_t units_in_a_row(const tiff_decoder *decoder)
{
    return (uint64_t)decoder->planes * decoder->across;
}

/* A gc_tiff_number. */
static uint32_t number_of(const void *user, uint64_t unit, size_t *size)
{
    const tiff_decoder *decoder = user;
    const uint32_t at = (uint32_t)(unit / units_in_a_row(decoder));
    const uint32_t rest = (uint32_t)(unit % units_in_a_row(decoder));
    const uint32_t sample = (uint32_t)sample_of(decoder, (int)(rest / decoder->across));
    *size = rows_of(decoder, at) * decoder->unit_row_bytes;
    return (sample * decoder->down + at) * decoder->across + rest % decoder->across;
}

/* Decodes the strips or the row of tiles that have the next row. */
static gconv_status load_units(tiff_decoder *decoder, gconv_error *error)
{
    const uint32_t at = decoder->row / decoder->unit_rows;
    const uint64_t in_row = units_in_a_row(decoder), first = at * in_row;
    unsigned char *bytes = decoder->units;
    for (uint64_t unit = first; unit < first + in_row; unit++) {
        size_t size;
        uint32_t number = number_of(decoder, unit, &size);
        if (decoder->helped == NULL || !gc_tiff_ahead_take(decoder->helped, unit, bytes))
            GC_TRY(decode_unit(decoder, number, size, bytes, error));
        bytes += size;
    }
    decoder->first = at * decoder->unit_rows;
    decoder->end = decoder->first + rows_of(decoder, at);
    return GCONV_OK;
}

static gconv_status load_row(tiff_decoder *decoder, gconv_error *error)
{
    const place at = find_unit(decoder, decoder->row / decoder->unit_rows);
    decoder->first = decoder->row;
    decoder->end = decoder->row + 1;
    if (at.cut)
        return miss(decoder, decoder->units, decoder->unit_row_bytes, error);
    memset(decoder->units, 0, decoder->unit_row_bytes);
    if (at.left_out)
        return GCONV_OK;
    if (gc_tiff.TIFFReadScanline(decoder->file.tiff, decoder->units, decoder->row, 0) != 1)
        return gc_tiff_fail(&decoder->file, "a row is missing", error);
    return GCONV_OK;
}

/* Whether a strip has all its rows, and begins at this offset. */
static bool is_whole(const tiff_decoder *decoder, uint32_t strip, uint64_t offset)
{
    place at = find_unit(decoder, strip);
    return at.offset == offset &&
           at.size >= rows_of(decoder, strip) * (uint64_t)decoder->unit_row_bytes;
}

/* Up to `most` rows from the next one on that lie one behind the other in the file, and where. 0:
 * the strip lacks some. */
static uint32_t find_run(const tiff_decoder *decoder, uint32_t most, place *at)
{
    const uint32_t first = decoder->row / decoder->unit_rows;
    const uint32_t into = decoder->row % decoder->unit_rows;
    const uint64_t row_bytes = decoder->unit_row_bytes;
    uint32_t rows = rows_of(decoder, first) - into;
    *at = find_unit(decoder, first);
    if (!at->left_out && !is_whole(decoder, first, at->offset))
        return 0;
    uint64_t end = at->offset + decoder->unit_rows * row_bytes;
    for (uint32_t strip = first + 1;
         !at->left_out && rows < most && strip < decoder->down && is_whole(decoder, strip, end);
         strip++) {
        rows += rows_of(decoder, strip);
        end += decoder->unit_rows * row_bytes;
    }
    at->offset += into * row_bytes;
    return rows < most ? rows : most;
}

/* Reads up to `most` rows past libtiff, one behind the other. */
static gconv_status read_raw(tiff_decoder *decoder, uint32_t most, unsigned char *rows,
                             uint32_t *count, gconv_error *error)
{
    place at;
    *count = find_run(decoder, most, &at);
    size_t size = *count * decoder->unit_row_bytes, got = 0;
    if (*count == 0)
        return gc_tiff_fail(&decoder->file, "a strip is too short", error);
    if (at.left_out) {
        memset(rows, 0, size);
        return GCONV_OK;
    }
    gconv_status status = gc_tiff_read_at(&decoder->file, rows, size, at.offset, &got, error);
    if (status == GCONV_OK && got < size)
        status = miss(decoder, rows + got, size - got, error);
    if (gc_tiff.TIFFIsByteSwapped(decoder->file.tiff))
        gc_raw_swap(rows, size / decoder->layout.cell, decoder->layout.cell);
    return status;
}

static gconv_status load(tiff_decoder *decoder, gconv_error *error)
{
    if (!decoder->raw)
        return decoder->by_rows ? load_row(decoder, error) : load_units(decoder, error);
    uint32_t count, most = (uint32_t)(decoder->units_bytes / decoder->unit_row_bytes);
    gconv_status status = read_raw(decoder, most, decoder->units, &count, error);
    decoder->first = decoder->row;
    decoder->end = decoder->row + count;
    return status;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Makes the next row of what is in `units`. */
static void make_row(tiff_decoder *decoder, unsigned char *row)
{
    const gc_tiff_layout *layout = &decoder->layout;
    const uint32_t held = decoder->end - decoder->first, into = decoder->row - decoder->first;
    unsigned char *line = layout->same ? row : decoder->line;
    const unsigned char *unit = decoder->units;
    for (int plane = 0; plane < decoder->planes; plane++)
        for (uint32_t i = 0; i < decoder->across; i++, unit += held * decoder->unit_row_bytes) {
            uint32_t from = i * decoder->unit_width, left = layout->width - from;
            gc_tiff_unpack(layout, unit + into * decoder->unit_row_bytes, from,
                           left < decoder->unit_width ? left : decoder->unit_width,
                           sample_of(decoder, plane), line);
        }
    const size_t samples = (size_t)layout->width * layout->samples;
    if (layout->bits == 64)
        gc_floats_narrow(&decoder->common.floats, line, line, samples);
    if (layout->floats)
        gc_floats_convert(&decoder->common.floats, (float *)(void *)line, samples);
    if (!layout->same)
        gc_tiff_convert(layout, line, decoder->common.shape.depth, row);
    decoder->row++;
}

static gconv_status read_rows(gc_decoder *common, uint32_t count, unsigned char *rows,
                              size_t stride, gconv_error *error)
{
    tiff_decoder *decoder = (tiff_decoder *)common;
    for (uint32_t done = 1; count > 0; count -= done, rows += done * stride) {
        if (decoder->raw && decoder->layout.same && !decoder->layout.floats &&
            stride == decoder->unit_row_bytes) {
            GC_TRY(read_raw(decoder, count, rows, &done, error));
            decoder->row += done;
            continue;
        }
        if (decoder->row < decoder->first || decoder->row >= decoder->end)
            GC_TRY(load(decoder, error));
        make_row(decoder, rows);
    }
    return GCONV_OK;
}

static gconv_status skip_rows(gc_decoder *common, uint32_t count, gconv_error *error)
{
    (void)error;
    ((tiff_decoder *)common)->row += count;
    return GCONV_OK;
}

static void spread(gc_decoder *common, int threads)
{
    tiff_decoder *decoder = (tiff_decoder *)common;
    const uint64_t in_row = units_in_a_row(decoder);
    if (decoder->helped == NULL && !decoder->raw && !decoder->by_rows &&
        decoder->layout.compression != COMPRESSION_JPEG)
        decoder->helped = gc_tiff_ahead_create(&decoder->file, threads, in_row * decoder->down,
                                               decoder->units_bytes / in_row, number_of, decoder);
}

static bool help(gc_decoder *common)
{
    gc_tiff_ahead *helped = ((tiff_decoder *)common)->helped;
    return helped != NULL && gc_tiff_ahead_help(helped);
}

/* ---- The next image -------------------------------------------------------------------------- */

static gconv_status look_behind(gc_decoder *common, bool wait, bool *alone, gconv_error *error)
{
    tiff_decoder *decoder = (tiff_decoder *)common;
    gconv_error *behind = &decoder->behind;
    (void)wait;
    if (!decoder->ahead && behind->status == GCONV_OK)
        behind->status = find_next(decoder, &decoder->ahead, behind);
    if (behind->status != GCONV_OK && !common->tolerant)
        return gc_fail(error, behind->status, "%s", behind->message);
    *alone = !decoder->ahead;
    if (behind->status != GCONV_OK)
        gc_warn_damage(&common->warnings, "%s", behind->message);
    return GCONV_OK;
}

static gconv_status next(gc_decoder *common, gconv_error *error)
{
    tiff_decoder *decoder = (tiff_decoder *)common;
    free_image(decoder);
    gc_metadata_clear(&common->metadata);
    decoder->ahead = common->stopped = false;
    decoder->page++;
    return begin_image(decoder, error);
}

const gc_decoder_type gc_tiff_decoder = {
    .name = "libtiff",
    .finds_page = true,
    .size = sizeof(tiff_decoder),
    .open = open_decoder,
    .read = read_rows,
    .skip = skip_rows,
    .look_behind = look_behind,
    .next = next,
    .spread = spread,
    .help = help,
    .free = free_decoder,
};
