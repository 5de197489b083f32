/* What an implementation is: one entry of the registry. */
#pragma once

#include "base/status.h"
#include "core/problem.h"
#include "core/stream.h"
#include "gconv_lab.h"

/* What an implementation does. `cost`, `prepare` and `run` are required. */
typedef struct gc_operations {
    /* GCONV_OK when this problem can be done on this device; else the reason, as an error with
     * status GCONV_ERROR_UNSUPPORTED. Not applicable is a normal answer. NULL: every problem can be
     * done. */
    gconv_status (*supports)(const gc_problem *problem, const gconv_device_info *device,
                             gconv_error *error);
    /* Seconds that one image is expected to take, start-up and transfers included. */
    double (*cost)(const gc_problem *problem, const gconv_device_info *device);
    /* Allocates and computes what runs need, so that the problem can be run many times. *state,
     * which is NULL before, is given to the functions below. It may stay NULL, and stays NULL on
     * failure. */
    gconv_status (*prepare)(const gc_problem *problem, const gconv_device_info *device,
                            void **state, gconv_error *error);
    /* Reads the rows that it needs, in order, and writes rows stream->first to stream->end - 1 of
     * the output. If it computes for long before it writes, it calls gc_stream_tell meanwhile, and
     * returns if this call fails. */
    gconv_status (*run)(void *state, gc_stream *stream, gconv_error *error);
    /* Not called for NULL. NULL: there is nothing to release. */
    void (*release)(void *state);
    /* Terms that the summation of a step adds to n = w*h in the bound of rule 4; NULL is 0. */
    double (*extra_terms)(const gc_problem *problem);
    /* Whether every run gives the output of the definition, rounded once (rule 5). NULL is no. */
    bool (*rounds_once)(const gc_problem *problem, const gconv_device_info *device);
    /* What was chosen for this problem, in lines of text; NULL if there is nothing to choose. */
    void (*describe)(void *state, char *text, size_t size);
    /* Floating-point operations for a byte of device memory, as the published models count them
     * (van Werkhoven et al. 2014, equations 1 and 2; KTH 2018, equations 9 to 14), over the whole
     * chain. NULL if there is no such model. */
    double (*intensity)(void *state);
    /* The chain alone, on the device: gconv_plan_time_device_parts. NULL if `run` has no transfers
     * to leave out. */
    gconv_status (*time)(void *state, const void *input, size_t stride, double seconds,
                         gconv_device_times *times, gconv_error *error);
    /* Waits for the work that `prepare` has left to other threads, so that the next run begins at
     * once. Returns the seconds that kernels took to compile. NULL if `prepare` leaves nothing. */
    gconv_status (*await)(void *state, double *compile_seconds, gconv_error *error);
    /* Runs from memory of the device to memory of the device, as gconv_plan_run_device says. NULL
     * if the device has no memory of its own. */
    gconv_status (*run_device)(void *state, const void *input, size_t input_stride, void *output,
                               size_t output_stride, void *stream, gconv_error *error);
    /* The tiling factor of the first step. NULL if there are no tiles. */
    int (*tiling_factor)(void *state);
    const char *rounded_once; /* which outputs `rounds_once` is for, in words; NULL: none */
    bool detects; /* finds edges by all methods (core/detector.h), not by `laplace` alone */
} gc_operations;

/* Options of a job that an implementation follows; the others have no effect on it. */
enum { GC_FOLLOWS_THREADS = 1, GC_FOLLOWS_BLOCK = 2, GC_FOLLOWS_TILE = 4, GC_FOLLOWS_SHARED = 8 };

typedef struct gc_implementation {
    /* Of --impl; also the file's name, unless it is a variant. A variant has a colon in its name,
     * and auto leaves it out. */
    const char *name;
    const char *summary; /* one line for people */
    const char *limits;  /* what it refuses, in words; "" if nothing */
    gconv_device_kind kind;
    /* NULL if it is not part of this build; on a GPU also before gc_implementation_device has found
     * that there is one. */
    const gc_operations *operations;
    unsigned follows; /* bits of GC_FOLLOWS_... */
} gc_implementation;

/* What the output of a problem is on this device (contract.md, rule 99). */
gconv_promise gc_promise_of(const gc_problem *problem, const gc_implementation *implementation,
                            const gconv_device_info *device);
