#include "turbo.h"

#include "../unit/turbo_support.h"

bool gc_double_read_header(const unsigned char *bytes, size_t size, bool *usual)
{
    turbo_errors errors;
    struct jpeg_decompress_struct jpeg = {.err = turbo_catch(&errors)};
    jpeg_create_decompress(&jpeg);
    bool read = false;
    if (setjmp(errors.trap) == 0) {
        turbo_image image = {.channels = 0};
        jpeg_mem_src(&jpeg, (unsigned char *)bytes, size);
        jpeg_read_header(&jpeg, TRUE);
        *usual = turbo_describe(&jpeg, &image) && !jpeg.progressive_mode && !jpeg.arith_code;
        read = true;
    }
    jpeg_destroy_decompress(&jpeg);
    return read;
}

static void take(gc_double_planes *decoded, const turbo_image *image, bool is_right)
{
    decoded->count = image->channels;
    for (int c = 0; c < image->channels; c++) {
        decoded->planes[c] = image->planes[c];
        decoded->pitches[c] = image->pitches[c];
        decoded->widths[c] = image->plane_widths[c];
        decoded->heights[c] = image->plane_heights[c];
        if (!is_right)
            memset(decoded->planes[c], 0x55, decoded->pitches[c] * decoded->heights[c]);
    }
}

bool gc_double_decode(const unsigned char *bytes, size_t size, gc_double_planes *decoded)
{
    bool usual;
    if (!gc_double_read_header(bytes, size, &usual) || !usual)
        return false;
    gconv_encoded file = {.bytes = bytes, .size = size};
    turbo_image image = {.channels = 0};
    bool is_right = turbo_read(&file, true, &image);
    if (image.planes[0] == NULL) {
        turbo_free(&image);
        return false;
    }
    take(decoded, &image, is_right);
    return true;
}

void gc_double_free_planes(gc_double_planes *decoded)
{
    for (int c = 0; c < decoded->count; c++)
        free(decoded->planes[c]);
    decoded->count = 0;
}
