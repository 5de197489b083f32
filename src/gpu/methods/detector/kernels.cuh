/* The kernel that goes from samples to edges, or of Canny to lines that are followed within tiles.
 *
 * A block of threads takes a tile of 128 by 62 pixels. Samples come to shared memory with what lies
 * around the tile. The chain and the operator together are two sums of 7x7 samples, of whole
 * weights: the tensor cores compute both, of a pixel and of those beside the tile. Magnitudes are
 * kept in shared memory. Few of Canny's pass the low threshold: a warp notes where, adds their
 * sectors in the two highest bits, and then looks for peaks there alone.
 *
 * Sums are those of a unit, 8x8 pixels. Its rows of samples have 16 bytes each, four words:
 *     A   A row of pixels has two rows of A, for its left and its right four columns. A row of A
 *         has three words of 7 rows of samples: words 0 to 2, or 1 to 3. Lane l has those of rows
 *         l % 4 and 4 + l % 4 from the row of pixels on, in three products.
 *     B   Weights. A column of four has two columns of B, a sum each.
 * If a weight exceeds a byte, its digits to the base 256 are multiplied one after the other.
 *
 * There are three forms of the kernel:
 *     PLAIN    Canny of the norm L1, if weights have one digit and a magnitude has 30 bits
 *     NARROW   other methods under these conditions
 *     WIDE     everything, with magnitudes of 64 bits */
#pragma once

#include "gpu/methods/detector/lines.cuh"

enum gc_detect_form { GC_DETECT_PLAIN, GC_DETECT_NARROW, GC_DETECT_WIDE };
enum {
    GC_SUM_REACH = 3, /* rows and columns around a pixel */
    GC_SUM_SIDE = 2 * GC_SUM_REACH + 1,
    GC_UNIT_SIDE = 8,
    GC_SIZE_LINES = GC_TILE_ROWS + 2, /* of magnitudes: one more on all sides */
    GC_SIZE_PITCH = 132,
    GC_SIZE_FIRST =
        4, /* the place of column 0; column 128 lies in the first place of the next row */
    GC_SIZE_PLACES = GC_SIZE_LINES * GC_SIZE_PITCH + GC_SIZE_FIRST,
    GC_TILE_UNITS = GC_TILE_COLUMNS / GC_UNIT_SIDE + 1, /* in a row, from column -4 on */
    GC_TILE_MARGIN = 4,                                 /* rows of samples above and below */
    GC_TILE_BESIDE = 8,                                 /* columns on either side */
    GC_TILE_LINES = GC_TILE_ROWS + 2 * GC_TILE_MARGIN,
    GC_TILE_PITCH = GC_TILE_COLUMNS + 2 * GC_TILE_BESIDE,
    GC_WEIGHT_PAIRS = 3, /* b0 and b1 of B, of the products of a digit */
    GC_WEIGHT_WORDS = 2 * GC_WEIGHT_PAIRS * 32
};
static_assert(GC_SIZE_LINES * 4 == GC_DETECT_THREADS, "a warp has one of all rows of units");
static_assert(sizeof(gc_tile_lines) <= GC_TILE_LINES * GC_TILE_PITCH, "it follows the samples");
static_assert(sizeof(gc_lines_forest) <= 4 * GC_SIZE_PLACES, "so do nodes magnitudes");

template <bool WIDE> struct gc_detect_types {
    typedef unsigned size;
    typedef int product;
};
template <> struct gc_detect_types<true> {
    typedef unsigned long long size;
    typedef long long product;
};
template <int FORM> using gc_size = typename gc_detect_types<FORM == GC_DETECT_WIDE>::size;
template <int FORM> using gc_product = typename gc_detect_types<FORM == GC_DETECT_WIDE>::product;

/* The tile of a block, with what lies around it. */
struct gc_tile {
    int left, top; /* the column and the row of the image in its first place */
    bool inside;   /* all of it lies in the image */
};

static __device__ inline bool gc_tile_has(const gc_finding &f, int x, int y)
{
    return x >= 0 && x < f.width && y >= 0 && y < f.height;
}

/* ---- Samples --------------------------------------------------------------------------------- */

/* A sample of row y of the image, which is -1 beyond a constant border. */
static __device__ inline unsigned gc_detect_sample(const gc_finding &f, int x, int y)
{
    x = gc_pass_index(f.border, x, f.width);
    return x < 0 || y < 0 ? (unsigned)f.outside : f.samples[(y - f.first) * f.pitch + x];
}

/* Brings samples to shared memory, eight at a time, and one by one beside the image: four before a
 * row, and twelve from its last whole word on. */
static __device__ inline void gc_detect_load(const gc_finding &f, const gc_tile &tile,
                                             unsigned char *samples)
{
    enum { WORDS = GC_TILE_PITCH / 8, ROWS = GC_DETECT_THREADS / WORDS, BESIDE = 16 };
    static_assert(GC_TILE_LINES % ROWS == 0, "threads take full rows");
    const int first = (int)threadIdx.x / WORDS, column = (int)threadIdx.x % WORDS * 8;
    const unsigned outside = (unsigned)f.outside * 0x1010101;
    const bool at_side = tile.left < 0 || tile.left + GC_TILE_PITCH > f.width;
    int x = tile.left + column, y = tile.top + first;
    const unsigned char *from = f.samples + (y - f.first) * f.pitch + x;
    unsigned char *to = samples + first * GC_TILE_PITCH + column;
#pragma unroll
    for (int row = 0; row < GC_TILE_LINES && tile.inside && first < ROWS; row += ROWS)
        gc_pass_copy<8>(to + row * GC_TILE_PITCH, from + row * f.pitch);
    for (int row = 0; row < GC_TILE_LINES && !tile.inside && first < ROWS; row += ROWS) {
        y = gc_pass_index(f.border, tile.top + first + row, f.height);
        if (y < 0)
            *(uint2 *)(to + row * GC_TILE_PITCH) = make_uint2(outside, outside);
        else if (x >= 0 && x + 8 <= f.width)
            gc_pass_copy<8>(to + row * GC_TILE_PITCH, f.samples + (y - f.first) * f.pitch + x);
    }
    for (int i = (int)threadIdx.x; i < GC_TILE_LINES * BESIDE && at_side; i += GC_DETECT_THREADS) {
        x = i % BESIDE < 4 ? i % BESIDE - 4 : (f.width & ~7) + i % BESIDE - 4;
        y = gc_pass_index(f.border, tile.top + i / BESIDE, f.height);
        to = samples + i / BESIDE * GC_TILE_PITCH + x - tile.left;
        if (x >= tile.left && x < tile.left + GC_TILE_PITCH)
            *to = (unsigned char)gc_detect_sample(f, x, y);
    }
    gc_pass_arrive();
    __syncthreads();
}

/* ---- Magnitudes ------------------------------------------------------------------------------ */

/* The magnitude of two sums, or the first one as it is. */
template <int FORM>
static __device__ inline gc_size<FORM> gc_detect_size(const gc_finding &f, int across, int down)
{
    gc_product<FORM> a = abs(across), b = abs(down), sum = a + b;
    if (FORM != GC_DETECT_PLAIN && f.detector.asked.norm == GCONV_NORM_L2)
        sum = a * a + b * b;
    if (FORM != GC_DETECT_PLAIN && f.is_raw)
        sum = across;
    return (gc_size<FORM>)sum;
}

/* The sector, in the two highest bits. 0: the gradient lies across. 1: down. 2: both sums have one
 * sign. 3: they have not. */
template <int FORM>
static __device__ inline gc_size<FORM> gc_detect_sector(const gc_finding &f, int across, int down)
{
    const gc_detector &d = f.detector;
    gc_product<FORM> a = abs(across), b = (gc_product<FORM>)abs(down) * d.across;
    unsigned diagonal = 2 + ((unsigned)(across ^ down) >> 31);
    unsigned sector = b < a * d.tangent ? 0 : b > a * (d.tangent + 2 * d.across) ? 1 : diagonal;
    return (gc_size<FORM>)sector << (8 * sizeof(gc_size<FORM>) - 2);
}

/* The nearest multiple of 16 over 16, ties to even. */
static __device__ inline int gc_detect_sixteenth(int sum)
{
    return (sum + 7 + (sum >> 4 & 1)) >> 4;
}

/* A magnitude without its sector. */
template <int FORM> static __device__ inline gc_size<FORM> gc_detect_plain(gc_size<FORM> size)
{
    return size & (~(gc_size<FORM>)0 >> 2);
}

/* Keeps the magnitudes of two pixels of unit `unit`, of two sums each, four columns apart. Lane l
 * notes in `passing` which pixels of unit l pass the low threshold: a bit for each lane, of the
 * left and of the right ones. */
template <int FORM>
static __device__ inline void gc_detect_keep(const gc_finding &f, int (&sums)[4], gc_size<FORM> *to,
                                             int unit, unsigned (&passing)[2])
{
    const int lane = gc_pass_lane();
#pragma unroll
    for (int k = 0; k < 4 && FORM != GC_DETECT_PLAIN && f.detector.by_16; k++)
        sums[k] = gc_detect_sixteenth(sums[k]);
    gc_size<FORM> sizes[2] = {gc_detect_size<FORM>(f, sums[0], sums[1]),
                              gc_detect_size<FORM>(f, sums[2], sums[3])};
    const bool passes[2] = {sizes[0] > (gc_size<FORM>)f.low, sizes[1] > (gc_size<FORM>)f.low};
    if ((FORM == GC_DETECT_PLAIN || f.words != nullptr) &&
        __any_sync(~0u, passes[0] || passes[1])) { /* else nobody asks for sectors */
#pragma unroll
        for (int k = 0; k < 2; k++) {
            unsigned all = __ballot_sync(~0u, passes[k]);
            passing[k] = lane == unit ? all : passing[k];
            sizes[k] |= gc_detect_sector<FORM>(f, sums[2 * k], sums[2 * k + 1]);
        }
    }
    /* What lies further out than column -1 or 128 has the place of another magnitude. */
    if (unit > 0 || lane % 4 == 3)
        to[unit * GC_UNIT_SIDE] = sizes[0];
    if (unit < GC_TILE_UNITS - 1 || lane % 4 == 0)
        to[unit * GC_UNIT_SIDE + 4] = sizes[1];
}

/* ---- Sums ------------------------------------------------------------------------------------ */

/* sums += samples * weights: C, A, and b0 and b1 of B (pass/fragments.cuh, m16n8k32). */
static __device__ inline void gc_detect_multiply(int (&sums)[4], const unsigned (&samples)[4],
                                                 unsigned low, unsigned high)
{
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
        : "r"(samples[0]), "r"(samples[1]), "r"(samples[2]), "r"(samples[3]), "r"(low), "r"(high));
#elif defined __CUDA_ARCH__
    for (int k = 0; k < 4; k++)
        asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 {%0,%1}, {%2}, {%3}, {%0,%1};"
            : "+r"(sums[k % 2 * 2]), "+r"(sums[k % 2 * 2 + 1])
            : "r"(samples[k]), "r"(k < 2 ? low : high));
#else /* the lanes show each other what they have */
    const int lane = gc_pass_lane();
    for (int k = 0; k < 8; k++) {
        unsigned shown[2], weights[2];
        for (int i = 0; i < 2; i++) {
            shown[i] = __shfl_sync(~0u, samples[k / 4 * 2 + i], lane / 4 * 4 + k % 4);
            weights[i] = __shfl_sync(~0u, k < 4 ? low : high, lane % 4 * 8 + i * 4 + k % 4);
        }
        for (int n = 0; n < 16; n++)
            sums[n / 4] += (int)(shown[n / 8] >> n % 4 * 8 & 255) *
                           (signed char)(weights[n / 4 % 2] >> n % 4 * 8);
    }
#endif
}

/* Words of B, which detector.cu packs. */
static __device__ inline void gc_detect_weights(const gc_finding &f, int digit,
                                                unsigned (&weights)[2 * GC_WEIGHT_PAIRS])
{
#pragma unroll
    for (int k = 0; k < 2 * GC_WEIGHT_PAIRS; k++)
        weights[k] = __ldg(f.weights + digit * GC_WEIGHT_WORDS + 32 * k + gc_pass_lane());
}

/* Computes magnitudes, or sums, of the tile and one more on all sides: of two units at a time. */
template <int FORM>
static __device__ inline void gc_detect_sum(const gc_finding &f, const unsigned char *samples,
                                            gc_size<FORM> *sizes, unsigned (&passing)[2])
{
    const int lane = gc_pass_lane(), row = gc_pass_warp() * GC_UNIT_SIDE + lane / 4;
    const uint2 *upper = (const uint2 *)(samples + (row + lane % 4) * GC_TILE_PITCH);
    const uint2 *lower = (const uint2 *)(samples + (row + min(lane % 4 + 4, 6)) * GC_TILE_PITCH);
    unsigned weights[2 * GC_WEIGHT_PAIRS];
    gc_detect_weights(f, 0, weights);
#pragma unroll(FORM == GC_DETECT_PLAIN ? GC_TILE_UNITS : 1)
    for (int first = 0; first < GC_TILE_UNITS; first += 2) {
        int sums[2][4] = {};
#pragma unroll
        for (int unit = first; unit < first + 2 && unit < GC_TILE_UNITS; unit++) {
            const uint2 a = upper[unit], b = upper[unit + 1], c = lower[unit], d = lower[unit + 1];
            int(&own)[4] = sums[unit - first];
            for (int digit = FORM == GC_DETECT_WIDE ? f.digits - 1 : 0; digit >= 0; digit--) {
                if (FORM == GC_DETECT_WIDE)
                    gc_detect_weights(f, digit, weights);
#pragma unroll
                for (int k = 0; k < 4 && FORM == GC_DETECT_WIDE; k++)
                    own[k] = (int)((unsigned)own[k] << 8);
                gc_detect_multiply(own, {a.x, a.y, b.x, b.y}, weights[0], weights[1]);
                gc_detect_multiply(own, {c.x, c.y, d.x, d.y}, weights[2], weights[3]);
                gc_detect_multiply(own, {a.y, b.x, c.y, d.x}, weights[4], weights[5]);
            }
        }
#pragma unroll
        for (int unit = first; unit < first + 2 && unit < GC_TILE_UNITS; unit++)
            gc_detect_keep<FORM>(f, sums[unit - first], sizes + row * GC_SIZE_PITCH + lane % 4,
                                 unit, passing);
    }
    __syncthreads();
}

/* ---- At the border of the image -------------------------------------------------------------- */

/* The magnitude of a pixel in the image, some of whose sums depend on values beyond. */
template <int FORM>
static __device__ inline gc_size<FORM> gc_detect_mended(const gc_finding &f, const gc_tile &tile,
                                                        const unsigned char *samples, int x, int y)
{
    int sums[2] = {};
    for (int k = 0; k < 9; k++) {
        int column = gc_pass_index(f.border, x + k % 3 - 1, f.width), value = f.between;
        int row = gc_pass_index(f.border, y + k / 3 - 1, f.height);
        if (row >= 0 && column >= 0) {
            const unsigned char *at =
                samples + (row - tile.top - 2) * GC_TILE_PITCH + column - tile.left - 2;
            value = 0;
#pragma unroll
            for (int i = 0; i < 25; i++)
                value += f.blur[i] * at[i / 5 * GC_TILE_PITCH + i % 5];
        }
        sums[0] += f.second[0][k] * value;
        sums[1] += f.second[1][k] * value;
    }
    gc_size<FORM> size = gc_detect_size<FORM>(f, sums[0], sums[1]);
    return f.words == nullptr ? size : size | gc_detect_sector<FORM>(f, sums[0], sums[1]);
}

/* Sets what lies outside the image to 0, and computes its first and last rows and columns again. */
template <int FORM>
static __device__ inline void gc_detect_mend(const gc_finding &f, const gc_tile &tile,
                                             const unsigned char *samples, gc_size<FORM> *sizes)
{
    enum { COLUMNS = GC_TILE_COLUMNS + 2 };
    sizes += GC_SIZE_FIRST - 1;
    const int left = tile.left + GC_TILE_BESIDE - 1, top = tile.top + GC_TILE_MARGIN - 1;
    for (int row = gc_pass_warp(); row < GC_SIZE_LINES; row += GC_DETECT_THREADS / 32) {
        const bool has = top + row >= 0 && top + row < f.height;
        if (has && left < 0) /* column -1 */
            sizes[row * GC_SIZE_PITCH] = 0;
        for (int column = gc_pass_lane() + (has ? max(f.width - left, 0) : 0); column < COLUMNS;
             column += 32)
            sizes[row * GC_SIZE_PITCH + column] = 0;
    }
    for (int i = (int)threadIdx.x; i < 2 * (COLUMNS + GC_SIZE_LINES) && f.mends;
         i += GC_DETECT_THREADS) { /* rows, then columns without their ends */
        int n = i - 2 * COLUMNS;
        int x = n < 0 ? left + i % COLUMNS : n < GC_SIZE_LINES ? 0 : f.width - 1;
        int y = n >= 0 ? top + n % GC_SIZE_LINES : i < COLUMNS ? 0 : f.height - 1;
        bool again = n < 0 ? i >= COLUMNS && y == 0
                           : y == 0 || y == f.height - 1 || (n >= GC_SIZE_LINES && x == 0);
        unsigned column = (unsigned)(x - left), row = (unsigned)(y - top);
        if (!again && gc_tile_has(f, x, y) && column < COLUMNS && row < GC_SIZE_LINES)
            sizes[row * GC_SIZE_PITCH + column] = gc_detect_mended<FORM>(f, tile, samples, x, y);
    }
    __syncthreads();
}

/* ---- Flags ----------------------------------------------------------------------------------- */

/* As cpu/edges/reference.c has it, of values that lie `step` places apart. */
template <class number>
static __device__ inline bool gc_detect_crosses(const gc_detector &d, const number *values,
                                                int step)
{
    long long before = (long long)values[-step], own = (long long)values[0];
    long long after = (long long)values[step], least = own * before, last = own * after;
    if (own == 0)
        return before * after < 0 && llabs(before - after) > d.high;
    return (least < 0 && llabs(own - before) > d.low && llabs(own) < llabs(before)) ||
           (last < 0 && llabs(own - after) > d.low && llabs(own) <= llabs(after));
}

/* Sets `passing` of the tile as it is in shared memory: to edges, if the method is another. */
template <int FORM>
static __device__ inline void gc_detect_look(const gc_finding &f, const gc_size<FORM> *sizes,
                                             unsigned (&passing)[2])
{
    typedef gc_product<FORM> number;
    const int lane = gc_pass_lane(), row = gc_pass_warp() * GC_UNIT_SIDE + lane / 4;
    const gc_size<FORM> *at = sizes + row * GC_SIZE_PITCH + lane % 4;
    for (int unit = 0; unit < GC_TILE_UNITS; unit++)
#pragma unroll
        for (int k = 0; k < 2; k++, at += GC_UNIT_SIDE / 2) {
            bool passes = gc_detect_plain<FORM>(*at) > (gc_size<FORM>)f.low;
            if (FORM != GC_DETECT_PLAIN && f.is_raw)
                passes = row > 0 && row <= GC_TILE_ROWS &&
                         (gc_detect_crosses(f.detector, (const number *)at, 1) ||
                          gc_detect_crosses(f.detector, (const number *)at, GC_SIZE_PITCH));
            unsigned all = __ballot_sync(~0u, passes);
            passing[k] = lane == unit ? all : passing[k];
        }
}

/* Sets flags of 32 pixels of a unit, of which some pass, one for each lane: peaks, or edges of
 * another method, and those that are sure. */
template <int FORM>
static __device__ inline void gc_detect_judge(const gc_finding &f, bool passes,
                                              const gc_size<FORM> *at, unsigned *found,
                                              unsigned *sure)
{
    const unsigned steps =
        1 | GC_SIZE_PITCH << 8 | (GC_SIZE_PITCH + 1) << 16 | (unsigned)(GC_SIZE_PITCH - 1) << 24;
    const unsigned ties = f.detector.asked.like == GCONV_LIKE_OPENCV ? 0x00000101 : 0x01010101;
    const gc_size<FORM> own = gc_detect_plain<FORM>(*at);
    const unsigned sector = (unsigned)(*at >> (8 * sizeof own - 2)) | 0x4440;
    const int step = passes ? (int)__byte_perm(steps, 0, sector) : 0;
    if (FORM == GC_DETECT_PLAIN || f.words != nullptr) {
        passes &= own > gc_detect_plain<FORM>(at[-step]);
        passes &= own + __byte_perm(ties, 0, sector) > gc_detect_plain<FORM>(at[step]);
    }
    *found = __ballot_sync(~0u, passes);
    *sure = __ballot_sync(~0u, passes && own > (gc_size<FORM>)f.high);
}

/* Sets flags of the thread's word. A byte of `flags` has a row of a unit. */
template <int FORM>
static __device__ inline void gc_detect_mark(const gc_finding &f, const gc_size<FORM> *sizes,
                                             unsigned (&passing)[2], unsigned *flags,
                                             unsigned *edges, unsigned *sure)
{
    const int lane = gc_pass_lane(), warp = gc_pass_warp(), shift = lane % GC_UNIT_SIDE * 4;
    const gc_size<FORM> *at = sizes + (warp * GC_UNIT_SIDE + lane / 4) * GC_SIZE_PITCH + lane % 4;
    /* Pixels outside the tile are none of it. */
    const unsigned rows = warp == 0 ? ~0xfu : warp == GC_DETECT_THREADS / 32 - 1 ? ~0u >> 4 : ~0u;
    passing[0] &= lane == 0 ? 0 : rows;
    passing[1] &= lane == GC_TILE_UNITS - 1 ? 0 : rows;
    unsigned units = __ballot_sync(~0u, (passing[0] | passing[1]) != 0);
    *edges = *sure = 0;
    if (units == 0)
        return;
    flags += warp * GC_FLAG_ROWS * GC_FLAG_WORDS;
    for (int i = lane; i < GC_FLAG_ROWS * GC_FLAG_WORDS; i += 32)
        flags[i] = 0;
    __syncwarp();
    for (; units != 0; units &= units - 1) {
        const int unit = __ffs((int)units) - 1;
        unsigned found[2], strong[2];
#pragma unroll
        for (int k = 0; k < 2; k++)
            gc_detect_judge<FORM>(f, (__shfl_sync(~0u, passing[k], unit) >> lane & 1) != 0,
                                  at + unit * GC_UNIT_SIDE + 4 * k, &found[k], &strong[k]);
        unsigned left = lane < GC_UNIT_SIDE ? found[0] : strong[0];
        unsigned right = lane < GC_UNIT_SIDE ? found[1] : strong[1];
        if (lane < GC_FLAG_ROWS)
            ((unsigned char *)(flags + lane * GC_FLAG_WORDS))[unit] =
                (unsigned char)((left >> shift & 15) | (right >> shift & 15) << 4);
    }
    __syncwarp();
    flags += lane / 4 * GC_FLAG_WORDS + lane % 4;
    *edges = flags[0] >> 4 | flags[1] << 28;
    flags += GC_UNIT_SIDE * GC_FLAG_WORDS;
    *sure = flags[0] >> 4 | flags[1] << 28;
}

/* ---- The kernel ------------------------------------------------------------------------------ */

/* Stores the values of the chain. */
template <int FORM>
static __device__ inline void gc_detect_store_values(const gc_finding &f, const gc_tile &tile,
                                                     const gc_size<FORM> *sizes)
{
    typedef gc_product<FORM> number;
    for (int i = (int)threadIdx.x; i < GC_TILE_ROWS * GC_TILE_COLUMNS; i += GC_DETECT_THREADS) {
        int row = i / GC_TILE_COLUMNS, column = i % GC_TILE_COLUMNS;
        int x = tile.left + GC_TILE_BESIDE + column, y = tile.top + GC_TILE_MARGIN + row;
        if (gc_tile_has(f, x, y))
            ((float *)f.output)[y * f.output_pitch + x] =
                (float)(number)sizes[(row + 1) * GC_SIZE_PITCH + column + GC_SIZE_FIRST];
    }
}

template <int FORM> static constexpr int gc_detect_shared_bytes()
{
    return GC_TILE_LINES * GC_TILE_PITCH + GC_SIZE_PLACES * (int)sizeof(gc_size<FORM>);
}

template <int FORM>
static __global__ void __launch_bounds__(GC_DETECT_THREADS, FORM == GC_DETECT_WIDE ? 2 : 5)
    gc_detect_edges(const __grid_constant__ gc_finding f)
{
    extern __shared__ float4 gc_block_memory[];
    unsigned char *samples = (unsigned char *)gc_block_memory;
    gc_size<FORM> *sizes = (gc_size<FORM> *)(samples + GC_TILE_LINES * GC_TILE_PITCH);
    const int2 place = gc_pass_tile((int)f.row_words / GC_TILE_WORDS, f.tile_rows);
    const int column = place.x * GC_TILE_WORDS, row = place.y * GC_TILE_ROWS;
    gc_tile tile = {column * 32 - GC_TILE_BESIDE, row - GC_TILE_MARGIN, false};
    tile.inside = gc_tile_has(f, tile.left, tile.top) &&
                  gc_tile_has(f, tile.left + GC_TILE_PITCH - 1, tile.top + GC_TILE_LINES - 1);
    if (f.words != nullptr && blockIdx.x == 0 && threadIdx.x == 0)
        f.parents[0] = 0;
    unsigned passing[2] = {};
    gc_detect_load(f, tile, samples);
    gc_detect_sum<FORM>(f, samples, sizes, passing);
    if (!tile.inside)
        gc_detect_mend<FORM>(f, tile, samples, sizes);
    if (FORM != GC_DETECT_PLAIN && f.output_type == GC_FLOAT)
        return gc_detect_store_values<FORM>(f, tile, sizes);
    gc_tile_lines *lines = (gc_tile_lines *)samples;
    unsigned edges, sure;
    if (!tile.inside || (FORM != GC_DETECT_PLAIN && f.words == nullptr))
        gc_detect_look<FORM>(f, sizes, passing);
    gc_detect_mark<FORM>(f, sizes, passing, lines->flags, &edges, &sure);
    if (FORM == GC_DETECT_PLAIN || f.words != nullptr)
        return gc_lines_follow(f, row, column, edges, sure, lines, (gc_lines_forest *)sizes);
    if (gc_lines_row(f, row) >= 0)
        gc_lines_store(f, gc_lines_row(f, row), column + (int)threadIdx.x % GC_TILE_WORDS, edges);
}
