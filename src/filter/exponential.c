/* The exponential function, correctly rounded to double by whole numbers alone, so that generated
 * weights have the same bits with every C library and every compiler. */
#include "filter/filter.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* A number from 0 up to 2^32: whole part and 192 bits behind the point, least limb first. */
enum { LIMBS = 7, POINT = 6 };
typedef struct fixed {
    uint32_t limb[LIMBS];
} fixed;

/* The natural logarithm of 2, cut behind 192 bits. */
static const fixed log_2 = {
    {0x7298b62d, 0x40f34326, 0x03f2f6af, 0xc9e3b398, 0xd1cf79ab, 0xb17217f7, 0}};

/* The product, cut behind 192 bits. */
static fixed multiply(const fixed *a, const fixed *b)
{
    uint32_t all[2 * LIMBS] = {0};
    fixed product;
    for (int i = 0; i < LIMBS; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < LIMBS; j++) {
            carry += all[i + j] + (uint64_t)a->limb[i] * b->limb[j];
            all[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        all[i + LIMBS] = (uint32_t)carry;
    }
    memcpy(product.limb, all + POINT, sizeof product.limb);
    return product;
}

/* The quotient, cut behind 192 bits. */
static fixed divide(const fixed *a, uint32_t divisor)
{
    fixed quotient;
    uint64_t rest = 0;
    for (int i = LIMBS - 1; i >= 0; i--) {
        rest = rest << 32 | a->limb[i];
        quotient.limb[i] = (uint32_t)(rest / divisor);
        rest %= divisor;
    }
    return quotient;
}

/* count * ln 2 - y, which is from 0 to 1. y is from 2^-54 to 1024 and has 53 bits. */
static fixed reduce(double y, uint32_t count)
{
    int exponent;
    uint64_t mantissa = (uint64_t)ldexp(frexp(y, &exponent), 53);
    fixed difference;
    uint64_t product = 0;
    int64_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        /* The bits of y that weigh 2^(32 * (i - POINT)) and up to 2^31 times that. */
        int shift = 32 * (i - POINT) - (exponent - 53);
        uint32_t bits = shift >= 64 || shift <= -32 ? 0
                        : shift >= 0                ? (uint32_t)(mantissa >> shift)
                                                    : (uint32_t)(mantissa << -shift);
        product += (uint64_t)log_2.limb[i] * count;
        carry += (int64_t)(uint32_t)product - bits;
        difference.limb[i] = (uint32_t)carry;
        carry >>= 32;
        product >>= 32;
    }
    return difference;
}

/* exp(-y) = 2^-n exp(r) with r = n ln 2 - y from 0 to 2^-20 above ln 2. The Taylor series of exp(r)
 * is cut at a term below 2^-190. Cuts, the error of n ln 2 and the rest of the series sum up to
 * less than 2^-180. No double has an exponential that lies nearer to the middle of two doubles than
 * 2^-160 of it (Lefevre and Muller 2001, Worst cases for correct rounding of the elementary
 * functions in double precision), so cutting decides as the true value does. */
double gc_exponential_of_minus(double y)
{
    enum { TERMS = 42 };
    if (y < 0x1p-54)
        return 1;
    if (y > 746)
        return 0;
    int n = (int)(y * 1.442695040889) + 1; /* over ln 2, rounded up: r is positive */
    fixed r = reduce(y, (uint32_t)n), sum = {{[POINT] = 1}};
    for (uint32_t k = TERMS; k > 0; k--) {
        sum = multiply(&sum, &r);
        sum = divide(&sum, k);
        sum.limb[POINT]++;
    }
    /* Bits behind the point that a double of this magnitude holds: fewer below 2^-1022. */
    int most = sum.limb[POINT] == 1 ? 52 : 51, bits = 1074 - n < most ? 1074 - n : most;
    uint64_t cut = (uint64_t)sum.limb[POINT] << 53 | (uint64_t)sum.limb[POINT - 1] << 21 |
                   sum.limb[POINT - 2] >> 11;
    return ldexp((double)(((cut >> (52 - bits)) + 1) >> 1), -n - bits);
}
