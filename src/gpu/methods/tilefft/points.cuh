/* Fourier transforms of 8, 16 and 32 points in the registers of one thread. The indices of
 * registers and the roots are constants of the code. */
#pragma once

enum { GC_FFT_HELD = 16 /* points of a thread, by the kernels of one pass */ };

/* The points that a thread holds. */
template <int count> struct gc_fft_held {
    float re[count], im[count];
};
typedef gc_fft_held<GC_FFT_HELD> gc_fft_points;

static __device__ __forceinline__ void gc_fft_two(float &a, float &b)
{
    float sum = a + b;
    b = a - b;
    a = sum;
}

/* Points i and j of a thread become their sum and their difference. */
template <class points> static __device__ __forceinline__ void gc_fft_pair(points &v, int i, int j)
{
    gc_fft_two(v.re[i], v.re[j]);
    gc_fft_two(v.im[i], v.im[j]);
}

template <class points>
static __device__ __forceinline__ void gc_fft_turn(points &v, int i, float re, float im)
{
    float old = v.re[i];
    v.re[i] = fmaf(old, re, -(v.im[i] * im));
    v.im[i] = fmaf(old, im, v.im[i] * re);
}

template <class points> static __device__ __forceinline__ void gc_fft_turn_back(points &v, int i)
{
    float old = v.re[i];
    v.re[i] = v.im[i];
    v.im[i] = -old;
}

/* Points i and j become i + h (re, im) and i - h (re, im). (re, im) is given for j. */
template <class points>
static __device__ __forceinline__ void gc_fft_add(points &v, int i, int j, float h, float re,
                                                  float im)
{
    float a = v.re[i], b = v.im[i];
    v.re[i] = fmaf(h, re, a);
    v.im[i] = fmaf(h, im, b);
    v.re[j] = fmaf(-h, re, a);
    v.im[j] = fmaf(-h, im, b);
}

/* Transforms 4 points: i, i + s, i + 2 s, i + 3 s. Frequencies 0, 2, 1, 3 take their places. */
template <class points> static __device__ __forceinline__ void gc_fft_four(points &v, int i, int s)
{
    gc_fft_pair(v, i, i + 2 * s);
    gc_fft_pair(v, i + s, i + 3 * s);
    gc_fft_turn_back(v, i + 3 * s);
    gc_fft_pair(v, i, i + s);
    gc_fft_pair(v, i + 2 * s, i + 3 * s);
}

/* Transforms 8 points, i + n s. Frequency k is at i + gc_fft_place8(k) s after. */
template <class points> static __device__ __forceinline__ void gc_fft_eight(points &v, int i, int s)
{
    const float half = 0.70710678118654752f; /* the root of 1/2 */
#pragma unroll
    for (int n = 0; n < 4; n++)
        gc_fft_pair(v, i + n * s, i + (n + 4) * s);
    gc_fft_four(v, i, s);
    int a = i + 4 * s, b = i + 5 * s, c = i + 6 * s, d = i + 7 * s;
    gc_fft_turn_back(v, c);
    gc_fft_turn_back(v, d);
    gc_fft_pair(v, a, c);
    gc_fft_pair(v, b, d);
    float re = v.re[b], im = v.im[b];
    gc_fft_add(v, a, b, half, re + im, im - re);
    re = v.re[d], im = v.im[d];
    gc_fft_add(v, c, d, half, im - re, -(re + im));
}

/* The place of frequency k of 8: 0, 4, 2, 6, 1, 5, 3, 7 from place 0 on. */
static __device__ constexpr int gc_fft_place8(int k)
{
    return k % 2 * 4 + k / 2 % 2 * 2 + k / 4;
}

/* Transforms 16 points from i on: 4 times 4 points, rotations, 4 times 4 points. */
template <class points> static __device__ __forceinline__ void gc_fft_sixteen(points &v, int i)
{
    const float c1 = 0.92387953251128674f, s1 = 0.38268343236508977f, h = 0.70710678118654752f;
#pragma unroll
    for (int n = 0; n < 4; n++)
        gc_fft_four(v, i + n, 4);
    /* Place n + 4 m holds frequency 0, 2, 1, 3 of the points n, n + 4, ... */
    gc_fft_turn(v, i + 8 + 1, c1, -s1);
    gc_fft_turn(v, i + 8 + 2, h, -h);
    gc_fft_turn(v, i + 8 + 3, s1, -c1);
    gc_fft_turn(v, i + 4 + 1, h, -h);
    gc_fft_turn_back(v, i + 4 + 2);
    gc_fft_turn(v, i + 4 + 3, -h, -h);
    gc_fft_turn(v, i + 12 + 1, s1, -c1);
    gc_fft_turn(v, i + 12 + 2, -h, -h);
    gc_fft_turn(v, i + 12 + 3, -c1, s1);
#pragma unroll
    for (int m = 0; m < 4; m++)
        gc_fft_four(v, i + 4 * m, 1);
}

static __device__ constexpr int gc_fft_place16(int k)
{
    return (k % 4 % 2 * 2 + k % 4 / 2) * 4 + k / 4 % 2 * 2 + k / 4 / 2;
}

/* cos(2 pi k / 32) for k from 0 to 8. */
static __device__ constexpr float gc_fft_cosine32_low(int k)
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

/* cos(2 pi k / 32) for k from 0 to 64. */
static __device__ constexpr float gc_fft_cosine32(int k)
{
    int near = k % 32 > 16 ? 32 - k % 32 : k % 32;
    return near > 8 ? -gc_fft_cosine32_low(16 - near) : gc_fft_cosine32_low(near);
}

/* Transforms 32 points: 8 times 4 points, rotations, 4 times 8 points. */
template <class points> static __device__ __forceinline__ void gc_fft_thirtytwo(points &v)
{
#pragma unroll
    for (int n = 0; n < 8; n++)
        gc_fft_four(v, n, 8);
#pragma unroll
    for (int m = 1; m < 4; m++)
#pragma unroll
        for (int n = 1; n < 8; n++) {
            int turns = n * (m % 2 * 2 + m / 2); /* place n + 8 m holds frequency 0, 2, 1, 3 */
            if (turns == 8)
                gc_fft_turn_back(v, 8 * m + n);
            else
                gc_fft_turn(v, 8 * m + n, gc_fft_cosine32(turns), -gc_fft_cosine32(turns + 24));
        }
#pragma unroll
    for (int m = 0; m < 4; m++)
        gc_fft_eight(v, 8 * m, 1);
}

static __device__ constexpr int gc_fft_place32(int k)
{
    return (k % 4 % 2 * 2 + k % 4 / 2) * 8 + gc_fft_place8(k / 4);
}

/* Transforms `count` neighbouring points from i on. */
template <int count, class points>
static __device__ __forceinline__ void gc_fft_transform(points &v, int i)
{
    static_assert(count == 16 || count == 32, "transforms of these sizes alone");
    if constexpr (count == 16)
        gc_fft_sixteen(v, i);
    else
        gc_fft_thirtytwo(v);
}

template <int count> static __device__ constexpr int gc_fft_place(int k)
{
    return count == 16 ? gc_fft_place16(k) : gc_fft_place32(k);
}

/* ---- Roots of 1 ------------------------------------------------------------------------------ */

/* cos(2 pi k / 128) for k from 0 to 128, by the series of cosine up to an eighth of a turn and of
 * sine from there on. */
static constexpr double gc_fft_cosine(int k)
{
    if (k > 32)
        return k > 64 ? gc_fft_cosine(128 - k) : -gc_fft_cosine(64 - k);
    const double turn = 6.28318530717958647693;
    double x = turn * (k > 16 ? 32 - k : k) / 128, term = k > 16 ? x : 1, sum = term;
    for (int n = k > 16 ? 3 : 2; n < 20; n += 2) {
        term *= -x * x / (n * (n - 1));
        sum += term;
    }
    return sum;
}

/* exp(-2 pi i b c / size): a table for point b, and one for the two frequencies c of a thread. */
template <int size> struct gc_fft_roots {
    static constexpr int parts = size / GC_FFT_HELD;
    float2 far[parts][GC_FFT_HELD], near[parts][GC_FFT_HELD];

    static constexpr float2 root(int power)
    {
        int k = power % size * (128 / size), sine = (k + 96) % 128;
        return {(float)gc_fft_cosine(k), -(float)gc_fft_cosine(sine)};
    }

    constexpr gc_fft_roots() : far(), near()
    {
        for (int part = 0; part < parts; part++)
            for (int i = 0; i < GC_FFT_HELD; i++) {
                int at = GC_FFT_HELD * part + i;
                far[part][i] = size == 128 ? root(part * i) : root((2 * part + i / 8) * (i % 8));
                near[part][i] = root(at / 8 * (at % 8));
            }
    }
};

static __constant__ gc_fft_roots<64> gc_fft_roots_of_64 = gc_fft_roots<64>();
static __constant__ gc_fft_roots<128> gc_fft_roots_of_128 = gc_fft_roots<128>();

template <int size> static __device__ __forceinline__ const gc_fft_roots<size> &gc_fft_roots_of()
{
    if constexpr (size == 64)
        return gc_fft_roots_of_64;
    else
        return gc_fft_roots_of_128;
}
