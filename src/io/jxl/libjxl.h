/* libjxl, which is loaded when the first JPEG XL is met. */
#pragma once

#include "base/module.h"

#include <jxl/decode.h>
#include <jxl/encode.h>

#define GC_LIBJXL_FUNCTIONS(X)                                                                     \
    X(JxlColorEncodingSetToSRGB)                                                                   \
    X(JxlDecoderCreate)                                                                            \
    X(JxlDecoderDestroy)                                                                           \
    X(JxlDecoderGetBasicInfo)                                                                      \
    X(JxlDecoderGetBoxType)                                                                        \
    X(JxlDecoderGetColorAsEncodedProfile)                                                          \
    X(JxlDecoderGetColorAsICCProfile)                                                              \
    X(JxlDecoderGetICCProfileSize)                                                                 \
    X(JxlDecoderProcessInput)                                                                      \
    X(JxlDecoderReleaseBoxBuffer)                                                                  \
    X(JxlDecoderReleaseInput)                                                                      \
    X(JxlDecoderReset)                                                                             \
    X(JxlDecoderSetBoxBuffer)                                                                      \
    X(JxlDecoderSetDecompressBoxes)                                                                \
    X(JxlDecoderSetImageOutBuffer)                                                                 \
    X(JxlDecoderSetInput)                                                                          \
    X(JxlDecoderSetUnpremultiplyAlpha)                                                             \
    X(JxlDecoderSubscribeEvents)                                                                   \
    X(JxlDecoderVersion)                                                                           \
    X(JxlEncoderAddBox)                                                                            \
    X(JxlEncoderAddImageFrame)                                                                     \
    X(JxlEncoderCloseInput)                                                                        \
    X(JxlEncoderCreate)                                                                            \
    X(JxlEncoderDestroy)                                                                           \
    X(JxlEncoderFrameSettingsCreate)                                                               \
    X(JxlEncoderFrameSettingsSetOption)                                                            \
    X(JxlEncoderInitBasicInfo)                                                                     \
    X(JxlEncoderProcessOutput)                                                                     \
    X(JxlEncoderSetBasicInfo)                                                                      \
    X(JxlEncoderSetColorEncoding)                                                                  \
    X(JxlEncoderSetFrameDistance)                                                                  \
    X(JxlEncoderSetFrameLossless)                                                                  \
    X(JxlEncoderSetICCProfile)                                                                     \
    X(JxlEncoderUseBoxes)

GC_MODULE_DECLARE(gc_jxl, gc_libjxl_load, GC_LIBJXL_FUNCTIONS);
