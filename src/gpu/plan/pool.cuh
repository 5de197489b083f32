/* What the plans of a process share and give back after each run: the slots of each device, and
 * host memory. All of it is freed with the last plan. */
#pragma once

#include "gconv.h"
#include "gpu/device/owned.cuh"

/* ---- Plans ----------------------------------------------------------------------------------- */

void gc_pool_enter();

/* Takes back gc_pool_enter. With the last plan it frees what the pool holds. Plans that come
 * meanwhile wait. */
void gc_pool_leave();

/* ---- Slots ----------------------------------------------------------------------------------- */

/* The most runs that use a device at one time. The kernels that decode small pictures leave most of
 * a device idle, so that several pictures have to be decoded at one time. */
enum { GC_SLOTS_MAX = 24 };

enum {
    GC_BUFFER_SAMPLES,
    GC_BUFFER_PLANE,
    GC_BUFFER_OTHER_PLANE,
    GC_BUFFER_EXTENDED,
    GC_BUFFER_DECODING,
    GC_BUFFER_COMPRESSING,
    GC_BUFFERS
};

/* Marks in the work of a run, to time its parts and to wait for them. */
enum {
    GC_MARK_BEGIN,
    GC_MARK_UPLOADED,
    GC_MARK_DECODED,
    GC_MARK_COMPUTED,
    GC_MARK_COMPRESSED,
    GC_MARK_ARRIVED,
    GC_MARK_OTHER_ARRIVED,
    GC_MARKS
};

/* Pieces of host memory through which bands go in turn, up or down. */
enum { GC_COPY_PIECES = 8 };

/* Streams beside the slot's own, so that copies in both directions and kernels overlap. */
struct gc_copy_streams {
    gc_owned_stream up, down;
    gc_owned_event sent[GC_COPY_PIECES], arrived[GC_COPY_PIECES]; /* bands, in turn */
};

struct gc_slot {
    int device;
    gc_owned_stream cuda_stream;
    gc_owned_event marks[GC_MARKS];
    gc_copy_streams copies; /* null before gc_slot_open_copies */
    void *buffers[GC_BUFFERS];
    size_t sizes[GC_BUFFERS];
    bool whole; /* stream and marks exist */
    bool taken;
    int shares; /* of GC_SLOTS_MAX, of the device's memory: what the run that has it may take */
    int held;   /* the shares in which its buffers lie, of this run or of earlier ones */
    gc_slot *next;
};

/* Waits for a free slot of the device, which is current, and for so many shares of its memory, and
 * takes them. Who waits longest is served first. */
gconv_status gc_slot_take(int device, int shares, gc_slot **slot, gconv_error *error);

/* Makes each buffer hold at least so many bytes. What the slot holds from earlier runs stays,
 * unless a buffer has to grow and all would then exceed `bytes_max`. GCONV_ERROR_MEMORY if the
 * device is short of memory, even after buffers of free slots were freed. */
gconv_status gc_slot_reserve(gc_slot *slot, const size_t sizes[GC_BUFFERS], double bytes_max,
                             gconv_error *error);

/* Bytes of a device that the buffers of the pool's slots take. */
size_t gc_slot_bytes(int device);

/* Makes the slot's streams for copies, unless they exist. */
gconv_status gc_slot_open_copies(gc_slot *slot, gconv_error *error);

/* Adds the seconds between two marks that were passed. */
gconv_status gc_slot_seconds(const gc_slot *slot, int begin, int end, double *sum,
                             gconv_error *error);

/* Waits for the slot's work. Ignores failures. */
void gc_slot_wait(const gc_slot *slot);

/* Waits for the slot's work and gives the slot back. */
void gc_slot_give(gc_slot *slot);

/* Frees a slot that is not the pool's, with what it holds. Its device is current. */
void gc_slot_destroy(gc_slot *slot);

/* ---- Host memory ----------------------------------------------------------------------------- */

/* Memory of the host that runs read into and download to. */
struct gc_host_buffer {
    char *bytes;
    size_t size;
    bool pinned; /* copies to and from devices are asynchronous and fast */
    gc_host_buffer *next;
};

/* Waits until the runs of the process hold at most 1 GiB (GC_HOST_BYTES_MAX in pool.cpp) with these
 * bytes, or until no other run holds any. Every gc_host_take then finds room. */
void gc_host_reserve(size_t bytes);
void gc_host_unreserve(size_t bytes);

/* gc_host_reserve without waiting. False: it would wait, and nothing is reserved. */
bool gc_host_try_reserve(size_t bytes);

/* A buffer of at least `bytes`; null if memory is short. It is pinned by a device that has started,
 * if the system allows that; with a `device` below 0 it need not be. */
gc_host_buffer *gc_host_take(size_t bytes, int device);

/* Whether kernels of a device that has started can write to the buffer under its own address. */
bool gc_host_is_mapped(const gc_host_buffer *buffer, int device);

void gc_host_give(gc_host_buffer *buffer);
