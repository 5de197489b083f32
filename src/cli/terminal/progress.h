/* How much is done: counts, for the progress line and for the last words at a signal, and the line
 * itself on standard error, which also tells the time that is left. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* ---- Counts ---------------------------------------------------------------------------------- */

/* Begins to count `items` things. `what` says what happens to them, such as "images done"; with
 * `may_fail` the last words also tell how many failed or were skipped. Both texts are kept. */
void gc_counts_begin(const char *what, bool may_fail, size_t items);

/* What the last words advise if things are left. It is called before gc_counts_begin. The text is
 * kept; NULL: no advice. */
void gc_counts_advise(const char *advice);

/* Counts one thing that is finished. Any thread. */
void gc_counts_add(bool failed, bool skipped);

/* Says that the one image that was begun is a stream of images, whose number is not known. `what`
 * says what happens to each, such as "done". */
void gc_counts_several(const char *what, bool may_fail);

/* Counts no more: what fails from now on fails because the program ends. Async-signal-safe. */
void gc_counts_stop(void);

/* Whether gc_counts_stop was called: a signal ends the program. */
bool gc_counts_are_stopped(void);

/* How many things are finished. */
size_t gc_counts_finished(void);

/* The last words at a signal: removes the progress line, and, if there are several things and it is
 * not `quiet`, says on standard error how many were done. Says nothing if standard error would
 * block. Async-signal-safe. */
void gc_counts_tell(bool quiet);

/* ---- The line -------------------------------------------------------------------------------- */

/* Whether a line is drawn, the first one after `delay` seconds from now. Begins the time from which
 * the rest is estimated. */
void gc_progress_set(bool drawn, double delay);

/* Draws the line: the percentage of the whole (`done` is 0 to 1), how many of how many items are
 * done, the time that is left as far as it can be estimated, and a name. At most ten times a
 * second. `items` 0 means that nobody knows how many there will be: then only `item` and the name
 * are drawn. Any thread. */
void gc_progress_show(const char *name, double done, size_t item, size_t items);

/* Draws the line for `count` images of equal weight; 0: nobody knows how many. Done are those that
 * are counted as finished, and `part`, from 0 to 1, of one that is computed. The line also says how
 * many have failed and how many are finished in a second; the time that is left follows from the
 * last seconds. */
void gc_progress_show_images(const char *name, double part, size_t count);

/* gc_progress_show without the limit of ten times a second: before work that may take long without
 * telling its progress. */
void gc_progress_begin(const char *name, double done, size_t item, size_t items);

/* Whether a line was ever drawn. */
bool gc_progress_was_drawn(void);

/* Removes the line. */
void gc_progress_clear(void);
