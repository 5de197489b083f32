#include "groups.cuh"

struct floor_state {
    const peers_data *data;
    const peers_pool *pool;
};

static size_t plane_bytes(const floor_state *state)
{
    return state->pool->pitch * (size_t)state->data->size;
}

static bool launched()
{
    PEERS_CUDA(cudaGetLastError());
    return true;
}

/* ---- Empty launch ---------------------------------------------------------------------------- */

static __global__ void nothing()
{
}

static bool launch_nothing(void *, int, cudaStream_t stream)
{
    nothing<<<1, 32, 0, stream>>>();
    return launched();
}

static bool verify_nothing(void *, double *max_error)
{
    *max_error = 0.0;
    return true;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

constexpr int copy_threads = 256;
constexpr int copy_words = 4; /* of 16 bytes, a thread: enough loads in flight */

static __global__ void __launch_bounds__(copy_threads)
    copy_kernel(const uint4 *input, uint4 *output, size_t words)
{
    size_t first = (size_t)blockIdx.x * (copy_threads * copy_words) + threadIdx.x;
    uint4 values[copy_words];
#pragma unroll
    for (int i = 0; i < copy_words; ++i)
        if (first + i * copy_threads < words)
            values[i] = input[first + i * copy_threads];
#pragma unroll
    for (int i = 0; i < copy_words; ++i)
        if (first + i * copy_threads < words)
            output[first + i * copy_threads] = values[i];
}

static bool launch_copy_kernel(void *state, int set, cudaStream_t stream)
{
    const floor_state *floor = (const floor_state *)state;
    size_t words = plane_bytes(floor) / sizeof(uint4);
    size_t blocks = (words + copy_threads * copy_words - 1) / (copy_threads * copy_words);
    copy_kernel<<<(unsigned)blocks, copy_threads, 0, stream>>>(
        (const uint4 *)floor->pool->plane[(size_t)set], (uint4 *)floor->pool->output[(size_t)set],
        words);
    return launched();
}

static bool launch_memcpy(void *state, int set, cudaStream_t stream)
{
    const floor_state *floor = (const floor_state *)state;
    PEERS_CUDA(cudaMemcpyAsync(floor->pool->output[(size_t)set], floor->pool->plane[(size_t)set],
                               plane_bytes(floor), cudaMemcpyDeviceToDevice, stream));
    return true;
}

static bool verify_copy(void *state, double *max_error)
{
    const floor_state *floor = (const floor_state *)state;
    return peers_compare_bytes(floor->pool->plane[0], floor->pool->output[0], plane_bytes(floor),
                               max_error);
}

/* ---- Read a picture, write a bit a pixel ----------------------------------------------------- */

/* The top bits of four bytes, the lowest byte's first, as a PNG packs pixels. */
static __device__ unsigned top_bits(unsigned bytes)
{
    return (((bytes >> 7) & 0x01010101U) * 0x08040201U) >> 24 & 15U;
}

/* 8 pixels in a byte. */
static __device__ unsigned gray_byte(uint2 pixels)
{
    return top_bits(pixels.x) << 4 | top_bits(pixels.y);
}

/* A thread turns 32 pixels into a word. */
static __global__ void gray_to_bits(const uint4 *input, uint32_t *output, size_t words)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words)
        return;
    uint4 a = input[2 * i], b = input[2 * i + 1];
    output[i] = gray_byte({a.x, a.y}) | gray_byte({a.z, a.w}) << 8 | gray_byte({b.x, b.y}) << 16 |
                gray_byte({b.z, b.w}) << 24;
}

/* r ^ g ^ b of four interleaved pixels: reads all channels at next to no cost. */
static __device__ unsigned mix_channels(unsigned a, unsigned b, unsigned c)
{
    unsigned red = __byte_perm(__byte_perm(a, b, 0x0630), c, 0x5210);
    unsigned green = __byte_perm(__byte_perm(a, b, 0x0741), c, 0x6210);
    unsigned blue = __byte_perm(__byte_perm(a, b, 0x0052), c, 0x7410);
    return red ^ green ^ blue;
}

static __global__ void rgb_to_bits(const uint4 *input, uint32_t *output, size_t words)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words)
        return;
    uint4 in[6];
#pragma unroll
    for (int k = 0; k < 6; ++k)
        in[k] = input[6 * i + (size_t)k];
    unsigned word = 0;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
        const uint4 a = in[3 * k], b = in[3 * k + 1], c = in[3 * k + 2];
        uint2 low = {mix_channels(a.x, a.y, a.z), mix_channels(a.w, b.x, b.y)};
        uint2 high = {mix_channels(b.z, b.w, c.x), mix_channels(c.y, c.z, c.w)};
        word |= (gray_byte(low) | gray_byte(high) << 8) << 16 * k;
    }
    output[i] = word;
}

static bool launch_bits(void *state, int set, cudaStream_t stream)
{
    const floor_state *floor = (const floor_state *)state;
    const uint4 *input = (const uint4 *)floor->pool->plane[(size_t)set];
    uint32_t *output = (uint32_t *)floor->pool->output[(size_t)set];
    size_t words = (size_t)floor->data->size * (size_t)floor->data->size / 32;
    unsigned blocks = (unsigned)((words + 127) / 128);
    if (floor->pool->pixel_bytes == 1)
        gray_to_bits<<<blocks, 128, 0, stream>>>(input, output, words);
    else
        rgb_to_bits<<<blocks, 128, 0, stream>>>(input, output, words);
    return launched();
}

/* Bit after bit, for comparison. */
static __global__ void plain_bits(const uint8_t *input, int channels, uint8_t *output, size_t bytes)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= bytes)
        return;
    unsigned packed = 0;
    for (size_t pixel = 8 * i; pixel < 8 * i + 8; ++pixel) {
        unsigned mixed = 0;
        for (int channel = 0; channel < channels; ++channel)
            mixed ^= input[pixel * (size_t)channels + (size_t)channel];
        packed = packed << 1 | mixed >> 7;
    }
    output[i] = (uint8_t)packed;
}

static bool verify_bits(void *state, double *max_error)
{
    const floor_state *floor = (const floor_state *)state;
    size_t bytes = (size_t)floor->data->size * (size_t)floor->data->size / 8;
    uint8_t *expected = (uint8_t *)floor->data->scratch[0];
    plain_bits<<<(unsigned)((bytes + 255) / 256), 256>>>(
        floor->pool->plane[0], (int)floor->pool->pixel_bytes, expected, bytes);
    return launched() && peers_compare_bytes(expected, floor->pool->output[0], bytes, max_error);
}

/* ---- The entries ----------------------------------------------------------------------------- */

static void release_floor(void *state)
{
    delete (floor_state *)state;
}

void peers_add_floors(std::vector<peers_entry> *entries, const peers_data &data)
{
    static const struct {
        const char *name;
        peers_pool_id pool;
        bool is_copy;
        bool (*launch)(void *, int, cudaStream_t);
        bool (*verify)(void *, double *);
    } floors[] = {
        {"empty launch", PEERS_FLOAT, false, launch_nothing, verify_nothing},
        {"copy float32 by cudaMemcpyAsync", PEERS_FLOAT, true, launch_memcpy, verify_copy},
        {"copy float32 by a kernel", PEERS_FLOAT, true, launch_copy_kernel, verify_copy},
        {"copy 8-bit by cudaMemcpyAsync", PEERS_GRAY, true, launch_memcpy, verify_copy},
        {"copy 8-bit by a kernel", PEERS_GRAY, true, launch_copy_kernel, verify_copy},
        {"copy 8-bit RGB by cudaMemcpyAsync", PEERS_RGB, true, launch_memcpy, verify_copy},
        {"copy 8-bit RGB by a kernel", PEERS_RGB, true, launch_copy_kernel, verify_copy},
        {"read 8-bit and write 1 bit a pixel", PEERS_GRAY, false, launch_bits, verify_bits},
        {"read 8-bit RGB and write 1 bit a pixel", PEERS_RGB, false, launch_bits, verify_bits},
    };
    for (const auto &floor : floors) {
        floor_state *state = new floor_state{&data, &data.pools[floor.pool]};
        entries->push_back({PEERS_FLOORS,
                            floor.name,
                            0,
                            0,
                            floor.pool,
                            floor.is_copy,
                            0.0,
                            {state, floor.launch},
                            nullptr,
                            floor.verify,
                            release_floor});
    }
}
