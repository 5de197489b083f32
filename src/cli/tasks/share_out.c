#include "cli/tasks/share_out.h"

#include "base/file.h"
#include "base/threads.h"

#include <stdatomic.h>

enum { RANGE = 128 /* entries: far longer than it takes to hand out a range */ };

typedef struct sharing {
    gc_range_function *work;
    void *user;
    size_t count;
    atomic_size_t next; /* the first entry that nobody has taken */
} sharing;

/* A gc_team_function. */
static void take_ranges(void *user, int member)
{
    sharing *s = user;
    size_t first;
    (void)member;
    while ((first = atomic_fetch_add(&s->next, RANGE)) < s->count)
        s->work(s->user, first, s->count - first < RANGE ? s->count : first + RANGE);
}

void gc_share_out(size_t count, int threads, gc_range_function *work, void *user)
{
    sharing s = {.work = work, .user = user, .count = count};
    int with_files = 1 + gc_files_left(8 * threads) / 8; /* others open files at this time */
    threads = threads < with_files ? threads : with_files;
    atomic_init(&s.next, 0);
    if (count > RANGE && threads > 1)
        gc_team_run(threads, true, take_ranges, &s);
    else
        take_ranges(&s, 0);
}
