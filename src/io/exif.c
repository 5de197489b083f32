#include "io/exif.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* TIFF 6.0: an 8-byte header, then directories of 12-byte entries (tag, type, count, value), each
 * followed by the offset of the next directory. A value of more than 4 bytes is given by its
 * offset. */
enum {
    HEADER_BYTES = 8,
    ENTRY_BYTES = 12,
    ENTRY_TYPE = 2,
    ENTRY_COUNT = 4,
    ENTRY_VALUE = 8,
    INLINE_BYTES = 4,
    NO_DIRECTORY = 1 /* an impossible offset: the directory is broken */
};

enum {
    TYPE_BYTE = 1,
    TYPE_SHORT = 3,
    TYPE_LONG = 4,
    TYPE_RATIONAL = 5,
    TYPE_SIGNED_BYTE = 6,
    TYPE_SIGNED_SHORT = 8,
    TYPE_SIGNED_LONG = 9,
    TYPE_DIRECTORY = 13,
    TYPE_COUNT
};

static const unsigned char type_bytes[TYPE_COUNT] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4};

enum {
    TAG_IMAGE_WIDTH = 0x0100,
    TAG_IMAGE_LENGTH = 0x0101,
    TAG_STRIP_OFFSETS = 0x0111,
    TAG_ORIENTATION = 0x0112,
    TAG_STRIP_BYTE_COUNTS = 0x0117,
    TAG_X_RESOLUTION = 0x011a,
    TAG_Y_RESOLUTION = 0x011b,
    TAG_RESOLUTION_UNIT = 0x0128,
    TAG_TILE_OFFSETS = 0x0144,
    TAG_TILE_BYTE_COUNTS = 0x0145,
    TAG_SUB_DIRECTORIES = 0x014a,
    TAG_JPEG_OFFSET = 0x0201,
    TAG_JPEG_BYTE_COUNT = 0x0202,
    TAG_EXIF_DIRECTORY = 0x8769,
    TAG_GPS_DIRECTORY = 0x8825,
    TAG_PIXEL_X_DIMENSION = 0xa002,
    TAG_PIXEL_Y_DIMENSION = 0xa003,
    TAG_INTEROPERABILITY_DIRECTORY = 0xa005,
    TAG_FOCAL_PLANE_X_RESOLUTION = 0xa20e,
    TAG_FOCAL_PLANE_Y_RESOLUTION = 0xa20f
};

typedef struct tiff {
    const unsigned char *bytes;
    size_t size;
    bool big_endian;
} tiff;

/* The part of a directory that lies within the file. */
typedef struct directory {
    size_t first; /* entry */
    size_t entries;
    bool cut; /* it says that it has more entries than the file has room for */
} directory;

/* ---- Structure ------------------------------------------------------------------------------- */

static uint32_t read_u16(const tiff *file, size_t at)
{
    uint32_t a = file->bytes[at];
    uint32_t b = file->bytes[at + 1];
    return file->big_endian ? a << 8 | b : b << 8 | a;
}

static uint32_t read_u32(const tiff *file, size_t at)
{
    uint32_t a = read_u16(file, at);
    uint32_t b = read_u16(file, at + 2);
    return file->big_endian ? a << 16 | b : b << 16 | a;
}

static bool open_tiff(tiff *file, const unsigned char *bytes, size_t size)
{
    if (size < HEADER_BYTES || bytes[0] != bytes[1] || (bytes[0] != 'I' && bytes[0] != 'M'))
        return false;
    *file = (tiff){.bytes = bytes, .size = size, .big_endian = bytes[0] == 'M'};
    return read_u16(file, 2) == 42;
}

/* Counts the entries of known types at the start of a directory whose own count is wrong. */
static size_t count_entries(const tiff *file, size_t first, size_t room)
{
    size_t count = 0;
    for (; count < room; count++) {
        uint32_t type = read_u16(file, first + count * ENTRY_BYTES + ENTRY_TYPE);
        if (type == 0 || type >= TYPE_COUNT)
            break;
    }
    return count;
}

static bool open_directory(const tiff *file, size_t at, directory *opened)
{
    if (at < HEADER_BYTES || at > file->size - 2)
        return false;
    *opened = (directory){.first = at + 2, .entries = read_u16(file, at)};
    size_t room = (file->size - opened->first) / ENTRY_BYTES;
    opened->cut = opened->entries > room;
    if (opened->cut)
        opened->entries = count_entries(file, opened->first, room);
    return true;
}

static bool open_first(tiff *file, const unsigned char *bytes, size_t size, directory *first)
{
    return open_tiff(file, bytes, size) && open_directory(file, read_u32(file, 4), first);
}

/* The offset of the field that holds the next directory's offset; 0 if the blob ends before it. */
static size_t next_offset(const tiff *file, const directory *from)
{
    size_t at = from->first + from->entries * ENTRY_BYTES;
    return file->size - at >= 4 ? at : 0;
}

/* The entry's offset in the file, 0 if there is none. */
static size_t find_entry(const tiff *file, const directory *in, uint32_t tag)
{
    for (size_t i = 0; i < in->entries; i++)
        if (read_u16(file, in->first + i * ENTRY_BYTES) == tag)
            return in->first + i * ENTRY_BYTES;
    return 0;
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* An entry's values: where they are, of which type, and how many. */
typedef struct values {
    size_t at;
    uint32_t type;
    uint32_t count;
    uint64_t bytes; /* of all of them; 0 of an unknown type */
} values;

static values entry_values(const tiff *file, size_t entry)
{
    values found = {.at = entry + ENTRY_VALUE,
                    .type = read_u16(file, entry + ENTRY_TYPE),
                    .count = read_u32(file, entry + ENTRY_COUNT)};
    if (found.type < TYPE_COUNT)
        found.bytes = (uint64_t)found.count * type_bytes[found.type];
    if (found.bytes > INLINE_BYTES)
        found.at = read_u32(file, entry + ENTRY_VALUE);
    return found;
}

static bool values_are_inside(const tiff *file, const values *of)
{
    return of->bytes > 0 && of->at <= file->size && of->bytes <= file->size - of->at;
}

static bool is_whole_number(uint32_t type)
{
    return type == TYPE_BYTE || type == TYPE_SHORT || type == TYPE_LONG ||
           type == TYPE_SIGNED_BYTE || type == TYPE_SIGNED_SHORT || type == TYPE_SIGNED_LONG;
}

/* The values of an entry that is there, and lie within the file. */
static bool find_values(const tiff *file, const directory *in, uint32_t tag, values *found)
{
    size_t entry = find_entry(file, in, tag);
    if (entry == 0)
        return false;
    *found = entry_values(file, entry);
    return values_are_inside(file, found);
}

static bool find_numbers(const tiff *file, const directory *in, uint32_t tag, values *found)
{
    return find_values(file, in, tag, found) && is_whole_number(found->type);
}

/* A negative number reads as one above 127. */
static uint32_t number_at(const tiff *file, const values *of, uint32_t index)
{
    size_t bytes = type_bytes[of->type], at = of->at + index * bytes;
    return bytes == 1 ? file->bytes[at] : bytes == 2 ? read_u16(file, at) : read_u32(file, at);
}

static void put_number(const tiff *file, unsigned char *exif, size_t at, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        exif[at + (size_t)i] = (unsigned char)(value >> 8 * (file->big_endian ? bytes - 1 - i : i));
}

/* ---- Orientation ----------------------------------------------------------------------------- */

/* The first value of the orientation in the first directory. Upright if there is none, or if it is
 * no whole number from 1 to 8. Also upright if the value overlaps header or directory, where
 * writing it would do damage. */
static int find_orientation(const tiff *file, const directory *first, values *found)
{
    if (!find_numbers(file, first, TAG_ORIENTATION, found))
        return GC_ORIENTATION_UPRIGHT;
    size_t end = first->first + first->entries * ENTRY_BYTES + INLINE_BYTES;
    bool apart = found->at >= end ||
                 (found->at >= HEADER_BYTES && found->at + INLINE_BYTES <= first->first - 2);
    uint32_t value = number_at(file, found, 0);
    bool stands = (found->bytes <= INLINE_BYTES || apart) && value >= GC_ORIENTATION_UPRIGHT &&
                  value <= GC_ORIENTATION_COUNT;
    return stands ? (int)value : GC_ORIENTATION_UPRIGHT;
}

int gc_exif_orientation(const unsigned char *exif, size_t size)
{
    tiff file;
    directory first;
    values found;
    return open_first(&file, exif, size, &first) ? find_orientation(&file, &first, &found)
                                                 : GC_ORIENTATION_UPRIGHT;
}

/* Exchanges types, counts and values of two entries. Long values stay where they are; their offsets
 * are exchanged. */
static void exchange(const tiff *file, const directory *in, unsigned char *exif, uint32_t tag_x,
                     uint32_t tag_y)
{
    enum { SAID_BYTES = ENTRY_BYTES - ENTRY_TYPE };
    size_t x = find_entry(file, in, tag_x);
    size_t y = find_entry(file, in, tag_y);
    if (x == 0 || y == 0)
        return;
    unsigned char said[SAID_BYTES];
    memcpy(said, exif + x + ENTRY_TYPE, SAID_BYTES);
    memcpy(exif + x + ENTRY_TYPE, exif + y + ENTRY_TYPE, SAID_BYTES);
    memcpy(exif + y + ENTRY_TYPE, said, SAID_BYTES);
}

static void exchange_sides(const tiff *file, const directory *first, unsigned char *exif)
{
    exchange(file, first, exif, TAG_X_RESOLUTION, TAG_Y_RESOLUTION);
    exchange(file, first, exif, TAG_IMAGE_WIDTH, TAG_IMAGE_LENGTH);
    values pointer;
    directory sub;
    if (!find_numbers(file, first, TAG_EXIF_DIRECTORY, &pointer) ||
        !open_directory(file, number_at(file, &pointer, 0), &sub))
        return;
    exchange(file, &sub, exif, TAG_PIXEL_X_DIMENSION, TAG_PIXEL_Y_DIMENSION);
    exchange(file, &sub, exif, TAG_FOCAL_PLANE_X_RESOLUTION, TAG_FOCAL_PLANE_Y_RESOLUTION);
}

void gc_exif_reset_orientation(unsigned char *exif, size_t size)
{
    tiff file;
    directory first;
    values found;
    if (!open_first(&file, exif, size, &first))
        return;
    int orientation = find_orientation(&file, &first, &found);
    if (orientation == GC_ORIENTATION_UPRIGHT)
        return;
    size_t entry = find_entry(&file, &first, TAG_ORIENTATION);
    put_number(&file, exif, entry + ENTRY_COUNT, 1, 4);
    memset(exif + entry + ENTRY_VALUE, 0, INLINE_BYTES);
    put_number(&file, exif, entry + ENTRY_VALUE, GC_ORIENTATION_UPRIGHT, type_bytes[found.type]);
    if (orientation >= 5)
        exchange_sides(&file, &first, exif);
}

/* ---- Resolution ------------------------------------------------------------------------------ */

typedef struct fraction {
    uint32_t over;
    uint32_t under;
} fraction;

/* A fraction greater than 0. */
static bool find_fraction(const tiff *file, const directory *in, uint32_t tag, fraction *found)
{
    values of;
    if (!find_values(file, in, tag, &of) || of.type != TYPE_RATIONAL || of.count != 1)
        return false;
    *found = (fraction){read_u32(file, of.at), read_u32(file, of.at + 4)};
    return found->over > 0 && found->under > 0;
}

/* EXIF 2.32: inches if the unit is not given. */
static gc_resolution_unit resolution_unit(const tiff *file, const directory *first)
{
    static const gc_resolution_unit units[] = {GC_RESOLUTION_NONE, GC_RESOLUTION_RATIO,
                                               GC_RESOLUTION_PER_INCH,
                                               GC_RESOLUTION_PER_CENTIMETRE};
    values unit;
    if (!find_numbers(file, first, TAG_RESOLUTION_UNIT, &unit))
        return GC_RESOLUTION_PER_INCH;
    uint32_t number = number_at(file, &unit, 0);
    return number < sizeof units / sizeof units[0] ? units[number] : GC_RESOLUTION_NONE;
}

/* Fractions are converted to pixels a metre before they are rounded: this loses least. */
static gc_resolution round_resolution(fraction x, fraction y, gc_resolution_unit unit)
{
    const gc_resolution none = {.unit = GC_RESOLUTION_NONE};
    if (x.over % x.under == 0 && y.over % y.under == 0)
        return (gc_resolution){.unit = unit, .x = x.over / x.under, .y = y.over / y.under};
    if (unit == GC_RESOLUTION_RATIO)
        return none;
    double per_metre = unit == GC_RESOLUTION_PER_INCH ? 1 / 0.0254 : 100;
    double across = floor((double)x.over / x.under * per_metre + 0.5);
    double down = floor((double)y.over / y.under * per_metre + 0.5);
    if (across < 1 || down < 1 || across > UINT32_MAX || down > UINT32_MAX)
        return none;
    return (gc_resolution){
        .unit = GC_RESOLUTION_PER_METRE, .x = (uint32_t)across, .y = (uint32_t)down};
}

gc_resolution gc_exif_resolution(const unsigned char *exif, size_t size)
{
    tiff file;
    directory first;
    fraction x;
    fraction y;
    gc_resolution none = {.unit = GC_RESOLUTION_NONE};
    if (!open_first(&file, exif, size, &first) ||
        !find_fraction(&file, &first, TAG_X_RESOLUTION, &x) ||
        !find_fraction(&file, &first, TAG_Y_RESOLUTION, &y))
        return none;
    gc_resolution_unit unit = resolution_unit(&file, &first);
    return unit == GC_RESOLUTION_NONE ? none : round_resolution(x, y, unit);
}

/* ---- Mending --------------------------------------------------------------------------------- */

gc_exif_state gc_exif_mend(unsigned char *exif, size_t *size)
{
    tiff file;
    directory first;
    size_t kept = 0;
    if (!open_first(&file, exif, *size, &first))
        return GC_EXIF_BROKEN;
    if (!first.cut)
        return GC_EXIF_SOUND;
    for (size_t i = 0; i < first.entries; i++) {
        size_t entry = first.first + i * ENTRY_BYTES;
        values of = entry_values(&file, entry);
        if (values_are_inside(&file, &of))
            memmove(exif + first.first + kept++ * ENTRY_BYTES, exif + entry, ENTRY_BYTES);
    }
    if (kept == 0)
        return GC_EXIF_BROKEN;
    size_t end = first.first + kept * ENTRY_BYTES + GC_EXIF_ROOM_BYTES;
    put_number(&file, exif, first.first - 2, (uint32_t)kept, 2);
    put_number(&file, exif, end - GC_EXIF_ROOM_BYTES, NO_DIRECTORY, 4);
    *size = end > *size ? end : *size;
    return GC_EXIF_CUT;
}

/* ---- Thumbnail ------------------------------------------------------------------------------- */

/* How the thumbnail is removed from a blob of EXIF. First each byte gets marks that say what it
 * belongs to: a directory that stays, one that goes, a value, the thumbnail. Then the bytes that go
 * are set to 0, and cut off if they end the blob. Some files share a value between directories:
 * such a value has several marks, and stays if a directory that stays uses it. */
enum {
    KEPT_STRUCTURE = 1, /* the header, a directory that stays */
    KEPT_VALUE = 2,
    DROPPED = 4, /* a directory that goes, its values */
    PICTURE = 8  /* the thumbnail: removed even within a value that stays */
};

enum { DEPTH_MAX = 3 }; /* of directories in directories: the first, Exif, interoperability */

typedef struct survey {
    tiff file;
    unsigned char *marks; /* one for each byte of the file */
    uint64_t budget;      /* bytes that may still be marked, as hostile files can repeat bytes */
    bool over;            /* the budget was exceeded, and marking has stopped */
} survey;

/* Marks the bytes that lie within the blob. */
static void mark(survey *in, size_t at, uint64_t count, unsigned char as)
{
    if (at >= in->file.size)
        return;
    if (count > in->file.size - at)
        count = in->file.size - at;
    in->over = in->over || count > in->budget;
    if (in->over)
        return;
    in->budget -= count;
    for (size_t i = 0; i < count; i++)
        in->marks[at + i] |= as;
}

static bool is_pointer(uint32_t tag)
{
    return tag == TAG_EXIF_DIRECTORY || tag == TAG_GPS_DIRECTORY ||
           tag == TAG_INTEROPERABILITY_DIRECTORY || tag == TAG_SUB_DIRECTORIES;
}

/* Marks a directory, the values it refers to, and the directories in it. */
static void mark_directory(survey *in, const directory *from, bool kept, int depth)
{
    mark(in, from->first - 2, 2 + from->entries * ENTRY_BYTES + 4, kept ? KEPT_STRUCTURE : DROPPED);
    for (size_t i = 0; i < from->entries && !in->over; i++) {
        size_t entry = from->first + i * ENTRY_BYTES;
        values of = entry_values(&in->file, entry);
        if (of.bytes > INLINE_BYTES)
            mark(in, of.at, of.bytes, kept ? KEPT_VALUE : DROPPED);
        bool offsets = of.type == TYPE_LONG || of.type == TYPE_DIRECTORY;
        if (!is_pointer(read_u16(&in->file, entry)) || depth == DEPTH_MAX || !offsets ||
            !values_are_inside(&in->file, &of))
            continue;
        for (uint32_t n = 0; n < of.count && !in->over; n++) {
            directory sub;
            if (open_directory(&in->file, number_at(&in->file, &of, n), &sub))
                mark_directory(in, &sub, kept, depth + 1);
        }
    }
}

/* Marks the pieces of pictures that two entries give by offset and size. */
static void mark_pictures(survey *in, const directory *from)
{
    static const uint32_t tags[][2] = {{TAG_JPEG_OFFSET, TAG_JPEG_BYTE_COUNT},
                                       {TAG_STRIP_OFFSETS, TAG_STRIP_BYTE_COUNTS},
                                       {TAG_TILE_OFFSETS, TAG_TILE_BYTE_COUNTS}};
    values offsets, sizes;
    for (size_t t = 0; t < sizeof tags / sizeof tags[0]; t++)
        if (find_numbers(&in->file, from, tags[t][0], &offsets) &&
            find_numbers(&in->file, from, tags[t][1], &sizes))
            for (uint32_t i = 0; i < offsets.count && i < sizes.count && !in->over; i++)
                mark(in, number_at(&in->file, &offsets, i), number_at(&in->file, &sizes, i),
                     PICTURE);
}

/* Marks the directories from `at` on. If a directory is broken, or lies in marked bytes (a loop),
 * its extent is unknown. Then every byte that need not stay is removed. */
static void mark_thumbnail(survey *in, size_t at)
{
    while (at != 0 && !in->over) {
        directory thumbnail;
        if (!open_directory(&in->file, at, &thumbnail) || thumbnail.cut || in->marks[at] != 0) {
            mark(in, 0, in->file.size, DROPPED);
            return;
        }
        mark_directory(in, &thumbnail, false, 1);
        mark_pictures(in, &thumbnail);
        size_t next = next_offset(&in->file, &thumbnail);
        at = next > 0 ? read_u32(&in->file, next) : 0;
    }
}

/* Removes the bytes that are marked to go. */
static void sweep(const survey *in, unsigned char *exif, size_t *size)
{
    for (size_t i = 0; i < in->file.size; i++) {
        unsigned char as = in->marks[i];
        bool goes = (as & PICTURE) != 0 || ((as & DROPPED) != 0 && (as & KEPT_VALUE) == 0);
        if (goes && (as & KEPT_STRUCTURE) == 0)
            exif[i] = 0;
    }
    while (*size > HEADER_BYTES && (in->marks[*size - 1] & (DROPPED | PICTURE)) != 0 &&
           (in->marks[*size - 1] & (KEPT_STRUCTURE | KEPT_VALUE)) == 0)
        (*size)--;
}

gconv_status gc_exif_drop_thumbnail(unsigned char *exif, size_t *size)
{
    tiff file;
    directory first;
    if (!open_first(&file, exif, *size, &first))
        return GCONV_OK;
    size_t offset = next_offset(&file, &first);
    size_t next = offset > 0 ? read_u32(&file, offset) : 0;
    if (next == 0)
        return GCONV_OK;
    survey all = {.file = file, .marks = calloc(1, *size), .budget = (uint64_t)8 * *size};
    if (all.marks == NULL)
        return GCONV_ERROR_MEMORY;
    values found;
    mark(&all, 0, HEADER_BYTES, KEPT_STRUCTURE);
    mark_directory(&all, &first, true, 1);
    if (find_orientation(&file, &first, &found) != GC_ORIENTATION_UPRIGHT)
        mark(&all, found.at, type_bytes[found.type], KEPT_STRUCTURE);
    mark_thumbnail(&all, next);
    if (!all.over) {
        memset(exif + offset, 0, 4);
        sweep(&all, exif, size);
    }
    free(all.marks);
    return all.over ? GCONV_ERROR_FORMAT : GCONV_OK;
}
