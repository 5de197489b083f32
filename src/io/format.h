/* The table of formats, which readers, writers and gconv_format_... walk. */
#pragma once

#include "gconv.h"

struct gc_decoder_type;
struct gc_encoder_type;

enum {
    GC_FORMAT_WORDS_MAX = 4,
    GC_SIGNATURES = 4,
    GC_SIGNATURE_BYTES_MIN = 8, /* enough for formats whose files may be as short */
    GC_SIGNATURE_BYTES_MAX = 18 /* what has to be read of a file to recognise its format */
};

/* How files begin: '?' is any byte, ' ' a blank or the # of a comment. */
typedef struct gc_signature {
    const char *bytes; /* NULL: no more signatures */
    size_t count;
} gc_signature;

/* The signature of a literal, which may hold NUL bytes. */
#define GC_SIGNATURE(text)                                                                         \
    {                                                                                              \
        text, sizeof text - 1                                                                      \
    }

/* Of formats that a build may lack. */
#define GC_TIFF_SIGNATURES                                                                         \
    GC_SIGNATURE("II*\0"), GC_SIGNATURE("MM\0*"), GC_SIGNATURE("II+\0"), GC_SIGNATURE("MM\0+")
#define GC_WEBP_SIGNATURE GC_SIGNATURE("RIFF????WEBP")
#define GC_AVIF_SIGNATURE GC_SIGNATURE("????ftypavi")
#define GC_HEIC_SIGNATURES                                                                         \
    GC_SIGNATURE("????ftyphe"), GC_SIGNATURE("????ftypmif1"), GC_SIGNATURE("????ftypmsf1")
#define GC_JXL_SIGNATURES GC_SIGNATURE("\xff\x0a"), GC_SIGNATURE("\0\0\0\x0cJXL \r\n\x87\n")
#define GC_RAW_OF_CAMERA "a camera's raw image"
#define GC_RAW_CONVERTER "darktable-cli"
#define GC_UNREAD(converter) "which gconv does not read; '" converter "' converts it"
/* Two names of one program. ImageMagick 6 lacks the first one. */
#define GC_MAGICK "magick' or 'convert"
#define GC_TAKE_FRAMES                                                                             \
    "'ffmpeg -i IN -pix_fmt yuv420p -f yuv4mpegpipe - | gconv ... - OUT' filters its frames"
#define GC_LACKS_TIFF "this build of gconv lacks libtiff"
#define GC_LACKS_WEBP "this build of gconv lacks libwebp"
#define GC_LACKS_HEIF "this build of gconv lacks libheif"
#define GC_LACKS_JXL "this build of gconv lacks libjxl"

typedef struct gc_format {
    gconv_format_info info;
    const char *words[GC_FORMAT_WORDS_MAX + 1]; /* its names and extensions, in small letters */
    gc_signature signatures[GC_SIGNATURES];
    const struct gc_decoder_type *decoder; /* NULL if it is not read */
    const struct gc_encoder_type *encoder; /* NULL if it is not written */
} gc_format;

/* NULL for GCONV_FORMAT_UNKNOWN and for values that are no format. */
const gc_format *gc_format_at(gconv_format format);

/* Names are short: sixteen bytes for each, and what stands before it, are enough. */
enum { GC_FORMAT_NAMES_BYTES = 16 * GCONV_FORMAT_COUNT };

typedef enum gc_format_set {
    GC_FORMATS_READ,    /* "PNG, JPEG or PGM" */
    GC_FORMATS_WRITTEN, /* "png, jpeg or pgm" */
    GC_FORMATS_SEVERAL  /* that hold several images: "PGM and PPM" */
} gc_format_set;

/* The formats of a set that this build has. Returns `list`. */
const char *gc_format_list(gc_format_set set, char list[GC_FORMAT_NAMES_BYTES]);

/* Whether a file begins with one of GC_SIGNATURES signatures. */
bool gc_begins_with(const unsigned char *bytes, size_t count, const gc_signature *signatures);

/* Always fails, with a message that says why gconv does not read the file. `bytes` are its first
 * bytes. gconv_format_from_content does not know them. */
gconv_status gc_format_refuse(const unsigned char *bytes, size_t count, gconv_error *error);
