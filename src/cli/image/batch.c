#include "cli/image/batch.h"

#include "base/processors.h"
#include "base/status.h"
#include "cli/image/image.h"
#include "cli/image/kept_plan.h"
#include "cli/image/several_reports.h"
#include "cli/report/tally.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    WORKERS_MAX = 256,
    RESULTS_MAX = 4 * WORKERS_MAX /* that wait for an earlier result */
};

/* A worker that waits to be called. Who calls it gives it a place among the images that are being
 * computed. */
typedef struct waiting_worker {
    pthread_cond_t call;
    bool called;
    size_t task; /* that it was called for */
    struct waiting_worker *next;
} waiting_worker;

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
    pthread_t threads[WORKERS_MAX];
    int created;               /* threads */
    int computed;              /* images that are being computed and do not wait for a device */
    waiting_worker *idle;      /* may not start a task yet; who came last is first */
    waiting_worker *returning; /* have waited for a device; who came first is first */
    waiting_worker **returning_end;

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

/* Whether one more image may be computed, as far as those go that are being computed. */
static bool has_place(const batch *b)
{
    return b->computed < b->images_at_once;
}

/* Whether a task may start now: images that have waited for a device go first. */
static bool may_start(const batch *b)
{
    return !has_ended(b) && has_place(b) && b->returning == NULL &&
           b->started < b->reported + b->room;
}

/* Counts one image more, and returns its task. */
static size_t start(batch *b)
{
    b->computed++;
    return b->started++;
}

static void call(waiting_worker *worker)
{
    worker->called = true;
    pthread_cond_signal(&worker->call);
}

static void await_call(batch *b, waiting_worker *self)
{
    while (!self->called)
        pthread_cond_wait(&self->call, &b->lock);
    pthread_cond_destroy(&self->call);
}

/* Gives free places to images that have waited for a device. */
static void call_returning(batch *b)
{
    while (has_place(b) && b->returning != NULL) {
        waiting_worker *worker = b->returning;
        b->returning = worker->next;
        if (b->returning == NULL)
            b->returning_end = &b->returning;
        b->computed++;
        call(worker);
    }
}

/* Gives free places to idle workers. Where no task is left, all of them are called to end. */
static void call_idle(batch *b)
{
    while (b->idle != NULL && (has_ended(b) || may_start(b))) {
        waiting_worker *worker = b->idle;
        b->idle = worker->next;
        worker->task = has_ended(b) ? b->list->count : start(b);
        call(worker);
    }
}

/* Finds a task for the calling worker. Waits while too many results wait, and while as many images
 * as may be are being computed. False: no task is left. */
static bool take_task(batch *b, size_t *task)
{
    if (may_start(b)) {
        *task = start(b);
    } else if (has_ended(b)) {
        *task = b->list->count;
    } else {
        waiting_worker self = {.call = PTHREAD_COND_INITIALIZER, .next = b->idle};
        b->idle = &self;
        await_call(b, &self);
        *task = self.task;
    }
    call_idle(b);
    return *task < b->list->count;
}

/* Waits for a place for an image that has waited for a device. */
static void return_to_place(batch *b)
{
    if (has_place(b) && b->returning == NULL) {
        b->computed++;
        return;
    }
    waiting_worker self = {.call = PTHREAD_COND_INITIALIZER};
    *b->returning_end = &self;
    b->returning_end = &self.next;
    await_call(b, &self);
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

/* Creates a worker where an image may start, nobody is idle, and one more worker may be there. */
static void add_worker(batch *b)
{
    if (b->idle == NULL && may_start(b) && b->created + 1 < count_workers_allowed(b) &&
        pthread_create(&b->threads[b->created], NULL, work, b) == 0)
        b->created++;
}

/* A gconv_wait_function: while an image waits for a device, another one is computed. After that it
 * waits until it may be computed again, before images that have not begun. */
static void note_wait(void *user, bool waits)
{
    batch *b = user;
    pthread_mutex_lock(&b->lock);
    if (waits) {
        b->computed--;
        call_returning(b);
        call_idle(b);
        add_worker(b);
    } else {
        return_to_place(b);
    }
    pthread_mutex_unlock(&b->lock);
}

static void *work(void *user)
{
    batch *b = user;
    gc_worker worker = {.session = b->session,
                        .gate = b->gate,
                        .image_count = b->list->count,
                        .images_at_once = b->images_at_once,
                        .directories = b->list->batch ? b->directories : NULL,
                        .image_done = b->list->batch ? NULL : gc_several_reports_take,
                        .image_user = &b->several,
                        .waits = b->images_at_once > 1 ? note_wait : NULL,
                        .waits_user = b};
    pthread_mutex_lock(&b->lock);
    for (size_t task; take_task(b, &task);) {
        worker.images_left = b->list->count - b->reported;
        pthread_mutex_unlock(&b->lock);
        gc_result result;
        process_task(b, &worker, &b->list->tasks[task], &result);
        pthread_mutex_lock(&b->lock);
        b->computed--;
        if (result.outcome == GC_OUTCOME_BARRED) {
            gc_result_destroy(&result);
            b->started = b->list->count;
        } else {
            b->results[task % b->room] = result;
            b->waits[task % b->room] = true;
            report_ready(b);
        }
        call_returning(b);
    }
    pthread_mutex_unlock(&b->lock);
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

static void create_workers(batch *b)
{
    pthread_mutex_lock(&b->lock);
    while (b->created < b->images_at_once - 1 &&
           pthread_create(&b->threads[b->created], NULL, work, b) == 0)
        b->created++;
    pthread_mutex_unlock(&b->lock);
}

/* Waits for every worker. Those that still work may create more. */
static void join_workers(batch *b)
{
    pthread_mutex_lock(&b->lock);
    for (int i = 0; i < b->created; i++) {
        pthread_t thread = b->threads[i];
        pthread_mutex_unlock(&b->lock);
        pthread_join(thread, NULL);
        pthread_mutex_lock(&b->lock);
    }
    pthread_mutex_unlock(&b->lock);
}

static void run_workers(batch *b)
{
    create_workers(b);
    work(b);
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
