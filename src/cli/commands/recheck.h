/* Computes the images of a journal again, by the recipes of their records, and compares them with
 * the recorded outputs. */
#pragma once

#include "cli/image/session.h"
#include "cli/journal/journal.h"

#include <limits.h>

/* What is kept from image to image: the session of the last recipe, and a directory. */
typedef struct gc_recheck {
    const gc_options *options; /* of gconv check: implementation, device and threads */
    const gc_journal *journal;
    char recipe[GC_RECIPE_BYTES]; /* "": none yet */
    gconv_error failure;          /* why the recipe has no session; else its status is OK */
    bool changed;                 /* a filter file has changed since the recipe was made */
    int definition;               /* GC_DEFINITION of the recipe */
    bool ready;                   /* the session can compute */
    char **arguments;             /* the recorded options as a command line; owned with its texts */
    int argument_count;
    size_t argument_room;
    gc_options recorded; /* what that command line says */
    gc_session session;
    char directory[PATH_MAX]; /* for results; "": not made yet */
} gc_recheck;

/* How a result differs from the recorded output. */
typedef struct gc_pixel_difference {
    bool judged; /* false: for this format and chain only equality proves anything */
    bool within;
    uint64_t samples; /* that differ */
    double largest, allowed;
} gc_pixel_difference;

/* Has the session of this recipe, or `failure`. */
void gc_recheck_use(gc_recheck *recheck, const char *recipe);

/* Whether the record's recipe gives other pixels now: its version differs, or a filter file has
 * changed. Nothing is known of a filter file that is gone. `reason` becomes a sentence, or "". */
bool gc_recheck_is_stale(gc_recheck *recheck, const gc_record *record, char *reason, size_t size);

/* Prepares to compute an image again. Fails only if the device, the implementation or the directory
 * for results cannot be used, not because of the image's files. */
gconv_status gc_recheck_prepare(gc_recheck *recheck, gconv_error *error);

/* Computes the image of a record again and compares, after gc_recheck_prepare. */
gconv_status gc_recheck_image(gc_recheck *recheck, const gc_record *record,
                              gc_pixel_difference *difference, gconv_error *error);

/* Frees what it holds, and removes the directory. */
void gc_recheck_end(gc_recheck *recheck);
