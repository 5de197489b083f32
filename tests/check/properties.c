#include "properties.h"

#include "filters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Tools ----------------------------------------------------------------------------------- */

/* One property being tried on one implementation. */
typedef struct trial {
    check_subject *subject;
    check_random random;
    int done; /* jobs that ran */
    bool failed;
} trial;

static const gconv_border all_borders[] = {GCONV_BORDER_MIRROR, GCONV_BORDER_MIRROR101,
                                           GCONV_BORDER_REPLICATE, GCONV_BORDER_WRAP,
                                           GCONV_BORDER_CONSTANT};

static gconv_job job_for(const trial *t, gconv_shape shape, gconv_border border)
{
    gconv_job job = gconv_job_default();
    job.input = shape;
    job.border = border;
    job.output_depth = shape.depth;
    job.threads = 2;
    job.implementation = t->subject->implementation;
    job.device = t->subject->device;
    return job;
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL) {
        fprintf(stderr, "gconv_check: out of memory\n");
        exit(1);
    }
    return memory;
}

/* Runs the job of one filter. False if it was refused or failed. */
static bool run_job(trial *t, gconv_job *job, const gconv_filter *filter, const void *pixels,
                    void *result)
{
    const gconv_filter *chain[1] = {filter};
    job->filters = chain;
    job->filter_count = 1;
    gconv_plan *plan;
    gconv_error error;
    gconv_status status = gconv_plan_create(job, &plan, &error);
    if (status == GCONV_ERROR_UNSUPPORTED) {
        t->subject->refused = true;
        return false;
    }
    if (status == GCONV_OK)
        status = gconv_plan_run_memory(plan, pixels, gconv_shape_row_bytes(&job->input), result,
                                       gconv_shape_row_bytes(gconv_plan_output_shape(plan)), NULL,
                                       &error);
    gconv_plan_free(plan);
    if (status != GCONV_OK) {
        check_fail(t->subject, NULL, "%s: %s", t->subject->property, error.message);
        t->failed = true;
        return false;
    }
    t->done++;
    return true;
}

static gconv_shape grey(uint32_t width, uint32_t height)
{
    return (gconv_shape){.width = width, .height = height, .channels = 1, .depth = 8};
}

/* ---- The properties -------------------------------------------------------------------------- */

/* Floats of which some, or all, are no numbers or beyond what rule 82 allows. */
static float *strange_floats(trial *t, size_t count)
{
    static const float strange[] = {NAN, INFINITY, -INFINITY, 3.4e38F, -3.4e38F};
    enum { STRANGE = sizeof strange / sizeof strange[0] };
    uint32_t apart = 1 + check_below(&t->random, 40);
    float *made = allocate(count, sizeof *made);
    for (size_t i = 0; i < count; i++)
        made[i] = check_once_in(&t->random, apart) ? strange[check_below(&t->random, STRANGE)]
                                                   : (float)check_below(&t->random, 256);
    return made;
}

/* The bytes behind a result are as they were. */
enum { BEHIND_BYTES = 4096 };

static bool is_clear(const unsigned char *bytes)
{
    for (int i = 0; i < BEHIND_BYTES; i++)
        if (bytes[i] != 0xa5)
            return false;
    return true;
}

/* A run on such floats ends like others and writes its output alone. */
static void strange_samples(trial *t)
{
    static const char *const filters[] = {"gauss3", "tenths", "large31x29", "identity", "row7"};
    static const int depths[] = {32, 8, 16, 1};
    for (int n = 0; n < 20 && !t->failed; n++) {
        gconv_filter *filter = check_filter_named(filters[n % 5]);
        gconv_shape shape = grey(64 + (uint32_t)(n % 3) * 33, 70);
        shape.channels = 1 + n / 5 % 4;
        shape.depth = 32;
        gconv_job job = job_for(t, shape, all_borders[n % GCONV_BORDER_COUNT]);
        job.alpha = (gconv_alpha)(n % 3);
        job.output_depth = depths[n / 2 % 4];
        float *pixels = strange_floats(t, (size_t)shape.width * shape.height * 4);
        size_t bytes = (size_t)shape.width * shape.height * (size_t)shape.channels;
        bytes = job.output_depth > 8    ? bytes * (size_t)job.output_depth / 8
                : job.output_depth == 8 ? bytes
                : shape.channels > 1    ? bytes
                                        : (shape.width + 7) / 8 * (size_t)shape.height;
        unsigned char *got = allocate(bytes + BEHIND_BYTES, 1);
        memset(got, 0xa5, bytes + BEHIND_BYTES);
        if (run_job(t, &job, filter, pixels, got) && !is_clear(got + bytes)) {
            check_fail(t->subject, NULL, "%s: bytes behind the output were written",
                       t->subject->property);
            t->failed = true;
        }
        free(got);
        free(pixels);
        gconv_filter_free(filter);
    }
}

/* ---- The list -------------------------------------------------------------------------------- */

typedef struct property {
    const char *name;
    void (*run)(trial *t);
} property;

static const property properties[] = {{"strange-samples", strange_samples}};
enum { PROPERTY_COUNT = sizeof properties / sizeof properties[0] };

int check_property_count(void)
{
    return PROPERTY_COUNT;
}

const char *check_property_name(int index)
{
    return properties[index].name;
}

check_verdict check_property_run(int index, check_subject *subject)
{
    trial t = {.subject = subject, .random = check_random_for(subject->seed, (uint64_t)index)};
    subject->property = properties[index].name;
    properties[index].run(&t);
    if (t.failed)
        return CHECK_FAILED;
    return t.done > 0 ? CHECK_PASSED : CHECK_SKIPPED;
}
