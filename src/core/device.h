/* Devices, for callers inside the library: their structures have this version's size. How this
 * process uses its CUDA devices. */
#pragma once

#include "core/problem.h"

/* gconv_device_parse, gconv_device_describe and gconv_device_peak without a look at `size`. */
gconv_status gc_device_parse(const char *text, gconv_device_choice *choice, gconv_error *error);
gconv_status gc_device_describe(int index, gconv_device_info *info, gconv_error *error);
double gc_device_peak(const gconv_device_info *info);

/* Some CUDA devices: bit N stands for cuda:N. */
typedef uint64_t gc_device_set;

/* The CUDA devices that a choice allows and that are not dropped: those that it names, or all
 * usable ones. Empty for "cpu", without any CUDA device, and under "auto" if none is usable.
 * GCONV_ERROR_DEVICE if a device that is named is missing or not usable, or if all that are named,
 * or all of "cuda:all", are dropped. May start the CUDA driver. */
gconv_status gc_device_set_of(const gconv_device_choice *choice, gc_device_set *set,
                              gconv_error *error);

/* The set of this device alone. */
gc_device_set gc_device_alone(int index);

/* The lowest number in a set that is not empty. */
int gc_device_first(gc_device_set set);

/* The devices of `set` that have the same figures as device `info`. */
gc_device_set gc_devices_like(const gconv_device_info *info, gc_device_set set);

/* Takes the device of the set with the fewest plans, the lowest number among several, and counts
 * one more plan for it. */
int gc_device_take(gc_device_set set);

/* Counts one plan less for the device. */
void gc_device_give(int index);

/* Call it when a run has failed on a device. Drops the device if nothing works on it any more:
 * this process then does not use it again, gconv_device_describe calls it not usable, and
 * gconv_device_loss tells of it. */
void gc_device_judge(int index, const gconv_error *failure);

bool gc_device_is_dropped(int index);
