/* What is said at the end of a batch, beside the counts: its rate, its slowest images and those
 * that failed. */
#ifndef GC_CLI_COMMANDS_SUMMARY_H
#define GC_CLI_COMMANDS_SUMMARY_H

#include "cli/image/result.h"
#include "cli/tasks/tasks.h"

enum { GC_SLOWEST = 3, GC_FAILED_NAMED = 10 };

typedef struct gc_slow_image {
    double seconds; /* 0: there is none */
    char *name;     /* owned; NULL where memory is out */
} gc_slow_image;

typedef struct gc_summary {
    double start;                        /* in seconds */
    size_t computed, failed;             /* images */
    gc_slow_image slowest[GC_SLOWEST];   /* the slowest first */
    char *failed_names[GC_FAILED_NAMED]; /* of the first ones, owned; NULL where memory is out */
} gc_summary;

gc_summary gc_summary_begin(void);

/* Counts an image. */
void gc_summary_take(gc_summary *summary, const gc_task *task, const gc_result *result);

/* Says the summary where a progress line was drawn: somebody watches. */
void gc_summary_say(const gc_summary *summary);

void gc_summary_destroy(gc_summary *summary);

#endif
