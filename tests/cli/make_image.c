/* Makes and shows the images of the command-line tests, with libpng and libjpeg alone: nothing of
 * gconv judges itself here.
 *
 *     make_image make KIND FILE WIDTH HEIGHT VALUES...   writes an image
 *     make_image dump FILE                               prints what an image holds
 *
 * KIND is words joined by colons. The first is png, jpeg, pgm or ppm; the others, in any order:
 *     grey grey-alpha rgb rgba palette cmyk ycc    colour (ycc: JPEG's default for colour)
 *     1 2 4 8 16                                   bits a sample
 *     interlaced progressive baseline              order of the data
 *     exif=N phys=N icc trns maxval=N quality=N    what is attached
 *     sampling=XY                                  luma samples a chroma sample stands for, across
 *     and
 *                                                  down (ycc: 22 unless given)
 *     restart=N                                    a restart marker each N blocks of a JPEG
 *
 * VALUES are samples in reading order, repeated until the image is full; `noise` is a fixed
 * sequence of pseudo-random ones. Of a palette image the values are indices, and index i is the
 * colour (i, 255-i, 10*i modulo 256).
 *
 * The dump begins with a line like `png rgb 8 3x2 phys=2835 exif=6 icc`, then has a line a row,
 * the samples as numbers, from the top. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h> /* needs stdio.h before it */
#include <png.h>

typedef struct picture {
    char format[8];
    char colour[16];
    unsigned width, height;
    int channels, depth;
    int exif, phys, maxval, quality, sampling, restart;
    int icc, trns, interlaced, progressive;
    unsigned *samples;
} picture;

static void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("make_image: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

static FILE *open_file(const char *path, const char *mode)
{
    FILE *file = fopen(path, mode);
    if (file == NULL)
        die("cannot open %s", path);
    return file;
}

static void close_file(FILE *file)
{
    if (fclose(file) != 0)
        die("cannot write");
}

/* ---- Colours --------------------------------------------------------------------------------- */

typedef struct colour {
    const char *name;
    int channels, png_type;
    J_COLOR_SPACE input, stored; /* JPEG: as given, as in the file */
} colour;

static const colour colours[] = {
    {"grey", 1, PNG_COLOR_TYPE_GRAY, JCS_GRAYSCALE, JCS_GRAYSCALE},
    {"grey-alpha", 2, PNG_COLOR_TYPE_GRAY_ALPHA, JCS_UNKNOWN, JCS_UNKNOWN},
    {"palette", 1, PNG_COLOR_TYPE_PALETTE, JCS_UNKNOWN, JCS_UNKNOWN},
    {"rgb", 3, PNG_COLOR_TYPE_RGB, JCS_RGB, JCS_RGB},
    {"rgba", 4, PNG_COLOR_TYPE_RGB_ALPHA, JCS_UNKNOWN, JCS_UNKNOWN},
    {"ycc", 3, PNG_COLOR_TYPE_RGB, JCS_RGB, JCS_YCbCr},
    {"cmyk", 4, PNG_COLOR_TYPE_RGB_ALPHA, JCS_CMYK, JCS_CMYK},
    {"ycck", 4, PNG_COLOR_TYPE_RGB_ALPHA, JCS_CMYK, JCS_YCCK},
};
enum { COLOUR_COUNT = sizeof colours / sizeof colours[0] };

static const colour *colour_named(const char *name)
{
    for (int i = 0; i < COLOUR_COUNT; i++)
        if (strcmp(colours[i].name, name) == 0)
            return &colours[i];
    return NULL;
}

/* ---- What to make ---------------------------------------------------------------------------- */

/* KEY=NUMBER, or KEY alone if that is a flag. */
static int is_attribute(picture *p, const char *word)
{
    const struct {
        const char *name;
        int *number;
    } attributes[] = {
        {"exif=", &p->exif},
        {"phys=", &p->phys},
        {"maxval=", &p->maxval},
        {"quality=", &p->quality},
        {"sampling=", &p->sampling},
        {"restart=", &p->restart},
        {"icc", &p->icc},
        {"trns", &p->trns},
        {"interlaced", &p->interlaced},
        {"progressive", &p->progressive},
    };
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        size_t length = strlen(attributes[i].name);
        if (strncmp(word, attributes[i].name, length) != 0)
            continue;
        *attributes[i].number = attributes[i].name[length - 1] == '=' ? atoi(word + length) : 1;
        return 1;
    }
    return 0;
}

static void read_kind(picture *p, char *kind)
{
    *p = (picture){.depth = 8, .maxval = 255, .quality = 100};
    char *word = strtok(kind, ":");
    snprintf(p->format, sizeof p->format, "%s", word != NULL ? word : "");
    snprintf(p->colour, sizeof p->colour, "%s", strcmp(p->format, "ppm") == 0 ? "rgb" : "grey");
    while ((word = strtok(NULL, ":")) != NULL) {
        if (colour_named(word) != NULL)
            snprintf(p->colour, sizeof p->colour, "%s", word);
        else if (atoi(word) > 0)
            p->depth = atoi(word);
        else if (!is_attribute(p, word))
            die("unknown word '%s'", word);
    }
    p->channels = colour_named(p->colour)->channels;
}

static size_t sample_count(const picture *p)
{
    return (size_t)p->width * p->height * (size_t)p->channels;
}

static void allocate_samples(picture *p)
{
    p->samples = calloc(sample_count(p), sizeof *p->samples);
    if (p->samples == NULL)
        die("out of memory");
}

static void read_values(picture *p, int count, char **values)
{
    allocate_samples(p);
    if (count < 1)
        die("no values");
    uint64_t state = 1;
    for (size_t i = 0; i < sample_count(p); i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
        if (strcmp(values[0], "noise") == 0)
            p->samples[i] = (unsigned)(state >> 40) & ((1u << p->depth) - 1);
        else
            p->samples[i] = (unsigned)strtoul(values[i % (size_t)count], NULL, 0);
    }
}

/* ---- Attachments ----------------------------------------------------------------------------- */

enum { TIFF_BYTES = 26 };

/* A TIFF of one tag, orientation. */
static void make_tiff(unsigned char *bytes, int orientation)
{
    static const unsigned char tiff[TIFF_BYTES] = {
        'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    memcpy(bytes, tiff, sizeof tiff);
    bytes[18] = (unsigned char)orientation;
}

/* The orientation in a TIFF as above, or rewritten by others with the tag first; 0 if none. */
static int read_tiff(const unsigned char *bytes, size_t size)
{
    return size >= TIFF_BYTES && bytes[10] == 0x12 && bytes[11] == 0x01 ? bytes[18] : 0;
}

/* An ICC profile only as far as libpng looks into it: a header and one tag, long enough not to be
 * refused when it is compressed. */
enum { PROFILE_BYTES = 132 + 12 + 200 };

static void make_profile(const picture *p, unsigned char *bytes)
{
    static const unsigned char d50[12] = {0, 0, 0xf6, 0xd6, 0, 1, 0, 0, 0, 0, 0xd3, 0x2d};
    memset(bytes, 0, PROFILE_BYTES);
    bytes[2] = PROFILE_BYTES >> 8;
    bytes[3] = PROFILE_BYTES & 255;
    bytes[8] = 2;
    memcpy(bytes + 12, p->channels < 3 ? "mntrGRAYXYZ " : "mntrRGB XYZ ", 12);
    memcpy(bytes + 36, "acsp", 4);
    memcpy(bytes + 68, d50, sizeof d50);
    memcpy(bytes + 128, "\0\0\0\1cprt\0\0\0\x90\0\0\0\xc8text", 20);
    for (int i = 152; i < PROFILE_BYTES; i++)
        bytes[i] = (unsigned char)(1 + i * i * i % 251);
}

/* ---- PNG ------------------------------------------------------------------------------------- */

static void set_palette(png_structp png, png_infop info, const picture *p)
{
    png_color entries[256];
    png_byte alpha[256];
    for (int i = 0; i < 256; i++) {
        entries[i] = (png_color){(png_byte)i, (png_byte)(255 - i), (png_byte)(10 * i)};
        alpha[i] = (png_byte)(i % 2 == 0 ? 255 : 128);
    }
    png_set_PLTE(png, info, entries, 1 << p->depth);
    if (p->trns)
        png_set_tRNS(png, info, alpha, 1 << p->depth, NULL);
}

static void attach_to_png(png_structp png, png_infop info, const picture *p)
{
    unsigned char profile[PROFILE_BYTES], tiff[TIFF_BYTES];
    make_profile(p, profile);
    make_tiff(tiff, p->exif);
    if (strcmp(p->colour, "palette") == 0)
        set_palette(png, info, p);
    else if (p->trns)
        png_set_tRNS(png, info, NULL, 0, &(png_color_16){.gray = 0});
    if (p->icc)
        png_set_iCCP(png, info, "test", 0, profile, PROFILE_BYTES);
    if (p->phys > 0)
        png_set_pHYs(png, info, (png_uint_32)p->phys, (png_uint_32)p->phys, PNG_RESOLUTION_METER);
    if (p->exif > 0)
        png_set_eXIf_1(png, info, TIFF_BYTES, tiff);
}

static void pack_png_row(const picture *p, unsigned y, unsigned char *row)
{
    size_t count = (size_t)p->width * (size_t)p->channels;
    const unsigned *samples = p->samples + y * count;
    for (size_t i = 0; i < count; i++) {
        row[p->depth == 16 ? 2 * i + 1 : i] = (unsigned char)samples[i];
        if (p->depth == 16)
            row[2 * i] = (unsigned char)(samples[i] >> 8);
    }
}

static void write_png(const picture *p, FILE *file)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    if (setjmp(png_jmpbuf(png)))
        die("libpng failed");
    png_init_io(png, file);
    png_set_IHDR(png, info, p->width, p->height, p->depth, colour_named(p->colour)->png_type,
                 p->interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, 0, 0);
    attach_to_png(png, info, p);
    png_write_info(png, info);
    png_set_packing(png);
    unsigned char *row = calloc((size_t)p->width * (size_t)p->channels, 2);
    int passes = png_set_interlace_handling(png);
    for (int pass = 0; row != NULL && pass < passes; pass++)
        for (unsigned y = 0; y < p->height; y++) {
            pack_png_row(p, y, row);
            png_write_row(png, row);
        }
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    free(row);
}

static void read_png_attachments(png_structp png, png_infop info, picture *p)
{
    png_uint_32 x, y, size;
    int unit;
    png_bytep tiff;
    if (png_get_pHYs(png, info, &x, &y, &unit) != 0)
        p->phys = (int)x;
    if (png_get_eXIf_1(png, info, &size, &tiff) != 0)
        p->exif = read_tiff(tiff, size);
    p->icc = png_get_valid(png, info, PNG_INFO_iCCP) != 0;
    p->trns = png_get_valid(png, info, PNG_INFO_tRNS) != 0;
    p->interlaced = png_get_interlace_type(png, info) == PNG_INTERLACE_ADAM7;
}

static void read_png(picture *p, FILE *file)
{
    fseek(file, 24, SEEK_SET); /* libpng forgets the depth in the file when it unpacks bits */
    p->depth = fgetc(file);
    rewind(file);
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    if (setjmp(png_jmpbuf(png)))
        die("libpng failed");
    png_init_io(png, file);
    png_read_png(png, info, PNG_TRANSFORM_PACKING, NULL);
    p->width = png_get_image_width(png, info);
    p->height = png_get_image_height(png, info);
    p->channels = png_get_channels(png, info);
    for (int i = COLOUR_COUNT - 1; i >= 0; i--)
        if (colours[i].png_type == png_get_color_type(png, info))
            snprintf(p->colour, sizeof p->colour, "%s", colours[i].name);
    read_png_attachments(png, info, p);
    allocate_samples(p);
    png_bytepp rows = png_get_rows(png, info);
    size_t row = (size_t)p->width * (size_t)p->channels;
    for (size_t i = 0; i < sample_count(p); i++) {
        const png_byte *bytes = rows[i / row];
        size_t at = i % row;
        p->samples[i] =
            p->depth == 16 ? (unsigned)bytes[2 * at] << 8 | bytes[2 * at + 1] : bytes[at];
    }
    png_destroy_read_struct(&png, &info, NULL);
}

/* ---- JPEG ------------------------------------------------------------------------------------ */

static void attach_to_jpeg(struct jpeg_compress_struct *jpeg, const picture *p)
{
    unsigned char marker[14 + PROFILE_BYTES] = "Exif\0";
    make_tiff(marker + 6, p->exif);
    if (p->exif > 0)
        jpeg_write_marker(jpeg, JPEG_APP0 + 1, marker, 6 + TIFF_BYTES);
    memcpy(marker, "ICC_PROFILE\0\1\1", 14);
    make_profile(p, marker + 14);
    if (p->icc)
        jpeg_write_marker(jpeg, JPEG_APP0 + 2, marker, sizeof marker);
}

static void write_jpeg(const picture *p, FILE *file)
{
    struct jpeg_error_mgr errors;
    struct jpeg_compress_struct jpeg = {.err = jpeg_std_error(&errors)};
    const colour *kind = colour_named(p->colour);
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, file);
    jpeg.image_width = p->width;
    jpeg.image_height = p->height;
    jpeg.input_components = p->channels;
    jpeg.in_color_space = kind->input;
    jpeg_set_defaults(&jpeg);
    jpeg_set_colorspace(&jpeg, kind->stored);
    jpeg_set_quality(&jpeg, p->quality, TRUE);
    if (p->sampling > 0) {
        jpeg.comp_info[0].h_samp_factor = p->sampling / 10;
        jpeg.comp_info[0].v_samp_factor = p->sampling % 10;
    }
    jpeg.restart_interval = (unsigned)p->restart;
    if (p->progressive)
        jpeg_simple_progression(&jpeg);
    if (p->phys > 0) {
        jpeg.density_unit = 1;
        jpeg.X_density = jpeg.Y_density = (UINT16)p->phys;
    }
    jpeg_start_compress(&jpeg, TRUE);
    attach_to_jpeg(&jpeg, p);
    size_t row = (size_t)p->width * (size_t)p->channels;
    JSAMPLE *bytes = malloc(row);
    for (unsigned y = 0; bytes != NULL && y < p->height; y++) {
        for (size_t i = 0; i < row; i++)
            bytes[i] = (JSAMPLE)p->samples[y * row + i];
        jpeg_write_scanlines(&jpeg, &bytes, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    free(bytes);
}

static void read_jpeg_attachments(struct jpeg_decompress_struct *jpeg, picture *p)
{
    for (jpeg_saved_marker_ptr m = jpeg->marker_list; m != NULL; m = m->next) {
        if (m->marker == JPEG_APP0 + 1 && m->data_length > 6)
            p->exif = read_tiff(m->data + 6, m->data_length - 6);
        if (m->marker == JPEG_APP0 + 2)
            p->icc = 1;
    }
    if (jpeg->saw_JFIF_marker && jpeg->density_unit == 1)
        p->phys = jpeg->X_density;
    p->progressive = jpeg->progressive_mode;
}

static void read_jpeg(picture *p, FILE *file)
{
    struct jpeg_error_mgr errors;
    struct jpeg_decompress_struct jpeg = {.err = jpeg_std_error(&errors)};
    jpeg_create_decompress(&jpeg);
    jpeg_stdio_src(&jpeg, file);
    jpeg_save_markers(&jpeg, JPEG_APP0 + 1, 0xffff);
    jpeg_save_markers(&jpeg, JPEG_APP0 + 2, 0xffff);
    jpeg_read_header(&jpeg, TRUE);
    for (int i = 0; i < COLOUR_COUNT; i++)
        if (colours[i].stored == jpeg.jpeg_color_space && colours[i].stored != JCS_UNKNOWN)
            snprintf(p->colour, sizeof p->colour, "%s", colours[i].name);
    read_jpeg_attachments(&jpeg, p);
    jpeg_start_decompress(&jpeg);
    p->width = jpeg.output_width;
    p->height = jpeg.output_height;
    p->channels = jpeg.output_components;
    p->depth = 8;
    allocate_samples(p);
    size_t row = (size_t)p->width * (size_t)p->channels;
    JSAMPLE *bytes = malloc(row);
    while (bytes != NULL && jpeg.output_scanline < p->height) {
        unsigned *samples = p->samples + jpeg.output_scanline * row;
        jpeg_read_scanlines(&jpeg, &bytes, 1);
        for (size_t i = 0; i < row; i++)
            samples[i] = bytes[i];
    }
    jpeg_finish_decompress(&jpeg);
    jpeg_destroy_decompress(&jpeg);
    free(bytes);
}

/* ---- PNM and PFM ----------------------------------------------------------------------------- */

static void write_pnm(const picture *p, FILE *file)
{
    fprintf(file, "P%c\n%u %u\n%d\n", p->channels == 1 ? '5' : '6', p->width, p->height, p->maxval);
    for (size_t i = 0; i < sample_count(p); i++) {
        if (p->maxval > 255)
            fputc((int)(p->samples[i] >> 8), file);
        fputc((int)(p->samples[i] & 255), file);
    }
}

/* As bits of floats for PFM, whose rows are stored from the bottom. */
static void read_pnm(picture *p, FILE *file)
{
    char letter;
    double scale;
    if (fscanf(file, "P%c %u %u %lf", &letter, &p->width, &p->height, &scale) != 4)
        die("no PNM header");
    fgetc(file);
    int is_float = letter == 'f' || letter == 'F';
    p->channels = letter == '6' || letter == 'F' ? 3 : 1;
    p->depth = is_float ? 32 : scale > 255 ? 16 : 8;
    p->maxval = is_float ? 255 : (int)scale;
    snprintf(p->format, sizeof p->format, "%s", is_float ? "pfm" : letter == '6' ? "ppm" : "pgm");
    snprintf(p->colour, sizeof p->colour, "%s", p->channels == 3 ? "rgb" : "grey");
    if (is_float && scale != -255 && scale != -65535)
        die("not a little-endian PFM");
    allocate_samples(p);
    size_t row = (size_t)p->width * (size_t)p->channels;
    for (size_t i = 0; i < sample_count(p); i++) {
        size_t y = is_float ? p->height - 1 - i / row : i / row;
        unsigned *sample = &p->samples[y * row + i % row];
        for (int b = 0; b < p->depth / 8; b++) {
            unsigned byte = (unsigned)fgetc(file);
            *sample = is_float ? *sample | byte << 8 * b : *sample << 8 | byte;
        }
    }
    if (feof(file) || fgetc(file) != EOF)
        die("too short or too long");
}

/* ---- The dump -------------------------------------------------------------------------------- */

static void print_sample(const picture *p, unsigned sample)
{
    float value;
    memcpy(&value, &sample, sizeof value);
    if (p->depth == 32)
        printf("%.9g", (double)value);
    else
        printf("%u", sample);
}

static void print_picture(const picture *p)
{
    printf("%s %s %d %ux%u", p->format, p->colour, p->depth, p->width, p->height);
    if (p->maxval != 255)
        printf(" maxval=%d", p->maxval);
    if (p->phys > 0)
        printf(" phys=%d", p->phys);
    if (p->exif > 0)
        printf(" exif=%d", p->exif);
    printf("%s%s%s%s\n", p->icc ? " icc" : "", p->trns ? " trns" : "",
           p->interlaced ? " interlaced" : "", p->progressive ? " progressive" : "");
    size_t row = (size_t)p->width * (size_t)p->channels;
    for (size_t i = 0; i < sample_count(p); i++) {
        print_sample(p, p->samples[i]);
        putchar(i % row == row - 1 ? '\n' : ' ');
    }
}

static void dump(const char *path)
{
    FILE *file = open_file(path, "rb");
    picture p = {.maxval = 255};
    int first = fgetc(file);
    rewind(file);
    snprintf(p.format, sizeof p.format, "%s", first == 0x89 ? "png" : "jpeg");
    if (first == 0x89)
        read_png(&p, file);
    else if (first == 0xff)
        read_jpeg(&p, file);
    else
        read_pnm(&p, file);
    fclose(file);
    print_picture(&p);
    free(p.samples);
}

static void make(char **arguments, int count)
{
    picture p;
    read_kind(&p, arguments[0]);
    p.width = (unsigned)atoi(arguments[2]);
    p.height = (unsigned)atoi(arguments[3]);
    read_values(&p, count - 4, arguments + 4);
    FILE *file = open_file(arguments[1], "wb");
    if (strcmp(p.format, "png") == 0)
        write_png(&p, file);
    else if (strcmp(p.format, "jpeg") == 0)
        write_jpeg(&p, file);
    else
        write_pnm(&p, file);
    close_file(file);
    free(p.samples);
}

int main(int argc, char **argv)
{
    if (argc > 6 && strcmp(argv[1], "make") == 0)
        make(argv + 2, argc - 2);
    else if (argc == 3 && strcmp(argv[1], "dump") == 0)
        dump(argv[2]);
    else
        die("make KIND FILE WIDTH HEIGHT VALUES..., or dump FILE");
    return 0;
}
