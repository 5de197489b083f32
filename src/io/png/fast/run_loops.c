/* Loops over the tokens of runs (io/png/fast/runs.h), compiled once for every instruction set. */
#include "io/png/fast/pack_loops.h"

/* ---- Equal bytes ----------------------------------------------------------------------------- */

/* 64 bits, the first one lowest: whether a byte equals the next one. */
#if defined __AVX512VBMI2__
static inline uint64_t find_equal(const uint8_t *bytes)
{
    return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(bytes), _mm512_loadu_si512(bytes + 1));
}
#elif defined __AVX2__
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
#ifdef __AVX512VBMI2__
enum { PIECE = 4096, AHEAD = 16 };
#else
enum { PIECE = 4096, AHEAD = 4 };
#endif

/* The bounds of runs, in turns: the place of the second byte and that of the last one. */
typedef struct run_bounds {
    uint32_t at[1 + PIECE / 2 + AHEAD];
    size_t count;
    uint64_t equal;  /* the last 64 bits: whether a byte equals the next one */
    uint64_t within; /* whether it is in a run, but neither its first byte nor its last one */
} run_bounds;

/* Writes `base` plus the places of the first AHEAD bits of `bits` that are 1, and returns `bits`
 * without them. */
#ifdef __AVX512VBMI2__
static inline uint64_t take_places(uint64_t bits, uint32_t base, uint32_t to[AHEAD])
{
    _Alignas(64) static const uint8_t all[64] = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
        44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
    __m512i places = _mm512_maskz_compress_epi8(bits, _mm512_load_si512(all));
    places = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(places));
    _mm512_storeu_si512(to, _mm512_add_epi32(places, _mm512_set1_epi32((int)base)));
    return bits & ~_pdep_u64((1 << AHEAD) - 1, bits);
}
#else
static inline uint64_t take_places(uint64_t bits, uint32_t base, uint32_t to[AHEAD])
{
    const uint64_t top = UINT64_C(1) << 63; /* there is always one */
    for (int i = 0; i < AHEAD; i++) {
        to[i] = base + (uint32_t)__builtin_ctzll(bits | top);
        bits &= bits - 1;
    }
    return bits;
}
#endif

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

static void put_few(gc_bits *to, const uint16_t *tokens, size_t count,
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

#ifdef __AVX512VBMI__
/* One byte of each code: of bytes, and of runs by the lower byte of their tokens. */
typedef struct code_plane {
    uint8_t bytes[256], runs[256];
} code_plane;

/* Three bytes of bits, and the number of bits. */
enum { LENGTHS = 3, PLANES = 4 };

static void fill_planes(const uint32_t codes[GC_TOKENS], code_plane planes[PLANES])
{
    for (int k = 0; k < PLANES; k++) {
        const int shift = k == LENGTHS ? 0 : GC_TOKEN_SHIFT + 8 * k;
        const uint32_t mask = k == LENGTHS ? GC_TOKEN_LENGTH : 0xff;
        for (int byte = 0; byte < GC_RUN; byte++)
            planes[k].bytes[byte] = (uint8_t)(codes[byte] >> shift & mask);
        for (int token = GC_RUN + GC_RUN_MIN; token < GC_TOKENS; token++)
            planes[k].runs[token % GC_RUN] = (uint8_t)(codes[token] >> shift & mask);
    }
}

/* upper: which indexes are from 128 on. */
static inline __m512i look_up(const uint8_t table[256], __m512i indexes, __mmask64 upper)
{
    const __m512i *from = (const __m512i *)table;
    return _mm512_mask_blend_epi8(
        upper,
        _mm512_permutex2var_epi8(_mm512_loadu_si512(from), indexes, _mm512_loadu_si512(from + 1)),
        _mm512_permutex2var_epi8(_mm512_loadu_si512(from + 2), indexes,
                                 _mm512_loadu_si512(from + 3)));
}

/* Looks up the parts of the codes of 64 tokens. */
static inline void look_up_planes(const uint16_t *tokens, const code_plane planes[PLANES],
                                  __m512i parts[PLANES])
{
    const __m512i first_run = _mm512_set1_epi16(GC_RUN);
    __m512i a = _mm512_loadu_si512(tokens), b = _mm512_loadu_si512(tokens + 32);
    __mmask64 runs = (uint64_t)_mm512_cmpge_epu16_mask(b, first_run) << 32 |
                     _mm512_cmpge_epu16_mask(a, first_run);
    __m512i indexes = _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi16_epi8(a)),
                                         _mm512_cvtepi16_epi8(b), 1);
    __mmask64 upper = _mm512_movepi8_mask(indexes);
    for (int k = 0; k < PLANES; k++)
        parts[k] = _mm512_mask_blend_epi8(runs, look_up(planes[k].bytes, indexes, upper),
                                          look_up(planes[k].runs, indexes, upper));
}

/* Joins neighbours. Each is up to 24 bits, the first one lowest, and above them how many they
 * are. */
static inline __m512i join_two(__m512i v)
{
    const __m512i bits = _mm512_set1_epi64(0xffffff), count = _mm512_set1_epi64(0xff);
    __m512i second = _mm512_and_si512(_mm512_srli_epi64(v, 32), bits);
    __m512i shift = _mm512_and_si512(_mm512_srli_epi64(v, 24), count);
    return _mm512_or_si512(_mm512_and_si512(v, bits), _mm512_sllv_epi64(second, shift));
}

/* Joins fours of tokens: lower and upper bytes of their parts, in pairs; how many bits the first
 * two of the four have. */
static inline __m512i join_four(__m512i low, __m512i high, __m512i shift)
{
    __m512i a = join_two(_mm512_unpacklo_epi16(low, high));
    __m512i b = join_two(_mm512_unpackhi_epi16(low, high));
    return _mm512_or_si512(_mm512_unpacklo_epi64(a, b),
                           _mm512_sllv_epi64(_mm512_unpackhi_epi64(a, b), shift));
}

/* The joined codes of 64 tokens. Of the 16 tokens of each 128 bits of a vector, the first eight are
 * in bits[0], the others in bits[1]. */
typedef struct joined_tokens {
    _Alignas(64) uint64_t bits[2][8];
    _Alignas(64) uint32_t counts[16];
} joined_tokens;

/* False if four codes have too many bits. */
static inline bool join_tokens(const uint16_t *tokens, const code_plane planes[PLANES],
                               joined_tokens *joined)
{
    const __m512i zero = _mm512_setzero_si512();
    __m512i v[PLANES];
    look_up_planes(tokens, planes, v);
    __m512i twos = _mm512_maddubs_epi16(v[LENGTHS], _mm512_set1_epi8(1));
    __m512i fours = _mm512_madd_epi16(twos, _mm512_set1_epi16(1));
    __m512i shifts = _mm512_and_si512(twos, _mm512_set1_epi32(0xffff));
    if (_mm512_cmpgt_epi32_mask(fours, _mm512_set1_epi32(PUT_MAX)) != 0)
        return false;
    _mm512_store_si512(joined->counts, fours);
    _mm512_store_si512(joined->bits[0], join_four(_mm512_unpacklo_epi8(v[0], v[1]),
                                                  _mm512_unpacklo_epi8(v[2], v[LENGTHS]),
                                                  _mm512_unpacklo_epi32(shifts, zero)));
    _mm512_store_si512(joined->bits[1], join_four(_mm512_unpackhi_epi8(v[0], v[1]),
                                                  _mm512_unpackhi_epi8(v[2], v[LENGTHS]),
                                                  _mm512_unpackhi_epi32(shifts, zero)));
    return true;
}

void GC_PACK(put_tokens)(gc_bits *to, const uint16_t *tokens, size_t count,
                         const uint32_t codes[GC_TOKENS])
{
    code_plane planes[PLANES];
    fill_planes(codes, planes);
    gc_bits local = *to;
    size_t i = 0;
    for (; i + 64 <= count; i += 64) {
        joined_tokens joined;
        if (join_tokens(tokens + i, planes, &joined))
            for (int k = 0; k < 16; k++)
                gc_put(&local, joined.bits[k / 2 % 2][k / 4 * 2 + k % 2], (int)joined.counts[k]);
        else
            for (size_t k = i; k < i + 64; k += 4)
                put_four(&local, tokens + k, codes);
    }
    put_few(&local, tokens + i, count - i, codes);
    *to = local;
}
#else
void GC_PACK(put_tokens)(gc_bits *to, const uint16_t *tokens, size_t count,
                         const uint32_t codes[GC_TOKENS])
{
    put_few(to, tokens, count, codes);
}
#endif
