#include "base/threads.h"

#include "base/file.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct helper {
    pthread_t thread;
    bool busy; /* is in a team */
    struct helper *next;
} helper;

/* A call of gc_team_run, on the caller's stack. */
typedef struct team {
    gc_team_function *work;
    void *user;
    int helpers;  /* that may join, at most */
    int room;     /* for helpers on spare processors */
    bool counted; /* as in gc_team_run */
    int joined;   /* helpers so far */
    int lent;     /* helpers on spare processors so far */
    int inside;   /* of both, those that have not left yet */
    pthread_cond_t left;
    struct team *next;
} team;

static struct {
    pthread_mutex_t lock; /* of all below, and of teams; never held while work is done */
    pthread_cond_t offered;
    team *teams;
    helper *helpers;
    int count, busy; /* of the helpers */
    int spare, lent; /* processors, and helpers that work on them */
    helper *lost;    /* helpers of the process that forked */
    bool ending;     /* helpers end, and no new one is made */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .offered = PTHREAD_COND_INITIALIZER};

/* ---- Forking --------------------------------------------------------------------------------- */

static void before_fork(void)
{
    pthread_mutex_lock(&pool.lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&pool.lock);
}

/* Only the thread that forked exists in the child. The records of all helpers are kept: that thread
 * may be a helper and use its own. */
static void after_fork_in_child(void)
{
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.offered, NULL);
    helper **end = &pool.helpers;
    while (*end != NULL)
        end = &(*end)->next;
    *end = pool.lost;
    pool.lost = pool.helpers;
    pool.helpers = NULL;
    pool.teams = NULL;
    pool.count = pool.busy = 0;
    pool.spare = pool.lent = 0;
}

static bool survives_forks;

static void prepare_for_forks(void)
{
    survives_forks = pthread_atfork(before_fork, after_fork, after_fork_in_child) == 0;
}

/* ---- Helpers --------------------------------------------------------------------------------- */

static void *help(void *user);

/* The process's own threads take its signals. A fault is reported by the thread that causes it. */
static void block_signals(sigset_t *before)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigset_t blocked;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, before);
}

static bool add_helper(void)
{
    helper *made = pool.ending ? NULL : calloc(1, sizeof *made);
    if (made == NULL)
        return false;
    sigset_t before;
    block_signals(&before);
    bool created = pthread_create(&made->thread, NULL, help, made) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!created) {
        free(made);
        return false;
    }
    made->next = pool.helpers;
    pool.helpers = made;
    pool.count++;
    return true;
}

/* Helpers that all teams together may have. Each counted team has its own. The others share as many
 * as the one that wants most. Spare processors have one each. */
static int count_wanted(void)
{
    int counted = 0, shared = 0;
    for (const team *t = pool.teams; t != NULL; t = t->next)
        if (t->counted)
            counted += t->helpers;
        else if (t->helpers > shared)
            shared = t->helpers;
    return counted + shared + pool.spare;
}

static int count_lacking(void)
{
    int lacking = 0, room = 0, spare = pool.spare - pool.lent;
    for (const team *t = pool.teams; t != NULL; t = t->next) {
        lacking += t->helpers - t->joined;
        room += t->room - t->lent;
    }
    return lacking + (room < spare ? room : spare > 0 ? spare : 0);
}

/* Wakes or makes one helper if a team lacks some. The caller of gc_team_run calls two helpers, and
 * each helper that comes calls two more. So many come soon, and no thread has to call them all. */
static void call_helper(void)
{
    int lacking = count_lacking(), idle = pool.count - pool.busy;
    if (lacking == 0 || (idle < lacking && pool.count < count_wanted() && add_helper()))
        return;
    pthread_cond_signal(&pool.offered);
}

/* The team that lacks helpers and has had fewest, NULL if none lacks any. */
static team *neediest_team(void)
{
    team *best = NULL;
    for (team *t = pool.teams; t != NULL; t = t->next)
        if (t->joined < t->helpers && (best == NULL || t->joined < best->joined))
            best = t;
    return best;
}

/* The team that has room for a spare processor and had fewest of them; NULL if there is none. */
static team *roomiest_team(void)
{
    team *best = NULL;
    for (team *t = pool.teams; t != NULL && pool.lent < pool.spare; t = t->next)
        if (t->lent < t->room && (best == NULL || t->lent < best->lent))
            best = t;
    return best;
}

static void join(team *t, bool lent)
{
    int member = lent ? t->helpers + 1 + t->lent++ : ++t->joined;
    t->inside++;
    pool.busy++;
    pool.lent += lent;
    call_helper();
    call_helper();
    pthread_mutex_unlock(&pool.lock);
    t->work(t->user, member);
    pthread_mutex_lock(&pool.lock);
    if (lent) {
        pool.lent--;
        t->room = t->lent; /* nothing is left to begin: nobody has to come again */
    }
    pool.busy--;
    if (--t->inside == 0)
        pthread_cond_signal(&t->left);
}

static void *help(void *user)
{
    helper *self = user;
    pthread_mutex_lock(&pool.lock);
    while (!pool.ending) {
        team *t = neediest_team();
        bool lent = t == NULL;
        if (lent)
            t = roomiest_team();
        if (t == NULL) {
            pthread_cond_wait(&pool.offered, &pool.lock);
            continue;
        }
        self->busy = true;
        join(t, lent);
        self->busy = false;
    }
    pthread_mutex_unlock(&pool.lock);
    return NULL;
}

/* Ends the helpers that sleep, before their code may be unmapped. A helper that works is left
 * alone: its caller has not returned from the library, and the end of a process does not wait for
 * that. */
__attribute__((destructor)) static void end_helpers(void)
{
    pthread_mutex_lock(&pool.lock);
    pool.ending = true;
    helper *asleep = NULL, **at = &pool.helpers;
    while (*at != NULL) {
        helper *one = *at;
        if (one->busy) {
            at = &one->next;
            continue;
        }
        *at = one->next;
        one->next = asleep;
        asleep = one;
    }
    pthread_cond_broadcast(&pool.offered);
    pthread_mutex_unlock(&pool.lock);
    while (asleep != NULL) {
        helper *next = asleep->next;
        pthread_join(asleep->thread, NULL);
        free(asleep);
        asleep = next;
    }
}

/* ---- Teams ----------------------------------------------------------------------------------- */

static void open_team(team *t)
{
    pthread_mutex_lock(&pool.lock);
    t->next = pool.teams;
    pool.teams = t;
    call_helper();
    call_helper();
    pthread_mutex_unlock(&pool.lock);
}

static void close_team(team *t)
{
    pthread_mutex_lock(&pool.lock);
    team **at = &pool.teams;
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    while (t->inside > 0)
        pthread_cond_wait(&t->left, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
    pthread_cond_destroy(&t->left);
}

void gc_team_run(int threads, bool counted, gc_team_function *work, void *user)
{
    gc_team_run_with_room(threads, 0, counted, work, user);
}

void gc_team_spare(int processors)
{
    pthread_mutex_lock(&pool.lock);
    pool.spare = processors;
    call_helper();
    call_helper();
    pthread_mutex_unlock(&pool.lock);
}

void gc_team_run_with_room(int threads, int room, bool counted, gc_team_function *work, void *user)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare_for_forks);
    if (threads + room < 2 || !survives_forks) {
        work(user, 0);
        return;
    }
    team t = {.work = work,
              .user = user,
              .helpers = threads - 1,
              .room = room,
              .counted = counted,
              .left = PTHREAD_COND_INITIALIZER};
    open_team(&t);
    work(user, 0);
    close_team(&t);
}

/* ---- Long lists ------------------------------------------------------------------------------ */

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
