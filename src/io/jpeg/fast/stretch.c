#include "io/jpeg/fast/stretch.h"

#include "base/memory.h"
#include "io/input.h"

#include <immintrin.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BLOCKS = 96, PIECE_BLOCKS = 1536 };

/* ---- Colours --------------------------------------------------------------------------------- */

/* RGB rows from the planes of a JPEG, with the whole-number arithmetic of libjpeg-turbo: fancy
 * upsampling and YCbCr to RGB (jdsample.c, jdcolor.c). For processors with AVX2. */

/* Samples that rows given here may be read, and rows made here are written, behind their last. */
enum { COLOUR_STRAY = 32 };

/* How a row of Cb or Cr is made as wide as the image. */
typedef struct upsampling {
    bool across, down; /* a sample stands for two pixels in a row, in a column */
    uint32_t width;    /* of the plane: at least 3 samples if `across` */
} upsampling;

#define VECTORS __attribute__((target("avx2")))
#define ALWAYS_VECTORS inline __attribute__((target("avx2"), always_inline))

enum { AT_ONCE = 16 };

/* Sixteen bytes as numbers of 16 bits. */
static ALWAYS_VECTORS __m256i load(const unsigned char *bytes)
{
    return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)bytes));
}

static ALWAYS_VECTORS __m256i thrice(__m256i numbers)
{
    return _mm256_add_epi16(numbers, _mm256_add_epi16(numbers, numbers));
}

/* ---- Upsampling ------------------------------------------------------------------------------ */

/* Two samples of each number: three quarters of it, and a quarter of the number before or behind.
 * Sums of two rows are four times as large as samples. */
static ALWAYS_VECTORS void interpolate(const uint16_t *numbers, bool sums, unsigned char *samples)
{
    __m256i three = thrice(_mm256_loadu_si256((const __m256i *)numbers));
    __m256i left = _mm256_loadu_si256((const __m256i *)(numbers - 1));
    __m256i right = _mm256_loadu_si256((const __m256i *)(numbers + 1));
    left = _mm256_add_epi16(_mm256_add_epi16(three, left), _mm256_set1_epi16(sums ? 8 : 1));
    right = _mm256_add_epi16(_mm256_add_epi16(three, right), _mm256_set1_epi16(sums ? 7 : 2));
    left = _mm256_srli_epi16(left, sums ? 4 : 2);
    right = _mm256_srli_epi16(right, sums ? 4 : 2);
    _mm256_storeu_si256((__m256i *)samples, _mm256_or_si256(left, _mm256_slli_epi16(right, 8)));
}

/* Makes 2 x `width` samples if `across`, else `width`. `near` is the plane's row of this row of
 * pixels. `far` is the row above it, or below it for odd rows of pixels; it counts if `down`.
 * `numbers` has room for `width` + COLOUR_STRAY of them. */
static VECTORS void upsample(const upsampling *how, const unsigned char *near,
                             const unsigned char *far, uint16_t *numbers, unsigned char *samples)
{
    const uint32_t width = how->width;
    if (!how->across) {
        memcpy(samples, near, width);
        return;
    }
    numbers++; /* the first and the last go on outside */
    for (uint32_t x = 0; x < width; x += AT_ONCE) {
        __m256i found = load(near + x);
        if (how->down)
            found = _mm256_add_epi16(thrice(found), load(far + x));
        _mm256_storeu_si256((__m256i *)(numbers + x), found);
    }
    numbers[-1] = numbers[0];
    numbers[width] = numbers[width - 1];
    for (uint32_t x = 0; x < width; x += AT_ONCE)
        if (how->down)
            interpolate(numbers + x, true, samples + (size_t)2 * x);
        else
            interpolate(numbers + x, false, samples + (size_t)2 * x);
}

/* ---- Colour ---------------------------------------------------------------------------------- */

/* (factor * c + 2^15) >> 16 of numbers from -128 to 127. */
static ALWAYS_VECTORS __m256i scale(__m256i c, int factor)
{
    __m256i twice = _mm256_mulhi_epi16(_mm256_add_epi16(c, c), _mm256_set1_epi16((short)factor));
    return _mm256_srai_epi16(_mm256_add_epi16(twice, _mm256_set1_epi16(1)), 1);
}

/* (-22554 cb + 18734 cr + 2^15) >> 16. */
static ALWAYS_VECTORS __m256i scale_both(__m256i cb, __m256i cr)
{
    const __m256i factors = _mm256_set1_epi32((int)((uint32_t)18734 << 16 | (uint16_t)-22554));
    const __m256i half = _mm256_set1_epi32(1 << 15);
    __m256i low = _mm256_madd_epi16(_mm256_unpacklo_epi16(cb, cr), factors);
    __m256i high = _mm256_madd_epi16(_mm256_unpackhi_epi16(cb, cr), factors);
    return _mm256_packs_epi32(_mm256_srai_epi32(_mm256_add_epi32(low, half), 16),
                              _mm256_srai_epi32(_mm256_add_epi32(high, half), 16));
}

/* Numbers of 16 bits as bytes, clamped. */
static ALWAYS_VECTORS __m128i clamp(__m256i numbers)
{
    return _mm_packus_epi16(_mm256_castsi256_si128(numbers), _mm256_extracti128_si256(numbers, 1));
}

/* Sixteen pixels of three planes as RGB. Byte i of vector v is byte (16 v + i) / 3 of one of the
 * planes; -1 stands for the other planes. */
static ALWAYS_VECTORS void store_rgb(__m128i red, __m128i green, __m128i blue, unsigned char *rgb)
{
    static const signed char places[3][3][16] = {
        {{0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1, -1, 5},
         {-1, 0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1, -1},
         {-1, -1, 0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1}},
        {{-1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1, 10, -1},
         {5, -1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1, 10},
         {-1, 5, -1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1}},
        {{-1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15, -1, -1},
         {-1, -1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15, -1},
         {10, -1, -1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15}}};
    for (int v = 0; v < 3; v++) {
        const __m128i *from = (const __m128i *)places[v];
        __m128i bytes = _mm_shuffle_epi8(red, _mm_loadu_si128(from));
        bytes = _mm_or_si128(bytes, _mm_shuffle_epi8(green, _mm_loadu_si128(from + 1)));
        bytes = _mm_or_si128(bytes, _mm_shuffle_epi8(blue, _mm_loadu_si128(from + 2)));
        _mm_storeu_si128((__m128i *)rgb + v, bytes);
    }
}

/* The factors of jdcolor.c, 1.402, 1.772, 0.71414 and 0.34414 times 2^16, less the multiple of 2^16
 * that leaves 16 bits. */
static ALWAYS_VECTORS void convert(const unsigned char *luma, const unsigned char *blueness,
                                   const unsigned char *redness, unsigned char *rgb)
{
    const __m256i middle = _mm256_set1_epi16(128);
    __m256i y = load(luma), cb = _mm256_sub_epi16(load(blueness), middle);
    __m256i cr = _mm256_sub_epi16(load(redness), middle);
    __m256i red = _mm256_add_epi16(_mm256_add_epi16(y, cr), scale(cr, 91881 - 65536));
    __m256i green = _mm256_add_epi16(_mm256_sub_epi16(y, cr), scale_both(cb, cr));
    __m256i blue = _mm256_add_epi16(y, _mm256_add_epi16(cb, cb));
    blue = _mm256_add_epi16(blue, scale(cb, 116130 - 131072));
    store_rgb(clamp(red), clamp(green), clamp(blue), rgb);
}

/* Makes `width` pixels of RGB; writes no byte behind them. */
static VECTORS void to_rgb(const unsigned char *y, const unsigned char *cb, const unsigned char *cr,
                           uint32_t width, unsigned char *rgb)
{
    uint32_t x = 0;
    for (; width - x >= AT_ONCE; x += AT_ONCE)
        convert(y + x, cb + x, cr + x, rgb + (size_t)x * 3);
    if (x < width) {
        unsigned char last[3 * AT_ONCE];
        convert(y + x, cb + x, cr + x, last);
        memcpy(rgb + (size_t)x * 3, last, (size_t)(width - x) * 3);
    }
}

/* ---- The image ------------------------------------------------------------------------------- */

void gc_jpeg_image_divide(gc_jpeg_image *image)
{
    const gc_jpeg_frame *frame = &image->frame;
    const gc_jpeg_part *y = &frame->parts[0];
    int kept = 0;
    for (int c = 0; c < frame->part_count; c++) {
        const gc_jpeg_part *part = &frame->parts[c];
        kept += part->kept ? part->across * part->down : 0;
        image->pitch[c] =
            part->kept ? (size_t)frame->mcus_across * (size_t)part->across * 8 + COLOUR_STRAY : 0;
    }
    image->chunk = (uint32_t)(CHUNK_BLOCKS / kept);
    image->piece = (uint32_t)(PIECE_BLOCKS / frame->block_count);
    image->mcu_height = 8 * (uint32_t)y->down;
    image->interpolates = frame->colour && y->down > 1;
}

static size_t rgb_pitch(const gc_jpeg_image *image)
{
    return image->frame.colour ? (size_t)image->frame.width * 3 : 0;
}

size_t gc_jpeg_image_row_bytes(const gc_jpeg_image *image)
{
    size_t bytes = rgb_pitch(image) * image->mcu_height;
    for (int c = 0; c < image->frame.part_count; c++)
        bytes += image->pitch[c] * (size_t)image->frame.parts[c].down * 8;
    return bytes;
}

static size_t mcus_of(const gc_jpeg_stretch *of, const gc_jpeg_image *image)
{
    return (size_t)of->count * image->frame.mcus_across;
}

/* ---- The file -------------------------------------------------------------------------------- */

size_t gc_jpeg_feed_read(gc_jpeg_feed *feed, unsigned char *bytes, size_t size, size_t room)
{
    while (size < room && !feed->ended) {
        ssize_t count = gc_input_read_at(feed->input, bytes + size, room - size, feed->offset);
        feed->ended = count <= 0;
        if (count > 0) {
            size += (size_t)count;
            feed->offset += (uint64_t)count;
        }
    }
    return size;
}

static bool has_bytes(const gc_jpeg_feed *feed, const gc_jpeg_place *place, size_t wanted)
{
    return feed->ended || place->bits.size - place->bits.at >= wanted;
}

void gc_jpeg_feed_more(gc_jpeg_feed *feed, gc_jpeg_place *place, size_t wanted)
{
    gc_jpeg_bits *bits = &place->bits;
    size_t left = bits->size - bits->at;
    if (has_bytes(feed, place, wanted))
        return;
    memmove(feed->bytes, bits->bytes + bits->at, left);
    gc_jpeg_bits_move(bits, feed->bytes,
                      gc_jpeg_feed_read(feed, feed->bytes, left, GC_JPEG_FEED_BYTES));
}

/* Bytes of `count` MCUs at most, with a marker before each of them. Those of a chunk are less than
 * GC_JPEG_FEED_BYTES. */
static size_t bytes_of_mcus(const gc_jpeg_image *image, uint32_t count)
{
    return count *
           ((size_t)image->frame.block_count * GC_JPEG_BLOCK_BYTES_MAX + GC_JPEG_MARKER_BYTES);
}

/* ---- MCUs ------------------------------------------------------------------------------------ */

/* Takes the coefficients of the next `count` MCUs. Behind them there is room for a block. Without a
 * feed the place has all bytes. */
static bool take_mcus(const gc_jpeg_image *image, gc_jpeg_feed *feed, gc_jpeg_place *place,
                      gc_jpeg_lanes *lanes, size_t count, int16_t *numbers)
{
    const size_t mcu = image->frame.mcu_numbers;
    while (count > 0) {
        uint32_t some = count < image->chunk ? (uint32_t)count : image->chunk, taken = 0;
        if (feed != NULL)
            gc_jpeg_feed_more(feed, place, bytes_of_mcus(image, some));
        if (lanes != NULL)
            taken = gc_jpeg_lanes_take(lanes, place, (uint32_t)count, numbers);
        if (taken == 0) {
            memset(numbers, 0, some * mcu * sizeof *numbers);
            if (!gc_jpeg_take_mcus(&image->frame, place, some, numbers))
                return false;
            taken = some;
        }
        count -= taken;
        numbers += taken * mcu;
    }
    return true;
}

/* Makes samples of `count` MCUs of row `row` of a stretch, from MCU `x` of the row on. */
static bool transform_in_row(gc_jpeg_stretch *of, const gc_jpeg_image *image, uint32_t row,
                             uint32_t x, uint32_t count, const int16_t *numbers)
{
    gc_islow_function *islow = gc_islow_chosen();
    bool sound = true;
    for (int c = 0; c < image->frame.part_count && sound; c++) {
        const gc_jpeg_part *part = &image->frame.parts[c];
        size_t pitch = image->pitch[c], down = (size_t)part->down, across = (size_t)part->across;
        const gc_islow_layout layout = {(uint32_t)across, image->frame.mcu_numbers};
        unsigned char *samples = of->planes[c];
        if (!part->kept)
            continue;
        samples += (size_t)row * down * 8 * pitch + (size_t)x * across * 8;
        for (size_t i = 0; i < down && sound; i++, samples += 8 * pitch) {
            sound = islow(numbers, &layout, count * (uint32_t)across, &part->steps, samples, pitch);
            numbers += across * GC_JPEG_COEFFICIENTS;
        }
    }
    return sound;
}

/* Makes samples of `count` MCUs of a stretch, from MCU `first` on. */
static bool transform(gc_jpeg_stretch *of, const gc_jpeg_image *image, size_t first, size_t count,
                      const int16_t *numbers)
{
    const size_t across = image->frame.mcus_across;
    bool sound = true;
    for (size_t here; sound && count > 0; first += here, count -= here) {
        size_t left = across - first % across;
        here = left < count ? left : count;
        sound = transform_in_row(of, image, (uint32_t)(first / across), (uint32_t)(first % across),
                                 (uint32_t)here, numbers);
        numbers += here * image->frame.mcu_numbers;
    }
    return sound;
}

/* ---- Following ------------------------------------------------------------------------------- */

/* Adds bytes from `from` to `end`. They are most of a file, so the room is not doubled, as that of
 * a gc_buffer is. */
static bool keep_bytes(gc_jpeg_stretch *of, const unsigned char *from, const unsigned char *end)
{
    size_t more = (size_t)(end - from);
    if (more == 0)
        return true;
    if (of->room - of->size < more) {
        size_t room = of->size + more + GC_JPEG_FEED_BYTES / 4;
        unsigned char *grown = realloc(of->bytes, room);
        if (grown == NULL)
            return false;
        of->bytes = grown;
        of->room = room;
    }
    memcpy(of->bytes + of->size, from, more);
    of->size += more;
    return true;
}

/* Passes over a chunk of MCUs, of `left` that are left; *kept is where the bytes begin that are not
 * kept yet. Returns how many MCUs, or 0. */
static uint32_t pass_chunk(gc_jpeg_stretch *of, const gc_jpeg_image *image, gc_jpeg_feed *feed,
                           gc_jpeg_place *place, uint64_t left, const unsigned char **kept)
{
    uint32_t count = left < image->chunk ? (uint32_t)left : image->chunk;
    size_t wanted = bytes_of_mcus(image, count);
    if (!has_bytes(feed, place, wanted)) {
        if (!keep_bytes(of, *kept, place->bits.bytes + place->bits.at))
            return 0;
        gc_jpeg_feed_more(feed, place, wanted);
        *kept = feed->bytes;
    }
    return gc_jpeg_pass_mcus(&image->frame, place, count) ? count : 0;
}

bool gc_jpeg_stretch_pass(gc_jpeg_stretch *stretch, const gc_jpeg_image *image, gc_jpeg_feed *feed,
                          gc_jpeg_place *place)
{
    const unsigned char *kept = place->bits.bytes + place->bits.at;
    uint64_t searched = UINT64_MAX; /* feed->offset when its bytes had no marker */
    stretch->size = 0;
    stretch->place = *place;
    for (uint64_t left = mcus_of(stretch, image); left > 0;) {
        uint32_t some = 0;
        if (feed->offset != searched)
            some = gc_jpeg_pass_to_marker(&image->frame, place, left);
        if (some == 0) {
            searched = feed->offset;
            some = pass_chunk(stretch, image, feed, place, left, &kept);
        }
        if (some == 0)
            return false;
        left -= some;
    }
    if (!keep_bytes(stretch, kept, place->bits.bytes + place->bits.at))
        return false;
    gc_jpeg_bits_move(&stretch->place.bits, stretch->bytes, stretch->size);
    return true;
}

gc_jpeg_joined gc_jpeg_stretch_join(gc_jpeg_stretch *stretch, const gc_jpeg_image *image,
                                    gc_jpeg_join *join, size_t behind)
{
    const gc_jpeg_bits *bits = &join->place.bits;
    bool last = stretch->first + stretch->count == image->frame.mcus_down;
    uint32_t bit;
    const unsigned char *from = gc_jpeg_place_byte(&join->place, &bit);
    if (stretch->left == mcus_of(stretch, image)) {
        stretch->size = 0;
        stretch->place = join->place;
        stretch->first_bit = bit;
    }
    gc_jpeg_joined joined =
        gc_jpeg_join_pass(join, &image->frame, &stretch->left, last ? behind : 0);
    const unsigned char *end =
        joined == GC_JPEG_JOINED ? bits->bytes + bits->at : gc_jpeg_place_byte(&join->place, &bit);
    if (!keep_bytes(stretch, from, end))
        return GC_JPEG_JOIN_REJECTED;
    if (joined == GC_JPEG_JOINED)
        gc_jpeg_set_place(&stretch->place, stretch->bytes, stretch->size, 0, stretch->first_bit);
    return joined;
}

bool gc_jpeg_stretch_take(gc_jpeg_stretch *stretch, const gc_jpeg_image *image, gc_jpeg_feed *feed,
                          gc_jpeg_place *place, gc_jpeg_lanes *lanes)
{
    return take_mcus(image, feed, place, lanes, mcus_of(stretch, image), stretch->coefficients);
}

/* ---- Colour ---------------------------------------------------------------------------------- */

/* A row of samples of the image, in the stretch or just above it. */
static const unsigned char *samples_at(const gc_jpeg_stretch *of, const gc_jpeg_image *image,
                                       unsigned char *const above[GC_JPEG_PARTS_MAX], int c,
                                       uint32_t row)
{
    uint32_t first = of->first * (uint32_t)image->frame.parts[c].down * 8;
    return row < first ? above[c] : of->planes[c] + (size_t)(row - first) * image->pitch[c];
}

static void give_rgb(gc_jpeg_stretch *of, const gc_jpeg_image *image,
                     unsigned char *const above[GC_JPEG_PARTS_MAX], uint32_t y, unsigned char *rgb)
{
    const gc_jpeg_frame *frame = &image->frame;
    const gc_jpeg_part *cb = &frame->parts[1];
    const upsampling how = {frame->parts[0].across > 1, image->interpolates, cb->width};
    uint32_t near = how.down ? y / 2 : y, far = near;
    if (how.down && y % 2 == 0)
        far -= near > 0;
    else if (how.down)
        far += near + 1 < cb->height;
    unsigned char *wide[2];
    uint16_t *numbers = (uint16_t *)(void *)of->scratch;
    for (int c = 1; c < 3; c++) {
        wide[c - 1] = of->scratch + (size_t)c * image->pitch[0] * sizeof *numbers;
        upsample(&how, samples_at(of, image, above, c, near), samples_at(of, image, above, c, far),
                 numbers, wide[c - 1]);
    }
    to_rgb(samples_at(of, image, above, 0, y), wide[0], wide[1], frame->width, rgb);
}

/* The first row of the image that needs no row above the stretch. */
static uint32_t first_alone(const gc_jpeg_stretch *of, const gc_jpeg_image *image)
{
    return of->first * image->mcu_height + (of->first > 0 && image->interpolates);
}

static unsigned char *pixels_at(const gc_jpeg_stretch *of, const gc_jpeg_image *image, uint32_t y)
{
    return of->rgb + (size_t)(y - of->first * image->mcu_height) * rgb_pitch(image);
}

void gc_jpeg_stretch_give(gc_jpeg_stretch *stretch, const gc_jpeg_image *image,
                          unsigned char *const above[GC_JPEG_PARTS_MAX], uint32_t y,
                          unsigned char *row)
{
    if (!image->frame.colour)
        memcpy(row, samples_at(stretch, image, above, 0, y), image->frame.width);
    else if (stretch->rgb != NULL && y >= first_alone(stretch, image))
        memcpy(row, pixels_at(stretch, image, y), rgb_pitch(image));
    else
        give_rgb(stretch, image, above, y, row);
}

void gc_jpeg_stretch_save(const gc_jpeg_stretch *stretch, const gc_jpeg_image *image,
                          unsigned char *const above[GC_JPEG_PARTS_MAX])
{
    for (int c = 0; image->interpolates && c < image->frame.part_count; c++) {
        size_t last = (size_t)stretch->count * (size_t)image->frame.parts[c].down * 8 - 1;
        memcpy(above[c], stretch->planes[c] + last * image->pitch[c], image->pitch[c]);
    }
}

/* ---- Decoding -------------------------------------------------------------------------------- */

/* Says what can be given of a stretch with `rows` sound rows of MCUs, and makes RGB of it. The last
 * row of pixels has to wait for the stretch below, if the image interpolates. */
static bool conclude(gc_jpeg_stretch *of, const gc_jpeg_image *image, uint32_t rows)
{
    const uint32_t begin = of->first * image->mcu_height;
    const uint32_t left = image->frame.height - begin, here = rows * image->mcu_height;
    of->end = begin + (here < left ? here : left);
    if (image->interpolates && of->end < image->frame.height && of->end > 0)
        of->end--;
    for (uint32_t y = first_alone(of, image); of->rgb != NULL && y < of->end; y++)
        give_rgb(of, image, NULL, y, pixels_at(of, image, y));
    return rows == of->count;
}

bool gc_jpeg_stretch_decode(gc_jpeg_stretch *stretch, const gc_jpeg_image *image,
                            gc_jpeg_feed *feed, gc_jpeg_place *place)
{
    const size_t count = mcus_of(stretch, image);
    size_t done = 0;
    for (size_t some; done < count; done += some) {
        some = count - done < image->piece ? count - done : image->piece;
        if (!take_mcus(image, feed, place, stretch->lanes, some, stretch->coefficients) ||
            !transform(stretch, image, done, some, stretch->coefficients))
            break;
    }
    return conclude(stretch, image, (uint32_t)(done / image->frame.mcus_across));
}

bool gc_jpeg_stretch_decode_passed(gc_jpeg_stretch *stretch, const gc_jpeg_image *image)
{
    gc_jpeg_place *place = &stretch->place;
    bool sound = gc_jpeg_stretch_decode(stretch, image, NULL, place);
    bool before_marker = image->frame.restart_interval > 0 && place->to_restart == 0;
    return sound && (!before_marker || gc_jpeg_is_at_end(place));
}

bool gc_jpeg_stretch_decode_taken(gc_jpeg_stretch *stretch, const gc_jpeg_image *image)
{
    bool sound = transform(stretch, image, 0, mcus_of(stretch, image), stretch->coefficients);
    return conclude(stretch, image, sound ? stretch->count : 0);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

bool gc_jpeg_stretch_create(gc_jpeg_stretch *stretch, const gc_jpeg_image *image, uint32_t count,
                            gc_jpeg_holding holding)
{
    const gc_jpeg_frame *frame = &image->frame;
    *stretch = (gc_jpeg_stretch){.count = count};
    size_t mcus = mcus_of(stretch, image);
    if (!holding.coefficients && mcus > image->piece)
        mcus = image->piece;
    stretch->coefficients = gc_allocate_aligned(mcus * frame->mcu_numbers + GC_JPEG_COEFFICIENTS,
                                                sizeof *stretch->coefficients);
    if (!holding.coefficients)
        stretch->lanes = gc_jpeg_lanes_create(frame);
    bool made = stretch->coefficients != NULL;
    for (int c = 0; c < frame->part_count && made; c++) {
        if (!frame->parts[c].kept)
            continue;
        stretch->planes[c] =
            gc_allocate_array(image->pitch[c], (size_t)count * (size_t)frame->parts[c].down * 8);
        made = stretch->planes[c] != NULL;
    }
    if (made && frame->colour) { /* numbers of 16 bits, and two rows */
        stretch->scratch = gc_allocate_aligned(image->pitch[0], 3 * sizeof(uint16_t));
        made = stretch->scratch != NULL;
    }
    if (made && frame->colour && holding.rgb) {
        stretch->rgb = gc_allocate_array(rgb_pitch(image), (size_t)count * image->mcu_height);
        made = stretch->rgb != NULL;
    }
    return made;
}

void gc_jpeg_stretch_destroy(gc_jpeg_stretch *stretch)
{
    free(stretch->bytes);
    free(stretch->coefficients);
    gc_jpeg_lanes_free(stretch->lanes);
    for (int c = 0; c < GC_JPEG_PARTS_MAX; c++)
        free(stretch->planes[c]);
    free(stretch->rgb);
    free(stretch->scratch);
}
