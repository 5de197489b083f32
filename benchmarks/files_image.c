/* Makes the images that files.sh, gpu_files.sh and auto.sh measure with, by libpng and libjpeg
 * alone.
 *
 *     files_image [-q QUALITY] [-s SEED] OUT WIDTH HEIGHT CHANNELS [PHOTOGRAPH]
 *
 * OUT ends in .png (level 6, adaptive filters) or .jpg (QUALITY, or 90; 4:2:0); CHANNELS is 1 or 3.
 * The picture is PHOTOGRAPH (PNG or JPEG), mirrored over and over, with a bit of grain so that
 * nothing repeats; without one it is made up: shapes, light, texture and grain. Each SEED (0 unless
 * given) shows another part of this endless picture. Rows are made one by one, so that an image may
 * be larger than memory. */
#define _DEFAULT_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include <jpeglib.h> /* needs stdio.h before it */
#include <png.h>

typedef struct photograph {
    unsigned width, height;
    unsigned char *rgb; /* NULL: none */
} photograph;

typedef struct image {
    unsigned width, height;
    int channels;
    int quality;        /* of JPEG */
    unsigned left, top; /* where in the endless picture it begins */
    photograph photograph;
} image;

static void die(const char *what, const char *name)
{
    fprintf(stderr, "files_image: %s %s\n", what, name);
    exit(1);
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL)
        die("out of memory", "");
    return memory;
}

static FILE *open_file(const char *name, const char *mode)
{
    FILE *file = fopen(name, mode);
    if (file == NULL)
        die("cannot open", name);
    return file;
}

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name);
    return length >= strlen(end) && strcmp(name + length - strlen(end), end) == 0;
}

/* ---- Photographs ----------------------------------------------------------------------------- */

static void read_png(const char *name, photograph *photo)
{
    png_image png = {.version = PNG_IMAGE_VERSION};
    if (png_image_begin_read_from_file(&png, name) == 0)
        die("cannot read", name);
    png.format = PNG_FORMAT_RGB;
    photo->width = png.width;
    photo->height = png.height;
    photo->rgb = allocate(png.height, (size_t)png.width * 3);
    if (png_image_finish_read(&png, NULL, photo->rgb, 0, NULL) == 0)
        die("cannot read", name);
}

static void read_jpeg(const char *name, photograph *photo)
{
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    FILE *file = open_file(name, "rb");
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&jpeg);
    jpeg_stdio_src(&jpeg, file);
    jpeg_read_header(&jpeg, TRUE);
    jpeg.out_color_space = JCS_RGB;
    jpeg_start_decompress(&jpeg);
    photo->width = jpeg.output_width;
    photo->height = jpeg.output_height;
    photo->rgb = allocate(photo->height, (size_t)photo->width * 3);
    while (jpeg.output_scanline < photo->height) {
        JSAMPROW row = photo->rgb + (size_t)jpeg.output_scanline * photo->width * 3;
        jpeg_read_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_decompress(&jpeg);
    jpeg_destroy_decompress(&jpeg);
    fclose(file);
}

/* ---- Pixels ---------------------------------------------------------------------------------- */

/* A number in [0, 256) that depends on the arguments alone. */
static unsigned noise(unsigned x, unsigned y)
{
    uint32_t h = x * 0x9E3779B1u ^ y * 0x85EBCA77u;
    h = (h ^ h >> 15) * 0x2C1B3C6Du;
    h = (h ^ h >> 12) * 0x297A2D39u;
    return (h ^ h >> 15) >> 24;
}

/* Noise with features of 2^shift pixels, smooth between. */
static unsigned texture(unsigned x, unsigned y, int shift)
{
    unsigned side = 1u << shift;
    unsigned fx = x & (side - 1), fy = y & (side - 1);
    x >>= shift;
    y >>= shift;
    unsigned top = noise(x, y) * (side - fx) + noise(x + 1, y) * fx;
    unsigned bottom = noise(x, y + 1) * (side - fx) + noise(x + 1, y + 1) * fx;
    return (top * (side - fy) + bottom * fy) >> 2 * shift;
}

static void make_pixel(unsigned x, unsigned y, unsigned char rgb[3])
{
    unsigned cell = noise(x / 192 + 7, y / 160 + 3);
    int dx = (int)(x % 192) - 96, dy = (int)(y % 160) - 80;
    bool inside = dx * dx + dy * dy < (int)(cell * 24);
    unsigned light = texture(x, y, 8) / 2 + texture(x, y, 5) / 6 + texture(x, y, 2) / 16;
    unsigned grain = (noise(x, y + 99) + noise(x + 99, y)) / 128;
    for (unsigned c = 0; c < 3; c++) {
        unsigned tint = inside ? noise(cell, c) / 3 : texture(x + 500 * c, y, 9) / 8;
        unsigned value = light + tint + grain + (noise(x + c, y + 7) >> 7);
        rgb[c] = (unsigned char)(value < 255 ? value : 255);
    }
}

/* Index into `size` pixels that are laid out again and again, every second time mirrored. */
static size_t reflect(unsigned at, unsigned size)
{
    unsigned place = at % (2 * size);
    return place < size ? place : 2 * size - 1 - place;
}

static void copy_pixel(const photograph *photo, unsigned x, unsigned y, unsigned char rgb[3])
{
    size_t at = reflect(y, photo->height) * photo->width + reflect(x, photo->width);
    unsigned grain = noise(x, y);
    for (size_t c = 0; c < 3; c++)
        rgb[c] = photo->rgb[3 * at + c] ^ (grain >> c & 1);
}

static void make_row(const image *made, unsigned y, unsigned char *row)
{
    for (unsigned x = 0; x < made->width; x++) {
        unsigned char rgb[3];
        if (made->photograph.rgb == NULL)
            make_pixel(made->left + x, made->top + y, rgb);
        else
            copy_pixel(&made->photograph, made->left + x, made->top + y, rgb);
        if (made->channels == 1)
            rgb[0] = (unsigned char)((77 * rgb[0] + 150 * rgb[1] + 29 * rgb[2] + 128) >> 8);
        memcpy(row, rgb, (size_t)made->channels);
        row += made->channels;
    }
}

/* ---- Files ----------------------------------------------------------------------------------- */

static void write_png(const image *made, FILE *file, unsigned char *row)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    if (setjmp(png_jmpbuf(png)) != 0)
        exit(1);
    png_init_io(png, file);
    png_set_IHDR(png, info, made->width, made->height, 8,
                 made->channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (unsigned y = 0; y < made->height; y++) {
        make_row(made, y, row);
        png_write_row(png, row);
    }
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
}

static void write_jpeg(const image *made, FILE *file, unsigned char *row)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, file);
    jpeg.image_width = made->width;
    jpeg.image_height = made->height;
    jpeg.input_components = made->channels;
    jpeg.in_color_space = made->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, made->quality, TRUE);
    jpeg_start_compress(&jpeg, TRUE);
    for (unsigned y = 0; y < made->height; y++) {
        make_row(made, y, row);
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
}

/* Reads the options and returns the number of arguments that they take, or -1. */
static int read_options(int argc, char **argv, image *made)
{
    int option;
    while ((option = getopt(argc, argv, "q:s:")) != -1) {
        unsigned value = option == '?' ? 0 : (unsigned)strtoul(optarg, NULL, 10);
        if (option == '?')
            return -1;
        if (option == 'q')
            made->quality = (int)value;
        if (option == 's') { /* primes, so that parts seldom coincide */
            made->left = value * 1009;
            made->top = value * 757;
        }
    }
    return optind - 1;
}

int main(int argc, char **argv)
{
    image made = {.quality = 90};
    int options = read_options(argc, argv, &made);
    argc -= options;
    if (options < 0 || (argc != 5 && argc != 6)) {
        fputs("usage: files_image [-q QUALITY] [-s SEED] OUT WIDTH HEIGHT CHANNELS [PHOTOGRAPH]\n",
              stderr);
        return 2;
    }
    argv += options;
    made.width = (unsigned)strtoul(argv[2], NULL, 10);
    made.height = (unsigned)strtoul(argv[3], NULL, 10);
    made.channels = atoi(argv[4]);
    if (argc == 6 && ends_with(argv[5], ".png"))
        read_png(argv[5], &made.photograph);
    else if (argc == 6)
        read_jpeg(argv[5], &made.photograph);
    unsigned char *row = allocate(made.width, 3);
    FILE *file = open_file(argv[1], "wb");
    if (ends_with(argv[1], ".png"))
        write_png(&made, file, row);
    else
        write_jpeg(&made, file, row);
    if (fclose(file) != 0)
        die("cannot write", argv[1]);
    free(row);
    free(made.photograph.rgb);
    return 0;
}
