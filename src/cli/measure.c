#include "cli/measure.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_MIN = 3, RUNS_MAX = 1000 };

const char *gc_verdict_name(gc_verdict verdict)
{
    static const char *const names[] = {
        [GC_VERDICT_EXACT] = "exact",
        [GC_VERDICT_WITHIN] = "within bound",
        [GC_VERDICT_WRONG] = "WRONG",
        [GC_VERDICT_UNUSABLE] = "not usable",
    };
    return names[verdict];
}

const char *gc_measurement_label(const gc_measurement *row, char *buffer, size_t size)
{
    bool chosen = strcmp(row->name, row->implementation) != 0;
    snprintf(buffer, size, "%s%s%s", row->name, chosen ? ": " : "",
             chosen ? row->implementation : "");
    return buffer;
}

static gconv_status make_plan(const gc_session *session, const char *name,
                              const gc_picture *picture, gconv_alpha alpha, gconv_plan **plan,
                              gconv_error *error)
{
    gconv_job job = session->job;
    job.input = picture->shape;
    job.alpha = alpha;
    job.output_depth = job.output == GCONV_OUTPUT_EDGES ? 1 : picture->shape.depth;
    job.implementation = name;
    job.device = gc_device_for(session, name);
    return gconv_plan_create(&job, plan, error);
}

void gc_expectation_destroy(gc_expectation *expectation)
{
    free(expectation->chain);
    free(expectation->output);
    *expectation = (gc_expectation){.chain = NULL};
}

gconv_status gc_expect(const gc_session *session, const gc_picture *picture, gconv_alpha alpha,
                       gc_expectation *expectation, gconv_error *error)
{
    *expectation = (gc_expectation){.chain = NULL};
    gconv_plan *plan;
    gconv_status status = make_plan(session, "reference", picture, alpha, &plan, error);
    if (status != GCONV_OK)
        return status;
    gc_expectation *e = expectation;
    e->chain_stride =
        picture->shape.width * (size_t)gconv_plan_chain_channels(plan) * sizeof(float);
    e->output_stride = gconv_shape_row_bytes(gconv_plan_output_shape(plan));
    e->output_bytes = e->output_stride * picture->shape.height;
    e->chain = gc_allocate_array(picture->shape.height, e->chain_stride);
    e->output = gc_allocate_array(picture->shape.height, e->output_stride);
    if (e->chain == NULL || e->output == NULL)
        status = gc_fail_memory(error, e->output_bytes + e->chain_stride * picture->shape.height);
    if (status == GCONV_OK)
        status = gconv_plan_run_chain(plan, picture->samples, picture->stride, e->chain,
                                      e->chain_stride, NULL, error);
    double start = gc_seconds();
    if (status == GCONV_OK)
        status = gconv_plan_run_memory(plan, picture->samples, picture->stride, e->output,
                                       e->output_stride, NULL, error);
    e->seconds = gc_seconds() - start;
    gconv_plan_free(plan);
    return status;
}

/* Runs chain and whole job once and compares both with what is expected. */
static gconv_status check_plan(gconv_plan *plan, const gc_picture *picture,
                               const gc_expectation *expected, gc_measurement *row,
                               gconv_error *error)
{
    float *chain = gc_allocate_array(picture->shape.height, expected->chain_stride);
    void *output = gc_allocate_array(1, expected->output_bytes);
    gconv_status status = GCONV_OK;
    if (chain == NULL || output == NULL)
        status = gc_fail_memory(error, expected->output_bytes);
    if (status == GCONV_OK)
        status = gconv_plan_run_chain(plan, picture->samples, picture->stride, chain,
                                      expected->chain_stride, NULL, error);
    if (status == GCONV_OK)
        status = gconv_plan_compare(plan, picture->samples, picture->stride, chain, expected->chain,
                                    expected->chain_stride, &row->difference, error);
    if (status == GCONV_OK)
        status = gconv_plan_run_memory(plan, picture->samples, picture->stride, output,
                                       expected->output_stride, NULL, error);
    if (status == GCONV_OK) {
        bool exact = gconv_plan_is_exact(plan);
        bool same = !exact || memcmp(output, expected->output, expected->output_bytes) == 0;
        row->verdict = !row->difference.within || !same ? GC_VERDICT_WRONG
                       : exact                          ? GC_VERDICT_EXACT
                                                        : GC_VERDICT_WITHIN;
    }
    free(output);
    free(chain);
    return status;
}

gconv_status gc_check(const gc_session *session, const char *name, const gc_picture *picture,
                      gconv_alpha alpha, const gc_expectation *expectation, gc_measurement *row,
                      gconv_error *error)
{
    *row = (gc_measurement){.name = name, .implementation = name};
    gconv_plan *plan;
    gconv_status status = make_plan(session, name, picture, alpha, &plan, &row->reason);
    if (status == GCONV_OK) {
        row->implementation = gconv_plan_implementation(plan);
        status = check_plan(plan, picture, expectation, row, &row->reason);
    }
    gconv_plan_free(plan);
    if (status == GCONV_ERROR_UNSUPPORTED || status == GCONV_ERROR_DEVICE ||
        status == GCONV_ERROR_MEMORY) {
        row->verdict = GC_VERDICT_UNUSABLE;
        return GCONV_OK;
    }
    *error = row->reason;
    return status;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static gconv_status time_plan(gconv_plan *plan, const gc_picture *picture, double seconds,
                              gc_measurement *row, gconv_error *error)
{
    size_t stride = gconv_shape_row_bytes(gconv_plan_output_shape(plan));
    void *output = gc_allocate_array(picture->shape.height, stride);
    if (output == NULL)
        return gc_fail_memory(error, picture->shape.height * stride);
    double times[RUNS_MAX];
    double begin = gc_seconds();
    gconv_status status = GCONV_OK;
    for (int run = -1; status == GCONV_OK && run < RUNS_MAX; run++) {
        double start = gc_seconds();
        bool enough = run >= RUNS_MIN || (run > 0 && times[0] > seconds);
        if (enough && start - begin > seconds)
            break;
        status = gconv_plan_run_memory(plan, picture->samples, picture->stride, output, stride,
                                       NULL, error);
        if (run >= 0)
            times[row->runs++] = gc_seconds() - start;
    }
    free(output);
    if (status != GCONV_OK)
        return status;
    qsort(times, (size_t)row->runs, sizeof times[0], compare_doubles);
    row->seconds = (times[row->runs / 2] + times[(row->runs - 1) / 2]) / 2;
    row->shortest = times[0];
    return GCONV_OK;
}

gconv_status gc_time(const gc_session *session, const char *name, const gc_picture *picture,
                     gconv_alpha alpha, double seconds, gc_measurement *row, gconv_error *error)
{
    gconv_plan *plan;
    gconv_status status = make_plan(session, name, picture, alpha, &plan, error);
    if (status != GCONV_OK)
        return status;
    snprintf(row->explanation, sizeof row->explanation, "%s", gconv_plan_explanation(plan));
    row->intensity = gconv_plan_intensity(plan);
    row->roofline = gconv_plan_roofline(plan);
    status = time_plan(plan, picture, seconds, row, error);
    if (status == GCONV_OK &&
        gconv_plan_time_device(plan, picture->samples, picture->stride, seconds,
                               &row->kernel_seconds, NULL) != GCONV_OK)
        row->kernel_seconds = 0;
    double counted = row->kernel_seconds > 0 ? row->kernel_seconds : row->seconds;
    double values =
        (double)picture->shape.width * picture->shape.height * gconv_plan_chain_channels(plan);
    double taps = 0;
    for (int i = 0; i < session->filter_count; i++)
        taps += (double)session->filters[i]->width * session->filters[i]->height;
    row->values_a_second = values / counted;
    row->flops = 2 * taps * values / counted;
    gconv_plan_free(plan);
    return status;
}

static bool is_named(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

bool gc_is_named_list(const gc_options *options)
{
    const char *list = options->implementation;
    return list != NULL && !is_named(list, "all");
}

const char **gc_implementation_list(const gc_options *options, const char *fallback, int *count)
{
    const char *list = options->implementation != NULL ? options->implementation : fallback;
    const char **names = gc_allocate_array((size_t)gconv_implementation_count() + 1, sizeof *names);
    *count = 0;
    if (names == NULL)
        return NULL;
    if (is_named(list, "auto"))
        names[(*count)++] = "auto";
    gconv_implementation_info info;
    for (int i = 0; i < gconv_implementation_count(); i++)
        if (gconv_implementation_describe(i, &info, NULL) == GCONV_OK &&
            (is_named(list, "all") || is_named(list, info.name)))
            names[(*count)++] = info.name;
    return names;
}

const char *gc_figure(double value, const char *unit, int decimals, char *buffer, size_t size)
{
    if (value > 0)
        snprintf(buffer, size, "%.*f%s", decimals, value, unit);
    else
        snprintf(buffer, size, "-");
    return buffer;
}
