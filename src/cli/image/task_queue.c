#include "cli/image/task_queue.h"

#include "base/status.h"
#include "cli/tasks/tasks.h"

#include <stdlib.h>

/* The rings have `room` entries: task i has entry i % room. */
struct gc_task_queue {
    const gc_task_list *list;
    gc_report_function *report;
    void *user;
    size_t room;
    size_t started, reported; /* tasks */
    bool stops;               /* no further task is started */

    /* The tasks of a list are known from the beginning. Those of a stream are kept in a ring. */
    size_t known;
    bool all_known;
    gc_task *read;               /* the ring; NULL without a stream */
    bool reader_waits;           /* the reader waits until half of the ring is free */
    pthread_cond_t has_reported; /* half of the ring is free, or the queue stops */

    /* Results that come before their turn wait in a ring. */
    gc_result *results;
    bool *waits; /* whether the entry holds a result */
};

gconv_status gc_task_queue_create(const gc_task_list *list, size_t room_max,
                                  gc_report_function *report, void *user, gc_task_queue **queue,
                                  gconv_error *error)
{
    bool streams = list->stream != NULL || list->source != NULL;
    size_t count = list->count > 0 ? list->count : 1; /* an empty ring has one entry */
    size_t room = streams || count > room_max ? room_max : count;
    gc_task_queue *q = malloc(sizeof *q);
    *queue = q;
    GC_TRY_MEMORY(q != NULL, error, sizeof *q);
    *q = (gc_task_queue){.list = list,
                         .report = report,
                         .user = user,
                         .room = room,
                         .known = streams ? 0 : list->count,
                         .all_known = !streams,
                         .read = streams ? calloc(room, sizeof *q->read) : NULL,
                         .has_reported = PTHREAD_COND_INITIALIZER,
                         .results = calloc(room, sizeof *q->results),
                         .waits = calloc(room, sizeof *q->waits)};
    if (q->results == NULL || q->waits == NULL || (streams && q->read == NULL))
        return gc_fail_memory(error, room * sizeof *q->results);
    return GCONV_OK;
}

void gc_task_queue_free(gc_task_queue *q)
{
    if (q == NULL)
        return;
    for (size_t i = q->reported; q->read != NULL && i < q->known; i++)
        gc_task_destroy(&q->read[i % q->room]);
    free(q->read);
    free(q->results);
    free(q->waits);
    free(q);
}

/* ---- What comes next ------------------------------------------------------------------------- */

static bool has_room(const gc_task_queue *q, size_t number)
{
    return number < q->reported + q->room;
}

bool gc_task_queue_has_ended(const gc_task_queue *q)
{
    return q->stops || (q->all_known && q->started >= q->known);
}

bool gc_task_queue_has_next(const gc_task_queue *q)
{
    return !q->stops && q->started < q->known && has_room(q, q->started);
}

size_t gc_task_queue_start(gc_task_queue *q)
{
    return q->started++;
}

const gc_task *gc_task_queue_at(const gc_task_queue *q, size_t number)
{
    return q->read != NULL ? &q->read[number % q->room] : &q->list->tasks[number];
}

size_t gc_task_queue_images_left(const gc_task_queue *q)
{
    const gc_task_source *source = q->list->source;
    return source != NULL ? source->left(source->user) : q->known - q->reported;
}

void gc_task_queue_stop(gc_task_queue *q)
{
    q->stops = true;
    if (q->list->stream != NULL)
        gc_task_stream_stop(q->list->stream);
    pthread_cond_signal(&q->has_reported);
}

/* ---- Tasks of a stream or a source ----------------------------------------------------------- */

bool gc_task_queue_is_read(const gc_task_queue *q)
{
    return q->read != NULL;
}

bool gc_task_queue_read(gc_task_queue *q, gc_task *task)
{
    const gc_task_source *source = q->list->source;
    return source != NULL ? source->next(source->user, task)
                          : gc_task_stream_next(q->list->stream, task);
}

/* Keeps a task in the ring, or notes the end of the stream if `task` is NULL. */
static void note_task(gc_task_queue *q, const gc_task *task)
{
    if (task != NULL)
        q->read[q->known++ % q->room] = *task;
    else
        q->all_known = true;
}

bool gc_task_queue_add(gc_task_queue *q, gc_task *task, pthread_mutex_t *lock)
{
    q->reader_waits = !has_room(q, q->known);
    while (task != NULL && !q->stops && q->reader_waits)
        pthread_cond_wait(&q->has_reported, lock);
    bool more = task != NULL && !q->stops;
    if (task != NULL && !more)
        gc_task_destroy(task);
    note_task(q, more ? task : NULL);
    return more;
}

void gc_task_queue_read_if_needed(gc_task_queue *q)
{
    gc_task task;
    bool needs = q->read != NULL && !gc_task_queue_has_ended(q) && q->started == q->known;
    if (needs && has_room(q, q->known))
        note_task(q, gc_task_queue_read(q, &task) ? &task : NULL);
}

/* ---- Results --------------------------------------------------------------------------------- */

/* Reports the results whose turn it is, in the order of the tasks, up to the first that lacks. */
static void report_ready(gc_task_queue *q)
{
    size_t entry = q->reported % q->room;
    while (q->waits[entry]) {
        if (q->list->source == NULL)
            q->report(q->user, gc_task_queue_at(q, q->reported), &q->results[entry]);
        gc_result_destroy(&q->results[entry]);
        if (q->read != NULL)
            gc_task_destroy(&q->read[entry]);
        q->waits[entry] = false;
        entry = ++q->reported % q->room;
    }
    /* If it were called for each free entry, the reader would interrupt the workers each time. */
    if (q->reader_waits && q->known <= q->reported + q->room / 2) {
        q->reader_waits = false;
        pthread_cond_signal(&q->has_reported);
    }
}

void gc_task_queue_finish(gc_task_queue *q, size_t number, gc_result *result)
{
    size_t entry = number % q->room;
    if (q->list->source != NULL)
        q->report(q->user, gc_task_queue_at(q, number), result);
    q->results[entry] = *result;
    q->waits[entry] = true;
    report_ready(q);
}
