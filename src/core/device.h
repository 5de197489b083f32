/* Devices for structures of the library's own. */
#ifndef GC_CORE_DEVICE_H
#define GC_CORE_DEVICE_H

#include "core/problem.h"

/* gconv_device_parse and gconv_device_describe for structures of the library's own. */
gconv_status gc_device_parse(const char *text, gconv_device_choice *choice, gconv_error *error);
gconv_status gc_device_describe(int index, gconv_device_info *info, gconv_error *error);

/* gconv_device_peak of such a structure. */
double gc_device_peak(const gconv_device_info *info);

#endif
