/* Fourier transforms of 8 and 16 points in the registers of one thread. The indices of registers
 * and the roots are constants of the code. */
#ifndef GC_GPU_KERNELS_FFT_POINTS_CUH
#define GC_GPU_KERNELS_FFT_POINTS_CUH

enum { GC_FFT_HELD = 16 /* points of a thread */ };

/* The points that a thread holds. */
struct gc_fft_points {
    float re[GC_FFT_HELD], im[GC_FFT_HELD];
};

/* a, b become a + b, a - b. */
static __device__ __forceinline__ void gc_fft_two(float &a, float &b)
{
    float sum = a + b;
    b = a - b;
    a = sum;
}

/* Points i and j of a thread become their sum and their difference. */
static __device__ __forceinline__ void gc_fft_pair(gc_fft_points &v, int i, int j)
{
    gc_fft_two(v.re[i], v.re[j]);
    gc_fft_two(v.im[i], v.im[j]);
}

/* Multiplies a point by a complex number. */
static __device__ __forceinline__ void gc_fft_turn(gc_fft_points &v, int i, float re, float im)
{
    float old = v.re[i];
    v.re[i] = fmaf(old, re, -(v.im[i] * im));
    v.im[i] = fmaf(old, im, v.im[i] * re);
}

/* Multiplies a point by -i. */
static __device__ __forceinline__ void gc_fft_turn_back(gc_fft_points &v, int i)
{
    float old = v.re[i];
    v.re[i] = v.im[i];
    v.im[i] = -old;
}

/* Points i and j become i + h (re, im) and i - h (re, im), where (re, im) is given for j. */
static __device__ __forceinline__ void gc_fft_add(gc_fft_points &v, int i, int j, float h, float re,
                                                  float im)
{
    float a = v.re[i], b = v.im[i];
    v.re[i] = fmaf(h, re, a);
    v.im[i] = fmaf(h, im, b);
    v.re[j] = fmaf(-h, re, a);
    v.im[j] = fmaf(-h, im, b);
}

/* Transforms 4 points: i, i + s, i + 2 s, i + 3 s. Frequencies 0, 2, 1, 3 take their places. */
static __device__ __forceinline__ void gc_fft_four(gc_fft_points &v, int i, int s)
{
    gc_fft_pair(v, i, i + 2 * s);
    gc_fft_pair(v, i + s, i + 3 * s);
    gc_fft_turn_back(v, i + 3 * s);
    gc_fft_pair(v, i, i + s);
    gc_fft_pair(v, i + 2 * s, i + 3 * s);
}

/* Transforms 8 points, i + n s. Frequency k is at i + gc_fft_place8(k) s after. */
static __device__ __forceinline__ void gc_fft_eight(gc_fft_points &v, int i, int s)
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

/* Where frequency k of 8 is: 0, 4, 2, 6, 1, 5, 3, 7 from place 0 on. */
static __device__ constexpr int gc_fft_place8(int k)
{
    return k % 2 * 4 + k / 2 % 2 * 2 + k / 4;
}

/* Transforms 16 points: 4 times 4 points, rotations, 4 times 4 points. */
static __device__ __forceinline__ void gc_fft_sixteen(gc_fft_points &v)
{
    const float c1 = 0.92387953251128674f, s1 = 0.38268343236508977f, h = 0.70710678118654752f;
#pragma unroll
    for (int n = 0; n < 4; n++)
        gc_fft_four(v, n, 4);
    /* Place n + 4 m holds frequency 0, 2, 1, 3 of the points n, n + 4, ... */
    gc_fft_turn(v, 8 + 1, c1, -s1);
    gc_fft_turn(v, 8 + 2, h, -h);
    gc_fft_turn(v, 8 + 3, s1, -c1);
    gc_fft_turn(v, 4 + 1, h, -h);
    gc_fft_turn_back(v, 4 + 2);
    gc_fft_turn(v, 4 + 3, -h, -h);
    gc_fft_turn(v, 12 + 1, s1, -c1);
    gc_fft_turn(v, 12 + 2, -h, -h);
    gc_fft_turn(v, 12 + 3, -c1, s1);
#pragma unroll
    for (int m = 0; m < 4; m++)
        gc_fft_four(v, 4 * m, 1);
}

/* Where frequency k of 16 is. */
static __device__ constexpr int gc_fft_place16(int k)
{
    return (k % 4 % 2 * 2 + k % 4 / 2) * 4 + k / 4 % 2 * 2 + k / 4 / 2;
}

/* ---- Roots of 1 ------------------------------------------------------------------------------ */

/* cos(2 pi k / 128) for k from 0 to 32. */
static constexpr double gc_fft_quarter[33] = {1,
                                              0.99879545620517239271,
                                              0.99518472667219688624,
                                              0.98917650996478097345,
                                              0.98078528040323044913,
                                              0.97003125319454399260,
                                              0.95694033573220886494,
                                              0.94154406518302077841,
                                              0.92387953251128675613,
                                              0.90398929312344333159,
                                              0.88192126434835502971,
                                              0.85772861000027206990,
                                              0.83146961230254523708,
                                              0.80320753148064490981,
                                              0.77301045336273696081,
                                              0.74095112535495909118,
                                              0.70710678118654752440,
                                              0.67155895484701840063,
                                              0.63439328416364549822,
                                              0.59569930449243334347,
                                              0.55557023301960222474,
                                              0.51410274419322172659,
                                              0.47139673682599764856,
                                              0.42755509343028209432,
                                              0.38268343236508977173,
                                              0.33688985339222005069,
                                              0.29028467725446236764,
                                              0.24298017990326388995,
                                              0.19509032201612826785,
                                              0.14673047445536175166,
                                              0.09801714032956060199,
                                              0.04906767432741801426,
                                              0};

/* cos(2 pi k / 128) for k from 0 to 128. */
static constexpr double gc_fft_cosine(int k)
{
    return k > 64 ? gc_fft_cosine(128 - k) : k > 32 ? -gc_fft_quarter[64 - k] : gc_fft_quarter[k];
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

#endif
