/* How many threads there is room for: the processors that this process may use, and a limit on its
 * address space. */
#pragma once

#include <stdbool.h>

/* Processors that the calling thread may run on by its affinity, but no more than the quota of its
 * control groups pays for, rounded up. At least 1. */
int gc_processor_count(void);

/* As many processors as `affordable`, rounded up: at least 1, at most `allowed`. */
int gc_processors_within(int allowed, double affordable);

/* Threads that a job asks for; 0 stands for gc_processor_count. No more than one for each 128 MiB
 * if the address space is limited (ulimit -v), but at least 1. */
int gc_thread_count(int wanted);

/* Processors that control groups allow, HUGE_VAL if they set no limit. This is the least cpu.max
 * (version 2, mounted at `mount`) or cpu.cfs_quota_us over cpu.cfs_period_us (version 1, mounted
 * at "cpu" in `mount`) from the process's own group, which the file /proc/self/cgroup tells, up to
 * the root. A file that cannot be read sets no limit. */
double gc_processor_quota(const char *groups_path, const char *mount);

/* Whether addresses for a thread's stack and for work are left (ulimit -v). A thread that work does
 * not depend on must not take the last ones. */
bool gc_has_room_for_thread(void);
