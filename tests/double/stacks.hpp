/* Goes from one stack to another in the same thread. swapcontext asks the system for the signal
 * mask each time, and kernels that meet at barriers change stacks some million times a test. On
 * x86-64 a few instructions do it; elsewhere, and under sanitizers, which have to know of it,
 * swapcontext. */
#pragma once

#include <cstddef>

#if defined __x86_64__ && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#define GC_DOUBLE_OWN_STACKS

/* A stack that has been left: what stands on it says where it goes on. */
struct gc_double_context {
    void *top;
};

/* Saves the registers that a call preserves on the stack in use, and where they stand in *left;
 * goes on where *entered was left. */
extern "C" void gc_double_enter(gc_double_context *left, const gc_double_context *entered);

/* A context that begins `function`, which must not return, on this stack. */
inline void gc_double_begin_on(gc_double_context *context, char *stack, size_t size,
                               void (*function)())
{
    enum { PRESERVED = 6 };
    size_t end = (reinterpret_cast<size_t>(stack) + size) / 16 * 16;
    void **top = reinterpret_cast<void **>(end);
    *--top =
        nullptr; /* where `function` would return to; it begins 8 bytes off 16 as after a call */
    *--top = reinterpret_cast<void *>(function);
    for (int i = 0; i < PRESERVED; i++)
        *--top = nullptr;
    context->top = top;
}

#else

#include <ucontext.h>

struct gc_double_context {
    ucontext_t all;
};

inline void gc_double_enter(gc_double_context *left, const gc_double_context *entered)
{
    swapcontext(&left->all, &entered->all);
}

inline void gc_double_begin_on(gc_double_context *context, char *stack, size_t size,
                               void (*function)())
{
    getcontext(&context->all);
    context->all.uc_stack.ss_sp = stack;
    context->all.uc_stack.ss_size = size;
    context->all.uc_link = nullptr;
    makecontext(&context->all, function, 0);
}

#endif
