/* What the tests of plans share: a job, and sources and sinks that fail. */
#pragma once

#include "core_support.h"

/* A mean of 3 x 3, and the chain of it alone. */
static inline const gconv_filter *const *box_chain(void)
{
    static float weights[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    static const gconv_filter box = {
        .width = 3, .height = 3, .anchor_x = 1, .anchor_y = 1, .divisor = 9, .weights = weights};
    static const gconv_filter *const chain[] = {&box};
    return chain;
}

enum { WIDTH = 53, HEIGHT = 300 };

static inline gconv_job usual_job(void)
{
    gconv_job job = job_of(box_chain(), 1, shape_of(WIDTH, HEIGHT, 1, 8));
    job.threads = 2;
    return job;
}

/* ---- Sources and sinks that fail ------------------------------------------------------------- */

/* Rows of a flat image that end in a failure. */
typedef struct broken {
    uint32_t good; /* rows before it breaks */
    uint32_t done;
    int calls_after;
} broken;

static inline gconv_status break_off(broken *b, uint32_t count, gconv_status status,
                                     gconv_error *error)
{
    if (b->done > b->good)
        b->calls_after++;
    b->done += count;
    if (b->done <= b->good)
        return GCONV_OK;
    if (error != NULL) {
        *error = (gconv_error){.status = status, .line = 42};
        snprintf(error->message, sizeof error->message, "broken after %u rows", b->good);
    }
    return status;
}

static inline gconv_status read_broken(void *user, uint32_t count, void *rows, size_t stride,
                                       gconv_error *error)
{
    for (uint32_t i = 0; i < count; i++)
        memset((char *)rows + i * stride, 100, WIDTH);
    return break_off(user, count, GCONV_ERROR_FORMAT, error);
}

static inline gconv_status write_broken(void *user, uint32_t count, const void *rows, size_t stride,
                                        gconv_error *error)
{
    (void)rows;
    (void)stride;
    return break_off(user, count, GCONV_ERROR_WRITE, error);
}

/* Callbacks that fail and do not say why. */
static inline gconv_status read_silently(void *user, uint32_t count, void *rows, size_t stride,
                                         gconv_error *error)
{
    (void)count;
    (void)rows;
    (void)stride;
    assert_non_null(error);
    return *(const gconv_status *)user;
}

static inline gconv_status write_silently(void *user, uint32_t count, const void *rows,
                                          size_t stride, gconv_error *error)
{
    (void)count;
    (void)rows;
    (void)stride;
    assert_non_null(error);
    return *(const gconv_status *)user;
}
