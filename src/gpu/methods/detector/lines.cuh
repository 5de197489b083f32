/* What kernels of detectors are told, and those that follow the lines of Canny: pixels that may be
 * edges are edges if neighbours, eight to a pixel, connect them with one.
 *
 * Edges grow in regions of 256 rows of four words, whose rows meet in shared memory, some rounds
 * over the image. A round after which no region has changed at its border is the last that does
 * anything. Lines that wind through many regions need more rounds than there are. Then parts of
 * lines in one word become nodes of a forest: all parts of a line have one root, the least of them.
 * Node 0 stands for edges that are sure. The trees of neighbours are joined, as Playne and Hawick
 * 2018 do, and edges are the parts whose root is node 0. So no kernel waits for another block. */
#ifndef GC_GPU_METHODS_DETECTOR_LINES_CUH
#define GC_GPU_METHODS_DETECTOR_LINES_CUH

#include "gpu/pass/pass.cuh"

extern "C" {
#include "core/detector.h"
}

enum { GC_DETECT_THREADS = 256, GC_DETECT_BLUR = 5, GC_LINES_WORDS = 4, GC_LINES_ROUNDS = 8 };

/* One launch. The chain is nothing, a column and a row around their middle, or these and 3x3
 * weights. */
struct gc_finding {
    gc_detector detector;
    int blurs, column[GC_DETECT_BLUR], second[9];
    unsigned row[4][2]; /* four weights in a word, for columns 0 to 3: see gc_detect_rows */
    const unsigned char *samples; /* of row `first` of the image */
    long long pitch;
    int first, width, height, border;
    int outside, between; /* under a constant border: samples, and values behind column and row */
    unsigned row_words;   /* words in a row: those of whole tiles */
    /* Of Canny, else null. Pixels that may be edges, and those of them that are sure. */
    unsigned *words, *sure;
    unsigned *parents; /* of all nodes; a root is its own parent */
    /* Of regions: 1 more than the round in which the border has last changed. Behind them whether
     * any has in the last round. */
    unsigned *stamps;
    void *output;
    long long output_pitch; /* bytes; floats if chain values are stored */
    int output_type, invert;
};

/* ---- Output ---------------------------------------------------------------------------------- */

/* Stores 32 pixels, of which bit 0 is the first. */
static __device__ inline void gc_lines_store(const gc_finding &f, int row, int word, unsigned flags)
{
    int left = f.width - 32 * word; /* pixels of the row */
    if (left <= 0)
        return;
    flags = f.invert ? ~flags : flags;
    flags = left < 32 ? flags & ((1u << left) - 1) : flags;
    unsigned *to = (unsigned *)((char *)f.output + row * f.output_pitch);
    if (f.output_type == GC_BIT)
        to[word] = __byte_perm(__brev(flags), 0, 0x0123);
    else if (f.output_type == GC_BYTE)
        for (int k = 0; k < 8; k++, flags >>= 4)
            to[8 * word + k] = ((flags & 15) * 0x204081 & 0x1010101) * 255;
    else
        for (int k = 0; k < 16; k++, flags >>= 2)
            to[16 * word + k] = (flags & 1) * 0xffff | (flags >> 1 & 1) * 0xffff0000;
}

/* Of Canny, keeps 32 pixels for the kernels that follow lines; else stores them. */
static __device__ inline void gc_lines_keep(const gc_finding &f, int row, int word, unsigned flags,
                                            unsigned sure)
{
    if (f.words == nullptr)
        return gc_lines_store(f, row, word, flags);
    unsigned index = (unsigned)row * f.row_words + (unsigned)word;
    f.words[index] = flags;
    f.sure[index] = sure;
}

/* ---- Growing --------------------------------------------------------------------------------- */

/* A row of a region, with a word on either side. */
struct gc_lines_row {
    unsigned words[GC_LINES_WORDS + 2];
};

static __device__ inline gc_lines_row gc_lines_load(const gc_finding &f, const unsigned *from,
                                                    int row, int column)
{
    gc_lines_row loaded = {};
    for (int k = 0; k < GC_LINES_WORDS + 2; k++)
        if (row >= 0 && row < f.height && column + k > 0 && column + k <= (int)f.row_words)
            loaded.words[k] = from[(unsigned)row * f.row_words + (unsigned)(column + k - 1)];
    return loaded;
}

/* Sets what follows flags in the same part, up to its end: the carry runs through. */
static __device__ inline void gc_lines_fill(const gc_lines_row &may, bool backwards,
                                            gc_lines_row *flags)
{
    unsigned long long sum = 0;
#pragma unroll
    for (int n = 1; n <= GC_LINES_WORDS; n++, sum >>= 32) {
        int k = backwards ? GC_LINES_WORDS + 1 - n : n;
        unsigned mask = backwards ? __brev(may.words[k]) : may.words[k];
        unsigned own = backwards ? __brev(flags->words[k]) : flags->words[k];
        sum += (unsigned long long)mask + own;
        own |= ((unsigned)sum ^ mask) & mask;
        flags->words[k] = backwards ? __brev(own) : own;
    }
}

/* The edges of a row that those beside it, in rows above, own and below, make sure. */
static __device__ inline gc_lines_row gc_lines_grown(const gc_lines_row &above,
                                                     const gc_lines_row &own,
                                                     const gc_lines_row &below,
                                                     const gc_lines_row &may)
{
    gc_lines_row all, grown = own;
    for (int k = 0; k < GC_LINES_WORDS + 2; k++)
        all.words[k] = above.words[k] | own.words[k] | below.words[k];
#pragma unroll
    for (int k = 1; k <= GC_LINES_WORDS; k++) {
        unsigned beside =
            all.words[k] << 1 | all.words[k] >> 1 | all.words[k - 1] >> 31 | all.words[k + 1] << 31;
        grown.words[k] |= (all.words[k] | beside) & may.words[k];
    }
    gc_lines_fill(may, false, &grown);
    gc_lines_fill(may, true, &grown);
    return grown;
}

static __host__ __device__ inline unsigned gc_lines_regions(const gc_finding &f)
{
    unsigned high = ((unsigned)f.height + GC_DETECT_THREADS - 1) / GC_DETECT_THREADS;
    return f.row_words / GC_LINES_WORDS * high;
}

/* Whether a region beside this one has changed at its border since the round before. */
static __device__ inline bool gc_lines_is_due(const gc_finding &f, int round)
{
    int wide = (int)f.row_words / GC_LINES_WORDS, all = (int)gc_lines_regions(f);
    bool due = false;
    for (int k = 0; k < 9; k++) {
        int column = (int)blockIdx.x % wide + k % 3 - 1;
        int region = (int)blockIdx.x + (k / 3 - 1) * wide + k % 3 - 1;
        if (column >= 0 && column < wide && region >= 0 && region < all)
            due = due || f.stamps[region] >= (unsigned)round;
    }
    return due;
}

static __global__ void __launch_bounds__(GC_DETECT_THREADS)
    gc_grow_lines(const __grid_constant__ gc_finding f, int round)
{
    static __shared__ gc_lines_row rows[2][GC_DETECT_THREADS + 2];
    static __shared__ unsigned grows[3];
    static __shared__ bool is_due; /* for all threads: a neighbour may store its stamp by now */
    const int wide = (int)f.row_words / GC_LINES_WORDS, thread = (int)threadIdx.x;
    if (thread == 0)
        is_due = gc_lines_is_due(f, round);
    __syncthreads();
    if (!is_due)
        return;
    const bool ends = thread == 0 || thread == GC_DETECT_THREADS - 1;
    int column = (int)blockIdx.x % wide * GC_LINES_WORDS;
    int row = (int)blockIdx.x / wide * GC_DETECT_THREADS + thread, beyond = thread == 0 ? -1 : 1;
    gc_lines_row may = gc_lines_load(f, f.words, row, column);
    gc_lines_row first = gc_lines_load(f, f.sure, row, column), own = first;
    rows[0][thread + 1] = rows[1][thread + 1] = first;
    if (ends)
        rows[0][thread + 1 + beyond] = rows[1][thread + 1 + beyond] =
            gc_lines_load(f, f.sure, row + beyond, column);
    for (int n = 0;; n++) { /* what is set at one time and asked for at the next has its places */
        if (thread == 0)
            grows[(n + 1) % 3] = 0;
        __syncthreads();
        if (n > 0 && grows[n % 3] == 0)
            break;
        const gc_lines_row *beside = rows[n % 2] + thread;
        gc_lines_row grown = gc_lines_grown(beside[0], own, beside[2], may);
        for (int k = 1; k <= GC_LINES_WORDS; k++)
            if (grown.words[k] != own.words[k])
                grows[(n + 1) % 3] = 1;
        rows[(n + 1) % 2][thread + 1] = own = grown;
    }
    for (int k = 1; k <= GC_LINES_WORDS; k++) {
        unsigned fresh = own.words[k] ^ first.words[k];
        unsigned border = ends ? ~0u : k == 1 ? 1 : k == GC_LINES_WORDS ? 1u << 31 : 0;
        if (fresh != 0)
            f.sure[(unsigned)row * f.row_words + (unsigned)(column + k - 1)] = own.words[k];
        if ((fresh & border) != 0)
            f.stamps[round + 1 < GC_LINES_ROUNDS ? blockIdx.x : gc_lines_regions(f)] =
                (unsigned)round + 1;
    }
}

/* Whether edges have grown to the end. */
static __device__ inline bool gc_lines_are_grown(const gc_finding &f)
{
    return f.stamps[gc_lines_regions(f)] == 0;
}

/* ---- Trees ----------------------------------------------------------------------------------- */

enum { GC_NODES_OF_WORD = 16 };
#define GC_NO_NODE (~0u)

/* The node of the part that has this bit. Parts of a word begin two bits apart at least. */
static __device__ inline unsigned gc_lines_node(unsigned index, unsigned word, int bit)
{
    unsigned gaps = ~word & ((1u << bit) - 1);
    unsigned begin = 64 - (unsigned)__clzll((long long)gaps);
    return 1 + GC_NODES_OF_WORD * index + begin / 2;
}

/* Makes trees of the parts of a word. A lane takes the part that begins with its bit. */
static __device__ inline void gc_lines_begin(const gc_finding &f, unsigned index, unsigned word,
                                             unsigned sure)
{
    unsigned bit = 1u << gc_pass_lane();
    if ((word & ~(word << 1) & bit) == 0)
        return;
    unsigned node = gc_lines_node(index, word, gc_pass_lane());
    f.parents[node] = (word & ~(word + bit) & sure) != 0 ? 0 : node; /* the carry takes the part */
}

/* Others may join trees meanwhile: a root that was found may have a parent then. Each node that is
 * visited becomes a child of its grandparent. */
static __device__ inline unsigned gc_lines_root(volatile unsigned *parents, unsigned node)
{
    for (;;) {
        unsigned parent = parents[node];
        if (parent == node)
            return node;
        unsigned next = parents[parent];
        if (next != parent)
            parents[node] = next;
        node = next;
    }
}

/* Joins two trees: the greater root becomes a child of the other. If it has got another parent
 * meanwhile, that one is joined. */
static __device__ inline void gc_lines_join(unsigned *parents, unsigned a, unsigned b)
{
    while (a != b) {
        a = gc_lines_root(parents, a);
        b = gc_lines_root(parents, b);
        unsigned greater = a > b ? a : b, other = a > b ? b : a;
        if (a == b)
            return;
        a = atomicMin(&parents[greater], other);
        b = other;
        if (a == greater)
            return;
    }
}

/* The node of a pixel that may be an edge; bits -1 and 32 are pixels of the words beside. */
static __device__ inline unsigned gc_lines_node_at(const gc_finding &f, unsigned index, int bit)
{
    unsigned column = index % f.row_words;
    if ((bit < 0 && column == 0) || (bit > 31 && column + 1 == f.row_words))
        return GC_NO_NODE;
    index = bit < 0 ? index - 1 : bit > 31 ? index + 1 : index;
    unsigned word = f.words[index];
    return (word >> (bit & 31) & 1) != 0 ? gc_lines_node(index, word, bit & 31) : GC_NO_NODE;
}

/* Joins the part of a pixel with those before and above it, unless the pixel before, in the same
 * part, does. */
static __device__ inline void gc_lines_join_pixel(const gc_finding &f, unsigned index, int bit)
{
    unsigned node = gc_lines_node_at(f, index, bit), before = gc_lines_node_at(f, index, bit - 1);
    if (node == GC_NO_NODE)
        return;
    if (before != GC_NO_NODE && bit == 0)
        gc_lines_join(f.parents, node, before);
    if (index < f.row_words)
        return;
    bool begins = before != node;
    unsigned above = gc_lines_node_at(f, index - f.row_words, bit);
    unsigned left = gc_lines_node_at(f, index - f.row_words, bit - 1);
    unsigned right = gc_lines_node_at(f, index - f.row_words, bit + 1);
    if (above != GC_NO_NODE && begins)
        gc_lines_join(f.parents, node, above);
    if (above == GC_NO_NODE && left != GC_NO_NODE && begins)
        gc_lines_join(f.parents, node, left);
    if (above == GC_NO_NODE && right != GC_NO_NODE)
        gc_lines_join(f.parents, node, right);
}

/* ---- Kernels --------------------------------------------------------------------------------- */

/* Begins trees, and joins them. A warp takes 32 words, and of each that is not 0 a pixel a lane. */
template <bool BEGINS>
static __global__ void __launch_bounds__(GC_DETECT_THREADS)
    gc_join_lines(const __grid_constant__ gc_finding f)
{
    unsigned index = blockIdx.x * GC_DETECT_THREADS + threadIdx.x;
    if (gc_lines_are_grown(f))
        return;
    unsigned own = index < f.row_words * (unsigned)f.height ? f.words[index] : 0;
    index -= (unsigned)gc_pass_lane();
    for (unsigned left = __ballot_sync(~0u, own != 0); left != 0; left &= left - 1) {
        unsigned which = index + (unsigned)__ffs((int)left) - 1;
        if (BEGINS)
            gc_lines_begin(f, which, f.words[which], f.sure[which]);
        else
            gc_lines_join_pixel(f, which, gc_pass_lane());
    }
}

static __global__ void __launch_bounds__(GC_DETECT_THREADS)
    gc_store_lines(const __grid_constant__ gc_finding f)
{
    unsigned index = blockIdx.x * GC_DETECT_THREADS + threadIdx.x, edges = 0;
    bool is_word = index < f.row_words * (unsigned)f.height;
    unsigned own = is_word ? f.words[index] : 0;
    int lane = gc_pass_lane();
    if (gc_lines_are_grown(f)) {
        edges = is_word ? f.sure[index] : 0;
        own = 0;
    }
    for (unsigned left = __ballot_sync(~0u, own != 0); left != 0; left &= left - 1) {
        int which = __ffs((int)left) - 1;
        unsigned node = gc_lines_node_at(f, index - (unsigned)lane + (unsigned)which, lane);
        bool edge = node != GC_NO_NODE && gc_lines_root(f.parents, node) == 0;
        unsigned flags = __ballot_sync(~0u, edge);
        edges = lane == which ? flags : edges;
    }
    if (is_word)
        gc_lines_store(f, (int)(index / f.row_words), (int)(index % f.row_words), edges);
}

#endif
