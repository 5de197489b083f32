/* Collisions of names (contract.md, rules 51 and 87): a task is compared with those before it,
 * and with images beside its input. */
#pragma once

#include "base/buffer.h"
#include "base/map.h"
#include "cli/options/options.h"
#include "cli/tasks/names.h"
#include "cli/tasks/neighbours.h"
#include "cli/tasks/tasks.h"
#include "gconv.h"

/* The names of the tasks so far. */
typedef struct gc_taken_names {
    const gc_options *options;
    const gc_task *tasks; /* all tasks, if they are known; they are numbered from 1 */
    gc_buffer names; /* else of their inputs, one behind the other; a number is a place, from 1 */
    gc_neighbours neighbours;
    gc_map inputs, outputs; /* the numbers of the tasks that have them */
    gc_hash journal;        /* the path of --journal, if there is one */
    bool no_linked_outputs; /* the output directory was empty: no output is a link */
    gc_identity_cache of_inputs, of_outputs; /* the directories that were looked up last */
} gc_taken_names;

/* Begins with the tasks of a whole list, or with NULL. */
void gc_taken_begin(gc_taken_names *names, const gc_options *options, const gc_task *tasks);

/* Notes the names of the next task. Refuses it if they collide with earlier ones. */
void gc_taken_add(gc_taken_names *names, gc_task *task);

void gc_taken_free(gc_taken_names *names);

/* Refuses a list in which names collide. */
gconv_status gc_refuse_collisions(const gc_options *options, const gc_task_list *list,
                                  gconv_error *error);

/* Collisions that are told together. */
typedef struct gc_collisions {
    size_t count;
    gconv_error examples[2];
} gc_collisions;

void gc_collisions_add(gc_collisions *collisions, const char *message);

/* Tells how many there are, with examples. GCONV_OK if there are none. */
gconv_status gc_collisions_tell(const gc_collisions *collisions, gconv_error *error);
