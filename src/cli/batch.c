#include "cli/batch.h"

#include "base/place.h"
#include "base/processors.h"
#include "base/status.h"
#include "cli/messages.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORKERS_MAX = 256,
    RESULTS_MAX = 4 * WORKERS_MAX /* that wait for an earlier one */
};

typedef struct batch {
    const gc_session *session;
    const gc_task_list *list;
    gc_report_function *report;
    void *user;
    int workers; /* images that are worked on at one time */
    pthread_mutex_t lock;
    pthread_cond_t reported_more;
    size_t started, reported; /* tasks */
    size_t room;              /* results that may wait */
    gc_result *results;       /* of task i at i % room */
    bool *waits;              /* whether there is a result to report */
    bool whole;               /* the images of a stream are not out before the last one is */
    gc_result *kept;          /* what became of these */
    size_t kept_count, kept_room;
} batch;

/* Whether this thread may take another task now; waits while too many results do. */
static bool may_start(batch *b)
{
    while (b->started < b->list->count && b->started >= b->reported + b->room)
        pthread_cond_wait(&b->reported_more, &b->lock);
    return b->started < b->list->count;
}

/* Reports what is next in the order of the tasks, as far as it is there. */
static void report_ready(batch *b)
{
    size_t slot = b->reported % b->room;
    while (b->waits[slot]) {
        b->report(b->user, &b->list->tasks[b->reported], &b->results[slot]);
        gc_result_destroy(&b->results[slot]);
        b->waits[slot] = false;
        slot = ++b->reported % b->room;
    }
    pthread_cond_broadcast(&b->reported_more);
}

/* ---- Images of a stream ---------------------------------------------------------------------- */

/* Whether an output is out as it is written, so that each image of a stream is. */
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

/* Whether anything is said of an image that is done. */
static bool tells_of_images(const gc_options *options)
{
    return options->json || options->verbose || options->timings || options->explain ||
           options->verify;
}

static gconv_status keep(batch *b, gc_result *result, gconv_error *error)
{
    if (b->kept_count == b->kept_room) {
        size_t kept_room = b->kept_room > 0 ? 2 * b->kept_room : 16;
        gc_result *longer = realloc(b->kept, kept_room * sizeof *longer);
        if (longer == NULL) {
            gc_result_destroy(result);
            return gc_fail_memory(error, kept_room * sizeof *longer);
        }
        b->kept = longer;
        b->kept_room = kept_room;
    }
    b->kept[b->kept_count++] = *result;
    return GCONV_OK;
}

/* Reports an image of a stream, the only task, or keeps what became of it until its output is out. */
static gconv_status take_image(void *user, const gc_task *task, gc_result *result,
                               gconv_error *error)
{
    batch *b = user;
    if (b->whole)
        gc_tally_stream("computed, none written", false);
    else
        gc_tally_stream("done", true);
    gc_tally_add(false, false);
    if (b->whole && tells_of_images(b->session->options))
        return keep(b, result, error);
    b->report(b->user, task, result);
    gc_result_destroy(result);
    return GCONV_OK;
}

/* Reports what was kept, now that it is known what became of the output. */
static void report_kept(batch *b, const gc_task *task, const gc_result *last)
{
    for (size_t i = 0; i < b->kept_count; i++) {
        gc_result *result = &b->kept[i];
        if (last->outcome == GC_OUTCOME_FAILED || last->outcome == GC_OUTCOME_SKIPPED)
            result->outcome = last->outcome;
        if (last->outcome == GC_OUTCOME_FAILED) {
            gc_fail(&result->error, last->error.status, "not written, because image %zu failed",
                    last->image);
            result->blamed = NULL;
        }
        b->report(b->user, task, result);
        gc_result_destroy(result);
    }
    free(b->kept);
    b->kept = NULL;
    b->kept_count = 0;
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

static void process_task(const batch *b, gc_session *session, size_t task, gc_result *result)
{
    char *notes = NULL;
    size_t size;
    session->notes = b->workers > 1 ? open_memstream(&notes, &size) : NULL;
    gc_process(session, &b->list->tasks[task], b->list->batch, result);
    if (session->notes != NULL && fclose(session->notes) != 0) {
        free(notes);
        notes = NULL;
    }
    result->notes = notes;
}

static void *work(void *user)
{
    batch *b = user;
    gc_session session = *b->session;
    session.images_at_once = b->workers;
    session.image_done = b->list->batch ? NULL : take_image;
    session.image_user = b;
    session.image_count = b->list->count;
    pthread_mutex_lock(&b->lock);
    while (may_start(b)) {
        size_t task = b->started++;
        session.image = b->reported;
        pthread_mutex_unlock(&b->lock);
        gc_result result;
        process_task(b, &session, task, &result);
        gc_tally_add(result.outcome == GC_OUTCOME_FAILED, result.outcome == GC_OUTCOME_SKIPPED);
        if (b->whole)
            report_kept(b, &b->list->tasks[task], &result);
        pthread_mutex_lock(&b->lock);
        b->results[task % b->room] = result;
        b->waits[task % b->room] = true;
        report_ready(b);
    }
    pthread_mutex_unlock(&b->lock);
    gconv_plan_free(session.plan);
    return NULL;
}

/* How many images are worked on at one time: gc_task_list_create has seen to it that none reads what
 * another one writes. An explanation tells of one that has all threads. */
static int choose_workers(const gc_session *session, const gc_task_list *list)
{
    int threads = gc_thread_count(session->options->threads);
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
                          gc_report_function *report, void *user, gconv_error *error)
{
    size_t room = list->count < RESULTS_MAX ? list->count : RESULTS_MAX;
    batch b = {.session = session,
               .list = list,
               .report = report,
               .user = user,
               .workers = choose_workers(session, list),
               .lock = PTHREAD_MUTEX_INITIALIZER,
               .reported_more = PTHREAD_COND_INITIALIZER,
               .room = room,
               .results = calloc(room, sizeof *b.results),
               .waits = calloc(room, sizeof *b.waits),
               .whole = !list->batch && !is_direct(list->tasks[0].output)};
    gconv_status status = GCONV_OK;
    if (b.results != NULL && b.waits != NULL)
        run_workers(&b);
    else if (room > 0)
        status = gc_fail_memory(error, room * sizeof *b.results);
    free(b.results);
    free(b.waits);
    return status;
}
