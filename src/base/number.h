/* Numbers read from text the same way in every locale; numbers in float32; the smaller and the
 * larger of two. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads one C-locale number (integer, decimal, exponent, C hex float) at `text`, of at most
 * `length` bytes, without leading white space. Returns the bytes used, 0 if there is no number.
 * Infinities and NaNs by name are not numbers; a magnitude over DBL_MAX gives HUGE_VAL. */
size_t gc_read_number(const char *text, size_t length, double *value);

/* A number as it is written: `value` is the nearest double. over/under is the number itself, in
 * lowest terms; `under` is 0 if one of them would be above 2^53. */
typedef struct gc_fraction {
    double value;
    int64_t over, under;
} gc_fraction;

/* gc_read_number that gives the number as a fraction, too. */
size_t gc_read_fraction(const char *text, size_t length, gc_fraction *number);

/* Divides by a number that is not 0. The value is the quotient of the values if `under` is 0. */
gc_fraction gc_divide_fractions(gc_fraction a, gc_fraction b);

/* gc_read_fraction of a number or of a quotient p/q. The value is infinite if p or q is, and
 * not-a-number if q is 0. */
size_t gc_read_quotient(const char *text, size_t length, gc_fraction *number);

/* True when the whole string is one finite number or quotient. *denominator becomes `under`. */
bool gc_parse_quotient(const char *text, double *value, double *denominator);

/* A number without an error: doubles over/under. `under` is odd and above 0, and 1 if the number is
 * a double. */
typedef struct gc_ratio {
    double over, under;
} gc_ratio;

/* The fraction with this denominator, and a numerator below 2^51, whose nearest double is `value`.
 * `value` itself if there is none. */
gc_ratio gc_ratio_of(double value, double denominator);

/* The greatest number that divides both; 0 if both are 0. */
int64_t gc_common_divisor(int64_t a, int64_t b);

/* True when the whole string is one finite number. */
bool gc_parse_number(const char *text, double *value);

/* True when `length` characters are one decimal integer from `low` to `high`. */
bool gc_parse_integer_part(const char *text, size_t length, long long low, long long high,
                           long long *value);

/* The same for a whole string. */
bool gc_parse_integer(const char *text, long long low, long long high, long long *value);

static inline int64_t gc_smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t gc_larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The value of a hexadecimal digit; -1 if it is none. */
int gc_hex_digit(char c);

static inline bool gc_is_whole(double value)
{
    return value == trunc(value);
}

/* Whether the magnitude is a power of 2. */
bool gc_is_power(double value);

/* True when `value` rounds to a finite float32. */
bool gc_fits_float(double value);

/* The largest float32 that is not above `value`. For every float r, r > value exactly if r > the
 * result. */
float gc_float_at_most(double value);
