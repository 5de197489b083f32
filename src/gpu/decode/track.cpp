/* Batches: nvJPEG is called here. */
#include "gpu/decode/engine.cuh"
#include "gpu/runtime/check.cuh"
#include "gpu/runtime/wait.cuh"

/* How a batch ended. */
enum outcome {
    DECODED,
    REFUSED, /* nvJPEG or CUDA failed, and the device still works */
    BROKEN   /* the device has failed */
};

static gconv_status fail_nvjpeg(gconv_error *error, int code, const char *what)
{
    return gc_fail(error, GCONV_ERROR_UNSUPPORTED, "nvJPEG: %s failed with status %d", what, code);
}

gconv_status gc_decode_complete_track(gc_decode_engine *engine, gc_decode_track *track,
                                      gconv_error *error)
{
    const gc_nvjpeg &nvjpeg = gc_nvjpeg_get();
    if (track->stream == nullptr)
        GC_CUDA_TRY(error, cudaStreamCreateWithFlags(&track->stream, cudaStreamNonBlocking));
    if (track->decoded == nullptr)
        GC_CUDA_TRY(error, cudaEventCreateWithFlags(&track->decoded, cudaEventDisableTiming));
    if (track->state == nullptr) {
        int code = nvjpeg.create_state(engine->handle, &track->state);
        if (code != GC_NVJPEG_SUCCESS) {
            track->state = nullptr;
            return fail_nvjpeg(error, code, "nvjpegJpegStateCreate");
        }
    }
    return GCONV_OK;
}

void gc_decode_end_track(gc_decode_track *track)
{
    if (track->state != nullptr)
        gc_nvjpeg_get().destroy_state(track->state);
    if (track->decoded != nullptr)
        cudaEventDestroy(track->decoded);
    if (track->stream != nullptr)
        cudaStreamDestroy(track->stream);
    *track = {};
    cudaGetLastError();
}

/* Prepares the state for batches of this size and format. */
static gconv_status prepare(gc_decode_engine *engine, gc_decode_track *track, int count,
                            gc_nvjpeg_format format, gconv_error *error)
{
    GC_TRY(gc_decode_complete_track(engine, track, error));
    if (track->batch == count && track->format == format)
        return GCONV_OK;
    track->batch = 0;
    int code = gc_nvjpeg_get().begin_batch(engine->handle, track->state, count, 1, format);
    if (code != GC_NVJPEG_SUCCESS)
        return fail_nvjpeg(error, code, "nvjpegDecodeBatchedInitialize");
    track->batch = count;
    track->format = format;
    return GCONV_OK;
}

/* Microseconds between questions whether a batch is done: batches take 1 to some 10 ms. */
enum { BATCH_PAUSE = 100 };

static gconv_status decode(gc_decode_engine *engine, gc_decode_track *track,
                           gc_decode_request *const *requests, int count, gconv_error *error)
{
    const unsigned char *files[GC_DECODE_BATCH_MAX];
    size_t sizes[GC_DECODE_BATCH_MAX];
    gc_nvjpeg_planes planes[GC_DECODE_BATCH_MAX] = {};
    GC_TRY(prepare(engine, track, count, requests[0]->format, error));
    for (int i = 0; i < count; i++) {
        files[i] = requests[i]->picture->bytes;
        sizes[i] = requests[i]->picture->size;
        for (int c = 0; c < 3; c++) {
            planes[i].channel[c] = (unsigned char *)requests[i]->decoded->planes[c];
            planes[i].pitch[c] = requests[i]->decoded->pitches[c];
        }
    }
    int code = gc_nvjpeg_get().decode_batch(engine->handle, track->state, files, sizes, planes,
                                            track->stream);
    if (code != GC_NVJPEG_SUCCESS)
        return fail_nvjpeg(error, code, "nvjpegDecodeBatched");
    GC_CUDA_TRY(error, cudaEventRecord(track->decoded, track->stream));
    return gc_await_event(track->decoded, BATCH_PAUSE, error);
}

/* Whether the device still works after a failure. An error of CUDA that passes has passed by now.
 * Nothing of the failed batch runs on: the engine does not work in the order of a CUDA stream, so
 * that the whole device is waited for. */
static bool still_works()
{
    cudaGetLastError();
    cudaDeviceSynchronize();
    cudaGetLastError();
    return cudaDeviceSynchronize() == cudaSuccess;
}

static outcome attempt(gc_decode_engine *engine, gc_decode_track *track,
                       gc_decode_request *const *requests, int count, gconv_error *error)
{
    if (decode(engine, track, requests, count, error) == GCONV_OK)
        return DECODED;
    track->batch = 0;
    return still_works() ? REFUSED : BROKEN;
}

static void conclude(gc_decode_request *request, outcome how, const gconv_error &error)
{
    request->status = GCONV_OK;
    if (how != DECODED)
        request->status =
            gc_fail(request->error, how == REFUSED ? GCONV_ERROR_UNSUPPORTED : GCONV_ERROR_DEVICE,
                    "%s", error.message);
}

void gc_decode_batch(gc_decode_engine *engine, gc_decode_track *track,
                     gc_decode_request *const *requests, int count)
{
    gconv_error error = {};
    outcome how = attempt(engine, track, requests, count, &error);
    for (int i = 0; i < count; i++) {
        if (how == REFUSED && count > 1)
            conclude(requests[i], attempt(engine, track, requests + i, 1, &error), error);
        else
            conclude(requests[i], how, error);
    }
}
