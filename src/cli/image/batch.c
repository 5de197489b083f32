#include "cli/image/batch.h"

#include "base/processors.h"
#include "base/status.h"
#include "cli/image/image.h"
#include "cli/image/kept_plan.h"
#include "cli/image/several_reports.h"
#include "cli/report/tally.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    WORKERS_MAX = 256,
    RESULTS_MAX = 4 * WORKERS_MAX /* that wait for an earlier result */
};

/* A worker: a thread that takes one task after the other. One that waits is called after the caller
 * has given it its place or its task under the lock. */
typedef struct worker_thread {
    struct batch *batch;
    pthread_t thread; /* not set for the calling thread */
    sem_t called;
    size_t task;                /* that it takes; the number of tasks: it ends */
    size_t images_left;         /* that were not reported when it took the task */
    struct worker_thread *next; /* in a list of those that wait, or are to be called */
} worker_thread;

typedef struct batch {
    const gc_session *session;
    const gc_task_list *list;
    gc_gate *gate;
    gc_directories *directories;
    gc_report_function *report;
    void *user;
    int images_at_once; /* images that are computed at one time */
    pthread_mutex_t lock;
    size_t started, reported; /* tasks */

    /* While some images wait for a device, more workers compute others. */
    worker_thread workers[WORKERS_MAX];
    int created;              /* workers; the first one is the calling thread */
    int computed;             /* images that are being computed and do not wait for a device */
    worker_thread *idle;      /* may not start a task yet; who came last is first */
    worker_thread *returning; /* have waited for a device; who came first is first */
    worker_thread **returning_end;

    /* Results are reported in the order of the tasks. One that is there early waits in a ring of
     * `room` entries: task i has entry i % room. No task is started that has no entry. */
    size_t room;
    gc_result *results;
    bool *waits;                /* whether the entry holds a result */
    gc_several_reports several; /* of the only task, where its input is a stream of images */
} batch;

/* ---- Places ---------------------------------------------------------------------------------- */

static bool has_ended(const batch *b)
{
    return b->started >= b->list->count;
}

/* Whether fewer images are being computed than may be. While a GPU starts only half as many may be:
 * its driver's threads take longer where no processor is free. */
static bool has_place(const batch *b)
{
    int places = gconv_device_is_starting() ? (b->images_at_once + 1) / 2 : b->images_at_once;
    return b->computed < places;
}

/* Whether a task may start now: images that have waited for a device go first. */
static bool may_start(const batch *b)
{
    return !has_ended(b) && has_place(b) && b->returning == NULL &&
           b->started < b->reported + b->room;
}

/* Gives a worker the next task. */
static void start(batch *b, worker_thread *worker)
{
    b->computed++;
    worker->task = b->started++;
    worker->images_left = b->list->count - b->reported;
}

/* Moves a worker to the front of a list. */
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

/* Gives free places to idle workers. Where no task is left, all of them are called to end. They go
 * to `called`. */
static void call_idle(batch *b, worker_thread **called)
{
    while (b->idle != NULL && (has_ended(b) || may_start(b))) {
        worker_thread *worker = b->idle;
        b->idle = worker->next;
        if (has_ended(b))
            worker->task = b->list->count;
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

/* Finds a task for a worker whose last one is done, and unlocks the batch. Waits while too many
 * results wait, and while as many images as may be are being computed. False: no task is left. */
static bool take_task(batch *b, worker_thread *self)
{
    worker_thread *called = NULL;
    call_returning(b, &called);
    bool waits = false;
    if (may_start(b)) {
        start(b, self);
    } else if (has_ended(b)) {
        self->task = b->list->count;
    } else {
        push(&b->idle, self);
        waits = true;
    }
    call_idle(b, &called);
    unlock_and_call(b, called);
    if (waits)
        await_call(self);
    return self->task < b->list->count;
}

/* Gives the place of an image that waits for a device to others, and unlocks the batch. */
static void leave_place(batch *b)
{
    worker_thread *called = NULL;
    b->computed--;
    call_returning(b, &called);
    call_idle(b, &called);
    unlock_and_call(b, called);
}

/* Waits for a place for an image that has waited for a device, and unlocks the batch. */
static void return_to_place(batch *b, worker_thread *self)
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

/* Reports the results that come next in the order of the tasks, as far as they are there. */
static void report_ready(batch *b)
{
    size_t entry = b->reported % b->room;
    while (b->waits[entry]) {
        b->report(b->user, &b->list->tasks[b->reported], &b->results[entry]);
        gc_result_destroy(&b->results[entry]);
        b->waits[entry] = false;
        entry = ++b->reported % b->room;
    }
}

/* Processes a task. Where several are processed at one time, notes wait in the result. */
static void process_task(batch *b, gc_worker *worker, const gc_task *task, gc_result *result)
{
    char *notes = NULL;
    size_t size;
    worker->notes = b->images_at_once > 1 ? open_memstream(&notes, &size) : NULL;
    gc_process(worker, task, result);
    if (worker->notes != NULL && fclose(worker->notes) != 0) {
        free(notes);
        notes = NULL;
    }
    result->notes = notes;
    if (result->outcome == GC_OUTCOME_BARRED)
        return;
    gc_tally_add(result->outcome == GC_OUTCOME_FAILED, result->outcome == GC_OUTCOME_SKIPPED);
    if (!b->list->batch)
        gc_several_reports_end(&b->several, task, result);
}

static void *work(void *user);

/* How many workers there may be: enough that the devices and the processors are busy. */
static int count_workers_allowed(const batch *b)
{
    enum { WORKERS_PER_IMAGE = 3, WORKERS_PER_GPU = 64 };
    gconv_device_choice devices;
    int gpus = 1;
    if (gconv_device_parse(b->session->job.device, &devices, NULL) == GCONV_OK)
        gpus = devices.count > 0 ? devices.count : gconv_device_count() - 1;
    int workers = b->images_at_once * WORKERS_PER_IMAGE;
    if (gpus > 0 && workers > gpus * WORKERS_PER_GPU)
        workers = gpus * WORKERS_PER_GPU;
    return workers < WORKERS_MAX ? workers : WORKERS_MAX;
}

static bool create_worker(batch *b)
{
    worker_thread *worker = &b->workers[b->created];
    bool created =
        b->created < WORKERS_MAX && pthread_create(&worker->thread, NULL, work, worker) == 0;
    b->created += created;
    return created;
}

/* A gconv_wait_function: while an image waits for a device, another one is computed, by one more
 * worker where nobody is idle. After that it waits until it may be computed again, before images
 * that have not begun. */
static void note_wait(void *user, bool waits)
{
    worker_thread *self = user;
    batch *b = self->batch;
    pthread_mutex_lock(&b->lock);
    if (!waits) {
        return_to_place(b, self);
        return;
    }
    leave_place(b);
    pthread_mutex_lock(&b->lock);
    if (b->idle == NULL && may_start(b) && b->created < count_workers_allowed(b))
        create_worker(b);
    pthread_mutex_unlock(&b->lock);
}

/* Stores the result of a task, and reports what may be reported. */
static void finish_task(batch *b, size_t task, gc_result *result)
{
    b->computed--;
    if (result->outcome == GC_OUTCOME_BARRED) {
        gc_result_destroy(result);
        b->started = b->list->count;
        return;
    }
    b->results[task % b->room] = *result;
    b->waits[task % b->room] = true;
    report_ready(b);
}

static void *work(void *user)
{
    worker_thread *self = user;
    batch *b = self->batch;
    gc_worker worker = {.session = b->session,
                        .gate = b->gate,
                        .image_count = b->list->count,
                        .images_at_once = b->images_at_once,
                        .directories = b->list->batch ? b->directories : NULL,
                        .image_done = b->list->batch ? NULL : gc_several_reports_take,
                        .image_user = &b->several,
                        .waits = b->images_at_once > 1 ? note_wait : NULL,
                        .waits_user = self};
    pthread_mutex_lock(&b->lock);
    while (take_task(b, self)) {
        worker.images_left = self->images_left;
        gc_result result;
        process_task(b, &worker, &b->list->tasks[self->task], &result);
        pthread_mutex_lock(&b->lock);
        finish_task(b, self->task, &result);
    }
    gc_kept_plan_free(&worker.kept);
    return NULL;
}

/* How many images are computed at one time. Tasks do not depend on each other: gc_task_list_create
 * refuses an output that is another task's input. */
static int choose_images_at_once(const gc_session *session, const gc_task_list *list)
{
    int threads = gc_thread_count(session->job.threads);
    if (list->count < 2 || threads < 2)
        return 1;
    int images = threads < WORKERS_MAX ? threads : WORKERS_MAX;
    return list->count < (size_t)images ? (int)list->count : images;
}

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
    while (b->created < b->images_at_once && create_worker(b))
        continue;
    pthread_mutex_unlock(&b->lock);
    work(&b->workers[0]);
    join_workers(b);
}

gconv_status gc_batch_run(const gc_session *session, const gc_task_list *list, gc_gate *gate,
                          gc_directories *directories, gc_report_function *report, void *user,
                          gconv_error *error)
{
    size_t room = list->count < RESULTS_MAX ? list->count : RESULTS_MAX;
    batch b = {.session = session,
               .list = list,
               .gate = gate,
               .directories = directories,
               .report = report,
               .user = user,
               .images_at_once = choose_images_at_once(session, list),
               .lock = PTHREAD_MUTEX_INITIALIZER,
               .returning_end = &b.returning,
               .room = room,
               .results = calloc(room, sizeof *b.results),
               .waits = calloc(room, sizeof *b.waits)};
    gconv_status status = GCONV_OK;
    if (!list->batch)
        gc_several_reports_begin(&b.several, session->options, list->tasks[0].output, report, user);
    if (b.results != NULL && b.waits != NULL)
        run_workers(&b);
    else if (room > 0)
        status = gc_fail_memory(error, room * sizeof *b.results);
    free(b.results);
    free(b.waits);
    return status == GCONV_OK ? gc_gate_pass(gate, error) : status;
}
