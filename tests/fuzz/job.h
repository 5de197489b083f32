/* Jobs made of bytes: every field of a gconv_job, filters, and an image. */
#ifndef FUZZ_JOB_H
#define FUZZ_JOB_H

#include "fuzz.h"
#include "image.h"

enum { FUZZ_FILTERS_MAX = 4 };

/* How large a job may be, and how far its numbers go. */
typedef struct fuzz_job_limits {
    int width, height; /* of the image */
    int side;          /* of filters */
    int filters;
    double work;  /* multiply-adds: larger images are cut */
    bool extreme; /* weights to the limits of float32 and among denormals */
} fuzz_job_limits;

typedef struct fuzz_job {
    gconv_job job;
    gconv_filter *filters[FUZZ_FILTERS_MAX];
    check_image input;
    check_random random; /* what the bytes leave open */
} fuzz_job;

/* The job may be one that gconv refuses. */
void fuzz_job_make(fuzz_job *made, fuzz_bytes *from, const fuzz_job_limits *limits);
void fuzz_job_free(fuzz_job *made);

/* Chain values by contract.md, rules 1 to 3, in double, never rounded between steps: chain channels
 * interleaved, without padding. Freed with free. */
double *fuzz_define_chain(const fuzz_job *made);

/* What contract.md says of a job. */
typedef struct fuzz_verdict {
    bool exact;   /* rule 3 */
    double bound; /* rule 4: on |chain value - reference's|, steps' errors propagated */
} fuzz_verdict;

/* `extra_terms` is what transforms add to n = w*h. */
fuzz_verdict fuzz_judge(const fuzz_job *made, double extra_terms);

/* Values in a row of the chain. */
size_t fuzz_chain_values(const gconv_job *job);

/* An image for the output of a plan, or for chain values, with guards around it. */
check_image fuzz_output_image(fuzz_job *made, const gconv_shape *shape);
check_image fuzz_chain_image(fuzz_job *made);

#endif
