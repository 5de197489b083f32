#include "cpu/stages.h"

#include "base/status.h"
#include "core/registry.h"
#include "cpu/cost.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Choosing solvers for the steps of a chain, one after the other. */
typedef struct choosing {
    gc_question question; /* about the last step */
    gc_entry entry;       /* of the next step */
} choosing;

static choosing begin_choosing(const gc_problem *problem)
{
    return (choosing){.question = {.instructions = gc_instructions_chosen(),
                                   .problem = problem,
                                   .once = gc_cpu_settles(problem)},
                      .entry = gc_entry_first(problem)};
}

static void choose_solver(choosing *made, int step, gc_estimate *estimate)
{
    gc_question *question = &made->question;
    question->step = &question->problem->chain.steps[step];
    if (question->once)
        gc_entry_meet_border(question->problem, question->step, &made->entry);
    question->input = made->entry.extent;
    gc_solver_choose(question, estimate);
    if (question->once)
        gc_entry_pass(question->step, estimate->error, &made->entry);
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
    choosing made = begin_choosing(problem);
    if (gc_detects(&problem->detector) && gc_solver_wanted(problem) != NULL)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "'%s' finds edges by the method laplace alone; reference and cpu know all",
                       problem->job.implementation);
    for (int s = 0; gc_solver_wanted(problem) != NULL && s < problem->chain.step_count; s++) {
        gc_estimate estimate;
        choose_solver(&made, s, &estimate);
        if (estimate.solver == NULL)
            return refuse_step(problem, s, error);
    }
    return GCONV_OK;
}

/* ---- Passes ---------------------------------------------------------------------------------- */

/* THE table of passes. A new one is a file of cpu/fast, an entry here, and a line of
 * CMakeLists.txt. */
extern const gc_pass gc_pass_detector;
#if GC_HAS_FAST
extern const gc_pass gc_pass_edges, gc_pass_means, gc_pass_rank1;
static const gc_pass *const passes[] = {&gc_pass_edges, &gc_pass_means, &gc_pass_rank1, NULL};
#else
static const gc_pass *const passes[] = {NULL};
#endif

/* The fastest pass for the job, and the seconds that it takes on one thread. NULL if there is
 * none. */
static const gc_pass *choose_pass(const gc_problem *problem, double *seconds)
{
    const gc_pass *best = NULL;
    *seconds = HUGE_VAL;
    if (gc_detects(&problem->detector)) {
        *seconds = gc_pass_detector.seconds(problem);
        return &gc_pass_detector;
    }
    for (int i = 0; passes[i] != NULL && gc_solver_wanted(problem) == NULL; i++) {
        double taken = passes[i]->seconds(problem);
        if (taken < *seconds) {
            best = passes[i];
            *seconds = taken;
        }
    }
    return best;
}

/* Seconds of the image in stages on one thread. What takes longer than `limit` is not added up to
 * the end. */
static double seconds_of_stages(const gc_problem *problem, double limit)
{
    const gc_chain *chain = &problem->chain;
    double values = (double)chain->width * chain->height * chain->channels;
    double seconds =
        values * GC_CONVERSION_SECONDS + chain->height * (chain->step_count * GC_ROW_SECONDS);
    choosing made = begin_choosing(problem);
    for (int s = 0; s < chain->step_count && seconds <= limit; s++) {
        gc_estimate estimate;
        choose_solver(&made, s, &estimate);
        seconds += values * estimate.seconds;
    }
    return seconds;
}

double gc_stages_seconds(const gc_problem *problem)
{
    const gc_chain *chain = &problem->chain;
    double tap = GC_IN_DOUBLE_FACTOR * gc_instructions_chosen()->tap_seconds;
    if (gc_cpu_sums_in_double(problem))
        return (double)chain->width * chain->height * chain->channels *
               (GC_IN_DOUBLE_SECONDS + gc_chain_taps(chain) * tap);
    double in_pass;
    const gc_pass *pass = choose_pass(problem, &in_pass);
    return pass == &gc_pass_detector ? in_pass : fmin(in_pass, seconds_of_stages(problem, in_pass));
}

static gconv_status create_pass(gc_stages *stages, const gc_problem *problem, gconv_error *error)
{
    double in_pass;
    const gc_pass *pass = choose_pass(problem, &in_pass);
    if (pass == NULL || stages->in_double ||
        (pass != &gc_pass_detector && seconds_of_stages(problem, in_pass) <= in_pass))
        return GCONV_OK;
    gconv_status status = GCONV_OK;
    stages->shared = (void *)problem;
    if (pass->create != NULL)
        status = pass->create(problem, &stages->shared, error);
    stages->pass = stages->shared != NULL ? pass : NULL;
    return status;
}

/* ---- Stages ---------------------------------------------------------------------------------- */

double gc_stages_extra_terms(const gc_problem *problem)
{
    double terms = 0;
    choosing made = begin_choosing(problem);
    for (int s = 0; s < problem->chain.step_count; s++) {
        gc_estimate estimate;
        choose_solver(&made, s, &estimate);
        if (estimate.solver != NULL && estimate.solver->extra_terms != NULL)
            terms = fmax(terms, estimate.solver->extra_terms(&estimate));
    }
    return terms;
}

static gconv_status add_stage(gc_stages *stages, choosing *made, gconv_error *error)
{
    const gc_question *question = &made->question;
    gc_estimate estimate;
    choose_solver(made, stages->count, &estimate);
    gc_stage *stage = &stages->list[stages->count];
    *stage = (gc_stage){.solver = estimate.solver,
                        .instructions = question->instructions,
                        .step = question->step,
                        .channels = question->problem->chain.channels,
                        .rows_at_once = GC_ROWS_TOGETHER};
    stages->count++;
    size_t bytes = estimate.solver->own_bytes;
    if (bytes > 0 && (stage->own = calloc(1, bytes)) == NULL)
        return gc_fail_memory(error, bytes);
    if (estimate.solver->create != NULL)
        GC_TRY(estimate.solver->create(stage, question, &estimate, error));
    if (stages->rows_at_once < stage->rows_at_once)
        stages->rows_at_once = stage->rows_at_once;
    if (stages->scratch < stage->scratch)
        stages->scratch = stage->scratch;
    if (stages->scratch_of_column < stage->scratch_of_column)
        stages->scratch_of_column = stage->scratch_of_column;
    return GCONV_OK;
}

gconv_status gc_stages_create(gc_stages *stages, const gc_problem *problem, gconv_error *error)
{
    size_t most = (size_t)problem->chain.step_count;
    *stages = (gc_stages){.instructions = gc_instructions_chosen()};
    stages->list = calloc(most, sizeof *stages->list);
    GC_TRY_MEMORY(stages->list != NULL, error, most * sizeof *stages->list);
    stages->in_double = gc_cpu_sums_in_double(problem);
    gconv_status status = create_pass(stages, problem, error);
    choosing made = begin_choosing(problem);
    for (size_t s = 0; status == GCONV_OK && s < most; s++)
        status = add_stage(stages, &made, error);
    stages->rounds_values = gc_cpu_rounds_values(problem);
    stages->once = made.question.once || stages->rounds_values;
    if (made.question.once)
        stages->levels = gc_levels_of(problem, &made.entry);
    if (status != GCONV_OK)
        gc_stages_destroy(stages);
    return status;
}

void gc_stages_destroy(gc_stages *stages)
{
    for (int p = 0; p < stages->count; p++) {
        const gc_stage *stage = &stages->list[p];
        if (stage->own != NULL && stage->solver->release != NULL)
            stage->solver->release(stage->own);
        free(stage->own);
    }
    free(stages->list);
    if (stages->pass != NULL && stages->pass->release != NULL)
        stages->pass->release(stages->shared);
    *stages = (gc_stages){.list = NULL};
}

void gc_stages_describe(const gc_stages *stages, char *text, size_t size)
{
    size_t used = 0;
    if (stages->in_double) {
        snprintf(text, size, "cpu: sums in double, %s\n", stages->instructions->name);
        return;
    }
    if (stages->pass != NULL) {
        char words[128];
        if (stages->pass->words == NULL)
            stages->pass->describe(stages->shared, words, sizeof words);
        snprintf(text, size, "cpu: %s, %s\n",
                 stages->pass->words != NULL ? stages->pass->words : words,
                 stages->instructions->name);
    }
    for (int p = 0; p < stages->count && stages->pass == NULL && used < size; p++) {
        const gc_stage *stage = &stages->list[p];
        int length = snprintf(text + used, size - used, "cpu: %dx%d by %s, %s\n",
                              stage->step->width, stage->step->height,
                              stage->solver->words != NULL ? stage->solver->words
                                                           : stage->solver->describe(stage),
                              stages->instructions->name);
        used += length > 0 ? (size_t)length : 0;
    }
}
