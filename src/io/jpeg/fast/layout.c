#include "io/jpeg/fast/layout.h"

#include "io/jpeg/fast/tables.h"

#include <string.h>

enum {
    MARKER_SOF0 = 0xc0,
    MARKER_DHT = 0xc4,
    MARKER_RST0 = 0xd0,
    MARKER_SOI = 0xd8,
    MARKER_SOS = 0xda,
    MARKER_DQT = 0xdb,
    MARKER_DRI = 0xdd,
    MARKER_APP0 = 0xe0,
    MARKER_APP14 = 0xee,
    MARKER_APP15 = 0xef,
    MARKER_COM = 0xfe
};

enum {
    SIDE_MAX = 65500, /* libjpeg's */
    TABLES_MAX = 2,   /* Huffman tables of a class, in baseline JPEG */
    QUANTISERS_MAX = 4,
    COMPONENTS_MAX = 3
};

typedef struct component {
    int id, across, down; /* sampling factors */
    int quantiser;
} component;

typedef struct header {
    const unsigned char *bytes;
    size_t size, at;
    gc_jpeg_facts *facts;
    gc_jpeg_layout *layout;
    const char *reason;
    bool restarts_seen, frame_seen, adobe_seen;
    int adobe_transform;
    component components[COMPONENTS_MAX];
    bool has_quantiser[QUANTISERS_MAX];
    bool has_table[2][TABLES_MAX]; /* DC, AC */
} header;

/* Notes why the header is rejected. Returns false, for the caller to return. */
static bool reject(header *of, const char *phrase)
{
    of->reason = phrase;
    return false;
}

/* The header goes on behind the bytes. */
static bool cut(header *of)
{
    of->facts->is_cut = true;
    return reject(of, "cut in the header");
}

/* ---- Segments -------------------------------------------------------------------------------- */

typedef struct segment {
    const unsigned char *bytes;
    size_t size;
} segment;

static unsigned int word_at(const unsigned char *bytes)
{
    return (unsigned int)bytes[0] << 8 | bytes[1];
}

/* The segment behind a marker, without its length. */
static bool take_segment(header *of, segment *taken)
{
    if (of->size - of->at < 2)
        return cut(of);
    size_t length = word_at(of->bytes + of->at);
    if (length < 2)
        return reject(of, "a segment of impossible length");
    if (length > of->size - of->at)
        return cut(of);
    *taken = (segment){of->bytes + of->at + 2, length - 2};
    of->at += length;
    return true;
}

static uint64_t square_root(uint64_t of)
{
    uint64_t root = 0;
    for (uint64_t bit = (uint64_t)1 << 31; bit > 0; bit >>= 1)
        if ((root + bit) * (root + bit) <= of)
            root += bit;
    return root;
}

/* (1024 + norm of the steps / 2)^2, rounded down: 64 samples from -128 to 127 have an energy of at
 * most 1024^2, and rounding moves each coefficient by half a step. */
static uint64_t bound_energy(const unsigned char steps[GC_JPEG_COEFFICIENTS])
{
    enum { SAMPLES_NORM = 1024 };
    uint64_t sum = 0;
    for (int k = 0; k < GC_JPEG_COEFFICIENTS; k++)
        sum += (uint64_t)steps[k] * steps[k];
    return SAMPLES_NORM * SAMPLES_NORM + square_root(SAMPLES_NORM * SAMPLES_NORM * sum) + sum / 4;
}

static bool take_quantisers(header *of, const segment *from)
{
    enum { TABLE_BYTES = 1 + GC_JPEG_COEFFICIENTS };
    if (from->size == 0)
        return reject(of, "an empty quantisation segment");
    for (size_t at = 0; at < from->size; at += TABLE_BYTES) {
        const unsigned char *bytes = from->bytes + at;
        if (bytes[0] >> 4 != 0)
            return reject(of, "quantisation steps of 16 bits");
        if (bytes[0] >= QUANTISERS_MAX)
            return reject(of, "a quantisation table of impossible number");
        if (from->size - at < TABLE_BYTES)
            return reject(of, "a quantisation table that is cut");
        if (of->has_quantiser[bytes[0]])
            return reject(of, "a quantisation table that is defined twice");
        of->has_quantiser[bytes[0]] = true;
        if (memchr(bytes + 1, 0, GC_JPEG_COEFFICIENTS) != NULL)
            return reject(of, "a quantisation step of 0");
        memcpy(of->layout->steps[bytes[0]], bytes + 1, GC_JPEG_COEFFICIENTS);
        of->layout->energy_max[bytes[0]] = bound_energy(bytes + 1);
    }
    return true;
}

static bool take_tables(header *of, const segment *from)
{
    enum { HEAD_BYTES = 1 + GC_JPEG_CODE_BITS_MAX };
    if (from->size == 0)
        return reject(of, "an empty Huffman segment");
    for (size_t at = 0; at < from->size;) {
        const unsigned char *head = from->bytes + at;
        if (from->size - at < HEAD_BYTES)
            return reject(of, "a Huffman table that is cut");
        if ((head[0] & 0xe0) != 0 || (head[0] & 15) >= TABLES_MAX)
            return reject(of, "a Huffman table of a number that baseline JPEG lacks");
        bool ac = head[0] >> 4 != 0;
        gc_jpeg_code *code = &of->layout->codes[ac][head[0] & 15];
        if (of->has_table[ac][head[0] & 15])
            return reject(of, "a Huffman table that is defined twice");
        of->has_table[ac][head[0] & 15] = true;
        gc_jpeg_table table = {.count = 0};
        for (int length = 1; length <= GC_JPEG_CODE_BITS_MAX; length++)
            table.count += head[length];
        if (table.count > 256 || (size_t)table.count > from->size - at - HEAD_BYTES)
            return reject(of, "a Huffman table that is cut");
        memcpy(table.symbols, head + HEAD_BYTES, (size_t)table.count);
        memcpy(code->counts, head + 1, sizeof code->counts);
        memcpy(code->symbols, head + HEAD_BYTES, (size_t)table.count);
        if (!gc_jpeg_assign_codes(&table, head + 1))
            return reject(of, "a Huffman table with too many codes");
        if (!gc_jpeg_symbols_are_sound(&table, ac))
            return reject(of, "a Huffman table with odd symbols");
        at += HEAD_BYTES + (size_t)table.count;
    }
    return true;
}

/* ---- The frame and the scan ------------------------------------------------------------------ */

static bool take_frame(header *of, const segment *from)
{
    enum { HEAD_BYTES = 6, COMPONENT_BYTES = 3 };
    if (of->frame_seen)
        return reject(of, "two frames");
    of->frame_seen = true;
    if (from->size < HEAD_BYTES)
        return reject(of, "a frame header of impossible length");
    int count = from->bytes[5];
    if (from->bytes[0] != 8)
        return reject(of, "samples of other than 8 bits");
    if (count != 1 && count != 3)
        return reject(of, "other than 1 or 3 components");
    if (from->size != HEAD_BYTES + (size_t)count * COMPONENT_BYTES)
        return reject(of, "a frame header of impossible length");
    of->facts->components = count;
    of->facts->height = word_at(from->bytes + 1);
    of->facts->width = word_at(from->bytes + 3);
    if (of->facts->width == 0 || of->facts->height == 0)
        return reject(of, "a width or height of 0");
    if (of->facts->width > SIDE_MAX || of->facts->height > SIDE_MAX)
        return reject(of, "more columns or rows than libjpeg takes");
    for (int i = 0; i < count; i++) {
        const unsigned char *bytes = from->bytes + HEAD_BYTES + i * COMPONENT_BYTES;
        if (bytes[2] >= QUANTISERS_MAX)
            return reject(of, "a quantisation table of impossible number");
        of->components[i] = (component){
            .id = bytes[0], .across = bytes[1] >> 4, .down = bytes[1] & 15, .quantiser = bytes[2]};
    }
    return true;
}

static bool name_sampling(header *of)
{
    const component *y = of->components;
    for (int i = of->facts->components - 1; i > 0; i--)
        if (y[i].across != 1 || y[i].down != 1)
            return reject(of, "unusual sampling");
    bool grey = of->facts->components == 1;
    if (y->across == 1 && y->down == 1)
        of->facts->sampling = grey ? GC_JPEG_GREY : GC_JPEG_444;
    else if (y->across == 2 && y->down == 1 && !grey)
        of->facts->sampling = GC_JPEG_422;
    else if (y->across == 2 && y->down == 2 && !grey)
        of->facts->sampling = GC_JPEG_420;
    else
        return reject(of, "unusual sampling");
    return true;
}

/* libjpeg takes 3 components numbered so as YCbCr, with a JFIF marker or without, unless the marker
 * of Adobe says RGB. */
static bool check_colours(header *of)
{
    bool grey = of->facts->components == 1;
    for (int i = 0; i < of->facts->components && !grey; i++)
        if (of->components[i].id != i + 1)
            return reject(of, "components of unusual numbers");
    if (of->adobe_seen && of->adobe_transform != (grey ? 0 : 1))
        return reject(of, "the marker of Adobe names unusual colours");
    return true;
}

/* The marker of JFIF whose version libjpeg warns of, and the one of Adobe. */
static bool take_application(header *of, int marker, const segment *from)
{
    enum { JFIF_BYTES = 14, ADOBE_BYTES = 12 };
    if (marker == MARKER_APP0 && from->size >= 5 && memcmp(from->bytes, "JFIF", 5) == 0 &&
        (from->size < JFIF_BYTES || from->bytes[5] != 1))
        return reject(of, "an unusual marker of JFIF");
    if (marker != MARKER_APP14 || from->size < 5 || memcmp(from->bytes, "Adobe", 5) != 0)
        return true;
    if (from->size < ADOBE_BYTES || of->adobe_seen)
        return reject(of, "an unusual marker of Adobe");
    of->adobe_seen = true;
    of->adobe_transform = from->bytes[11];
    return true;
}

static bool take_restarts(header *of, const segment *from)
{
    if (of->restarts_seen || from->size != 2 || word_at(from->bytes) == 0)
        return reject(of, "an unusual definition of restarts");
    of->restarts_seen = true;
    of->layout->restart_interval = word_at(from->bytes);
    return true;
}

static uint64_t count_mcus(const header *of)
{
    uint32_t columns = 8 * (uint32_t)of->components[0].across;
    uint32_t rows = 8 * (uint32_t)of->components[0].down;
    return (uint64_t)((of->facts->width + columns - 1) / columns) *
           ((of->facts->height + rows - 1) / rows);
}

static bool take_scan(header *of, const segment *from)
{
    size_t count = (size_t)of->facts->components;
    if (!of->frame_seen)
        return reject(of, "a scan without a frame");
    if (from->size != 4 + 2 * count || from->bytes[0] != count)
        return reject(of, "a scan without some of the components");
    const unsigned char *last = from->bytes + 1 + 2 * count;
    if (last[0] != 0 || last[1] != GC_JPEG_COEFFICIENTS - 1 || last[2] != 0)
        return reject(of, "a scan of a part of the coefficients");
    for (size_t i = 0; i < count; i++) {
        const component *one = &of->components[i];
        const unsigned char *bytes = from->bytes + 1 + 2 * i;
        if (bytes[0] != one->id)
            return reject(of, "components in another order");
        int dc = bytes[1] >> 4, ac = bytes[1] & 15;
        if (dc >= TABLES_MAX || ac >= TABLES_MAX || !of->has_table[0][dc] ||
            !of->has_table[1][ac] || !of->has_quantiser[one->quantiser])
            return reject(of, "a table that is missing");
        of->layout->components[i].dc = dc;
        of->layout->components[i].ac = ac;
        of->layout->components[i].quantiser = one->quantiser;
    }
    return name_sampling(of) && check_colours(of);
}

static bool take_marker(header *of, int marker)
{
    segment found;
    bool application = marker >= MARKER_APP0 && marker <= MARKER_APP15;
    if (!application && marker != MARKER_COM && marker != MARKER_DQT && marker != MARKER_DHT &&
        marker != MARKER_SOF0 && marker != MARKER_DRI && marker != MARKER_SOS)
        return reject(of, marker > MARKER_SOF0 && marker < MARKER_RST0
                              ? "a coding other than baseline"
                              : "an unusual marker in the header");
    if (!take_segment(of, &found))
        return false;
    switch (marker) {
    case MARKER_DQT:
        return take_quantisers(of, &found);
    case MARKER_DHT:
        return take_tables(of, &found);
    case MARKER_SOF0:
        return take_frame(of, &found);
    case MARKER_DRI:
        return take_restarts(of, &found);
    case MARKER_SOS:
        return take_scan(of, &found);
    default:
        return take_application(of, marker, &found);
    }
}

/* To the entropy-coded data. */
static bool take_header(header *of)
{
    int marker = 0;
    if (of->size < 2 || of->bytes[0] != 0xff || of->bytes[1] != MARKER_SOI)
        return reject(of, "no JPEG");
    of->at = 2;
    while (marker != MARKER_SOS) {
        if (of->size - of->at < 2)
            return cut(of);
        if (of->bytes[of->at] != 0xff)
            return reject(of, "stray bytes in the header");
        marker = of->bytes[of->at + 1];
        if (marker == 0xff)
            return reject(of, "fill bytes");
        of->at += 2;
        if (!take_marker(of, marker))
            return false;
    }
    of->layout->data = of->at;
    of->layout->mcus = count_mcus(of);
    return true;
}

bool gc_jpeg_read_layout(const unsigned char *bytes, size_t size, gc_jpeg_facts *facts,
                         gc_jpeg_layout *layout, const char **reason)
{
    *facts = (gc_jpeg_facts){.width = 0};
    *layout = (gc_jpeg_layout){.data = 0};
    header of = {.bytes = bytes, .size = size, .facts = facts, .layout = layout};
    bool sound = take_header(&of);
    *reason = of.reason;
    return sound;
}
