#include "cli/measure.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "cli/messages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is measured is what an implementation reaches: its preparation is not counted. */
enum { RUNS_MIN = 3, RUNS_MAX = 1000, RUNS_EXPECTED = 1000000 };

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

void gc_note_compilation(const gc_measurement *row)
{
    if (row->compile_seconds > 0)
        gc_note(NULL, "%s: its kernels took %.0f ms to compile, which is not counted", row->name,
                1e3 * row->compile_seconds);
}

/* For one run where `name` is auto, for many where it is an implementation. */
static gconv_status make_plan(const gc_session *session, const char *name,
                              const char *implementation, const gc_picture *picture,
                              gconv_alpha alpha, gconv_plan **plan, gconv_error *error)
{
    gconv_job job = session->job;
    job.input = picture->shape;
    job.alpha = alpha;
    job.output_depth = job.output == GCONV_OUTPUT_EDGES ? 1 : picture->shape.depth;
    job.implementation = implementation;
    job.runs = strcmp(name, "auto") == 0 ? 0 : RUNS_EXPECTED;
    job.device = gc_device_for(session, name);
    return gconv_plan_create(&job, plan, error);
}

/* A plan for `row` whose runs begin at once. What compiling took is added to the row. */
static gconv_status make_ready_plan(const gc_session *session, const gc_picture *picture,
                                    gconv_alpha alpha, gc_measurement *row, gconv_plan **plan,
                                    gconv_error *error)
{
    gconv_status status =
        make_plan(session, row->name, row->implementation, picture, alpha, plan, error);
    if (status != GCONV_OK)
        return status;
    double seconds;
    status = gconv_plan_prepare(*plan, &seconds, error);
    row->compile_seconds += seconds;
    return status;
}

void gc_expectation_destroy(gc_expectation *expectation)
{
    free(expectation->chain);
    free(expectation->output);
    *expectation = (gc_expectation){.chain = NULL};
}

/* How much of everything is done, once this part of the present measurement is. */
static double progress(const gc_session *session, double part)
{
    return ((double)session->image + fmin(part, 1)) / (double)session->image_count;
}

static void begin_progress(const gc_session *session, const char *name)
{
    gc_progress_begin(name, progress(session, 0), session->image, session->image_count);
}

/* Of the reference's run. */
static bool show_reference(void *user, double done)
{
    const gc_session *session = user;
    gc_progress_show("the reference, to judge by", progress(session, done), session->image,
                     session->image_count);
    return true;
}

/* Rows of output on their way into memory. */
typedef struct row_sink {
    char *to;
    size_t row_bytes;
    uint32_t rows, height;
    double start, limit; /* where limit > 0: a run that will take longer is given up */
    double first;        /* when the first rows came, which may be at the end of all work */
    uint32_t first_rows; /* as many */
} row_sink;

/* Whether the run will take too long: what the rows took that came after the first ones foretells the
 * others, once a tenth of the limit is spent. */
static bool takes_too_long(const row_sink *sink)
{
    double now = gc_seconds();
    uint32_t came = sink->rows - sink->first_rows, left = sink->height - sink->rows;
    if (!(sink->limit > 0) || now - sink->start < sink->limit / 10 || came == 0 || left == 0)
        return false;
    return now - sink->start + (now - sink->first) / came * left > sink->limit;
}

static gconv_status write_rows(void *user, uint32_t count, const void *rows, size_t stride,
                               gconv_error *error)
{
    row_sink *sink = user;
    for (uint32_t i = 0; i < count; i++)
        memcpy(sink->to + (size_t)sink->rows++ * sink->row_bytes, (const char *)rows + i * stride,
               sink->row_bytes);
    if (sink->first_rows == 0) {
        sink->first_rows = sink->rows;
        sink->first = gc_seconds();
    }
    if (takes_too_long(sink))
        return gc_fail(error, GCONV_ERROR_LIMIT, "takes too long");
    return GCONV_OK;
}

typedef struct row_source {
    const gc_picture *picture;
    uint32_t rows;
} row_source;

static gconv_status read_rows(void *user, uint32_t count, void *rows, size_t stride,
                              gconv_error *error)
{
    row_source *source = user;
    const gc_picture *picture = source->picture;
    (void)error;
    for (uint32_t i = 0; i < count; i++)
        memcpy((char *)rows + i * stride,
               picture->samples + (size_t)source->rows++ * picture->stride, picture->stride);
    return GCONV_OK;
}

/* The final conversion alone, after gconv_plan_run_chain. */
static gconv_status convert(const gconv_plan *plan, const gc_picture *picture, const float *chain,
                            size_t chain_stride, void *output, gconv_error *error)
{
    row_sink sink = {.to = output,
                     .row_bytes = gconv_shape_row_bytes(gconv_plan_output_shape(plan))};
    return gconv_plan_convert(plan, chain, chain_stride, picture->samples, picture->stride,
                              (gconv_sink){write_rows, &sink}, error);
}

gconv_status gc_expect(const gc_session *session, const gc_picture *picture, gconv_alpha alpha,
                       gc_expectation *expectation, gconv_error *error)
{
    *expectation = (gc_expectation){.chain = NULL};
    gconv_plan *plan;
    gconv_status status =
        make_plan(session, "reference", "reference", picture, alpha, &plan, error);
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
    gconv_plan_watch(plan, show_reference, (void *)session);
    double start = gc_seconds();
    if (status == GCONV_OK)
        status = gconv_plan_run_chain(plan, picture->samples, picture->stride, e->chain,
                                      e->chain_stride, NULL, error);
    if (status == GCONV_OK)
        status = convert(plan, picture, e->chain, e->chain_stride, e->output, error);
    e->seconds = gc_seconds() - start;
    gconv_plan_free(plan);
    return status;
}

/* ---- Checking -------------------------------------------------------------------------------- */

static void take_one_run(gc_measurement *row, double seconds)
{
    row->runs = 1;
    row->seconds = row->shortest = seconds;
}

/* Runs the chain and compares it, then the whole job; where the chain takes longer than `limit`
 * its conversion has to do for that. Leaves output of the job in `output`. */
static gconv_status run_and_compare(gconv_plan *plan, const gc_picture *picture,
                                    const gc_expectation *expected, double limit, float *chain,
                                    void *output, gc_measurement *row, gconv_error *error)
{
    double start = gc_seconds();
    gconv_status status = gconv_plan_run_chain(plan, picture->samples, picture->stride, chain,
                                               expected->chain_stride, NULL, error);
    double seconds = gc_seconds() - start;
    if (status == GCONV_OK)
        status = gconv_plan_compare(plan, picture->samples, picture->stride, chain, expected->chain,
                                    expected->chain_stride, &row->difference, error);
    if (status != GCONV_OK)
        return status;
    if (seconds <= limit)
        return gconv_plan_run_memory(plan, picture->samples, picture->stride, output,
                                     expected->output_stride, NULL, error);
    start = gc_seconds();
    status = convert(plan, picture, chain, expected->chain_stride, output, error);
    take_one_run(row, seconds + gc_seconds() - start);
    return status;
}

static void judge(const gconv_plan *plan, bool same_output, gc_measurement *row)
{
    bool exact = gconv_plan_is_exact(plan);
    row->verdict = !row->difference.within || (exact && !same_output) ? GC_VERDICT_WRONG
                   : exact                                            ? GC_VERDICT_EXACT
                                                                      : GC_VERDICT_WITHIN;
}

static gconv_status check_plan(gconv_plan *plan, const gc_picture *picture,
                               const gc_expectation *expected, double limit, gc_measurement *row,
                               gconv_error *error)
{
    float *chain = gc_allocate_array(picture->shape.height, expected->chain_stride);
    void *output = gc_allocate_array(1, expected->output_bytes);
    gconv_status status = GCONV_OK;
    if (chain == NULL || output == NULL)
        status = gc_fail_memory(error, expected->output_bytes);
    if (status == GCONV_OK)
        status = run_and_compare(plan, picture, expected, limit, chain, output, row, error);
    if (status == GCONV_OK)
        judge(plan, memcmp(output, expected->output, expected->output_bytes) == 0, row);
    free(output);
    free(chain);
    return status;
}

/* The reference's own row, where another run of it would take too long: it is what it is. */
static gconv_status adopt_expectation(const gconv_plan *plan, const gc_picture *picture,
                                      const gc_expectation *expected, gc_measurement *row,
                                      gconv_error *error)
{
    gconv_status status =
        gconv_plan_compare(plan, picture->samples, picture->stride, expected->chain,
                           expected->chain, expected->chain_stride, &row->difference, error);
    if (status == GCONV_OK)
        judge(plan, true, row);
    take_one_run(row, expected->seconds);
    return status;
}

/* An implementation that cannot run or breaks down is a verdict, and so is a GPU without enough
 * memory; other failures are failures. */
static gconv_status settle(gconv_status status, gc_measurement *row, gconv_error *error)
{
    if (status == GCONV_ERROR_UNSUPPORTED || status == GCONV_ERROR_DEVICE ||
        (status == GCONV_ERROR_MEMORY && gc_is_cuda(row->implementation))) {
        row->verdict = GC_VERDICT_UNUSABLE;
        row->runs = 0;
        return GCONV_OK;
    }
    if (status != GCONV_OK)
        *error = row->reason;
    return status;
}

/* What auto stands for on `picture`. */
static gconv_status resolve_auto(const gc_session *session, const gc_picture *picture,
                                 gconv_alpha alpha, const char **implementation, gconv_error *error)
{
    gconv_plan *plan;
    gconv_status status = make_plan(session, "auto", "auto", picture, alpha, &plan, error);
    if (status == GCONV_OK)
        *implementation = gconv_plan_implementation(plan);
    gconv_plan_free(plan);
    return status;
}

gconv_status gc_check(const gc_session *session, const char *name, const gc_picture *picture,
                      const gc_picture *timed, gconv_alpha alpha, const gc_expectation *expectation,
                      gc_measurement *row, gconv_error *error)
{
    *row = (gc_measurement){.name = name, .implementation = name};
    gconv_plan *plan = NULL;
    gconv_status status = GCONV_OK;
    if (strcmp(name, "auto") == 0)
        status = resolve_auto(session, timed, alpha, &row->implementation, &row->reason);
    if (status == GCONV_OK)
        status = make_ready_plan(session, picture, alpha, row, &plan, &row->reason);
    if (status == GCONV_OK)
        status = check_plan(plan, picture, expectation, INFINITY, row, &row->reason);
    gconv_plan_free(plan);
    return settle(status, row, error);
}

/* ---- Timing ---------------------------------------------------------------------------------- */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* One run to warm up, given up as GCONV_ERROR_LIMIT where it will take longer than `limit`. */
static gconv_status warm_up(gconv_plan *plan, const gc_picture *picture, double limit, void *output,
                            gconv_error *error)
{
    const gconv_shape *shape = gconv_plan_output_shape(plan);
    row_source source = {.picture = picture};
    row_sink sink = {.to = output,
                     .row_bytes = gconv_shape_row_bytes(shape),
                     .height = shape->height,
                     .start = gc_seconds(),
                     .limit = limit};
    return gconv_plan_run(plan, (gconv_source){read_rows, &source}, (gconv_sink){write_rows, &sink},
                          NULL, error);
}

/* Runs the plan as often as the budget allows. */
static gconv_status run_often(const gc_session *session, gconv_plan *plan,
                              const gc_picture *picture, gc_budget budget, void *output,
                              gc_measurement *row, gconv_error *error)
{
    size_t stride = gconv_shape_row_bytes(gconv_plan_output_shape(plan));
    double times[RUNS_MAX];
    double begin = gc_seconds();
    gconv_status status =
        budget.warm ? GCONV_OK : warm_up(plan, picture, budget.limit, output, error);
    row->too_long = status == GCONV_ERROR_LIMIT;
    if (row->too_long)
        return GCONV_OK;
    while (status == GCONV_OK && row->runs < RUNS_MAX) {
        double start = gc_seconds(), spent = start - begin;
        double last = row->runs > 0 ? times[row->runs - 1] : 0;
        bool enough = row->runs >= budget.runs_min || last > budget.seconds;
        if (row->runs > 0 && enough && spent + last > budget.seconds)
            break;
        gc_progress_show(row->name, progress(session, spent / fmax(budget.seconds, spent)),
                         session->image, session->image_count);
        start = gc_seconds();
        status = gconv_plan_run_memory(plan, picture->samples, picture->stride, output, stride,
                                       NULL, error);
        times[row->runs++] = gc_seconds() - start;
    }
    if (status != GCONV_OK)
        return status;
    qsort(times, (size_t)row->runs, sizeof times[0], compare_doubles);
    row->seconds = (times[row->runs / 2] + times[(row->runs - 1) / 2]) / 2;
    row->shortest = times[0];
    return GCONV_OK;
}

static void fill_rates(const gc_session *session, gconv_plan *plan, const gc_picture *picture,
                       gc_measurement *row)
{
    snprintf(row->explanation, sizeof row->explanation, "%s", gconv_plan_explanation(plan));
    row->intensity = gconv_plan_intensity(plan);
    row->roofline = gconv_plan_roofline(plan);
    double counted = row->kernel_seconds > 0 ? row->kernel_seconds : row->seconds;
    double values =
        (double)picture->shape.width * picture->shape.height * gconv_plan_chain_channels(plan);
    double taps = 0;
    for (int i = 0; i < session->filter_count; i++)
        taps += (double)session->filters[i]->width * session->filters[i]->height;
    row->values_a_second = values / counted;
    row->flops = 2 * taps * values / counted;
}

static gconv_status time_plan(const gc_session *session, gconv_plan *plan,
                              const gc_picture *picture, gc_budget budget, gc_measurement *row,
                              gconv_error *error)
{
    size_t stride = gconv_shape_row_bytes(gconv_plan_output_shape(plan));
    void *output = gc_allocate_array(picture->shape.height, stride);
    if (output == NULL)
        return gc_fail_memory(error, picture->shape.height * stride);
    if (gc_is_cuda(gconv_plan_implementation(plan)))
        budget.seconds /= 2;
    gconv_status status = run_often(session, plan, picture, budget, output, row, error);
    free(output);
    if (status != GCONV_OK || row->too_long)
        return status;
    if (gconv_plan_time_device(plan, picture->samples, picture->stride, fmax(budget.seconds, 0),
                               &row->kernel_seconds, NULL) != GCONV_OK)
        row->kernel_seconds = 0;
    fill_rates(session, plan, picture, row);
    return GCONV_OK;
}

gconv_status gc_time(const gc_session *session, const gc_picture *picture, gconv_alpha alpha,
                     gc_budget budget, gc_measurement *row, gconv_error *error)
{
    gconv_plan *plan = NULL;
    begin_progress(session, row->name);
    gconv_status status = make_ready_plan(session, picture, alpha, row, &plan, error);
    if (status == GCONV_OK)
        status = time_plan(session, plan, picture, budget, row, error);
    gconv_plan_free(plan);
    return status;
}

/* Checks, then times unless the check took too long for more runs. */
static gconv_status check_and_time_plan(const gc_session *session, gconv_plan *plan,
                                        const gc_picture *picture,
                                        const gc_expectation *expectation, double seconds,
                                        gc_measurement *row, gconv_error *error)
{
    bool adopts = strcmp(row->name, "reference") == 0 && expectation->seconds > seconds;
    gconv_status status = adopts ? adopt_expectation(plan, picture, expectation, row, error)
                                 : check_plan(plan, picture, expectation, seconds, row, error);
    if (status != GCONV_OK)
        return status;
    if (row->verdict == GC_VERDICT_WRONG)
        row->runs = 0;
    else if (row->runs > 0)
        fill_rates(session, plan, picture, row);
    else
        status = time_plan(session, plan, picture,
                           (gc_budget){.seconds = seconds, .runs_min = RUNS_MIN, .warm = true}, row,
                           error);
    return status;
}

gconv_status gc_check_and_time(const gc_session *session, const char *name,
                               const gc_picture *picture, gconv_alpha alpha,
                               const gc_expectation *expectation, double seconds,
                               gc_measurement *row, gconv_error *error)
{
    *row = (gc_measurement){.name = name, .implementation = name};
    gconv_plan *plan = NULL;
    begin_progress(session, name);
    gconv_status status = make_ready_plan(session, picture, alpha, row, &plan, &row->reason);
    if (status == GCONV_OK) {
        row->implementation = gconv_plan_implementation(plan);
        status =
            check_and_time_plan(session, plan, picture, expectation, seconds, row, &row->reason);
    }
    gconv_plan_free(plan);
    return settle(status, row, error);
}

/* ---- Lists and figures ----------------------------------------------------------------------- */

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

/* ---- Implementations that cannot run here ---------------------------------------------------- */

/* A reason without the name of the implementation before it. */
static const char *reason_alone(const char *name, const char *reason)
{
    size_t length = strlen(name);
    bool begins = reason[0] == '\'' && strncmp(reason + 1, name, length) == 0 &&
                  strncmp(reason + 1 + length, "' ", 2) == 0;
    return begins ? reason + length + 3 : reason;
}

/* Prints the first with all that share its reason, and keeps the others. */
static void print_reason(gc_unusable *unusable)
{
    const gconv_error reason = unusable->reasons[0];
    const char *first = unusable->names[0], *shared = reason_alone(first, reason.message);
    int left = 0, taken = 0;
    for (int i = 0; i < unusable->count; i++) {
        const char *name = unusable->names[i];
        if (strcmp(reason_alone(name, unusable->reasons[i].message), shared) != 0) {
            unusable->names[left] = name;
            unusable->reasons[left++] = unusable->reasons[i];
            continue;
        }
        if (taken++ == 1)
            printf("not usable: %s", first);
        if (taken > 1)
            printf(", %s", name);
    }
    if (taken == 1)
        printf("%s not usable: %s\n", first, reason.message);
    else
        printf(": each %s\n", shared);
    unusable->count = left;
}

void gc_print_unusable(gc_unusable *unusable)
{
    while (unusable->count > 0)
        print_reason(unusable);
}

void gc_drop_unusable(const gc_session *session, const char **names, int *count,
                      gc_unusable *unusable)
{
    int kept = 0;
    for (int i = 0; i < *count; i++) {
        gconv_error *reason = &unusable->reasons[unusable->count];
        bool drops = unusable->count < GC_UNUSABLE_MAX &&
                     gc_session_check(session, names[i], reason) == GCONV_ERROR_DEVICE;
        if (drops)
            unusable->names[unusable->count++] = names[i];
        else
            names[kept++] = names[i];
    }
    *count = kept;
}

bool gc_may_use_device(const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        for (int j = 0; j < gconv_implementation_count(); j++) {
            const char *one = gconv_implementation_name(j);
            bool meant = strcmp(names[i], "auto") == 0 || strcmp(names[i], one) == 0;
            gconv_implementation_info info;
            if (meant && gconv_implementation_describe(j, &info, NULL) == GCONV_OK &&
                info.kind == GCONV_DEVICE_CUDA && info.usable)
                return true;
        }
    return false;
}

int gc_label_width(const char *const *names, int count)
{
    size_t width = strlen("name"); /* the head of the column */
    for (int j = 0; j < gconv_implementation_count(); j++)
        for (int i = 0; i < count; i++) {
            const char *one = gconv_implementation_name(j);
            bool is_auto = strcmp(names[i], "auto") == 0;
            size_t length = strlen(one) + (is_auto ? strlen("auto: ") : 0);
            if ((is_auto || strcmp(names[i], one) == 0) && length > width)
                width = length;
        }
    return (int)width;
}
