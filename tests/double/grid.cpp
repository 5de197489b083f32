/* Runs the threads of a kernel: one after the other, or, where they meet at barriers, each of a
 * block on a stack of its own, from barrier to barrier. */
#include "stacks.hpp"
#include "state.hpp"

#include <algorithm>
#include <memory>
#include <vector>

__thread gc_double_position gc_double_place;

enum barrier { NOTHING, WARP, BLOCK };

/* A thread of a block. */
struct fibre {
    gc_double_context context;
    std::unique_ptr<char[]> stack;
    uint3 position;
    bool ended;
    barrier waits; /* for the others of its warp or block */
    /* To the others of its warp, by turns: what is shown next overwrites nothing that others may
     * still read. */
    unsigned shown[2];
    int turn;
};

enum { STACK_BYTES = 64 << 10 };

struct block {
    std::vector<fibre> fibres;
    unsigned count, left; /* threads, and those that have not ended */
    unsigned at;          /* the one that runs */
    gc_double_context caller;
    const std::function<void()> *thread;
};

/* The block that runs. */
static __thread block *the_block __attribute__((tls_model("initial-exec")));

/* Lets threads go on where all of them that have not ended wait for it. */
static void release(unsigned first, unsigned end, barrier which)
{
    for (unsigned i = first; i < end; i++)
        if (!the_block->fibres[i].ended && the_block->fibres[i].waits != which)
            return;
    for (unsigned i = first; i < end; i++)
        the_block->fibres[i].waits = NOTHING;
}

/* Leaves a stack for that of the next thread by turns that does not wait, or for the caller's once
 * all have ended. */
static void go_on(gc_double_context *from)
{
    block *b = the_block;
    const gc_double_context *to = &b->caller;
    while (b->left > 0) {
        if (++b->at >= b->count) {
            for (unsigned i = 0; i < b->count; i += 32)
                release(i, std::min(i + 32, b->count), WARP);
            release(0, b->count, BLOCK);
            b->at = 0;
        }
        const fibre &next = b->fibres[b->at];
        if (!next.ended && next.waits == NOTHING) {
            gc_double_place.thread = next.position;
            to = &next.context;
            break;
        }
    }
    if (to != from)
        gc_double_enter(from, to);
}

static void begin()
{
    (*the_block->thread)();
    fibre &own = the_block->fibres[the_block->at];
    own.ended = true;
    the_block->left--;
    go_on(&own.context);
}

static void wait_at(barrier which)
{
    fibre &own = the_block->fibres[the_block->at];
    own.waits = which;
    go_on(&own.context);
}

void gc_double_barrier()
{
    wait_at(BLOCK);
}

void gc_double_warp_barrier()
{
    wait_at(WARP);
}

void gc_double_show(unsigned word, unsigned (&all)[32])
{
    fibre *own = &the_block->fibres[the_block->at], *first = own - the_block->at % 32;
    int turn = own->turn ^= 1;
    own->shown[turn] = word;
    wait_at(WARP);
    for (int lane = 0; lane < 32; lane++)
        all[lane] = first[lane].shown[turn];
}

static uint3 position_of(unsigned index, dim3 sizes)
{
    return {index % sizes.x, index / sizes.x % sizes.y, index / sizes.x / sizes.y};
}

static void prepare(block *b, dim3 threads)
{
    b->count = b->left = threads.x * threads.y * threads.z;
    b->at = b->count - 1;
    if (b->fibres.size() < b->count)
        b->fibres.resize(b->count);
    for (unsigned i = 0; i < b->count; i++) {
        fibre &one = b->fibres[i];
        if (one.stack == nullptr)
            one.stack.reset(new char[STACK_BYTES]);
        gc_double_begin_on(&one.context, one.stack.get(), STACK_BYTES, begin);
        one.position = position_of(i, threads);
        one.ended = false;
        one.waits = NOTHING;
        one.turn = 0;
    }
}

static void run_meeting(const std::function<void()> &thread, dim3 threads)
{
    static thread_local block storage;
    the_block = &storage;
    storage.thread = &thread;
    prepare(&storage, threads);
    go_on(&storage.caller);
}

static void run_alone(const std::function<void()> &thread, dim3 threads)
{
    for (unsigned i = 0; i < threads.x * threads.y * threads.z; i++) {
        gc_double_place.thread = position_of(i, threads);
        thread();
    }
}

void gc_double_run(const gc_double_body *body, const std::function<void()> &thread, dim3 blocks,
                   dim3 threads)
{
    gc_double_place.blocks = blocks;
    gc_double_place.threads = threads;
    /* The last block first: kernels that rely on an order should fail. */
    for (unsigned i = blocks.x * blocks.y * blocks.z; i-- > 0;) {
        gc_double_place.block = position_of(i, blocks);
        if (body->meets)
            run_meeting(thread, threads);
        else
            run_alone(thread, threads);
    }
}
