/* The library's own threads: a pool of helpers that take part in what callers compute.
 *
 * No work depends on a helper: if no helper comes, the caller does all of it. So a system that
 * gives no thread, or does not let it run, makes work slower and never makes it fail. Helpers are
 * made when they are first wanted and sleep when there is nothing to do. They end when the library
 * is unloaded or the process exits. They block all signals except those that a thread's own faults
 * raise. After a fork the child has no helpers and makes new ones. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Does work until none is left to begin. Other threads call it at the same time; `member` is a
 * number that each of them has alone. */
typedef void gc_team_function(void *user, int member);

/* Calls work(user, 0) on the calling thread, and work(user, n), n from 1 to `threads` - 1, on as
 * many helpers as come meanwhile. Returns when all these calls have returned. A helper that has not
 * come when the caller's own call ends is not waited for.
 *
 * Several callers may do so at one time. `counted` is true if the job names a number of threads:
 * the caller then gets helpers of its own. All other callers share as many helpers as the one that
 * wants most. */
void gc_team_run(int threads, bool counted, gc_team_function *work, void *user);

/* gc_team_run with room for `room` more helpers on spare processors (gc_team_spare). Their members
 * are numbers from `threads` to `threads` + `room` - 1. */
void gc_team_run_with_room(int threads, int room, bool counted, gc_team_function *work, void *user);

/* Says how many processors have nothing to do, until the next call; 0 at first. So many helpers
 * more take part in the teams that have room for them. */
void gc_team_spare(int processors);

/* Works on the entries from `first` to `end` - 1. */
typedef void gc_range_function(void *user, size_t first, size_t end);

/* Calls `work` for ranges that make up the entries from 0 to `count` - 1, on up to `threads`
 * threads. Returns when all are done. */
void gc_share_out(size_t count, int threads, gc_range_function *work, void *user);
