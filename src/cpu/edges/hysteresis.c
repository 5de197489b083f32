#include "cpu/edges/hysteresis.h"

#include "base/memory.h"

/* The first pixel becomes the most significant bit. */
static inline uint64_t ordered(uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return __builtin_bswap64(word);
#else
    return word;
#endif
}

/* Flags of `mask` that are connected with `seeds` in a row: in six steps of twice the distance. */
static inline uint64_t fill(uint64_t seeds, uint64_t mask)
{
    if ((((seeds << 1) | (seeds >> 1)) & mask & ~seeds) == 0)
        return seeds;
    uint64_t up = seeds, down = seeds, up_mask = mask, down_mask = mask;
    for (int distance = 1; distance < 64; distance *= 2) {
        up |= up_mask & (up << distance);
        up_mask &= up_mask << distance;
        down |= down_mask & (down >> distance);
        down_mask &= down_mask >> distance;
    }
    return up | down;
}

static void push(gc_edge_stack *stack, size_t word)
{
    if (stack->count == stack->room) {
        size_t *more = stack->grows ? gc_make_room(stack->words, stack->count, &stack->room,
                                                   sizeof *stack->words)
                                    : NULL;
        stack->failed = stack->failed || more == NULL;
        if (more == NULL)
            return;
        stack->words = more;
    }
    stack->words[stack->count++] = word;
}

/* Makes those of `pixels` edges that may be. */
static inline void offer(const gc_edge_bits *bits, size_t word, uint64_t pixels,
                         gc_edge_stack *stack)
{
    uint64_t strong = ordered(bits->strong[word]);
    uint64_t fresh = pixels & ordered(bits->weak[word]) & ~strong;
    if (fresh == 0)
        return;
    bits->strong[word] = ordered(strong | fresh);
    push(stack, word);
}

/* Offers the neighbours of the edges in a word. */
static void visit(const gc_edge_bits *bits, size_t word, int64_t top, int64_t bottom,
                  gc_edge_stack *stack)
{
    size_t row = word / bits->words, column = word % bits->words;
    uint64_t edges = fill(ordered(bits->strong[word]), ordered(bits->weak[word]));
    bits->strong[word] = ordered(edges);
    uint64_t beside = edges | edges << 1 | edges >> 1;
    bool before = column > 0 && edges >> 63 != 0;
    bool behind = column + 1 < bits->words && (edges & 1) != 0;
    for (int64_t y = (int64_t)row - 1; y <= (int64_t)row + 1; y++) {
        if (y < top || y >= bottom)
            continue;
        size_t at = (size_t)y * bits->words + column;
        if (at != word)
            offer(bits, at, beside, stack);
        if (before)
            offer(bits, at - 1, 1, stack);
        if (behind)
            offer(bits, at + 1, (uint64_t)1 << 63, stack);
    }
}

void gc_follow_edges(const gc_edge_bits *bits, int64_t first, int64_t end, int64_t top,
                     int64_t bottom, gc_edge_stack *stack)
{
    for (size_t word = (size_t)first * bits->words; word < (size_t)end * bits->words; word++) {
        if (bits->strong[word] == 0)
            continue;
        visit(bits, word, top, bottom, stack);
        while (stack->count > 0)
            visit(bits, stack->words[--stack->count], top, bottom, stack);
    }
}
