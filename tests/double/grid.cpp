/* Runs the threads of a kernel: one after the other, or, where they meet at barriers, each of a
 * block on a stack of its own, from barrier to barrier. */
#include "stacks.hpp"
#include "state.hpp"

#include <algorithm>
#include <memory>
#include <vector>

__thread gc_double_position gc_double_place;

enum barrier { NOTHING, WARP, BLOCK };

/* A thread of a block; where it stands is set before it goes on. */
struct fibre {
    gc_double_context context;
    std::unique_ptr<char[]> stack;
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
    gc_double_context caller;
    fibre *current;
    const std::function<void()> *thread;
};

static thread_local block the_block;

static void begin()
{
    (*the_block.thread)();
    the_block.current->ended = true;
    gc_double_enter(&the_block.current->context, &the_block.caller);
}

static void wait_at(barrier which)
{
    the_block.current->waits = which;
    gc_double_enter(&the_block.current->context, &the_block.caller);
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
    fibre *own = the_block.current;
    fibre *first = own - (own - the_block.fibres.data()) % 32;
    int turn = own->turn ^= 1;
    own->shown[turn] = word;
    wait_at(WARP);
    for (int lane = 0; lane < 32; lane++)
        all[lane] = first[lane].shown[turn];
}

static void prepare(size_t count)
{
    if (the_block.fibres.size() < count)
        the_block.fibres.resize(count);
    for (size_t i = 0; i < count; i++) {
        fibre &one = the_block.fibres[i];
        if (one.stack == nullptr)
            one.stack.reset(new char[STACK_BYTES]);
        gc_double_begin_on(&one.context, one.stack.get(), STACK_BYTES, begin);
        one.ended = false;
        one.waits = NOTHING;
        one.turn = 0;
    }
}

/* Lets threads go on where all of them that have not ended wait for it. */
static void release(size_t first, size_t end, barrier which)
{
    for (size_t i = first; i < end; i++)
        if (!the_block.fibres[i].ended && the_block.fibres[i].waits != which)
            return;
    for (size_t i = first; i < end; i++)
        the_block.fibres[i].waits = NOTHING;
}

static uint3 position_of(unsigned index, dim3 sizes)
{
    return {index % sizes.x, index / sizes.x % sizes.y, index / sizes.x / sizes.y};
}

static void run_meeting(const std::function<void()> &thread, dim3 threads)
{
    unsigned count = threads.x * threads.y * threads.z, left = count;
    the_block.thread = &thread;
    prepare(count);
    while (left > 0) {
        for (unsigned i = 0; i < count; i++) {
            fibre &one = the_block.fibres[i];
            if (one.ended || one.waits != NOTHING)
                continue;
            gc_double_place.thread = position_of(i, threads);
            the_block.current = &one;
            gc_double_enter(&the_block.caller, &one.context);
            left -= one.ended;
        }
        for (unsigned i = 0; i < count; i += 32)
            release(i, std::min(i + 32, count), WARP);
        release(0, count, BLOCK);
    }
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
