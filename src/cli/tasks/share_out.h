/* Work on the files of a long list, shared out to several threads. */
#ifndef GC_CLI_TASKS_SHARE_OUT_H
#define GC_CLI_TASKS_SHARE_OUT_H

#include <stddef.h>

/* Works on the entries from `first` to `end` - 1. */
typedef void gc_range_function(void *user, size_t first, size_t end);

/* Calls `work` for ranges that make up the entries from 0 to `count` - 1, on up to `threads`
 * threads. Returns when all are done. */
void gc_share_out(size_t count, int threads, gc_range_function *work, void *user);

#endif
