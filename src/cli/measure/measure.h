/* Checks implementations against the reference and times them, for compare and bench. */
#ifndef GC_CLI_MEASURE_MEASURE_H
#define GC_CLI_MEASURE_MEASURE_H

#include "cli/image/picture.h"
#include "cli/image/session.h"
#include "gconv_lab.h"
#include "lab/bench/spots.h"

typedef enum gc_verdict {
    GC_VERDICT_EXACT,   /* the reference's bits */
    GC_VERDICT_WITHIN,  /* within the bound of rule 4 */
    GC_VERDICT_WRONG,   /* beyond the bound: not timed, not ranked */
    GC_VERDICT_UNUSABLE /* cannot run here, or refuses this job; `reason` says why */
} gc_verdict;

/* What is known of one implementation. `values_a_second` is computed from kernel_seconds where that
 * is known, `flops` from gc_convolution_seconds. */
typedef struct gc_measurement {
    const char *name;           /* as the user gave it */
    const char *implementation; /* what runs: the name, or what auto chose */
    gc_verdict verdict;
    gconv_error reason;
    gconv_difference difference;
    int runs;               /* how many runs were timed */
    bool too_long;          /* not timed, because one run takes longer than the time for all */
    double compile_seconds; /* of kernels, before any clock was started; 0 where there are none */
    double seconds;         /* median of the runs, from samples in memory to samples in memory */
    double shortest;        /* of the runs */
    double lower_quartile, upper_quartile; /* of the runs, in seconds */
    double transfer_seconds; /* median of the copies to a GPU and back, which may overlap others */
    double kernel_seconds; /* median on the device, from samples to samples in its memory; 0 on the
                               CPU */
    double border_seconds; /* the part of kernel_seconds that makes extended images */
    double conversion_seconds; /* the part that turns samples into chain values and back */
    double values_a_second;    /* samples convolved */
    double flops;              /* floating-point operations a second: 2 w h for a sample and step */
    double intensity; /* operations for a byte by the published model; 0 where there is none */
    double roofline;  /* operations a second that the model allows here; 0 likewise */
    int factor;       /* the tiling factor; 0 where there is none */
    char explanation[1024]; /* lines of text: how the implementation was chosen */
} gc_measurement;

/* What is measured: a session's chain, with alpha treated one way. */
typedef struct gc_subject {
    const gc_session *session;
    gconv_alpha alpha;
    size_t entry, entry_count; /* of all measurements of the command, for the progress line */
    const gc_spots *spots;     /* pixels at which gc_time checks its last result; NULL: none */
} gc_subject;

/* The reference's result on one picture: what measurements are checked against. */
typedef struct gc_expectation {
    float *chain;
    size_t chain_stride;
    size_t output_stride;
    double seconds; /* of the reference's one run */
} gc_expectation;

gconv_status gc_expect(const gc_subject *subject, const gc_picture *picture,
                       gc_expectation *expectation, gconv_error *error);
void gc_expectation_destroy(gc_expectation *expectation);

/* How long and how often something is timed. */
typedef struct gc_budget {
    double seconds; /* for all runs together; half of it where a kernel is timed, too */
    double limit;   /* for one run, which is given up after that; 0: no limit */
    int runs_min;   /* fewer only where the first run takes longer than `seconds` */
    bool warm;      /* no run to warm up is needed */
} gc_budget;

/* Checks an implementation on `picture`. `name` may be "auto": then it is the implementation that
 * auto chooses for `timed`. Fills all of `row` but the times. An implementation that cannot run or
 * breaks down is a verdict, not a failure. */
gconv_status gc_check(const gc_subject *subject, const char *name, const gc_picture *picture,
                      const gc_picture *timed, const gc_expectation *expectation,
                      gc_measurement *row, gconv_error *error);

/* Seconds of the convolution alone where these are known: kernel_seconds without border and
 * conversion. Else kernel_seconds, or `seconds`. Ratios between published steps are of these. */
double gc_convolution_seconds(const gc_measurement *row);

/* Times on `picture` the implementation that was checked for `row`. Where the result of the last
 * run is wrong at the subject's spots, the verdict becomes so, and the row has no times. */
gconv_status gc_time(const gc_subject *subject, const gc_picture *picture, gc_budget budget,
                     gc_measurement *row, gconv_error *error);

/* Checks and times on one picture. Where one run takes longer than `seconds`, there is no second
 * run: the time is that of the checked run, or for the reference that of `expectation`. */
gconv_status gc_check_and_time(const gc_subject *subject, const char *name,
                               const gc_picture *picture, const gc_expectation *expectation,
                               double seconds, gc_measurement *row, gconv_error *error);

#endif
