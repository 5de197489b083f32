/* What the result says once an image is done or has failed. */
#include "cli/image/work.h"

#include "base/clock.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Which device took over, and why. NULL where memory is out. */
static char *describe_fallback(const gconv_plan *plan)
{
    const gconv_device_info *device = gconv_plan_device(plan);
    char name[32] = "the CPU", text[600];
    if (device->kind == GCONV_DEVICE_CUDA)
        snprintf(name, sizeof name, "cuda:%d", device->index);
    snprintf(text, sizeof text, "%s took over: %s", name, gconv_plan_fallback(plan));
    return gc_copy_string(text);
}

/* The lines of --explain: those of the plan, and what decoded the image. NULL where memory is out.
 * */
static char *describe_choice(const gc_result *result, const char *plan)
{
    bool falls_back = result->decode_fallback[0] != '\0';
    size_t size = strlen(plan) + strlen(result->decoder) + strlen(result->decode_fallback) + 16;
    char *text = malloc(size);
    if (text != NULL)
        snprintf(text, size, "%sdecoder: %s%s%s%s\n", plan, result->decoder, falls_back ? " (" : "",
                 result->decode_fallback, falls_back ? ")" : "");
    return text;
}

/* The plan serves the next image before this one is reported. */
static void keep_explanation(gc_work *work)
{
    gconv_plan *plan = work->worker->kept.plan;
    if (!work->options->report.verbose && !work->options->report.explain)
        return;
    work->result->explanation = describe_choice(work->result, gconv_plan_explanation(plan));
    if (gconv_plan_fallback(plan)[0] != '\0')
        work->result->fallback = describe_fallback(plan);
}

/* Puts "image N: " before the message about an image that is not the first. */
static void name_image(const gc_work *work)
{
    gconv_error error = *work->error;
    if (work->image > 1)
        snprintf(work->error->message, sizeof work->error->message, "image %zu: %.480s",
                 work->image, error.message);
}

void gc_conclude(gc_work *work, gconv_status status)
{
    gc_result *result = work->result;
    result->timings.total = gc_seconds() - work->start;
    if (work->image > 1)
        result->image = work->image;
    if (status == GCONV_ERROR_EXISTS)
        result->outcome = GC_OUTCOME_SKIPPED;
    else if (status != GCONV_OK)
        result->outcome = GC_OUTCOME_FAILED;
    else if (result->verified && !(result->difference.within && result->output_difference.within))
        result->outcome = GC_OUTCOME_MISMATCH;
    if (status == GCONV_OK)
        keep_explanation(work);
    else
        name_image(work);
}
