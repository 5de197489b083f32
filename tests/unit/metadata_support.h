/* What the tests of kept metadata share: a copy of an image with its metadata. */
#pragma once

#include "container_support.h"
#include "exif_support.h"

#include "io/metadata.h"

/* A file of 9 x 5 pixels. */
static inline blob small_file(gconv_format format, int channels)
{
    OWNED_PICTURE source = make_picture(9, 5, channels, 8);
    must_write("small", format, &source);
    return load_file("small");
}

static int warnings; /* of the last copy */

/* Copies an image and its metadata to the file `copy`, and returns a reader on that. */
static inline gconv_reader *copy_with(const char *name, gconv_format format, gconv_keep keep,
                                      const gconv_reader_options *reading)
{
    gconv_reader *reader;
    gconv_writer *writer;
    gconv_error error = {0};
    warnings_seen seen = {0};
    gconv_writer_options options = writing_as(format);
    assert_ok(gconv_reader_open(name, reading, &reader, &error));
    options.shape = *gconv_reader_shape(reader);
    options.metadata = gconv_reader_metadata(reader);
    options.keep = keep;
    options.warn = remember_warning;
    options.warn_user = &seen;
    assert_ok(gconv_writer_open("copy", &options, &writer, &error));
    unsigned char row[256];
    for (uint32_t y = 0; y < options.shape.height; y++) {
        assert_ok(gconv_reader_read(reader, 1, row, sizeof row, &error));
        assert_ok(gconv_writer_write(writer, 1, row, sizeof row, &error));
    }
    assert_ok(gconv_reader_finish(reader, &error));
    gconv_reader_free(reader);
    assert_ok(gconv_writer_finish(writer, &error));
    gconv_writer_free(writer);
    warnings = seen.count;
    assert_ok(gconv_reader_open("copy", reading, &reader, &error));
    return reader;
}
