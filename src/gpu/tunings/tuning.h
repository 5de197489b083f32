/* The tuning for a layout on a device: what `gconv tune` found on this machine, else what is
 * shipped, else gc_tuning_default. Plain C: needs no GPU. */
#pragma once

#include "gpu/tunings/layout.h"

/* The fastest tuning of all that were tried for filters of one size. */
typedef struct gc_tuned {
    int width, height; /* of the filter */
    gc_sample_type input, output;
    gc_tuning tuning;
    double microseconds; /* for a plane; 0 if it was not measured */
    char date[11];       /* YYYY-MM-DD, of shipped ones */
} gc_tuned;

/* ---- What is known --------------------------------------------------------------------------- */

/* The tuning for a layout, whose tuning.form says how many products (gc_form_products). It is the
 * known tuning for this size and these types, else the nearest known one that fits, else the
 * default. What was found here is read once in a process. */
gc_tuning gc_tuning_of(const gconv_device_info *device, const gc_layout *layout);

/* The tuning for a layout as gc_tuning_of finds it, but without what was found here. */
gc_tuning gc_tuning_untuned(const gconv_device_info *device, const gc_layout *layout);

/* Whether the layout with its tuning can run. Form, threads and shared memory are exact, registers
 * are estimated. */
bool gc_tuning_fits(const gconv_device_info *device, const gc_layout *layout);

/* The tuning of a filter on a device that was never tuned. */
gc_tuning gc_tuning_default(gc_form form, int width, int height);

/* The tuning of a layout of GC_FORM_PAIR on a device that was never tuned. */
gc_tuning gc_tuning_pair(const gc_layout *layout);

/* The tunings that are shipped for a device: an array of *count; NULL if there are none. */
const gc_tuned *gc_tuning_shipped(const gconv_device_info *device, int *count);

/* ---- What was found on this machine ---------------------------------------------------------- */

/* The cache has an entry for each kind of device, driver and version of gconv. */

enum { GC_TUNED_MAX = 512 };

typedef struct gc_tuned_list {
    int count;
    gc_tuned entries[GC_TUNED_MAX]; /* at most one for the same filters */
} gc_tuned_list;

/* Reads what the cache holds now. `list` is empty if that is nothing, or damaged. */
void gc_tuning_read(const gconv_device_info *device, gc_tuned_list *list);

/* The entry for filters of this size, types and kind; NULL if there is none. */
const gc_tuned *gc_tuned_find(const gc_tuned_list *list, const gc_layout *layout);

/* Adds an entry to the list in the cache, or replaces the one for the same filters. Entries that
 * other processes add at the same time stay. With `found` NULL the list is written as it is: this
 * shows whether it can be written. */
gconv_status gc_tuning_keep(const gconv_device_info *device, const gc_tuned *found,
                            gconv_error *error);
