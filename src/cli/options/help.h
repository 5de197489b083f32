/* Help texts, made from the tables of commands and options. */
#ifndef GC_CLI_OPTIONS_HELP_H
#define GC_CLI_OPTIONS_HELP_H

#include "cli/options/commands.h"

#include <stdio.h>

/* The usage lines of all commands. */
void gc_help_usage(FILE *stream);

/* `gconv help`: commands and where to read on. */
void gc_help_program(FILE *stream);

/* `gconv help COMMAND`: usage and options. */
void gc_help_command(FILE *stream, gc_command command);

#endif
