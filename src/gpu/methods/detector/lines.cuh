/* What kernels of detectors are told, and those that follow the lines of Canny: pixels that may be
 * edges are edges if neighbours, eight to a pixel, connect them with one that is sure.
 *
 * First lines are followed within a tile, in shared memory. Sure pixels grow, some rounds. In what
 * is left, pixels that follow each other in a word are a part, and parts are nodes of a forest: all
 * parts of a line have one root, the least of them. A line that ends within the tile is decided
 * there. The others are open: their trees go to the device's memory, and are joined with those of
 * tiles beside (Playne and Hawick 2018). Node 0 stands for all that is sure. So edges are the parts
 * whose root is node 0, and no kernel waits for another block. */
#ifndef GC_GPU_METHODS_DETECTOR_LINES_CUH
#define GC_GPU_METHODS_DETECTOR_LINES_CUH

#include "gpu/pass/pass.cuh"

extern "C" {
#include "core/detector.h"
}

enum {
    GC_DETECT_THREADS = 256,
    GC_TILE_ROWS = 62,
    GC_TILE_WORDS = 4, /* of a row of a tile, 32 pixels each */
    GC_TILE_COLUMNS = 32 * GC_TILE_WORDS,
    GC_LINES_ROUNDS = 5,
    GC_NODES_OF_WORD = 16
};
#define GC_NO_NODE (~0u)

/* One launch. */
struct gc_finding {
    gc_detector detector;
    const unsigned *weights; /* of sums of samples: see gc_detect_weights */
    int digits;              /* of a weight */
    int is_raw;              /* what is kept are sums, and no magnitudes */
    long long low, high;     /* as those of the detector, within what the kernel compares */
    /* Pixels of the image's first and last rows and columns depend on values beyond, which the
     * border makes of values inside. If `mends` they are made from the chain's first filter, of 5x5
     * weights, and 3x3 weights of two sums behind it. */
    int mends, blur[25], second[2][9];
    const unsigned char *samples; /* of row `first` of the image */
    long long pitch;
    int first, width, height, border;
    int outside, between; /* under a constant border: samples, and values behind the first filter */
    unsigned row_words;   /* words in a row: those of whole tiles */
    uint2 *words;         /* of Canny, else null: pixels of open lines, and those that are sure */
    unsigned *parents;    /* of all nodes; a root is its own parent */
    void *output;
    long long output_pitch; /* bytes; floats if chain values are stored */
    int output_type, invert;
};

/* ---- Output ---------------------------------------------------------------------------------- */

/* Four bytes of black and white. */
static __device__ inline unsigned gc_lines_bytes(unsigned flags)
{
    return ((flags & 15) * 0x204081 & 0x1010101) * 255;
}

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
        for (int k = 0; k < 2; k++, flags >>= 16)
            ((uint4 *)to)[2 * word + k] =
                make_uint4(gc_lines_bytes(flags), gc_lines_bytes(flags >> 4),
                           gc_lines_bytes(flags >> 8), gc_lines_bytes(flags >> 12));
    else
        for (int k = 0; k < 16; k++, flags >>= 2)
            to[16 * word + k] = (flags & 1) * 0xffff | (flags >> 1 & 1) * 0xffff0000;
}

/* ---- Trees ----------------------------------------------------------------------------------- */

/* The number of the part that has this bit. Parts of a word begin two bits apart at least. */
static __device__ inline unsigned gc_lines_part(unsigned word, int bit)
{
    unsigned gaps = ~word & ((1u << bit) - 1);
    return (32 - (unsigned)__clz((int)gaps)) / 2;
}

/* Calls act(part, number) for the parts of a word. */
template <class action>
static __device__ inline void gc_lines_each(unsigned word, const action &act)
{
    while (word != 0) {
        unsigned part = word & ~(word + (word & (0 - word))); /* the carry takes the part */
        act(part, ((unsigned)__ffs((int)part) - 1) / 2);
        word ^= part;
    }
}

/* Of trees in shared memory threads of a block read and write by atomic operations alone, of others
 * by those that go to memory. */
template <bool SHARED>
static __device__ inline unsigned gc_lines_parent(unsigned *parents, unsigned node)
{
    return SHARED ? atomicOr(parents + node, 0u) : *(volatile unsigned *)(parents + node);
}

/* Others may join trees meanwhile: a root that was found may have a parent then. Each node that is
 * visited becomes a child of its grandparent. */
template <bool SHARED>
static __device__ inline unsigned gc_lines_root(unsigned *parents, unsigned node)
{
    for (;;) {
        unsigned parent = gc_lines_parent<SHARED>(parents, node);
        if (parent == node)
            return node;
        unsigned next = gc_lines_parent<SHARED>(parents, parent);
        if (next != parent)
            atomicMin(parents + node, next);
        node = next;
    }
}

/* Joins two trees: the greater root becomes a child of the other. If it has got another parent
 * meanwhile, that one is joined. */
template <bool SHARED>
static __device__ inline void gc_lines_join(unsigned *parents, unsigned a, unsigned b)
{
    while (a != b) {
        a = gc_lines_root<SHARED>(parents, a);
        b = gc_lines_root<SHARED>(parents, b);
        unsigned greater = a > b ? a : b, other = a > b ? b : a;
        if (a == b)
            return;
        a = atomicMin(&parents[greater], other);
        b = other;
        if (a == greater)
            return;
    }
}

/* ---- Lines within a tile --------------------------------------------------------------------- */

enum { GC_LINES_PITCH = GC_TILE_WORDS + 2, GC_LINES_ROWS = GC_DETECT_THREADS / GC_TILE_WORDS + 2 };

/* Words of a tile in shared memory, with zeros around: of what is left, and those that are sure, by
 * turns. */
struct gc_lines_tile {
    unsigned left[GC_LINES_ROWS * GC_LINES_PITCH], sure[2][GC_LINES_ROWS * GC_LINES_PITCH];
};
static_assert(sizeof(gc_lines_tile) % sizeof(uint4) == 0, "it is set to zeros by four words");

/* The sure pixels of a word that may be edges, from what is sure in the words around: they fill a
 * part up to its ends. */
static __device__ inline unsigned gc_lines_grown(const unsigned *sure, unsigned may)
{
    unsigned all[3];
#pragma unroll
    for (int k = 0; k < 3; k++)
        all[k] = sure[k - 1 - GC_LINES_PITCH] | sure[k - 1] | sure[k - 1 + GC_LINES_PITCH];
    unsigned grown = (all[1] | all[1] << 1 | all[1] >> 1 | all[0] >> 31 | all[2] << 31) & may;
    grown |= ((may + grown) ^ may) & may; /* the carry runs through */
    unsigned back = __brev(may);
    return grown | __brev(((back + __brev(grown)) ^ back) & back);
}

/* Calls act(node) for parts of other words, to the left and above, that a part of the word touches.
 * A part beside one of these is left out, since that one touches it. */
template <class action>
static __device__ inline void gc_lines_beside(const unsigned *word, unsigned part, unsigned first,
                                              const action &act)
{
    enum { ROW = GC_TILE_WORDS * GC_NODES_OF_WORD };
    const unsigned *above = word - GC_LINES_PITCH;
    gc_lines_each(*above & (part | part << 1 | part >> 1), [&](unsigned touched, unsigned) {
        act(first - ROW + gc_lines_part(*above, __ffs((int)touched) - 1));
    });
    if ((part & word[-1] >> 31) != 0)
        act(first - GC_NODES_OF_WORD + gc_lines_part(word[-1], 31));
    if ((part & ~*above & above[-1] >> 31) != 0)
        act(first - ROW - GC_NODES_OF_WORD + gc_lines_part(above[-1], 31));
    if (((part & ~*above) >> 31 & above[1]) != 0)
        act(first - ROW + GC_NODES_OF_WORD);
}

/* Makes trees of the parts of what is left of a thread's word, `left`. */
static __device__ inline void gc_lines_plant(const unsigned *word, unsigned left, unsigned *parents,
                                             unsigned *marks)
{
    const unsigned first = threadIdx.x * GC_NODES_OF_WORD;
    unsigned joins = 0; /* parts that touch several others */
    gc_lines_each(left, [&](unsigned part, unsigned number) {
        unsigned parent = GC_NO_NODE;
        gc_lines_beside(word, part, first, [&](unsigned node) {
            joins |= parent != GC_NO_NODE ? part : 0;
            parent = parent == GC_NO_NODE ? node : parent;
        });
        parents[first + number] = parent == GC_NO_NODE ? first + number : parent;
        marks[first + number] = 0;
    });
    __syncthreads();
    gc_lines_each(joins, [&](unsigned part, unsigned number) {
        gc_lines_beside(word, part, first,
                        [&](unsigned node) { gc_lines_join<true>(parents, first + number, node); });
    });
    __syncthreads();
}

/* The root, once trees stay as they are. */
static __device__ inline unsigned gc_lines_top(const unsigned *parents, unsigned node)
{
    unsigned parent = parents[node];
    while (parent != node) {
        node = parent;
        parent = parents[node];
    }
    return node;
}

/* The word of the image that a thread has, of a tile that begins in this row and word. */
static __device__ inline unsigned gc_lines_index(const gc_finding &f, int row, int column,
                                                 unsigned thread)
{
    return ((unsigned)row + thread / GC_TILE_WORDS) * f.row_words + (unsigned)column +
           thread % GC_TILE_WORDS;
}

/* Decides about lines: of parts in `left`, adds to *sure those whose line touches a sure pixel, as
 * `grown` says. Returns the parts of lines that come to the tile's `ends`. */
static __device__ inline unsigned gc_lines_decide(const gc_finding &f, int row, int column,
                                                  unsigned left, unsigned grown, unsigned ends,
                                                  unsigned *sure, unsigned *parents,
                                                  unsigned *marks)
{
    enum { SURE = 1, OPEN = 2 };
    const unsigned thread = threadIdx.x, first = thread * GC_NODES_OF_WORD;
    unsigned open = 0;
    gc_lines_each(left & (grown | ends), [&](unsigned flags, unsigned) {
        unsigned number = gc_lines_part(left, __ffs((int)flags) - 1);
        atomicOr(marks + gc_lines_top(parents, first + number), (flags & grown) != 0 ? SURE : OPEN);
    });
    __syncthreads();
    gc_lines_each(left, [&](unsigned part, unsigned number) {
        unsigned root = gc_lines_top(parents, first + number), mark = marks[root];
        *sure |= (mark & SURE) != 0 ? part : 0;
        if (mark != OPEN)
            return;
        open |= part;
        unsigned index = gc_lines_index(f, row, column, thread);
        unsigned other = gc_lines_index(f, row, column, root / GC_NODES_OF_WORD);
        f.parents[1 + GC_NODES_OF_WORD * index + number] =
            1 + GC_NODES_OF_WORD * other + root % GC_NODES_OF_WORD;
    });
    return open;
}

/* Follows lines in a tile that begins in this row and word of the image. A thread has a word of
 * pixels that may be edges, and of those that are sure. `memory` has room for all nodes twice. */
static __device__ inline void gc_lines_follow(const gc_finding &f, int row, int column,
                                              unsigned may, unsigned sure, gc_lines_tile *tile,
                                              unsigned *memory)
{
    unsigned *marks = memory + GC_DETECT_THREADS * GC_NODES_OF_WORD;
    const int y = (int)threadIdx.x / GC_TILE_WORDS, k = (int)threadIdx.x % GC_TILE_WORDS;
    const int at = (y + 1) * GC_LINES_PITCH + k + 1;
    unsigned ends = y == 0 || y == GC_TILE_ROWS - 1    ? ~0u
                    : k == 0 || k == GC_TILE_WORDS - 1 ? k == 0 ? 1 : 1u << 31
                                                       : 0;
    unsigned open = 0;
    bool grows = true;
    int n = 0;
    for (size_t i = threadIdx.x; i < sizeof *tile / sizeof(uint4); i += GC_DETECT_THREADS)
        ((uint4 *)tile)[i] = make_uint4(0, 0, 0, 0);
    __syncthreads();
    tile->sure[0][at] = sure;
    __syncthreads();
    for (; n < GC_LINES_ROUNDS && grows; n++) {
        unsigned grown = gc_lines_grown(tile->sure[n % 2] + at, may);
        grows = grown != sure;
        tile->sure[(n + 1) % 2][at] = sure = grown;
        grows = __syncthreads_or(grows) != 0;
    }
    unsigned grown = gc_lines_grown(tile->sure[n % 2] + at, may), left = may & ~sure;
    tile->left[at] = left;
    if (__syncthreads_or(left != 0) != 0) {
        gc_lines_plant(tile->left + at, left, memory, marks);
        open = gc_lines_decide(f, row, column, left, grown, ends, &sure, memory, marks);
    }
    if (y < GC_TILE_ROWS && row + y < f.height)
        f.words[gc_lines_index(f, row, column, threadIdx.x)] = make_uint2(open, sure);
}

/* ---- Lines across tiles ---------------------------------------------------------------------- */

/* The node of a pixel. */
static __device__ inline unsigned gc_lines_node(const gc_finding &f, int x, int y)
{
    if (x < 0 || x >= f.width || y < 0 || y >= f.height)
        return GC_NO_NODE;
    unsigned index = (unsigned)y * f.row_words + (unsigned)x / 32, flag = 1u << x % 32;
    uint2 word = f.words[index];
    return (word.y & flag) != 0   ? 0
           : (word.x & flag) != 0 ? 1 + GC_NODES_OF_WORD * index + gc_lines_part(word.x, x % 32)
                                  : GC_NO_NODE;
}

static __host__ __device__ inline unsigned gc_lines_borders(const gc_finding &f)
{
    return ((unsigned)f.height - 1) / GC_TILE_ROWS * (unsigned)f.width +
           ((unsigned)f.width - 1) / GC_TILE_COLUMNS * (unsigned)f.height;
}

/* Joins trees of neighbours: a thread takes a pixel in the first row or column of a tile, and the
 * three beside it in the tile before. If the middle one may be an edge, the others touch it. */
static __global__ void __launch_bounds__(GC_DETECT_THREADS)
    gc_join_lines(const __grid_constant__ gc_finding f)
{
    const unsigned id = blockIdx.x * GC_DETECT_THREADS + threadIdx.x, high = (unsigned)f.height;
    const unsigned in_rows = (high - 1) / GC_TILE_ROWS * (unsigned)f.width;
    const bool is_row = id < in_rows;
    int x = (int)(id % (unsigned)f.width), y = (int)(id / (unsigned)f.width + 1) * GC_TILE_ROWS;
    if (!is_row) {
        x = (int)((id - in_rows) / high + 1) * GC_TILE_COLUMNS;
        y = (int)((id - in_rows) % high);
    }
    unsigned node = gc_lines_node(f, x, y), others[3];
    if (node == GC_NO_NODE)
        return;
#pragma unroll
    for (int k = 0; k < 3; k++)
        others[k] = gc_lines_node(f, is_row ? x + k - 1 : x - 1, is_row ? y - 1 : y + k - 1);
#pragma unroll
    for (int k = 0; k < 3; k++)
        if (others[k] != GC_NO_NODE && (k == 1 || others[1] == GC_NO_NODE))
            gc_lines_join<false>(f.parents, node, others[k]);
}

static __global__ void __launch_bounds__(GC_DETECT_THREADS)
    gc_store_lines(const __grid_constant__ gc_finding f)
{
    unsigned index = blockIdx.x * GC_DETECT_THREADS + threadIdx.x;
    if (index >= f.row_words * (unsigned)f.height)
        return;
    uint2 word = f.words[index];
    gc_lines_each(word.x, [&](unsigned part, unsigned number) {
        unsigned root = gc_lines_root<false>(f.parents, 1 + GC_NODES_OF_WORD * index + number);
        word.y |= root == 0 ? part : 0;
    });
    gc_lines_store(f, (int)(index / f.row_words), (int)(index % f.row_words), word.y);
}

#endif
