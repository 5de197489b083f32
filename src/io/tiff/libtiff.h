/* libtiff, which is loaded when the first TIFF is met, and TIFF files through it. */
#pragma once

#include "base/buffer.h"
#include "base/module.h"
#include "base/output.h"
#include "io/input.h"
#include "io/metadata.h"

#include <tiffio.h>

#define GC_LIBTIFF_FUNCTIONS(X)                                                                    \
    X(TIFFClientOpenExt)                                                                           \
    X(TIFFClose)                                                                                   \
    X(TIFFCurrentDirOffset)                                                                        \
    X(TIFFFieldDataType)                                                                           \
    X(TIFFFieldReadCount)                                                                          \
    X(TIFFFindField)                                                                               \
    X(TIFFGetField)                                                                                \
    X(TIFFGetFieldDefaulted)                                                                       \
    X(TIFFGetStrileByteCount)                                                                      \
    X(TIFFGetStrileOffset)                                                                         \
    X(TIFFGetTagListCount)                                                                         \
    X(TIFFGetTagListEntry)                                                                         \
    X(TIFFGetVersion)                                                                              \
    X(TIFFIsBigTIFF)                                                                               \
    X(TIFFIsByteSwapped)                                                                           \
    X(TIFFIsCODECConfigured)                                                                       \
    X(TIFFIsTiled)                                                                                 \
    X(TIFFLastDirectory)                                                                           \
    X(TIFFMergeFieldInfo)                                                                          \
    X(TIFFOpenOptionsAlloc)                                                                        \
    X(TIFFOpenOptionsFree)                                                                         \
    X(TIFFOpenOptionsSetErrorHandlerExtR)                                                          \
    X(TIFFOpenOptionsSetMaxSingleMemAlloc)                                                         \
    X(TIFFOpenOptionsSetWarningHandlerExtR)                                                        \
    X(TIFFReadDirectory)                                                                           \
    X(TIFFReadEncodedStrip)                                                                        \
    X(TIFFReadEncodedTile)                                                                         \
    X(TIFFReadScanline)                                                                            \
    X(TIFFScanlineSize64)                                                                          \
    X(TIFFSetField)                                                                                \
    X(TIFFSetMode)                                                                                 \
    X(TIFFSetSubDirectory)                                                                         \
    X(TIFFTileRowSize64)                                                                           \
    X(TIFFWriteDirectory)                                                                          \
    X(TIFFWriteEncodedStrip)                                                                       \
    X(TIFFWriteRawStrip)                                                                           \
    X(TIFFWriteRawTile)

GC_MODULE_DECLARE(gc_tiff, gc_libtiff_load, GC_LIBTIFF_FUNCTIONS);

/* EXIF that says the orientation and nothing else. */
enum { GC_TIFF_ORIENTATION_BYTES = 26 };

/* What deflate is without a level, and the level that goes past libtiff. */
enum { GC_TIFF_DEFLATE_LEVEL = 6 };

/* Image data up to this fit a TIFF of 32-bit offsets beside all else. */
#define GC_TIFF_SMALL_BYTES_MAX ((UINT64_C(4) << 30) - (UINT64_C(64) << 20))

/* A file that libtiff reads or writes. One that cannot be read twice, and an output that cannot
 * seek, are held in memory. */
typedef struct gc_tiff_file {
    TIFF *tiff;
    gc_input *input;   /* NULL: the file is written, or lies in `held` */
    gc_output *output; /* NULL: the file is read */
    bool holds;        /* an output goes to `held` first */
    gc_buffer held;
    uint64_t size; /* of what is read, or was written */
    uint64_t position;
    const gc_warnings *warnings;
    int warned;             /* warnings of libtiff so far */
    pthread_mutex_t *guard; /* held while the input is read; NULL: one thread reads */
    gconv_error failure;    /* the first that libtiff reports, or a call that it makes meets */
    /* Of an output: */
    bool big;                /* a BigTIFF */
    unsigned char head[16];  /* what libtiff takes for its first bytes */
    unsigned char first[16]; /* what these become: they name the first directory */
    uint64_t last;           /* where the last write behind these bytes ended */
    uint64_t link; /* where the directory written last names the next one; 0: there is none */
} gc_tiff_file;

/* Opens a file at its first directory. The input must not be read otherwise. */
gconv_status gc_tiff_open_input(gc_tiff_file *file, gc_input *input, gconv_error *error);

/* Opens an input once more, at its directory there, for another thread; nobody is warned. Both have
 * a guard. The second one is closed first. */
gconv_status gc_tiff_open_again(gc_tiff_file *file, const gc_tiff_file *first, uint64_t directory);

/* Begins a file; `big`: a BigTIFF. */
gconv_status gc_tiff_open_output(gc_tiff_file *file, gc_output *output, bool big,
                                 gconv_error *error);

/* Begins a file in memory for strips of an image of `whole`, for any thread; nobody is warned. */
gconv_status gc_tiff_open_part(gc_tiff_file *part, const gc_tiff_file *whole, gconv_error *error);

/* What a strip of `size` bytes becomes, in the part's memory, up to the next call. NULL:
 * gc_tiff_fail says why. */
const void *gc_tiff_encode(gc_tiff_file *part, void *strip, size_t size, size_t *encoded);

/* Decodes a strip or tile; false if it has fewer bytes, or cannot be decoded. */
bool gc_tiff_decode(gc_tiff_file *file, uint32_t number, void *bytes, size_t size);

/* Reads bytes at an offset past libtiff. *got is less only if the file ends. */
gconv_status gc_tiff_read_at(gc_tiff_file *file, void *bytes, size_t size, uint64_t offset,
                             size_t *got, gconv_error *error);

/* Fails with what libtiff reported, else with `what`, which becomes a message of the kind "corrupt
 * TIFF: ...". */
gconv_status gc_tiff_fail(const gc_tiff_file *file, const char *what, gconv_error *error);

/* Writes the directory of an image, behind its strips. */
gconv_status gc_tiff_end_image(gc_tiff_file *file, gconv_error *error);

/* After that: begins the next image of the file, or ends the file. */
gconv_status gc_tiff_next_image(gc_tiff_file *file, gconv_error *error);
gconv_status gc_tiff_end_output(gc_tiff_file *file, gconv_error *error);

/* Copies the tags of the directory that are kept; the description only if `whole`. */
gconv_status gc_tiff_get_tags(gc_tiff_file *file, bool whole, gconv_metadata *metadata,
                              gconv_error *error);
void gc_tiff_set_tags(gc_tiff_file *file, const gconv_metadata *metadata);

/* libtiff writes no more. */
void gc_tiff_close(gc_tiff_file *file);
