/* What a command line says. */
#pragma once

#include "base/digest.h"
#include "cli/options/commands.h"
#include "cli/options/words.h"
#include "gconv.h"

enum { GC_OPTIONS_MAX = 96 };

typedef enum gc_progress_when {
    GC_PROGRESS_AUTO,
    GC_PROGRESS_ALWAYS,
    GC_PROGRESS_NEVER
} gc_progress_when;

/* --notation: how `gconv kernel --write` writes a filter. */
typedef enum gc_notation {
    GC_NOTATION_GCONV,
    GC_NOTATION_IMAGEMAGICK,
    GC_NOTATION_LIBVIPS
} gc_notation;

/* The form of an output, beside what gconv_writer_options says. */
typedef struct gc_form_options {
    bool either_pnm; /* --format pnm: the format is PGM for grey images, else PPM */
    int depth;       /* bits of a sample; 0: format and input decide */
    bool strip;
    bool preserve;
} gc_form_options;

/* --shard: part `index`, from 0, of `count`; count 0 stands for everything. */
typedef struct gc_shard {
    uint32_t index, count;
} gc_shard;

/* Which inputs a batch has, to which directory and names their outputs go, and what is done about
 * those that are there. */
typedef struct gc_batch_options {
    const char *directory; /* -o; NULL: not given */
    bool in_place;
    bool recursive;
    const char *files_from; /* --files-from or --files0-from; NULL: not given */
    bool files_end_in_nul;  /* its names end in a NUL byte instead of a newline */
    gc_shard shard;
    bool parents;
    const char *name_template; /* --name, checked; NULL: not given */
    gc_named_format named;     /* of --name */
    bool update;
    bool dry_run;
    int stop_on_error; /* --on-error stop */
} gc_batch_options;

typedef struct gc_journal_options {
    const char *file; /* NULL: not given */
    gc_digest_kind digest;
    bool retry_failed;
    uint64_t images; /* --images: how many are computed again; 0: all */
} gc_journal_options;

/* What is said about the work, and whether results are judged. */
typedef struct gc_report_options {
    bool verify;
    bool explain;
    bool timings;
    bool json;
    bool quiet;
    bool verbose;
    gc_progress_when progress;
} gc_report_options;

/* Words of --with: devices whose results come with gconv. */
#define GC_KEPT_DEVICES "h200 h100"

/* Of commands that measure. */
typedef struct gc_measure_options {
    /* Texts of bench, which gconv-lab reads; NULL: not given. */
    const char *sizes, *filters, *preset, *samples, *sample;
    double time;          /* seconds that measuring may take; 0: the command's own limit */
    const char *resume;   /* NULL: not given */
    const char *baseline; /* NULL: not given */
    const char *with;     /* likewise; see GC_KEPT_DEVICES */
    double fail_above;    /* in per cent; below 0: not given */
    bool csv;
    bool markdown;
    const char *html; /* the file of the report; NULL: not given */
} gc_measure_options;

/* Of `gconv kernel`. */
typedef struct gc_kernel_options {
    const char *response, *write; /* files; NULL: not given */
    gc_notation notation;
} gc_kernel_options;

/* --rows: rows of the output from row `first` on, which is 0 at the top; count 0 stands for all of
 * them. */
typedef struct gc_rows {
    uint32_t first, count;
    bool join; /* they become parts that cat joins */
} gc_rows;

/* Where the threshold of a drawing comes from. */
typedef enum gc_cut {
    GC_CUT_GIVEN, /* gconv_job has it */
    GC_CUT_AUTO,
    GC_CUT_SHARE /* so many pixels exceed it */
} gc_cut;

/* --lines */
typedef enum gc_lines { GC_LINES_INK, GC_LINES_THIN } gc_lines;

/* What is drawn of the responses of an image, and with which blur. */
typedef struct gc_draw_options {
    gc_cut cut;
    double share;               /* of GC_CUT_SHARE, in per cent of the pixels */
    bool finds_low, finds_high; /* thresholds of Canny */
    double sigma;               /* --sigma; 0: not given */
    bool sigma_is_part;         /* it is in per cent of the longer side */
    uint8_t ink[3], paper[3];
    bool transparent; /* the paper is */
    gc_lines lines;
    bool thin;      /* --thin */
    uint64_t least; /* pixels of a mark; 0: not given */
    bool overlays;  /* --overlay; its colour is the ink */
    bool values;    /* responses are written instead of edges */
} gc_draw_options;

/* Options for the library are kept in the library's own structures. These begin as its _default()
 * functions say. The shape of a job and the metadata of a writer are filled in later, from the
 * input. */
typedef struct gc_options {
    gc_command command;
    bool given[GC_OPTIONS_MAX];         /* option i of the table was given */
    const char *values[GC_OPTIONS_MAX]; /* the text of option i; NULL if it takes none */

    char **kernels; /* --kernel, in order; an owned array of pointers into argv */
    int kernel_count;
    gconv_job job;              /* its alpha is GCONV_ALPHA_AUTO by default */
    gconv_device_choice device; /* what job.device stands for */
    gconv_tiling tiling;
    gconv_detector detector;
    /* --impl: a name; a list with commas, or "all", for commands that measure. NULL: not given. */
    const char *implementations;
    gconv_reader_options reader;
    gconv_writer_options writer; /* its format is UNKNOWN if --format was not given */

    gc_draw_options draw;
    gc_form_options form;
    gc_batch_options batch;
    gc_journal_options journal;
    gc_rows rows;
    gc_report_options report;
    gc_measure_options measure;
    gc_kernel_options kernel;

    bool help;
    bool version;

    char **words; /* the command line behind the name of the program */
    int word_count;

    char **operands; /* what is neither option nor command; an owned array as above */
    int operand_count;
} gc_options;

/* Reads the command line. On failure the message names option and value. The arrays of `options`
 * are freed by gc_options_free, after a failure too. */
gconv_status gc_options_parse(int argc, char **argv, gc_options *options, gconv_error *error);
void gc_options_free(gc_options *options);

/* Whether the part has the input of this name. It depends on nothing but the name and the number of
 * parts, so every process decides alike. */
bool gc_shard_has(const gc_shard *shard, const char *name);
