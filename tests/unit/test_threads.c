/* The library's own threads: who takes part, when the system gives none, over forks, at the end. */
#include "base/threads.h"

#include "core_support.h"
#include "sanitized.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- An image, and what becomes of it -------------------------------------------------------- */

enum { SIDE = 1024, PIXELS = SIDE * SIDE, THREADS = 4 };

static float weights[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};
static gconv_filter filter = {
    .width = 3, .height = 3, .anchor_x = 1, .anchor_y = 1, .divisor = 16, .weights = weights};
static const gconv_filter *const chain[] = {&filter};
static unsigned char samples[PIXELS], expected[PIXELS];

static gconv_plan *plan_for(int threads)
{
    gconv_plan *plan = NULL;
    gconv_job job = job_of(chain, 1, shape_of(SIDE, SIDE, 1, 8));
    job.implementation = "cpu";
    job.threads = threads;
    gconv_plan_create(&job, &plan, NULL);
    return plan;
}

/* True if a plan on so many threads leaves what is expected. */
static bool runs_well(int threads)
{
    OWNED_PLAN plan = plan_for(threads);
    OWNED unsigned char *output = malloc(PIXELS);
    bool well = plan != NULL && output != NULL &&
                gconv_plan_run_memory(plan, samples, SIDE, output, SIDE, NULL, NULL) == GCONV_OK &&
                memcmp(output, expected, PIXELS) == 0;
    return well;
}

static gconv_status read_samples(void *user, uint32_t count, void *rows, size_t stride,
                                 gconv_error *error)
{
    uint32_t *row = user;
    (void)error;
    for (uint32_t y = 0; y < count; y++)
        memcpy((char *)rows + y * stride, samples + (size_t)(*row + y) * SIDE, SIDE);
    *row += count;
    return GCONV_OK;
}

static gconv_status compare_rows(void *user, uint32_t count, const void *rows, size_t stride,
                                 gconv_error *error)
{
    uint32_t *row = user;
    (void)error;
    for (uint32_t y = 0; y < count; y++)
        if (memcmp((const char *)rows + y * stride, expected + (size_t)(*row + y) * SIDE, SIDE))
            return GCONV_ERROR_WRITE;
    *row += count;
    return GCONV_OK;
}

static bool streams_well(int threads)
{
    OWNED_PLAN plan = plan_for(threads);
    uint32_t read = 0, written = 0;
    const gconv_source *source = SOURCE(read_samples, &read);
    const gconv_sink *sink = SINK(compare_rows, &written);
    bool well = plan != NULL && gconv_plan_run(plan, source, sink, NULL, NULL) == GCONV_OK &&
                written == SIDE;
    return well;
}

static sigset_t at_first; /* the signals that were blocked when the process began */

/* Threads that the process begins with beside the first one: qemu, if it emulates the processor,
 * has one of its own. */
static int foreign_threads;

/* Threads of this process; 0 where the system does not tell. */
static int count_threads(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    if (tasks == NULL)
        return 0;
    for (const struct dirent *task; (task = readdir(tasks)) != NULL;)
        count += task->d_name[0] != '.';
    closedir(tasks);
    return count - foreign_threads;
}

static int prepare(void **state)
{
    (void)state;
    int threads = count_threads();
    foreign_threads = threads > 1 ? threads - 1 : 0;
    pthread_sigmask(SIG_SETMASK, NULL, &at_first);
    srand(3);
    for (size_t i = 0; i < PIXELS; i++)
        samples[i] = (unsigned char)(rand() >> 7);
    OWNED_PLAN plan = plan_for(1);
    assert_non_null(plan);
    assert_ok(gconv_plan_run_memory(plan, samples, SIDE, expected, SIDE, NULL, NULL));
    return 0;
}

static void wait_a_little(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}

/* The same once there are no more than `most`, or after some seconds: a thread that has been joined
 * may still be listed. */
static int settled_threads(int most)
{
    for (int n = 0; n < 10000 && count_threads() > most; n++)
        wait_a_little();
    return count_threads();
}

/* Exit status of `body` in a child, which has half a minute for it. */
static int in_child(int (*body)(void))
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(30);
        _exit(body());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- Before the first run of this process, in children --------------------------------------- */

/* A team whose calls wait for each other, for ten seconds at most. */
typedef struct meeting {
    int wanted;
    atomic_int present;
    atomic_int calls[16]; /* by worker */
    bool blocks;          /* signals, as they should be */
} meeting;

static void meet(void *user, int worker)
{
    meeting *m = user;
    atomic_fetch_add(&m->calls[worker], 1);
    atomic_fetch_add(&m->present, 1);
    for (int n = 0; n < 50000 && atomic_load(&m->present) < m->wanted; n++)
        wait_a_little();
}

static int run_with_helpers(void)
{
    if (!runs_well(THREADS) || !streams_well(THREADS))
        return 1;
    meeting m = {.wanted = THREADS};
    gc_team_run(THREADS, true, meet, &m);
    return atomic_load(&m.present) == THREADS ? 0 : 2;
}

TEST(before_the_first_run)
{
    if (SANITIZES_THREADS)
        skip();
    assert_int_equal(in_child(run_with_helpers), 0);
}

static atomic_int failures;

static atomic_bool stop_forking;

static void *run_until_told(void *user)
{
    (void)user;
    while (!atomic_load(&stop_forking))
        if (!streams_well(THREADS))
            atomic_fetch_add(&failures, 1);
    return NULL;
}

/* No thread for this user: root's are not limited. */
static int run_without_threads(void)
{
    struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};
    pthread_t thread;
    if (setrlimit(RLIMIT_NPROC, &none) != 0 || (getuid() == 0 && setuid(65534) != 0))
        return 77;
    if (pthread_create(&thread, NULL, run_until_told, NULL) == 0)
        return 77;
    for (int threads = 1; threads <= 64; threads *= 4)
        if (!runs_well(threads) || !streams_well(threads))
            return 1;
    return SANITIZES_THREADS || count_threads() <= 1 ? 0 : 2;
}

TEST(the_caller_alone_does_it)
{
    int status = in_child(run_without_threads);
    if (status == 77)
        skip();
    assert_int_equal(status, 0);
}

/* Room for a plan, not for stacks: 8 MB each as a rule. */
static int run_in_little_memory(void)
{
    long pages = 0;
    FILE *sizes = fopen("/proc/self/statm", "r");
    if (sizes == NULL || fscanf(sizes, "%ld", &pages) != 1 || fclose(sizes) != 0)
        return 77;
    rlim_t bytes = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
    struct rlimit little = {.rlim_cur = bytes + (6 << 20), .rlim_max = RLIM_INFINITY};
    if (setrlimit(RLIMIT_AS, &little) != 0 || getrlimit(RLIMIT_AS, &little) != 0 ||
        little.rlim_cur == RLIM_INFINITY) /* qemu's user mode ignores such limits */
        return 77;
    for (int threads = 1; threads <= 64; threads *= 4)
        if (!runs_well(threads) || !streams_well(threads))
            return 1;
    if (count_threads() > 1)
        return 2;
    little.rlim_cur = RLIM_INFINITY; /* what failed before is tried again */
    return setrlimit(RLIMIT_AS, &little) == 0 && run_with_helpers() == 0 ? 0 : 3;
}

TEST(little_memory_is_enough)
{
    if (SANITIZED)
        skip(); /* its own memory counts too */
    int status = in_child(run_in_little_memory);
    if (status == 77)
        skip();
    assert_int_equal(status, 0);
}

typedef struct caller {
    pthread_t thread;
    bool counted;
    meeting *meeting;
} caller;

static void *call(void *user)
{
    caller *c = user;
    gc_team_run(3, c->counted, meet, c->meeting);
    return NULL;
}

/* Three callers of three threads each. If they are counted, all nine threads meet. Otherwise the
 * callers meet the two helpers that they share. */
static int threads_of_three_callers(bool counted)
{
    caller callers[3];
    meeting m = {.wanted = counted ? 9 : 5};
    for (int n = 0; n < 3; n++) {
        callers[n] = (caller){.counted = counted, .meeting = &m};
        if (pthread_create(&callers[n].thread, NULL, call, &callers[n]) != 0)
            return 1;
    }
    for (int n = 0; n < 3; n++)
        pthread_join(callers[n].thread, NULL);
    if (atomic_load(&m.present) < m.wanted)
        return 2;
    int helpers = settled_threads(1 + (counted ? 6 : 2)) - 1;
    return helpers < 0 || helpers == (counted ? 6 : 2) ? 0 : 3;
}

static int share_helpers(void)
{
    return threads_of_three_callers(false);
}

static int own_helpers(void)
{
    return threads_of_three_callers(true);
}

TEST(who_does_not_count_threads_shares_them)
{
    if (SANITIZES_THREADS)
        skip(); /* it adds a thread, and none may be made after a fork */
    assert_int_equal(in_child(share_helpers), 0);
    assert_int_equal(in_child(own_helpers), 0);
}

/* ---- Teams ----------------------------------------------------------------------------------- */

TEST(all_that_are_wanted_come)
{
    for (int n = 0; n < 20; n++) {
        meeting m = {.wanted = 1 + n % 6};
        gc_team_run(m.wanted, true, meet, &m);
        assert_int_equal(atomic_load(&m.present), m.wanted);
        for (int worker = 0; worker < 16; worker++)
            assert_int_equal(atomic_load(&m.calls[worker]), worker < m.wanted);
    }
}

/* Waits until as many are present, and a little longer for one too many. */
static void meet_longer(void *user, int worker)
{
    meet(user, worker);
    for (int n = 0; n < 20; n++)
        wait_a_little();
}

/* Helpers on spare processors come only if there is room, and have numbers of their own. */
TEST(spare_processors_join_where_there_is_room)
{
    for (int spare = 0; spare <= 4; spare++) {
        int came = spare < 3 ? spare : 3;
        meeting roomy = {.wanted = 2 + came}, full = {.wanted = 2};
        gc_team_spare(spare);
        gc_team_run_with_room(2, 3, true, meet_longer, &roomy);
        assert_int_equal(atomic_load(&roomy.present), 2 + came);
        for (int worker = 0; worker < 16; worker++)
            assert_int_equal(atomic_load(&roomy.calls[worker]), worker < 2 + came);
        gc_team_run(2, true, meet_longer, &full);
        assert_int_equal(atomic_load(&full.present), 2);
    }
    gc_team_spare(0);
}

static void *spare_two_later(void *user)
{
    (void)user;
    for (int n = 0; n < 20; n++)
        wait_a_little();
    gc_team_spare(2);
    return NULL;
}

/* The team is open before there is a spare processor. */
TEST(spare_processors_join_later)
{
    pthread_t other;
    meeting m = {.wanted = 3};
    assert_int_equal(pthread_create(&other, NULL, spare_two_later, NULL), 0);
    gc_team_run_with_room(1, 5, false, meet_longer, &m);
    pthread_join(other, NULL);
    gc_team_spare(0);
    assert_int_equal(atomic_load(&m.present), 3);
}

/* The caller leaves at once; who comes later must not, and who is inside must be waited for. */
typedef struct hurry {
    atomic_int inside, calls;
    bool over;
    bool late; /* somebody was called after the end */
} hurry;

static void hurry_through(void *user, int worker)
{
    hurry *h = user;
    atomic_fetch_add(&h->inside, 1);
    atomic_fetch_add(&h->calls, 1);
    if (h->over)
        h->late = true;
    if (worker > 0)
        sched_yield();
    atomic_fetch_sub(&h->inside, 1);
}

TEST(nobody_is_waited_for_in_vain)
{
    for (int n = 0; n < (SANITIZED ? 300 : 3000); n++) {
        hurry h = {.over = false};
        gc_team_run(THREADS, true, hurry_through, &h);
        assert_int_equal(atomic_load(&h.inside), 0);
        assert_true(atomic_load(&h.calls) <= THREADS);
        h.over = true;
        assert_false(h.late);
    }
}

static void note_signals(void *user, int worker)
{
    meeting *m = user;
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    if (worker == 1)
        m->blocks = sigismember(&blocked, SIGINT) && sigismember(&blocked, SIGTERM) &&
                    sigismember(&blocked, SIGALRM) && sigismember(&blocked, SIGPIPE) &&
                    !sigismember(&blocked, SIGSEGV) && !sigismember(&blocked, SIGBUS);
    meet(user, worker);
}

TEST(helpers_take_no_signals)
{
    sigset_t after;
    meeting m = {.wanted = 12}; /* more than there were before */
    gc_team_run(m.wanted, true, note_signals, &m);
    assert_true(m.blocks);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    assert_int_equal(sigismember(&at_first, SIGWINCH), sigismember(&after, SIGWINCH));
}

/* ---- Several callers ------------------------------------------------------------------------- */

static void *run_often(void *user)
{
    (void)user;
    for (int n = 0; n < (SANITIZED ? 4 : 12); n++)
        if (!(n % 2 == 0 ? runs_well(3) : streams_well(3)))
            atomic_fetch_add(&failures, 1);
    return NULL;
}

TEST(several_callers_at_once)
{
    pthread_t callers[4];
    for (int n = 0; n < 4; n++)
        assert_int_equal(pthread_create(&callers[n], NULL, run_often, NULL), 0);
    for (int n = 0; n < 4; n++)
        pthread_join(callers[n], NULL);
    assert_int_equal(atomic_load(&failures), 0);
}

/* ---- Forks ----------------------------------------------------------------------------------- */

static int fork_again(void)
{
    if (run_with_helpers() != 0)
        return 1;
    pid_t child = fork();
    int status = 0;
    if (child == 0)
        _exit(run_with_helpers());
    return child > 0 && waitpid(child, &status, 0) == child && status == 0 ? 0 : 2;
}

TEST(after_runs)
{
    if (SANITIZES_THREADS)
        skip();
    assert_true(runs_well(THREADS));
    assert_int_equal(in_child(run_with_helpers), 0);
    assert_int_equal(in_child(fork_again), 0);
    assert_true(runs_well(THREADS));
}

TEST(while_another_thread_runs)
{
    if (SANITIZED)
        skip(); /* their own locks do not survive it */
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, run_until_told, NULL), 0);
    for (int n = 0; n < 10; n++)
        assert_int_equal(in_child(run_with_helpers), 0);
    atomic_store(&stop_forking, true);
    pthread_join(other, NULL);
    assert_int_equal(atomic_load(&failures), 0);
}

static atomic_bool release;
static atomic_int held;

static void hold(void *user, int worker)
{
    (void)user;
    (void)worker;
    atomic_fetch_add(&held, 1);
    while (!atomic_load(&release))
        wait_a_little();
}

static void *open_team(void *user)
{
    (void)user;
    gc_team_run(3, false, hold, NULL);
    return NULL;
}

static int run_beside_teams_of_the_parent(void)
{
    int failed = run_with_helpers(), threads = count_threads();
    return failed != 0 ? failed : threads == 0 || threads == THREADS ? 0 : 3;
}

/* Teams that lack helpers: in the child nobody shall join them. */
static int fork_beside_open_teams(void)
{
    pthread_t callers[2];
    for (int n = 0; n < 2; n++)
        if (pthread_create(&callers[n], NULL, open_team, NULL) != 0)
            return 10;
    while (atomic_load(&held) < 4) /* two callers, and the two helpers that they share */
        wait_a_little();
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(run_beside_teams_of_the_parent());
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 11;
    atomic_store(&release, true);
    for (int n = 0; n < 2; n++)
        pthread_join(callers[n], NULL);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 12;
}

TEST(beside_open_teams)
{
    if (SANITIZED)
        skip(); /* as above */
    assert_int_equal(in_child(fork_beside_open_teams), 0);
}

/* ---- The end --------------------------------------------------------------------------------- */

static gconv_status read_nothing(void *user, uint32_t count, void *rows, size_t stride,
                                 gconv_error *error)
{
    (void)count, (void)rows, (void)stride, (void)error;
    atomic_store((atomic_bool *)user, true);
    pause();
    return GCONV_ERROR_READ;
}

static atomic_bool reads;

static void *run_in_vain(void *user)
{
    uint32_t written = 0;
    const gconv_sink *sink = SINK(compare_rows, &written);
    gconv_plan_run(user, SOURCE(read_nothing, &reads), sink, NULL, NULL);
    return NULL;
}

/* One thread of a run sits in the source, helpers wait for what it reads. */
static int exit_within_a_run(void)
{
    pthread_t other;
    if (run_with_helpers() != 0 ||
        pthread_create(&other, NULL, run_in_vain, plan_for(THREADS)) != 0)
        return 1;
    while (!atomic_load(&reads))
        wait_a_little();
    exit(42);
}

TEST(exit_does_not_wait_for_runs)
{
    if (SANITIZED)
        skip(); /* what the run holds is not freed */
    assert_int_equal(in_child(exit_within_a_run), 42);
}

/* What the tests need of a library that is loaded for a while. */
typedef struct library {
    void *handle;
    gconv_status (*create)(const gconv_job *, gconv_plan **, gconv_error *);
    gconv_status (*run)(gconv_plan *, const void *, size_t, void *, size_t, gconv_timings *,
                        gconv_error *);
    void (*destroy)(gconv_plan *);
} library;

static library load_library(void)
{
    library l = {.handle = dlopen(GC_TEST_LIBRARY, RTLD_NOW | RTLD_LOCAL)};
    if (l.handle == NULL)
        fail_msg("%s", dlerror());
    *(void **)&l.create = dlsym(l.handle, "gconv_plan_create");
    *(void **)&l.run = dlsym(l.handle, "gconv_plan_run_memory");
    *(void **)&l.destroy = dlsym(l.handle, "gconv_plan_free");
    return l;
}

TEST(unloading_ends_helpers)
{
    int before = count_threads();
    for (int n = 0; n < 5; n++) {
        library l = load_library();
        gconv_job job = gconv_job_default();
        job.filters = chain;
        job.filter_count = 1;
        job.input = shape_of(SIDE, SIDE, 1, 8);
        job.implementation = "cpu";
        job.threads = THREADS;
        gconv_plan *plan;
        unsigned char *output = malloc(PIXELS);
        assert_non_null(output);
        assert_ok(l.create(&job, &plan, NULL));
        assert_ok(l.run(plan, samples, SIDE, output, SIDE, NULL, NULL));
        assert_memory_equal(output, expected, PIXELS);
        assert_true(before == 0 || count_threads() > before);
        l.destroy(plan);
        free(output);
        dlclose(l.handle);
        assert_int_equal(settled_threads(before), before);
    }
}

const test_suite suite = {.setup = prepare};
