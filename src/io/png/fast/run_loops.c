/* Loops over the tokens of runs (io/png/fast/block.c), compiled once for every instruction set. */
#include "io/png/fast/pack_loops.h"

/* ---- Equal bytes ----------------------------------------------------------------------------- */

/* 64 bits, the first one lowest: whether a byte equals the next one. */
#if defined __AVX2__
static inline uint64_t equal_half(const uint8_t *bytes)
{
    __m256i these = _mm256_loadu_si256((const __m256i *)bytes);
    __m256i next = _mm256_loadu_si256((const __m256i *)(bytes + 1));
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(these, next));
}

static inline uint64_t find_equal(const uint8_t *bytes)
{
    return equal_half(bytes) | equal_half(bytes + 32) << 32;
}
#elif defined GC_HAS_VECTORS
/* Bytes get bits of their own: sums of neighbours gather the bits of eight. */
static inline uint64_t find_equal(const uint8_t *bytes)
{
    const uint8x16_t own = VEC_BYTES64(vdupq_n_u64(UINT64_C(0x8040201008040201)));
    uint8x16_t equal[4];
    for (int k = 0; k < 4; k++)
        equal[k] = vandq_u8(vceqq_u8(vld1q_u8(bytes + 16 * k), vld1q_u8(bytes + 16 * k + 1)), own);
    uint8x16_t sums = vpaddq_u8(vpaddq_u8(equal[0], equal[1]), vpaddq_u8(equal[2], equal[3]));
    return vgetq_lane_u64(VEC_WORDS64(vpaddq_u8(sums, sums)), 0);
}
#else
/* One bit for each of 8 bytes, the first one lowest: whether the byte is 0. */
static inline uint64_t zero_bytes(uint64_t different)
{
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f), gather = UINT64_C(0x0102040810204080);
    uint64_t nonzero = ((different & low) + low) | different; /* in the highest bit of each byte */
    return ((~nonzero & ~low) >> 7) * gather >> 56;
}

static inline uint64_t find_equal(const uint8_t *bytes)
{
    uint64_t different[8], any = 0, equal = 0;
    for (int i = 0; i < 8; i++) {
        const uint8_t *at = bytes + 8 * i;
        different[i] = gc_load_little_endian(at) ^ gc_load_little_endian(at + 1);
        any |= different[i];
    }
    if (any == 0)
        return ~UINT64_C(0);
    for (int i = 0; i < 8; i++)
        equal |= zero_bytes(different[i]) << 8 * i;
    return equal;
}
#endif

/* ---- Tokens ---------------------------------------------------------------------------------- */

/* Runs are looked for in PIECE bytes at a time. AHEAD bounds are written at once, the last ones
 * past the end of a list. */
enum { PIECE = 4096, AHEAD = 4 };

/* The bounds of runs, in turns: the place of the second byte and that of the last one. */
typedef struct run_bounds {
    uint32_t at[1 + PIECE / 2 + AHEAD];
    size_t count;
    uint64_t equal;  /* the last 64 bits: whether a byte equals the next one */
    uint64_t within; /* whether it is in a run, but neither its first byte nor its last one */
} run_bounds;

/* Writes `base` plus the places of the first AHEAD bits of `bits` that are 1, and returns `bits`
 * without them. */
static inline uint64_t take_places(uint64_t bits, uint32_t base, uint32_t to[AHEAD])
{
    const uint64_t top = UINT64_C(1) << 63; /* there is always one */
    for (int i = 0; i < AHEAD; i++) {
        to[i] = base + (uint32_t)__builtin_ctzll(bits | top);
        bits &= bits - 1;
    }
    return bits;
}

/* Appends base plus the place of each bit that is 1. Few branches depend on the image. */
static inline void add_bounds(run_bounds *bounds, size_t base, uint64_t bits)
{
    uint32_t *to = bounds->at + bounds->count;
    bounds->count += (size_t)__builtin_popcountll(bits);
    do {
        bits = take_places(bits, (uint32_t)base, to);
        to += AHEAD;
    } while (bits != 0);
}

/* Appends the bounds in a piece, which begins at `from`, of `count` bytes. */
static void find_bounds(const uint8_t *bytes, size_t from, size_t count, run_bounds *bounds)
{
    size_t end = count - from < PIECE ? count : from + PIECE;
    for (size_t at = from; at < end; at += 64) {
        uint64_t equal = find_equal(bytes + at);
        if (count - at <= 64) /* the last byte has no next one */
            equal &= (UINT64_C(1) << (count - at - 1)) - 1;
        uint64_t within =
            equal & (equal << 1 | bounds->equal >> 63) & (equal << 2 | bounds->equal >> 62);
        add_bounds(bounds, at, within ^ (within << 1 | bounds->within >> 63));
        bounds->equal = equal;
        bounds->within = within;
    }
}

/* Appends the tokens of `added` bytes to `count` tokens. Copies COPIED at a time. */
static inline size_t add_bytes(uint16_t *restrict tokens, size_t count,
                               const uint8_t *restrict bytes, size_t added)
{
    enum { COPIED = GC_TOKENS_SLACK };
    uint16_t *to = tokens + count;
    size_t i = 0;
    do {
        for (size_t k = 0; k < COPIED; k++)
            to[i + k] = bytes[i + k];
        i += COPIED;
    } while (i < added);
    return count + added;
}

/* Appends the tokens of a run of any length: what the longest ones leave may be too short for
 * one. */
static size_t add_long_run(uint16_t *tokens, size_t count, const uint8_t *bytes, size_t run)
{
    for (size_t part; run >= GC_RUN_MIN; run -= part) {
        part = run < GC_RUN_MAX ? run : GC_RUN_MAX;
        tokens[count++] = (uint16_t)(GC_RUN + part);
    }
    return add_bytes(tokens, count, bytes, run);
}

size_t GC_PACK(find_tokens)(const uint8_t *bytes, size_t count, uint16_t *tokens)
{
    run_bounds bounds;
    size_t found = 0, done = 0;
    bounds.count = 0;
    bounds.equal = bounds.within = 0;
    for (size_t from = 0; from < count; from += PIECE) {
        size_t i = 0;
        find_bounds(bytes, from, count, &bounds);
        for (; i + 1 < bounds.count; i += 2) {
            size_t first = bounds.at[i] - 1, end = bounds.at[i + 1] + 1, run = end - first;
            found = add_bytes(tokens, found, bytes + done, first - done);
            if (run <= GC_RUN_MAX)
                tokens[found++] = (uint16_t)(GC_RUN + run);
            else
                found = add_long_run(tokens, found, bytes + first, run);
            done = end;
        }
        bounds.at[0] = bounds.at[i]; /* of a run that goes on */
        bounds.count -= i;
    }
    return add_bytes(tokens, found, bytes + done, count - done);
}

/* Four counters each: the processor does not wait for one counter if a token follows itself. */
void GC_PACK(count_tokens)(const uint16_t *tokens, size_t count, uint32_t counts[GC_TOKENS])
{
    uint32_t parts[4][GC_TOKENS] = {{0}};
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        uint64_t four;
        memcpy(&four, tokens + i, sizeof four);
        for (int k = 0; k < 4; k++)
            parts[k][four >> 16 * k & 0xffff]++;
    }
    for (; i < count; i++)
        parts[0][tokens[i]]++;
    for (int token = 0; token < GC_TOKENS; token++)
        counts[token] = parts[0][token] + parts[1][token] + parts[2][token] + parts[3][token];
}

/* ---- Codes ----------------------------------------------------------------------------------- */

enum { PUT_MAX = 56 }; /* bits that go at once (gc_put) */

/* Four codes nearly always fit the bits that go at once, two always. */
static inline void put_four(gc_bits *to, const uint16_t tokens[4], const uint32_t codes[GC_TOKENS])
{
    const uint32_t a = codes[tokens[0]], b = codes[tokens[1]];
    const uint32_t c = codes[tokens[2]], d = codes[tokens[3]];
    const unsigned ab = (a + b) & GC_TOKEN_LENGTH, cd = (c + d) & GC_TOKEN_LENGTH;
    const uint64_t second = b >> GC_TOKEN_SHIFT, last = d >> GC_TOKEN_SHIFT;
    uint64_t first_two = a >> GC_TOKEN_SHIFT | second << (a & GC_TOKEN_LENGTH);
    uint64_t last_two = c >> GC_TOKEN_SHIFT | last << (c & GC_TOKEN_LENGTH);
    if (ab + cd <= PUT_MAX) {
        gc_put(to, first_two | last_two << ab, (int)(ab + cd));
    } else {
        gc_put(to, first_two, (int)ab);
        gc_put(to, last_two, (int)cd);
    }
}

void GC_PACK(put_tokens)(gc_bits *to, const uint16_t *tokens, size_t count,
                         const uint32_t codes[GC_TOKENS])
{
    gc_bits local = *to;
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        put_four(&local, tokens + i, codes);
    for (; i < count; i++)
        gc_put(&local, codes[tokens[i]] >> GC_TOKEN_SHIFT,
               (int)(codes[tokens[i]] & GC_TOKEN_LENGTH));
    *to = local;
}
