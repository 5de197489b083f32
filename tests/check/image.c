#include "image.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes before and after the rows: a vector store that runs over lands here. */
enum { GUARD_BYTES = 256 };

static unsigned char canary(size_t at)
{
    return (unsigned char)(0xc3 ^ (at * 29));
}

void *check_allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL) {
        fprintf(stderr, "gconv_check: out of memory (%zu times %zu bytes)\n", count, size);
        exit(1);
    }
    return memory;
}

size_t check_sample_bytes(int depth)
{
    return depth > 8 ? (size_t)depth / 8 : 1;
}

check_image check_image_create(size_t row_bytes, uint32_t rows, size_t unit, check_random *random)
{
    check_image image = {.row_bytes = row_bytes, .rows = rows};
    image.start = GUARD_BYTES + unit * check_below(random, 17);
    image.stride = row_bytes;
    if (!check_once_in(random, 3))
        image.stride += unit * check_below(random, 40);
    image.stride = (image.stride + unit - 1) / unit * unit;
    image.bytes = image.start + image.stride * rows + GUARD_BYTES;
    image.memory = check_allocate(image.bytes, 1);
    for (size_t i = 0; i < image.bytes; i++)
        image.memory[i] = canary(i);
    return image;
}

void check_image_free(check_image *image)
{
    free(image->memory);
    image->memory = NULL;
}

unsigned char *check_image_row(const check_image *image, uint32_t y)
{
    return image->memory + image->start + y * image->stride;
}

void check_image_poison(check_image *image, unsigned char value)
{
    for (uint32_t y = 0; y < image->rows; y++)
        memset(check_image_row(image, y), value, image->row_bytes);
}

static bool canaries_stand(const check_image *image, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        if (image->memory[i] != canary(i))
            return false;
    return true;
}

bool check_image_guards_hold(const check_image *image)
{
    size_t end = 0;
    for (uint32_t y = 0; y < image->rows; y++) {
        size_t row = image->start + y * image->stride;
        if (!canaries_stand(image, end, row))
            return false;
        end = row + image->row_bytes;
    }
    return canaries_stand(image, end, image->bytes);
}

/* ---- Patterns -------------------------------------------------------------------------------- */

static const char *const pattern_names[] = {
    [CHECK_PATTERN_RANDOM] = "random",   [CHECK_PATTERN_ZERO] = "zero",
    [CHECK_PATTERN_MAX] = "max",         [CHECK_PATTERN_EXTREMES] = "extremes",
    [CHECK_PATTERN_IMPULSE] = "impulse", [CHECK_PATTERN_CHECKER] = "checker",
    [CHECK_PATTERN_RAMP] = "ramp",       [CHECK_PATTERN_DIM] = "dim",
    [CHECK_PATTERN_STRANGE] = "strange",
};

const char *check_pattern_name(check_pattern pattern)
{
    return pattern_names[pattern];
}

static float float_sample(const unsigned char *row, size_t i)
{
    float sample;
    memcpy(&sample, row + sizeof sample * i, sizeof sample);
    return sample;
}

static void set_float_sample(unsigned char *row, size_t i, float sample)
{
    memcpy(row + sizeof sample * i, &sample, sizeof sample);
}

double check_sample(const unsigned char *row, int depth, size_t i)
{
    if (depth == 8)
        return row[i];
    if (depth == 32)
        return (double)float_sample(row, i);
    uint16_t sample;
    memcpy(&sample, row + 2 * i, sizeof sample);
    return sample;
}

void check_set_sample(unsigned char *row, int depth, size_t i, uint32_t value)
{
    if (depth == 8) {
        row[i] = (unsigned char)value;
        return;
    }
    if (depth == 32) {
        set_float_sample(row, i, (float)value);
        return;
    }
    uint16_t sample = (uint16_t)value;
    memcpy(row + 2 * i, &sample, sizeof sample);
}

static uint32_t pattern_value(check_pattern pattern, uint32_t x, uint32_t y, uint32_t largest,
                              check_random *random)
{
    switch (pattern) {
    case CHECK_PATTERN_MAX:
        return largest;
    case CHECK_PATTERN_EXTREMES: {
        uint32_t near = check_below(random, 4);
        return check_once_in(random, 2) ? near : largest - near;
    }
    case CHECK_PATTERN_CHECKER:
        return (x + y) % 2 == 0 ? largest : 0;
    case CHECK_PATTERN_RAMP:
        return (x * 3 + y * 7) % (largest + 1);
    case CHECK_PATTERN_DIM:
        return check_below(random, 2);
    case CHECK_PATTERN_RANDOM:
        return check_below(random, largest + 1);
    default:
        return 0;
    }
}

/* Patches of three by two pixels: opaque, transparent, or anything. */
static uint32_t alpha_value(uint32_t x, uint32_t y, uint32_t largest, check_random *random)
{
    uint32_t any = check_below(random, largest + 1);
    switch ((x / 3 * 5 + y / 2 * 3) % 4) {
    case 0:
        return 0;
    case 1:
        return any;
    default:
        return largest;
    }
}

/* ---- Floats ---------------------------------------------------------------------------------- */

/* What becomes of the whole numbers of a pattern at depth 32. */
typedef struct float_kind {
    float scale;    /* of samples but alpha; 0: each sample has its own, up to 2^24 */
    bool fractions; /* less than 1 is added */
    bool negative;  /* some samples are, some zeros among them */
    bool any_alpha; /* alpha is scaled like a colour */
} float_kind;

/* Samples of up to 2^32 (contract.md, rule 82), ordinary ones more often. */
static float_kind random_float_kind(check_random *random)
{
    static const float scales[] = {1,       1,        1,        1 / 255.0F, 100,
                                   0x1p24F, 0x1p-24F, 0x1p-70F, 0x1p-140F,  0};
    return (float_kind){.scale = scales[check_below(random, sizeof scales / sizeof scales[0])],
                        .fractions = check_once_in(random, 2),
                        .negative = check_once_in(random, 3),
                        .any_alpha = check_once_in(random, 8)};
}

static float random_scale(check_random *random)
{
    return ldexpf(1, check_between(random, -149, 24));
}

static float float_of(const float_kind *kind, bool is_alpha, uint32_t value, check_random *random)
{
    float made = (float)value;
    if (kind->fractions && value > 0 && value < 255)
        made += (float)check_unit(random);
    if (is_alpha && !kind->any_alpha)
        return made;
    made *= kind->scale > 0 ? kind->scale : random_scale(random);
    return kind->negative && check_once_in(random, 2) ? -made : made;
}

static void make_floats(unsigned char *row, const gconv_shape *shape, const float_kind *kind,
                        check_random *random)
{
    size_t channels = (size_t)shape->channels;
    for (size_t i = 0; i < shape->width * channels; i++) {
        bool is_alpha = channels % 2 == 0 && i % channels == channels - 1;
        uint32_t value = (uint32_t)float_sample(row, i);
        set_float_sample(row, i, float_of(kind, is_alpha, value, random));
    }
}

static void make_strange(unsigned char *row, size_t count, uint32_t apart, check_random *random)
{
    static const float strange[] = {NAN, INFINITY, -INFINITY, 3.4e38F, -3.4e38F};
    for (size_t i = 0; i < count; i++)
        if (check_once_in(random, apart))
            set_float_sample(row, i, strange[check_below(random, 5)]);
}

void check_fill_pattern(check_image *image, const gconv_shape *shape, check_pattern pattern,
                        check_random *random)
{
    uint32_t largest = shape->depth == 16 ? 65535 : 255;
    uint32_t channels = (uint32_t)shape->channels;
    uint32_t impulse_x = check_below(random, shape->width);
    uint32_t impulse_y = check_below(random, shape->height);
    float_kind kind = {.scale = 1};
    if (shape->depth == 32)
        kind = random_float_kind(random);
    for (uint32_t y = 0; y < shape->height; y++) {
        unsigned char *row = check_image_row(image, y);
        for (uint32_t x = 0; x < shape->width; x++)
            for (uint32_t c = 0; c < channels; c++) {
                uint32_t value = pattern_value(pattern, x, y, largest, random);
                if (pattern == CHECK_PATTERN_IMPULSE && x == impulse_x && y == impulse_y)
                    value = largest;
                if (channels % 2 == 0 && c == channels - 1)
                    value = alpha_value(x, y, largest, random);
                check_set_sample(row, shape->depth, x * channels + c, value);
            }
        if (shape->depth == 32)
            make_floats(row, shape, &kind, random);
        if (pattern == CHECK_PATTERN_STRANGE)
            make_strange(row, shape->width * channels, 1 + impulse_x % 40, random);
    }
}
