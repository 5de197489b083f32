/* Follows the names in a job, or chooses by expected time (contract.md, rules 54 and 55). */
#include "core/choose.h"

#include "base/buffer.h"
#include "base/status.h"
#include "core/file_time.h"
#include "core/gpu.h"
#include "core/registry.h"

#include <math.h>
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
    gc_buffer longer = {.bytes = NULL};
    gc_buffer_print(&longer, "%s%s\n", *text != NULL ? *text : "", line);
    char *taken = gc_buffer_take(&longer, NULL);
    if (taken == NULL)
        return;
    free(*text);
    *text = taken;
}

/* What the candidates compete for. */
typedef struct contest {
    const gc_problem *problem;
    gconv_device_choice wanted;
    gc_device_set excluded;          /* CUDA devices that may not be chosen */
    gc_device_set devices;           /* CUDA devices that may be chosen */
    gc_choice *choice;               /* the best so far; no implementation: none yet */
    double best;                     /* its seconds */
    double weighed;                  /* the same, times BOUNDED_GAIN if its output is bounded */
    double least;                    /* seconds of the fastest */
    const gc_implementation *second; /* the fastest of the others; NULL: none */
    double second_seconds;
    gconv_error refusal; /* the latest by a candidate that finds such edges */
} contest;

/* A bounded output has to be this many times as fast as one that is rounded once. */
#define BOUNDED_GAIN 1.3

/* Whether a candidate supports the problem. A candidate for GPUs must also be usable on this
 * device. */
static gconv_status check_candidate(const contest *c, const gc_implementation *candidate, int index,
                                    gconv_device_info *device, gconv_error *error)
{
    if (!c->wanted.any && candidate->kind != c->wanted.kind)
        return gc_fail(error, GCONV_ERROR_DEVICE, "'%s' does not run on device '%s'",
                       candidate->name, c->problem->job.device);
    gconv_status status = gc_implementation_device(candidate, index, device, error);
    if (status == GCONV_OK && gc_detects(&c->problem->detector) && !candidate->operations->detects)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "'%s' finds edges by the method laplace alone; reference, cpu and detector "
                       "know others",
                       candidate->name);
    if (status == GCONV_OK && candidate->operations->supports != NULL)
        status = candidate->operations->supports(c->problem, device, error);
    if (status == GCONV_OK && c->problem->job.exact &&
        gc_promise_of(c->problem, candidate, device) == GCONV_PROMISE_BOUNDED)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "'%s' does not promise that each sample of this job is rounded once",
                       candidate->name);
    return status;
}

static gconv_status try_on_device(contest *c, const gc_implementation *candidate, int index,
                                  gconv_error *error)
{
    gconv_device_info device;
    GC_TRY(check_candidate(c, candidate, index, &device, error));
    double cost = candidate->operations->cost(c->problem, &device);
    gconv_promise promise = gc_promise_of(c->problem, candidate, &device);
    double weighed = promise == GCONV_PROMISE_BOUNDED ? BOUNDED_GAIN * cost : cost;
    bool is_first = c->choice->implementation == NULL;
    gc_explain(&c->choice->explanation, "%-10s %10.3f ms estimated on %s, %s", candidate->name,
               1e3 * cost, device.name, gconv_promise_name(promise));
    c->least = is_first || cost < c->least ? cost : c->least;
    bool wins = is_first || weighed < c->weighed;
    const gc_implementation *beaten = wins ? c->choice->implementation : candidate;
    double beaten_seconds = wins ? c->best : cost;
    if (beaten != NULL && (c->second == NULL || wins || beaten_seconds < c->second_seconds)) {
        c->second = beaten;
        c->second_seconds = beaten_seconds;
    }
    if (wins) {
        c->choice->implementation = candidate;
        c->choice->device = device;
        c->best = cost;
        c->weighed = weighed;
    }
    return GCONV_OK;
}

/* Lets a candidate compete on one device of each model that may be chosen. The error is that of the
 * last device that refuses. */
static gconv_status try_candidate(contest *c, const gc_implementation *candidate,
                                  gconv_error *error)
{
    gc_device_set left = candidate->kind == GCONV_DEVICE_CUDA ? c->devices : 0;
    gconv_status refused = GCONV_OK;
    bool taken = false;
    do {
        gconv_device_info device;
        int index = left != 0 ? gc_device_first(left) : c->wanted.index;
        gconv_status status = try_on_device(c, candidate, index, error);
        taken = taken || status == GCONV_OK;
        refused = status != GCONV_OK ? status : refused;
        if (left != 0 && gc_device_describe(1 + index, &device, NULL) == GCONV_OK)
            left &= ~gc_devices_like(&device, left);
    } while (left != 0);
    return taken ? GCONV_OK : refused;
}

/* Of the devices that equal the chosen one, takes that with the fewest plans. */
static gconv_status take_device(contest *c, gconv_error *error)
{
    gc_choice *choice = c->choice;
    if (choice->device.kind != GCONV_DEVICE_CUDA)
        return GCONV_OK;
    gc_device_set like = gc_devices_like(&choice->device, c->devices);
    int index = gc_device_take(like);
    choice->counted = true;
    if (like != (like & -like))
        gc_explain(&choice->explanation, "cuda:%d     of equal devices that with the fewest images",
                   index);
    return gc_device_describe(1 + index, &choice->device, error);
}

/* Finds the CUDA devices that may be chosen. */
static gconv_status find_devices(contest *c, gconv_error *error)
{
    gconv_status status = gc_device_set_of(&c->wanted, &c->devices, error);
    c->devices &= ~c->excluded;
    if (status == GCONV_OK && c->devices == 0 && c->excluded != 0)
        return gc_fail(error, GCONV_ERROR_DEVICE, "no other device is left");
    return status;
}

static gconv_status choose_named(contest *c, gconv_error *error)
{
    gc_choice *choice = c->choice;
    const char *name = c->problem->job.implementation;
    const gc_implementation *named = gc_implementation_named(name);
    if (named == NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "there is no implementation '%s'", name);
    if (named->kind == GCONV_DEVICE_CUDA)
        GC_TRY(find_devices(c, error));
    GC_TRY(try_candidate(c, named, error));
    free(choice->explanation);
    choice->explanation = NULL;
    gc_explain(&choice->explanation, "%s on %s: asked for by name", name, choice->device.name);
    return GCONV_OK;
}

/* Whether there is no GPU for a candidate. */
static bool is_missing(const gc_implementation *candidate)
{
    return candidate->kind == GCONV_DEVICE_CUDA && gconv_cuda_reason()[0] != '\0' &&
           candidate->operations == NULL;
}

static void compete(contest *c, gconv_device_kind kind)
{
    for (int i = 0; i < gconv_implementation_count(); i++) {
        const gc_implementation *candidate = gc_implementation_at(i);
        gconv_error reason;
        bool is_variant = strchr(candidate->name, ':') != NULL;
        bool competes = candidate->kind == kind && !is_variant && !is_missing(candidate);
        if (!competes || try_candidate(c, candidate, &reason) == GCONV_OK)
            continue;
        gc_explain(&c->choice->explanation, "%-10s no: %s", candidate->name, reason.message);
        if (candidate->operations != NULL && candidate->operations->detects)
            c->refusal = reason;
    }
}

/* Whether the CPU may compute while GPUs are starting. */
static bool may_compute_meanwhile(const contest *c)
{
    return c->wanted.any && c->choice->implementation != NULL && c->problem->job.images_at_once > 1;
}

/* Whether `auto` leaves out the GPUs: none is in use, and the CPU completes all images before a GPU
 * that has to start could. *least becomes the seconds that a GPU needs at least. The
 * implementations on the CPU must have competed. */
static bool leaves_out_gpus(const contest *c, double *least)
{
    bool meanwhile = may_compute_meanwhile(c) && gc_problem_is_same_everywhere(c->problem);
    *least = gc_gpu_least_seconds(c->problem, meanwhile ? c->best : 0);
    return c->choice->implementation != NULL && !c->problem->gpu_in_use &&
           c->best * gc_images_left(c->problem) < *least;
}

/* Lets implementations on GPUs compete. If the CPU may compute meanwhile, begins to start the GPUs;
 * until one has started, the CPU computes if its bits are those of the GPUs. Fails if there is no
 * choice yet and no device can be asked. */
static gconv_status ask_gpus(contest *c, gconv_error *error)
{
    gc_choice *choice = c->choice;
    if (may_compute_meanwhile(c))
        gconv_device_start("auto");
    if (may_compute_meanwhile(c) && gc_problem_is_same_everywhere(c->problem) && !gc_gpu_ready()) {
        gc_explain(&choice->explanation, "cuda       is starting, and the CPU computes meanwhile");
        choice->for_now = true;
        return GCONV_OK;
    }
    if (gconv_cuda_reason()[0] != '\0')
        gc_explain(&choice->explanation, "cuda       none: %s", gconv_cuda_reason());
    gconv_status status = find_devices(c, error);
    if (status == GCONV_OK)
        compete(c, GCONV_DEVICE_CUDA);
    return choice->implementation == NULL ? status : GCONV_OK;
}

static gconv_status fail_choice(const contest *c, gconv_error *error)
{
    const char *no_cuda = gconv_cuda_reason();
    if (c->problem->job.exact && (c->wanted.any || c->wanted.kind == GCONV_DEVICE_CPU))
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "no implementation promises that each sample of this job is rounded once");
    if (no_cuda[0] == '\0' && gc_detects(&c->problem->detector))
        no_cuda = c->refusal.message;
    return gc_fail(error, GCONV_ERROR_DEVICE, "no implementation can run on device '%s'%s%s",
                   c->problem->job.device, no_cuda[0] != '\0' ? ": " : "", no_cuda);
}

static gconv_status choose_fastest(contest *c, gconv_error *error)
{
    const gc_problem *problem = c->problem;
    gc_choice *choice = c->choice;
    gconv_status status = GCONV_OK;
    double least;
    compete(c, GCONV_DEVICE_CPU);
    bool left_out = leaves_out_gpus(c, &least);
    if (left_out && isinf(least))
        gc_explain(&choice->explanation, "cuda       is not part of this build");
    else if (left_out)
        gc_explain(&choice->explanation,
                   "cuda       not looked for: a GPU would take %.3f ms at least, with its start",
                   1e3 * least / gc_images_left(problem));
    else
        status = ask_gpus(c, error);
    if (status != GCONV_OK && !(problem->job.exact && c->wanted.any))
        return status;
    if (choice->implementation == NULL)
        return fail_choice(c, error);
    if (c->best > c->least || c->second == NULL || c->second == choice->implementation)
        gc_explain(&choice->explanation, "chosen: %s, %sthe least estimated time",
                   choice->implementation->name,
                   c->best > c->least ? "which rounds once, for little more than " : "");
    else
        gc_explain(&choice->explanation,
                   "chosen: %s, the least estimated time; %s would take %.1f times as long",
                   choice->implementation->name, c->second->name, c->second_seconds / c->best);
    return GCONV_OK;
}

static bool names_implementation(const gconv_job *job)
{
    return job->implementation != NULL && strcmp(job->implementation, "auto") != 0;
}

static gconv_status choose(contest *c, gconv_error *error)
{
    return names_implementation(&c->problem->job) ? choose_named(c, error)
                                                  : choose_fastest(c, error);
}

bool gc_foresee(const gc_problem *problem)
{
    gc_choice choice = {.implementation = NULL};
    contest c = {.problem = problem, .choice = &choice};
    double least;
    if (names_implementation(&problem->job) ||
        gc_device_parse(problem->job.device, &c.wanted, NULL) != GCONV_OK)
        return false;
    compete(&c, GCONV_DEVICE_CPU);
    bool asks = may_compute_meanwhile(&c) && !leaves_out_gpus(&c, &least);
    if (asks)
        gconv_device_start("auto");
    gc_choice_destroy(&choice);
    return asks && !gc_problem_is_same_everywhere(problem) && gconv_device_is_starting();
}

gconv_status gc_choose(const gc_problem *problem, gc_device_set excluded, gc_choice *choice,
                       gconv_error *error)
{
    *choice = (gc_choice){.implementation = NULL};
    contest c = {.problem = problem, .excluded = excluded, .choice = choice};
    gconv_status status = gc_device_parse(problem->job.device, &c.wanted, error);
    GC_THEN(status, choose(&c, error));
    GC_THEN(status, take_device(&c, error));
    if (status != GCONV_OK)
        gc_choice_destroy(choice);
    return status;
}

void gc_choice_leave_device(gc_choice *choice)
{
    if (choice->counted)
        gc_device_give(choice->device.index);
    choice->counted = false;
}

void gc_choice_destroy(gc_choice *choice)
{
    gc_choice_leave_device(choice);
    free(choice->explanation);
    choice->explanation = NULL;
}
