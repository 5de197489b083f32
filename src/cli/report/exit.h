/* Exit codes of the program. */
#ifndef GC_CLI_REPORT_EXIT_H
#define GC_CLI_REPORT_EXIT_H

#include "gconv.h"

/* contract.md, rule 60, says what each stands for. */
enum {
    GC_EXIT_DONE = 0,
    GC_EXIT_FAILED = 1,
    GC_EXIT_USAGE = 2,
    GC_EXIT_MISMATCH = 3,
    GC_EXIT_DEVICE = 4,
    GC_EXIT_SLOWER = 5,
};

/* The exit code of a failure before anything was started: most are mistakes in the command line. */
int gc_start_code(gconv_status status);

/* The exit code of a failure afterwards; GC_EXIT_DONE for GCONV_OK. */
int gc_exit_code(gconv_status status);

#endif
