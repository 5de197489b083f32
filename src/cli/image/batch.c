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

typedef struct batch {
    const gc_session *session;
    const gc_task_list *list;
    gc_directories *directories;
    gc_report_function *report;
    void *user;
    int workers; /* images that are computed at one time */
    pthread_mutex_t lock;
    pthread_cond_t reported_more;
    size_t started, reported; /* tasks */

    /* Results are reported in the order of the tasks. One that is there early waits in a ring of
     * `room` entries: task i has entry i % room. No task is started that has no entry. */
    size_t room;
    gc_result *results;
    bool *waits;                /* whether the entry holds a result */
    gc_several_reports several; /* of the only task, where its input is a stream of images */
} batch;

/* Whether this thread may take another task now; waits while too many results wait. */
static bool may_start(batch *b)
{
    while (b->started < b->list->count && b->started >= b->reported + b->room)
        pthread_cond_wait(&b->reported_more, &b->lock);
    return b->started < b->list->count;
}

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
    pthread_cond_broadcast(&b->reported_more);
}

/* Processes a task. Where several are processed at one time, notes wait in the result. */
static void process_task(batch *b, gc_worker *worker, const gc_task *task, gc_result *result)
{
    char *notes = NULL;
    size_t size;
    worker->notes = b->workers > 1 ? open_memstream(&notes, &size) : NULL;
    gc_process(worker, task, result);
    if (worker->notes != NULL && fclose(worker->notes) != 0) {
        free(notes);
        notes = NULL;
    }
    result->notes = notes;
    gc_tally_add(result->outcome == GC_OUTCOME_FAILED, result->outcome == GC_OUTCOME_SKIPPED);
    if (!b->list->batch)
        gc_several_reports_end(&b->several, task, result);
}

static void *work(void *user)
{
    batch *b = user;
    gc_worker worker = {.session = b->session,
                        .image_count = b->list->count,
                        .images_at_once = b->workers,
                        .directories = b->list->batch ? b->directories : NULL,
                        .image_done = b->list->batch ? NULL : gc_several_reports_take,
                        .image_user = &b->several};
    pthread_mutex_lock(&b->lock);
    while (may_start(b)) {
        size_t task = b->started++;
        worker.images_left = b->list->count - b->reported;
        pthread_mutex_unlock(&b->lock);
        gc_result result;
        process_task(b, &worker, &b->list->tasks[task], &result);
        pthread_mutex_lock(&b->lock);
        b->results[task % b->room] = result;
        b->waits[task % b->room] = true;
        report_ready(b);
    }
    pthread_mutex_unlock(&b->lock);
    gc_kept_plan_free(&worker.kept);
    return NULL;
}

/* How many images are computed at one time. Tasks do not depend on each other: gc_task_list_create
 * refuses an output that is another task's input. With --explain images are computed one by one,
 * since it explains plans with all threads. */
static int choose_workers(const gc_session *session, const gc_task_list *list)
{
    int threads = gc_thread_count(session->job.threads);
    if (list->count < 2 || threads < 2 || session->options->explain)
        return 1;
    int workers = threads < WORKERS_MAX ? threads : WORKERS_MAX;
    return list->count < (size_t)workers ? (int)list->count : workers;
}

static void run_workers(batch *b)
{
    pthread_t threads[WORKERS_MAX];
    int created = 0;
    while (created < b->workers - 1 && pthread_create(&threads[created], NULL, work, b) == 0)
        created++;
    work(b);
    while (created > 0)
        pthread_join(threads[--created], NULL);
}

gconv_status gc_batch_run(const gc_session *session, const gc_task_list *list,
                          gc_directories *directories, gc_report_function *report, void *user,
                          gconv_error *error)
{
    size_t room = list->count < RESULTS_MAX ? list->count : RESULTS_MAX;
    batch b = {.session = session,
               .list = list,
               .directories = directories,
               .report = report,
               .user = user,
               .workers = choose_workers(session, list),
               .lock = PTHREAD_MUTEX_INITIALIZER,
               .reported_more = PTHREAD_COND_INITIALIZER,
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
    return status;
}
