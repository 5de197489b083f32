#include "check_job.h"

#include "compare.h"
#include "judge.h"

#include "base/memory_rows.h"
#include "core/plan.h"
#include "gconv_lab.h"

#include <math.h>
#include <string.h>

/* A plan and the image it is run on. */
typedef struct trial {
    fuzz_job *made;
    gconv_plan *plan;
    check_image chain;
} trial;

/* NULL where the chain is refused, which its message must say. */
static gconv_plan *make_plan(fuzz_job *made, const char *implementation, int threads)
{
    gconv_plan *plan;
    gconv_error error = {.status = GCONV_OK};
    made->job.implementation = implementation;
    made->job.threads = threads;
    gconv_status status = gconv_plan_create(&made->job, &plan, &error);
    if (status == GCONV_OK)
        return plan;
    fuzz_require_message(status, &error);
    FUZZ_REQUIRE(status == GCONV_ERROR_FILTER || status == GCONV_ERROR_ARGUMENT, "%s: %s",
                 implementation, error.message);
    return NULL;
}

/* ---- Values ---------------------------------------------------------------------------------- */

static float chain_at(const trial *of, size_t i)
{
    size_t values = fuzz_chain_values(&of->made->job);
    float value;
    memcpy(&value, check_image_row(&of->chain, (uint32_t)(i / values)) + i % values * sizeof value,
           sizeof value);
    return value;
}

static void run_chain(trial *of)
{
    const check_image *input = &of->made->input;
    gconv_error error;
    of->chain = fuzz_chain_image(of->made);
    FUZZ_REQUIRE(gconv_plan_run_chain(of->plan, check_image_row(input, 0), input->stride,
                                      (float *)(void *)check_image_row(&of->chain, 0),
                                      of->chain.stride, NULL, &error) == GCONV_OK,
                 "%s", error.message);
    FUZZ_REQUIRE(check_image_guards_hold(&of->chain), "bytes beyond the rows were written");
}

static double extra_terms_of(const gconv_plan *plan)
{
    const gc_operations *operations = plan->choice.implementation->operations;
    return operations->extra_terms != NULL ? operations->extra_terms(&plan->problem) : 0;
}

/* `wanted` gives each value as the definition has it. */
static void check_defined(const trial *of, const double *wanted)
{
    const gconv_job *job = &of->made->job;
    fuzz_verdict verdict = fuzz_judge(of->made, extra_terms_of(of->plan));
    FUZZ_REQUIRE(gconv_plan_is_exact(of->plan) == verdict.exact, "exact: %d", verdict.exact);
    for (size_t i = 0; i < fuzz_chain_values(job) * job->input.height; i++) {
        double got = (double)chain_at(of, i), bound = verdict.exact ? 0 : verdict.bound;
        FUZZ_REQUIRE(fabs(got - wanted[i]) <= bound * (1 + 1e-9),
                     "%s: value %zu is %.9g, not %.9g; the bound is %g", job->implementation, i,
                     got, wanted[i], bound);
    }
}

static void check_against_reference(const trial *cpu, const trial *reference)
{
    const gconv_job *job = &cpu->made->job;
    fuzz_verdict verdict = fuzz_judge(cpu->made, extra_terms_of(cpu->plan));
    for (size_t i = 0; i < fuzz_chain_values(job) * job->input.height; i++) {
        float got = chain_at(cpu, i), wanted = chain_at(reference, i);
        if (verdict.exact)
            FUZZ_REQUIRE(memcmp(&got, &wanted, sizeof got) == 0,
                         "value %zu is %a, the reference's %a", i, (double)got, (double)wanted);
        else
            FUZZ_REQUIRE(fabs((double)got - (double)wanted) <= verdict.bound * (1 + 1e-9),
                         "value %zu is %.9g, the reference's %.9g; the bound is %g", i, (double)got,
                         (double)wanted, verdict.bound);
    }
}

/* ---- Output ---------------------------------------------------------------------------------- */

static void run_memory(gconv_plan *plan, const check_image *input, check_image *output)
{
    gconv_error error;
    FUZZ_REQUIRE(gconv_plan_run_memory(plan, check_image_row(input, 0), input->stride,
                                       check_image_row(output, 0), output->stride, NULL,
                                       &error) == GCONV_OK,
                 "%s", error.message);
    FUZZ_REQUIRE(check_image_guards_hold(output), "bytes beyond the rows were written");
}

/* The output is the final conversion of the chain that the same plan gives. */
static void check_output(trial *cpu)
{
    const gconv_job *job = &cpu->made->job;
    check_image output = fuzz_output_image(cpu->made, gconv_plan_output_shape(cpu->plan));
    size_t values = fuzz_chain_values(job), row_bytes = values * sizeof(float);
    float *chain = fuzz_allocate(row_bytes * job->input.height);
    for (uint32_t y = 0; y < job->input.height; y++)
        memcpy(chain + y * values, check_image_row(&cpu->chain, y), row_bytes);
    run_memory(cpu->plan, &cpu->made->input, &output);
    compare_map map = compare_output(job, &cpu->made->input, chain, 0, &output);
    if (map.wrong > 0)
        compare_print(&map, stderr);
    FUZZ_REQUIRE(map.wrong == 0, "the output is not that of the chain");
    free(chain);
    check_image_free(&output);
}

static void check_values(fuzz_job *made)
{
    trial reference = {.made = made, .plan = make_plan(made, "reference", 1)};
    if (reference.plan == NULL)
        return;
    trial cpu = {.made = made, .plan = make_plan(made, "cpu", 1)};
    FUZZ_REQUIRE(cpu.plan != NULL, "the reference takes the job, cpu does not");
    double *wanted = fuzz_define_chain(made);
    run_chain(&cpu);
    check_defined(&cpu, wanted);
    check_output(&cpu);
    made->job.implementation = "reference";
    run_chain(&reference);
    check_defined(&reference, wanted);
    check_against_reference(&cpu, &reference);
    free(wanted);
    check_image_free(&cpu.chain);
    check_image_free(&reference.chain);
    gconv_plan_free(cpu.plan);
    gconv_plan_free(reference.plan);
}

void fuzz_check_values(const uint8_t *data, size_t size, const fuzz_job_limits *limits)
{
    fuzz_bytes from = {data, size};
    fuzz_job made;
    fuzz_job_make(&made, &from, limits);
    check_values(&made);
    fuzz_job_free(&made);
}

/* ---- Ways to run ----------------------------------------------------------------------------- */

static void run_streamed(gconv_plan *plan, const check_image *input, check_image *output)
{
    gconv_error error;
    gc_memory_source from = {(const char *)check_image_row(input, 0), input->row_bytes,
                             input->stride, 0};
    gc_memory_sink to = {(char *)check_image_row(output, 0), output->row_bytes, output->stride, 0};
    gconv_source source = gc_source_of_memory(&from);
    gconv_sink sink = gc_sink_of_memory(&to);
    FUZZ_REQUIRE(gconv_plan_run(plan, &source, &sink, NULL, &error) == GCONV_OK, "%s",
                 error.message);
    FUZZ_REQUIRE(from.count == input->rows && to.count == output->rows, "%u rows read, %u written",
                 from.count, to.count);
}

static void check_same(const check_image *a, const check_image *b, const char *what)
{
    for (uint32_t y = 0; y < a->rows; y++)
        FUZZ_REQUIRE(memcmp(check_image_row(a, y), check_image_row(b, y), a->row_bytes) == 0,
                     "%s: row %u differs", what, y);
}

void fuzz_check_threads(fuzz_job *made, int threads)
{
    gconv_plan *one = make_plan(made, "cpu", 1);
    if (one == NULL)
        return;
    gconv_plan *several = make_plan(made, "cpu", threads);
    FUZZ_REQUIRE(several != NULL, "one thread takes the job, %d do not", threads);
    const gconv_shape *shape = gconv_plan_output_shape(one);
    check_image wanted = fuzz_output_image(made, shape), got = fuzz_output_image(made, shape);
    run_memory(one, &made->input, &wanted);
    run_streamed(one, &made->input, &got);
    check_same(&got, &wanted, "by rows on one thread");
    check_image_poison(&got, 0x5a);
    run_memory(several, &made->input, &got);
    check_same(&got, &wanted, "in memory on several threads");
    check_image_poison(&got, 0x5a);
    run_streamed(several, &made->input, &got);
    check_same(&got, &wanted, "by rows on several threads");
    check_image_free(&got);
    check_image_free(&wanted);
    gconv_plan_free(several);
    gconv_plan_free(one);
}
