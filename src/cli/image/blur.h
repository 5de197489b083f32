/* Chains that depend on the size of an image. */
#pragma once

#include "cli/image/session.h"

/* Whether images of different sizes may have different chains. */
bool gc_has_own_chain(const gc_options *options);

/* The standard deviation of the blur, in pixels: that of --sigma, else the one of a sketch of this
 * size (contract.md, rule 106). */
double gc_sigma_of(const gc_options *options, const gconv_shape *shape);

/* Makes the chain for an image of this shape. On failure the chain holds what was made before. */
gconv_status gc_own_chain_create(const gc_options *options, const gconv_shape *shape,
                                 gc_filter_chain *chain, gconv_error *error);
