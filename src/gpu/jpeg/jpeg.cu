/* JPEG decoded by kernels.
 *
 * The bit at which a Huffman code begins is known once all codes before it are read. But a decoder
 * that begins at a wrong bit soon reads right codes: the codes synchronise themselves (Klein and
 * Wiseman 2003; Weissenberger and Schmidt 2018). So each thread follows the codes of its chunk,
 * from the end of its predecessor on. The threads of a block repeat this until nothing changes. The
 * first chunk begins right. Once a launch of `follow` changes nothing, all chunks begin right.
 * There are FOLLOWING_PASSES launches. `store` then checks that each chunk begins where its
 * predecessor ends, and rejects the picture otherwise.
 *
 *     follow      finds how each chunk begins, and what blocks and DC differences it has; clears
 *                 the coefficients
 *     add_up      adds these up: the number of each chunk's first block, and its DC predictions
 *     store       follows the codes again, checks them, and stores the coefficients
 *     transform   checks the energy of each block, and makes samples of it
 *
 * What is checked is what io/jpeg/fast/blocks.c checks of the data. docs/gpu-jpeg.md says why that
 * is enough. */
#include "gpu/jpeg/jpeg.h"

#include "gpu/device/check.cuh"
#include "gpu/jpeg/islow.cuh"

#include <cstddef>

enum {
    THREADS = 128,         /* of a block; a thread has a chunk */
    AHEAD = 4,             /* threads for the last chunks of the block before: see `follow` */
    OWN = THREADS - AHEAD, /* chunks that belong to a block of threads in `follow` */
    ADDING_THREADS = 1024,
    TRANSFORM_THREADS = 128,
    COEFFICIENTS = GC_PACKED_COEFFICIENTS,
    LOOKS = 1 << GC_PACKED_LOOK_BITS,
    TABLES = 4,
    CHUNK_WORDS = GC_PACKED_CHUNK_BYTES / 4,
    /* Words that a thread may read. Odd: threads at one place of their chunks read other banks. */
    WORDS = CHUNK_WORDS + GC_PACKED_WORDS_AHEAD,
    /* Launches of `follow`. After the first one, nearly all blocks of threads have chunks that
     * begin right; after the second one, nearly all others, too. Codes of large areas of one colour
     * repeat, and may never synchronise. Such a picture is rejected, and libjpeg-turbo decodes it.
     * It is fast there. */
    FOLLOWING_PASSES = 2
};

/* What the kernels find, in device memory. */
struct chunk_findings {
    unsigned *begins, *ends;  /* by chunk: see chunk_state */
    uint4 *tallies;           /* by chunk: see tally; after add_up their sums */
    uint4 *sums;              /* of all tallies that a block of threads adds up */
    int16_t *coefficients[3]; /* by component; null if it is not wanted */
    uint4 *cleared;           /* the memory of all coefficients, which follow each other */
    size_t cleared_count;
};

struct sample_planes {
    unsigned char *planes[3];
    size_t pitches[3];
};

/* ---- Codes ----------------------------------------------------------------------------------- */

/* How a chunk begins, or its predecessor ends: in bits from the chunk's first one (8 bits), at
 * which block of an MCU (8 bits), at which coefficient of it. */
typedef unsigned chunk_state;

static __device__ inline chunk_state state_of(int bit, int block, int coefficient)
{
    return (unsigned)bit | (unsigned)block << 8 | (unsigned)coefficient << 16;
}

/* What the threads of a block read again and again, in shared memory. */
struct shared_data {
    gc_packed_code look[TABLES][LOOKS]; /* gc_packed_table.look, or .joined */
    gc_packed_code long_look[TABLES][GC_PACKED_LONG_LOOKS];
    unsigned first_long[TABLES];
    unsigned words[THREADS][WORDS]; /* of each thread's chunk, as numbers */
};

/* Loads them. `first` is the chunk of the first thread; chunks that do not exist are left out. The
 * threads of a block call it together. */
static __device__ inline void load_shared(const gc_packed *packed, bool joined, int first,
                                          shared_data *to)
{
    int thread = (int)threadIdx.x;
    for (int table = 0; table < TABLES; table++) {
        const gc_packed_table *from = &packed->tables[table >> 1][table & 1];
        for (int i = thread; i < LOOKS; i += THREADS)
            to->look[table][i] = joined ? from->joined[i] : from->look[i];
        for (int i = thread; i < GC_PACKED_LONG_LOOKS; i += THREADS)
            to->long_look[table][i] = from->long_look[i];
        if (thread == 0)
            to->first_long[table] = from->first_long;
    }
    const unsigned *data = (const unsigned *)((const char *)packed + packed->data);
    for (int i = thread; i < THREADS * WORDS; i += THREADS) {
        int chunk = first + i / WORDS;
        if (chunk < 0 || chunk >= (int)packed->chunks)
            continue;
        unsigned word = __ldg(data + (size_t)chunk * CHUNK_WORDS + i % WORDS);
        to->words[i / WORDS][i % WORDS] =
            word >> 24 | (word >> 8 & 0xff00) | (word & 0xff00) << 8 | word << 24;
    }
}

/* The 32 bits from `bit` on of the chunk of this thread. */
static __device__ inline unsigned bits_at(const shared_data *shared, int bit)
{
    const unsigned *words = shared->words[threadIdx.x] + (bit >> 5);
    return (unsigned)(((uint64_t)words[0] << 32 | words[1]) << (bit & 31) >> 32);
}

/* A code that is in none of the tables. */
static __device__ unsigned search_code(const gc_packed_table *of, unsigned bits)
{
    for (int length = GC_PACKED_LOOK_BITS + 1; length < GC_PACKED_LENGTHS; length++)
        if (bits >> 16 < of->limits[length])
            return of->codes[(int)(bits >> (32 - length)) + of->offsets[length]];
    return 0;
}

/* The gc_packed_code with which `bits` begin. */
static __device__ inline unsigned find_code(const gc_packed *packed, const shared_data *shared,
                                            int table, unsigned bits)
{
    unsigned code = shared->look[table][bits >> (32 - GC_PACKED_LOOK_BITS)];
    if (code == 0) {
        unsigned number = (bits >> 16) - shared->first_long[table];
        if (number < GC_PACKED_LONG_LOOKS)
            code = shared->long_look[table][number];
        else
            code = search_code(&packed->tables[table >> 1][table & 1], bits);
    }
    return code;
}

/* What a code and its value say. */
struct step {
    int bits;            /* of both; 0: there is no such code */
    int size;            /* bits of the value; 0: it is 0 */
    int next;            /* coefficient less the present one; GC_PACKED_END: the others are 0 */
    unsigned value_bits; /* at the top */
};

/* The value: it is negative if its first bit is 0. */
static __device__ inline int value_of(const step &of, int size)
{
    int value = (int)(of.value_bits >> 1 >> (31 - size));
    return (int)of.value_bits < 0 ? value : value - (1 << size) + 1;
}

/* Blocks that end in a chunk, and DC differences in it by component; modulo 2^32. */
typedef uint4 tally;

/* A place in the data, while codes are followed. There are few branches in what follows: threads of
 * a warp are at different coefficients. */
struct follower {
    int bit;                /* of the chunk */
    int block, coefficient; /* of the MCU, of the block */
    unsigned kind;          /* of the block, see gc_packed.kinds */
    unsigned kinds;
    int blocks; /* of an MCU */
};

/* `joined`: what several codes say, without values, if the tables are of such codes. */
static __device__ inline step next_step(const gc_packed *packed, const shared_data *shared,
                                        bool joined, const follower &at)
{
    unsigned bits = bits_at(shared, at.bit);
    int table = at.coefficient > 0 ? 2 + (int)(at.kind >> 1 & 1) : (int)(at.kind & 1);
    unsigned code = find_code(packed, shared, table, bits);
    int next = (int)(code >> GC_PACKED_STEP_SHIFT);
    /* A block without room for all ends with one of the first. EOB needs a coefficient. */
    if (joined && at.coefficient + next % GC_PACKED_END + next / GC_PACKED_END > COEFFICIENTS)
        code = packed->tables[table >> 1][table & 1].look[bits >> (32 - GC_PACKED_LOOK_BITS)];
    int length = (int)(code & GC_PACKED_LENGTH_MASK);
    int size = (int)(code >> GC_PACKED_SIZE_SHIFT & GC_PACKED_SIZE_MASK);
    return {length, size, (int)(code >> GC_PACKED_STEP_SHIFT), bits << (length - size)};
}

/* Passes over a step. True if a block ends with it. */
static __device__ inline bool pass_step(follower &at, int bits, int next)
{
    at.bit += bits;
    at.coefficient += next;
    bool ends = at.coefficient >= COEFFICIENTS;
    at.coefficient = ends ? 0 : at.coefficient;
    at.block += ends;
    at.block = at.block == at.blocks ? 0 : at.block;
    at.kind = at.kinds >> (4 * at.block) & 15;
    return ends;
}

/* The place in the chunk of this thread at which it begins. */
static __device__ inline follower follow_from(const gc_packed *packed, chunk_state begin)
{
    int block = (int)(begin >> 8 & 255);
    unsigned kinds = packed->kinds;
    return {(int)(begin & 255),        block, (int)(begin >> 16),
            kinds >> (4 * block) & 15, kinds, (int)packed->blocks};
}

/* The interval of a chunk, and which it is. */
static __device__ inline gc_packed_interval find_interval(const gc_packed *packed, unsigned chunk,
                                                          unsigned &first)
{
    const gc_packed_interval *intervals = (const gc_packed_interval *)(packed + 1);
    unsigned behind = packed->intervals;
    first = 0;
    while (behind - first > 1) {
        unsigned middle = (first + behind) / 2;
        if (intervals[middle].first_chunk <= chunk)
            first = middle;
        else
            behind = middle;
    }
    return intervals[first];
}

/* ---- Where chunks begin ---------------------------------------------------------------------- */

/* Follows the chunk of this thread. Returns how the next one begins, if this one begins so. Bits
 * that are no code are passed one by one: they show that it does not, or that the data are damaged.
 * So does a run beyond the last coefficient, which ends the block. */
static __device__ inline chunk_state
follow_chunk(const gc_packed *packed, const shared_data *shared, chunk_state begin, tally &counts)
{
    follower at = follow_from(packed, begin);
    counts = {0, 0, 0, 0};
    while (at.bit < GC_PACKED_CHUNK_BITS) {
        step now = next_step(packed, shared, true, at);
        unsigned difference = (unsigned)value_of(now, at.coefficient == 0 ? now.size : 0);
        unsigned component = at.kind >> 2;
        counts.y += component == 0 ? difference : 0;
        counts.z += component == 1 ? difference : 0;
        counts.w += component == 2 ? difference : 0;
        counts.x += pass_step(at, max(now.bits, 1), now.next);
    }
    return state_of(at.bit - GC_PACKED_CHUNK_BITS, at.block, at.coefficient);
}

/* Threads that share what they have found. */
struct shared_states {
    shared_data data;
    chunk_state ends[THREADS];
    int changed;
};

/* Sets all coefficients to 0: those that are 0 are not stored. */
static __device__ inline void clear_coefficients(const chunk_findings &to)
{
    size_t step = (size_t)gridDim.x * THREADS;
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < to.cleared_count; i += step)
        to.cleared[i] = {0, 0, 0, 0};
}

/* Follows the chunks of a block of threads until they agree. The first AHEAD threads follow the
 * last chunks of the block before, in the first pass, so that the others most likely begin right.
 * Later passes only follow if the predecessor of the first chunk has ended otherwise than
 * thought. */
static __global__ void follow(const gc_packed *packed, chunk_findings to, int is_first_pass)
{
    extern __shared__ float4 gc_block_memory[];
    shared_states *shared = (shared_states *)gc_block_memory;
    int thread = (int)threadIdx.x, first = (int)blockIdx.x * OWN - AHEAD, chunk = first + thread;
    if (is_first_pass)
        clear_coefficients(to);
    bool is_own = thread >= AHEAD && chunk < (int)packed->chunks;
    bool exists = is_own || (is_first_pass && chunk >= 0 && chunk < (int)packed->chunks);
    unsigned number;
    bool begins_interval =
        exists && find_interval(packed, (unsigned)chunk, number).first_chunk == (unsigned)chunk;
    chunk_state begin = is_own && !is_first_pass ? to.begins[chunk] : 0, found = begin;
    if (thread == 0)
        shared->changed = is_first_pass;
    __syncthreads();
    if (thread == AHEAD && is_own && !is_first_pass && !begins_interval)
        found = to.ends[chunk - 1];
    bool follows = exists && (is_first_pass || found != begin);
    if (follows)
        shared->changed = 1;
    __syncthreads();
    if (!shared->changed)
        return;
    load_shared(packed, true, first, &shared->data);
    shared->ends[thread] = is_own && !is_first_pass ? to.ends[chunk] : 0;
    tally counts = is_own && !is_first_pass ? to.tallies[chunk] : tally{0, 0, 0, 0};
    bool stays = begins_interval || thread == 0 || (thread <= AHEAD && !is_first_pass);
    while (shared->changed) {
        begin = found;
        __syncthreads();
        if (thread == 0)
            shared->changed = 0;
        if (follows)
            shared->ends[thread] = follow_chunk(packed, &shared->data, begin, counts);
        __syncthreads();
        found = stays ? begin : shared->ends[thread - 1];
        follows = exists && found != begin;
        if (follows)
            shared->changed = 1;
        __syncthreads();
    }
    if (!is_own)
        return;
    to.begins[chunk] = begin;
    to.ends[chunk] = shared->ends[thread];
    to.tallies[chunk] = counts;
}

/* ---- Sums over chunks ------------------------------------------------------------------------ */

static __device__ inline tally operator+(tally a, tally b)
{
    return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}

/* Each block of threads takes ADDING_THREADS chunks. It replaces the tally of each by the sum of
 * those before it in the same block, and puts the sum of all into to.sums. */
static __global__ void add_up(const gc_packed *packed, chunk_findings to)
{
    extern __shared__ float4 gc_block_memory[];
    tally *sums = (tally *)gc_block_memory;
    int thread = (int)threadIdx.x;
    unsigned chunk = blockIdx.x * ADDING_THREADS + threadIdx.x;
    tally own = chunk < packed->chunks ? to.tallies[chunk] : tally{0, 0, 0, 0}, sum = own;
    for (int step = 1; step < ADDING_THREADS; step *= 2) {
        sums[thread] = sum;
        __syncthreads();
        if (thread >= step)
            sum = sums[thread - step] + sum;
        __syncthreads();
    }
    if (thread == ADDING_THREADS - 1)
        to.sums[blockIdx.x] = sum;
    sums[thread] = sum;
    __syncthreads();
    if (chunk < packed->chunks)
        to.tallies[chunk] = thread > 0 ? sums[thread - 1] : tally{0, 0, 0, 0};
}

static __device__ inline tally sum_before(const chunk_findings &from, unsigned chunk)
{
    tally sum = from.tallies[chunk];
    for (unsigned block = chunk / ADDING_THREADS; block > 0; block--)
        sum = sum + from.sums[block - 1];
    return sum;
}

/* ---- Coefficients ---------------------------------------------------------------------------- */

/* The place of the coefficients of the present block; null if they are not wanted. */
static __device__ inline int16_t *block_of(const gc_packed *packed, const chunk_findings &to,
                                           unsigned mcu, int block)
{
    int luma = (int)packed->luma_blocks;
    int component = block < luma ? 0 : block - luma + 1;
    int16_t *blocks = to.coefficients[component];
    if (blocks == nullptr)
        return nullptr;
    size_t number = component == 0 ? (size_t)mcu * (size_t)luma + (size_t)block : mcu;
    return blocks + number * COEFFICIENTS;
}

struct chunk_place {
    follower at;
    unsigned left; /* blocks until the interval ends */
    unsigned mcu;
    chunk_state next;  /* how the next chunk begins, as `follow` has found */
    int end;           /* bit of this chunk at which it does */
    int bits_left;     /* of the interval, from the first bit of the chunk; at most two chunks */
    int dc0, dc1, dc2; /* predictions, by component */
};

/* False if the chunk does not begin as its predecessor ends, or lies behind the last block. */
static __device__ inline bool place_chunk(const gc_packed *packed, const chunk_findings &from,
                                          unsigned chunk, chunk_place &place)
{
    unsigned number;
    const gc_packed_interval interval = find_interval(packed, chunk, number);
    bool begins = interval.first_chunk == chunk;
    chunk_state begin = from.begins[chunk];
    if (begin != (begins ? 0 : from.ends[chunk - 1]))
        return false;
    tally sum = sum_before(from, chunk), base = sum_before(from, interval.first_chunk);
    unsigned done = sum.x - base.x;
    unsigned mcu = number * packed->interval_mcus;
    unsigned all = min(packed->interval_mcus, packed->mcus - mcu) * packed->blocks;
    place.at = follow_from(packed, begin);
    place.next = from.ends[chunk];
    place.end = GC_PACKED_CHUNK_BITS + (int)(place.next & 255);
    place.left = all - done;
    place.mcu = mcu + done / packed->blocks;
    uint64_t passed = (uint64_t)(chunk - interval.first_chunk) * GC_PACKED_CHUNK_BITS;
    place.bits_left =
        (int)min((uint64_t)interval.bits - passed, (uint64_t)2 * GC_PACKED_CHUNK_BITS);
    place.dc0 = (int)(sum.y - base.y);
    place.dc1 = (int)(sum.z - base.z);
    place.dc2 = (int)(sum.w - base.w);
    return done <= all;
}

/* Follows a chunk to its end, or to the end of the interval, and stores what it says. False if a
 * step is impossible. */
static __device__ inline bool store_chunk(const gc_packed *packed, const shared_data *shared,
                                          const chunk_findings &to, chunk_place &place)
{
    enum { DC_MAX = 2047 }; /* the energy of a block with more is too large */
    follower &at = place.at;
    int16_t *block = block_of(packed, to, place.mcu, at.block);
    bool sound = true;
    while (at.bit < place.end && place.left > 0 && sound) {
        step now = next_step(packed, shared, false, at);
        bool is_dc = at.coefficient == 0, is_end = now.next == GC_PACKED_END;
        int index = at.coefficient + now.next - 1;
        int value = value_of(now, now.size);
        /* A run of zeros alone never ends a block. */
        sound = now.bits > 0 && (is_end || index < COEFFICIENTS - (now.size == 0 ? 1 : 0));
        if (is_dc) {
            unsigned component = at.kind >> 2;
            place.dc0 += component == 0 ? value : 0;
            place.dc1 += component == 1 ? value : 0;
            place.dc2 += component == 2 ? value : 0;
            value = component == 0 ? place.dc0 : component == 1 ? place.dc1 : place.dc2;
            sound = sound && value >= -DC_MAX && value <= DC_MAX;
        }
        if (block != nullptr && sound && (is_dc || now.size > 0))
            block[index] = (int16_t)value;
        if (pass_step(at, now.bits, now.next)) {
            place.left--;
            place.mcu += at.block == 0;
            block = block_of(packed, to, place.mcu, at.block);
        }
    }
    return sound;
}

/* Whether less than a byte lies behind the last block of an interval, all ones. */
static __device__ inline bool ends_well(const shared_data *shared, const chunk_place &place)
{
    int left = place.bits_left - place.at.bit;
    return left >= 0 && left < 8 &&
           (left == 0 || ~bits_at(shared, place.at.bit) >> (32 - left) == 0);
}

/* Stores the coefficients of all blocks, in zigzag order. Those that are 0 are there already.
 * `rejected` may lie on the host. */
static __global__ void store(const gc_packed *packed, chunk_findings to, unsigned *rejected)
{
    extern __shared__ float4 gc_block_memory[];
    shared_data *shared = (shared_data *)gc_block_memory;
    load_shared(packed, false, (int)(blockIdx.x * THREADS), shared);
    __syncthreads();
    unsigned chunk = blockIdx.x * THREADS + threadIdx.x;
    if (chunk >= packed->chunks)
        return;
    chunk_place place;
    bool sound = place_chunk(packed, to, chunk, place);
    if (sound && place.left > 0) {
        sound = store_chunk(packed, shared, to, place);
        if (place.left == 0)
            sound = sound && ends_well(shared, place);
        else /* the interval has to go on in the next chunk, as that one begins */
            sound = sound && place.bits_left > GC_PACKED_CHUNK_BITS &&
                    place.next == state_of(place.at.bit - GC_PACKED_CHUNK_BITS, place.at.block,
                                           place.at.coefficient);
    }
    if (!sound)
        *rejected = 1;
}

/* ---- Samples --------------------------------------------------------------------------------- */

/* Makes the samples of blocks, a thread for each. blockIdx.y is the component. */
static __global__ void transform(const gc_packed *packed, chunk_findings from, sample_planes to,
                                 unsigned *rejected)
{
    int component = (int)blockIdx.y;
    unsigned across = component == 0 ? packed->luma_across : 1;
    unsigned each = component == 0 ? packed->luma_blocks : 1;
    unsigned number = blockIdx.x * TRANSFORM_THREADS + threadIdx.x;
    if (number >= packed->mcus * each)
        return;
    int x[COEFFICIENTS];
    if (!gc_islow_dequantise(from.coefficients[component] + (size_t)number * COEFFICIENTS,
                             packed->steps[component], packed->energy_max[component], x)) {
        *rejected = 1;
        return;
    }
    gc_islow(x);
    unsigned mcu = number / each, block = number % each;
    unsigned column = mcu % packed->mcus_across * across + block % across;
    unsigned row = mcu / packed->mcus_across * (each / across) + block / across;
    unsigned char *samples =
        to.planes[component] + (size_t)row * 8 * to.pitches[component] + (size_t)column * 8;
#pragma unroll
    for (int y = 0; y < 8; y++)
        *(uint2 *)(samples + (size_t)y * to.pitches[component]) = gc_islow_row(x + 8 * y);
}

/* ---- Launching ------------------------------------------------------------------------------- */

/* Takes parts of a piece of memory, one behind the other. */
struct arena {
    char *memory; /* null: only counts */
    size_t used;
};

static void *take(arena *from, size_t bytes)
{
    enum { ALIGNMENT = 256 };
    void *taken = from->memory == nullptr ? nullptr : from->memory + from->used;
    from->used += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return taken;
}

struct places {
    gc_packed *packed;
    chunk_findings chunks;
    sample_planes planes;
    int components; /* that are wanted */
};

static void lay_out(const gc_packed *packed, bool luma_only, arena *from, places *to)
{
    enum { LINE = 128 };
    size_t chunks = packed->chunks;
    to->components = luma_only || packed->blocks == packed->luma_blocks ? 1 : 3;
    to->packed = (gc_packed *)take(from, packed->bytes);
    to->chunks.begins = (unsigned *)take(from, chunks * sizeof(unsigned));
    to->chunks.ends = (unsigned *)take(from, chunks * sizeof(unsigned));
    to->chunks.tallies = (tally *)take(from, chunks * sizeof(tally));
    to->chunks.sums = (tally *)take(from, (chunks / ADDING_THREADS + 1) * sizeof(tally));
    size_t begin = from->used;
    for (int c = 0; c < to->components; c++) {
        size_t blocks = (size_t)packed->mcus * (c == 0 ? packed->luma_blocks : 1);
        to->chunks.coefficients[c] = (int16_t *)take(from, blocks * COEFFICIENTS * sizeof(int16_t));
    }
    to->chunks.cleared = (uint4 *)to->chunks.coefficients[0];
    to->chunks.cleared_count = (from->used - begin) / sizeof(uint4);
    for (int c = 0; c < to->components; c++) {
        size_t across = c == 0 ? packed->luma_across : 1;
        size_t down = c == 0 ? packed->luma_blocks / packed->luma_across : 1;
        size_t rows = packed->mcus / packed->mcus_across * down * 8;
        to->planes.pitches[c] = (packed->mcus_across * across * 8 + LINE - 1) / LINE * LINE;
        to->planes.planes[c] = (unsigned char *)take(from, rows * to->planes.pitches[c]);
    }
}

double gc_packed_bytes_a_pixel(int channels)
{
    const double samples = channels == 1 ? 1 : 1.5; /* a pixel, of all planes */
    const double data = 0.5;                        /* and what is known of them */
    return samples * (1 + sizeof(int16_t)) + data;
}

size_t gc_packed_device_bytes(const gc_packed *packed, bool luma_only)
{
    arena all = {};
    places counted = {};
    lay_out(packed, luma_only, &all, &counted);
    return all.used;
}

static void launch(const gc_packed *packed, const places &at, unsigned *rejected,
                   cudaStream_t stream)
{
    unsigned following = (packed->chunks + OWN - 1) / OWN;
    unsigned adding = (packed->chunks + ADDING_THREADS - 1) / ADDING_THREADS;
    unsigned storing = (packed->chunks + THREADS - 1) / THREADS;
    for (int i = 0; i < FOLLOWING_PASSES; i++)
        follow<<<following, THREADS, sizeof(shared_states), stream>>>(at.packed, at.chunks, i == 0);
    add_up<<<adding, ADDING_THREADS, ADDING_THREADS * sizeof(tally), stream>>>(at.packed,
                                                                               at.chunks);
    store<<<storing, THREADS, sizeof(shared_data), stream>>>(at.packed, at.chunks, rejected);
    size_t luma = (size_t)packed->mcus * packed->luma_blocks;
    dim3 grid((unsigned)((luma + TRANSFORM_THREADS - 1) / TRANSFORM_THREADS),
              (unsigned)at.components);
    transform<<<grid, TRANSFORM_THREADS, 0, stream>>>(at.packed, at.chunks, at.planes, rejected);
}

gconv_status gc_packed_upload(const gc_packed *packed, void *memory, cudaStream_t stream,
                              gconv_error *error)
{
    GC_CUDA_TRY(error,
                cudaMemcpyAsync(memory, packed, packed->bytes, cudaMemcpyHostToDevice, stream));
    return GCONV_OK;
}

gconv_status gc_packed_decode(gc_packed *packed, bool is_mapped, bool luma_only, void *memory,
                              gc_decoded *decoded, cudaStream_t stream, gconv_error *error)
{
    arena all = {(char *)memory, 0};
    places at = {};
    lay_out(packed, luma_only, &all, &at);
    launch(packed, at, is_mapped ? &packed->rejected : &at.packed->rejected, stream);
    GC_CUDA_TRY_LAUNCH(error);
    if (!is_mapped)
        GC_CUDA_TRY(error,
                    cudaMemcpyAsync(&packed->rejected, &at.packed->rejected,
                                    sizeof packed->rejected, cudaMemcpyDeviceToHost, stream));
    *decoded = {};
    for (int c = 0; c < at.components; c++) {
        decoded->planes[c] = at.planes.planes[c];
        decoded->pitches[c] = at.planes.pitches[c];
    }
    return GCONV_OK;
}
