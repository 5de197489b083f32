#include "gpu/plan/pool.cuh"

#include "gpu/device/check.cuh"
#include "gpu/device/current.cuh"
#include "gpu/jit/modules.cuh"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <pthread.h>
#include <sys/mman.h>

/* Bytes of host memory that runs hold at one time. */
#define GC_HOST_BYTES_MAX ((size_t)1 << 30)

/* A thread that waits for a slot. It lies on the stack of this thread. Who gives a slot back
 * assigns it here, so that it is taken before its thread wakes: on a busy machine that takes
 * long. */
struct slot_waiter {
    int device, shares;
    gc_slot *made;    /* becomes the slot if none is unused */
    gc_slot *granted; /* null: not yet */
    pthread_cond_t wake;
    slot_waiter *next;
};

static struct {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t host_given = PTHREAD_COND_INITIALIZER, ended = PTHREAD_COND_INITIALIZER;
    int plans = 0;
    bool ending = false;            /* the last plan has gone; what the pool held is being freed */
    gc_slot *slots = nullptr;       /* of all devices, taken and free */
    slot_waiter *waiters = nullptr; /* in their order */
    gc_host_buffer *idle = nullptr; /* host buffers that nobody holds */
    size_t allocated = 0;           /* bytes of host buffers, held and idle */
    size_t reserved = 0;            /* bytes of host buffers that runs hold or will take */
} pool;

struct pool_lock {
    pool_lock()
    {
        pthread_mutex_lock(&pool.lock);
    }
    ~pool_lock()
    {
        pthread_mutex_unlock(&pool.lock);
    }
};

/* ---- Slots ----------------------------------------------------------------------------------- */

/* Bytes that the buffers of the pool's slots take, by device. */
static std::atomic<size_t> slot_bytes[GCONV_DEVICES_MAX];

/* Notes the size of a buffer. Slots that are not the pool's have no shares, and do not count. */
static void set_size(gc_slot *slot, int buffer, size_t bytes)
{
    if (slot->shares > 0)
        slot_bytes[slot->device] += bytes - slot->sizes[buffer];
    slot->sizes[buffer] = bytes;
}

size_t gc_slot_bytes(int device)
{
    return slot_bytes[device];
}

static void free_buffers(gc_slot *slot)
{
    for (int i = 0; i < GC_BUFFERS; i++) {
        cudaFree(slot->buffers[i]);
        slot->buffers[i] = nullptr;
        set_size(slot, i, 0);
    }
    cudaGetLastError();
}

void gc_slot_destroy(gc_slot *slot)
{
    free_buffers(slot);
    gc_free<gc_slot>(slot);
    cudaGetLastError();
}

static gconv_status make_event(cudaEvent_t *event, gconv_error *error)
{
    if (*event == nullptr)
        GC_CUDA_TRY(error, cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    return GCONV_OK;
}

gconv_status gc_slot_open_copies(gc_slot *slot, gconv_error *error)
{
    gc_copy_streams *copies = &slot->copies;
    for (cudaStream_t *stream : {&copies->up, &copies->down})
        if (*stream == nullptr)
            GC_CUDA_TRY(error, cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
    for (int i = 0; i < GC_COPY_PIECES; i++) {
        GC_TRY(make_event(&copies->sent[i], error));
        GC_TRY(make_event(&copies->arrived[i], error));
    }
    return GCONV_OK;
}

gconv_status gc_slot_seconds(const gc_slot *slot, int begin, int end, double *sum,
                             gconv_error *error)
{
    float milliseconds;
    GC_CUDA_TRY(error, cudaEventElapsedTime(&milliseconds, slot->marks[begin], slot->marks[end]));
    *sum += 1e-3 * (double)milliseconds;
    return GCONV_OK;
}

void gc_slot_wait(const gc_slot *slot)
{
    for (cudaStream_t stream :
         {slot->copies.up.held, slot->cuda_stream.held, slot->copies.down.held})
        if (stream != nullptr)
            cudaStreamSynchronize(stream);
    cudaGetLastError();
}

static gconv_status fill_slot(gc_slot *slot, gconv_error *error)
{
    GC_CUDA_TRY(error, cudaStreamCreateWithFlags(&slot->cuda_stream, cudaStreamNonBlocking));
    for (gc_owned_event &mark : slot->marks)
        GC_CUDA_TRY(error, cudaEventCreate(&mark));
    slot->whole = true;
    return GCONV_OK;
}

/* A free slot of the device, or null; adds up the shares of its memory that are taken. */
static gc_slot *find_slot(int device, int *taken)
{
    gc_slot *found = nullptr;
    *taken = 0;
    for (gc_slot *slot = pool.slots; slot != nullptr; slot = slot->next) {
        if (slot->device != device)
            continue;
        if (slot->taken)
            *taken += slot->shares;
        else
            found = slot;
    }
    return found;
}

/* The first thread that waits for a slot of the device: a link to it, or to null. */
static slot_waiter **first_waiter(int device)
{
    slot_waiter **link = &pool.waiters;
    while (*link != nullptr && (*link)->device != device)
        link = &(*link)->next;
    return link;
}

/* Gives slots of the device to those who wait, in their order, as long as there are shares. The
 * pool is locked. */
static void grant_slots(int device)
{
    for (slot_waiter **link = first_waiter(device); *link != nullptr; link = first_waiter(device)) {
        slot_waiter *waiter = *link;
        int taken;
        gc_slot *slot = find_slot(device, &taken);
        if (taken + waiter->shares > GC_SLOTS_MAX)
            return;
        if (slot == nullptr) {
            slot = waiter->made;
            slot->device = device;
            slot->next = pool.slots;
            pool.slots = slot;
        }
        slot->taken = true;
        slot->shares = waiter->shares;
        *link = waiter->next;
        waiter->granted = slot;
        pthread_cond_signal(&waiter->wake);
    }
}

gconv_status gc_slot_take(int device, int shares, gc_slot **slot, gconv_error *error)
{
    gc_slot *made;
    GC_TRY(gc_make(&made, slot, error));
    slot_waiter me = {device, shares, made, nullptr, PTHREAD_COND_INITIALIZER, nullptr};
    pthread_mutex_lock(&pool.lock);
    slot_waiter **link = &pool.waiters;
    while (*link != nullptr)
        link = &(*link)->next;
    *link = &me;
    grant_slots(device);
    while (me.granted == nullptr)
        pthread_cond_wait(&me.wake, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
    pthread_cond_destroy(&me.wake);
    *slot = me.granted;
    if (*slot != made)
        gc_free<gc_slot>(made);
    gconv_status status = (*slot)->whole ? GCONV_OK : fill_slot(*slot, error);
    if (status != GCONV_OK)
        gc_slot_give(*slot);
    return status;
}

void gc_slot_give(gc_slot *slot)
{
    gc_slot_wait(slot);
    bool whole = slot->whole; /* else making it has failed */
    int device = slot->device;
    pthread_mutex_lock(&pool.lock);
    slot->taken = false;
    if (!whole) {
        gc_slot **link = &pool.slots;
        while (*link != slot)
            link = &(*link)->next;
        *link = slot->next;
    }
    grant_slots(device);
    pthread_mutex_unlock(&pool.lock);
    if (!whole)
        gc_slot_destroy(slot);
}

/* Frees the buffers of a free slot. The pool is locked. */
static void free_idle(gc_slot *slot)
{
    free_buffers(slot);
    slot->held = 0;
}

static void free_idle_buffers(int device)
{
    pool_lock lock;
    for (gc_slot *slot = pool.slots; slot != nullptr; slot = slot->next)
        if (slot->device == device && !slot->taken)
            free_idle(slot);
}

static gconv_status grow(gc_slot *slot, const size_t sizes[GC_BUFFERS], gconv_error *error)
{
    for (int i = 0; i < GC_BUFFERS; i++) {
        if (slot->sizes[i] >= sizes[i])
            continue;
        cudaFree(slot->buffers[i]);
        slot->buffers[i] = nullptr;
        set_size(slot, i, 0);
        GC_CUDA_TRY(error, cudaMalloc(&slot->buffers[i], sizes[i]));
        set_size(slot, i, sizes[i]);
    }
    return GCONV_OK;
}

/* Whether a buffer has to grow, and all would then hold more than `bytes_max`. */
static bool grows_beyond(const gc_slot *slot, const size_t sizes[GC_BUFFERS], double bytes_max)
{
    double bytes = 0;
    bool grows = false;
    for (int i = 0; i < GC_BUFFERS; i++) {
        bytes += (double)std::max(slot->sizes[i], sizes[i]);
        grows |= sizes[i] > slot->sizes[i];
    }
    return grows && bytes > bytes_max;
}

/* Notes the shares that a run may take. Frees buffers of free slots until these shares, and those
 * that all other slots of the device hold, are no more than there are. */
static void make_room(gc_slot *slot)
{
    int shares = 0;
    if (slot->held > slot->shares)
        free_buffers(slot);
    pool_lock lock;
    slot->held = slot->shares;
    for (gc_slot *other = pool.slots; other != nullptr; other = other->next)
        if (other->device == slot->device)
            shares += other->taken ? std::max(other->held, other->shares) : other->held;
    for (gc_slot *other = pool.slots; other != nullptr && shares > GC_SLOTS_MAX;
         other = other->next)
        if (other->device == slot->device && !other->taken) {
            shares -= other->held;
            free_idle(other);
        }
}

gconv_status gc_slot_reserve(gc_slot *slot, const size_t sizes[GC_BUFFERS], double bytes_max,
                             gconv_error *error)
{
    make_room(slot);
    if (grows_beyond(slot, sizes, bytes_max))
        free_buffers(slot);
    gconv_status status = grow(slot, sizes, error);
    if (status != GCONV_ERROR_MEMORY)
        return status;
    free_buffers(slot);
    free_idle_buffers(slot->device);
    return grow(slot, sizes, error);
}

/* ---- Host memory ----------------------------------------------------------------------------- */

/* Huge pages: they are pinned ten times as fast, and touched faster. */
enum { HOST_PAGE = 2 << 20 };

static gc_host_buffer *make_host_buffer(size_t bytes)
{
    gc_host_buffer *buffer = (gc_host_buffer *)calloc(1, sizeof *buffer);
    if (buffer == nullptr || bytes > SIZE_MAX - 2 * (size_t)HOST_PAGE) {
        free(buffer);
        return nullptr;
    }
    buffer->size = (bytes + HOST_PAGE - 1) / HOST_PAGE * HOST_PAGE;
    if (posix_memalign((void **)&buffer->bytes, HOST_PAGE, buffer->size) != 0) {
        free(buffer);
        return nullptr;
    }
#ifdef MADV_HUGEPAGE
    madvise(buffer->bytes, buffer->size, MADV_HUGEPAGE);
#endif
    return buffer;
}

static void pin(gc_host_buffer *buffer, int device)
{
    const unsigned flags = cudaHostRegisterPortable | cudaHostRegisterMapped;
    gc_current_device current(device);
    for (size_t at = 0; at < buffer->size; at += 4096) /* pages that exist are pinned faster */
        buffer->bytes[at] = 0;
    buffer->pinned = cudaHostRegister(buffer->bytes, buffer->size, flags) == cudaSuccess;
    cudaGetLastError();
}

/* By device: whether its kernels reach memory that was pinned by its address on the host. */
enum reach { UNKNOWN, NO, YES };
static std::atomic<int> reaches[GCONV_DEVICES_MAX];

bool gc_host_is_mapped(const gc_host_buffer *buffer, int device)
{
    const cudaDeviceAttr name = cudaDevAttrCanUseHostPointerForRegisteredMem;
    if (reaches[device] == UNKNOWN) {
        int value = 0;
        bool answers = cudaDeviceGetAttribute(&value, name, device) == cudaSuccess;
        cudaGetLastError();
        reaches[device] = answers && value != 0 ? YES : NO;
    }
    return buffer->pinned && reaches[device] == YES;
}

static void destroy_host_buffer(gc_host_buffer *buffer)
{
    if (buffer->pinned)
        cudaHostUnregister(buffer->bytes);
    cudaGetLastError();
    free(buffer->bytes);
    free(buffer);
}

bool gc_host_try_reserve(size_t bytes)
{
    pool_lock lock;
    if (pool.reserved > 0 && pool.reserved + bytes > GC_HOST_BYTES_MAX)
        return false;
    pool.reserved += bytes;
    return true;
}

void gc_host_reserve(size_t bytes)
{
    pool_lock lock;
    while (pool.reserved > 0 && pool.reserved + bytes > GC_HOST_BYTES_MAX)
        pthread_cond_wait(&pool.host_given, &pool.lock);
    pool.reserved += bytes;
}

void gc_host_unreserve(size_t bytes)
{
    pool_lock lock;
    pool.reserved -= bytes;
    pthread_cond_broadcast(&pool.host_given);
}

/* Takes the smallest idle buffer of at least `bytes`, unless it is twice as large or more. */
static gc_host_buffer *take_idle(size_t bytes)
{
    pool_lock lock;
    gc_host_buffer **best = nullptr;
    for (gc_host_buffer **link = &pool.idle; *link != nullptr; link = &(*link)->next) {
        size_t size = (*link)->size;
        bool fits = size >= bytes && size / 2 <= bytes + HOST_PAGE;
        if (fits && (best == nullptr || size < (*best)->size))
            best = link;
    }
    if (best == nullptr)
        return nullptr;
    gc_host_buffer *buffer = *best;
    *best = buffer->next;
    return buffer;
}

/* Takes idle buffers out of the pool until `bytes` more are within the limit. */
static gc_host_buffer *take_superfluous(size_t bytes)
{
    pool_lock lock;
    gc_host_buffer *taken = nullptr;
    while (pool.idle != nullptr && pool.allocated + bytes > GC_HOST_BYTES_MAX) {
        gc_host_buffer *buffer = pool.idle;
        pool.idle = buffer->next;
        pool.allocated -= buffer->size;
        buffer->next = taken;
        taken = buffer;
    }
    return taken;
}

static void destroy_host_buffers(gc_host_buffer *list)
{
    while (list != nullptr) {
        gc_host_buffer *next = list->next;
        destroy_host_buffer(list);
        list = next;
    }
}

static gc_host_buffer *make_counted(size_t bytes)
{
    destroy_host_buffers(take_superfluous(bytes));
    gc_host_buffer *buffer = make_host_buffer(bytes);
    if (buffer != nullptr) {
        pool_lock lock;
        pool.allocated += buffer->size;
    }
    return buffer;
}

gc_host_buffer *gc_host_take(size_t bytes, int device)
{
    gc_host_buffer *buffer = take_idle(bytes);
    if (buffer == nullptr)
        buffer = make_counted(bytes);
    if (buffer != nullptr && device >= 0 && !buffer->pinned)
        pin(buffer, device);
    return buffer;
}

void gc_host_give(gc_host_buffer *buffer)
{
    if (buffer == nullptr)
        return;
    pthread_mutex_lock(&pool.lock);
    bool keeps = pool.plans > 0;
    buffer->next = keeps ? pool.idle : nullptr;
    if (keeps)
        pool.idle = buffer;
    else
        pool.allocated -= buffer->size;
    pthread_mutex_unlock(&pool.lock);
    if (!keeps)
        destroy_host_buffer(buffer);
}

/* ---- Plans ----------------------------------------------------------------------------------- */

void gc_pool_enter()
{
    pool_lock lock;
    while (pool.ending)
        pthread_cond_wait(&pool.ended, &pool.lock);
    pool.plans++;
}

static void destroy_slots(gc_slot *list)
{
    while (list != nullptr) {
        gc_slot *next = list->next;
        gc_current_device current(list->device);
        gc_slot_destroy(list);
        list = next;
    }
}

/* Frees what the pool holds, and what else belongs to the plans of the process. pool.ending is set:
 * no plan comes meanwhile. */
static void end_pool()
{
    pthread_mutex_lock(&pool.lock);
    gc_slot *slots = pool.slots;
    gc_host_buffer *idle = pool.idle;
    pool.slots = nullptr;
    pool.idle = nullptr;
    for (gc_host_buffer *buffer = idle; buffer != nullptr; buffer = buffer->next)
        pool.allocated -= buffer->size;
    pthread_mutex_unlock(&pool.lock);
    destroy_slots(slots);
    destroy_host_buffers(idle);
    gc_jit_unload_unused();
    pthread_mutex_lock(&pool.lock);
    pool.ending = false;
    pthread_cond_broadcast(&pool.ended);
    pthread_mutex_unlock(&pool.lock);
}

void gc_pool_leave()
{
    pthread_mutex_lock(&pool.lock);
    bool last = --pool.plans == 0;
    pool.ending = last;
    pthread_mutex_unlock(&pool.lock);
    if (last)
        end_pool();
}
