#include "run.h"
#include "core/conversion.h"
#include "core/plan.h"
#include "gconv_lab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static gconv_job job_of(const check_trial *trial, const char *implementation, const char *device)
{
    gconv_job job = trial->made.job;
    job.filters = (const gconv_filter *const *)trial->made.filters;
    job.tiling = &trial->made.tiling;
    job.implementation = implementation;
    job.device = device;
    return job;
}

static size_t chain_row_bytes(const gconv_job *job)
{
    return job->input.width * (size_t)judge_channels(job) * sizeof(float);
}

/* Freed with free. */
static void *without_padding(const check_image *image)
{
    char *rows = check_allocate(image->row_bytes * image->rows, 1);
    for (uint32_t y = 0; y < image->rows; y++)
        memcpy(rows + y * image->row_bytes, check_image_row(image, y), image->row_bytes);
    return rows;
}

/* ---- The trial and its reference ------------------------------------------------------------- */

static check_verdict judge_reference(check_trial *trial, const check_subject *subject,
                                     const gconv_job *job, const gconv_plan *plan)
{
    float *judged = judge_chain(job, &trial->input);
    gconv_difference difference;
    gconv_error error;
    gconv_status status =
        gconv_plan_compare(plan, check_image_row(&trial->input, 0), trial->input.stride,
                           trial->reference, judged, chain_row_bytes(job), &difference, &error);
    double bound = trial->exact ? 0 : difference.bound * fabs(judge_divisor(job));
    compare_map map = compare_chains(&job->input, judge_channels(job), trial->reference, judged,
                                     bound * (1 + 1e-9));
    free(judged);
    trial->judged = true;
    if (status != GCONV_OK)
        return check_fail(subject, NULL, "cannot compare: %s", error.message);
    if (map.wrong > 0)
        return check_fail(subject, &map, "the chain differs from the independent formula");
    return CHECK_PASSED;
}

static check_image make_output(check_trial *trial, const gconv_plan *plan)
{
    const gconv_shape *shape = gconv_plan_output_shape(plan);
    return check_image_create(gconv_shape_row_bytes(shape), shape->height,
                              check_sample_bytes(shape->depth), &trial->made.random);
}

static bool is_as_exact_as_wanted(const check_trial *trial)
{
    check_exactness wanted = trial->made.exactness;
    return wanted == CHECK_ANY || trial->exact == (wanted == CHECK_EXACT);
}

static check_verdict run_reference(check_trial *trial, const check_subject *subject)
{
    gconv_job job = job_of(trial, "reference", "auto");
    gconv_plan *plan;
    gconv_error error;
    if (gconv_plan_create(&job, &plan, &error) != GCONV_OK)
        return check_fail(subject, NULL, "no plan: %s", error.message);
    size_t row_bytes = chain_row_bytes(&job);
    trial->exact = gconv_plan_is_exact(plan);
    trial->reference = check_allocate(row_bytes * job.input.height, 1);
    trial->output = make_output(trial, plan);
    check_verdict verdict = CHECK_PASSED;
    if (!is_as_exact_as_wanted(trial))
        verdict = check_fail(subject, NULL, "the chain is %sexact", trial->exact ? "" : "not ");
    else if (gconv_plan_run_chain(plan, check_image_row(&trial->input, 0), trial->input.stride,
                                  trial->reference, row_bytes, NULL, &error) != GCONV_OK ||
             gconv_plan_run_memory(plan, check_image_row(&trial->input, 0), trial->input.stride,
                                   check_image_row(&trial->output, 0), trial->output.stride, NULL,
                                   &error) != GCONV_OK)
        verdict = check_fail(subject, NULL, "the run fails: %s", error.message);
    else if (judge_work(&job) <= CHECK_JUDGE_WORK)
        verdict = judge_reference(trial, subject, &job, plan);
    gconv_plan_free(plan);
    return verdict;
}

/* Nobody says what becomes of such samples. */
static bool is_strange(const check_trial *trial)
{
    return trial->made.pattern == CHECK_PATTERN_STRANGE;
}

check_verdict check_trial_of(check_trial *trial, uint64_t seed, check_case made)
{
    memset(trial, 0, sizeof *trial);
    trial->made = made;
    const gconv_shape *shape = &trial->made.job.input;
    check_random *random = &trial->made.random;
    trial->input = check_image_create(gconv_shape_row_bytes(shape), shape->height,
                                      check_sample_bytes(shape->depth), random);
    check_fill_pattern(&trial->input, shape, trial->made.pattern, random);
    trial->input_copy = check_allocate(trial->input.bytes, 1);
    memcpy(trial->input_copy, trial->input.memory, trial->input.bytes);
    check_subject subject = {
        .implementation = "reference", .device = "auto", .seed = seed, .made = &trial->made};
    snprintf(subject.replay, sizeof subject.replay, "--case %d", made.index);
    return is_strange(trial) ? CHECK_PASSED : run_reference(trial, &subject);
}

check_verdict check_trial_create(check_trial *trial, uint64_t seed, int index)
{
    return check_trial_of(trial, seed, check_case_make(seed, index));
}

void check_trial_free(check_trial *trial)
{
    check_image_free(&trial->input);
    free(trial->input_copy);
    free(trial->reference);
    free(trial->found[0].rows);
    free(trial->found[1].rows);
    check_image_free(&trial->output);
    check_case_free(&trial->made);
}

/* ---- An implementation at work --------------------------------------------------------------- */

typedef struct contender {
    check_trial *trial;
    const check_subject *subject;
    gconv_job job;
    gconv_plan *plan;
    check_image chain;  /* its chain values */
    check_image output; /* what run_memory made of them */
    double bound;       /* on chain values, 0 if exact */
} contender;

/* ---- Rows in and out, one probe each --------------------------------------------------------- */

/* A source or sink on a guarded image that notices when it is asked for nonsense. */
typedef struct row_probe {
    check_image *image;
    uint32_t next;
    int naps; /* calls that take their time, so that who does not wait for rows is found out */
} row_probe;

static void take_time(row_probe *probe)
{
    if (probe->naps <= 0)
        return;
    probe->naps--;
    nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

/* Naps only where the image is large enough to be computed in parts. */
static int random_naps(contender *c)
{
    const gconv_job *job = &c->job;
    bool large = (double)job->input.width * job->input.height > 1e4 && job->threads > 1;
    return large && check_once_in(&c->trial->made.random, 2) ? 40 : 0;
}

static bool request_is_sane(const row_probe *probe, uint32_t count, size_t stride,
                            gconv_error *error)
{
    bool sane = count >= 1 && count <= probe->image->rows - probe->next &&
                stride >= probe->image->row_bytes;
    if (!sane && error != NULL) {
        error->status = GCONV_ERROR_ARGUMENT;
        snprintf(error->message, sizeof error->message,
                 "asked for %u rows, %zu bytes apart, at row %u of %u rows of %zu bytes", count,
                 stride, probe->next, probe->image->rows, probe->image->row_bytes);
    }
    return sane;
}

static gconv_status probe_read(void *user, uint32_t count, void *rows, size_t stride,
                               gconv_error *error)
{
    row_probe *probe = user;
    if (!request_is_sane(probe, count, stride, error))
        return GCONV_ERROR_ARGUMENT;
    take_time(probe);
    for (uint32_t i = 0; i < count; i++)
        memcpy((char *)rows + i * stride, check_image_row(probe->image, probe->next++),
               probe->image->row_bytes);
    return GCONV_OK;
}

static gconv_status probe_write(void *user, uint32_t count, const void *rows, size_t stride,
                                gconv_error *error)
{
    row_probe *probe = user;
    if (!request_is_sane(probe, count, stride, error))
        return GCONV_ERROR_ARGUMENT;
    take_time(probe);
    for (uint32_t i = 0; i < count; i++)
        memcpy(check_image_row(probe->image, probe->next++), (const char *)rows + i * stride,
               probe->image->row_bytes);
    return GCONV_OK;
}

/* ---- An implementation ----------------------------------------------------------------------- */

static check_verdict check_surroundings(const contender *c, const check_image *written,
                                        const char *what)
{
    const check_trial *trial = c->trial;
    if (!check_image_guards_hold(written))
        return check_fail(c->subject, NULL, "%s: bytes outside the rows were written", what);
    if (memcmp(trial->input.memory, trial->input_copy, trial->input.bytes) != 0)
        return check_fail(c->subject, NULL, "%s: the input was changed", what);
    return CHECK_PASSED;
}

static check_verdict check_chain(contender *c)
{
    const check_image *input = &c->trial->input;
    gconv_error error;
    check_image_poison(&c->chain, 0xff); /* a NaN wherever nothing is written */
    if (gconv_plan_run_chain(c->plan, check_image_row(input, 0), input->stride,
                             (float *)(void *)check_image_row(&c->chain, 0), c->chain.stride, NULL,
                             &error) != GCONV_OK)
        return check_fail(c->subject, NULL, "run_chain fails: %s", error.message);
    if (check_surroundings(c, &c->chain, "run_chain") != CHECK_PASSED)
        return CHECK_FAILED;
    float *values = without_padding(&c->chain);
    gconv_difference difference;
    gconv_status status =
        gconv_plan_compare(c->plan, check_image_row(input, 0), input->stride, values,
                           c->trial->reference, c->chain.row_bytes, &difference, &error);
    if (c->trial->exact)
        difference.bound = 0;
    c->bound = difference.bound * fabs(judge_divisor(&c->job)) * (1 + 1e-9);
    compare_map map = compare_chains(&c->job.input, judge_channels(&c->job), values,
                                     c->trial->reference, c->bound);
    free(values);
    if (status != GCONV_OK)
        return check_fail(c->subject, NULL, "cannot compare: %s", error.message);
    if (map.wrong > 0)
        return check_fail(c->subject, &map, "the chain differs from the reference by up to %g",
                          difference.largest);
    if (!difference.within)
        return check_fail(c->subject, NULL, "gconv_plan_compare sees a difference of %g, we none",
                          difference.largest);
    return CHECK_PASSED;
}

static bool is_found(const check_found *found, double bound, const check_image *output)
{
    if (found->rows == NULL || found->bound != bound)
        return false;
    for (uint32_t y = 0; y < output->rows; y++)
        if (memcmp(found->rows + y * output->row_bytes, check_image_row(output, y),
                   output->row_bytes) != 0)
            return false;
    return true;
}

/* `promised`: the samples are those of the reference, each rounded once. */
static check_verdict check_against_judge(const contender *c, const check_image *output,
                                         bool promised, const char *what)
{
    check_trial *trial = c->trial;
    bool once = promised && trial->exact;
    check_found *found = &trial->found[once];
    if (check_surroundings(c, output, what) != CHECK_PASSED)
        return CHECK_FAILED;
    for (uint32_t y = 0; promised && y < output->rows; y++)
        if (memcmp(check_image_row(output, y), check_image_row(&trial->output, y),
                   output->row_bytes) != 0)
            return check_fail(c->subject, NULL, "%s: row %u is not that of the reference", what, y);
    if (is_found(found, c->bound, output))
        return CHECK_PASSED;
    compare_map map =
        compare_output(&c->job, &trial->input, trial->reference, c->bound, once, output);
    if (map.wrong > 0)
        return check_fail(c->subject, &map, "%s: the output is wrong", what);
    free(found->rows);
    *found = (check_found){without_padding(output), c->bound};
    return CHECK_PASSED;
}

static check_verdict run_to_memory(contender *c)
{
    const check_image *input = &c->trial->input;
    gconv_error error;
    check_image_poison(&c->output, 0xa5);
    if (gconv_plan_run_memory(c->plan, check_image_row(input, 0), input->stride,
                              check_image_row(&c->output, 0), c->output.stride, NULL,
                              &error) != GCONV_OK)
        return check_fail(c->subject, NULL, "run_memory fails: %s", error.message);
    return check_surroundings(c, &c->output, "run_memory");
}

static bool is_promised(const contender *c)
{
    return gconv_plan_promise(c->plan) != GCONV_PROMISE_BOUNDED;
}

static check_verdict check_memory(contender *c)
{
    check_verdict verdict = run_to_memory(c);
    return verdict == CHECK_PASSED
               ? check_against_judge(c, &c->output, is_promised(c), "run_memory")
               : verdict;
}

/* Whether the rows are those of run_memory. */
static check_verdict check_same(contender *c, const check_image *output, const char *what)
{
    for (uint32_t y = 0; y < output->rows; y++)
        if (memcmp(check_image_row(output, y), check_image_row(&c->output, y), output->row_bytes) !=
            0)
            return check_fail(c->subject, NULL, "%s: row %u is not that of run_memory", what, y);
    return CHECK_PASSED;
}

/* Runs to rows of a fresh image; exact ones are those of run_memory. */
static check_verdict check_rows(contender *c, check_image *output)
{
    const char *what = "run by rows";
    check_image *input = &c->trial->input;
    row_probe source = {.image = input, .naps = random_naps(c)};
    row_probe sink = {.image = output, .naps = random_naps(c)};
    gconv_error error;
    check_image_poison(output, 0x5a);
    gconv_status status = gconv_plan_run(
        c->plan, &(gconv_source){.size = sizeof(gconv_source), .read = probe_read, .user = &source},
        &(gconv_sink){.size = sizeof(gconv_sink), .write = probe_write, .user = &sink}, NULL,
        &error);
    if (status != GCONV_OK)
        return check_fail(c->subject, NULL, "%s fails: %s", what, error.message);
    if (sink.next != output->rows || source.next != input->rows)
        return check_fail(c->subject, NULL, "%s: %u rows were read and %u written", what,
                          source.next, sink.next);
    if (c->trial->exact && check_same(c, output, what) != CHECK_PASSED)
        return CHECK_FAILED;
    return check_against_judge(c, output, is_promised(c), what);
}

/* Converts the chain values by rule 5 in double, which most implementations do not call. */
static check_verdict check_conversion(contender *c, check_image *output)
{
    const char *what = "the conversion of chain values";
    const gc_conversion *conversion = &c->plan->problem.conversion;
    OWNED float *alpha = calloc(conversion->input.width, sizeof *alpha);
    check_image_poison(output, 0x5a);
    for (uint32_t y = 0; y < output->rows; y++) {
        if (conversion->keeps_alpha)
            gc_extract_alpha(&conversion->input, check_image_row(&c->trial->input, y), alpha);
        gc_store_pixels(conversion, (const float *)(const void *)check_image_row(&c->chain, y),
                        conversion->input.width, conversion->keeps_alpha ? alpha : NULL,
                        check_image_row(output, y));
    }
    bool alike = c->plan->problem.rounding.plain || !is_promised(c);
    if (c->trial->exact && alike && check_same(c, output, what) != CHECK_PASSED)
        return CHECK_FAILED;
    return check_against_judge(c, output, false, what);
}

/* A run on strange samples ends like others and writes its output alone. */
static check_verdict check_strange(contender *c)
{
    c->output = make_output(c->trial, c->plan);
    check_verdict verdict = run_to_memory(c);
    check_image_free(&c->output);
    return verdict;
}

static check_verdict check_all(contender *c)
{
    c->chain = check_image_create(chain_row_bytes(&c->job), c->job.input.height, sizeof(float),
                                  &c->trial->made.random);
    c->output = make_output(c->trial, c->plan);
    check_image other = make_output(c->trial, c->plan);
    check_verdict verdict = CHECK_PASSED;
    if (gconv_plan_is_exact(c->plan) != c->trial->exact)
        verdict = check_fail(c->subject, NULL, "exact for the reference or for it, not for both");
    if (verdict == CHECK_PASSED)
        verdict = check_chain(c);
    if (verdict == CHECK_PASSED)
        verdict = check_memory(c);
    if (verdict == CHECK_PASSED)
        verdict = check_rows(c, &other);
    if (verdict == CHECK_PASSED)
        verdict = check_conversion(c, &other);
    check_image_free(&other);
    check_image_free(&c->output);
    check_image_free(&c->chain);
    return verdict;
}

check_verdict check_trial_run(check_trial *trial, check_subject *subject)
{
    if (strcmp(subject->implementation, "reference") == 0 && !trial->judged && !is_strange(trial))
        return CHECK_SKIPPED;
    contender c = {.trial = trial, .subject = subject};
    c.job = job_of(trial, subject->implementation, subject->device);
    gconv_error error;
    gconv_status status = gconv_plan_create(&c.job, &c.plan, &error);
    if (status == GCONV_ERROR_UNSUPPORTED) {
        subject->refused = true;
        return CHECK_SKIPPED;
    }
    if (status != GCONV_OK)
        return check_fail(subject, NULL, "no plan: %s", error.message);
    check_verdict verdict = is_strange(trial) ? check_strange(&c) : check_all(&c);
    gconv_plan_free(c.plan);
    return verdict;
}
