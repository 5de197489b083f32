/* The table of options. A row holds all that gconv knows of an option: parser, help, the recipe of
 * a journal, the completions of shells and the OPTIONS of gconv(1) are made from it. */
#pragma once

#include "cli/options/commands.h"
#include "cli/options/options.h"
#include "cli/options/words.h"

/* What the value of an option is, and the type of its field in gc_options. */
typedef enum gc_value_kind {
    GC_VALUE_SET,       /* none: a bool becomes true */
    GC_VALUE_CLEAR,     /* none: a bool becomes false */
    GC_VALUE_WORD,      /* one of `words`: int, or an enum */
    GC_VALUE_CHOICE,    /* one of them, kept as text: const char * */
    GC_VALUE_WHOLE,     /* a whole number from `low` to `high`: int */
    GC_VALUE_COUNT,     /* a whole number of at least 1: uint64_t */
    GC_VALUE_NUMBER,    /* a number from `low` to `high`: double */
    GC_VALUE_FRACTION,  /* the same, or p/q: double, and behind it a double, its denominator */
    GC_VALUE_ABOVE,     /* a number above `low`, at most `high`: double */
    GC_VALUE_TEXT,      /* any text, which the command reads: const char * */
    GC_VALUE_FILE,      /* a name: const char * */
    GC_VALUE_DIRECTORY, /* a name: const char * */
    GC_VALUE_READ       /* what `read` makes of it; there is no field */
} gc_value_kind;

/* Reads the text of an option into `options`. On failure the message says what is legal, and does
 * not name the option: the parser does. */
typedef gconv_status gc_value_function(gc_options *options, const char *value, gconv_error *error);

typedef struct gc_value {
    gc_value_kind kind;
    size_t field;         /* its offset in gc_options */
    double low, high;     /* DBL_MAX: no limit */
    const gc_word *words; /* these end with a name that is NULL */
    gc_value_function *read;
} gc_value;

/* Marks of options, as bits. An option of `edges` or `filter` is either of the first two. */
enum {
    /* It decides pixels or the form of an output, so the recipe of a journal holds it. The names of
     * recipes depend on the order of these rows. */
    GC_OPTION_DECIDES = 1,
    GC_OPTION_KEEPS = 2,         /* the output is the same without it */
    GC_OPTION_REPEATS = 4,       /* each time counts, not the last one alone */
    GC_OPTION_BATCH = 8,         /* needs -o DIR or --in-place */
    GC_OPTION_ALONE = 16,        /* gconv-mpi does not take it */
    GC_OPTION_CONVOLVES = 32,    /* says what `bench` convolves */
    GC_OPTION_OFFERS_ALONE = 64, /* gconv-mpi does not take what completions offer */
    GC_OPTION_TELLS = 128 /* says what becomes of measurements; --resume holds the other options */
};

/* What an option is in some commands, if that differs from what its row says. */
typedef struct gc_meaning {
    unsigned commands; /* 0 ends a list of meanings */
    const char *help;
    const char *offers; /* NULL: as in the row */
} gc_meaning;

/* A row of the table. */
typedef struct gc_option {
    const char *name;     /* long name */
    char letter;          /* short name, or 0 */
    const char *argument; /* what stands for its value in help; NULL if it takes none */
    unsigned commands;    /* bits of the commands that it belongs to; 0 is all */
    gc_value value;
    unsigned marks;
    const char *help; /* a line; its text before the first ": ", ';' or '(' is the short form */
    /* What completions offer, separated by blanks, if `value` does not say it. FILE, FILTERS,
     * FORMATS and IMPLEMENTATIONS stand for what there is; a word LIST in front says that several
     * may follow with commas between. */
    const char *offers;
    const gc_meaning *meanings; /* NULL: none */
    /* Bits of effects.h: the option has an effect if the command met one of these things; 0:
     * always. Else --verbose says `unless`. */
    unsigned affects;
    const char *unless;
    const char *section; /* begins a section of the manual; NULL: in that of the row before */
} gc_option;

int gc_option_count(void);
const gc_option *gc_option_at(int index); /* NULL beyond */

/* Whether the command line gave the option of this long name. */
bool gc_option_given(const gc_options *options, const char *name);

/* The name of the first option that has one of these marks and was given; else NULL. */
const char *gc_option_marked(const gc_options *options, unsigned marks);

/* The text that the command line gave the option last; NULL if it takes none or was not given. */
const char *gc_option_value(const gc_options *options, const char *name);

/* Puts "option '--NAME': " before the message of `error`. Returns its status. */
gconv_status gc_blame_option(const char *name, gconv_error *error);

/* Whether a command takes an option. */
bool gc_option_belongs(const gc_option *option, gc_command command);

/* What an option is in a command that takes it. */
gc_meaning gc_option_meaning(const gc_option *option, gc_command command);
