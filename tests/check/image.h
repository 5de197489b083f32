/* Buffers with guards: whatever is written outside the rows is noticed. */
#pragma once

#include "gconv.h"
#include "owned.h"
#include "random.h"

/* Rows of `row_bytes` bytes, `stride` apart, in a larger allocation full of canaries. */
typedef struct check_image {
    unsigned char *memory;
    size_t bytes; /* of the allocation */
    size_t start; /* of row 0 in it */
    size_t row_bytes;
    size_t stride;
    uint32_t rows;
} check_image;

/* Memory of zeros; there is none: the end of the program. */
void *check_allocate(size_t count, size_t size);

/* Bytes of a sample in memory; 1 if it has less. */
size_t check_sample_bytes(int depth);

/* Rows whose start and stride are `unit`-aligned and otherwise random. */
check_image check_image_create(size_t row_bytes, uint32_t rows, size_t unit, check_random *random);
void check_image_free(check_image *image);

unsigned char *check_image_row(const check_image *image, uint32_t y);

/* Fills the rows, not what surrounds them. */
void check_image_poison(check_image *image, unsigned char value);

/* False when a byte before, between or after the rows has changed. */
bool check_image_guards_hold(const check_image *image);

/* What pixels look like: patterns that are hostile to sums, borders and conversions. */
typedef enum check_pattern {
    CHECK_PATTERN_RANDOM,
    CHECK_PATTERN_ZERO,
    CHECK_PATTERN_MAX,
    CHECK_PATTERN_EXTREMES, /* near 0 and near the largest value, mixed */
    CHECK_PATTERN_IMPULSE,
    CHECK_PATTERN_CHECKER, /* 0 and the largest value by turns */
    CHECK_PATTERN_RAMP,
    CHECK_PATTERN_DIM, /* 0 and 1 */
    CHECK_PATTERN_COUNT,
    CHECK_PATTERN_STRANGE /* floats of which some are no numbers or beyond what rule 82 allows */
} check_pattern;

const char *check_pattern_name(check_pattern pattern);

/* Fills an image of this shape. Alpha is opaque, transparent or in between, in patches. Floats get
 * fractions, signs and scales beside. */
void check_fill_pattern(check_image *image, const gconv_shape *shape, check_pattern pattern,
                        check_random *random);

/* Sample `i` of a row at 8, 16 or 32 bits. */
double check_sample(const unsigned char *row, int depth, size_t i);
void check_set_sample(unsigned char *row, int depth, size_t i, uint32_t value);
