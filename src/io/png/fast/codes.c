#include "io/png/fast/codes.h"

#include <stdbool.h>

/* The shares of gc_choose_lengths. */
enum { SHARE_LEAST = 16, SHARES = 32 };

/* The least length that stands for at most the probability `weight` / `total`, less than 1. */
static int shortest_length(uint32_t weight, uint32_t total)
{
    int length = __builtin_clz(weight) - __builtin_clz(total - 1);
    return length + (((uint64_t)weight << length) < total);
}

/* Sorts `count` symbols by their shares, the greatest first. Those of one share stay in order. */
static void sort_by_share(const uint16_t *symbols, const uint8_t *shares, int count,
                          uint16_t *sorted)
{
    int places[SHARES + 1] = {0};
    for (int i = 0; i < count; i++)
        places[shares[i]]++;
    for (int share = SHARES - 1, place = 0; share >= SHARE_LEAST; share--) {
        int next = place + places[share];
        places[share] = place;
        place = next;
    }
    for (int i = 0; i < count; i++)
        sorted[places[shares[i]]++] = symbols[i];
}

/* Shortens the lengths of symbols, one after the other, as far as there is room. */
static int shorten(const uint16_t *symbols, int count, int room, int lengths[GC_SYMBOLS])
{
    for (int i = 0; i < count && room > 0; i++) {
        int *length = &lengths[symbols[i]];
        int cost = 1 << (GC_CODE_MAX - *length);
        if (*length >= 2 && cost <= room) {
            room -= cost;
            --*length;
        }
    }
    return room;
}

/* First each symbol gets Shannon's length: the logarithm of its probability, rounded up. Such a
 * code has room left. Then lengths are shortened until the code is complete, as RFC 1951 wants it.
 * The symbols whose logarithm was rounded up most come first. A symbol's share says how much: its
 * weight over the weight for which its length stands, in sixteenths, 16 to 31. */
void gc_choose_lengths(const uint32_t counts[GC_SYMBOLS], int lengths[GC_SYMBOLS])
{
    uint16_t symbols[GC_SYMBOLS], sorted[GC_SYMBOLS];
    uint8_t shares[GC_SYMBOLS];
    uint32_t total = 0, sum = 0;
    int used = 0, room = 1 << GC_CODE_MAX;
    for (int s = 0; s < GC_SYMBOLS; s++)
        sum += counts[s];
    /* Every symbol counts for a little more, so that no length exceeds GC_CODE_MAX. */
    const uint32_t more = sum >> (GC_CODE_MAX - 1);
    for (int s = 0; s < GC_SYMBOLS; s++) {
        lengths[s] = 0;
        symbols[used] = (uint16_t)s;
        total += counts[s] > 0 ? counts[s] + more : 0;
        used += counts[s] > 0;
    }
    for (int i = 0; i < used; i++) {
        uint32_t weight = counts[symbols[i]] + more;
        int length = shortest_length(weight, total);
        lengths[symbols[i]] = length;
        room -= 1 << (GC_CODE_MAX - length);
        /* Exact: as doubles they are whole, and a quotient is no nearer to a whole one than
         * 2^-32. */
        shares[i] = (uint8_t)((double)((uint64_t)weight << (length + 4)) / total);
    }
    sort_by_share(symbols, shares, used, sorted);
    room = shorten(sorted, used, room, lengths);
    while (room > 0)
        room = shorten(symbols, used, room, lengths);
}

static inline uint32_t reverse_word(uint32_t bits)
{
    bits = (bits & 0x5555) << 1 | (bits >> 1 & 0x5555);
    bits = (bits & 0x3333) << 2 | (bits >> 2 & 0x3333);
    bits = (bits & 0x0f0f) << 4 | (bits >> 4 & 0x0f0f);
    return (bits & 0x00ff) << 8 | bits >> 8;
}

uint32_t gc_reverse_bits(uint32_t bits, int length)
{
    return reverse_word(bits) >> (16 - length);
}

/* The canonical code of these lengths (RFC 1951, 3.2.2). Until they are reversed, codes begin at
 * the highest of 16 bits. */
void gc_make_codes(const int *lengths, int count, gc_code *codes)
{
    uint32_t next[GC_CODE_MAX + 1] = {0}, steps[GC_CODE_MAX + 1] = {0}, first = 0;
    for (int s = 0; s < count; s++)
        next[lengths[s]]++;
    next[0] = 0;
    for (int length = 1; length <= GC_CODE_MAX; length++) {
        uint32_t used = next[length];
        steps[length] = UINT32_C(1) << (16 - length);
        next[length] = first;
        first += used * steps[length];
    }
    for (int s = 0; s < count; s++) {
        codes[s] = (gc_code){next[lengths[s]], lengths[s]};
        next[lengths[s]] += steps[lengths[s]];
    }
    for (int s = 0; s < count; s++)
        codes[s].bits = reverse_word(codes[s].bits);
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
