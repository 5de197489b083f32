/* The tasks of a batch in their order: which one comes next, those of a stream that are read ahead,
 * and the results that wait until all results before them are reported.
 *
 *             reported           started           known
 *     ------------|------------------|----------------|---------------> tasks
 *       reported  | computed, or     | may start as   | a stream: not
 *                 | done and waiting | room allows    | read yet
 *
 * At most `room` tasks are started, or read from a stream, beyond those that are reported.
 *
 * A queue belongs to a batch and has no lock of its own: the batch's lock guards it. A thread holds
 * this lock when it calls a function here; what needs no lock says so. */
#pragma once

#include "cli/image/image.h"

#include <pthread.h>

typedef struct gc_task_queue gc_task_queue;

/* A queue of the tasks of `list`. At most `room_max` of them are started and not reported. `report`
 * gets each result once, in the order of the tasks. It gets results of list->source at once. Needs
 * no lock: no other thread has the queue yet. A queue is freed after a failure, too. */
gconv_status gc_task_queue_create(const gc_task_list *list, size_t room_max,
                                  gc_report_function *report, void *user, gc_task_queue **queue,
                                  gconv_error *error);

/* Frees the queue, and the tasks that were read and not reported. Needs no lock: all threads that
 * had the queue have ended. NULL is allowed. */
void gc_task_queue_free(gc_task_queue *queue);

/* ---- What comes next ------------------------------------------------------------------------- */

/* Whether a task may start now: it is known, and there is room for its result. */
bool gc_task_queue_has_next(const gc_task_queue *queue);

/* Starts the next task and returns its number. There has to be one. */
size_t gc_task_queue_start(gc_task_queue *queue);

/* A task that was started, valid until its result is stored. The task itself does not change, and
 * is read without the lock. */
const gc_task *gc_task_queue_at(const gc_task_queue *queue, size_t number);

/* Images that are not reported yet, as far as that is known. */
size_t gc_task_queue_images_left(const gc_task_queue *queue);

/* Starts no further task. Those that are started go on, and their results are reported. */
void gc_task_queue_stop(gc_task_queue *queue);

/* Whether no further task will start. */
bool gc_task_queue_has_ended(const gc_task_queue *queue);

/* ---- Tasks of a stream or a source ----------------------------------------------------------- */

/* Whether there are any: then one thread may read them ahead, by gc_task_queue_read and
 * gc_task_queue_add in turn. */
bool gc_task_queue_is_read(const gc_task_queue *queue);

/* Reads a task, and waits for it. False at the end. Needs no lock. One thread at a time. */
bool gc_task_queue_read(gc_task_queue *queue, gc_task *task);

/* Adds a task that was read, and owns it; NULL: the end. Waits until there is room, and gives up
 * `lock`, the batch's, meanwhile. False if no further task is wanted. */
bool gc_task_queue_add(gc_task_queue *queue, gc_task *task, pthread_mutex_t *lock);

/* Reads a task and adds it, if all that are known are started and there is room. For batches
 * without a thread that reads ahead. Keeps the lock while it waits for the task. */
void gc_task_queue_read_if_needed(gc_task_queue *queue);

/* ---- Results --------------------------------------------------------------------------------- */

/* Stores the result of a task that was started, and owns it. Reports all results that are next. */
void gc_task_queue_finish(gc_task_queue *queue, size_t number, gc_result *result);
