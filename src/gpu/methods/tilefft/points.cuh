/* Fourier transforms of 2 to 32 points in the registers of one thread. The indices of
 * registers and the roots are constants of the code. */
#pragma once

/* The points that a thread holds. */
template <int count> struct gc_fft_held {
    static constexpr int held = count;
    float re[count], im[count];
};

template <class points>
static __device__ __forceinline__ void gc_fft_turn(points &v, int i, float re, float im)
{
    float old = v.re[i];
    v.re[i] = fmaf(old, re, -(v.im[i] * im));
    v.im[i] = fmaf(old, im, v.im[i] * re);
}

/* Points i and j become i + w j and i - w j, with w = (re, im). The second one is 2 i less the
 * first one: six operations, each of them fused. */
template <class points>
static __device__ __forceinline__ void gc_fft_two(points &v, int i, int j, float re, float im)
{
    float a = v.re[i], b = v.im[i];
    v.re[i] = fmaf(re, v.re[j], fmaf(-im, v.im[j], a));
    v.im[i] = fmaf(re, v.im[j], fmaf(im, v.re[j], b));
    v.re[j] = fmaf(2, a, -v.re[i]);
    v.im[j] = fmaf(2, b, -v.im[i]);
}

/* cos(2 pi k / 32) for k from 0 to 8. */
static __device__ constexpr float gc_fft_cosine(int k)
{
    return k == 0   ? 1
           : k == 1 ? 0.98078528040323044913f
           : k == 2 ? 0.92387953251128675613f
           : k == 3 ? 0.83146961230254523708f
           : k == 4 ? 0.70710678118654752440f
           : k == 5 ? 0.55557023301960222474f
           : k == 6 ? 0.38268343236508977173f
           : k == 7 ? 0.19509032201612826785f
                    : 0;
}

/* Points i and j become i + w j and i - w j, with w = exp(-2 pi i k / 32), k from 0 to 15. */
template <class points>
static __device__ __forceinline__ void gc_fft_two(points &v, int i, int j, int k)
{
    float a = v.re[i], b = v.im[i], c = v.re[j], d = v.im[j];
    if (k % 8 > 0) {
        float cosine = gc_fft_cosine(k % 8), sine = gc_fft_cosine(8 - k % 8);
        return k < 8 ? gc_fft_two(v, i, j, cosine, -sine) : gc_fft_two(v, i, j, -sine, -cosine);
    }
    float re = k == 0 ? c : d, im = k == 0 ? d : -c;
    v.re[i] = a + re;
    v.im[i] = b + im;
    v.re[j] = a - re;
    v.im[j] = b - im;
}

/* The bits of n, of `count` numbers, in reverse. */
static __device__ constexpr int gc_fft_reversed(int n, int count)
{
    return ((n & 1) << 4 | (n & 2) << 2 | (n & 4) | (n & 8) >> 2 | (n & 16) >> 4) / (32 / count);
}

/* Transforms `count` points, first + n step. */
template <int count, class points>
static __device__ __forceinline__ void gc_fft_transform(points &v, int first, int step)
{
    gc_fft_held<count> line;
#pragma unroll
    for (int n = 0; n < count; n++) {
        line.re[gc_fft_reversed(n, count)] = v.re[first + n * step];
        line.im[gc_fft_reversed(n, count)] = v.im[first + n * step];
    }
#pragma unroll
    for (int half = 1; half < count; half *= 2)
#pragma unroll
        for (int n = 0; n < count / 2; n++) {
            int k = n % half, i = n / half * 2 * half + k;
            gc_fft_two(line, i, i + half, k * (16 / half));
        }
#pragma unroll
    for (int n = 0; n < count; n++) {
        v.re[first + n * step] = line.re[n];
        v.im[first + n * step] = line.im[n];
    }
}

/* Transforms 4 points, first + n step, that are rotated before: the second one by `root`, the third
 * one by its square, the fourth one by its cube. */
template <class points>
static __device__ __forceinline__ void gc_fft_four(points &v, int first, int step, float2 root,
                                                   float2 square)
{
    int a = first, b = a + step, c = b + step, d = c + step;
    gc_fft_two(v, a, c, square.x, square.y);
    gc_fft_two(v, b, d, square.x, square.y);
    gc_fft_two(v, a, b, root.x, root.y);
    gc_fft_two(v, c, d, root.y, -root.x);
    float re = v.re[b], im = v.im[b]; /* frequency 2 */
    v.re[b] = v.re[c];
    v.im[b] = v.im[c];
    v.re[c] = re;
    v.im[c] = im;
}
