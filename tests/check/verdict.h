/* What came of a check, and the words for a failure. */
#pragma once

#include "compare.h"

typedef enum check_verdict { CHECK_PASSED, CHECK_FAILED, CHECK_SKIPPED } check_verdict;

/* Whom a check is about, and how to run it again. */
typedef struct check_subject {
    const char *implementation;
    const char *instructions; /* what GCONV_INSTRUCTIONS names for it; NULL: what it did before */
    const char *device;
    uint64_t seed;
    char replay[96];        /* options that run this check alone */
    const check_case *made; /* NULL for a property */
    const char *property;   /* NULL for a case */
    bool refused;           /* the implementation refused a job of this check */
} check_subject;

/* Prints the failure, the parameters, the command to replay it and, if `map` is not NULL, where
 * the image is wrong. The first few failures are told in full. Returns CHECK_FAILED. */
check_verdict check_fail(const check_subject *subject, const compare_map *map, const char *format,
                         ...) __attribute__((format(printf, 3, 4)));
