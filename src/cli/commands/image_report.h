/* What is said of an image: text on standard error, JSON on standard output. */
#pragma once

#include "cli/image/image.h"

void gc_report_image(const gc_options *options, const gc_task *task, const gc_result *result);

/* The part of the pixels that are edges. */
double gc_share_of_edges(const gc_result *result);

/* Samples of an image without alpha. */
double gc_count_colours(const gconv_shape *shape);
