/* The taps of a step as bytes, for the loops on bytes (gc_bytes_function). */
#pragma once

#include "core/chain.h"
#include "cpu/instructions/instructions.h"

/* The taps are whole and fit signed bytes. bytes->taps is freed with free. */
gconv_status gc_byte_step_create(gc_byte_step *bytes, const gc_step *step, int channels,
                                 gconv_error *error);
