/* Joins the entropy-coded data of parts of a baseline JPEG. libjpeg encodes each part as an image.
 * The data of such an image differ in three ways from those of the part within the whole image:
 * each component predicts its first DC coefficient from 0, the data begin with a whole byte, and 1
 * bits fill up their last byte. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jpeg_compress_struct;

enum { GC_JPEG_COMPONENTS_MAX = 3 };

/* The image data of a file of libjpeg's. */
typedef struct gc_jpeg_scan {
    unsigned char *bytes; /* without the 0 behind each 0xff; 8 more may be read */
    uint64_t bits;
} gc_jpeg_scan;

/* An MCU at the start of a scan. Places are in bits from the start. */
typedef struct gc_jpeg_mcu {
    uint64_t end; /* bits of the MCU */
    /* By component: the first DC coefficient, where its code begins, where its value ends; and the
     * last DC coefficient. */
    int first[GC_JPEG_COMPONENTS_MAX];
    uint64_t code[GC_JPEG_COMPONENTS_MAX], behind[GC_JPEG_COMPONENTS_MAX];
    int last[GC_JPEG_COMPONENTS_MAX];
} gc_jpeg_mcu;

/* Makes a scan of a file of `size` bytes, behind which 8 more lie, in its place. False if libjpeg
 * does not write such files. */
bool gc_jpeg_scan_find(unsigned char *file, size_t size, gc_jpeg_scan *scan);

/* Follows the codes of the first MCU. `form` has its tables. False if they are not sound. */
bool gc_jpeg_scan_follow(const struct jpeg_compress_struct *form, const gc_jpeg_scan *scan,
                         gc_jpeg_mcu *mcu);

/* Takes off the bits that fill up the last byte of a scan. `last` is a scan of its last MCU alone,
 * which has `end` bits. */
void gc_jpeg_scan_trim(gc_jpeg_scan *scan, const gc_jpeg_scan *last, uint64_t end);

/* Bytes of image data, made of bits. */
typedef struct gc_jpeg_bits {
    uint64_t held; /* the lowest `count` bits wait; fewer than 8 between calls */
    int count;
    unsigned char *to; /* room for twice the bytes, and 16 more */
} gc_jpeg_bits;

/* Puts the MCU that begins a scan, with DC coefficients predicted from those of `before`. */
void gc_jpeg_bits_put_mcu(gc_jpeg_bits *bits, const struct jpeg_compress_struct *form,
                          const gc_jpeg_scan *scan, const gc_jpeg_mcu *mcu,
                          const int before[GC_JPEG_COMPONENTS_MAX]);

/* Puts bits [first, end) of a scan. */
void gc_jpeg_bits_put(gc_jpeg_bits *bits, const gc_jpeg_scan *scan, uint64_t first, uint64_t end);

/* Fills up the last byte. */
void gc_jpeg_bits_end(gc_jpeg_bits *bits);
