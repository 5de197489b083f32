#include "io/tiff/layout.h"

#include "base/memory.h"
#include "io/format.h"
#include "io/raw.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What is read, and what is not ----------------------------------------------------------- */

#define TO_COLOURS GC_UNREAD("vips colourspace IN OUT.tif srgb")
#define TO_FLOATS GC_UNREAD("vips cast IN OUT.tif float")

static gconv_status refuse(gconv_error *error, const char *what, const char *remedy)
{
    return gc_fail(error, GCONV_ERROR_FORMAT, "a TIFF of %s, %s", what, remedy);
}

/* Refuses what a camera stores beside a small picture: DNG, and the files of makers that begin with
 * a smaller version and name directories below it (NEF, ARW) or have a mark (CR2). */
static gconv_status check_camera(const gc_tiff_layout *layout, gc_tiff_file *file,
                                 gconv_error *error)
{
    static const char mark[] = "CR\2";
    TIFF *tiff = file->tiff;
    unsigned char head[8 + sizeof mark] = {0};
    uint32_t kind = 0;
    uint16_t below;
    size_t got;
    void *found;
    GC_TRY(gc_tiff_read_at(file, head, sizeof head, 0, &got, error));
    gc_tiff.TIFFGetFieldDefaulted(tiff, TIFFTAG_SUBFILETYPE, &kind);
    if (memcmp(head + 8, mark, sizeof mark - 1) == 0 || layout->photometric == PHOTOMETRIC_CFA ||
        gc_tiff.TIFFGetField(tiff, TIFFTAG_DNGVERSION, &found) ||
        ((kind & FILETYPE_REDUCEDIMAGE) != 0 &&
         gc_tiff.TIFFGetField(tiff, TIFFTAG_SUBIFD, &below, &found)))
        return gc_fail(error, GCONV_ERROR_FORMAT,
                       "this is " GC_RAW_OF_CAMERA ", " GC_UNREAD(GC_RAW_CONVERTER));
    return GCONV_OK;
}

static gconv_status check_photometric(const gc_tiff_layout *layout, gconv_error *error)
{
    static const struct {
        uint16_t photometric;
        const char *what;
    } refused[] = {
        {PHOTOMETRIC_SEPARATED, "CMYK or other separations"},
        {PHOTOMETRIC_LOGL, "LogL or LogLuv samples"},
        {PHOTOMETRIC_LOGLUV, "LogL or LogLuv samples"},
        {PHOTOMETRIC_CIELAB, "L*a*b* samples"},
        {PHOTOMETRIC_ICCLAB, "L*a*b* samples"},
        {PHOTOMETRIC_ITULAB, "L*a*b* samples"},
    };
    const uint16_t is = layout->photometric;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        if (is == refused[i].photometric)
            return refuse(error, refused[i].what, TO_COLOURS);
    if (is == PHOTOMETRIC_YCBCR && layout->compression != COMPRESSION_JPEG)
        return refuse(error, "YCbCr samples that are not compressed by JPEG", TO_COLOURS);
    if (is == PHOTOMETRIC_MASK)
        return refuse(error, "a transparency mask", GC_UNREAD(GC_MAGICK));
    if (is > PHOTOMETRIC_YCBCR)
        return gc_fail(error, GCONV_ERROR_FORMAT,
                       "a TIFF of the photometric interpretation %u, which gconv does not read",
                       is);
    return GCONV_OK;
}

static gconv_status check_compression(const gc_tiff_layout *layout, gconv_error *error)
{
    if (layout->compression == COMPRESSION_OJPEG)
        return refuse(error, "JPEG compression of the old kind (6)", TO_COLOURS);
    if (layout->compression == COMPRESSION_SGILOG || layout->compression == COMPRESSION_SGILOG24)
        return refuse(error, "LogL or LogLuv samples", TO_COLOURS);
    if (!gc_tiff.TIFFIsCODECConfigured(layout->compression))
        return gc_fail(error, GCONV_ERROR_FORMAT,
                       "a TIFF of the compression %u, which this libtiff does not read",
                       layout->compression);
    return GCONV_OK;
}

static gconv_status check_samples(gc_tiff_layout *layout, uint16_t format, gconv_error *error)
{
    layout->floats = format == SAMPLEFORMAT_IEEEFP;
    if (layout->samples == 0 || layout->samples > GC_TIFF_SAMPLES_MAX)
        return gc_fail(error, GCONV_ERROR_LIMIT,
                       "a TIFF of %u samples a pixel; gconv reads those of up to 16",
                       layout->samples);
    if (format == SAMPLEFORMAT_INT)
        return refuse(error, "samples with a sign", TO_FLOATS);
    if (format == SAMPLEFORMAT_COMPLEXINT || format == SAMPLEFORMAT_COMPLEXIEEEFP)
        return refuse(error, "complex samples", GC_UNREAD("numpy.abs(tifffile.imread(IN))"));
    if (layout->floats && layout->bits != 32 && layout->bits != 64)
        return gc_fail(error, GCONV_ERROR_FORMAT,
                       "a TIFF of floats of %u bits; gconv reads those of 32 and 64, and "
                       "tifffile.imread(IN).astype('float32') makes them",
                       layout->bits);
    if (!layout->floats && (layout->bits == 0 || layout->bits > GC_TIFF_BITS_MAX))
        return gc_fail(error, GCONV_ERROR_FORMAT,
                       "a TIFF of whole samples of %u bits, beyond 16, " TO_FLOATS, layout->bits);
    if (layout->floats && (layout->white_is_zero || layout->photometric == PHOTOMETRIC_PALETTE))
        return refuse(error, "floats whose 0 is white, or with a palette", TO_COLOURS);
    return GCONV_OK;
}

/* Which samples are colours, and which one is alpha. Others are left out. */
static gconv_status find_samples(gc_tiff_layout *layout, const gc_decoder *decoder,
                                 gc_tiff_file *file, gconv_error *error)
{
    uint16_t count = 0, *kinds = NULL;
    int in_file =
        layout->photometric == PHOTOMETRIC_RGB || layout->photometric == PHOTOMETRIC_YCBCR ? 3 : 1;
    layout->colours = in_file;
    layout->alpha = 0;
    if (layout->samples < in_file)
        return gc_fail(error, GCONV_ERROR_FORMAT, "corrupt TIFF: %u samples a pixel and %d colours",
                       layout->samples, in_file);
    gc_tiff.TIFFGetFieldDefaulted(file->tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds);
    for (int i = 0; i < count && kinds != NULL && in_file + i < layout->samples; i++)
        if (layout->alpha == 0 &&
            (kinds[i] == EXTRASAMPLE_ASSOCALPHA || kinds[i] == EXTRASAMPLE_UNASSALPHA)) {
            layout->alpha = in_file + i;
            layout->associated = kinds[i] == EXTRASAMPLE_ASSOCALPHA;
        }
    int left = layout->samples - in_file - (layout->alpha > 0);
    if (left == 0)
        return GCONV_OK;
    char what[80];
    snprintf(what, sizeof what, "%d of %u samples a pixel are neither colour nor alpha", left,
             layout->samples);
    return gc_metadata_lose(&decoder->warnings, GCONV_KEEP_NOTHING, what, error);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Palettes have 16 bits a colour. Some programs write 8: then no colour is above 255. */
static gconv_status make_palette(gc_tiff_layout *layout, gc_tiff_file *file, gconv_error *error)
{
    const size_t count = (size_t)1 << layout->bits;
    uint16_t *colours[3] = {NULL, NULL, NULL}, largest = 0;
    if (!gc_tiff.TIFFGetField(file->tiff, TIFFTAG_COLORMAP, &colours[0], &colours[1], &colours[2]))
        return gc_tiff_fail(file, "a palette image without a palette", error);
    layout->palette = gc_allocate_array(3 * count, sizeof *layout->palette);
    GC_TRY_MEMORY(layout->palette != NULL, error, 3 * count * sizeof *layout->palette);
    for (size_t c = 0; c < 3; c++)
        memcpy(layout->palette + c * count, colours[c], count * sizeof *layout->palette);
    for (size_t i = 0; i < 3 * count; i++)
        largest = layout->palette[i] > largest ? layout->palette[i] : largest;
    for (size_t i = 0; largest > UINT8_MAX && i < 3 * count; i++)
        layout->palette[i] >>= 8;
    layout->colours = 3;
    return GCONV_OK;
}

static gconv_status make_tables(gc_tiff_layout *layout, gc_decoder *decoder, gc_tiff_file *file,
                                gconv_error *error)
{
    bool has_palette = layout->photometric == PHOTOMETRIC_PALETTE;
    int depth = layout->floats ? 32 : layout->bits <= 8 || has_palette ? 8 : 16;
    gconv_status status = GCONV_OK;
    if (has_palette)
        status = make_palette(layout, file, error);
    if (status == GCONV_OK && !layout->floats && layout->bits != depth) {
        uint32_t full = depth == 8 ? UINT8_MAX : UINT16_MAX; /* contract.md, rule 111 */
        layout->levels = gc_raw_levels((1u << layout->bits) - 1, full, error);
        status = layout->levels != NULL ? GCONV_OK : GCONV_ERROR_MEMORY;
    }
    layout->cell = layout->floats ? layout->bits / 8 : layout->bits <= 8 ? 1 : 2;
    int channels = layout->colours + (layout->alpha > 0);
    layout->same = !has_palette && layout->levels == NULL && !layout->white_is_zero &&
                   !layout->associated && layout->samples == channels && layout->bits != 64;
    decoder->shape = (gconv_shape){.channels = channels, .depth = depth};
    return status == GCONV_OK ? gc_raw_check_sides(decoder, layout->width, layout->height, error)
                              : status;
}

/* ---- Reading it ------------------------------------------------------------------------------ */

static void read_tags(gc_tiff_layout *layout, gc_tiff_file *file, uint16_t *format)
{
    uint16_t planar = PLANARCONFIG_CONTIG;
    TIFF *tiff = file->tiff;
    gc_tiff.TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &layout->width);
    gc_tiff.TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &layout->height);
    gc_tiff.TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &layout->bits);
    gc_tiff.TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &layout->samples);
    gc_tiff.TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, format);
    gc_tiff.TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &layout->compression);
    gc_tiff.TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &planar);
    if (!gc_tiff.TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &layout->photometric))
        layout->photometric = layout->samples < 3 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB;
    layout->separate = planar == PLANARCONFIG_SEPARATE && layout->samples > 1;
    layout->tiled = gc_tiff.TIFFIsTiled(tiff) != 0;
    layout->white_is_zero = layout->photometric == PHOTOMETRIC_MINISWHITE;
}

gconv_status gc_tiff_layout_read(gc_tiff_layout *layout, gc_decoder *decoder, gc_tiff_file *file,
                                 gconv_error *error)
{
    uint16_t format = SAMPLEFORMAT_UINT;
    *layout = (gc_tiff_layout){0};
    read_tags(layout, file, &format);
    GC_TRY(check_camera(layout, file, error));
    GC_TRY(check_compression(layout, error));
    GC_TRY(check_photometric(layout, error));
    GC_TRY(check_samples(layout, format, error));
    GC_TRY(find_samples(layout, decoder, file, error));
    GC_TRY(make_tables(layout, decoder, file, error));
    if (layout->compression == COMPRESSION_JPEG && layout->photometric == PHOTOMETRIC_YCBCR)
        gc_tiff.TIFFSetField(file->tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    return GCONV_OK;
}

void gc_tiff_layout_free(gc_tiff_layout *layout)
{
    free(layout->levels);
    free(layout->palette);
    layout->levels = layout->palette = NULL;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void store(unsigned char *line, size_t index, size_t cell, uint32_t value)
{
    if (cell == 1)
        line[index] = (unsigned char)value;
    else
        memcpy(line + 2 * index, &(uint16_t){(uint16_t)value}, 2);
}

/* Samples that do not fill their bytes: the first bit is the highest. */
static void unpack_bits(const gc_tiff_layout *layout, const unsigned char *packed, size_t first,
                        size_t step, size_t count, unsigned char *line)
{
    const unsigned bits = layout->bits;
    const uint32_t mask = (1u << bits) - 1;
    uint32_t held = 0;
    unsigned left = 0;
    for (size_t i = 0; i < count; i++) {
        for (; left < bits; left += 8)
            held = held << 8 | *packed++;
        left -= bits;
        store(line, first + i * step, layout->cell, held >> left & mask);
    }
}

void gc_tiff_unpack(const gc_tiff_layout *layout, const unsigned char *packed, uint32_t from,
                    uint32_t count, int plane, unsigned char *line)
{
    const size_t cell = layout->cell;
    const size_t step = layout->separate ? layout->samples : 1;
    const size_t samples = layout->separate ? count : (size_t)count * layout->samples;
    const size_t first = (size_t)from * layout->samples + (size_t)plane;
    if (layout->bits != 8 * cell)
        unpack_bits(layout, packed, first, step, samples, line);
    else if (!layout->separate)
        memcpy(line + first * cell, packed, samples * cell);
    else
        for (size_t i = 0; i < samples; i++)
            memcpy(line + (first + i * step) * cell, packed + i * cell, cell);
}

static uint32_t load(const gc_tiff_layout *layout, const unsigned char *line, size_t index)
{
    uint16_t value = line[layout->cell * index];
    if (layout->cell == 2)
        memcpy(&value, line + 2 * index, 2);
    return value;
}

/* The colour that was multiplied by alpha, rounded to nearest; 0 under no alpha. */
static uint32_t divide(uint32_t colour, uint32_t alpha, uint32_t full)
{
    uint64_t quotient = alpha == 0 ? 0 : ((uint64_t)colour * full + alpha / 2) / alpha;
    return quotient < full ? (uint32_t)quotient : full;
}

static void convert_whole(const gc_tiff_layout *layout, const unsigned char *pixel, int depth,
                          unsigned char *row, size_t at)
{
    const uint32_t full = depth == 8 ? UINT8_MAX : UINT16_MAX;
    const size_t cell = (size_t)depth / 8;
    uint32_t alpha = full;
    if (layout->alpha > 0) {
        alpha = load(layout, pixel, (size_t)layout->alpha);
        alpha = layout->levels != NULL ? layout->levels[alpha] : alpha;
        store(row, at + (size_t)layout->colours, cell, alpha);
    }
    for (int c = 0; c < layout->colours; c++) {
        uint32_t v = load(layout, pixel, layout->palette != NULL ? 0 : (size_t)c);
        if (layout->palette != NULL)
            v = layout->palette[((size_t)c << layout->bits) + v];
        else if (layout->levels != NULL)
            v = layout->levels[v];
        v = layout->white_is_zero ? full - v : v;
        store(row, at + (size_t)c, cell, layout->associated ? divide(v, alpha, full) : v);
    }
}

static void convert_float(const gc_tiff_layout *layout, const float *pixel, float *out)
{
    float alpha = layout->alpha > 0 ? pixel[layout->alpha] : UINT8_MAX;
    for (int c = 0; c < layout->colours; c++) {
        out[c] = pixel[c];
        if (layout->associated) /* within what rule 82 takes */
            out[c] = alpha > 0 ? fmaxf(-0x1p32f, fminf(0x1p32f, UINT8_MAX * pixel[c] / alpha)) : 0;
    }
    if (layout->alpha > 0)
        out[layout->colours] = alpha;
}

void gc_tiff_convert(const gc_tiff_layout *layout, const unsigned char *line, int depth,
                     unsigned char *row)
{
    const size_t channels = (size_t)layout->colours + (layout->alpha > 0);
    const size_t step = layout->samples;
    for (size_t x = 0; x < layout->width; x++)
        if (layout->floats)
            convert_float(layout, (const float *)(const void *)line + x * step,
                          (float *)(void *)row + x * channels);
        else
            convert_whole(layout, line + x * step * layout->cell, depth, row, x * channels);
}
