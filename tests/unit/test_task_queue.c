/* The tasks of a batch in their order: what comes next, reading ahead, and results that are done
 * out of order. */
#include "unit.h"

#include "cli/image/task_queue.h"

enum { ROOM = 4, TASKS = 30 };

/* Names of the tasks that were reported. */
typedef struct reports {
    char names[TASKS][8];
    int count;
} reports;

static void take(void *user, const gc_task *task, const gc_result *result)
{
    reports *r = user;
    assert_int_equal(result->outcome, GC_OUTCOME_DONE);
    assert_true(r->count < TASKS);
    snprintf(r->names[r->count++], sizeof r->names[0], "%s", task->input);
}

static gc_task make_task(int number)
{
    char name[8];
    snprintf(name, sizeof name, "%d", number);
    return (gc_task){.input = strdup(name), .output = strdup("out")};
}

static gc_task_queue *make_queue(const gc_task_list *list, reports *r)
{
    gc_task_queue *queue;
    assert_ok(gc_task_queue_create(list, ROOM, take, r, &queue, NULL));
    return queue;
}

static void finish(gc_task_queue *queue, size_t number)
{
    gc_result result = {.outcome = GC_OUTCOME_DONE, .explanation = strdup("why")};
    gc_task_queue_finish(queue, number, &result);
}

static void assert_in_order(const reports *r, int count)
{
    assert_int_equal(r->count, count);
    for (int i = 0; i < count; i++)
        assert_int_equal(atoi(r->names[i]), i);
}

/* ---- A list ---------------------------------------------------------------------------------- */

TEST(results_are_reported_in_order)
{
    gc_task_list list = {.tasks = NULL};
    reports r = {.count = 0};
    for (int i = 0; i < 6; i++)
        assert_ok(gc_task_list_add(&list, make_task(i), NULL));
    gc_task_queue *queue = make_queue(&list, &r);
    assert_false(gc_task_queue_is_read(queue));
    for (size_t i = 0; i < ROOM; i++) {
        assert_true(gc_task_queue_has_next(queue));
        assert_int_equal(gc_task_queue_start(queue), i);
    }
    assert_false(gc_task_queue_has_next(queue)); /* the fifth one has no room */
    assert_false(gc_task_queue_has_ended(queue));
    finish(queue, 2);
    finish(queue, 1);
    assert_in_order(&r, 0);
    assert_int_equal(gc_task_queue_images_left(queue), 6);
    finish(queue, 0);
    assert_in_order(&r, 3);
    assert_int_equal(gc_task_queue_images_left(queue), 3);
    assert_int_equal(gc_task_queue_start(queue), 4);
    assert_int_equal(gc_task_queue_start(queue), 5);
    assert_false(gc_task_queue_has_next(queue));
    assert_true(gc_task_queue_has_ended(queue));
    finish(queue, 5);
    finish(queue, 4);
    assert_in_order(&r, 3);
    finish(queue, 3);
    assert_in_order(&r, 6);
    gc_task_queue_free(queue);
    gc_task_list_clear(&list);
}

TEST(no_task_starts_after_a_stop)
{
    gc_task_list list = {.tasks = NULL};
    reports r = {.count = 0};
    for (int i = 0; i < 3; i++)
        assert_ok(gc_task_list_add(&list, make_task(i), NULL));
    gc_task_queue *queue = make_queue(&list, &r);
    assert_int_equal(gc_task_queue_start(queue), 0);
    gc_task_queue_stop(queue);
    assert_false(gc_task_queue_has_next(queue));
    assert_true(gc_task_queue_has_ended(queue));
    finish(queue, 0);
    assert_in_order(&r, 1);
    gc_task_queue_free(queue);
    gc_task_list_clear(&list);
}

TEST(an_empty_list_has_ended)
{
    const gc_task_list list = {.tasks = NULL};
    reports r = {.count = 0};
    gc_task_queue *queue = make_queue(&list, &r);
    assert_false(gc_task_queue_has_next(queue));
    assert_true(gc_task_queue_has_ended(queue));
    gc_task_queue_free(queue);
}

/* ---- A source -------------------------------------------------------------------------------- */

static bool next(void *user, gc_task *task)
{
    int *number = user;
    if (*number == TASKS)
        return false;
    *task = make_task((*number)++);
    return true;
}

static size_t left(void *user)
{
    const int *number = user;
    return (size_t)(TASKS - *number);
}

TEST(a_source_is_read_when_needed)
{
    int number = 0;
    reports r = {.count = 0};
    const gc_task_source source = {next, left, &number};
    const gc_task_list list = {.source = &source};
    gc_task_queue *queue = make_queue(&list, &r);
    assert_true(gc_task_queue_is_read(queue));
    assert_false(gc_task_queue_has_next(queue));
    gc_task_queue_read_if_needed(queue);
    gc_task_queue_read_if_needed(queue); /* one is known that has not started */
    assert_int_equal(number, 1);
    assert_int_equal(gc_task_queue_images_left(queue), TASKS - 1);
    assert_int_equal(gc_task_queue_start(queue), 0);
    gc_task_queue_read_if_needed(queue);
    assert_int_equal(gc_task_queue_start(queue), 1);
    assert_string_equal(gc_task_queue_at(queue, 1)->input, "1");
    finish(queue, 1); /* told at once: the other process keeps the order */
    assert_int_equal(r.count, 1);
    assert_string_equal(r.names[0], "1");
    for (int i = 2; i < TASKS; i++) {
        gc_task_queue_read_if_needed(queue);
        if (i < ROOM)
            assert_int_equal(gc_task_queue_start(queue), i);
    }
    assert_int_equal(number, ROOM); /* the first task is not done */
    finish(queue, 0);
    gc_task_queue_read_if_needed(queue);
    assert_int_equal(number, ROOM + 1);
    gc_task_queue_free(queue); /* with three tasks that are not done */
}

/* A thread that reads ahead. */
typedef struct reader {
    gc_task_queue *queue;
    pthread_mutex_t lock;
    pthread_cond_t added;
    int count;
    bool ended;
} reader;

static void *read_ahead(void *user)
{
    reader *a = user;
    bool more = true;
    while (more) {
        gc_task task;
        more = gc_task_queue_read(a->queue, &task);
        pthread_mutex_lock(&a->lock);
        more = gc_task_queue_add(a->queue, more ? &task : NULL, &a->lock);
        a->count += more;
        a->ended = !more;
        pthread_cond_signal(&a->added);
        pthread_mutex_unlock(&a->lock);
    }
    return NULL;
}

/* Takes tasks in pairs, and finishes the second one first. With `stop_after` it stops then, while
 * the reader waits. */
static void read_by_thread(int stop_after)
{
    int number = 0;
    reports r = {.count = 0};
    const gc_task_source source = {next, left, &number};
    const gc_task_list list = {.source = &source};
    reader a = {.queue = make_queue(&list, &r),
                .lock = PTHREAD_MUTEX_INITIALIZER,
                .added = PTHREAD_COND_INITIALIZER};
    pthread_t thread;
    pthread_mutex_lock(&a.lock);
    assert_int_equal(pthread_create(&thread, NULL, read_ahead, &a), 0);
    int done = 0;
    for (; done < stop_after; done += 2) {
        while (a.count < done + 2)
            pthread_cond_wait(&a.added, &a.lock);
        size_t first = gc_task_queue_start(a.queue), second = gc_task_queue_start(a.queue);
        assert_int_equal(first, done);
        assert_true(a.count <= done + ROOM);
        finish(a.queue, second);
        finish(a.queue, first);
    }
    if (stop_after < TASKS)
        gc_task_queue_stop(a.queue);
    while (!a.ended)
        pthread_cond_wait(&a.added, &a.lock);
    assert_true(gc_task_queue_has_ended(a.queue));
    assert_int_equal(r.count, stop_after);
    pthread_mutex_unlock(&a.lock);
    assert_int_equal(pthread_join(thread, NULL), 0);
    gc_task_queue_free(a.queue);
}

TEST(a_thread_reads_ahead)
{
    read_by_thread(TASKS);
}

TEST(a_stop_ends_the_reader)
{
    read_by_thread(0);
    read_by_thread(10);
}
