/* What reader.c and libpng.c share of a decoder of PNG. */
#pragma once

#include "io/codec.h"
#include "io/png/memory.h"

#include <png.h>
#include <pthread.h>
#include <setjmp.h>

enum {
    GC_PNG_CHUNK_BYTES_MAX = 8 << 20, /* what one chunk that is held may take, inflated */
    GC_PNG_CHUNK_TAIL_BYTES = 4,      /* the checksum */
};

typedef struct gc_libpng {
    gc_decoder common;
    png_structp png;
    png_infop info;
    jmp_buf trap;
    gconv_error *error;  /* of the call in progress */
    gconv_status status; /* of the failure that sprang the trap */
    const char *part;    /* what is being read, for messages: "in the header" */
    uint32_t chunk_left; /* bytes to the next chunk; at first, bytes of the signature */
    png_uint_32 met;     /* chunks of gc_png_chunks that have come before the image data */
    png_uint_32 late;    /* and those that have come later */
    bool data_begun;     /* the head of a chunk of image data was read */
    bool passed_over;    /* libpng gets `tail` instead of a chunk that was skipped */
    unsigned char tail[GC_PNG_CHUNK_TAIL_BYTES];
    gc_buffer xmp; /* data and checksum of the first chunk of XMP before the image data */
    bool taking;   /* this chunk is being read */
    bool missing;  /* the failure was an end of the data, not a defect */
    size_t row_bytes;
    int passes;           /* more than one if the image is interlaced */
    unsigned char *image; /* all rows of an interlaced image; allocated when needed */
    uint32_t row;         /* rows decoded, or delivered from the image */
    bool started;
    bool stopped; /* tolerant: there is no more data, rows are 0 from here on */
    gc_png_memory memory;
    gc_png_stream *stream; /* inflates the image data instead of zlib; else NULL */
    pthread_mutex_t lock;  /* of `stream` and `streaming`, if they change or a thread helps */
    bool streaming;        /* libpng reads from the stream, not from the input */
    bool trusting;         /* the header is read: any message of libpng rejects the stream */
    bool rejected;         /* no real failure: libpng has to read the file again */
} gc_libpng;

/* What libpng does not know: an animation (APNG), whose first image gconv reads. */
#define GC_PNG_INFO_ANIMATION 0x80000000U
/* XMP, whose chunk has the type of other texts. */
#define GC_PNG_INFO_XMP 0x40000000U

/* Chunks beside the image data that gconv takes from the header, or tells of. */
typedef struct gc_png_chunk {
    char type[5];
    png_uint_32 bit;
    gconv_keep part; /* of the metadata; the pixels need those of GCONV_KEEP_NOTHING */
} gc_png_chunk;

enum { GC_PNG_CHUNKS = 9 };
extern const gc_png_chunk gc_png_chunks[GC_PNG_CHUNKS];

/* Functions for libpng. They leave the call in progress by the trap if it fails. */
void gc_png_take_error(png_structp png, png_const_charp message);
void gc_png_take_warning(png_structp png, png_const_charp message);
void gc_png_read_bytes(png_structp png, png_bytep bytes, size_t size);

/* Whether libpng and zlib check the sums of the image data. The stream has done so. */
void gc_png_check_sums(png_structp png, bool wanted);

/* Frees the stream: libpng reads from the input. */
void gc_png_end_stream(gc_libpng *decoder);
