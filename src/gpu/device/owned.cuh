/* Owners, which free what they hold when they end. */
#pragma once

#include "gpu/device/check.cuh"

#include <cstdlib>
#include <new>

/* Stands for the pointer or handle that it holds, which is null or ended by `end`. */
template <class type, auto end> struct gc_owned {
    type held = nullptr;
    gc_owned() = default;
    explicit gc_owned(type taken) : held(taken)
    {
    }
    gc_owned(const gc_owned &) = delete;
    ~gc_owned()
    {
        if (held != nullptr)
            end(held);
    }
    operator type() const
    {
        return held;
    }
    template <class other> explicit operator other *() const
    {
        return (other *)held;
    }
    type *operator&()
    {
        return &held;
    }
};

template <class type> using gc_owned_memory = gc_owned<type *, cudaFree>; /* of the device */
template <class type> using gc_owned_array = gc_owned<type *, free>;      /* of the host */
typedef gc_owned<cudaStream_t, cudaStreamDestroy> gc_owned_stream;
typedef gc_owned<cudaEvent_t, cudaEventDestroy> gc_owned_event;

/* Makes a state, all zero, and sets both pointers to it; null if memory is short. gc_free frees it
 * with what it owns. */
template <class type, class kept>
static inline gconv_status gc_make(type **state, kept **same, gconv_error *error)
{
    void *memory = calloc(1, sizeof(type));
    *same = *state = memory != nullptr ? new (memory) type() : nullptr;
    return memory != nullptr ? GCONV_OK : gc_fail_memory(error, sizeof(type));
}

template <class type> static inline void gc_free(void *state)
{
    ((type *)state)->~type();
    free(state);
}
