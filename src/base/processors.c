#define _GNU_SOURCE /* sched_getaffinity */
#include "base/processors.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

/* ---- Affinity -------------------------------------------------------------------------------- */

static int processors_online(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (int)count : 1;
}

#if defined(__linux__)
/* The kernel refuses a set that is too small for its processors, so ever larger sets are tried. */
static int processors_allowed(void)
{
    for (int most = 1024; most <= 1 << 20; most *= 4) {
        cpu_set_t *set = CPU_ALLOC(most);
        if (set == NULL)
            break;
        size_t bytes = CPU_ALLOC_SIZE(most);
        bool fits = sched_getaffinity(0, bytes, set) == 0;
        int reason = errno, count = fits ? CPU_COUNT_S(bytes, set) : 0;
        CPU_FREE(set);
        if (count > 0)
            return count;
        if (reason != EINVAL)
            break;
    }
    return processors_online();
}
#else
static int processors_allowed(void)
{
    return processors_online();
}
#endif

/* ---- Control groups -------------------------------------------------------------------------- */

/* Whether a comma-separated list has a word. */
static bool lists(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; *at != '\0'; at += strcspn(at, ",")) {
        at += *at == ',';
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

/* The group in the hierarchy that has the cpu controller, "" if there is none. A line reads
 * "number:controllers:path"; version 2 has no controllers in it. */
static void find_group(const char *groups_path, bool second, char path[PATH_BYTES])
{
    char line[PATH_BYTES];
    FILE *file = fopen(groups_path, "re");
    path[0] = '\0';
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers == NULL ? NULL : strchr(controllers + 1, ':');
        if (group == NULL)
            continue;
        *controllers++ = '\0';
        *group++ = '\0';
        if (second ? strcmp(line, "0") == 0 && *controllers == '\0' : lists(controllers, "cpu"))
            snprintf(path, PATH_BYTES, "%s", group);
    }
    if (file != NULL)
        fclose(file);
}

/* Reads the first numbers of a group's file. Returns how many there are, 0 to 2. */
static int read_numbers(const char *group, const char *name, double numbers[2])
{
    char path[2 * PATH_BYTES + 32];
    snprintf(path, sizeof path, "%s/%s", group, name);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return 0;
    int count = fscanf(file, "%lf %lf", &numbers[0], &numbers[1]);
    fclose(file);
    return count > 0 ? count : 0;
}

/* Version 2 writes "max" if no quota is set, version 1 writes -1. */
static double quota_of(const char *group, bool second)
{
    double numbers[2] = {0, 0}, period[2] = {0, 0};
    if (second && read_numbers(group, "cpu.max", numbers) < 2)
        return HUGE_VAL;
    if (!second) {
        if (read_numbers(group, "cpu.cfs_quota_us", numbers) < 1 ||
            read_numbers(group, "cpu.cfs_period_us", period) < 1)
            return HUGE_VAL;
        numbers[1] = period[0];
    }
    return numbers[0] > 0 && numbers[1] > 0 ? numbers[0] / numbers[1] : HUGE_VAL;
}

/* The least quota from the process's group up to the root of its hierarchy. In a container the
 * group may have its name outside: then the first group on the way up that is there is the
 * container's. */
static double least_quota(const char *groups_path, const char *root, bool second)
{
    char path[2 * PATH_BYTES], group[PATH_BYTES];
    double least = HUGE_VAL;
    find_group(groups_path, second, group);
    snprintf(path, sizeof path, "%s%s", root, group);
    for (;;) {
        least = fmin(least, quota_of(path, second));
        char *end = strrchr(path, '/');
        if (end == NULL || end < path + strlen(root))
            return least;
        *end = '\0';
    }
}

double gc_processor_quota(const char *groups_path, const char *mount)
{
    char first[PATH_BYTES];
    snprintf(first, sizeof first, "%s/cpu", mount);
    return fmin(least_quota(groups_path, mount, true), least_quota(groups_path, first, false));
}

/* ---- Both ------------------------------------------------------------------------------------ */

static double quota;

static void read_quota(void)
{
    quota = gc_processor_quota("/proc/self/cgroup", "/sys/fs/cgroup");
}

int gc_processors_within(int allowed, double affordable)
{
    if (affordable >= allowed)
        return allowed;
    return affordable > 1 ? (int)ceil(affordable) : 1;
}

int gc_processor_count(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_quota);
    return gc_processors_within(processors_allowed(), quota);
}

/* Threads that a limit on the address space has room for. Each takes a stack, often of 8 MiB, and
 * with glibc 64 MiB for memory of its own (malloc(3), M_ARENA_MAX), beside its share of the
 * images. */
static int threads_with_room(void)
{
    const rlim_t room = (rlim_t)128 << 20;
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        limit.rlim_cur / room >= INT_MAX)
        return INT_MAX;
    return limit.rlim_cur < room ? 1 : (int)(limit.rlim_cur / room);
}

int gc_thread_count(int wanted)
{
    int threads = wanted > 0 ? wanted : gc_processor_count(), most = threads_with_room();
    return threads < most ? threads : most;
}

bool gc_has_room_for_thread(void)
{
    const size_t stack = (size_t)8 << 20, work = (size_t)24 << 20;
    void *room =
        mmap(NULL, stack + work, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        return false;
    munmap(room, stack + work);
    return true;
}
