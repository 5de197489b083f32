/* JPEG decoded by kernels: planes that are bit for bit those of libjpeg-turbo, or a rejection.
 * Plain C, no CUDA types. docs/gpu-jpeg.md tells how and why. */
#pragma once

#include "gpu/jpeg/packed.h"

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* *cudaStream_t */

/* The planes of a picture in the memory of its device: Y, and Cb and Cr if they were asked for.
 * Rows are whole lines of 128 bytes. What follows a row, and the rows after the last, belong to the
 * planes, too; their content is undefined. */
typedef struct gc_decoded {
    void *planes[3];   /* device; NULL if there is none */
    size_t pitches[3]; /* bytes from row to row */
} gc_decoded;

/* What gc_packed_device_bytes gives for a photograph, divided by its pixels. */
double gc_packed_bytes_a_pixel(int channels);

/* Bytes of device memory that a packed picture needs. `luma_only`: Cb and Cr are not wanted. */
size_t gc_packed_device_bytes(const gc_packed *packed, bool luma_only);

/* Enqueues on `stream`, of the current device: uploads a packed picture to `memory`, which has
 * gc_packed_device_bytes bytes and is aligned for any type. */
gconv_status gc_packed_upload(const gc_packed *packed, void *memory, struct CUstream_st *stream,
                              gconv_error *error);

/* Enqueues the same: decodes what was uploaded, to planes in `memory`. At the end of this work
 * packed->rejected is not 0 if the data are not those of a sound file: the planes are then
 * undefined. `packed` has to stay until then. `is_mapped`: kernels can write there; else the flag
 * is copied. */
gconv_status gc_packed_decode(gc_packed *packed, bool is_mapped, bool luma_only, void *memory,
                              gc_decoded *decoded, struct CUstream_st *stream, gconv_error *error);

/* Enqueues on `stream`, of the current device: makes rows of 8-bit samples, interleaved and
 * upright, `pitch` bytes apart in the device's memory. They are those that libjpeg-turbo gives: for
 * 1 channel Y, for 3 channels RGB. 3 channels need a picture of 3 components whose planes are all
 * there. */
gconv_status gc_decode_unpack(const gc_decoded *decoded, const gconv_encoded *picture, int channels,
                              unsigned char *samples, size_t pitch, struct CUstream_st *stream,
                              gconv_error *error);

#ifdef __cplusplus
}
#endif
