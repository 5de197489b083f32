/* Rows of one bit a pixel, compressed by a kernel. A block of threads makes a block of the zlib
 * stream. It takes the steps of io/png/fast/block.c, runs.c and literals.c, with all threads:
 *
 *     gather       rows become bytes of the stream, with their Adler-32; white pixels are counted
 *     find_equal   a bit for each byte: whether it equals the one before
 *     survey       from a sample: are runs worth their time, and which code do literals take
 *     list_tokens  which bytes begin a token, and a list of the tokens: bytes and runs
 *     put_tokens   each thread adds up the bits of some tokens, and stores their codes behind those
 *                  of the threads before
 *
 * All numbers are whole, so that the bytes are those of the CPU. tests/gpu/encode.c compares
 * them. */
#include "gpu/png/encode.h"

#include "gpu/device/check.cuh"
#include "gpu/png/codes.cuh"

/* ---- Parts ----------------------------------------------------------------------------------- */

static __device__ void put_head(unsigned *output, bool is_last, bool is_fixed, block_state *shared)
{
    enum { FIXED_CODE = 1, OWN_CODE = 2 };
    if (threadIdx.x == 0) {
        bit_writer head(output, shared->bit);
        head.put(is_last, 1);
        head.put(is_fixed ? FIXED_CODE : OWN_CODE, 2);
        head.end();
        shared->bit += 3;
    }
    __syncthreads();
    if (!is_fixed)
        put_lengths(output, shared);
}

/* Stores a part from shared->bit on, as a deflate block. Sets shared->is_stored if it would end at
 * `bits_max` or behind, and leaves it out. */
static __device__ void put_tokens(const token_list &list, unsigned *output, bool is_last,
                                  bool is_fixed, unsigned bits_max, block_state *shared)
{
    token_measure measure = {shared, 0};
    put_head(output, is_last, is_fixed, shared);
    walk_tokens(list, measure);
    unsigned all, before = scan_before<sum_of>(shared->scan, measure.bits, (int)threadIdx.x, &all);
    unsigned first = shared->bit, end_bits = shared->codes[END_OF_BLOCK] >> LENGTH_SHIFT;
    if (first + all + end_bits >= bits_max) {
        if (threadIdx.x == 0)
            shared->is_stored = 1;
        __syncthreads();
        return;
    }
    token_writer writer = {shared, bit_writer(output, first + before)};
    walk_tokens(list, writer);
    writer.to.end();
    __syncthreads();
    if (threadIdx.x == 0) {
        bit_writer end(output, first + all);
        end.put_code(shared->codes[END_OF_BLOCK]);
        end.end();
        shared->bit = first + all + end_bits;
    }
    __syncthreads();
}

/* Compresses bytes of a block: `part.count` of them, or all `left` ones. As put_part of block.c. */
static __device__ void put_part(block_part part, unsigned left, bool is_last_block,
                                unsigned bits_max, block_state *shared)
{
    enum { OWN_CODE_BYTES = 1024, FIXED_DISTANCE_BITS = 5 };
    find_equal(part, shared);
    survey(part, left, shared);
    bool by_runs = shared->by_runs, joins = shared->part_bytes != part.count;
    part.count = shared->part_bytes;
    __syncthreads();
    if (joins)
        find_equal(part, shared);
    bool is_fixed = by_runs && part.count < OWN_CODE_BYTES;
    token_list list = {part.bytes, nullptr, part.count};
    if (by_runs)
        list = {part.bytes, part.tokens, list_tokens(part, shared)};
    if (by_runs && !is_fixed)
        choose_own_lengths(list, shared);
    else if (by_runs)
        fill_fixed_lengths(shared);
    else
        spread_shares(shared);
    make_codes(shared, is_fixed ? (unsigned)FIXED_DISTANCE_BITS : 1);
    put_tokens(list, part.output, is_last_block && part.count == left, is_fixed, bits_max, shared);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* Stored blocks (RFC 1951, 3.2.4) for `count` bytes. Returns the bytes that they take. */
static __device__ unsigned store_bytes(const unsigned char *bytes, unsigned count, bool is_last,
                                       unsigned char *to)
{
    enum { MOST = 65535, HEAD = 5 };
    unsigned parts = (count + MOST - 1) / MOST;
    for (unsigned i = threadIdx.x; i < count; i += THREADS)
        to[i + HEAD * (i / MOST + 1)] = bytes[i];
    for (unsigned part = threadIdx.x; part < parts; part += THREADS) {
        unsigned char *head = to + (size_t)part * (MOST + HEAD);
        unsigned size = min(count - part * MOST, (unsigned)MOST);
        head[0] = is_last && part + 1 == parts;
        head[1] = (unsigned char)size;
        head[2] = (unsigned char)(size >> 8);
        head[3] = (unsigned char)~size;
        head[4] = (unsigned char)(~size >> 8);
    }
    return count + HEAD * parts;
}

/* Ends a block with a whole byte: between two blocks comes an empty stored one. Returns its
 * size. */
static __device__ unsigned end_block(unsigned bit, bool is_last, unsigned char *output)
{
    enum { EMPTY_HEAD_BITS = 3 };
    if (is_last)
        return (bit + 7) / 8;
    unsigned size = (bit + EMPTY_HEAD_BITS + 7) / 8 + 4;
    if (threadIdx.x == 0)
        output[size - 2] = output[size - 1] = 0xff;
    return size;
}

static __global__ void __launch_bounds__(THREADS)
    pack_bits(bit_rows from, unsigned char *slots, unsigned char *scratch,
              gc_compressed_block *found)
{
    enum { PART = 1 << 16, WINDOW_32K = 0x78, FASTEST = 0x01, STORED_BYTES = 15, HEAD_BITS = 16 };
    extern __shared__ float4 gc_block_memory[];
    block_state *shared = (block_state *)gc_block_memory;
    unsigned char *output = slots + (size_t)blockIdx.x * SLOT;
    unsigned char *bytes = scratch + (size_t)blockIdx.x * SCRATCH;
    uint16_t *tokens = (uint16_t *)(bytes + BLOCK + SLACK);
    uint64_t first = (uint64_t)blockIdx.x * BLOCK;
    unsigned filled = (unsigned)min(from.stream_bytes - first, (uint64_t)BLOCK);
    bool is_first = blockIdx.x == 0, is_last = blockIdx.x + 1 == gridDim.x;
    unsigned head_bits = is_first ? HEAD_BITS : 0;
    for (unsigned word = threadIdx.x; word < SLOT / 4; word += THREADS)
        ((unsigned *)output)[word] = word == 0 && is_first ? WINDOW_32K | FASTEST << 8 : 0;
    if (threadIdx.x == 0) {
        shared->check_low = shared->check_high = shared->white = 0;
        shared->bit = head_bits;
        shared->is_stored = 0;
    }
    __syncthreads();
    gather(from, first, filled, shared, bytes);
    unsigned bits_max = head_bits + 8 * (filled + STORED_BYTES + 1);
    for (unsigned at = 0; at < filled && !shared->is_stored; at += shared->part_bytes) {
        unsigned left = filled - at;
        block_part part = {bytes + at, min(left, (unsigned)PART), tokens, (unsigned *)output};
        put_part(part, left, is_last, bits_max, shared);
    }
    unsigned size, head = head_bits / 8;
    if (shared->is_stored)
        size = head + store_bytes(bytes, filled, is_last, output + head);
    else
        size = end_block(shared->bit, is_last, output);
    if (threadIdx.x == 0)
        found[blockIdx.x] = {size, adler_of(shared, filled), shared->white};
}

/* ---- Launching ------------------------------------------------------------------------------- */

static uint64_t stream_bytes_of(uint32_t width, uint32_t height)
{
    return ((uint64_t)width + 7) / 8 * height + height;
}

static size_t blocks_of(uint32_t width, uint32_t height)
{
    return (size_t)((stream_bytes_of(width, height) + BLOCK - 1) / BLOCK);
}

/* What is found of all blocks comes before their slots. */
size_t gc_encode_result_bytes(uint32_t width, uint32_t height)
{
    return blocks_of(width, height) * (sizeof(gc_compressed_block) + SLOT);
}

size_t gc_encode_device_bytes(uint32_t width, uint32_t height)
{
    return gc_encode_result_bytes(width, height) + blocks_of(width, height) * SCRATCH;
}

gconv_status gc_encode_bits(const void *rows, size_t pitch, uint32_t width, uint32_t height,
                            void *memory, cudaStream_t stream, gconv_error *error)
{
    size_t blocks = blocks_of(width, height);
    gc_compressed_block *found = (gc_compressed_block *)memory;
    unsigned char *slots = (unsigned char *)(found + blocks);
    bit_rows from = {(const unsigned char *)rows, pitch, (width + 7) / 8,
                     0xffu << (7 - (width + 7) % 8) & 0xff, stream_bytes_of(width, height)};
    pack_bits<<<(unsigned)blocks, THREADS, sizeof(block_state), stream>>>(
        from, slots, slots + blocks * SLOT, found);
    GC_CUDA_TRY_LAUNCH(error);
    return GCONV_OK;
}

gc_compressed_rows gc_encode_result(const void *result, uint32_t width, uint32_t height)
{
    const gc_compressed_block *found = (const gc_compressed_block *)result;
    size_t blocks = blocks_of(width, height);
    return {found, (uint32_t)blocks, stream_bytes_of(width, height),
            (const unsigned char *)(found + blocks), SLOT};
}
