/* Follows the names in a job, or chooses by expected time (contract.md, rules 54 and 55). */
#include "core/choose.h"

#include "base/status.h"
#include "core/device.h"
#include "core/registry.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gc_explain(char **text, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    size_t used = *text == NULL ? 0 : strlen(*text);
    char *longer = realloc(*text, used + strlen(line) + 2);
    if (longer == NULL)
        return;
    *text = longer;
    sprintf(longer + used, "%s\n", line);
}

/* Whether a candidate can be used here, on the wanted device, and supports the problem. */
static gconv_status check_candidate(const gc_implementation *candidate, const gc_problem *problem,
                                    const gconv_device_choice *wanted, gconv_device_info *device,
                                    gconv_error *error)
{
    if (!wanted->any && candidate->kind != wanted->kind)
        return gc_fail(error, GCONV_ERROR_DEVICE, "'%s' does not run on device '%s'",
                       candidate->name, problem->job.device);
    gconv_status status = gc_implementation_device(candidate, wanted->index, device, error);
    if (status == GCONV_OK)
        status = candidate->operations->supports(problem, device, error);
    return status;
}

static gconv_status choose_named(const gc_problem *problem, const gconv_device_choice *wanted,
                                 gc_choice *choice, gconv_error *error)
{
    const char *name = problem->job.implementation;
    choice->implementation = gc_implementation_named(name);
    if (choice->implementation == NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "there is no implementation '%s'", name);
    gconv_status status =
        check_candidate(choice->implementation, problem, wanted, &choice->device, error);
    if (status == GCONV_OK)
        gc_explain(&choice->explanation, "%s on %s: asked for by name", name, choice->device.name);
    return status;
}

/* Lets the candidates of one kind compete with the best so far, `*best` seconds. */
static void compete(const gc_problem *problem, const gconv_device_choice *wanted,
                    gconv_device_kind kind, gc_choice *choice, double *best)
{
    for (int i = 0; i < gc_implementation_count(); i++) {
        const gc_implementation *candidate = gc_implementation_at(i);
        if (candidate->kind != kind)
            continue;
        gconv_device_info device;
        gconv_error reason;
        if (check_candidate(candidate, problem, wanted, &device, &reason) != GCONV_OK) {
            gc_explain(&choice->explanation, "%-10s no: %s", candidate->name, reason.message);
            continue;
        }
        double cost = candidate->operations->cost(problem, &device);
        gc_explain(&choice->explanation, "%-10s %10.3f ms estimated on %s", candidate->name,
                   1e3 * cost, device.name);
        if (choice->implementation == NULL || cost < *best) {
            choice->implementation = candidate;
            choice->device = device;
            *best = cost;
        }
    }
}

/* Whether any implementation for GPUs is part of this build. */
static bool has_cuda_part(void)
{
    for (int i = 0; i < gc_implementation_count(); i++)
        if (gc_implementation_at(i)->kind == GCONV_DEVICE_CUDA &&
            gc_implementation_at(i)->operations != NULL)
            return true;
    return false;
}

static gconv_status choose_fastest(const gc_problem *problem, const gconv_device_choice *wanted,
                                   gc_choice *choice, gconv_error *error)
{
    double best = 0;
    compete(problem, wanted, GCONV_DEVICE_CPU, choice, &best);
    double runs = problem->job.runs > 1 ? (double)problem->job.runs : 1;
    if (choice->implementation != NULL && !has_cuda_part())
        gc_explain(&choice->explanation, "cuda       is not part of this build");
    else if (choice->implementation != NULL && !problem->gpu_in_use &&
             best * runs < gc_device_start_seconds())
        gc_explain(&choice->explanation, "cuda       not asked: starting it takes about %.0f ms",
                   1e3 * gc_device_start_seconds());
    else
        compete(problem, wanted, GCONV_DEVICE_CUDA, choice, &best);
    if (choice->implementation == NULL) {
        const char *no_cuda = gconv_cuda_reason();
        return gc_fail(error, GCONV_ERROR_DEVICE, "no implementation can run on device '%s'%s%s",
                       problem->job.device, no_cuda[0] != '\0' ? ": " : "", no_cuda);
    }
    gc_explain(&choice->explanation, "chosen: %s, the least estimated time",
               choice->implementation->name);
    return GCONV_OK;
}

gconv_status gc_choose(const gc_problem *problem, gc_choice *choice, gconv_error *error)
{
    *choice = (gc_choice){.implementation = NULL};
    gconv_device_choice wanted;
    gconv_status status = gconv_device_parse(problem->job.device, &wanted, error);
    if (status != GCONV_OK)
        return status;
    const char *name = problem->job.implementation;
    bool is_auto = name == NULL || strcmp(name, "auto") == 0;
    status = is_auto ? choose_fastest(problem, &wanted, choice, error)
                     : choose_named(problem, &wanted, choice, error);
    if (status != GCONV_OK) {
        free(choice->explanation);
        choice->explanation = NULL;
    }
    return status;
}
