/* How many processors this process may use: by affinity, and by the quota of control groups. */
#define _GNU_SOURCE /* sched_setaffinity */
#include "base/processors.h"

#include "core_support.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static void make_folder(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

static void make_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* The quota once a file has this text. */
static double quota_with(const char *name, const char *text)
{
    char groups[128];
    make_file(name, text);
    snprintf(groups, sizeof groups, "%s/cgroup", folder);
    return gc_processor_quota(groups, folder);
}

static int enter(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/gconv-processors-XXXXXX");
    return mkdtemp(folder) == NULL;
}

static int leave(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

TEST(nothing_to_read_is_no_limit)
{
    assert_true(quota_with("other", "") == HUGE_VAL);
    assert_true(quota_with("cgroup", "") == HUGE_VAL);
}

TEST(second_version)
{
    make_folder("a");
    make_folder("a/b");
    assert_true(quota_with("cgroup", "0::/a/b\n") == HUGE_VAL);
    assert_true(quota_with("a/b/cpu.max", "max 100000\n") == HUGE_VAL);
    assert_true(quota_with("a/b/cpu.max", "250000 100000\n") == 2.5);
    assert_true(quota_with("a/cpu.max", "150000 100000\n") == 1.5);
    assert_true(quota_with("a/cpu.max", "300000 100000\n") == 2.5);
    assert_true(quota_with("cpu.max", "10000 100000\n") == 0.1);
    assert_true(quota_with("cpu.max", "-1 100000\n") == 2.5);
    assert_true(quota_with("cpu.max", "100000 0\n") == 2.5);
    assert_true(quota_with("cpu.max", "words\n") == 2.5);
    assert_true(quota_with("cpu.max", "400000 100000\n") == 2.5);
    /* A name outside the container, one beside it, and its root. */
    assert_true(quota_with("cgroup", "0::/docker/x\n") == 4);
    assert_true(quota_with("cgroup", "0::/../d\n") == 4);
    assert_true(quota_with("cgroup", "0::/\n") == 4);
    assert_true(quota_with("cpu.max", "max 100000\n") == HUGE_VAL);
}

TEST(first_version)
{
    make_folder("cpu");
    make_folder("cpu/d");
    assert_true(quota_with("cgroup", "9:cpuset:/e\n4:cpu,cpuacct:/d\n1:name=systemd:/f\n0::/\n") ==
                HUGE_VAL);
    make_file("cpu/d/cpu.cfs_quota_us", "-1\n");
    assert_true(quota_with("cpu/d/cpu.cfs_period_us", "100000\n") == HUGE_VAL);
    assert_true(quota_with("cpu/d/cpu.cfs_quota_us", "50000\n") == 0.5);
    assert_true(quota_with("cpu/cpu.cfs_quota_us", "20000\n") == 0.5);
    assert_true(quota_with("cpu/cpu.cfs_period_us", "100000\n") == 0.2);
}

/* ---- Both ------------------------------------------------------------------------------------ */

TEST(quotas_are_rounded_up)
{
    assert_int_equal(gc_processors_within(4, HUGE_VAL), 4);
    assert_int_equal(gc_processors_within(4, 4.5), 4);
    assert_int_equal(gc_processors_within(4, 3.5), 4);
    assert_int_equal(gc_processors_within(4, 2.1), 3);
    assert_int_equal(gc_processors_within(4, 2), 2);
    assert_int_equal(gc_processors_within(4, 0.2), 1);
    assert_int_equal(gc_processors_within(1, 1.5), 1);
}

TEST(affinity_counts)
{
    cpu_set_t all, one;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    int first = 0;
    while (!CPU_ISSET(first, &all))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    int count = gc_processor_count();
    assert_true(count >= 1 && count <= CPU_COUNT(&all));
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(gc_processor_count(), 1);
    assert_int_equal(gc_thread_count(0), 1);
    assert_int_equal(gc_thread_count(7), 7);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    assert_int_equal(gc_processor_count(), count);
}

TEST(limits_on_addresses_count)
{
    static const struct {
        rlim_t megabytes;
        int threads;
    } cases[] = {{100, 1}, {255, 1}, {256, 2}, {1024, 8}, {65536, 64}};
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    for (size_t i = 0; i < COUNT(cases); i++) {
        limit = (struct rlimit){cases[i].megabytes << 20, before.rlim_max};
        if (limit.rlim_cur > before.rlim_max)
            continue;
        assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
        assert_int_equal(getrlimit(RLIMIT_AS, &limit), 0);
        if (limit.rlim_cur == RLIM_INFINITY)
            skip(); /* qemu's user mode ignores such limits */
        int threads = gc_thread_count(64);
        assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
        assert_int_equal(threads, cases[i].threads);
    }
    assert_int_equal(gc_thread_count(64), 64);
}

const test_suite suite = {.setup = enter, .teardown = leave};
