/* The table of formats, which readers, writers and gconv_format_... walk. */
#ifndef GC_IO_FORMAT_H
#define GC_IO_FORMAT_H

#include "gconv.h"

struct gc_decoder_type;
struct gc_encoder_type;

enum {
    GC_FORMAT_WORDS_MAX = 4,
    GC_SIGNATURES = 2,
    GC_SIGNATURE_BYTES_MAX = 8 /* what has to be read of a file to recognise its format */
};

typedef struct gc_format {
    gconv_format_info info;
    const char *words[GC_FORMAT_WORDS_MAX + 1]; /* its names and extensions, in small letters */
    const char *signatures[GC_SIGNATURES]; /* of its files, as in gc_begins_with; NULL: no more */
    const struct gc_decoder_type *decoder; /* NULL if it is not read */
    const struct gc_encoder_type *encoder; /* NULL if it is not written */
} gc_format;

/* NULL for GCONV_FORMAT_UNKNOWN and for values that are no format. */
const gc_format *gc_format_at(gconv_format format);

/* Names are short: sixteen bytes for each, and what stands before it, are enough. */
enum { GC_FORMAT_NAMES_BYTES = 16 * GCONV_FORMAT_COUNT };

/* The names of all formats: "png, jpeg, pgm, ppm or pfm", or in capitals. Returns `list`. */
const char *gc_format_list(bool capitals, char list[GC_FORMAT_NAMES_BYTES]);

/* Whether a file begins with a signature of `length` bytes: '?' is any byte, ' ' a blank or the #
 * of a comment. */
bool gc_begins_with(const unsigned char *bytes, size_t count, const char *signature, size_t length);

/* Always fails, with a message that says why gconv does not read the file. `bytes` are its first
 * bytes. gconv_format_from_content does not know them. */
gconv_status gc_format_refuse(const unsigned char *bytes, size_t count, gconv_error *error);

#endif
