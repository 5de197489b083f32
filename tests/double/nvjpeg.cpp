/* nvJPEG with a hardware engine as src/gpu/decode calls it; libjpeg decodes.
 *     GC_DOUBLE_NVJPEG=absent   there is no engine
 *                      refuse   the engine takes no file
 *                      batch    batches of more than one file fail
 *                      fail     all batches fail
 *                      wrong    one sample of each file is off by one
 *                      slow     a batch takes 20 ms */
#include "state.hpp"
#include "turbo.h"

#include "gpu/decode/nvjpeg.cuh"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <unistd.h>

/* nvjpegStatus_t */
enum { SUCCESS, NOT_INITIALIZED, INVALID, BAD_JPEG, NOT_SUPPORTED, ALLOCATOR, EXECUTION, ARCH };

enum { SLOW_MICROSECONDS = 20000 };

struct nvjpegHandle {
};

struct nvjpegJpegStream {
    bool usual;
};

struct nvjpegJpegState {
    std::atomic<bool> busy{false};
    int batch = 0; /* files that it is prepared for */
    int format = 0;
};

static bool is_mode(const char *name)
{
    const char *mode = getenv("GC_DOUBLE_NVJPEG");
    return mode != nullptr && strcmp(mode, name) == 0;
}

static int enter(const char *call)
{
    cudaError_t code = gc_double_enter(call);
    return code == cudaSuccess                 ? SUCCESS
           : code == cudaErrorMemoryAllocation ? ALLOCATOR
                                               : EXECUTION;
}

extern "C" int nvjpegGetProperty(int property, int *value)
{
    *value = property == GC_NVJPEG_MAJOR ? CUDART_VERSION / 1000 : 0;
    return SUCCESS;
}

/* ---- Things ---------------------------------------------------------------------------------- */

template <class thing> static int create(const char *call, thing **created)
{
    int code = enter(call);
    if (code == SUCCESS) {
        *created = new thing();
        gc_double_count(GC_DOUBLE_NVJPEGS, 1);
    }
    return code;
}

template <class thing> static int destroy(const char *call, thing *created)
{
    int code = enter(call);
    delete created;
    gc_double_count(GC_DOUBLE_NVJPEGS, -1);
    return code;
}

extern "C" int nvjpegCreateEx(int backend, const void *, const void *, unsigned,
                              gc_nvjpeg_handle *handle)
{
    if (backend != GC_NVJPEG_HARDWARE || is_mode("absent"))
        return ARCH;
    return create("nvjpegCreateEx", handle);
}

extern "C" int nvjpegGetHardwareDecoderInfo(gc_nvjpeg_handle, unsigned *units, unsigned *cores)
{
    *units = 3;
    *cores = 1;
    return GC_NVJPEG_SUCCESS;
}

extern "C" int nvjpegDestroy(gc_nvjpeg_handle handle)
{
    return destroy("nvjpegDestroy", handle);
}

extern "C" int nvjpegJpegStateCreate(gc_nvjpeg_handle, gc_nvjpeg_state *state)
{
    return create("nvjpegJpegStateCreate", state);
}

extern "C" int nvjpegJpegStateDestroy(gc_nvjpeg_state state)
{
    return destroy("nvjpegJpegStateDestroy", state);
}

extern "C" int nvjpegJpegStreamCreate(gc_nvjpeg_handle, gc_nvjpeg_stream *stream)
{
    return create("nvjpegJpegStreamCreate", stream);
}

extern "C" int nvjpegJpegStreamDestroy(gc_nvjpeg_stream stream)
{
    return destroy("nvjpegJpegStreamDestroy", stream);
}

/* ---- Headers --------------------------------------------------------------------------------- */

extern "C" int nvjpegJpegStreamParseHeader(gc_nvjpeg_handle, const unsigned char *bytes,
                                           size_t size, gc_nvjpeg_stream stream)
{
    int code = enter("nvjpegJpegStreamParseHeader");
    if (code != SUCCESS)
        return code;
    return gc_double_read_header(bytes, size, &stream->usual) ? SUCCESS : BAD_JPEG;
}

extern "C" int nvjpegDecodeBatchedSupported(gc_nvjpeg_handle, gc_nvjpeg_stream stream, int *refused)
{
    *refused = stream->usual && !is_mode("refuse") ? 0 : 1;
    return enter("nvjpegDecodeBatchedSupported");
}

/* ---- Batches --------------------------------------------------------------------------------- */

extern "C" int nvjpegDecodeBatchedInitialize(gc_nvjpeg_handle, gc_nvjpeg_state state, int count,
                                             int threads, int format)
{
    int code = enter("nvjpegDecodeBatchedInitialize");
    if (code == SUCCESS && (count < 1 || threads < 1 || state->busy))
        code = INVALID;
    state->batch = code == SUCCESS ? count : 0;
    state->format = format;
    return code;
}

/* Where the planes of a decoded file go. */
struct delivery {
    gc_double_planes decoded = {};
    gc_nvjpeg_planes target = {};
    int planes = 0;
    ~delivery()
    {
        gc_double_free_planes(&decoded);
    }
};

static bool fits(const delivery &one)
{
    for (int c = 0; c < one.planes; c++)
        if (one.target.pitch[c] < one.decoded.widths[c] ||
            !gc_double_holds(one.target.channel[c], one.target.pitch[c] * one.decoded.heights[c],
                             false))
            return false;
    return true;
}

static void deliver(const delivery &one)
{
    for (int c = 0; c < one.planes; c++)
        for (size_t y = 0; y < one.decoded.heights[c]; y++)
            memcpy(one.target.channel[c] + y * one.target.pitch[c],
                   one.decoded.planes[c] + y * one.decoded.pitches[c], one.decoded.widths[c]);
}

static int decode_one(const nvjpegJpegState &state, const unsigned char *bytes, size_t size,
                      const gc_nvjpeg_planes &target, cudaStream_t stream)
{
    auto one = std::make_shared<delivery>();
    if (!gc_double_decode(bytes, size, &one->decoded))
        return BAD_JPEG;
    one->target = target;
    one->planes = state.format == GC_NVJPEG_Y ? 1 : one->decoded.count;
    if (!fits(*one))
        return INVALID;
    if (is_mode("wrong"))
        one->decoded.planes[one->planes - 1][0] ^= 1;
    gc_double_enqueue(stream, [one] { deliver(*one); });
    return SUCCESS;
}

extern "C" int nvjpegDecodeBatched(gc_nvjpeg_handle, gc_nvjpeg_state state,
                                   const unsigned char *const *files, const size_t *sizes,
                                   gc_nvjpeg_planes *planes, cudaStream_t stream)
{
    if (state->busy.exchange(true))
        return INVALID; /* another thread is in here */
    int code = enter("nvjpegDecodeBatched"), count = state->batch;
    if (code == SUCCESS && count == 0)
        code = NOT_INITIALIZED;
    if (code == SUCCESS && (is_mode("fail") || (is_mode("batch") && count > 1)))
        code = EXECUTION;
    if (is_mode("slow"))
        usleep(SLOW_MICROSECONDS);
    for (int i = 0; i < count && code == SUCCESS; i++)
        code = decode_one(*state, files[i], sizes[i], planes[i], stream);
    if (code != SUCCESS)
        state->batch = 0;
    state->busy = false;
    return code;
}
