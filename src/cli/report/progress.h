/* The progress line on standard error: how much is done, and the time that is left. */
#ifndef GC_CLI_REPORT_PROGRESS_H
#define GC_CLI_REPORT_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

/* The images of a batch. */
typedef struct gc_progress_images {
    size_t finished; /* done, failed or skipped */
    size_t failed;
    size_t count; /* of all; 0: nobody knows */
} gc_progress_images;

/* Whether a line is drawn, the first one after `delay` seconds from now. Begins the time from which
 * the rest is estimated. */
void gc_progress_set(bool drawn, double delay);

/* Draws the line: the percentage of the whole (`done` is 0 to 1), how many of how many items are
 * done, the time that is left as far as it can be estimated, and a name. At most ten times a
 * second. `items` 0 means that nobody knows how many there will be: then only `item` and the name
 * are drawn. Any thread. */
void gc_progress_show(const char *name, double done, size_t item, size_t items);

/* The same for images of equal weight. The line also says how many have failed and how many are
 * finished in a second; the time that is left follows from the last seconds. */
void gc_progress_show_images(const char *name, double done, const gc_progress_images *images);

/* The same as gc_progress_show at once, before work that may take long without telling its
 * progress. */
void gc_progress_begin(const char *name, double done, size_t item, size_t items);

/* Whether a line was ever drawn. */
bool gc_progress_was_drawn(void);

/* Removes the line. */
void gc_progress_clear(void);

/* What removes the line from the terminal; "" where none is drawn. Async-signal-safe. */
const char *gc_progress_clear_text(void);

#endif
