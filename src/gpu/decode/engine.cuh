/* The JPEG engine of a device: what the parts of the decoder share. */
#ifndef GC_GPU_DECODE_ENGINE_CUH
#define GC_GPU_DECODE_ENGINE_CUH

#include "gpu/decode/decode.h"
#include "gpu/decode/nvjpeg.cuh"
#include "gpu/decode/plane_memory.cuh"

#include <cuda_runtime.h>
#include <pthread.h>

enum {
    /* While one track copies files to the device, the engine works for others. */
    GC_DECODE_TRACKS = 4,
    /* Pictures of a batch, at most. The engine of a device is several units, and each takes one
     * picture of a batch. Batches of as many pictures as there are units are the fastest: on an
     * H200 with 7 of them and 4 tracks, 915 pictures of 12 megapixels a second in batches of 7,
     * 548 in batches of 4, about 700 in batches of 16. */
    GC_DECODE_BATCH_MAX = 64
};

/* A picture that a thread waits for. It lies on the stack of this thread. */
struct gc_decode_request {
    const gconv_encoded *picture;
    gc_nvjpeg_format format;
    gc_decoded *decoded; /* gets the planes */
    gconv_error *error;  /* may be null */
    gconv_status status;
    bool taken, done; /* by a batch */
    pthread_cond_t wake;
    gc_decode_request *next;
};

/* What decodes one batch at a time. */
struct gc_decode_track {
    bool ready; /* its state exists: creating one takes 0.1 to 0.4 s */
    bool busy;
    gc_nvjpeg_state state;
    cudaStream_t stream;
    cudaEvent_t decoded;
    int batch; /* pictures that the state is prepared for, 0: none */
    gc_nvjpeg_format format;
};

/* The header of a file, as nvJPEG reads it. */
struct gc_decode_header {
    gc_nvjpeg_stream stream;
    gc_decode_header *next;
};

struct gc_decode_engine {
    int index; /* of the device */
    gc_nvjpeg_handle handle;
    int batch; /* pictures of a full batch */
    gc_plane_memory planes;
    pthread_mutex_t mutex; /* of what follows */
    gc_decode_track tracks[GC_DECODE_TRACKS];
    gc_decode_request *waiting; /* in their order */
    gc_decode_header *headers;  /* that nobody uses */
};

/* ---- Parts of a decoding; the device is the current one -------------------------------------- */

/* Whether the engine takes a file, as far as its header says; else GCONV_ERROR_UNSUPPORTED. */
gconv_status gc_decode_check(gc_decode_engine *engine, const gconv_encoded *picture,
                             gconv_error *error);

/* Places the planes of a picture in `memory`, which is aligned for rows. Returns how many bytes
 * they take. Null as `memory` asks for these alone. */
size_t gc_decode_lay_out(const gconv_encoded *picture, gc_nvjpeg_format format, char *memory,
                         gc_decoded *decoded);

/* Decodes a batch of requests of one format on a track that nobody else uses; sets their status. A
 * batch that fails is decoded again picture by picture. (track.cpp) */
void gc_decode_batch(gc_decode_engine *engine, gc_decode_track *track,
                     gc_decode_request *const *requests, int count);

/* Makes what a track lacks. */
gconv_status gc_decode_complete_track(gc_decode_engine *engine, gc_decode_track *track,
                                      gconv_error *error);

/* Frees what a track holds. */
void gc_decode_end_track(gc_decode_track *track);

/* Decodes the files of gc_jpeg_trial. False where the planes, or the RGB samples that are made of
 * them, are others than libjpeg-turbo's, or nothing is decoded: `reason` then says so. The answer
 * is kept in the cache. (trials.cpp) */
bool gc_decode_trials_are_right(gc_decode_engine *engine, char *reason, size_t size);

#endif
