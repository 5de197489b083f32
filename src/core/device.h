/* Devices, for callers inside the library: their structures have this version's size. */
#pragma once

#include "core/problem.h"

/* gconv_device_parse, gconv_device_describe and gconv_device_peak without a look at `size`. */
gconv_status gc_device_parse(const char *text, gconv_device_choice *choice, gconv_error *error);
gconv_status gc_device_describe(int index, gconv_device_info *info, gconv_error *error);
double gc_device_peak(const gconv_device_info *info);
