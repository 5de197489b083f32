/* Tasks: which file is read, which one is written, and in which format. */
#pragma once

#include "cli/options/options.h"

#include <sys/stat.h>

/* One input and its output. */
typedef struct gc_task {
    char *input;         /* a path, or "-" */
    char *output;        /* a path, or "-" */
    gconv_format format; /* of the output; GCONV_FORMAT_UNKNOWN: the input's own */
    bool either_pnm;     /* the format is PGM if the result is grey, else PPM */
    bool is_plain;       /* the input is known to be no symbolic link */
    bool is_alone;       /* the input is a file that was named; images beside it need not be */
    /* An errno if reading the operands showed that the input cannot be read; else 0. The task then
     * fails when its turn comes, not before. */
    int unlisted;  /* `input` is a directory that could not be listed */
    int unknown;   /* `input` could not be looked into */
    char *refused; /* why the task fails, whatever its files are; NULL: it does not */
    bool collides; /* `refused`: its names collide with those of an earlier task, */
    bool repeated; /* which has the same input and output */
    bool is_list;  /* `input` is the list of --files-from, which cannot be read: no image */
} gc_task;

/* A task with copies of these names, which are NULL if memory is out. `output` may be NULL: the
 * caller sets it. */
gc_task gc_task_make(const char *input, const char *output);

void gc_task_destroy(gc_task *task);

/* Whether reading the operands showed that the task fails. */
bool gc_task_is_doomed(const gc_task *task);

/* Tasks that another process hands out. */
typedef struct gc_task_source {
    /* Takes the next task; waits for it. False at the end. One thread at a time. */
    bool (*next)(void *user, gc_task *task);
    /* How many images are left, about. Any thread. */
    size_t (*left)(void *user);
    void *user;
} gc_task_source;

enum { GC_IMAGES_NAMED = 10, GC_IMAGES_SHOWN = 3, GC_IMAGES_BYTES = 1900 };

/* How many images have something in common. */
typedef struct gc_images {
    size_t count;
    char *names[GC_IMAGES_NAMED]; /* of the first ones, owned; NULL if memory is out */
} gc_images;

void gc_images_count(gc_images *images, const char *name);
void gc_images_free(gc_images *images);

/* "failed: a.png, b.png and 3 more", for `before` "failed: ": `most` names or fewer. Of a long name
 * the end tells most. */
const char *gc_images_list(const char *before, const gc_images *images, size_t most,
                           char text[GC_IMAGES_BYTES]);

typedef struct gc_task_list {
    gc_task *tasks;
    size_t count, capacity;
    gc_images foreign;             /* of formats that gconv does not read, in directories */
    struct gc_task_stream *stream; /* more tasks, which become known later; NULL: there are none */
    const gc_task_source *source;  /* the same from another process; not owned */
    bool batch; /* -o DIR, --in-place: failures are counted, parents of outputs are made */
} gc_task_list;

/* Frees the tasks. */
void gc_task_list_clear(gc_task_list *list);

/* Appends a task and takes over its strings, which may be NULL for lack of memory. */
gconv_status gc_task_list_add(gc_task_list *list, gc_task task, gconv_error *error);

/* Fills `list` from the operands. Nothing has been started yet, so most failures are mistakes in
 * the command line. `*subject` is the operand that the message is about, or NULL. */
gconv_status gc_task_list_create(const gc_options *options, gc_task_list *list,
                                 const char **subject, gconv_error *error);

void gc_task_list_destroy(gc_task_list *list);

/* ---- Operands: walk.c ------------------------------------------------------------------------ */

/* A walk through operands and directories. */
typedef struct gc_walk {
    const gc_options *options;
    gc_task_list *list; /* that gets the tasks */
    struct stat output; /* of the output directory, if it exists */
    bool output_exists;
    const char **subject;
    gconv_error *error;
} gc_walk;

/* Checks the options of a batch, and prepares gc_walk_add. */
gconv_status gc_walk_begin(gc_walk *walk, const gc_options *options, gc_task_list *list,
                           const char **subject, gconv_error *error);

/* Adds the task of a file, or those of the images in a directory. */
gconv_status gc_walk_add(gc_walk *walk, const char *operand);

/* ---- Lists: stream.c ------------------------------------------------------------------------- */

/* Tasks whose names come from a list, so that work starts before the list has ended. */
typedef struct gc_task_stream gc_task_stream;

/* Opens the list of --files-from. Otherwise as gc_task_list_create. */
gconv_status gc_task_stream_create(const gc_options *options, gc_task_stream **stream,
                                   const char **subject, gconv_error *error);

/* Takes the next task: those of the operands, then those of the list. A name that cannot become a
 * task becomes one that fails, and so does the second name of an output. False at the end. One
 * thread at a time. */
bool gc_task_stream_next(gc_task_stream *stream, gc_task *task);

/* Makes gc_task_stream_next return false soon, also if it waits for a pipe. Any thread. */
void gc_task_stream_stop(gc_task_stream *stream);

/* The image files of other formats that the directories so far hold. */
const gc_images *gc_task_stream_foreign(const gc_task_stream *stream);

/* NULL is allowed. */
void gc_task_stream_free(gc_task_stream *stream);
