/* Compression of rows of one bit a pixel by a kernel, to the bytes that gconv's PNG encoder makes
 * of them. Plain C, no CUDA types. */
#pragma once

#include "gconv.h"
#include "io/png/fast/compressed_rows.h"

struct CUstream_st;

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of device memory for an image of this size, and how many of them, from the first on, are
 * the result. */
size_t gc_encode_device_bytes(uint32_t width, uint32_t height);
size_t gc_encode_result_bytes(uint32_t width, uint32_t height);

/* Enqueues on `stream`, of the current device: compresses rows of device memory, `pitch` bytes
 * apart, to `memory`, which has gc_encode_device_bytes bytes and is aligned for any type. Bits of
 * the last byte of a row that are no pixels need not be 0. */
gconv_status gc_encode_bits(const void *rows, size_t pitch, uint32_t width, uint32_t height,
                            void *memory, struct CUstream_st *stream, gconv_error *error);

/* What lies in a copy of the result on the host. */
gc_compressed_rows gc_encode_result(const void *result, uint32_t width, uint32_t height);

#ifdef __cplusplus
}
#endif
