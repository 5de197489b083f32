/* The library's own threads: a pool of helpers that take part in what callers compute.
 *
 * No work depends on a helper. The caller does all of it unless helpers come, so that a system that
 * gives no thread, or does not let it run, makes work slower and never makes it fail. Helpers sleep where there
 * is nothing to do; they are made when first wanted, end when the library is unloaded or the process
 * exits, and block all signals but those that a thread's own faults raise. A process that forks
 * keeps none of them and makes new ones. */
#ifndef GC_BASE_THREADS_H
#define GC_BASE_THREADS_H

#include <stdbool.h>

/* Does work until none is left to begin, with other threads that call it at the same time. `worker`
 * is a number of its own for each of them. */
typedef void gc_team_function(void *user, int worker);

/* Calls work(user, 0) on the calling thread, and work(user, n), n from 1 to `threads` - 1, on as many
 * helpers as come while that lasts. Returns when all these calls have returned; a helper that is not
 * there when the caller's own call ends is not waited for.
 *
 * Several callers may do so at one time. Where `counted` is true helpers are found for each of them: a job said
 * how many it wants. Others share those of the one that wants most. */
void gc_team_run(int threads, bool counted, gc_team_function *work, void *user);

#endif
