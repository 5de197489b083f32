#include "samples.h"

#include <stdlib.h>

static unsigned char sample_of(jpeg_pattern pattern, uint32_t x, uint32_t y, int c, uint32_t noise)
{
    switch (pattern) {
    case JPEG_NOISE:
        return (unsigned char)(noise >> 24);
    case JPEG_CHECKERS:
        return (x + y) % 2 != 0 ? 255 : 0;
    case JPEG_BLACK_OR_WHITE:
        return noise >> 31 != 0 ? 255 : 0;
    case JPEG_WHITE:
        return 255;
    default:
        return (unsigned char)(9 * x / 4 + 5 * y / 4 + 40 * (uint32_t)c + (noise >> 28));
    }
}

static void fill_row(unsigned char *row, const jpeg_recipe *recipe, int components, uint32_t y,
                     uint32_t *noise)
{
    for (uint32_t x = 0; x < recipe->width; x++)
        for (int c = 0; c < components; c++) {
            *noise = *noise * 1664525u + 1013904223u;
            *row++ = sample_of(recipe->pattern, x, y, c, *noise);
        }
}

static void write_rows(struct jpeg_compress_struct *jpeg, const jpeg_recipe *recipe)
{
    uint32_t noise = 12345;
    JSAMPROW row = malloc((size_t)recipe->width * (size_t)jpeg->input_components);
    if (row == NULL)
        abort();
    jpeg_start_compress(jpeg, TRUE);
    for (uint32_t y = 0; y < recipe->height; y++) {
        fill_row(row, recipe, jpeg->input_components, y, &noise);
        jpeg_write_scanlines(jpeg, &row, 1);
    }
    jpeg_finish_compress(jpeg);
    free(row);
}

jpeg_file jpeg_sample(const jpeg_recipe *recipe)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    unsigned long size = 0;
    jpeg_file made = {0};
    jpeg.err = jpeg_std_error(&errors); /* its error_exit ends the process */
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &made.bytes, &size);
    jpeg.image_width = recipe->width;
    jpeg.image_height = recipe->height;
    bool ink = recipe->stored == JCS_CMYK || recipe->stored == JCS_YCCK;
    bool grey = recipe->stored == JCS_GRAYSCALE;
    jpeg.input_components = ink ? 4 : grey ? 1 : 3;
    jpeg.in_color_space = ink ? JCS_CMYK : grey ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_set_colorspace(&jpeg, recipe->stored);
    jpeg_set_quality(&jpeg, recipe->quality, TRUE);
    jpeg.comp_info[0].h_samp_factor = recipe->across;
    jpeg.comp_info[0].v_samp_factor = recipe->down;
    jpeg.optimize_coding = recipe->optimised;
    jpeg.arith_code = recipe->arithmetic;
    jpeg.restart_interval = (unsigned int)recipe->restart;
    if (recipe->progressive)
        jpeg_simple_progression(&jpeg);
    write_rows(&jpeg, recipe);
    jpeg_destroy_compress(&jpeg);
    made.size = size;
    return made;
}

jpeg_recipe jpeg_recipe_of(uint32_t width, uint32_t height, J_COLOR_SPACE stored, int quality,
                           int across, int down)
{
    return (jpeg_recipe){width, height, stored, quality, across, down, .restart = 0};
}

jpeg_file jpeg_plain(uint32_t width, uint32_t height, J_COLOR_SPACE stored, int quality, int across,
                     int down)
{
    const jpeg_recipe recipe = jpeg_recipe_of(width, height, stored, quality, across, down);
    return jpeg_sample(&recipe);
}

void jpeg_file_free(jpeg_file *file)
{
    free(file->bytes);
}
