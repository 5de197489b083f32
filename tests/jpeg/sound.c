#include "sound.h"

#include "io/jpeg/fast/bit_reader.h"

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h> /* jpeglib.h needs it before */
#include <string.h>

#include <jpeglib.h>

enum { MARKER_RST0 = 0xd0, MARKER_EOI = 0xd9 };

static const char too_early[] = "data that end too early";
static const char no_code[] = "a code that does not exist";

typedef struct judge {
    const jpeg_verdict *of;
    gc_jpeg_table tables[2][2]; /* DC, AC */
    const unsigned char *bytes;
    size_t size, at;
} judge;

/* A table that no component uses may be empty. */
static void take_table(const gc_jpeg_code *from, gc_jpeg_table *to)
{
    to->count = 0;
    for (int i = 0; i < GC_JPEG_CODE_BITS_MAX; i++)
        to->count += from->counts[i];
    memcpy(to->symbols, from->symbols, sizeof to->symbols);
    gc_jpeg_assign_codes(to, from->counts);
}

static uint64_t energy_of(int64_t value, unsigned char step)
{
    return (uint64_t)(value * value) * ((uint64_t)step * step);
}

/* One block of component `c`. Returns why it is not sound, or NULL. */
static const char *judge_block(const judge *by, gc_jpeg_bits *from, int c, int32_t *dc)
{
    const gc_jpeg_layout *layout = &by->of->layout;
    const unsigned char *steps = layout->steps[layout->components[c].quantiser];
    gc_jpeg_refill(from);
    int symbol = gc_jpeg_next_symbol(from, &by->tables[0][layout->components[c].dc]);
    if (symbol < 0)
        return no_code;
    *dc += gc_jpeg_next_value(from, symbol);
    uint64_t energy = energy_of(*dc, steps[0]);
    for (int last = 0; last < GC_JPEG_COEFFICIENTS - 1;) {
        gc_jpeg_refill(from);
        symbol = gc_jpeg_next_symbol(from, &by->tables[1][layout->components[c].ac]);
        if (symbol < 0)
            return no_code;
        if (symbol == GC_JPEG_SYMBOL_END)
            break;
        last += (symbol >> 4) + 1;
        /* A run of zeros alone never ends a block. */
        if (last >= GC_JPEG_COEFFICIENTS - (symbol == GC_JPEG_SYMBOL_ZEROS ? 1 : 0))
            return "a run beyond the last coefficient";
        energy += energy_of(gc_jpeg_next_value(from, symbol & 15), steps[last]);
    }
    return energy > layout->energy_max[layout->components[c].quantiser]
               ? "a block that 8-bit samples cannot give"
               : NULL;
}

/* Up to the next marker, or to where one should stand. Returns why it is not sound, or NULL. */
static const char *judge_end(gc_jpeg_bits *from)
{
    gc_jpeg_refill_slowly(from);
    int left = from->count - from->invented;
    if (left < 0)
        return too_early;
    if (from->invented == 0 || left > 7)
        return "bytes behind the last block";
    if (left > 0 && from->window >> (64 - left) != ((uint64_t)1 << left) - 1)
        return "unusual bits before a marker";
    return NULL;
}

/* `count` MCUs, to a marker. Returns why it is not sound, or NULL. */
static const char *judge_interval(judge *by, uint64_t count)
{
    const gconv_encoded *picture = &by->of->picture;
    int luma_blocks = picture->sampling_x * picture->sampling_y;
    int32_t dc[3] = {0};
    gc_jpeg_bits from = gc_jpeg_bits_at(by->bytes, by->size, by->at);
    for (; count > 0; count--)
        for (int i = 0; i < luma_blocks + picture->components - 1; i++) {
            int c = i < luma_blocks ? 0 : i - luma_blocks + 1;
            const char *found = judge_block(by, &from, c, &dc[c]);
            if (from.count < from.invented)
                return too_early;
            if (found != NULL)
                return found;
        }
    const char *found = judge_end(&from);
    by->at = from.at;
    return found;
}

/* Whether this marker follows at once. */
static bool take_marker(judge *by, int marker)
{
    bool found =
        by->size - by->at >= 2 && by->bytes[by->at] == 0xff && by->bytes[by->at + 1] == marker;
    by->at += found ? 2 : 0;
    return found;
}

/* From the data to EOI. Returns why it is not sound, or NULL. */
static const char *judge_data(judge *by)
{
    const gc_jpeg_layout *layout = &by->of->layout;
    uint64_t left = layout->mcus;
    uint64_t interval = layout->restart_interval > 0 ? layout->restart_interval : left;
    for (int restart = MARKER_RST0;; restart = MARKER_RST0 | ((restart + 1) & 7)) {
        uint64_t count = left < interval ? left : interval;
        const char *found = judge_interval(by, count);
        if (found != NULL)
            return found;
        left -= count;
        if (left == 0)
            break;
        if (!take_marker(by, restart))
            return "a restart marker that is missing";
    }
    return take_marker(by, MARKER_EOI) ? NULL : "no end of the image behind its data";
}

typedef struct trapped {
    struct jpeg_error_mgr errors;
    jmp_buf trap;
} trapped;

static _Noreturn void take_error(j_common_ptr jpeg)
{
    longjmp(((trapped *)(void *)jpeg->err)->trap, 1);
}

static void take_message(j_common_ptr jpeg, int level)
{
    if (level < 0)
        take_error(jpeg);
}

const char *jpeg_read_layout(const unsigned char *bytes, size_t size, gconv_encoded *picture,
                             gc_jpeg_layout *layout)
{
    struct jpeg_decompress_struct jpeg;
    trapped of;
    const char *volatile reason = "libjpeg fails, or warns of the header";
    *picture = (gconv_encoded){.bytes = bytes, .held = size, .size = size, .orientation = 1};
    *layout = (gc_jpeg_layout){.data = 0};
    jpeg.err = jpeg_std_error(&of.errors);
    of.errors.error_exit = take_error;
    of.errors.emit_message = take_message;
    jpeg_create_decompress(&jpeg);
    if (setjmp(of.trap) == 0) {
        jpeg_mem_src(&jpeg, (unsigned char *)(uintptr_t)bytes, size);
        jpeg_read_header(&jpeg, TRUE);
        size_t data = (size_t)(jpeg.src->next_input_byte - bytes);
        reason = data <= size ? gc_jpeg_read_layout(&jpeg, data, picture, layout) : reason;
    }
    jpeg_destroy_decompress(&jpeg);
    return reason;
}

bool jpeg_is_sound(const unsigned char *bytes, size_t size, jpeg_verdict *verdict)
{
    *verdict = (jpeg_verdict){.bytes = 0};
    verdict->reason = jpeg_read_layout(bytes, size, &verdict->picture, &verdict->layout);
    if (verdict->reason != NULL)
        return false;
    judge by = {.of = verdict, .bytes = bytes, .size = size, .at = verdict->layout.data};
    for (int i = 0; i < 4; i++)
        take_table(&verdict->layout.codes[i / 2][i % 2], &by.tables[i / 2][i % 2]);
    verdict->reason = judge_data(&by);
    verdict->bytes = by.at;
    return verdict->reason == NULL;
}
