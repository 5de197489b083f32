/* What kernels of detectors are told, and those that follow the lines of Canny: pixels that may be
 * edges are edges if neighbours, eight to a pixel, connect them with one that is sure.
 *
 * First lines are followed within a tile, in shared memory. Pixels that follow each other in a word
 * are a part, and parts that touch a sure pixel are sure. The others are nodes of a forest, which
 * threads share out: all parts of a line have one root, the least of them. A line that ends within
 * the tile is decided there. The others are open: their trees go to the device's memory, and are
 * joined with those of tiles beside (Playne and Hawick 2018). Node 0 stands for all that is sure.
 * So edges are the parts whose root is node 0, and no kernel waits for another block. */
#pragma once

#include "gpu/pass/pass.cuh"

extern "C" {
#include "core/detector.h"
}

enum {
    GC_DETECT_THREADS = 256,
    GC_TILE_ROWS = 62,
    GC_TILE_WORDS = 4, /* of a row of a tile, 32 pixels each */
    GC_TILE_COLUMNS = 32 * GC_TILE_WORDS,
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
    int tile_rows;        /* rows of tiles */
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

/* Returns when the kernel before has ended, and its memory is to be seen: a kernel may start while
 * blocks of the one before end. */
static __device__ inline void gc_await_kernel_before()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
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

/* A thread has a word of 64 rows, of which the first and the last one lie outside the tile. */
enum {
    GC_LINES_PITCH = GC_TILE_WORDS + 2,
    GC_LINES_ROWS = GC_DETECT_THREADS / GC_TILE_WORDS + 2,
    GC_LINES_NODES = GC_DETECT_THREADS * GC_NODES_OF_WORD,
    GC_FLAG_WORDS = GC_TILE_WORDS + 1, /* of a row, from column -4 on */
    GC_FLAG_ROWS = 16                  /* of a warp: 8 of peaks, and 8 of those that are sure */
};

/* Words of a tile in shared memory, with zeros around. */
struct gc_tile_lines {
    /* Pixels of nodes, sure ones, and those with what touches them. Then these two become open
     * lines, and sure ones. */
    unsigned left[GC_LINES_ROWS * GC_LINES_PITCH], sure[2][GC_LINES_ROWS * GC_LINES_PITCH];
    unsigned count, unused[3];                                             /* count: of nodes */
    unsigned flags[GC_DETECT_THREADS / 32 * GC_FLAG_ROWS * GC_FLAG_WORDS]; /* see gc_detect_mark */
};

/* Nodes of a tile: 16 for a thread's word. The queue has each, and what is known of its part. */
struct gc_lines_forest {
    unsigned parents[GC_LINES_NODES];
    unsigned short seen[GC_LINES_NODES], queue[GC_LINES_NODES];
};
enum {
    GC_NODE_SURE = 1 << 12,  /* it touches a sure pixel */
    GC_NODE_OPEN = 1 << 13,  /* it comes to the tile's ends */
    GC_NODE_JOINS = 1 << 14, /* it touches several others */
    GC_NODE_KNOWN = GC_NODE_SURE | GC_NODE_OPEN
};
static_assert(GC_LINES_NODES == 1 << 12, "bits of a node's number");

/* The place of a thread's word. */
static __device__ inline int gc_lines_at(unsigned thread)
{
    return (int)((thread / GC_TILE_WORDS + 1) * GC_LINES_PITCH + thread % GC_TILE_WORDS + 1);
}

/* The row of the image that a thread has, of a tile that begins in this one; -1 if it has none. */
static __device__ inline int gc_lines_row(const gc_finding &f, int row)
{
    int y = (int)threadIdx.x / GC_TILE_WORDS - 1;
    return y < GC_TILE_ROWS && row + y < f.height && y >= 0 ? row + y : -1;
}

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

/* The part of a node. */
static __device__ inline unsigned gc_lines_part_of(const gc_tile_lines *tile, unsigned node)
{
    unsigned word = tile->left[gc_lines_at(node / GC_NODES_OF_WORD)];
    unsigned bit = 1u << node % GC_NODES_OF_WORD * 2;
    bit <<= (word & bit) == 0; /* it begins with one of two bits */
    return word & ~(word + bit);
}

/* Calls act(node) for parts of other words, to the left and above, that a node's part touches. A
 * part beside one of these is left out, since that one touches it. */
template <class action>
static __device__ inline void gc_lines_beside(const gc_tile_lines *tile, unsigned node,
                                              const action &act)
{
    enum { ROW = GC_TILE_WORDS * GC_NODES_OF_WORD };
    const unsigned first = node / GC_NODES_OF_WORD * GC_NODES_OF_WORD;
    const unsigned part = gc_lines_part_of(tile, node);
    const unsigned *word = tile->left + gc_lines_at(node / GC_NODES_OF_WORD);
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

/* Calls act(node, entry of the queue) for nodes of this thread. */
template <class action>
static __device__ inline void gc_lines_share(const gc_tile_lines *tile, gc_lines_forest *forest,
                                             const action &act)
{
    for (unsigned i = threadIdx.x; i < tile->count; i += GC_DETECT_THREADS)
        act((unsigned)forest->queue[i] % GC_LINES_NODES, forest->queue[i]);
}

/* Makes trees of nodes, then all nodes children of their roots: each half of a round doubles how
 * far up a node sees. */
static __device__ inline void gc_lines_plant(const gc_tile_lines *tile, gc_lines_forest *forest)
{
    unsigned *parents = forest->parents;
    bool joins = false, moves = true;
    gc_lines_share(tile, forest, [&](unsigned node, unsigned short &entry) {
        unsigned parent = node;
        gc_lines_beside(tile, node, [&](unsigned other) {
            entry |= parent != node ? GC_NODE_JOINS : 0;
            parent = parent == node ? other : parent;
        });
        parents[node] = parent;
        joins = joins || (entry & GC_NODE_JOINS) != 0;
    });
    if (__syncthreads_or(joins) != 0)
        gc_lines_share(tile, forest, [&](unsigned node, unsigned short &entry) {
            if ((entry & GC_NODE_JOINS) != 0)
                gc_lines_beside(tile, node,
                                [&](unsigned other) { gc_lines_join<true>(parents, node, other); });
        });
    while (__syncthreads_or(moves) != 0) {
        moves = false;
        gc_lines_share(tile, forest, [&](unsigned node, unsigned short &) {
            forest->seen[node] = (unsigned short)parents[parents[node]];
        });
        __syncthreads();
        gc_lines_share(tile, forest, [&](unsigned node, unsigned short &) {
            unsigned seen = forest->seen[node];
            parents[node] = forest->seen[seen];
            moves = moves || parents[node] != seen;
        });
    }
}

/* The number of a tile's node in the device's memory. */
static __device__ inline unsigned gc_lines_global(const gc_finding &f, int row, int column,
                                                  unsigned node)
{
    enum { ROW = GC_TILE_WORDS * GC_NODES_OF_WORD };
    unsigned index = (unsigned)(row - 1 + (int)(node / ROW)) * f.row_words + (unsigned)column;
    return 1 + GC_NODES_OF_WORD * index + node % ROW;
}

/* Decides about lines: adds those that touch a sure pixel to words of sure[1], and others that come
 * to the tile's ends to words of sure[0], with their trees in the device's memory. */
static __device__ inline void gc_lines_decide(const gc_finding &f, int row, int column,
                                              gc_tile_lines *tile, gc_lines_forest *forest)
{
    unsigned *known = forest->parents; /* of roots */
    gc_lines_share(tile, forest, [&](unsigned node, unsigned short &entry) {
        if ((entry & GC_NODE_KNOWN) != 0)
            atomicOr(known + forest->seen[node], (unsigned)entry & GC_NODE_KNOWN);
    });
    __syncthreads();
    gc_lines_share(tile, forest, [&](unsigned node, unsigned short &) {
        const unsigned root = forest->seen[node], of_line = known[root] & GC_NODE_KNOWN;
        const bool is_sure = (of_line & GC_NODE_SURE) != 0;
        if (of_line != 0)
            atomicOr(tile->sure[is_sure] + gc_lines_at(node / GC_NODES_OF_WORD),
                     gc_lines_part_of(tile, node));
        if (of_line == GC_NODE_OPEN)
            f.parents[gc_lines_global(f, row, column, node)] =
                gc_lines_global(f, row, column, root);
    });
    __syncthreads();
}

/* Follows lines in a tile that begins in this row and word of the image. A thread has a word of
 * pixels that may be edges, and of those that are sure. */
static __device__ inline void gc_lines_follow(const gc_finding &f, int row, int column,
                                              unsigned may, unsigned sure, gc_tile_lines *tile,
                                              gc_lines_forest *forest)
{
    const unsigned thread = threadIdx.x, y = thread / GC_TILE_WORDS, k = thread % GC_TILE_WORDS;
    const int at = gc_lines_at(thread), image_row = gc_lines_row(f, row);
    unsigned open = 0;
    if (__syncthreads_or(may != sure) != 0) {
        for (size_t i = thread; i < offsetof(gc_tile_lines, flags) / 16; i += GC_DETECT_THREADS)
            ((uint4 *)tile)[i] = make_uint4(0, 0, 0, 0);
        __syncthreads();
        tile->sure[0][at] = sure;
        __syncthreads();
        sure = gc_lines_grown(tile->sure[0] + at, may);
        unsigned left = may & ~sure;
        tile->left[at] = left;
        tile->sure[1][at] = sure;
        if (__syncthreads_or(left != 0) != 0) {
            unsigned grown = gc_lines_grown(tile->sure[1] + at, may), place = 0;
            unsigned ends = y == 1 || y == GC_TILE_ROWS
                                ? ~0u
                                : (k == 0) | (unsigned)(k == GC_TILE_WORDS - 1) << 31;
            tile->sure[0][at] = 0;
            if (left != 0)
                place = atomicAdd(&tile->count, (unsigned)__popc(left & ~(left << 1)));
            gc_lines_each(left, [&](unsigned part, unsigned number) {
                forest->queue[place++] = (unsigned short)(thread * GC_NODES_OF_WORD + number +
                                                          ((part & grown) != 0 ? GC_NODE_SURE : 0) +
                                                          ((part & ends) != 0 ? GC_NODE_OPEN : 0));
            });
            __syncthreads();
            gc_lines_plant(tile, forest);
            gc_lines_decide(f, row, column, tile, forest);
            open = tile->sure[0][at];
            sure = tile->sure[1][at];
        }
    }
    if (image_row < 0)
        return;
    f.words[(unsigned)image_row * f.row_words + (unsigned)column + k] = make_uint2(open, sure);
    gc_lines_store(f, image_row, column + (int)k, sure);
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
    gc_await_kernel_before();
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

/* Stores open lines that are edges. */
static __global__ void __launch_bounds__(GC_DETECT_THREADS)
    gc_store_lines(const __grid_constant__ gc_finding f)
{
    const unsigned index = blockIdx.x * GC_DETECT_THREADS + threadIdx.x;
    gc_await_kernel_before();
    if (index >= f.row_words * (unsigned)f.height)
        return;
    const uint2 word = f.words[index];
    unsigned found = 0;
    gc_lines_each(word.x, [&](unsigned part, unsigned number) {
        unsigned node = 1 + GC_NODES_OF_WORD * index + number;
        while (f.parents[node] != node)
            node = f.parents[node];
        found |= node == 0 ? part : 0;
    });
    if (found != 0)
        gc_lines_store(f, (int)(index / f.row_words), (int)(index % f.row_words), word.y | found);
}
