/* Computing images of a journal again, to compare the pixels with their outputs. */
#ifndef GC_CLI_IMAGE_RECHECK_H
#define GC_CLI_IMAGE_RECHECK_H

#include "cli/image/session.h"
#include "cli/journal/journal.h"
#include "cli/options/options.h"
#include "gconv.h"

#include <limits.h>

/* What is kept from image to image: the session of the last recipe, and a directory. */
typedef struct gc_recheck {
    const gc_options *options; /* of gconv check: implementation, device and threads */
    const gc_journal *journal;
    char recipe[GC_RECIPE_BYTES]; /* "": none yet */
    gconv_error failure;          /* why the recipe has no session; else its status is OK */
    bool changed;                 /* a filter of the recipe is another one now */
    int definition;               /* as GC_DEFINITION, of the recipe */
    bool ready;                   /* the session can compute */
    char **arguments;             /* of a command line that says the same; owned with its texts */
    int argument_count;
    gc_options recorded; /* what that command line says */
    gc_session session;
    char directory[PATH_MAX]; /* for results; "": not made yet */
} gc_recheck;

/* How a result differs from the recorded output. */
typedef struct gc_recheck_difference {
    bool judged; /* false: nothing can be said of this format and chain unless they are equal */
    bool within;
    uint64_t samples; /* that differ */
    double largest, allowed;
} gc_recheck_difference;

void gc_recheck_begin(gc_recheck *recheck, const gc_options *options, const gc_journal *journal);

/* Whether the record's recipe gives other pixels now: it is of another version, or a filter is
 * another one. Of a filter file that is gone nothing is known. `reason` gets a sentence, or "". */
bool gc_recheck_is_stale(gc_recheck *recheck, const gc_record *record, char *reason, size_t size);

/* Whether the image of a record can be computed again, as far as its recipe decides; `reason` gets
 * why not. */
bool gc_recheck_can_compute(gc_recheck *recheck, const gc_record *record, char *reason,
                            size_t size);

/* Makes ready to compute the image of a record again. A failure is none of its files': the device,
 * the implementation or the directory for results cannot be used. */
gconv_status gc_recheck_prepare(gc_recheck *recheck, const gc_record *record, gconv_error *error);

/* Computes the image of a record again and compares, after gc_recheck_prepare. */
gconv_status gc_recheck_image(gc_recheck *recheck, const gc_record *record,
                              gc_recheck_difference *difference, gconv_error *error);

void gc_recheck_end(gc_recheck *recheck);

#endif
