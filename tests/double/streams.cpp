/* A stream is a thread that does its work in order; an event is a place in that order. */
#include "state.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>

/* ---- Streams --------------------------------------------------------------------------------- */

struct CUstream_st {
    std::mutex lock;
    std::condition_variable changed;
    std::deque<std::function<void()>> queue;
    bool busy = false, ends = false;
    std::thread worker;
};

static void work(CUstream_st *stream)
{
    std::unique_lock<std::mutex> guard(stream->lock);
    for (;;) {
        stream->changed.wait(guard, [&] { return stream->ends || !stream->queue.empty(); });
        if (stream->queue.empty())
            return;
        std::function<void()> next = std::move(stream->queue.front());
        stream->queue.pop_front();
        stream->busy = true;
        guard.unlock();
        next();
        guard.lock();
        stream->busy = false;
        stream->changed.notify_all();
    }
}

struct stream_set {
    std::mutex lock;
    std::set<CUstream_st *> all;
};

static stream_set &streams()
{
    static stream_set *set = new stream_set();
    return *set;
}

void gc_double_enqueue(cudaStream_t stream, std::function<void()> work)
{
    if (stream == nullptr) {
        work();
        return;
    }
    std::lock_guard<std::mutex> guard(stream->lock);
    stream->queue.push_back(std::move(work));
    stream->changed.notify_all();
}

void gc_double_drain(cudaStream_t stream)
{
    if (stream == nullptr)
        return;
    std::unique_lock<std::mutex> guard(stream->lock);
    stream->changed.wait(guard, [&] { return stream->queue.empty() && !stream->busy; });
}

void gc_double_drain_all()
{
    std::lock_guard<std::mutex> guard(streams().lock);
    for (CUstream_st *stream : streams().all)
        gc_double_drain(stream);
}

extern "C" cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    ENTER("cudaStreamCreateWithFlags");
    CUstream_st *created = new CUstream_st();
    try {
        created->worker = std::thread(work, created);
    } catch (const std::system_error &) {
        delete created;
        return gc_double_refuse(cudaErrorMemoryAllocation);
    }
    std::lock_guard<std::mutex> guard(streams().lock);
    streams().all.insert(created);
    gc_double_count(GC_DOUBLE_STREAMS, 1);
    *stream = created;
    return cudaSuccess;
}

extern "C" cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    cudaError_t code = gc_double_enter("cudaStreamDestroy");
    {
        std::lock_guard<std::mutex> guard(streams().lock);
        if (streams().all.erase(stream) == 0)
            return gc_double_refuse(cudaErrorInvalidResourceHandle);
    }
    {
        std::lock_guard<std::mutex> guard(stream->lock);
        stream->ends = true;
        stream->changed.notify_all();
    }
    stream->worker.join();
    delete stream;
    gc_double_count(GC_DOUBLE_STREAMS, -1);
    return code;
}

extern "C" cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    cudaError_t code = gc_double_enter("cudaStreamSynchronize");
    gc_double_drain(stream);
    return code;
}

extern "C" cudaError_t cudaDeviceSynchronize()
{
    cudaError_t code = gc_double_enter("cudaDeviceSynchronize");
    gc_double_drain_all();
    return code;
}

/* ---- Events ---------------------------------------------------------------------------------- */

struct moment {
    std::mutex lock;
    std::condition_variable changed;
    unsigned recorded = 0, reached = 0;
    double milliseconds = 0;
};

/* Work that was enqueued may outlive the event. */
struct CUevent_st {
    std::shared_ptr<moment> at = std::make_shared<moment>();
};

extern "C" cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
    ENTER("cudaEventCreate");
    *event = new CUevent_st();
    gc_double_count(GC_DOUBLE_EVENTS, 1);
    return cudaSuccess;
}

extern "C" cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

extern "C" cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    cudaError_t code = gc_double_enter("cudaEventDestroy");
    delete event;
    gc_double_count(GC_DOUBLE_EVENTS, -1);
    return code;
}

static void reach(moment &at, unsigned record)
{
    using namespace std::chrono;
    std::lock_guard<std::mutex> guard(at.lock);
    at.reached = record;
    at.milliseconds = duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
    at.changed.notify_all();
}

static void wait_for(moment &at, unsigned record)
{
    std::unique_lock<std::mutex> guard(at.lock);
    at.changed.wait(guard, [&] { return at.reached >= record; });
}

static unsigned latest_record(moment &at)
{
    std::lock_guard<std::mutex> guard(at.lock);
    return at.recorded;
}

extern "C" cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    ENTER("cudaEventRecord");
    std::shared_ptr<moment> at = event->at;
    unsigned record;
    {
        std::lock_guard<std::mutex> guard(at->lock);
        record = ++at->recorded;
    }
    gc_double_enqueue(stream, [at, record] { reach(*at, record); });
    return cudaSuccess;
}

extern "C" cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    ENTER("cudaEventSynchronize");
    wait_for(*event->at, latest_record(*event->at));
    return cudaSuccess;
}

/* Waits, so that the number of calls does not depend on the time that work takes. */
extern "C" cudaError_t cudaEventQuery(cudaEvent_t event)
{
    ENTER("cudaEventQuery");
    wait_for(*event->at, latest_record(*event->at));
    return cudaSuccess;
}

extern "C" cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    ENTER("cudaStreamWaitEvent");
    std::shared_ptr<moment> at = event->at;
    unsigned record = latest_record(*at);
    gc_double_enqueue(stream, [at, record] { wait_for(*at, record); });
    return cudaSuccess;
}

extern "C" cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end)
{
    ENTER("cudaEventElapsedTime");
    *milliseconds = (float)(end->at->milliseconds - begin->at->milliseconds);
    return cudaSuccess;
}
