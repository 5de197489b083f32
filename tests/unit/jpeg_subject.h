/* Files whose entropy-coded data tests follow. */
#pragma once

#include "io_support.h"

#include "io/jpeg/fast/frame.h"
#include "jpeg/random.h"
#include "jpeg/samples.h"

/* A file whose header libjpeg has read. */
typedef struct subject {
    jpeg_file file;
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    gc_jpeg_frame frame;
    const unsigned char *data;
    size_t size; /* of the data, up to the end of the file */
    uint32_t mcus;
} subject;

static inline void open_file(subject *of, jpeg_file file, bool colour)
{
    *of = (subject){.file = file};
    of->jpeg.err = jpeg_std_error(&of->errors);
    jpeg_create_decompress(&of->jpeg);
    jpeg_mem_src(&of->jpeg, of->file.bytes, of->file.size);
    jpeg_read_header(&of->jpeg, TRUE);
    of->jpeg.out_color_space = colour ? JCS_RGB : JCS_GRAYSCALE;
    assert_true(gc_jpeg_describe(&of->jpeg, &of->frame));
    of->data = of->jpeg.src->next_input_byte;
    of->size = of->jpeg.src->bytes_in_buffer;
    of->mcus = of->frame.mcus_across * of->frame.mcus_down;
}

static inline void open_subject(subject *of, const jpeg_recipe *recipe, bool colour)
{
    open_file(of, jpeg_sample(recipe), colour);
}

static inline void close_subject(subject *of)
{
    gc_jpeg_codings_release(of->frame.codings);
    jpeg_destroy_decompress(&of->jpeg);
    free(of->file.bytes);
}

#define OWNED_SUBJECT RELEASED_BY(close_subject) subject

/* Damages the data in one of several ways: bits, the end, stuffed bytes and markers. */
static inline void damage_subject(subject *of, jpeg_random *random, size_t way)
{
    unsigned char *data = of->file.bytes + (of->data - of->file.bytes);
    for (size_t n = way % 4; n > 0; n--)
        data[jpeg_random_below(random, of->size)] ^= (unsigned char)(1 << way % 8);
    if (way % 5 == 0)
        of->size = 1 + jpeg_random_below(random, of->size);
    if (way % 7 == 0)
        data[jpeg_random_below(random, of->size)] = 0xff;
}
