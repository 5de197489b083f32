/* What the programs gconv, gconv-lab and gconv-mpi do before and after a command. */
#pragma once

#include "cli/options/options.h"

#include <stdio.h>

/* Runs a command, whose errors it reports, and returns the exit code. */
typedef int gc_program_function(const gc_options *options);

/* A whole program: reads the command line and runs the command, or prints the help that is asked
 * for. Returns the exit code. */
int gc_program_run(int argc, char **argv, gc_program_function *run);

/* Call it first: memory, standard descriptors and signals. */
void gc_program_begin(void);

/* Sets what is said and whether progress is shown. */
void gc_program_set_messages(const gc_options *options);

/* The usage lines of all commands. */
void gc_help_usage(FILE *stream);

/* Prints help or the version if the command line asks for one; *code becomes the exit code.
 * False: it asks for a command. */
bool gc_program_informs(const gc_options *options, int *code);

/* Refuses values of gconv's own environment variables (contract.md, rule 76) that the library would
 * ignore without a word: values that mean nothing, and instructions that this processor lacks. An
 * empty variable counts as not set. */
gconv_status gc_environment_check(gconv_error *error);

/* Flushes and closes standard output. If that fails (a full disk, a closed pipe) the program fails;
 * it says why, unless a pipe for text is closed. Returns the exit code of a program that would end
 * with `code`. */
int gc_program_close_output(int code);
