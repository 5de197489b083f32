/* What the programs gconv and gconv-mpi do before and after a command. */
#ifndef GC_CLI_PROGRAM_H
#define GC_CLI_PROGRAM_H

#include "cli/options/options.h"

/* Call it first: memory, standard descriptors and signals. */
void gc_program_begin(void);

/* Sets what is said and whether progress is shown. */
void gc_program_set_messages(const gc_options *options);

/* Prints help or the version where the command line asks for one; *code becomes the exit code.
 * False: it asks for a command. */
bool gc_program_informs(const gc_options *options, int *code);

/* Flushes and closes standard output. Where that fails (a full disk, a closed pipe) the program
 * fails; it says why, unless a pipe for text is closed. Returns the exit code of a program that
 * would end with `code`. */
int gc_program_close_output(int code);

#endif
