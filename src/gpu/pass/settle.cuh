/* Rounding once (core/rounding.h): bytes that sums in float leave in doubt come from exact sums. */
#pragma once

#include "gpu/pass/finish.cuh"
#include "gpu/pass/once.cuh"

static __device__ constexpr bool gc_finish_is_once(int kind)
{
    return kind >= GC_FINISH_ONCE;
}

/* A value as the bits of a float that tell its output, and the distance to another output
 * (finish.c): for GC_FINISH_SIDE the response less the threshold; for bytes 256 plus the sample,
 * with the distance in the 15 bits behind the point. */
static __device__ inline unsigned gc_finish_fix(const gc_finish &f, int kind, float value)
{
    float magnitude = fabsf(value);
    if (kind == GC_FINISH_SIDE)
        return __float_as_uint((f.side == 0  ? magnitude
                                : f.side > 0 ? value
                                             : -value) -
                               f.threshold);
    if (kind == GC_FINISH_ONCE_INSIDE)
        return __float_as_uint(fmaf(value, f.fixed_gain, f.fixed_base));
    value = kind == GC_FINISH_ONCE_ABSOLUTE ? magnitude : value;
    return __float_as_uint(
        fmaf(__saturatef(fmaf(value, f.gain, f.base)), 255.5f, 256.25f)); /* of the share */
}

/* Four of these as bytes of a word, or as bits, the lowest of its bytes. */
static __device__ inline unsigned gc_finish_fixed(const gc_finish &f, int kind,
                                                  const unsigned (&fixed)[4])
{
    unsigned edges[4];
    if (kind != GC_FINISH_SIDE)
        return __byte_perm(__byte_perm(fixed[0], fixed[1], 0x6521) << 1,
                           __byte_perm(fixed[2], fixed[3], 0x6521) << 1, 0x7531);
#pragma unroll
    for (int k = 0; k < 4; k++)
        edges[k] =
            ((unsigned)(__uint_as_float(fixed[k]) > 0) ^ (unsigned)f.invert) * (unsigned)f.largest;
    return gc_finish_pack(edges);
}

/* The least distance at which an output is sure. */
static __device__ inline unsigned gc_finish_sure_from(const gc_finish &f, int kind)
{
    return kind == GC_FINISH_ONCE_INSIDE ? f.fixed_doubtful : f.doubtful;
}

static __device__ inline bool gc_finish_doubts(const gc_finish &f, int kind, unsigned fixed)
{
    return (fixed & (kind == GC_FINISH_SIDE ? 0x7fffffff : 0x7fff)) < gc_finish_sure_from(f, kind);
}

/* Whether any of these outputs is doubtful. */
template <int rows>
static __device__ inline bool gc_finish_doubts_any(const gc_finish &f, int kind,
                                                   const unsigned (&fixed)[rows][4])
{
    bool any = false;
#if __CUDA_ARCH__ >= 900
    if (kind != GC_FINISH_SIDE) { /* twice the distances, two at a time, as halves of words */
        unsigned least = ~0u;
#pragma unroll
        for (int k = 0; k < 4 * rows; k += 2) {
            unsigned two = __byte_perm(fixed[k / 4][k % 4], fixed[k / 4][k % 4 + 1], 0x5410);
            asm("{\n.reg .b32 twice;\nadd.u16x2 twice, %1, %1;\nmin.u16x2 %0, %0, twice;\n}"
                : "+r"(least)
                : "r"(two));
        }
        return min(least & 0xffff, least >> 16) < 2 * gc_finish_sure_from(f, kind);
    }
#endif
#pragma unroll
    for (int k = 0; k < 4 * rows; k++)
        any |= gc_finish_doubts(f, kind, fixed[k / 4][k % 4]);
    return any;
}

/* What the byte in column x of row `y` of the image counts, anywhere. Under wrap there are rows
 * beyond the image. */
static __device__ inline long long gc_exact_byte(const gc_pass &pass, int x, int y, int channel)
{
    x = gc_pass_index(pass.border, x, pass.width);
    y = pass.border == GC_PASS_WRAP ? y : gc_pass_index(pass.border, y, pass.height);
    if (pass.border == GC_PASS_CONSTANT && (x < 0 || y < 0))
        return pass.exact.constant[channel];
    long long at = (y - pass.image_first) * pass.image_pitch + (long long)x * pass.exact.channels;
    return (long long)((const unsigned char *)pass.image)[at + channel] << pass.exact.shift;
}

/* Products `first`, `first` + `step` and so on of the exact sum of column x and row `y`. */
static __device__ inline long long gc_exact_part(const gc_pass &pass, int x, int y, int channel,
                                                 int first, int step)
{
    long long sum = 0;
#pragma unroll 1
    for (int n = first; n < pass.exact.count; n += step) {
        int j = n / pass.exact.width, i = n - j * pass.exact.width;
        sum += pass.exact.terms[n] *
               gc_exact_byte(pass, x - pass.exact.left + i, y - pass.exact.top + j, channel);
    }
    return sum;
}

/* The lane's share of the sum, if its samples lie in the image from address `from` on. */
template <class config>
static __device__ inline long long gc_exact_share(const gc_exact &e, const unsigned char *from)
{
    constexpr int known = config::width * config::height; /* or 0 */
    constexpr int together = known == 0 ? 2 : known > 96 ? 4 : (known + 31) / 32;
    const int width = known > 0 ? config::width : e.width, count = known > 0 ? known : e.count;
    long long sum = 0;
#pragma unroll 1
    for (int n = gc_pass_lane(); n < count; n += together * 32) {
        long long terms[together];
        unsigned samples[together];
#pragma unroll
        for (int k = 0; k < together; k++) {
            int m = n + k * 32;
            int j = known > 0 ? m / width : (int)__umulhi(2 * (unsigned)m, e.width_inverse);
            terms[k] = m < count ? __ldg(e.terms + m) : 0;
            samples[k] =
                m < count ? from[(unsigned)(j * e.pitch + (m - j * width) * e.channels)] : 0;
        }
#pragma unroll
        for (int k = 0; k < together; k++)
            sum += terms[k] * samples[k];
    }
    return sum << e.shift;
}

/* The sum of the numbers of all lanes, whose magnitudes add up to less than 2^53. No condition of a
 * warp may decide whether it is computed: where one does, ptxas of CUDA 12.9 to 13.1 may give the
 * reductions a wrong guard. */
static __device__ inline long long gc_exact_total(long long part)
{
#if __CUDA_ARCH__ >= 800 /* 26 bits of 32 lanes, and the rest */
    long long high = __reduce_add_sync(~0u, (int)(part >> 26));
    return (high << 26) + __reduce_add_sync(~0u, (unsigned)part & 0x3ffffff);
#else
#pragma unroll
    for (int other = 16; other > 0; other /= 2)
        part += __shfl_xor_sync(~0u, part, other);
    return part;
#endif
}

/* Whether all samples that the outputs of a warp depend on, the border included, are equal. The
 * outputs are `rows` rows from column x and row `y` on. */
static __device__ inline bool gc_exact_is_flat(const gc_pass &pass, int x, int y, int channel,
                                               int rows)
{
    const gc_exact &e = pass.exact;
    long long one = gc_exact_byte(pass, x, y, channel);
    x -= e.left;
    y -= e.top;
    bool inside =
             x >= 0 && y >= 0 && x + GC_BLOCK_COLUMNS <= (int)e.columns && y + rows <= (int)e.lines,
         same = true;
    const unsigned char *from = (const unsigned char *)pass.image +
                                (y - pass.image_first) * pass.image_pitch +
                                (long long)x * e.channels + channel;
    for (int i = gc_pass_lane(); i < GC_BLOCK_COLUMNS + e.width - 1; i += 32) {
#pragma unroll 8
        for (int j = 0; j < rows + e.height - 1 && inside; j++)
            same &= (long long)__ldg(from + j * e.pitch + i * e.channels) << e.shift == one;
#pragma unroll 1
        for (int j = 0; j < rows + e.height - 1 && !inside; j++)
            same &= gc_exact_byte(pass, x + i, y + j, channel) == one;
    }
    return __all_sync(~0u, same);
}

/* The outputs of a thread that may be doubtful: bit 8 k + 7 - r is output k of row r. For bytes a
 * distance below 256 counts, which covers every doubtful output (finish.c). The permutation is
 * volatile, so that the compiler computes it only here, where it is seldom needed. */
template <int rows>
static __device__ inline unsigned gc_settle_mask(const gc_finish &f, int kind,
                                                 const unsigned (&fixed)[rows][4])
{
    unsigned mask = 0;
#pragma unroll
    for (int r = 0; r < rows; r++) {
        unsigned far = 0; /* bit 7 of a byte: the output is sure */
        if (kind != GC_FINISH_SIDE) {
            unsigned left = __byte_perm(fixed[r][0], fixed[r][1], 0x6521);
            unsigned right = __byte_perm(fixed[r][2], fixed[r][3], 0x6521);
#ifdef __CUDA_ARCH__
            asm volatile("prmt.b32 %0, %1, %2, 0x6420;" : "=r"(far) : "r"(left), "r"(right));
#else
            far = __byte_perm(left, right, 0x6420);
#endif
            far = (far & 0x7f7f7f7f) + 0x7f7f7f7f;
        } else {
#pragma unroll
            for (int k = 0; k < 4; k++)
                far |= gc_finish_doubts(f, kind, fixed[r][k]) ? 0 : 128u << 8 * k;
        }
        mask |= (~far & 0x80808080) >> r;
    }
    return mask;
}

/* Computes the outputs of `mask` again in `words`, from column x and row `y` on. If at most 8 lanes
 * of a warp have such outputs, all lanes make one sum together; else each lane makes its own,
 * unless one sum serves all outputs. Stores the words as bytes if the lane `stores`. All lanes of a
 * warp call this. It is not inlined, because its callers are short of registers. */
static __device__ __noinline__ void gc_settle_any(const gc_pass &pass, int kind, int x, int y,
                                                  int channel, unsigned mask, unsigned *words,
                                                  int rows, bool stores)
{
    int lane = gc_pass_lane(), end = pass.output_first + pass.rows;
    bool many = __popc(__ballot_sync(~0u, mask != 0)) > 8;
    bool flat =
        many && gc_exact_is_flat(pass, __shfl_sync(~0u, x, 0), y, channel, min(rows, end - y));
    while (unsigned waiting = __ballot_sync(~0u, mask != 0)) {
        bool alone = many && !flat;
        int owner = alone ? lane : __ffs((int)waiting) - 1, bit = (__ffs((int)mask) - 1) & 31;
        int k = bit / 8, r = min(7 - bit % 8, rows - 1);
        int column = __shfl_sync(~0u, x + k, owner);
        int row = __shfl_sync(~0u, min(y + r, end - 1), owner); /* of those that are stored */
        long long part =
            gc_exact_part(pass, column, row, channel, alone ? 0 : lane, alone ? 1 : 32);
        long long total = gc_exact_total(part); /* whether or not it is used: see there */
        unsigned made = words[r] >> 8 * k & 255;
        unsigned output = gc_once_output(&pass.finish, kind, (double)(alone ? part : total), made);
        unsigned all = __shfl_sync(~0u, output, owner) * 0x01010101;
        for (int i = 0; i < rows && flat; i++)
            words[i] = all;
        mask = flat ? 0 : mask;
        if (owner == lane && mask != 0) {
            words[r] += (output - made) << 8 * k;
            mask &= mask - 1;
        }
    }
    for (int r = 0; r < rows && stores && y + r < end; r++)
        *(unsigned *)((unsigned char *)pass.output + blockIdx.y * pass.output_plane +
                      (y + r - pass.output_first) * pass.output_pitch + x) = words[r];
}

/* Computes outputs again, as gc_settle_any does, if at most 8 lanes have any. Returns the mask of
 * those that are left to gc_settle_any: sums that reach beyond the image, or near a boundary. */
template <class config, int rows>
static __device__ inline unsigned gc_settle_few(const gc_pass &pass, int kind, int x, int y,
                                                int channel, unsigned mask, unsigned (&words)[rows])
{
    static_assert(rows <= 8, "a bit of a mask for each output");
    const gc_exact &e = pass.exact;
    unsigned waiting = __ballot_sync(~0u, mask != 0);
    bool few = __popc(waiting) <= 8;
    while (few && waiting != 0) {
        int owner = __ffs((int)waiting) - 1;
        bool mine = owner == gc_pass_lane();
        unsigned bit = (unsigned)__ffs((int)mask) - 1, shift = bit & 24, r = ~bit & 7;
        unsigned made = words[0];
        int column = x + (int)(shift / 8) - e.left;
        int row = min(y + (int)r, pass.output_first + pass.rows - 1) - e.top;
        bool inside = (unsigned)column < e.columns && (unsigned)row < e.lines;
        long long at =
            (long long)(row - pass.image_first) * e.pitch + column * e.channels + channel;
        at = __shfl_sync(~0u, inside ? at : -1, owner);
        if (at < 0)
            break;
#pragma unroll
        for (unsigned i = 1; i < rows; i++)
            made = r == i ? words[i] : made;
        made = made >> shift & 255;
        double sum = (double)gc_exact_total(
            gc_exact_share<config>(e, (const unsigned char *)pass.image + at));
        int side = gc_once_estimate(&pass.finish, sum, gc_once_boundary(&pass.finish, kind, made));
        if (__any_sync(~0u, mine && side == 0))
            break;
        unsigned change = (gc_once_beside(&pass.finish, kind, side < 0 ? -1 : 1, made) - made)
                          << shift;
#pragma unroll
        for (unsigned i = 0; i < rows; i++)
            words[i] += mine && r == i ? change : 0;
        mask = mine ? mask & (mask - 1) : mask;
        waiting = __ballot_sync(~0u, mask != 0);
    }
    return mask;
}

/* Outputs of a thread that are rounded once, from column x and row `y` of the image on. If `stores`
 * is false, they have no meaning. Returns the mask of those that are left to gc_settle_any. All
 * lanes of a warp call this. */
template <class config, int rows>
static __device__ inline unsigned gc_finish_once(const gc_pass &pass, int x, int y, int channel,
                                                 const float (&values)[rows][4], bool stores,
                                                 unsigned (&words)[rows])
{
    const gc_finish &f = pass.finish;
    int kind = gc_pass_finish<config>(pass);
    unsigned fixed[rows][4];
#pragma unroll
    for (int k = 0; k < 4 * rows; k++)
        fixed[k / 4][k % 4] = gc_finish_fix(f, kind, values[k / 4][k % 4]);
    bool doubts = gc_finish_doubts_any(f, kind, fixed) && stores;
#pragma unroll
    for (int r = 0; r < rows; r++)
        words[r] = gc_finish_fixed(f, kind, fixed[r]);
    if (!__any_sync(~0u, doubts))
        return 0;
    return gc_settle_few<config>(pass, kind, x, y, channel,
                                 doubts ? gc_settle_mask(f, kind, fixed) : 0, words);
}

/* Settles what is left, by gc_settle_any. */
template <int rows>
static __device__ inline void gc_settle_left(const gc_pass &pass, int kind, int x, int y,
                                             int channel, unsigned left, unsigned (&words)[rows],
                                             bool stores)
{
    if (!__any_sync(~0u, left != 0))
        return;
    unsigned copy[rows]; /* the words stay in registers */
#pragma unroll
    for (int r = 0; r < rows; r++)
        copy[r] = words[r];
    gc_settle_any(pass, kind, x, y, channel, left, copy, rows, stores);
#pragma unroll
    for (int r = 0; r < rows; r++)
        words[r] = copy[r];
}
