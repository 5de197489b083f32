/* The table of options, which feeds the parser, the help, and the tests of manual and
 * completions. */
#ifndef GC_CLI_OPTIONS_TABLE_H
#define GC_CLI_OPTIONS_TABLE_H

#include "cli/options/commands.h"
#include "cli/options/values.h"

/* One entry of the table. */
typedef struct gc_option {
    const char *name;       /* long name */
    char letter;            /* short name, or 0 */
    const char *argument;   /* what stands for its value in help; NULL where it takes none */
    unsigned commands;      /* bits of the commands that it belongs to; 0 is all */
    const char *help;       /* one line; gc_option_help knows commands that need another */
    gc_value_function *set; /* reads the value; NULL: a flag */
    size_t flag;            /* of a flag: offset of its bool in gc_options */
} gc_option;

int gc_option_count(void);
const gc_option *gc_option_at(int index); /* NULL beyond */

/* Whether the command line gave the option of this long name. */
bool gc_option_given(const gc_options *options, const char *name);

/* The text that the command line gave the option last; NULL where it takes none or was not
 * given. */
const char *gc_option_value(const gc_options *options, const char *name);

/* What an option means in a command that takes it. */
const char *gc_option_help(const gc_option *option, gc_command command);

#endif
