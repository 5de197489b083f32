#include "io/png/codes.h"

#include <stdbool.h>

/* Chooses code lengths of 1 to GC_CODE_MAX for the symbols that occur, two at least. First each symbol
 * gets Shannon's length: the logarithm of its probability, rounded up. Such a code has room left.
 * Then lengths are shortened until the code is complete, as RFC 1951 wants it. Those come first for
 * which the logarithm was rounded up most. */
void gc_choose_lengths(const uint32_t counts[GC_SYMBOLS], int lengths[GC_SYMBOLS])
{
    uint32_t weights[GC_SYMBOLS], total = 0, sum = 0;
    for (int s = 0; s < GC_SYMBOLS; s++)
        sum += counts[s];
    for (int s = 0; s < GC_SYMBOLS; s++) {
        /* Every symbol counts for a little more, so that no length exceeds GC_CODE_MAX. */
        weights[s] = counts[s] > 0 ? counts[s] + (sum >> (GC_CODE_MAX - 1)) : 0;
        total += weights[s];
    }
    int room = 1 << GC_CODE_MAX;
    for (int s = 0; s < GC_SYMBOLS; s++) {
        lengths[s] = 0;
        if (weights[s] == 0)
            continue;
        while (((uint64_t)weights[s] << ++lengths[s]) < total)
            continue;
        room -= 1 << (GC_CODE_MAX - lengths[s]);
    }
    /* Shortens the symbols whose weight is at least share/16 of what their length stands for. The
     * share falls from 31/16 to 16/16; at last every symbol that fits is shortened. */
    for (int share = 31; room > 0; share = share > 16 ? share - 1 : 0)
        for (int s = 0; s < GC_SYMBOLS; s++) {
            int cost = 1 << (GC_CODE_MAX - lengths[s]);
            if (lengths[s] < 2 || cost > room ||
                16 * ((uint64_t)weights[s] << lengths[s]) < (uint64_t)share * total)
                continue;
            room -= cost;
            lengths[s]--;
        }
}

uint32_t gc_reverse_bits(uint32_t bits, int length)
{
    bits = (bits & 0x5555) << 1 | (bits >> 1 & 0x5555);
    bits = (bits & 0x3333) << 2 | (bits >> 2 & 0x3333);
    bits = (bits & 0x0f0f) << 4 | (bits >> 4 & 0x0f0f);
    bits = (bits & 0x00ff) << 8 | bits >> 8;
    return bits >> (16 - length);
}

/* The canonical code of these lengths (RFC 1951, 3.2.2). */
void gc_make_codes(const int *lengths, int count, gc_code *codes)
{
    uint32_t used[GC_CODE_MAX + 1] = {0}, next[GC_CODE_MAX + 1] = {0};
    for (int s = 0; s < count; s++)
        used[lengths[s]]++;
    for (int length = 2; length <= GC_CODE_MAX; length++)
        next[length] = (next[length - 1] + used[length - 1]) << 1;
    for (int s = 0; s < count; s++)
        if (lengths[s] > 0)
            codes[s] = (gc_code){gc_reverse_bits(next[lengths[s]]++, lengths[s]), lengths[s]};
}

/* Code lengths are written in a code of their own (RFC 1951, 3.2.7). Here it is always the same: 0
 * to 13 take 4 bits; 14, 15 and the two repetitions of 0 take 5. */
enum { LENGTH_SYMBOLS = 19, ZEROS_SHORT = 17, ZEROS_LONG = 18 };
static const int length_lengths[LENGTH_SYMBOLS] = {4, 4, 4, 4, 4, 4, 4, 4, 4, 4,
                                                   4, 4, 4, 4, 5, 5, 0, 5, 5};

/* Zeros from `at` on in `lengths`. */
static int count_zeros(const int *lengths, int at)
{
    int zeros = 0;
    while (at + zeros <= GC_LONGEST && zeros < 138 && lengths[at + zeros] == 0)
        zeros++;
    return zeros;
}

void gc_put_lengths(gc_bits *to, const int lengths[GC_SYMBOLS])
{
    static const int order[LENGTH_SYMBOLS] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                              11, 4,  12, 3, 13, 2, 14, 1, 15};
    gc_code codes[LENGTH_SYMBOLS] = {{0}};
    gc_make_codes(length_lengths, LENGTH_SYMBOLS, codes);
    gc_put(to, GC_LONGEST + 1 - 257, 5);
    gc_put(to, 0, 5); /* one distance */
    gc_put(to, LENGTH_SYMBOLS - 4, 4);
    for (int i = 0; i < LENGTH_SYMBOLS; i++)
        gc_put(to, (uint32_t)length_lengths[order[i]], 3);
    for (int s = 0; s <= GC_LONGEST;) {
        int zeros = count_zeros(lengths, s);
        if (zeros < 3) {
            gc_put_code(to, codes[lengths[s++]]);
            continue;
        }
        bool is_long = zeros >= 11;
        gc_put_code(to, codes[is_long ? ZEROS_LONG : ZEROS_SHORT]);
        gc_put(to, (uint32_t)(zeros - (is_long ? 11 : 3)), is_long ? 7 : 3);
        s += zeros;
    }
    gc_put_code(to, codes[1]); /* the length of the distance's code */
}
