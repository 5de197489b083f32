/* Counts of what is done, for the progress line and for the last words at a signal. */
#ifndef GC_CLI_REPORT_TALLY_H
#define GC_CLI_REPORT_TALLY_H

#include <stdbool.h>
#include <stddef.h>

/* Begins to count `items` things. `what` says what happens to them, such as "images done"; with
 * `may_fail` the last words also tell how many failed or were skipped. Both texts are kept. */
void gc_tally_begin(const char *what, bool may_fail, size_t items);

/* What the last words advise where things are left. It is called before gc_tally_begin. The text is
 * kept; NULL: no advice. */
void gc_tally_advise(const char *advice);

/* Counts one thing that is finished. Any thread. */
void gc_tally_add(bool failed, bool skipped);

/* Says that the one image that was begun is a stream of images, whose number is not known. `what`
 * says what happens to each, such as "done". */
void gc_tally_several(const char *what, bool may_fail);

/* Counts no more: what fails from now on fails because the program ends. Async-signal-safe. */
void gc_tally_stop(void);

/* Whether gc_tally_stop was called: a signal ends the program. */
bool gc_tally_is_stopped(void);

/* How many things are finished, and how many of them failed. */
size_t gc_tally_finished(void);
size_t gc_tally_failed(void);

/* The last words at a signal: removes the progress line, and where there are several things says on
 * standard error how many were done. Says nothing where standard error would block.
 * Async-signal-safe. */
void gc_tally_tell(void);

#endif
