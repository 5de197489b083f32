/* How measurements are printed: names, figures, verdicts, and implementations that cannot run. */
#ifndef GC_CLI_MEASURE_FIGURES_H
#define GC_CLI_MEASURE_FIGURES_H

#include "cli/image/session.h"
#include "cli/measure/measure.h"
#include "gconv.h"

/* "exact", "within bound", "WRONG", "not usable". */
const char *gc_verdict_name(gc_verdict verdict);

/* A number with its unit, or a dash where it is not known (0). Returns `buffer`. */
const char *gc_figure(double value, const char *unit, int decimals, char *buffer, size_t size);

/* From the first to the third quartile of runs as a percentage of their median, with a mark where
 * that is noise. Returns `buffer`. */
const char *gc_spread_figure(double median, double spread, char *buffer, size_t size);

/* Milliseconds of the median; with the mark of noise, where `marks` and the spread is noise.
 * Returns `buffer`. */
const char *gc_total_figure(double median, double spread, bool marks, char *buffer, size_t size);

/* Whether runs are spread over more than a tenth of their median. */
bool gc_is_noisy(double median, double spread);

/* The name of a row, and what auto chose for it. Returns `buffer`. */
const char *gc_row_label(const char *name, const char *implementation, char *buffer, size_t size);

/* Columns that the longest label of these names takes, and the word above them. */
int gc_label_width(const char *const *names, int count);

/* Whether a row of these names may be timed on a device alone. */
bool gc_may_use_device(const char *const *names, int count);

/* Says with -v how long the kernels of a row took to compile, where they were. */
void gc_note_compilation(const gc_measurement *row);

/* Implementations that cannot run here, each with its reason. */
enum { GC_UNUSABLE_MAX = 64 };

typedef struct gc_unusable {
    const char *names[GC_UNUSABLE_MAX];
    gconv_error reasons[GC_UNUSABLE_MAX];
    int count;
} gc_unusable;

/* Moves the names that cannot run here from a list to `unusable`. */
void gc_drop_unusable(const gc_session *session, const char **names, int *count,
                      gc_unusable *unusable);

/* A reason without the name of the implementation that it begins with. */
const char *gc_reason_alone(const char *name, const char *reason);

/* Prints them, those that share a reason in one line, and forgets them. */
void gc_print_unusable(gc_unusable *unusable);

#endif
