/* JPEG decoding by the engine of a GPU, nvJPEG with NVJPEG_BACKEND_HARDWARE; and what it shares
 * with the kernels of jpeg.h: gc_decoded, and making samples of it (gc_decode_unpack). The planes
 * are bit for bit those of libjpeg-turbo, and so are the RGB samples that are made of them. Plain
 * C, no CUDA types. In a build without CUDA there is no engine (runtime/unavailable.c).
 *
 * The engine takes files that are proven sound (gconv_encoded). Of damage it says nothing. */
#ifndef GC_GPU_DECODE_DECODE_H
#define GC_GPU_DECODE_DECODE_H

#include "gconv.h"

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* *cudaStream_t */

/* Whether the engine of device `index` can be used. The first call for a device starts the engine
 * and checks it, which takes some tenths of a second; calls of other threads wait meanwhile.
 * `reason` gets why not, in words, else "". It stays valid. */
bool gc_decode_available(int index, const char **reason);

/* The planes of a picture in the memory of its device: Y, and Cb and Cr where they were asked for.
 * Rows are whole lines of 128 bytes. What follows a row, and the rows after the last, belong to the
 * planes, too; their content is undefined. */
typedef struct gc_decoded {
    void *planes[3];   /* device; NULL where there is none */
    size_t pitches[3]; /* bytes from row to row */
    void *buffer;      /* the rest is the decoder's own */
    int index;
} gc_decoded;

/* Decodes a picture on device `index`. Any thread may call this. Pictures of several threads that
 * wait at one time are decoded in one batch. Returns when the planes are there; gc_decode_release
 * gives them back. Waits while the memory for planes is taken. So a thread that holds planes must
 * not ask for more.
 *
 * `luma_only`: Cb and Cr are not wanted. GCONV_ERROR_UNSUPPORTED: the engine does not take this
 * picture; the CPU should decode it. GCONV_ERROR_DEVICE: the device has failed. */
gconv_status gc_decode_jpeg(int index, const gconv_encoded *picture, bool luma_only,
                            gc_decoded *decoded, gconv_error *error);

/* Enqueues on `stream`, of the same device: makes rows of 8-bit samples, interleaved and upright,
 * `pitch` bytes apart in the device's memory. They are those that libjpeg-turbo gives: for 1
 * channel Y, for 3 channels RGB. 3 channels need a picture of 3 components whose planes are all
 * there. */
gconv_status gc_decode_unpack(const gc_decoded *decoded, const gconv_encoded *picture, int channels,
                              unsigned char *samples, size_t pitch, struct CUstream_st *stream,
                              gconv_error *error);

/* Gives the planes back. All work that reads them must be done. Nothing happens where there are
 * none. */
void gc_decode_release(gc_decoded *decoded);

/* Frees what all engines hold. Nobody may use one meanwhile; a later use starts it again. */
void gc_decode_end(void);

#ifdef __cplusplus
}
#endif

#endif
