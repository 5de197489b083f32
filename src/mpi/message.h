/* A message from one rank to another: numbers and texts, which are taken in the order in which they
 * were put. */
#pragma once

#include "base/buffer.h"
#include "cli/image/image.h"

/* Kinds of messages, which are tags of MPI. */
typedef enum gc_message_kind {
    /* From rank 0 */
    GC_MESSAGE_TASK = 1, /* a token, images left, task, line of the journal */
    GC_MESSAGE_RESULTS,  /* entries of gc_journal_results, before the first task */
    GC_MESSAGE_ANSWER,   /* to an intent: its token, status and message of an error */
    GC_MESSAGE_END,      /* no task follows */
    /* To rank 0 */
    GC_MESSAGE_RESULT, /* the task's token, line for the journal, lost devices, result */
    GC_MESSAGE_INTENT, /* a token, a line for the journal that has to be on the disk */
    GC_MESSAGE_BYE     /* no message follows */
} gc_message_kind;

typedef struct gc_message {
    gc_buffer bytes; /* owned */
    size_t at;       /* bytes before this one were taken */
    bool failed;     /* more was taken than there is */
} gc_message;

void gc_message_put_number(gc_message *message, uint64_t number);

/* NULL is put as "". */
void gc_message_put_text(gc_message *message, const char *text);

/* 0 if nothing is left. */
uint64_t gc_message_take_number(gc_message *message);

/* "" if nothing is left. The text lies in the message. */
const char *gc_message_take_text(gc_message *message);

void gc_message_free(gc_message *message);

void gc_message_put_task(gc_message *message, const gc_task *task);

/* The texts of the task are its own; NULL if memory is out. */
void gc_message_take_task(gc_message *message, gc_task *task);

/* Puts what rank 0 counts of a result, and what it prints: `said` on standard error, `json` on
 * standard output. */
void gc_message_put_result(gc_message *message, const gc_result *result, const char *said,
                           const char *json);

/* Takes a result that needs nothing but printing. */
void gc_message_take_result(gc_message *message, gc_result *result);
