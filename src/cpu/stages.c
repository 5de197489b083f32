#include "cpu/stages.h"

#include "base/status.h"
#include "core/registry.h"
#include "cpu/cost.h"
#include "cpu/fast/edges.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static gc_question question_of(const gc_problem *problem, int step)
{
    return (gc_question){.instructions = gc_instructions_chosen(),
                         .problem = problem,
                         .step = &problem->chain.steps[step]};
}

/* Says what the named solver refuses, and in a chain which step that is. */
static gconv_status refuse_step(const gc_problem *problem, int index, gconv_error *error)
{
    const gc_implementation *named = gc_implementation_named(problem->job.implementation);
    const char *limits = named != NULL ? named->limits : "this filter";
    const gc_step *step = &problem->chain.steps[index];
    if (problem->chain.step_count == 1)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED, "'%s' refuses %s",
                       problem->job.implementation, limits);
    return gc_fail(error, GCONV_ERROR_UNSUPPORTED, "'%s' refuses %s: filter %d of the chain, %dx%d",
                   problem->job.implementation, limits, index + 1, step->width, step->height);
}

gconv_status gc_stages_check(const gc_problem *problem, gconv_error *error)
{
    for (int s = 0; gc_solver_wanted(problem) != NULL && s < problem->chain.step_count; s++) {
        gc_question question = question_of(problem, s);
        gc_estimate estimate;
        gc_solver_choose(&question, &estimate);
        if (estimate.solver == NULL)
            return refuse_step(problem, s, error);
    }
    return GCONV_OK;
}

/* Seconds of a value in the stages and in the conversion. */
static double seconds_of_stages(const gc_problem *problem)
{
    double seconds = GC_CONVERSION_SECONDS;
    for (int s = 0; s < problem->chain.step_count; s++) {
        gc_question question = question_of(problem, s);
        gc_estimate estimate;
        gc_solver_choose(&question, &estimate);
        seconds += estimate.seconds;
    }
    return seconds;
}

/* Seconds of a value in the pass of fast/rank1_bytes.h, conversion included. Infinite where that
 * pass does not apply. */
static double seconds_of_rank1(const gc_problem *problem)
{
    return gc_rank1_applies(problem) ? gc_rank1_seconds(problem, gc_instructions_chosen())
                                     : HUGE_VAL;
}

double gc_stages_seconds(const gc_problem *problem)
{
    const gc_chain *chain = &problem->chain;
    double values = (double)chain->width * chain->height * chain->channels;
    if (gc_edges_applies(problem))
        return values * GC_EDGES_SECONDS + chain->height * GC_EDGES_ROW_SECONDS;
    double seconds = fmin(seconds_of_stages(problem), seconds_of_rank1(problem));
    return values * seconds + chain->height * (chain->step_count * GC_ROW_SECONDS);
}

double gc_stages_extra_terms(const gc_problem *problem)
{
    double terms = 0;
    for (int s = 0; s < problem->chain.step_count; s++) {
        gc_question question = question_of(problem, s);
        gc_estimate estimate;
        gc_solver_choose(&question, &estimate);
        if (estimate.solver != NULL && estimate.solver->extra_terms != NULL)
            terms = fmax(terms, estimate.solver->extra_terms(&estimate));
    }
    return terms;
}

static gconv_status add_stage(gc_stages *stages, const gc_problem *problem, gconv_error *error)
{
    gc_question question = question_of(problem, stages->count);
    gc_estimate estimate;
    gc_solver_choose(&question, &estimate);
    gc_stage *stage = &stages->list[stages->count];
    *stage = (gc_stage){.solver = estimate.solver,
                        .instructions = question.instructions,
                        .step = question.step,
                        .channels = problem->chain.channels,
                        .rows_at_once = GC_ROWS_TOGETHER};
    gconv_status status = GCONV_OK;
    if (estimate.solver->create != NULL)
        status = estimate.solver->create(stage, &question, &estimate, error);
    if (status != GCONV_OK)
        return status;
    if (stages->rows_at_once < stage->rows_at_once)
        stages->rows_at_once = stage->rows_at_once;
    if (stages->scratch < stage->scratch)
        stages->scratch = stage->scratch;
    if (stages->scratch_of_column < stage->scratch_of_column)
        stages->scratch_of_column = stage->scratch_of_column;
    stages->count++;
    return GCONV_OK;
}

static gconv_status create_rank1(gc_stages *stages, const gc_problem *problem, gconv_error *error)
{
    if (seconds_of_rank1(problem) >= seconds_of_stages(problem))
        return GCONV_OK;
    gconv_status status = gc_rank1_create(&stages->rank1, problem, error);
    stages->has_rank1_pass = stages->rank1.step != NULL;
    return status;
}

gconv_status gc_stages_create(gc_stages *stages, const gc_problem *problem, gconv_error *error)
{
    size_t most = (size_t)problem->chain.step_count;
    *stages = (gc_stages){.instructions = gc_instructions_chosen(),
                          .finds_edges = gc_edges_applies(problem)};
    stages->list = calloc(most, sizeof *stages->list);
    if (stages->list == NULL)
        return gc_fail_memory(error, most * sizeof *stages->list);
    gconv_status status = create_rank1(stages, problem, error);
    for (size_t s = 0; status == GCONV_OK && s < most; s++)
        status = add_stage(stages, problem, error);
    if (status != GCONV_OK)
        gc_stages_destroy(stages);
    return status;
}

void gc_stages_destroy(gc_stages *stages)
{
    for (int p = 0; p < stages->count; p++)
        if (stages->list[p].solver->release != NULL)
            stages->list[p].solver->release(&stages->list[p]);
    free(stages->list);
    gc_rank1_destroy(&stages->rank1);
    *stages = (gc_stages){.list = NULL};
}

void gc_stages_describe(const gc_stages *stages, char *text, size_t size)
{
    size_t used = 0;
    if (stages->finds_edges)
        used = (size_t)snprintf(text, size, "cpu: %s, %s\n", gc_edges_describe(),
                                stages->instructions->name);
    if (stages->has_rank1_pass)
        used = (size_t)snprintf(text, size, "cpu: %dx%d by %s, %s\n", stages->rank1.step->width,
                                stages->rank1.step->height, gc_rank1_describe(&stages->rank1),
                                stages->instructions->name);
    bool in_one_pass = stages->finds_edges || stages->has_rank1_pass;
    for (int p = 0; p < stages->count && !in_one_pass && used < size; p++) {
        const gc_stage *stage = &stages->list[p];
        int length = snprintf(text + used, size - used, "cpu: %dx%d by %s, %s\n",
                              stage->step->width, stage->step->height,
                              stage->solver->describe(stage), stages->instructions->name);
        used += length > 0 ? (size_t)length : 0;
    }
}
