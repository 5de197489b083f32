/* Checks implementations against the reference and times them, for compare and bench. */
#ifndef GC_CLI_MEASURE_H
#define GC_CLI_MEASURE_H

#include "cli/process.h"

enum { GC_UNUSABLE_MAX = 64 };

typedef enum gc_verdict {
    GC_VERDICT_EXACT,   /* the reference's bits */
    GC_VERDICT_WITHIN,  /* within the bound of rule 4 */
    GC_VERDICT_WRONG,   /* beyond it: never timed, never ranked */
    GC_VERDICT_UNUSABLE /* cannot run here, or refuses this job; `reason` says why */
} gc_verdict;

typedef struct gc_measurement {
    const char *name;           /* as asked for */
    const char *implementation; /* what runs: the name, or what auto chose */
    gc_verdict verdict;
    gconv_error reason;
    gconv_difference difference;
    int runs;               /* 0 where it was not timed */
    bool too_long;          /* not timed: one run takes longer than all may */
    double compile_seconds; /* of kernels, before any clock was started; 0 where there are none */
    double seconds;         /* median of the runs, from samples in memory to samples in memory */
    double shortest;        /* of the runs */
    double kernel_seconds;  /* median of the chain on the device alone; 0 on the CPU */
    double values_a_second; /* samples convolved, by the kernel's time where there is one */
    double flops;           /* 2 * w * h a sample and step, a second, likewise */
    double intensity;       /* FLOP a byte by the published model; 0 where there is none */
    double roofline;        /* FLOP a second that the model allows on this device; 0 likewise */
    char explanation[1024]; /* lines of text: what was chosen */
} gc_measurement;

/* The reference's result on one picture: what all measurements are checked against. */
typedef struct gc_expectation {
    float *chain;
    size_t chain_stride;
    void *output;
    size_t output_stride;
    size_t output_bytes;
    double seconds; /* of the reference's one run */
} gc_expectation;

/* How long and how often something is timed. */
typedef struct gc_budget {
    double seconds; /* the runs may take together; half of it where a kernel is timed too */
    double limit;   /* one run may take, else it is given up; 0 for any time */
    int runs_min;   /* fewer only where the first takes longer than `seconds` */
    bool warm;      /* no run to warm up is needed */
} gc_budget;

gconv_status gc_expect(const gc_session *session, const gc_picture *picture, gconv_alpha alpha,
                       gc_expectation *expectation, gconv_error *error);
void gc_expectation_destroy(gc_expectation *expectation);

/* Checks on `picture` what `name`, which may be auto, stands for on `timed`, and fills all of `row` but
 * the times. An implementation that cannot run or breaks down is not a failure but a verdict. */
gconv_status gc_check(const gc_session *session, const char *name, const gc_picture *picture,
                      const gc_picture *timed, gconv_alpha alpha, const gc_expectation *expectation,
                      gc_measurement *row, gconv_error *error);

/* Times on `picture` what was checked for `row`. */
gconv_status gc_time(const gc_session *session, const gc_picture *picture, gconv_alpha alpha,
                     gc_budget budget, gc_measurement *row, gconv_error *error);

/* Checks and times on one picture: as the two above, but where one run takes longer than `seconds`
 * the time is that of the run that was checked, or of the reference's in `expectation`. */
gconv_status gc_check_and_time(const gc_session *session, const char *name,
                               const gc_picture *picture, gconv_alpha alpha,
                               const gc_expectation *expectation, double seconds,
                               gc_measurement *row, gconv_error *error);

/* The names that --impl stands for: `fallback` where it was not given. The result is an array of
 * registry names of *count entries, freed with free; NULL for lack of memory. */
const char **gc_implementation_list(const gc_options *options, const char *fallback, int *count);

/* Implementations that cannot run here, each with its reason. */
typedef struct gc_unusable {
    const char *names[GC_UNUSABLE_MAX];
    gconv_error reasons[GC_UNUSABLE_MAX];
    int count;
} gc_unusable;

/* Takes those that cannot run here out of the list. */
void gc_drop_unusable(const gc_session *session, const char **names, int *count,
                      gc_unusable *unusable);

/* Prints them, those that share a reason in one line, and forgets them. */
void gc_print_unusable(gc_unusable *unusable);

/* Whether one of these may be timed on a device alone. */
bool gc_may_use_device(const char *const *names, int count);

/* Columns that the longest label of these takes, and the word above them. */
int gc_label_width(const char *const *names, int count);

/* Whether --impl names implementations one by one, so that each must be usable. */
bool gc_is_named_list(const gc_options *options);

/* A number with its unit, or a dash where it is not known (0). Points into `buffer`. */
const char *gc_figure(double value, const char *unit, int decimals, char *buffer, size_t size);

/* What people read: the name, and what auto chose. Points into `buffer`. */
const char *gc_measurement_label(const gc_measurement *row, char *buffer, size_t size);

/* Says with -v how long the kernels took to compile, where they were. */
void gc_note_compilation(const gc_measurement *row);

/* "exact", "within bound", "WRONG", "not usable". */
const char *gc_verdict_name(gc_verdict verdict);

#endif
