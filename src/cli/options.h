/* The command line: one table of options feeds parser, help and the tests of man page and
 * completions. */
#ifndef GC_CLI_OPTIONS_H
#define GC_CLI_OPTIONS_H

#include "gconv.h"

/* Commands as bits, so that an option can say which ones it belongs to. */
typedef enum gc_command {
    GC_COMMAND_NONE = 0,
    GC_COMMAND_EDGES = 1,
    GC_COMMAND_FILTER = 2,
    GC_COMMAND_COMPARE = 4,
    GC_COMMAND_BENCH = 8,
    GC_COMMAND_TUNE = 16,
    GC_COMMAND_INFO = 32,
    GC_COMMAND_HELP = 64
} gc_command;

typedef enum gc_progress { GC_PROGRESS_AUTO, GC_PROGRESS_ALWAYS, GC_PROGRESS_NEVER } gc_progress;

typedef struct gc_options {
    gc_command command;
    uint64_t given; /* bit i: option i of the table was given */

    char **kernels; /* --kernel, in order; an owned array of pointers into argv */
    int kernel_count;
    bool correlate;
    gconv_border border;
    double border_value;
    gconv_alpha alpha;

    double threshold;
    gconv_rule rule;
    bool invert;

    double scale;
    double offset;
    bool has_offset;
    bool absolute;

    int depth; /* 0: the format's own */
    gconv_format format;
    bool either_pnm; /* --format pnm: `format` is PPM, PGM for what is grey */
    int quality;
    int compression;
    bool strip;
    bool no_auto_orient;

    const char *output_directory;
    bool recursive;
    bool no_clobber;
    bool in_place;
    bool sync;
    uint64_t max_pixels;
    bool tolerant;

    const char *implementation; /* a name, or a comma list or `all` for compare and bench */
    const char *device;
    int threads;
    int tile;
    int block_width, block_height;

    bool verify;
    bool explain;
    bool timings;
    bool json;
    bool quiet;
    bool verbose;
    gc_progress progress;
    double time; /* seconds a measurement may take */

    bool help;
    bool version;

    char **operands; /* what is neither option nor command; an owned array as above */
    int operand_count;
} gc_options;

/* One row of the table. */
typedef struct gc_option {
    const char *name;     /* long name */
    char letter;          /* short name, or 0 */
    const char *argument; /* what stands for its value in help; NULL where it takes none */
    unsigned commands;    /* bits of the commands it belongs to; 0 is all */
    const char *help;     /* one line; gc_option_help knows commands that need another */
    /* Stores the value; on failure writes what is legal to `error`. NULL: a flag. */
    gconv_status (*set)(gc_options *options, const char *value, gconv_error *error);
    size_t flag; /* of a flag: offset of its bool in gc_options */
} gc_option;

int gc_option_count(void);
const gc_option *gc_option_at(int index);

/* What an option means in a command that takes it. */
const char *gc_option_help(const gc_option *option, gc_command command);

/* Reads the command line. On failure writes one line that names option and value. The arrays of
 * `options` are freed by gc_options_free. */
gconv_status gc_options_parse(int argc, char **argv, gc_options *options, gconv_error *error);
void gc_options_free(gc_options *options);

/* The commands, for help and suggestions. */
typedef struct gc_command_row {
    gc_command command;
    const char *name;
    const char *synopsis[4]; /* lines of usage, NULL-terminated where shorter */
    const char *summary;
    int operands_min, operands_max;
} gc_command_row;

int gc_command_count(void);
const gc_command_row *gc_command_at(int index);
const gc_command_row *gc_command_of(gc_command command); /* NULL for GC_COMMAND_NONE */

/* The command of this name; an error with a suggestion where there is none. */
gconv_status gc_command_find(const char *name, const gc_command_row **row, gconv_error *error);

#endif
