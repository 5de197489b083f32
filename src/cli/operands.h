/* From operands to tasks: which file is read, which is written, in which format (contract.md, rules
 * 45 to 49). */
#ifndef GC_CLI_OPERANDS_H
#define GC_CLI_OPERANDS_H

#include "cli/options.h"

typedef struct gc_task {
    char *input;         /* a path, or "-" */
    char *output;        /* a path, or "-" */
    gconv_format format; /* of the output; GCONV_FORMAT_UNKNOWN: the input's own */
    bool either_pnm;     /* format is PPM, but PGM where the result is grey */
    int unlisted;        /* why `input`, a directory, could not be listed, as errno; else 0 */
    int unknown;         /* why nothing is known of the file `input`, as errno; else 0 */
} gc_task;

typedef struct gc_task_list {
    gc_task *tasks;
    size_t count;
    bool batch; /* -o DIR, --in-place: failures are counted, parents of outputs are made */
} gc_task_list;

/* Fills `list` from the operands. Every error is one of the command line (exit 2): nothing has been
 * started. `*blamed` is the operand at fault or NULL. */
gconv_status gc_task_list_create(const gc_options *options, gc_task_list *list, const char **blamed,
                                 gconv_error *error);
void gc_task_list_destroy(gc_task_list *list);

/* Refuses "-" where standard input is a terminal. */
gconv_status gc_check_input(const char *path, gconv_error *error);

/* Whether `format` can hold samples of `depth` bits. */
gconv_status gc_check_depth(gconv_format format, int depth, gconv_error *error);

/* What messages call a path: itself, or what "-" stands for. */
const char *gc_input_name(const char *path);

/* Whether an operand is a directory, through links too. */
bool gc_is_directory(const char *path);
const char *gc_output_name(const char *path);

#endif
