/* THE table of solvers. A new one is a file, an entry here, and a line of CMakeLists.txt. */
#include "cpu/solver/solver.h"

#include "cpu/cost.h"

#include <math.h>
#include <string.h>

extern const gc_solver gc_solver_every_tap, gc_solver_products, gc_solver_vectors;
#if GC_HAS_FAST
extern const gc_solver gc_solver_sparse, gc_solver_bytes, gc_solver_box, gc_solver_tiles,
    gc_solver_lines;
#endif

/* The first applies to every matrix, the last to every filter of two vectors. Of equally cheap
 * solvers the first is taken. The limit of
 * those before `products` can end its long search early. */
static const gc_solver *const solvers[] = {
    &gc_solver_every_tap,
#if GC_HAS_FAST
    &gc_solver_sparse,    &gc_solver_bytes,   &gc_solver_box, &gc_solver_tiles, &gc_solver_lines,
#endif
    &gc_solver_products,  &gc_solver_vectors,
};
enum { SOLVER_COUNT = sizeof solvers / sizeof solvers[0] };

const char *gc_solver_wanted(const gc_problem *problem)
{
    static const char mark[] = "cpu:";
    const char *name = problem->job.implementation;
    bool names_one = name != NULL && strncmp(name, mark, strlen(mark)) == 0;
    return names_one ? name + strlen(mark) : NULL;
}

/* As gc_solver_choose. If `has_error`, only solvers with an error of at most `error_max` count. */
static void choose(const gc_question *question, bool has_error, double error_max, gc_estimate *best)
{
    const char *wanted = gc_solver_wanted(question->problem);
    for (int m = 0; m < SOLVER_COUNT; m++) {
        gc_estimate estimate = {.solver = solvers[m], .seconds = best->seconds};
        if (wanted != NULL && strcmp(wanted, solvers[m]->name) != 0)
            continue;
        if (solvers[m]->applies != NULL && !solvers[m]->applies(question))
            continue;
        if (has_error && solvers[m]->error == NULL)
            continue;
        estimate.seconds = solvers[m]->seconds(question, &estimate);
        if (!(estimate.seconds < best->seconds))
            continue;
        if (has_error)
            estimate.error = solvers[m]->error(question, &estimate);
        if (estimate.error <= error_max)
            *best = estimate;
    }
}

/* If the solver with the least error is not in this build, any is taken: it takes longer to settle
 * what is doubtful. */
void gc_solver_choose(const gc_question *question, gc_estimate *best)
{
    bool has_error = question->once && !question->problem->chain.exact;
    *best = (gc_estimate){.seconds = HUGE_VAL};
    if (has_error)
        choose(question, true, 2 * gc_least_error(question->step, question->input), best);
    if (best->solver == NULL)
        choose(question, has_error, HUGE_VAL, best);
}

bool gc_border_is_bytes(const gc_problem *problem, const gc_step *step)
{
    for (int c = 0; c < problem->chain.channels; c++) {
        float border = step->border[c];
        if (border < 0 || border > UINT8_MAX || border != truncf(border))
            return false;
    }
    return true;
}

bool gc_question_of_bytes(const gc_question *question)
{
    const gc_problem *problem = question->problem;
    const gc_conversion *conversion = &problem->conversion;
    return gc_border_is_bytes(problem, question->step) && question->step == problem->chain.steps &&
           conversion->input.depth == 8 && !conversion->premultiplies && !conversion->keeps_alpha;
}

/* Blocks of values that the loops compute, over the values that there are. */
static double measure_filling(const gc_question *question)
{
    const gc_chain *chain = &question->problem->chain;
    double values = (double)chain->width * chain->channels;
    double block = question->instructions->taps->block;
    return ceil(values / block) * block / values;
}

double gc_products_seconds(const gc_question *question, double products)
{
    return GC_STAGE_SECONDS +
           products * measure_filling(question) * question->instructions->tap_seconds;
}

double gc_taps_seconds(const gc_question *question, double taps, int height)
{
    return gc_products_seconds(question, taps * (height == 1 ? GC_FLAT_FACTOR : 1));
}
