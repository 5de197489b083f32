/* The gate of a command: a check that is made once, before the first output is touched. Meanwhile
 * the first inputs are read. The check of `filter` and `edges` is `enter` in commands/images.c. It
 * checks the job and the devices that the user named, and makes the directory of -o. */
#ifndef GC_CLI_IMAGE_GATE_H
#define GC_CLI_IMAGE_GATE_H

#include "gconv.h"

#include <pthread.h>
#include <stdatomic.h>

typedef gconv_status gc_gate_function(void *user, gconv_error *error);

typedef struct gc_gate {
    gc_gate_function *check;
    void *user;
    pthread_mutex_t lock;
    atomic_bool passed; /* `check` has returned; status and error do not change any more */
    gconv_status status;
    gconv_error error;
} gc_gate;

void gc_gate_create(gc_gate *gate, gc_gate_function *check, void *user);
void gc_gate_destroy(gc_gate *gate);

/* Calls `check` where nobody has yet, and returns what it returned. Any thread. */
gconv_status gc_gate_pass(gc_gate *gate, gconv_error *error);

/* Whether gc_gate_pass waits for nothing. */
bool gc_gate_is_passed(gc_gate *gate);

#endif
