#include "io/jpeg/fast/scan.h"

#include "base/bits.h"

#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

enum { CODE_BITS_MAX = 16, SCAN_HEADER = 0xda, END_BYTES = 2 /* of EOI */ };

/* ---- Scans ----------------------------------------------------------------------------------- */

bool gc_jpeg_scan_find(unsigned char *file, size_t size, gc_jpeg_scan *scan)
{
    size_t at = 2; /* behind SOI */
    bool found = false;
    while (!found && at + 4 <= size && file[at] == 0xff) {
        found = file[at + 1] == SCAN_HEADER;
        at += 2 + ((size_t)file[at + 2] << 8 | file[at + 3]);
    }
    if (!found || at + END_BYTES > size)
        return false;
    unsigned char *to = file + at;
    const unsigned char *from = to, *end = file + size - END_BYTES;
    scan->bytes = to;
    while (from < end) {
        const unsigned char *marked = memchr(from, 0xff, (size_t)(end - from));
        size_t length = (size_t)((marked != NULL ? marked + 1 : end) - from);
        memmove(to, from, length);
        to += length;
        from += length + (marked != NULL);
    }
    scan->bits = 8 * (uint64_t)(to - scan->bytes);
    return true;
}

/* Up to 16 bits. */
static unsigned bits_at(const gc_jpeg_scan *scan, uint64_t at, int count)
{
    const unsigned char *bytes = scan->bytes + at / 8;
    uint32_t some = (uint32_t)bytes[0] << 16 | (uint32_t)bytes[1] << 8 | bytes[2];
    return some >> (24 - (int)(at % 8) - count) & ((1U << count) - 1);
}

/* The symbol whose code is at *at, which moves behind it; -1 if there is none. */
static int take_symbol(const JHUFF_TBL *table, const gc_jpeg_scan *scan, uint64_t *at)
{
    int code = 0, first = 0, index = 0;
    for (int length = 1; length <= CODE_BITS_MAX && *at < scan->bits; length++) {
        code = 2 * code + (int)bits_at(scan, (*at)++, 1);
        first *= 2;
        if (code - first < table->bits[length])
            return table->huffval[index + code - first];
        first += table->bits[length];
        index += table->bits[length];
    }
    return -1;
}

/* The value of a code of `size` bits: F.2.2.1 of the standard. */
static int take_value(const gc_jpeg_scan *scan, int size, uint64_t *at)
{
    int value = size > 0 ? (int)bits_at(scan, *at, size) : 0;
    *at += (uint64_t)size;
    return size > 0 && value < 1 << (size - 1) ? value - (1 << size) + 1 : value;
}

/* Follows a block; *difference is that of its DC coefficient, and *behind where its value ends. */
static bool follow_block(const struct jpeg_compress_struct *form, int component,
                         const gc_jpeg_scan *scan, uint64_t *at, int *difference, uint64_t *behind)
{
    const jpeg_component_info *of = &form->comp_info[component];
    int size = take_symbol(form->dc_huff_tbl_ptrs[of->dc_tbl_no], scan, at);
    if (size < 0 || size > CODE_BITS_MAX)
        return false;
    *difference = take_value(scan, size, at);
    *behind = *at;
    for (int k = 1; k < DCTSIZE2; k++) {
        int symbol = take_symbol(form->ac_huff_tbl_ptrs[of->ac_tbl_no], scan, at);
        if (symbol < 0)
            return false;
        if (symbol == 0)
            break;
        k += symbol >> 4;
        *at += (uint64_t)(symbol & 15);
    }
    return *at <= scan->bits;
}

bool gc_jpeg_scan_follow(const struct jpeg_compress_struct *form, const gc_jpeg_scan *scan,
                         gc_jpeg_mcu *mcu)
{
    uint64_t at = 0;
    for (int c = 0; c < form->num_components; c++) {
        const jpeg_component_info *of = &form->comp_info[c];
        int blocks = form->num_components == 1 ? 1 : of->h_samp_factor * of->v_samp_factor;
        mcu->last[c] = 0;
        for (int b = 0; b < blocks; b++) {
            uint64_t code = at, behind;
            int difference;
            if (!follow_block(form, c, scan, &at, &difference, &behind))
                return false;
            mcu->last[c] += difference;
            if (b > 0)
                continue;
            mcu->first[c] = difference;
            mcu->code[c] = code;
            mcu->behind[c] = behind;
        }
    }
    mcu->end = at;
    return true;
}

/* How many of the bits before `end` are 1. */
static uint64_t count_ones(const gc_jpeg_scan *scan, uint64_t end)
{
    uint64_t count = 0;
    while (count < end && bits_at(scan, end - count - 1, 1) == 1)
        count++;
    return count;
}

void gc_jpeg_scan_trim(gc_jpeg_scan *scan, const gc_jpeg_scan *last, uint64_t end)
{
    /* Both end with the same codes, and no code is all ones. */
    scan->bits -= count_ones(scan, scan->bits) - count_ones(last, end);
}

/* ---- Bits ------------------------------------------------------------------------------------ */

static void put_byte(gc_jpeg_bits *bits, unsigned char byte)
{
    *bits->to++ = byte;
    if (byte == 0xff)
        *bits->to++ = 0;
}

static void put_some(gc_jpeg_bits *bits, unsigned value, int count)
{
    bits->held = bits->held << count | value;
    for (bits->count += count; bits->count >= 8; bits->count -= 8)
        put_byte(bits, (unsigned char)(bits->held >> (bits->count - 8)));
}

/* Puts six bytes, and two more that the next ones overwrite. */
static void put_six(gc_jpeg_bits *bits, uint64_t value)
{
    bits->held = bits->held << 48 | value;
    uint64_t top = bits->held >> bits->count << 16;
    /* A byte of 0xff has its highest bit set in both. */
    if ((top & (~top - UINT64_C(0x0101010101010101)) & UINT64_C(0x8080808080808080) &
         ~UINT64_C(0xffff)) == 0) {
        for (int i = 0; i < 8; i++)
            bits->to[i] = (unsigned char)(top >> (56 - 8 * i));
        bits->to += 6;
    } else {
        for (int i = 0; i < 6; i++)
            put_byte(bits, (unsigned char)(top >> (56 - 8 * i)));
    }
}

void gc_jpeg_bits_put(gc_jpeg_bits *bits, const gc_jpeg_scan *scan, uint64_t first, uint64_t end)
{
    for (; end - first >= 48; first += 48) {
        const unsigned char *from = scan->bytes + first / 8;
        uint64_t some = (uint64_t)gc_big_endian(from) << 32 | gc_big_endian(from + 4);
        put_six(bits, some << first % 8 >> 16);
    }
    for (; first < end; first += end - first < 8 ? end - first : 8) {
        int count = end - first < 8 ? (int)(end - first) : 8;
        put_some(bits, bits_at(scan, first, count), count);
    }
}

/* Puts the code of a symbol. Codes of one length follow each other: annex C of the standard. */
static void put_symbol(gc_jpeg_bits *bits, const JHUFF_TBL *table, int symbol)
{
    unsigned code = 0;
    int index = 0;
    for (int length = 1; length <= CODE_BITS_MAX; length++, code *= 2)
        for (int i = 0; i < table->bits[length]; i++, code++)
            if (table->huffval[index++] == symbol) {
                put_some(bits, code, length);
                return;
            }
}

static void put_difference(gc_jpeg_bits *bits, const JHUFF_TBL *table, int difference)
{
    int size = 0, magnitude = difference < 0 ? -difference : difference;
    while (magnitude >> size != 0)
        size++;
    put_symbol(bits, table, size);
    unsigned value = (unsigned)(difference < 0 ? difference - 1 : difference);
    put_some(bits, value & ((1U << size) - 1), size);
}

void gc_jpeg_bits_put_mcu(gc_jpeg_bits *bits, const struct jpeg_compress_struct *form,
                          const gc_jpeg_scan *scan, const gc_jpeg_mcu *mcu,
                          const int before[GC_JPEG_COMPONENTS_MAX])
{
    uint64_t at = 0;
    for (int c = 0; c < form->num_components; c++) {
        gc_jpeg_bits_put(bits, scan, at, mcu->code[c]);
        put_difference(bits, form->dc_huff_tbl_ptrs[form->comp_info[c].dc_tbl_no],
                       mcu->first[c] - before[c]);
        at = mcu->behind[c];
    }
    gc_jpeg_bits_put(bits, scan, at, mcu->end);
}

void gc_jpeg_bits_end(gc_jpeg_bits *bits)
{
    if (bits->count > 0)
        put_some(bits, (1U << (8 - bits->count)) - 1, 8 - bits->count);
}
