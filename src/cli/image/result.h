/* What became of one image. */
#ifndef GC_CLI_IMAGE_RESULT_H
#define GC_CLI_IMAGE_RESULT_H

#include "cli/image/clipped.h"
#include "cli/report/warnings.h"
#include "cli/tasks/tasks.h"
#include "gconv_lab.h"

typedef enum gc_outcome {
    GC_OUTCOME_DONE,
    GC_OUTCOME_SKIPPED, /* nothing had to be done */
    GC_OUTCOME_FAILED,
    GC_OUTCOME_MISMATCH, /* written, but --verify found a difference */
    GC_OUTCOME_PLANNED,  /* --dry-run: it would be computed */
    GC_OUTCOME_BARRED    /* the gate did not let it pass: nothing is said of this image */
} gc_outcome;

typedef struct gc_result {
    gc_outcome outcome;
    const char *skipped; /* of GC_OUTCOME_SKIPPED: why, for -v */
    gconv_error error;   /* of GC_OUTCOME_FAILED */
    bool recorded;       /* it failed when the journal was written, and was not tried again */
    size_t image;        /* number in a stream of several images, from 1; else 0 */
    const char *blamed;  /* the file that the error is about; NULL: the error is not reported */
    gconv_shape input;   /* as it is computed */
    gconv_shape output;
    int channels;        /* of the input's file */
    gconv_format format; /* of the output */
    const char *implementation;
    gconv_format input_format;
    const char *decoder;         /* as gconv_reader_decoder says */
    const char *decode_fallback; /* why no GPU decoded a JPEG; "" if one did, or there was none */
    bool exact;
    bool composited;                    /* transparent pixels were put on the background */
    bool verified;                      /* then the next two are filled */
    gconv_difference difference;        /* of chain values */
    gconv_difference output_difference; /* of the samples that are written */
    gc_clipped clipped;
    gconv_timings timings;
    char *explanation; /* how the implementation was chosen; NULL unless -v or --explain */
    char *fallback;    /* which device took over, and why; NULL where none did */
    gc_warning_list warnings;
    void *storage; /* texts of a result that came from another process */
    char *notes;   /* notes of -v that wait until this image is reported; may be NULL */
} gc_result;

void gc_result_destroy(gc_result *result);

/* Tells what became of a task: of its image, or of one image of its stream. */
typedef void gc_report_function(void *user, const gc_task *task, const gc_result *result);

#endif
