/* Threads bring pictures, and tracks decode them in batches. A thread that finds a track free takes it
 * and leads: it takes the pictures that wait, those of the first one's format, decodes them, and
 * wakes the threads that brought them. While it does so more pictures come, so that batches grow by
 * themselves under load. */
#include "gpu/decode/engine.cuh"

#include "gpu/decode/ycc.h"
#include "gpu/runtime/check.cuh"
#include "gpu/runtime/plan.cuh"

#include <cstdio>
#include <cstdlib>

/* ---- Starting -------------------------------------------------------------------------------- */

enum { ENGINES_MAX = 64 };

enum state { UNKNOWN, USABLE, ABSENT };

/* Each device's engine, and whether it can be used. */
static struct {
    pthread_mutex_t mutex;
    state state;
    char reason[256];
    gc_decode_engine engine;
} engines[ENGINES_MAX];

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void init_mutexes()
{
    for (auto &entry : engines)
        pthread_mutex_init(&entry.mutex, nullptr);
}

static void end_engine(gc_decode_engine *engine)
{
    gc_current_device current(engine->index);
    for (gc_decode_track &track : engine->tracks)
        gc_decode_end_track(&track);
    while (engine->headers != nullptr) {
        gc_decode_header *header = engine->headers;
        engine->headers = header->next;
        gc_nvjpeg_get().destroy_stream(header->stream);
        free(header);
    }
    gc_pool_end(&engine->pool);
    pthread_mutex_destroy(&engine->mutex);
    gc_nvjpeg_get().destroy(engine->handle);
    *engine = {};
}

static bool create_handle(gc_decode_engine *engine, char *reason, size_t size)
{
    const gc_nvjpeg &nvjpeg = gc_nvjpeg_get();
    if (!nvjpeg.library.loaded) {
        snprintf(reason, size, "%s", nvjpeg.library.reason);
        return false;
    }
    int code = nvjpeg.create(GC_NVJPEG_HARDWARE, nullptr, nullptr, 0, &engine->handle);
    if (code == GC_NVJPEG_ARCH_MISMATCH)
        snprintf(reason, size, "cuda:%d has no JPEG engine that nvJPEG can use", engine->index);
    else if (code != GC_NVJPEG_SUCCESS)
        snprintf(reason, size, "nvJPEG: nvjpegCreateEx failed with status %d", code);
    return code == GC_NVJPEG_SUCCESS;
}

static bool start(gc_decode_engine *engine, int index, char *reason, size_t size)
{
    *engine = {};
    engine->index = index;
    gc_current_device current(index);
    if (!create_handle(engine, reason, size))
        return false;
    gconv_error error;
    if (gc_pool_init(&engine->pool, &error) != GCONV_OK) {
        snprintf(reason, size, "%s", error.message);
        gc_nvjpeg_get().destroy(engine->handle);
        return false;
    }
    pthread_mutex_init(&engine->mutex, nullptr);
    if (gc_decode_trials_are_right(engine, reason, size))
        return true;
    end_engine(engine);
    return false;
}

bool gc_decode_available(int index, const char **reason)
{
    pthread_once(&once, init_mutexes);
    *reason = "there is no such device";
    if (index < 0 || index >= ENGINES_MAX)
        return false;
    auto &entry = engines[index];
    pthread_mutex_lock(&entry.mutex);
    if (entry.state == UNKNOWN) {
        entry.reason[0] = '\0';
        bool usable = start(&entry.engine, index, entry.reason, sizeof entry.reason);
        entry.state = usable ? USABLE : ABSENT;
    }
    *reason = entry.reason;
    bool usable = entry.state == USABLE;
    pthread_mutex_unlock(&entry.mutex);
    return usable;
}

void gc_decode_end(void)
{
    pthread_once(&once, init_mutexes);
    for (auto &entry : engines) {
        pthread_mutex_lock(&entry.mutex);
        if (entry.state == USABLE)
            end_engine(&entry.engine);
        entry.state = UNKNOWN;
        pthread_mutex_unlock(&entry.mutex);
    }
}

/* ---- Before the batch ------------------------------------------------------------------------ */

static gc_decode_header *take_header(gc_decode_engine *engine)
{
    pthread_mutex_lock(&engine->mutex);
    gc_decode_header *header = engine->headers;
    if (header != nullptr)
        engine->headers = header->next;
    pthread_mutex_unlock(&engine->mutex);
    if (header != nullptr)
        return header;
    header = (gc_decode_header *)calloc(1, sizeof *header);
    if (header != nullptr &&
        gc_nvjpeg_get().create_stream(engine->handle, &header->stream) == GC_NVJPEG_SUCCESS)
        return header;
    free(header);
    return nullptr;
}

static void give_header_back(gc_decode_engine *engine, gc_decode_header *header)
{
    pthread_mutex_lock(&engine->mutex);
    header->next = engine->headers;
    engine->headers = header;
    pthread_mutex_unlock(&engine->mutex);
}

/* Whether the picture is of a kind that this decoder knows. */
static bool is_known(const gconv_encoded *picture)
{
    int across = picture->sampling_x, down = picture->sampling_y;
    if (picture->width < 1 || picture->width > 65535 || picture->height < 1 ||
        picture->height > 65535 || picture->orientation < 1 || picture->orientation > 8)
        return false;
    if (picture->components == 1)
        return across == 1 && down == 1;
    return picture->components == 3 &&
           ((down == 1 && (across == 1 || across == 2)) || (across == 2 && down == 2));
}

gconv_status gc_decode_check(gc_decode_engine *engine, const gconv_encoded *picture,
                             gconv_error *error)
{
    if (!is_known(picture))
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED, "not a JPEG for the engine");
    gc_decode_header *header = take_header(engine);
    if (header == nullptr)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED, "nvJPEG: nvjpegJpegStreamCreate failed");
    const gc_nvjpeg &nvjpeg = gc_nvjpeg_get();
    int refused = 1;
    int code = nvjpeg.parse_header(engine->handle, picture->bytes, picture->size, header->stream);
    if (code == GC_NVJPEG_SUCCESS)
        code = nvjpeg.supported(engine->handle, header->stream, &refused);
    give_header_back(engine, header);
    if (code != GC_NVJPEG_SUCCESS || refused != 0)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED, "the JPEG engine does not take this file");
    return GCONV_OK;
}

/* Bytes of a plane, and from row to row. The engine may write whole blocks. */
static size_t plane_bytes(int width, int height, size_t *pitch)
{
    enum { LINE = 128, BLOCK_ROWS = 16 };
    *pitch = ((size_t)width + LINE - 1) / LINE * LINE;
    return *pitch * (((size_t)height + BLOCK_ROWS - 1) / BLOCK_ROWS * BLOCK_ROWS);
}

size_t gc_decode_lay_out(const gconv_encoded *picture, gc_nvjpeg_format format, char *memory,
                         gc_decoded *decoded)
{
    gc_ycc image = gc_ycc_of(picture);
    size_t luma = plane_bytes(image.width, image.height, &decoded->pitches[0]), chroma = 0;
    decoded->planes[0] = memory;
    if (format == GC_NVJPEG_YUV) {
        chroma = plane_bytes(image.chroma_width, image.chroma_height, &decoded->pitches[1]);
        decoded->pitches[2] = decoded->pitches[1];
        decoded->planes[1] = memory + luma;
        decoded->planes[2] = memory + luma + chroma;
    }
    return luma + 2 * chroma;
}

/* Takes memory for the planes of a picture. */
static gconv_status take_planes(gc_decode_engine *engine, const gconv_encoded *picture,
                                gc_nvjpeg_format format, gc_decoded *decoded, gconv_error *error)
{
    gc_pool_buffer *buffer = nullptr;
    gc_decoded sizes = {};
    GC_TRY(gc_pool_take(&engine->pool, gc_decode_lay_out(picture, format, nullptr, &sizes), &buffer,
                        error));
    gc_decode_lay_out(picture, format, buffer->memory, decoded);
    decoded->buffer = buffer;
    decoded->index = engine->index;
    return GCONV_OK;
}

void gc_decode_release(gc_decoded *decoded)
{
    if (decoded->buffer != nullptr)
        gc_pool_give_back(&engines[decoded->index].engine.pool, (gc_pool_buffer *)decoded->buffer);
    *decoded = {};
}

/* ---- The queue; the engine's mutex is held --------------------------------------------------- */

static void append(gc_decode_engine *engine, gc_decode_request *request)
{
    gc_decode_request **link = &engine->waiting;
    while (*link != nullptr)
        link = &(*link)->next;
    *link = request;
}

/* Takes the first requests of a format out of the queue. */
static int take_batch(gc_decode_engine *engine, gc_nvjpeg_format format,
                      gc_decode_request *batch[GC_DECODE_BATCH_MAX])
{
    int count = 0;
    gc_decode_request **link = &engine->waiting;
    while (*link != nullptr && count < GC_DECODE_BATCH_MAX) {
        gc_decode_request *request = *link;
        if (request->format != format) {
            link = &request->next;
            continue;
        }
        *link = request->next;
        request->taken = true;
        batch[count++] = request;
    }
    return count;
}

/* A track that is free, if possible one that is prepared for this format; null where none is. */
static gc_decode_track *free_track(gc_decode_engine *engine, gc_nvjpeg_format format)
{
    gc_decode_track *found = nullptr;
    for (gc_decode_track &track : engine->tracks) {
        if (track.busy)
            continue;
        bool better = found == nullptr || (found->state == nullptr && track.state != nullptr) ||
                      (found->format != format && track.state != nullptr && track.format == format);
        if (better)
            found = &track;
    }
    return found;
}

/* Wakes the thread that has waited longest, where a track is free. It becomes a leader. */
static void call_next(gc_decode_engine *engine)
{
    if (engine->waiting != nullptr && free_track(engine, engine->waiting->format) != nullptr)
        pthread_cond_signal(&engine->waiting->wake);
}

static void lead(gc_decode_engine *engine, gc_decode_track *track)
{
    gc_decode_request *batch[GC_DECODE_BATCH_MAX];
    track->busy = true;
    int count = take_batch(engine, engine->waiting->format, batch);
    call_next(engine);
    pthread_mutex_unlock(&engine->mutex);
    gc_decode_batch(engine, track, batch, count);
    pthread_mutex_lock(&engine->mutex);
    for (int i = 0; i < count; i++) {
        batch[i]->done = true;
        pthread_cond_signal(&batch[i]->wake);
    }
    track->busy = false;
    call_next(engine);
}

/* Returns when the request is done. */
static void serve(gc_decode_engine *engine, gc_decode_request *request)
{
    pthread_cond_init(&request->wake, nullptr);
    pthread_mutex_lock(&engine->mutex);
    append(engine, request);
    while (!request->done) {
        gc_decode_track *track =
            request->taken ? nullptr : free_track(engine, engine->waiting->format);
        if (track != nullptr)
            lead(engine, track);
        else
            pthread_cond_wait(&request->wake, &engine->mutex);
    }
    pthread_mutex_unlock(&engine->mutex);
    pthread_cond_destroy(&request->wake);
}

gconv_status gc_decode_jpeg(int index, const gconv_encoded *picture, bool luma_only,
                            gc_decoded *decoded, gconv_error *error)
{
    const char *reason;
    *decoded = {};
    if (!gc_decode_available(index, &reason))
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED, "%s", reason);
    gc_decode_engine *engine = &engines[index].engine;
    gc_current_device current(index);
    gc_decode_request request = {};
    request.picture = picture;
    request.format = luma_only || picture->components == 1 ? GC_NVJPEG_Y : GC_NVJPEG_YUV;
    request.decoded = decoded;
    request.error = error;
    GC_TRY(gc_decode_check(engine, picture, error));
    GC_TRY(take_planes(engine, picture, request.format, decoded, error));
    serve(engine, &request);
    if (request.status != GCONV_OK)
        gc_decode_release(decoded);
    return request.status;
}
