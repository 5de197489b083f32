/* What the parts of the double share: which call fails, and what is held. */
#pragma once

#include "kernel.hpp"

#include <cstdint>
#include <functional>

/* Every call that may fail begins with this: it counts the call, delays it, and returns what the
 * call has to return. An error that stays (cudaErrorIllegalAddress and the like) is returned by
 * every later call on the same device; a call that only enqueues work hides it from its own
 * caller. */
cudaError_t gc_double_enter(const char *call, bool enqueues = false);

/* Returns from a call that fails. */
#define ENTER(call)                                                                                \
    do {                                                                                           \
        cudaError_t entered = gc_double_enter(call);                                               \
        if (entered != cudaSuccess)                                                                \
            return entered;                                                                        \
    } while (0)

/* What cudaGetLastError gives after a call that was not allowed; returns it. */
cudaError_t gc_double_refuse(cudaError_t code);

/* A number of the environment. */
long long gc_double_number(const char *name, long long otherwise);

/* How many devices there are, and the one that this thread uses. */
int gc_double_devices();
int gc_double_device();
void gc_double_set_device(int index);

/* Things of a kind that exist now: what is left at the end was leaked. */
enum gc_double_kind { GC_DOUBLE_STREAMS, GC_DOUBLE_EVENTS, GC_DOUBLE_MODULES, GC_DOUBLE_KINDS };
void gc_double_count(gc_double_kind kind, int difference);

/* Adds a line to the report, once. */
void gc_double_tell(const char *line);

/* Device memory and pinned memory: both are the host's. */
cudaError_t gc_double_allocate(void **memory, size_t bytes, bool pinned);
bool gc_double_release(void *memory, bool pinned);

/* Makes memory of the program pinned memory, and takes that back. */
void gc_double_pin(void *memory, size_t bytes);
bool gc_double_unpin(void *memory);
/* Whether all these bytes lie in one piece of memory of that kind. */
bool gc_double_holds(const void *memory, size_t bytes, bool pinned);
/* The device whose memory holds a byte; -1 if none does. */
int gc_double_device_of(const void *memory);
/* Memory that is there as long as the process: a variable of the device. */
void *gc_double_variable(size_t bytes);
void gc_double_add_variable(void *memory, size_t bytes);
void gc_double_memory(size_t *available, size_t *total);

/* Work in the order of a stream, on a thread of its own; at once where `stream` is null. */
void gc_double_enqueue(cudaStream_t stream, std::function<void()> work);
void gc_double_drain(cudaStream_t stream);
void gc_double_drain_all();

/* Runs every thread of a kernel. */
void gc_double_run(const gc_double_body *body, const std::function<void()> &thread, dim3 blocks,
                   dim3 threads);
