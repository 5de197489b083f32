/* A job against the definition, and against itself on other ways to run it. */
#ifndef FUZZ_CHECK_JOB_H
#define FUZZ_CHECK_JOB_H

#include "job.h"

/* Makes a job within the limits from the bytes. The reference and cpu keep contract.md, rules 1 to
 * 6: both against the definition, cpu against the reference, and the output of cpu against its
 * chain. A chain that gconv refuses is left alone. */
void fuzz_check_values(const uint8_t *data, size_t size, const fuzz_job_limits *limits);

/* One thread and `threads` of them, rows and memory, give the same bits. */
void fuzz_check_threads(fuzz_job *made, int threads);

#endif
