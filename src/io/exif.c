#include "io/exif.h"

#include <stdbool.h>
#include <stdint.h>

/* TIFF 6.0: an 8-byte header, then directories of 12-byte entries: tag, type, count, value. */
enum {
    HEADER_BYTES = 8,
    ENTRY_BYTES = 12,
    ENTRY_VALUE = 8,
    TYPE_SHORT = 3,
    TAG_ORIENTATION = 0x0112
};

typedef struct tiff {
    const unsigned char *bytes;
    size_t size;
    bool big_endian;
} tiff;

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

/* Finds the value of the orientation entry in the first directory: *value is its offset, 0 where
 * there is none. False where the structure is broken. */
static bool find_orientation(const tiff *file, size_t *value)
{
    *value = 0;
    size_t directory = read_u32(file, 4);
    if (directory < HEADER_BYTES || directory > file->size - 2)
        return false;
    size_t entries = read_u16(file, directory);
    size_t first = directory + 2;
    if (entries > (file->size - first) / ENTRY_BYTES)
        return false;
    for (size_t i = 0; i < entries; i++) {
        size_t entry = first + i * ENTRY_BYTES;
        if (read_u16(file, entry) != TAG_ORIENTATION)
            continue;
        if (read_u16(file, entry + 2) != TYPE_SHORT || read_u32(file, entry + 4) != 1)
            return false;
        *value = entry + ENTRY_VALUE;
        return true;
    }
    return true;
}

int gc_exif_orientation(const unsigned char *exif, size_t size)
{
    tiff file;
    size_t value;
    if (!open_tiff(&file, exif, size) || !find_orientation(&file, &value))
        return 0;
    if (value == 0)
        return GC_ORIENTATION_UPRIGHT;
    uint32_t orientation = read_u16(&file, value);
    return orientation >= 1 && orientation <= GC_ORIENTATION_COUNT ? (int)orientation : 0;
}

void gc_exif_reset_orientation(unsigned char *exif, size_t size)
{
    tiff file;
    size_t value;
    if (!open_tiff(&file, exif, size) || !find_orientation(&file, &value) || value == 0)
        return;
    exif[value] = file.big_endian ? 0 : GC_ORIENTATION_UPRIGHT;
    exif[value + 1] = file.big_endian ? GC_ORIENTATION_UPRIGHT : 0;
}
