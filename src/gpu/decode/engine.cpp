/* Threads bring pictures, and tracks decode them in batches. A thread that finds a track free and a
 * full batch waiting takes the track and leads: it takes the pictures that wait longest, those of
 * the first one's format, decodes them, and wakes the threads that brought them. A batch that is
 * not full starts only where no other one is under way: the engine would be idle otherwise. */
#include "gpu/decode/engine.cuh"

#include "gpu/decode/ycc.h"
#include "gpu/runtime/check.cuh"
#include "gpu/runtime/plan.cuh"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

/* ---- Starting -------------------------------------------------------------------------------- */

enum { ENGINES_MAX = 64 };

enum state { UNKNOWN, STARTING, USABLE, ABSENT };

/* Each device's engine, and whether it can be used. */
static struct entry {
    pthread_mutex_t mutex;
    pthread_cond_t settled; /* neither UNKNOWN nor STARTING */
    enum state state;
    char reason[256];
    gc_decode_engine engine;
    pthread_t starter;
    bool has_starter; /* it has to be joined */
    bool ends;        /* the starter should leave the rest */
} engines[ENGINES_MAX];

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void call_next(gc_decode_engine *engine);

static void init_mutexes()
{
    for (auto &entry : engines) {
        pthread_mutex_init(&entry.mutex, nullptr);
        pthread_cond_init(&entry.settled, nullptr);
    }
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
    gc_plane_memory_end(&engine->planes);
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

/* Sets the pictures of a full batch: one for each unit of the engine. */
static void count_units(gc_decode_engine *engine)
{
    unsigned units = 0, cores = 0;
    if (gc_nvjpeg_get().get_units(engine->handle, &units, &cores) != GC_NVJPEG_SUCCESS)
        units = 0;
    engine->batch = (int)std::min<unsigned>(std::max(units, 1U), GC_DECODE_BATCH_MAX);
}

/* Makes the first track, and compares what it decodes. */
static bool try_out(gc_decode_engine *engine, char *reason, size_t size)
{
    gconv_error error;
    if (gc_decode_complete_track(engine, &engine->tracks[0], &error) != GCONV_OK) {
        snprintf(reason, size, "%s", error.message);
        return false;
    }
    engine->tracks[0].ready = true;
    return gc_decode_trials_are_right(engine, reason, size);
}

static bool start(gc_decode_engine *engine, int index, char *reason, size_t size)
{
    *engine = {};
    engine->index = index;
    gconv_error error;
    if (cudaFree(nullptr) != cudaSuccess) { /* nvJPEG needs the context that this makes */
        snprintf(reason, size, "cuda:%d cannot be used", index);
        cudaGetLastError();
        return false;
    }
    if (!create_handle(engine, reason, size))
        return false;
    count_units(engine);
    if (gc_plane_memory_init(&engine->planes, &error) != GCONV_OK) {
        snprintf(reason, size, "%s", error.message);
        gc_nvjpeg_get().destroy(engine->handle);
        return false;
    }
    pthread_mutex_init(&engine->mutex, nullptr);
    if (try_out(engine, reason, size))
        return true;
    end_engine(engine);
    return false;
}

static void settle(entry *entry, bool usable)
{
    pthread_mutex_lock(&entry->mutex);
    entry->state = usable ? USABLE : ABSENT;
    pthread_cond_broadcast(&entry->settled);
    pthread_mutex_unlock(&entry->mutex);
}

static bool has_to_end(entry *entry)
{
    pthread_mutex_lock(&entry->mutex);
    bool ends = entry->ends;
    pthread_mutex_unlock(&entry->mutex);
    return ends;
}

/* Starts the engine with one track. Others are made while that one is in use. */
static void *start_in_thread(void *opaque)
{
    entry *entry = (struct entry *)opaque;
    gc_decode_engine *engine = &entry->engine;
    int index = (int)(entry - engines);
    gc_current_device current(index);
    bool usable = start(engine, index, entry->reason, sizeof entry->reason);
    settle(entry, usable);
    for (int i = 1; usable && i < GC_DECODE_TRACKS && !has_to_end(entry); i++) {
        gconv_error error;
        if (gc_decode_complete_track(engine, &engine->tracks[i], &error) != GCONV_OK)
            break; /* fewer tracks are slower, not wrong */
        pthread_mutex_lock(&engine->mutex);
        engine->tracks[i].ready = true;
        call_next(engine);
        pthread_mutex_unlock(&engine->mutex);
    }
    return nullptr;
}

/* Begins the start of an engine whose state is UNKNOWN. The entry's mutex is held. */
static void begin_start(entry *entry)
{
    entry->state = STARTING;
    entry->reason[0] = '\0';
    entry->ends = false;
    entry->has_starter = pthread_create(&entry->starter, nullptr, start_in_thread, entry) == 0;
    if (!entry->has_starter) {
        snprintf(entry->reason, sizeof entry->reason, "no thread can be made to start it");
        entry->state = ABSENT;
    }
}

static entry *entry_of(int index)
{
    pthread_once(&once, init_mutexes);
    return index >= 0 && index < ENGINES_MAX ? &engines[index] : nullptr;
}

bool gc_decode_available(int index, const char **reason)
{
    entry *entry = entry_of(index);
    *reason = "there is no such device";
    if (entry == nullptr)
        return false;
    pthread_mutex_lock(&entry->mutex);
    if (entry->state == UNKNOWN)
        begin_start(entry);
    while (entry->state == STARTING)
        pthread_cond_wait(&entry->settled, &entry->mutex);
    *reason = entry->reason;
    bool usable = entry->state == USABLE;
    pthread_mutex_unlock(&entry->mutex);
    return usable;
}

static void end_entry(entry *entry)
{
    pthread_mutex_lock(&entry->mutex);
    bool joins = entry->has_starter;
    entry->ends = true;
    entry->has_starter = false;
    pthread_mutex_unlock(&entry->mutex);
    if (joins)
        pthread_join(entry->starter, nullptr);
    pthread_mutex_lock(&entry->mutex);
    if (entry->state == USABLE)
        end_engine(&entry->engine);
    entry->state = UNKNOWN;
    pthread_mutex_unlock(&entry->mutex);
}

void gc_decode_end(void)
{
    pthread_once(&once, init_mutexes);
    for (auto &entry : engines)
        end_entry(&entry);
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
    gc_plane_buffer *buffer = nullptr;
    gc_decoded sizes = {};
    GC_TRY(gc_plane_memory_take(
        &engine->planes, gc_decode_lay_out(picture, format, nullptr, &sizes), &buffer, error));
    gc_decode_lay_out(picture, format, buffer->memory, decoded);
    decoded->buffer = buffer;
    decoded->index = engine->index;
    return GCONV_OK;
}

void gc_decode_release(gc_decoded *decoded)
{
    if (decoded->buffer != nullptr)
        gc_plane_memory_give(&engines[decoded->index].engine.planes,
                             (gc_plane_buffer *)decoded->buffer);
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
    while (*link != nullptr && count < engine->batch) {
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

/* Pictures that wait, of the format of the one that has waited longest; at most a full batch. */
static int count_next(const gc_decode_engine *engine)
{
    int count = 0;
    for (gc_decode_request *request = engine->waiting; request != nullptr; request = request->next)
        count += request->format == engine->waiting->format;
    return std::min(count, engine->batch);
}

/* A track that is free, if possible one that is prepared for such a batch; null where none is. */
static gc_decode_track *free_track(gc_decode_engine *engine, gc_nvjpeg_format format, int count)
{
    gc_decode_track *found = nullptr;
    for (gc_decode_track &track : engine->tracks) {
        if (!track.ready || track.busy)
            continue;
        if (track.format == format && track.batch == count)
            return &track;
        found = found == nullptr ? &track : found;
    }
    return found;
}

static bool is_idle(const gc_decode_engine *engine)
{
    for (const gc_decode_track &track : engine->tracks)
        if (track.busy)
            return false;
    return true;
}

/* The track on which a batch should start now; null where none should. */
static gc_decode_track *next_track(gc_decode_engine *engine)
{
    int count = count_next(engine);
    if (count == 0 || (count < engine->batch && !is_idle(engine)))
        return nullptr;
    return free_track(engine, engine->waiting->format, count);
}

/* Wakes the thread that has waited longest, where a batch should start. It becomes a leader. */
static void call_next(gc_decode_engine *engine)
{
    if (next_track(engine) != nullptr)
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
        gc_decode_track *track = request->taken ? nullptr : next_track(engine);
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
