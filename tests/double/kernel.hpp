/* A kernel that the double can run: its text, compiled for the host. */
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <string>
#include <tuple>
#include <utility>

/* Where the thread that runs stands. */
struct gc_double_position {
    uint3 thread, block, threads, blocks;
};
/* Kernels ask for it all the time: no call finds it. */
extern __thread gc_double_position gc_double_place __attribute__((tls_model("initial-exec")));

/* Return when all threads of the block, or of the warp, have come here. */
void gc_double_barrier();
void gc_double_warp_barrier();

/* Shows a word to the others of the warp, and gives the words of all lanes. All threads of the warp
 * call it. */
void gc_double_show(unsigned word, unsigned (&all)[32]);

struct gc_double_body {
    const char *name; /* as C++ writes it, with template arguments, without parameters */
    bool meets;       /* it has barriers */
    /* A thread of the kernel with these arguments, whose values it copies. */
    std::function<void()> (*bind)(void **arguments);
    void *(*constant)(); /* this thread's copy of the constant memory that it reads; may be null */
};

template <auto kernel> struct gc_double_binder;

template <class... parameters, void (*kernel)(parameters...)> struct gc_double_binder<kernel> {
    template <size_t... index>
    static std::function<void()> take(void **arguments, std::index_sequence<index...>)
    {
        std::tuple<parameters...> values(*static_cast<parameters *>(arguments[index])...);
        return [values] { std::apply(kernel, values); };
    }

    static std::function<void()> bind(void **arguments)
    {
        return take(arguments, std::index_sequence_for<parameters...>());
    }
};

/* Ends with a null name. */
extern const gc_double_body gc_double_bodies[];

/* The body of a kernel that transforms tiles; null if there is none of this name. */
const gc_double_body *gc_double_tile_body(const std::string &name);
