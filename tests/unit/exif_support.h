/* EXIF blobs: TIFF structures as cameras write them. */
#pragma once

#include "unit.h"

enum { EXIF_BYTES = 26 };

/* A TIFF structure with nothing but an orientation, by either byte order. */
static inline void make_exif(unsigned char exif[EXIF_BYTES], int orientation, bool big_endian)
{
    static const unsigned char little[EXIF_BYTES] = "II*\0\10\0\0\0\1\0\x12\1\3\0\1\0\0";
    static const unsigned char big[EXIF_BYTES] = "MM\0*\0\0\0\10\0\1\1\x12\0\3\0\0\0\1";
    memcpy(exif, big_endian ? big : little, EXIF_BYTES);
    exif[big_endian ? 19 : 18] = (unsigned char)orientation;
}

/* A blob as cameras make it: orientation, resolution, sides and a thumbnail. */
typedef struct exif_kind {
    bool big_endian;
    int orientation;
    int side_types[2]; /* of width and height: 3 is SHORT, 4 is LONG */
    uint32_t resolution[4];
    int unit;
    bool inside; /* the thumbnail comes before what stays, else after it */
} exif_kind;

enum {
    FULL_EXIF_BYTES = 202,
    FULL_EXIF_KEPT = 120,   /* where the thumbnail is last */
    FULL_EXIF_ENTRIES = 10, /* where those of the first directory begin */
    FULL_EXIF_WIDTH = 40,
    FULL_EXIF_HEIGHT = 30,
    THUMBNAIL_BYTES = 40
};

static inline void put_exif(unsigned char *at, uint32_t value, int bytes, bool big_endian)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (unsigned char)(value >> 8 * (big_endian ? bytes - 1 - i : i));
}

static inline uint32_t get_exif(const unsigned char *at, int bytes, bool big_endian)
{
    uint32_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint32_t)at[i] << 8 * (big_endian ? bytes - 1 - i : i);
    return value;
}

static inline unsigned char *put_entry(unsigned char *at, uint32_t tag, int type, uint32_t value,
                                       bool big)
{
    put_exif(at, tag, 2, big);
    put_exif(at + 2, (uint32_t)type, 2, big);
    put_exif(at + 4, 1, 4, big);
    put_exif(at + 8, value, type == 3 ? 2 : 4, big);
    return at + 12;
}

/* Four values of resolution, two directories and the thumbnail, whose second directory shares a
 * value with the first. */
static inline void make_full_exif(unsigned char exif[FULL_EXIF_BYTES], const exif_kind *kind)
{
    bool big = kind->big_endian;
    uint32_t sub_at = kind->inside ? 172 : 90;
    uint32_t next_at = kind->inside ? 90 : 120;
    memset(exif, 0, FULL_EXIF_BYTES);
    memcpy(exif, big ? "MM" : "II", 2);
    put_exif(exif + 2, 42, 2, big);
    put_exif(exif + 4, 8, 4, big);
    put_exif(exif + 8, 5, 2, big);
    unsigned char *at = put_entry(exif + 10, 0x0112, 3, (uint32_t)kind->orientation, big);
    at = put_entry(at, 0x011a, 5, 74, big);
    at = put_entry(at, 0x011b, 5, 82, big);
    at = put_entry(at, 0x0128, 3, (uint32_t)kind->unit, big);
    at = put_entry(at, 0x8769, 4, sub_at, big);
    put_exif(at, next_at, 4, big);
    for (int i = 0; i < 4; i++)
        put_exif(exif + 74 + 4 * i, kind->resolution[i], 4, big);
    put_exif(exif + sub_at, 2, 2, big);
    at = put_entry(exif + sub_at + 2, 0xa002, kind->side_types[0], FULL_EXIF_WIDTH, big);
    put_entry(at, 0xa003, kind->side_types[1], FULL_EXIF_HEIGHT, big);
    put_exif(exif + next_at, 3, 2, big);
    at = put_entry(exif + next_at + 2, 0x011a, 5, 74, big);
    at = put_entry(at, 0x0201, 4, next_at + 42, big);
    put_entry(at, 0x0202, 4, THUMBNAIL_BYTES, big);
    memset(exif + next_at + 42, 'T', THUMBNAIL_BYTES);
}
