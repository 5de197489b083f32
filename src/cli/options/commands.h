/* The table of commands. */
#pragma once

#include "gconv.h"

/* Commands are bits, so that an option can name several commands. */
typedef enum gc_command {
    GC_COMMAND_NONE = 0,
    GC_COMMAND_EDGES = 1,
    GC_COMMAND_FILTER = 2,
    GC_COMMAND_COMPARE = 4,
    GC_COMMAND_BENCH = 8,
    GC_COMMAND_TUNE = 16,
    GC_COMMAND_INFO = 32,
    GC_COMMAND_HELP = 64,
    GC_COMMAND_CHECK = 128,
    GC_COMMAND_KERNEL = 256,
    GC_COMMAND_SKETCH = 512,
    GC_COMMAND_THIN = 1024
} gc_command;

enum {
    /* From file to file. All but `filter` compute from grey, and write PNG if nothing is said. */
    GC_COMMANDS_OF_IMAGES =
        GC_COMMAND_EDGES | GC_COMMAND_FILTER | GC_COMMAND_SKETCH | GC_COMMAND_THIN,
    GC_COMMANDS_THAT_MEASURE = GC_COMMAND_COMPARE | GC_COMMAND_BENCH /* check and time */
};

/* What the operands of a command are. */
typedef enum gc_operands {
    GC_OPERANDS_NONE,
    GC_OPERANDS_FILES,
    GC_OPERANDS_FILTERS,
    GC_OPERANDS_COMMANDS,
    GC_OPERANDS_IMPLEMENTATIONS
} gc_operands;

/* One entry of the table. */
typedef struct gc_command_row {
    gc_command command;
    const char *name;
    const char *synopsis; /* a line of usage */
    const char *summary;  /* one line for people */
    gc_operands operands;
    int operands_min, operands_max;
} gc_command_row;

int gc_command_count(void);
const gc_command_row *gc_command_at(int index);          /* NULL beyond */
const gc_command_row *gc_command_of(gc_command command); /* NULL for GC_COMMAND_NONE */

/* The command of this name; an error with a suggestion if there is none. */
gconv_status gc_command_find(const char *name, const gc_command_row **row, gconv_error *error);
