/* A numeral is found here and handed to strtod without a radix character: "125e-2" for "1.25". So
 * the locale cannot change its meaning, and the C library rounds it correctly to the last bit. */
#include "base/number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Significant digits that strtod gets. 768 decimal digits decide every rounding to double, if one
 * sticky digit says whether any digit beyond them is not 0. Hexadecimal needs far fewer. */
enum { DIGITS_MAX = 800 };

/* Beyond this exponent a number is infinite or 0, whatever its DIGITS_MAX digits are. */
enum { EXPONENT_MAX = 99999 };

typedef struct numeral {
    char digits[DIGITS_MAX + 1]; /* without leading zeros; the last one is sticky */
    int digit_count;
    bool any;           /* a digit stood there, if only a zero */
    long long exponent; /* of the radix 10 or 2, for the digits read as an integer */
} numeral;

int gc_hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *digit = c != '\0' ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;
    return digit != NULL ? (int)(digit - digits) : -1;
}

static bool is_digit(char c, bool hexadecimal)
{
    return hexadecimal ? gc_hex_digit(c) >= 0 : c >= '0' && c <= '9';
}

/* Adds a digit; `weight` is how far one digit moves the exponent. */
static void add_digit(numeral *number, char digit, bool after_point, int weight)
{
    number->any = true;
    if (after_point)
        number->exponent -= weight;
    if (number->digit_count == 0 && digit == '0')
        return;
    if (number->digit_count < DIGITS_MAX) {
        number->digits[number->digit_count++] = digit;
        return;
    }
    number->exponent += weight;
    if (digit != '0')
        number->digits[DIGITS_MAX - 1] = '1';
}

/* Reads digits with at most one point; returns the bytes used. */
static size_t read_digits(const char *text, size_t length, bool hexadecimal, numeral *number)
{
    *number = (numeral){.digit_count = 0};
    bool after_point = false;
    size_t used = 0;
    for (; used < length; used++) {
        if (is_digit(text[used], hexadecimal))
            add_digit(number, text[used], after_point, hexadecimal ? 4 : 1);
        else if (text[used] == '.' && !after_point)
            after_point = true;
        else
            break;
    }
    return number->any ? used : 0;
}

/* Reads an exponent such as e-12 if there is one, saturating; returns the bytes used. */
static size_t read_exponent(const char *text, size_t length, char letter, long long *exponent)
{
    if (length == 0 || (text[0] | 0x20) != letter)
        return 0;
    size_t used = 1;
    bool negative = used < length && text[used] == '-';
    if (used < length && (text[used] == '-' || text[used] == '+'))
        used++;
    size_t first = used;
    long long value = 0;
    for (; used < length && is_digit(text[used], false); used++)
        if (value < 1000000000000)
            value = 10 * value + (text[used] - '0');
    if (used == first)
        return 0;
    *exponent += negative ? -value : value;
    return used;
}

static double value_of(numeral *number, bool hexadecimal)
{
    if (number->digit_count == 0)
        return 0;
    long long exponent = number->exponent;
    if (exponent > EXPONENT_MAX)
        exponent = EXPONENT_MAX;
    if (exponent < -EXPONENT_MAX)
        exponent = -EXPONENT_MAX;
    char text[DIGITS_MAX + 16];
    snprintf(text, sizeof text, "%s%.*s%c%lld", hexadecimal ? "0x" : "", number->digit_count,
             number->digits, hexadecimal ? 'p' : 'e', exponent);
    return strtod(text, NULL);
}

/* The largest term of a fraction. */
static const int64_t term_max = INT64_C(1) << 53;

/* Multiplies a term; false if it becomes too large. */
static bool multiply_term(int64_t *term, int64_t factor)
{
    if (*term != 0 && factor > term_max / *term)
        return false;
    *term *= factor;
    return true;
}

int64_t gc_common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

/* Finds over/under of a numeral. */
static bool find_terms(const numeral *number, bool hexadecimal, int64_t *over, int64_t *under)
{
    const int64_t base = hexadecimal ? 2 : 10, weight = hexadecimal ? 4 : 1;
    int count = number->digit_count;
    *over = 0;
    *under = 1;
    while (count > 0 && number->digits[count - 1] == '0')
        count--;
    long long exponent = count > 0 ? number->exponent + weight * (number->digit_count - count) : 0;
    for (int i = 0; i < count; i++) {
        if (!multiply_term(over, hexadecimal ? 16 : 10))
            return false;
        *over += gc_hex_digit(number->digits[i]);
    }
    for (; exponent > 0; exponent--)
        if (!multiply_term(over, base))
            return false;
    for (; exponent < 0; exponent++)
        if (!multiply_term(under, base))
            return false;
    int64_t common = gc_common_divisor(*over, *under);
    *over /= common;
    *under /= common;
    return *over <= term_max;
}

gc_fraction gc_divide_fractions(gc_fraction a, gc_fraction b)
{
    gc_fraction quotient = {.value = a.value / b.value};
    if (a.under == 0 || b.under == 0)
        return quotient;
    int64_t overs = gc_common_divisor(a.over, b.over), unders = gc_common_divisor(a.under, b.under);
    int64_t sign = b.over < 0 ? -1 : 1, over = a.over / overs, under = a.under / unders;
    int64_t magnitude = over < 0 ? -over : over;
    if (!multiply_term(&magnitude, b.under / unders) ||
        !multiply_term(&under, sign * (b.over / overs)))
        return quotient;
    quotient.over = over < 0 ? -sign * magnitude : sign * magnitude;
    quotient.under = under;
    quotient.value = (double)quotient.over / (double)under;
    return quotient;
}

size_t gc_read_number(const char *text, size_t length, double *value)
{
    gc_fraction number;
    size_t used = gc_read_fraction(text, length, &number);
    if (used > 0)
        *value = number.value;
    return used;
}

size_t gc_read_fraction(const char *text, size_t length, gc_fraction *result)
{
    size_t used = length > 0 && (text[0] == '-' || text[0] == '+') ? 1 : 0;
    bool negative = used == 1 && text[0] == '-';
    numeral number;
    bool hexadecimal = false;
    size_t digits = 0;
    if (length - used > 2 && text[used] == '0' && (text[used + 1] | 0x20) == 'x') {
        digits = read_digits(text + used + 2, length - used - 2, true, &number);
        hexadecimal = digits > 0;
        digits += hexadecimal ? 2 : 0;
    }
    if (!hexadecimal)
        digits = read_digits(text + used, length - used, false, &number);
    if (digits == 0)
        return 0;
    used += digits;
    used += read_exponent(text + used, length - used, hexadecimal ? 'p' : 'e', &number.exponent);
    double magnitude = value_of(&number, hexadecimal);
    int64_t over, under;
    if (!find_terms(&number, hexadecimal, &over, &under))
        over = under = 0;
    *result = (gc_fraction){negative ? -magnitude : magnitude, negative ? -over : over, under};
    return used;
}

size_t gc_read_quotient(const char *text, size_t length, gc_fraction *number)
{
    gc_fraction under;
    size_t used = gc_read_fraction(text, length, number), more = 0;
    if (used > 0 && used < length && text[used] == '/')
        more = gc_read_fraction(text + used + 1, length - used - 1, &under);
    if (more == 0)
        return used;
    if (under.value == 0)
        *number = (gc_fraction){.value = NAN};
    else if (isinf(number->value) || isinf(under.value))
        *number = (gc_fraction){.value = HUGE_VAL};
    else
        *number = gc_divide_fractions(*number, under);
    return used + 1 + more;
}

bool gc_parse_quotient(const char *text, double *value, double *denominator)
{
    size_t length = strlen(text);
    gc_fraction number;
    if (length == 0 || gc_read_quotient(text, length, &number) != length || !isfinite(number.value))
        return false;
    *value = number.value;
    *denominator = (double)number.under;
    return true;
}

gc_ratio gc_ratio_of(double value, double denominator)
{
    double over = rint(value * denominator), under = denominator;
    if (!(under >= 1 && under <= 0x1p53 && under == trunc(under)) || !(fabs(over) < 0x1p51) ||
        over / under != value)
        return (gc_ratio){value, 1};
    double common = (double)gc_common_divisor((int64_t)over, (int64_t)under);
    gc_ratio ratio = {over / common, under / common};
    for (; fmod(ratio.under, 2) == 0; ratio.under /= 2)
        ratio.over /= 2;
    return ratio;
}

bool gc_parse_number(const char *text, double *value)
{
    size_t length = strlen(text);
    double number;
    if (length == 0 || gc_read_number(text, length, &number) != length || !isfinite(number))
        return false;
    *value = number;
    return true;
}

bool gc_parse_integer_part(const char *text, size_t length, long long low, long long high,
                           long long *value)
{
    size_t first = length > 0 && (text[0] == '-' || text[0] == '+');
    bool negative = first > 0 && text[0] == '-';
    long long number = 0;
    for (size_t i = first; i < length; i++) {
        int digit = negative ? -(text[i] - '0') : text[i] - '0';
        if (!is_digit(text[i], false) || __builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, digit, &number))
            return false;
    }
    if (length == first || number < low || number > high)
        return false;
    *value = number;
    return true;
}

bool gc_parse_integer(const char *text, long long low, long long high, long long *value)
{
    return gc_parse_integer_part(text, strlen(text), low, high, value);
}

bool gc_is_power(double value)
{
    int exponent;
    return fabs(frexp(value, &exponent)) == 0.5;
}

bool gc_fits_float(double value)
{
    /* FLT_MAX plus half a unit in the last place: from here on rounding gives infinity. */
    return fabs(value) < 0x1.ffffffp127;
}

float gc_float_at_most(double value)
{
    if (value >= FLT_MAX)
        return isinf(value) ? INFINITY : FLT_MAX;
    float nearest = (float)value;
    return (double)nearest > value ? nextafterf(nearest, -INFINITY) : nearest;
}
