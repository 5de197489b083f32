/* Whether an engine gives the bits of libjpeg-turbo: found out once for a device, driver and
 * nvJPEG, and kept in the cache. */
#include "gpu/decode/engine.cuh"
#include "gpu/runtime/check.cuh"

extern "C" {
#include "base/cache.h"
#include "core/jpeg_trials.h"
}
#include "gpu/decode/ycc.h"
#include "gpu/gpu.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

/* ---- What is kept ---------------------------------------------------------------------------- */

static const char kind[] = "decoder";
static const char right_answer[] = "right", wrong_answer[] = "wrong";

static gc_hash key_of(gc_decode_engine *engine)
{
    gconv_device_info device = {};
    gc_gpu_describe(engine->index, &device, nullptr);
    const int *version = gc_nvjpeg_get().version;
    char numbers[96];
    snprintf(numbers, sizeof numbers, "driver %d, runtime %d, nvJPEG %d.%d.%d",
             device.driver_version, device.runtime_version, version[0], version[1], version[2]);
    gc_hash key = gc_hash_string(gc_hash_start(), "2"); /* changes with what is checked */
    key = gc_hash_string(key, device.name);
    return gc_hash_string(key, numbers);
}

/* 1: right, 0: wrong, -1: nothing is kept. */
static int kept_answer(gc_hash key)
{
    void *bytes = nullptr;
    size_t size = 0;
    if (gc_cache_load(kind, key, &bytes, &size, nullptr) != GCONV_OK)
        return -1;
    int answer = -1;
    if (size == sizeof right_answer && memcmp(bytes, right_answer, size) == 0)
        answer = 1;
    else if (size == sizeof wrong_answer && memcmp(bytes, wrong_answer, size) == 0)
        answer = 0;
    free(bytes);
    return answer;
}

/* ---- The files ------------------------------------------------------------------------------- */

/* One of the files on its way through the engine. */
struct trial {
    unsigned char bytes[GC_JPEG_TRIAL_BYTES_MAX];
    gconv_encoded picture;
    const gc_jpeg_hashes *expected;
    gc_decoded decoded;
    gc_decode_request request;
    bool is_right;
};

static gc_hash hash_of(const unsigned char *rows, size_t pitch, size_t row_bytes, int count)
{
    gc_hash hash = gc_hash_start();
    for (int y = 0; y < count; y++)
        hash = gc_hash_bytes(hash, rows + (size_t)y * pitch, row_bytes);
    return hash;
}

static bool is_equal(gc_hash a, gc_hash b)
{
    return a.high == b.high && a.low == b.low;
}

/* All files, and memory for their planes and for the samples of one. It is given at once: who
 * holds a buffer must not wait for another. */
struct trials {
    trial files[GC_JPEG_TRIALS];
    gc_plane_buffer *device;
    unsigned char *host, *samples; /* the latter on the device */
};

static gconv_status compare_planes(trials *all, trial *one, cudaStream_t stream, gconv_error *error)
{
    gc_ycc image = gc_ycc_of(&one->picture);
    const gc_decoded &decoded = one->decoded;
    for (int c = 0; c < one->picture.components; c++) {
        int width = c == 0 ? image.width : image.chroma_width;
        int height = c == 0 ? image.height : image.chroma_height;
        size_t pitch = decoded.pitches[c];
        GC_CUDA_TRY(error, cudaMemcpyAsync(all->host, decoded.planes[c], pitch * (size_t)height,
                                           cudaMemcpyDeviceToHost, stream));
        GC_CUDA_TRY(error, cudaStreamSynchronize(stream));
        one->is_right = one->is_right && is_equal(hash_of(all->host, pitch, (size_t)width, height),
                                                  one->expected->planes[c]);
    }
    return GCONV_OK;
}

static gconv_status compare_samples(trials *all, trial *one, cudaStream_t stream,
                                    gconv_error *error)
{
    int channels = one->picture.components;
    size_t row_bytes = (size_t)one->picture.width * (size_t)channels;
    size_t bytes = row_bytes * one->picture.height;
    GC_TRY(gc_decode_unpack(&one->decoded, &one->picture, channels, all->samples, row_bytes, stream,
                            error));
    GC_CUDA_TRY(error,
                cudaMemcpyAsync(all->host, all->samples, bytes, cudaMemcpyDeviceToHost, stream));
    GC_CUDA_TRY(error, cudaStreamSynchronize(stream));
    one->is_right =
        one->is_right && is_equal(hash_of(all->host, bytes, bytes, 1), one->expected->samples);
    return GCONV_OK;
}

static gconv_status compare(trials *all, trial *one, cudaStream_t stream, gconv_error *error)
{
    one->is_right = true;
    GC_TRY(compare_planes(all, one, stream, error));
    return compare_samples(all, one, stream, error);
}

/* Makes the files, and finds room for their planes. */
static gconv_status make_files(gc_decode_engine *engine, trials *all, gconv_error *error)
{
    enum { SAMPLES_BYTES = 256 << 10 }; /* of any file, and of any plane of it */
    size_t bytes = SAMPLES_BYTES;
    for (int i = 0; i < GC_JPEG_TRIALS; i++) {
        trial *one = &all->files[i];
        one->expected = gc_jpeg_trial(i, one->bytes, &one->picture);
        one->request.picture = &one->picture;
        one->request.decoded = &one->decoded;
        one->request.format = one->picture.components == 1 ? GC_NVJPEG_Y : GC_NVJPEG_YUV;
        one->request.error = error;
        one->decoded.index = engine->index;
        GC_TRY(gc_decode_check(engine, &one->picture, error));
        bytes += gc_decode_lay_out(&one->picture, one->request.format, nullptr, &one->decoded);
    }
    all->host = (unsigned char *)malloc(SAMPLES_BYTES);
    if (all->host == nullptr)
        return gc_fail_memory(error, SAMPLES_BYTES);
    GC_TRY(gc_plane_memory_take(&engine->planes, bytes, &all->device, error));
    char *next = all->device->memory;
    all->samples = (unsigned char *)next;
    next += SAMPLES_BYTES;
    for (trial &one : all->files)
        next += gc_decode_lay_out(&one.picture, one.request.format, next, &one.decoded);
    return GCONV_OK;
}

/* Decodes the files, those of one format together. */
static gconv_status decode_files(gc_decode_engine *engine, trials *all, gconv_error *error)
{
    GC_TRY(make_files(engine, all, error));
    const gc_nvjpeg_format formats[] = {GC_NVJPEG_Y, GC_NVJPEG_YUV};
    for (gc_nvjpeg_format format : formats) {
        gc_decode_request *batch[GC_JPEG_TRIALS];
        int count = 0;
        for (trial &one : all->files)
            if (one.request.format == format)
                batch[count++] = &one.request;
        gc_decode_batch(engine, &engine->tracks[0], batch, count);
        for (int i = 0; i < count; i++)
            GC_TRY(batch[i]->status);
    }
    for (trial &one : all->files)
        GC_TRY(compare(all, &one, engine->tracks[0].stream, error));
    return GCONV_OK;
}

static gconv_status check(gc_decode_engine *engine, bool *are_right, gconv_error *error)
{
    trials *all = (trials *)calloc(1, sizeof *all);
    if (all == nullptr)
        return gc_fail_memory(error, sizeof *all);
    gconv_status status = decode_files(engine, all, error);
    *are_right = status == GCONV_OK;
    for (const trial &one : all->files)
        *are_right = *are_right && one.is_right;
    if (all->device != nullptr)
        gc_plane_memory_give(&engine->planes, all->device);
    free(all->host);
    free(all);
    return status;
}

bool gc_decode_trials_are_right(gc_decode_engine *engine, char *reason, size_t size)
{
    gc_hash key = key_of(engine);
    int kept = kept_answer(key);
    bool are_right = kept == 1;
    gconv_error error;
    if (kept < 0) {
        if (check(engine, &are_right, &error) != GCONV_OK) {
            snprintf(reason, size, "the JPEG engine cannot be checked: %.200s", error.message);
            return false;
        }
        const char *answer = are_right ? right_answer : wrong_answer;
        gc_cache_store(kind, key, answer, strlen(answer) + 1, nullptr);
    }
    if (!are_right)
        snprintf(reason, size, "the JPEG engine gives other samples than libjpeg-turbo");
    return are_right;
}
