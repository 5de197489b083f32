#include "properties.h"

#include "filters.h"
#include "gconv_lab.h"

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

static size_t values_of(const gconv_job *job)
{
    return (size_t)job->input.width * job->input.height * (size_t)judge_channels(job);
}

/* Runs the job of one filter: to chain values, or to output samples. False when it was refused or
 * failed. */
static bool run_job(trial *t, gconv_job *job, const gconv_filter *filter, const void *pixels,
                    void *result, bool to_chain)
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
    size_t row = gconv_shape_row_bytes(&job->input);
    if (status == GCONV_OK && to_chain)
        status =
            gconv_plan_run_chain(plan, pixels, row, result,
                                 values_of(job) / job->input.height * sizeof(float), NULL, &error);
    else if (status == GCONV_OK)
        status = gconv_plan_run_memory(plan, pixels, row, result,
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

/* Chain values of one filter on 8-bit pixels; NULL when refused or failed. Freed with free. */
static float *chain_of(trial *t, gconv_job *job, const gconv_filter *filter,
                       const unsigned char *pixels)
{
    float *chain = check_allocate(values_of(job), sizeof *chain);
    if (run_job(t, job, filter, pixels, chain, true))
        return chain;
    free(chain);
    return NULL;
}

/* Fails the property unless the values are the same. */
static void demand_same(trial *t, const gconv_job *job, const float *got, const float *wanted,
                        const char *what)
{
    compare_map map = compare_chains(&job->input, judge_channels(job), got, wanted, 0);
    if (map.wrong == 0 || t->failed)
        return;
    check_fail(t->subject, &map, "%s: %s (%ux%u, border %s)", t->subject->property, what,
               job->input.width, job->input.height, gconv_border_name(job->border));
    t->failed = true;
}

static unsigned char *random_pixels(trial *t, size_t count, uint32_t below)
{
    unsigned char *pixels = check_allocate(count, 1);
    for (size_t i = 0; i < count; i++)
        pixels[i] = (unsigned char)check_below(&t->random, below);
    return pixels;
}

static gconv_shape grey(uint32_t width, uint32_t height)
{
    return (gconv_shape){.width = width, .height = height, .channels = 1, .depth = 8};
}

/* A whole-weight filter of random size and anchor. */
static gconv_filter *any_filter(trial *t)
{
    int width = check_between(&t->random, 1, 9), height = check_between(&t->random, 1, 9);
    return check_filter_random(&t->random, width, height, true);
}

/* ---- The properties -------------------------------------------------------------------------- */

/* An impulse on black leaves the filter itself, its anchor on the impulse; correlation leaves it
 * turned by half a circle. */
static void impulse(trial *t)
{
    for (int n = 0; n < 12 && !t->failed; n++) {
        OWNED_FILTER filter = any_filter(t);
        gconv_job job = job_for(t, grey(40, 37), GCONV_BORDER_CONSTANT);
        job.correlate = n % 2 == 1;
        int x0 = 19, y0 = 18, sign = job.correlate ? -1 : 1;
        OWNED unsigned char *pixels = check_allocate(values_of(&job), 1);
        OWNED float *wanted = check_allocate(values_of(&job), sizeof *wanted);
        pixels[y0 * 40 + x0] = 1;
        for (int j = 0; j < filter->height; j++)
            for (int i = 0; i < filter->width; i++)
                wanted[(y0 + sign * (j - filter->anchor_y)) * 40 + x0 +
                       sign * (i - filter->anchor_x)] = filter->weights[j * filter->width + i];
        OWNED float *got = chain_of(t, &job, filter, pixels);
        if (got != NULL)
            demand_same(t, &job, got, wanted, "the impulse response is not the filter");
    }
}

/* F(a + b) = F(a) + F(b), exactly, on whole numbers. */
static void linearity(trial *t)
{
    for (int n = 0; n < 8 && !t->failed; n++) {
        OWNED_FILTER filter = any_filter(t);
        gconv_job job = job_for(t, grey(53, 35), all_borders[n % GCONV_BORDER_COUNT]);
        size_t count = values_of(&job);
        OWNED unsigned char *a = random_pixels(t, count, 128);
        OWNED unsigned char *b = random_pixels(t, count, 128);
        OWNED unsigned char *both = check_allocate(count, 1);
        for (size_t i = 0; i < count; i++)
            both[i] = (unsigned char)(a[i] + b[i]);
        OWNED float *from_a = chain_of(t, &job, filter, a);
        OWNED float *from_b = chain_of(t, &job, filter, b);
        OWNED float *from_both = chain_of(t, &job, filter, both);
        if (from_a != NULL && from_b != NULL && from_both != NULL) {
            for (size_t i = 0; i < count; i++)
                from_a[i] += from_b[i];
            demand_same(t, &job, from_both, from_a, "F(a+b) is not F(a) + F(b)");
        }
    }
}

/* Values of `from` moved by (dx, dy) around the edges. */
static void move_floats(const gconv_shape *shape, const float *from, uint32_t dx, uint32_t dy,
                        float *to)
{
    for (uint32_t y = 0; y < shape->height; y++)
        for (uint32_t x = 0; x < shape->width; x++)
            to[(y + dy) % shape->height * shape->width + (x + dx) % shape->width] =
                from[y * shape->width + x];
}

static void move_pixels(const gconv_shape *shape, const unsigned char *from, uint32_t dx,
                        uint32_t dy, unsigned char *to)
{
    for (uint32_t y = 0; y < shape->height; y++)
        for (uint32_t x = 0; x < shape->width; x++)
            to[(y + dy) % shape->height * shape->width + (x + dx) % shape->width] =
                from[y * shape->width + x];
}

/* Makes `got` agree with `wanted` where the filter met a border before or after the move. */
static void forgive_borders(const gconv_shape *shape, uint32_t reach, uint32_t dx, uint32_t dy,
                            float *got, const float *wanted)
{
    for (uint32_t y = 0; y < shape->height; y++)
        for (uint32_t x = 0; x < shape->width; x++) {
            bool inside = x >= reach + dx && x + reach < shape->width && y >= reach + dy &&
                          y + reach < shape->height;
            if (!inside)
                got[y * shape->width + x] = wanted[y * shape->width + x];
        }
}

/* A moved image gives the moved result: away from the borders, and everywhere under wrap. */
static void shift(trial *t)
{
    for (int n = 0; n < 10 && !t->failed; n++) {
        OWNED_FILTER filter = any_filter(t);
        gconv_job job = job_for(t, grey(61, 70), all_borders[n % GCONV_BORDER_COUNT]);
        size_t count = values_of(&job);
        uint32_t dx = check_below(&t->random, 30), dy = check_below(&t->random, 30);
        OWNED unsigned char *pixels = random_pixels(t, count, 256);
        OWNED unsigned char *moved = check_allocate(count, 1);
        move_pixels(&job.input, pixels, dx, dy, moved);
        OWNED float *wanted = check_allocate(count, sizeof *wanted);
        OWNED float *still = chain_of(t, &job, filter, pixels);
        OWNED float *got = chain_of(t, &job, filter, moved);
        if (still != NULL && got != NULL) {
            move_floats(&job.input, still, dx, dy, wanted);
            if (job.border != GCONV_BORDER_WRAP)
                forgive_borders(&job.input, 9, dx, dy, got, wanted);
            demand_same(t, &job, got, wanted, "a moved image gives another result");
        }
    }
}

/* A plain image stays as it is under filters of gain 1 (and the constant border of its value). */
static void plain_image(trial *t)
{
    static const char *const filters[] = {"gauss3", "gauss5",   "box3",
                                          "box2",   "identity", "negative"};
    enum { FILTERS = sizeof filters / sizeof filters[0] };
    for (int n = 0; n < FILTERS * GCONV_BORDER_COUNT && !t->failed; n++) {
        OWNED_FILTER filter = check_filter_named(filters[n % FILTERS]);
        gconv_job job = job_for(t, grey(35, 34), all_borders[n / FILTERS]);
        size_t count = values_of(&job);
        int value = n % 7 == 0 ? 255 : check_between(&t->random, 0, 255);
        /* Ones over -9 have gain -1; the scale makes it 1. */
        job.scale = filter->divisor < 0 ? -1 : 1;
        job.border_value = value;
        OWNED unsigned char *pixels = check_allocate(count, 1);
        OWNED unsigned char *got = check_allocate(count, 1);
        memset(pixels, value, count);
        if (run_job(t, &job, filter, pixels, got, false) && memcmp(pixels, got, count) != 0) {
            check_fail(t->subject, NULL, "%s: %s makes something of plain %d, border %s",
                       t->subject->property, filter->name, value, gconv_border_name(job.border));
            t->failed = true;
        }
    }
}

/* Samples of transparent pixels have no colour after premultiplying: make those 0. */
static void clear_transparent(const gconv_shape *shape, unsigned char *pixels)
{
    size_t channels = (size_t)shape->channels;
    for (size_t i = 0; i < (size_t)shape->width * shape->height; i++) {
        if (check_sample(pixels, shape->depth, i * channels + channels - 1) > 0)
            continue;
        for (size_t c = 0; c + 1 < channels; c++)
            check_set_sample(pixels, shape->depth, i * channels + c, 0);
    }
}

/* The identity filter returns its input at both depths, for all channels and alpha modes. */
static void identity(trial *t)
{
    OWNED_FILTER filter = check_filter_named("identity");
    for (int n = 0; n < 24 && !t->failed; n++) {
        gconv_shape shape = grey(33, 66);
        shape.channels = 1 + n % 4;
        shape.depth = n / 4 % 2 == 0 ? 8 : 16;
        gconv_job job = job_for(t, shape, all_borders[n % GCONV_BORDER_COUNT]);
        job.alpha = (gconv_alpha)(n / 8);
        /* Products of two 16-bit samples are rounded: the bound holds there, not equality. */
        if (shape.depth == 16 && job.alpha == GCONV_ALPHA_PREMULTIPLY)
            continue;
        size_t bytes = gconv_shape_row_bytes(&shape) * shape.height;
        OWNED unsigned char *pixels = random_pixels(t, bytes, 256);
        OWNED unsigned char *got = check_allocate(bytes, 1);
        if (shape.channels % 2 == 0)
            clear_transparent(&shape, pixels);
        if (run_job(t, &job, filter, pixels, got, false) && memcmp(pixels, got, bytes) != 0) {
            check_fail(t->subject, NULL, "%s changes %d channels of %d bits, alpha mode %d",
                       t->subject->property, shape.channels, shape.depth, (int)job.alpha);
            t->failed = true;
        }
    }
}

/* The result grows with the constant of the border in a straight line. */
static void constant_border(trial *t)
{
    for (int n = 0; n < 6 && !t->failed; n++) {
        OWNED_FILTER filter = any_filter(t);
        gconv_job job = job_for(t, grey(19, 40), GCONV_BORDER_CONSTANT);
        size_t count = values_of(&job);
        OWNED unsigned char *pixels = random_pixels(t, count, 256);
        float *with[3] = {NULL, NULL, NULL};
        static const double constants[3] = {0, 1, -90};
        for (int k = 0; k < 3; k++) {
            job.border_value = constants[k];
            with[k] = chain_of(t, &job, filter, pixels);
        }
        if (with[0] != NULL && with[1] != NULL && with[2] != NULL) {
            for (size_t i = 0; i < count; i++)
                with[1][i] = with[0][i] - 90 * (with[1][i] - with[0][i]);
            demand_same(t, &job, with[2], with[1], "not linear in the border constant");
        }
        for (int k = 0; k < 3; k++)
            free(with[k]);
    }
}

/* If everything is opaque, premultiplied and kept alpha give the same picture. */
static void opaque(trial *t)
{
    static const char *const filters[] = {"gauss3", "box3", "box2"};
    for (int n = 0; n < 15 && !t->failed; n++) {
        OWNED_FILTER filter = check_filter_named(filters[n % 3]);
        gconv_shape shape = grey(38, 33);
        shape.channels = n % 2 == 0 ? 4 : 2;
        gconv_job job = job_for(t, shape, all_borders[n / 3]);
        job.border_value = 100;
        size_t bytes = gconv_shape_row_bytes(&shape) * shape.height;
        OWNED unsigned char *pixels = random_pixels(t, bytes, 256);
        OWNED unsigned char *kept = check_allocate(bytes, 1);
        OWNED unsigned char *got = check_allocate(bytes, 1);
        for (size_t i = (size_t)shape.channels - 1; i < bytes; i += (size_t)shape.channels)
            pixels[i] = 255;
        job.alpha = GCONV_ALPHA_KEEP;
        bool ran = run_job(t, &job, filter, pixels, kept, false);
        job.alpha = GCONV_ALPHA_PREMULTIPLY;
        ran = run_job(t, &job, filter, pixels, got, false) && ran;
        if (ran && memcmp(kept, got, bytes) != 0) {
            check_fail(t->subject, NULL, "%s: %s differs by alpha mode, %d channels, border %s",
                       t->subject->property, filter->name, shape.channels,
                       gconv_border_name(job.border));
            t->failed = true;
        }
    }
}

/* ---- The list -------------------------------------------------------------------------------- */

typedef struct property {
    const char *name;
    void (*run)(trial *t);
} property;

static const property properties[] = {
    {"impulse", impulse},         {"linearity", linearity}, {"shift", shift},
    {"plain-image", plain_image}, {"identity", identity},   {"constant-border", constant_border},
    {"opaque", opaque},
};
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
