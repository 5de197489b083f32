#include "cli/image/batch.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/place.h"
#include "base/processors.h"
#include "base/status.h"
#include "base/threads.h"
#include "cli/image/task_queue.h"
#include "cli/journal/journal.h"
#include "cli/tasks/names.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/standard_output.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORKERS_MAX = 256,
    FILES_PER_WORKER = 4,                   /* input, output, its directory and its lock */
    FILES_KEPT = 3,                         /* for what is listed and looked into meanwhile */
    RESULTS_MAX = 4 * WORKERS_MAX,          /* that wait for an earlier result */
    BORROWED_RESULTS_MAX = 64 * WORKERS_MAX /* if other processes borrow tasks */
};

#define NO_TASK SIZE_MAX

/* ---- Reports of a stream of images ----------------------------------------------------------- */

/* A direct output, such as a pipe, gets each image of a stream as soon as it is computed, and its
 * result is reported then. A file appears whole after the last image: results are kept until
 * then. */
typedef struct several_reports {
    const gc_batch_plan *plan;
    bool appears_whole; /* the output is a file, not a direct output */
    bool is_told;       /* something is said of an image that is done */
    gc_result *kept;
    size_t count, capacity; /* of `kept` */
} several_reports;

/* Whether an output is direct: its bytes are out as soon as they are written. */
static bool is_direct(const char *output)
{
    gc_place place;
    if (strcmp(output, "-") == 0)
        return true;
    if (gc_place_find(output, &place, NULL) != GCONV_OK)
        return false;
    bool direct = gc_place_is_direct(&place);
    gc_place_close(&place);
    return direct;
}

static void begin_several(several_reports *reports, const gc_batch_plan *plan)
{
    const gc_task_list *list = plan->list;
    const gc_report_options *report = &plan->session->options->report;
    *reports = (several_reports){.plan = plan,
                                 .appears_whole = list->batch || !is_direct(list->tasks[0].output),
                                 .is_told = report->json || report->verbose || report->timings ||
                                            report->explain || report->verify};
}

/* Takes over the result in any case. */
static gconv_status keep(several_reports *reports, gc_result *result, gconv_error *error)
{
    gc_result *kept = gc_make_room(reports->kept, reports->count, &reports->capacity, sizeof *kept);
    if (kept == NULL) {
        gc_result_destroy(result);
        return gc_fail_memory(error, (reports->count + 1) * sizeof *kept);
    }
    reports->kept = kept;
    reports->kept[reports->count++] = *result;
    return GCONV_OK;
}

/* A gc_image_function: reports an image that is not the last one, or keeps its result. */
static gconv_status take_several(void *user, const gc_task *task, gc_result *result,
                                 gconv_error *error)
{
    several_reports *reports = user;
    bool counts = !reports->plan->list->batch; /* a batch counts inputs */
    if (counts && reports->appears_whole)
        gc_counts_several("computed, none written", false);
    else if (counts)
        gc_counts_several("done", true);
    if (counts)
        gc_counts_add(false, false);
    if (reports->appears_whole && reports->is_told)
        return keep(reports, result, error);
    if (counts)
        reports->plan->report(reports->plan->user, task, result);
    gc_result_destroy(result);
    return GCONV_OK;
}

/* The results that were kept are reported with that of the last image, which says what became of
 * the output. */
static void end_several(several_reports *reports, gc_result *last)
{
    for (size_t i = 0; i < reports->count; i++) {
        gc_result *result = &reports->kept[i];
        if (last->outcome == GC_OUTCOME_FAILED || last->outcome == GC_OUTCOME_SKIPPED)
            result->outcome = last->outcome;
        if (last->outcome == GC_OUTCOME_FAILED) {
            gc_fail(&result->error, last->error.status, "not written, because image %zu failed",
                    last->image);
            result->subject = NULL;
        }
    }
    last->before = reports->kept;
    last->before_count = reports->count;
    reports->kept = NULL;
    reports->count = reports->capacity = 0;
}

/* ---- The batch ------------------------------------------------------------------------------- */

/* A worker is a thread that takes one task after the other. A worker that waits sleeps on `called`.
 * Another thread first gives it a place or a task under the lock, and then posts `called`. */
typedef struct worker_thread {
    struct gc_batch *batch;
    pthread_t thread; /* not set for the calling thread */
    sem_t called;
    size_t task;                /* that it takes; NO_TASK: it ends */
    size_t images_left;         /* that were not reported when it took the task */
    struct worker_thread *next; /* in a list of those that wait, or are to be called */
} worker_thread;

typedef struct gc_batch {
    const gc_batch_plan *plan;
    const gc_session *session; /* those of the plan */
    const gc_task_list *list;
    pthread_t lender;
    int workers_max;    /* that find files to open */
    int images_at_once; /* images that are computed at one time */

    pthread_mutex_t lock; /* guards the members below and what is in the queue */
    gc_task_queue *tasks;
    pthread_t reader;
    bool has_reader; /* the thread `reader` reads tasks ahead; else the workers read them */

    /* While some images wait for a device, more workers compute others. */
    worker_thread workers[WORKERS_MAX];
    int created;              /* workers; the first one is the calling thread */
    int computed;             /* images that are being computed and do not wait for a device */
    worker_thread *idle;      /* may not start a task yet; the latest is first */
    worker_thread *returning; /* have waited for a device; the longest wait is first */
    worker_thread **returning_end;
} batch;

/* ---- Places ---------------------------------------------------------------------------------- */

/* Whether another image may be computed now. While a GPU starts only half as many are allowed,
 * because the threads of its driver need free processors. */
static bool has_place(const batch *b)
{
    int places = gconv_device_is_starting() ? (b->images_at_once + 1) / 2 : b->images_at_once;
    return b->computed < places;
}

/* Whether a task may start here now: images that have waited for a device go first. */
static bool may_start(const batch *b)
{
    return gc_task_queue_has_next(b->tasks) && has_place(b) && b->returning == NULL;
}

static void start(batch *b, worker_thread *worker)
{
    b->computed++;
    worker->task = gc_task_queue_start(b->tasks);
    worker->images_left = gc_task_queue_images_left(b->tasks);
}

static void push(worker_thread **list, worker_thread *worker)
{
    worker->next = *list;
    *list = worker;
}

/* Gives free places to images that have waited for a device. Their workers go to `called`. */
static void call_returning(batch *b, worker_thread **called)
{
    while (has_place(b) && b->returning != NULL) {
        worker_thread *worker = b->returning;
        b->returning = worker->next;
        if (b->returning == NULL)
            b->returning_end = &b->returning;
        b->computed++;
        push(called, worker);
    }
}

/* Gives free places to idle workers. If no task is left, all of them are called to end. They go to
 * `called`. */
static void call_idle(batch *b, worker_thread **called)
{
    while (b->idle != NULL && (gc_task_queue_has_ended(b->tasks) || may_start(b))) {
        worker_thread *worker = b->idle;
        b->idle = worker->next;
        if (gc_task_queue_has_ended(b->tasks))
            worker->task = NO_TASK;
        else
            start(b, worker);
        push(called, worker);
    }
}

/* Unlocks the batch, and then calls workers: they do not wait for the lock. */
static void unlock_and_call(batch *b, worker_thread *called)
{
    pthread_mutex_unlock(&b->lock);
    while (called != NULL) {
        worker_thread *worker = called;
        called = worker->next; /* a worker that was called may move to another list */
        sem_post(&worker->called);
    }
}

static void await_call(worker_thread *self)
{
    while (sem_wait(&self->called) != 0) /* a signal */
        continue;
}

/* ---- Reading tasks --------------------------------------------------------------------------- */

/* The thread that reads ahead. */
static void *read_tasks(void *user)
{
    batch *b = user;
    bool more = true;
    while (more) {
        gc_task task;
        worker_thread *called = NULL;
        more = gc_task_queue_read(b->tasks, &task);
        pthread_mutex_lock(&b->lock);
        more = gc_task_queue_add(b->tasks, more ? &task : NULL, &b->lock);
        call_idle(b, &called);
        unlock_and_call(b, called);
    }
    return NULL;
}

/* Without a thread that reads ahead, a worker that needs a task reads one. A source may wait for
 * the result of an image that is being computed. */
static void read_if_needed(batch *b)
{
    bool may_wait = b->list->source != NULL && b->computed > 0;
    if (!b->has_reader && !may_wait)
        gc_task_queue_read_if_needed(b->tasks);
}

/* ---- Workers --------------------------------------------------------------------------------- */

static void stop_where_requested(batch *b)
{
    if (gc_stop_is_requested())
        gc_task_queue_stop(b->tasks);
}

/* Finds a task for a worker whose last one is done. Unlocks the batch, which its caller has locked.
 * Then waits until the queue has room for another result and a place is free. False: no task is
 * left. */
static bool take_task_and_unlock(batch *b, worker_thread *self)
{
    worker_thread *called = NULL;
    stop_where_requested(b);
    read_if_needed(b);
    call_returning(b, &called);
    bool waits = false;
    if (may_start(b)) {
        start(b, self);
    } else if (gc_task_queue_has_ended(b->tasks)) {
        self->task = NO_TASK;
    } else {
        push(&b->idle, self);
        waits = true;
    }
    call_idle(b, &called);
    unlock_and_call(b, called);
    if (waits)
        await_call(self);
    return self->task != NO_TASK;
}

/* Passes on the place of an image that waits for a device. Unlocks the batch, which its caller has
 * locked. */
static void leave_place_and_unlock(batch *b)
{
    worker_thread *called = NULL;
    b->computed--;
    call_returning(b, &called);
    call_idle(b, &called);
    unlock_and_call(b, called);
}

/* Takes a place for an image that has waited for a device. Unlocks the batch, which its caller has
 * locked, and then waits for the place. */
static void return_to_place_and_unlock(batch *b, worker_thread *self)
{
    bool waits = !has_place(b) || b->returning != NULL;
    if (waits) {
        self->next = NULL;
        *b->returning_end = self;
        b->returning_end = &self->next;
    } else {
        b->computed++;
    }
    pthread_mutex_unlock(&b->lock);
    if (waits)
        await_call(self);
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

/* A copy of what a worker's images wrote to its notes, which become empty. NULL if they wrote
 * nothing or memory is out. */
static char *take_notes(FILE *notes, char *const *text)
{
    long size = notes != NULL ? ftell(notes) : 0;
    if (size <= 0)
        return NULL;
    char *copy = fputc('\0', notes) != EOF && fflush(notes) == 0 ? gc_copy_string(*text) : NULL;
    rewind(notes);
    return copy;
}

static void count(const gc_task *task, const gc_result *result)
{
    if (!task->is_list)
        gc_counts_add(result->outcome == GC_OUTCOME_FAILED, result->outcome == GC_OUTCOME_SKIPPED);
}

/* Processes a task. Notes wait in the result if several are processed at one time. */
static void process_task(batch *b, gc_worker *worker, char *const *notes, const gc_task *task,
                         gc_result *result)
{
    if (worker->session->options->batch.dry_run)
        gc_plan_only(worker->session, task, result);
    else
        gc_process(worker, task, result);
    result->notes = take_notes(worker->notes, notes);
    end_several(worker->image_user, result);
    if (result->outcome == GC_OUTCOME_BARRED)
        return;
    count(task, result);
    if (b->list->batch) /* an image that is skipped or fails early has drawn no progress */
        gc_progress_show_images(gc_input_name(task->input), 0, b->list->count);
}

static void *run_worker(void *user);

/* How many workers there may be: enough that the devices and the processors are busy. */
static int count_workers_allowed(const batch *b)
{
    enum { WORKERS_PER_IMAGE = 3, WORKERS_PER_GPU = 64 };
    const gconv_device_choice *devices = &b->session->options->device;
    int gpus = devices->count > 0 ? devices->count : gconv_device_count() - 1;
    int workers = b->images_at_once * WORKERS_PER_IMAGE;
    if (gpus > 0 && workers > gpus * WORKERS_PER_GPU)
        workers = gpus * WORKERS_PER_GPU;
    return workers < b->workers_max ? workers : b->workers_max;
}

static bool create_worker(batch *b)
{
    worker_thread *worker = &b->workers[b->created];
    bool created =
        b->created < WORKERS_MAX && pthread_create(&worker->thread, NULL, run_worker, worker) == 0;
    b->created += created;
    return created;
}

/* A gconv_wait_function: while an image waits for a device, another one is computed, by one more
 * worker if nobody is idle. After that the image waits for a place. It comes before images that
 * have not begun. */
static void note_wait(void *user, bool waits)
{
    worker_thread *self = user;
    batch *b = self->batch;
    pthread_mutex_lock(&b->lock);
    if (!waits) {
        return_to_place_and_unlock(b, self);
        return;
    }
    leave_place_and_unlock(b);
    pthread_mutex_lock(&b->lock);
    if (b->idle == NULL && may_start(b) && b->created < count_workers_allowed(b))
        create_worker(b);
    pthread_mutex_unlock(&b->lock);
}

/* If no task is left to begin, gives the threads of finished images to the last ones. */
static void spare_threads(const batch *b)
{
    int left = b->images_at_once - b->computed;
    bool ends = gc_task_queue_has_ended(b->tasks) && left > 0 && b->images_at_once > 1;
    int share = ends ? gc_thread_count(b->session->job.threads) / b->images_at_once : 0;
    gc_team_spare(left * share);
}

static void finish_task(batch *b, size_t task, gc_result *result)
{
    if (result->outcome == GC_OUTCOME_BARRED) {
        gc_result_destroy(result);
        gc_task_queue_stop(b->tasks);
        return;
    }
    bool failed = result->outcome == GC_OUTCOME_FAILED && !result->recorded;
    if ((failed && b->session->options->batch.stop_on_error) ||
        (b->session->journal != NULL && gc_journal_has_failed(b->session->journal)))
        gc_task_queue_stop(b->tasks);
    gc_task_queue_finish(b->tasks, task, result);
    spare_threads(b);
}

static void *run_worker(void *user)
{
    worker_thread *self = user;
    batch *b = self->batch;
    char *notes = NULL;
    size_t size;
    bool alone = b->images_at_once == 1 && b->list->source == NULL && b->plan->borrowers == NULL;
    several_reports several;
    begin_several(&several, b->plan);
    gc_worker worker = {.session = b->session,
                        .first = b->plan->first,
                        .image_count = b->list->count,
                        .images_at_once = b->images_at_once,
                        .directories = b->list->batch ? b->plan->directories : NULL,
                        .notes = alone ? NULL : open_memstream(&notes, &size),
                        .image_done = take_several,
                        .image_user = &several,
                        .waits = b->images_at_once > 1 ? note_wait : NULL,
                        .waits_user = self};
    pthread_mutex_lock(&b->lock);
    while (take_task_and_unlock(b, self)) {
        worker.images_left = self->images_left;
        gc_result result;
        process_task(b, &worker, &notes, gc_task_queue_at(b->tasks, self->task), &result);
        pthread_mutex_lock(&b->lock);
        b->computed--;
        finish_task(b, self->task, &result);
    }
    gc_worker_end(&worker);
    if (worker.notes != NULL)
        fclose(worker.notes);
    free(notes);
    return NULL;
}

/* How many workers find files to open, no more than there are tasks; 0: one does, if nobody reads
 * tasks ahead. The drivers of GPUs get a quarter of the files. */
static int count_workers_possible(const gc_session *session, const gc_task_list *list)
{
    bool counted = list->stream == NULL && list->source == NULL && list->count < WORKERS_MAX;
    int most = counted ? (int)list->count : WORKERS_MAX;
    int left = gc_files_left(2 * (FILES_KEPT + FILES_PER_WORKER * most));
    if (strcmp(session->job.device, "cpu") != 0)
        left -= left / 4;
    int workers = (left - FILES_KEPT) / FILES_PER_WORKER;
    return workers < most ? workers : most;
}

/* How many images are computed at one time. Tasks do not depend on each other: gc_task_list_create
 * refuses an output that is another task's input. */
static int choose_images_at_once(const gc_session *session, const gc_task_list *list, int workers)
{
    bool counted = list->stream == NULL && list->source == NULL;
    if (counted && list->count < 2)
        return 1;
    int threads = gc_thread_count(session->job.threads);
    int images = threads < workers ? threads : workers > 1 ? workers : 1;
    return counted && list->count < (size_t)images ? (int)list->count : images;
}

/* ---- Tasks that other processes compute ------------------------------------------------------ */

bool gc_batch_lend(batch *b, gc_loan *loan)
{
    worker_thread *called = NULL;
    pthread_mutex_lock(&b->lock);
    stop_where_requested(b);
    read_if_needed(b);
    bool lends = gc_task_queue_has_next(b->tasks);
    if (lends) {
        loan->images_left = gc_task_queue_images_left(b->tasks);
        loan->number = gc_task_queue_start(b->tasks);
        loan->task = gc_task_queue_at(b->tasks, loan->number);
    }
    call_idle(b, &called);
    unlock_and_call(b, called);
    return lends;
}

bool gc_batch_has_ended(batch *b)
{
    pthread_mutex_lock(&b->lock);
    bool ended = gc_task_queue_has_ended(b->tasks);
    pthread_mutex_unlock(&b->lock);
    return ended;
}

void gc_batch_settle(batch *b, const gc_loan *loan, gc_result *result)
{
    worker_thread *called = NULL;
    count(loan->task, result);
    pthread_mutex_lock(&b->lock);
    finish_task(b, loan->number, result);
    call_idle(b, &called);
    unlock_and_call(b, called);
}

const gc_session *gc_batch_session(const batch *b)
{
    return b->session;
}

static void *run_borrowers(void *user)
{
    batch *b = user;
    gconv_error barred; /* gc_batch_run tells */
    if (gc_first_check_make(b->plan->first, &barred) == GCONV_OK)
        b->plan->borrowers->run(b->plan->borrowers->user, b);
    return NULL;
}

/* ---- Running --------------------------------------------------------------------------------- */

static void prepare_workers(batch *b)
{
    for (int i = 0; i < WORKERS_MAX; i++) {
        b->workers[i].batch = b;
        sem_init(&b->workers[i].called, 0, 0);
    }
    b->created = 1;
}

/* Waits for every worker. Those that still work may create more. */
static void join_workers(batch *b)
{
    pthread_mutex_lock(&b->lock);
    for (int i = 1; i < b->created; i++) {
        pthread_t thread = b->workers[i].thread;
        pthread_mutex_unlock(&b->lock);
        pthread_join(thread, NULL);
        pthread_mutex_lock(&b->lock);
    }
    pthread_mutex_unlock(&b->lock);
    for (int i = 0; i < WORKERS_MAX; i++)
        sem_destroy(&b->workers[i].called);
}

static void run_workers(batch *b)
{
    prepare_workers(b);
    pthread_mutex_lock(&b->lock);
    if (gc_task_queue_is_read(b->tasks) && b->workers_max > 0)
        b->has_reader =
            gc_has_room_for_thread() && pthread_create(&b->reader, NULL, read_tasks, b) == 0;
    while (b->created < b->images_at_once && create_worker(b))
        continue;
    pthread_mutex_unlock(&b->lock);
    bool lends =
        b->plan->borrowers != NULL && pthread_create(&b->lender, NULL, run_borrowers, b) == 0;
    run_worker(&b->workers[0]);
    if (lends)
        pthread_join(b->lender, NULL);
    join_workers(b);
    if (b->has_reader)
        pthread_join(b->reader, NULL);
    gc_team_spare(0);
}

gconv_status gc_batch_run(const gc_batch_plan *plan, gconv_error *error)
{
    const gc_task_list *list = plan->list;
    batch b = {.plan = plan,
               .session = plan->session,
               .list = list,
               .workers_max = count_workers_possible(plan->session, list),
               .lock = PTHREAD_MUTEX_INITIALIZER,
               .returning_end = &b.returning};
    b.images_at_once = choose_images_at_once(plan->session, list, b.workers_max);
    size_t results_max = plan->borrowers != NULL ? BORROWED_RESULTS_MAX : RESULTS_MAX;
    gconv_status status =
        gc_task_queue_create(list, results_max, plan->report, plan->user, &b.tasks, error);
    if (status == GCONV_OK)
        run_workers(&b);
    gc_task_queue_free(b.tasks);
    return status == GCONV_OK ? gc_first_check_make(plan->first, error) : status;
}
