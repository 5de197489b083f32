/* libwebp and its libraries of containers, which are loaded when the first WebP is met. */
#pragma once

#include "base/module.h"

#include <webp/decode.h>
#include <webp/demux.h>
#include <webp/encode.h>
#include <webp/mux.h>

#define GC_LIBWEBP_FUNCTIONS(X)                                                                    \
    X(WebPConfigInitInternal)                                                                      \
    X(WebPConfigLosslessPreset)                                                                    \
    X(WebPDemuxDelete)                                                                             \
    X(WebPDemuxGetChunk)                                                                           \
    X(WebPDemuxGetI)                                                                               \
    X(WebPDemuxInternal)                                                                           \
    X(WebPDemuxReleaseChunkIterator)                                                               \
    X(WebPEncode)                                                                                  \
    X(WebPFree)                                                                                    \
    X(WebPGetDecoderVersion)                                                                       \
    X(WebPGetFeaturesInternal)                                                                     \
    X(WebPIAppend)                                                                                 \
    X(WebPIDecGetRGB)                                                                              \
    X(WebPIDecode)                                                                                 \
    X(WebPIDelete)                                                                                 \
    X(WebPInitDecoderConfigInternal)                                                               \
    X(WebPMemoryWrite)                                                                             \
    X(WebPMemoryWriterClear)                                                                       \
    X(WebPMemoryWriterInit)                                                                        \
    X(WebPMuxAssemble)                                                                             \
    X(WebPMuxDelete)                                                                               \
    X(WebPMuxSetChunk)                                                                             \
    X(WebPMuxSetImage)                                                                             \
    X(WebPNewInternal)                                                                             \
    X(WebPPictureAlloc)                                                                            \
    X(WebPPictureFree)                                                                             \
    X(WebPPictureInitInternal)

GC_MODULE_DECLARE(gc_webp, gc_libwebp_load, GC_LIBWEBP_FUNCTIONS);

extern const char *const gc_webp_chunks[]; /* the names of those of blobs, up to GC_XMP */
