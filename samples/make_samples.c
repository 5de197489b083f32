/* Renders the sample pictures of this directory. They look like photographs (texture, soft shadow,
 * blur, sensor grain) and are free of anyone's rights.
 *
 *     make_samples DIRECTORY
 */
#include "gconv.h"
#include "picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct sample_file {
    const char *name;
    gconv_format format;
    picture_fn picture;
    const int *width, *height;
    int channels;
    int grid;     /* samples of a pixel in each direction */
    double grain; /* standard deviation in 8-bit levels */
} sample_file;

static const sample_file files[] = {
    {"harbour.jpg", GCONV_FORMAT_JPEG, harbour, &harbour_width, &harbour_height, 3, 4, 1.6},
    {"still-life.png", GCONV_FORMAT_PNG, still_life, &still_life_width, &still_life_height, 3, 9,
     0},
    {"craters.png", GCONV_FORMAT_PNG, craters, &craters_width, &craters_height, 1, 2, 1.2},
};

/* The mean over the pixel, samples jittered within their cells. */
static colour render_pixel(picture_fn picture, int grid, int x, int y)
{
    colour sum = {0, 0, 0};
    for (int i = 0; i < grid * grid; i++) {
        double dx = (i % grid + noise_at(x, y, 2 * (uint32_t)i)) / grid;
        double dy = (i / grid + noise_at(x, y, 2 * (uint32_t)i + 1)) / grid;
        colour light = picture(x + dx, y + dy, (uint32_t)i);
        sum = (colour){sum.r + light.r, sum.g + light.g, sum.b + light.b};
    }
    return dim(sum, 1.0 / (grid * grid));
}

/* Near enough to normal: the sum of four even ones, of variance 1. */
static double grain_at(int x, int y, int channel)
{
    double sum = -2;
    for (uint32_t i = 0; i < 4; i++)
        sum += noise_at(x, y, 1000 + 4 * (uint32_t)channel + i);
    return sum * 1.732;
}

static uint8_t to_level(double light, double grain)
{
    /* A film-like shoulder, then the sRGB curve. */
    double exposed = 1 - exp(-1.15 * fmax(light, 0));
    double level = exposed <= 0.0031308 ? 12.92 * exposed : 1.055 * pow(exposed, 1 / 2.4) - 0.055;
    return (uint8_t)lround(fmin(fmax(255 * level + grain, 0), 255));
}

static void render_row(const sample_file *file, int y, uint8_t *row)
{
    for (int x = 0; x < *file->width; x++) {
        colour light = render_pixel(file->picture, file->grid, x, y);
        double value[3] = {light.r, light.g, light.b};
        for (int c = 0; c < file->channels; c++)
            *row++ = to_level(value[c], file->grain * grain_at(x, y, c));
    }
}

static gconv_status write_picture(const sample_file *file, gconv_writer *writer, uint8_t *row,
                                  size_t row_bytes, gconv_error *error)
{
    gconv_status status = GCONV_OK;
    for (int y = 0; y < *file->height && status == GCONV_OK; y++) {
        render_row(file, y, row);
        status = gconv_writer_write(writer, 1, row, row_bytes, error);
    }
    return status == GCONV_OK ? gconv_writer_finish(writer, error) : status;
}

static gconv_status make(const sample_file *file, const char *path, gconv_error *error)
{
    gconv_writer_options options = gconv_writer_options_default();
    options.format = file->format;
    options.shape = (gconv_shape){.width = (uint32_t)*file->width,
                                  .height = (uint32_t)*file->height,
                                  .channels = file->channels,
                                  .depth = 8};
    options.quality = 88;
    options.compression = 9;

    size_t row_bytes = gconv_shape_row_bytes(&options.shape);
    uint8_t *row = malloc(row_bytes);
    if (row == NULL) {
        snprintf(error->message, sizeof error->message, "out of memory");
        return GCONV_ERROR_MEMORY;
    }
    gconv_writer *writer = NULL;
    gconv_status status = gconv_writer_open(path, &options, &writer, error);
    if (status == GCONV_OK)
        status = write_picture(file, writer, row, row_bytes, error);
    gconv_writer_free(writer);
    free(row);
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "Usage: make_samples DIRECTORY\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[4096];
        gconv_error error;
        snprintf(path, sizeof path, "%s/%s", argv[1], files[i].name);
        if (make(&files[i], path, &error) != GCONV_OK) {
            fprintf(stderr, "make_samples: %s: %s\n", path, error.message);
            return 1;
        }
        printf("%s\n", path);
    }
    return 0;
}
