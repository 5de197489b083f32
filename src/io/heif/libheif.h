/* libheif, which is loaded when the first HEIC or AVIF is met. */
#pragma once

#include "base/module.h"

#include <libheif/heif.h>

#define GC_LIBHEIF_FUNCTIONS(X)                                                                    \
    X(heif_context_add_XMP_metadata)                                                               \
    X(heif_context_add_exif_metadata)                                                              \
    X(heif_context_alloc)                                                                          \
    X(heif_context_encode_image)                                                                   \
    X(heif_context_free)                                                                           \
    X(heif_context_get_encoder_for_format)                                                         \
    X(heif_context_get_number_of_top_level_images)                                                 \
    X(heif_context_get_primary_image_handle)                                                       \
    X(heif_context_read_from_memory_without_copy)                                                  \
    X(heif_context_set_maximum_image_size_limit)                                                   \
    X(heif_context_write)                                                                          \
    X(heif_decode_image)                                                                           \
    X(heif_encoder_release)                                                                        \
    X(heif_encoder_set_lossless)                                                                   \
    X(heif_encoder_set_lossy_quality)                                                              \
    X(heif_encoder_set_parameter)                                                                  \
    X(heif_get_version_number)                                                                     \
    X(heif_image_add_plane)                                                                        \
    X(heif_image_create)                                                                           \
    X(heif_image_get_bits_per_pixel_range)                                                         \
    X(heif_image_get_height)                                                                       \
    X(heif_image_get_plane)                                                                        \
    X(heif_image_get_plane_readonly)                                                               \
    X(heif_image_get_width)                                                                        \
    X(heif_image_handle_get_color_profile_type)                                                    \
    X(heif_image_handle_get_height)                                                                \
    X(heif_image_handle_get_ispe_height)                                                           \
    X(heif_image_handle_get_ispe_width)                                                            \
    X(heif_image_handle_get_list_of_metadata_block_IDs)                                            \
    X(heif_image_handle_get_luma_bits_per_pixel)                                                   \
    X(heif_image_handle_get_metadata)                                                              \
    X(heif_image_handle_get_metadata_content_type)                                                 \
    X(heif_image_handle_get_metadata_size)                                                         \
    X(heif_image_handle_get_number_of_auxiliary_images)                                            \
    X(heif_image_handle_get_nclx_color_profile)                                                    \
    X(heif_image_handle_get_raw_color_profile)                                                     \
    X(heif_image_handle_get_raw_color_profile_size)                                                \
    X(heif_image_handle_get_width)                                                                 \
    X(heif_image_handle_has_alpha_channel)                                                         \
    X(heif_image_handle_is_premultiplied_alpha)                                                    \
    X(heif_image_handle_release)                                                                   \
    X(heif_image_release)                                                                          \
    X(heif_image_set_nclx_color_profile)                                                           \
    X(heif_image_set_raw_color_profile)                                                            \
    X(heif_nclx_color_profile_alloc)                                                               \
    X(heif_nclx_color_profile_free)

GC_MODULE_DECLARE(gc_heif, gc_libheif_load, GC_LIBHEIF_FUNCTIONS);

/* Fails with what libheif says. */
gconv_status gc_libheif_fail(struct heif_error failure, gconv_status status, gconv_error *error);
