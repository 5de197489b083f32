/* What is known to be fastest on a device: what `gconv tune` found on this machine, what was found
 * before and is shipped, else gc_tuning_default. Plain C: needs no GPU. */
#ifndef GC_GPU_TUNE_TUNING_H
#define GC_GPU_TUNE_TUNING_H

#include "gpu/fast/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The fastest of all that was tried for filters of one size. */
typedef struct gc_tuned {
    int width, height; /* of the filter */
    gc_sample_type input, output;
    gc_tuning tuning;
    double microseconds; /* for a plane; 0 where it was not measured */
    char date[11];       /* YYYY-MM-DD */
} gc_tuned;

/* ---- What is known --------------------------------------------------------------------------- */

/* The tuning for a layout whose tuning.form says how many products (gc_form_products): of its size and
 * types where that is known, else of the nearest that is known and fits. What was found on this
 * machine is read once in a process. */
gc_tuning gc_tuning_of(const gconv_device_info *device, const gc_layout *layout);

/* The same without what was found on this machine. */
gc_tuning gc_tuning_untuned(const gconv_device_info *device, const gc_layout *layout);

/* Whether the layout with its tuning can run: form, threads, registers by estimate, shared memory. */
bool gc_tuning_fits(const gconv_device_info *device, const gc_layout *layout);

/* The tuning of a filter on a device that was never tuned. */
gc_tuning gc_tuning_default(gc_form form, int width, int height);

/* The same for a layout of GC_FORM_PAIR. */
gc_tuning gc_tuning_pair(const gc_layout *layout);

/* What is shipped for a device: an array of *count; NULL where that is 0. */
const gc_tuned *gc_tuning_shipped(const gconv_device_info *device, int *count);

/* ---- What was found on this machine ---------------------------------------------------------- */

/* A text in the cache, a file a device, that names device, driver and version: one that was written
 * for others, or is damaged anywhere, counts as none. It begins with
 *
 *     gconv tuning 1
 *     device NVIDIA H200
 *     driver 13.0
 *     version 0.1.0
 *
 * and a comment that names the columns. Then comes a line a result, words with blanks between them:
 * implementation (direct or separable), width and height of the filter, types of input and output,
 * form, rows, warps, schedule, tiles, microseconds, date. */

enum { GC_TUNED_MAX = 512 };

typedef struct gc_tuned_list {
    int count;
    gc_tuned entries[GC_TUNED_MAX]; /* no two of the same filters */
} gc_tuned_list;

const char *gc_sample_type_name(gc_sample_type type);

/* Where the file is or would be, freed with free. */
gconv_status gc_tuning_path(const gconv_device_info *device, char **path, gconv_error *error);

/* Reads the text of the file, which has a NUL behind its `size` bytes. False where it is not, to the
 * last byte, what this version writes for this device: `list` is then of no use. */
bool gc_tuning_read_text(const gconv_device_info *device, const char *text, size_t size,
                         gc_tuned_list *list);

/* The text of the file, freed with free. */
gconv_status gc_tuning_write_text(const gconv_device_info *device, const gc_tuned_list *list,
                                  char **text, size_t *size, gconv_error *error);

/* What the file holds now; nothing where it counts as none. */
void gc_tuning_read(const gconv_device_info *device, gc_tuned_list *list);

/* The entry for filters of this size, types and kind; NULL where there is none. */
const gc_tuned *gc_tuned_find(const gc_tuned_list *list, const gc_layout *layout);

/* Adds an entry to the file, in the place of one for the same filters; what other processes add at the
 * same time stays. With NULL the file is only written as it is, or begun where it counts as none: which
 * shows whether that can be done. Another process that adds something is waited for, up to *patience
 * seconds; then *patience is 0, and the file is written all the same: what the other one adds at that
 * moment may be lost. */
gconv_status gc_tuning_keep(const gconv_device_info *device, const gc_tuned *found,
                            double *patience, gconv_error *error);

#ifdef __cplusplus
}
#endif

#endif
