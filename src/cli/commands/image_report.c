#include "cli/commands/image_report.h"

#include "base/json.h"
#include "cli/tasks/names.h"
#include "cli/tasks/tasks.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/standard_output.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* ---- One image ------------------------------------------------------------------------------- */

static const char *const outcome_names[] = {
    [GC_OUTCOME_DONE] = "done",       [GC_OUTCOME_SKIPPED] = "skipped",
    [GC_OUTCOME_FAILED] = "failed",   [GC_OUTCOME_MISMATCH] = "mismatch",
    [GC_OUTCOME_PLANNED] = "planned",
};

static const char *explanation_of(const gc_result *result)
{
    return result->explanation != NULL ? result->explanation : "";
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_shape(const char *key, const gconv_shape *shape)
{
    gc_json_open(key, '{');
    gc_json_integer("width", shape->width);
    gc_json_integer("height", shape->height);
    gc_json_integer("channels", shape->channels);
    gc_json_integer("depth", shape->depth);
    gc_json_close('}');
}

static void json_timings(const gconv_timings *timings)
{
    gc_json_open("seconds", '{');
    gc_json_number("decode", timings->decode);
    gc_json_number("upload", timings->upload);
    gc_json_number("compute", timings->compute);
    gc_json_number("download", timings->download);
    gc_json_number("encode", timings->encode);
    gc_json_number("total", timings->total);
    gc_json_close('}');
}

static void json_verification(const gc_result *result)
{
    const gconv_difference *difference = &result->difference;
    gc_json_open("verify", '{');
    gc_json_bool("within", difference->within && result->output_difference.within);
    gc_json_number("bound", difference->bound);
    gc_json_number("largest", difference->largest);
    gc_json_integer("x", difference->x);
    gc_json_integer("y", difference->y);
    gc_json_integer("channel", difference->channel);
    gc_json_integer("mismatches", (int64_t)difference->mismatches);
    gc_json_integer("wrong_samples", (int64_t)result->output_difference.mismatches);
    gc_json_close('}');
}

/* The image in the input's file; edges computes from grey. */
static gconv_shape shape_read(const gc_result *result)
{
    gconv_shape shape = result->input;
    shape.channels = result->channels;
    return shape;
}

/* The image in the output's file, after what its format cannot hold is left out. */
static gconv_shape shape_written(const gc_options *options, const gc_result *result)
{
    const gconv_format_info *info = gconv_format_describe(result->format);
    gconv_shape shape = result->output;
    shape.channels -= gc_masks(options, &result->input);
    if (info->channels != 0)
        shape.channels = info->channels;
    else if (!info->alpha && shape.channels % 2 == 0)
        shape.channels--;
    return shape;
}

static void json_clipped(const gc_clipped *clipped)
{
    gc_json_open("clipped_at_most", '{');
    gc_json_integer("below", (int64_t)clipped->below);
    gc_json_integer("above", (int64_t)clipped->above);
    gc_json_close('}');
}

double gc_share_of_edges(const gc_result *result)
{
    return (double)result->found.pixels / ((double)result->output.width * result->output.height);
}

static void json_found(const gc_found *found, double share)
{
    if (found->sigma > 0)
        gc_json_number("sigma", found->sigma);
    if (found->counted) {
        gc_json_number("threshold", found->threshold);
        if (found->has_low)
            gc_json_number("low", found->low);
        gc_json_number("edge_share", share);
    }
}

static void json_computed(const gc_options *options, const gc_result *result)
{
    const gconv_shape from = shape_read(result), to = shape_written(options, result);
    json_shape("from", &from);
    json_shape("to", &to);
    gc_json_string("implementation", result->implementation);
    gc_json_string("decoder", result->decoder);
    gc_json_bool("exact", result->exact);
    gc_json_string("promise", gconv_promise_name(result->promise));
    if (result->clipped.counted)
        json_clipped(&result->clipped);
    json_found(&result->found, gc_share_of_edges(result));
    json_timings(&result->timings);
    if (options->report.explain)
        gc_json_string("explanation", explanation_of(result));
    if (result->verified)
        json_verification(result);
}

static void print_json(const gc_options *options, const gc_task *task, const gc_result *result)
{
    gc_json_begin(gc_command_of(options->command)->name);
    gc_json_name("input", task->input);
    gc_json_name("output", task->output);
    if (result->image > 0)
        gc_json_integer("image", (int64_t)result->image);
    gc_json_string("status", outcome_names[result->outcome]);
    if (result->outcome == GC_OUTCOME_FAILED)
        gc_json_string("error", result->error.message);
    gc_warning_list_json(&result->warnings);
    if (result->outcome == GC_OUTCOME_DONE || result->outcome == GC_OUTCOME_MISMATCH)
        json_computed(options, result);
    gc_json_end();
}

/* ---- Text ------------------------------------------------------------------------------------ */

static void print_timings(const char *name, const gc_result *result)
{
    const gconv_timings *t = &result->timings;
    gc_answer(
        name,
        "decode %.3f ms by %s, upload %.3f ms, compute %.3f ms, download %.3f ms, encode %.3f ms, "
        "total %.3f ms",
        1e3 * t->decode, result->decoder, 1e3 * t->upload, 1e3 * t->compute, 1e3 * t->download,
        1e3 * t->encode, 1e3 * t->total);
}

static void report_verification(const char *name, const gc_result *result)
{
    const gconv_difference *d = &result->difference, *w = &result->output_difference;
    if (!d->within)
        gc_answer(name,
                  "verification failed: '%s' differs from the reference by up to %g (bound %g) at "
                  "x %u, y %u, channel %d; %llu values beyond the bound",
                  result->implementation, d->largest, d->bound, d->x, d->y, d->channel,
                  (unsigned long long)d->mismatches);
    else if (!w->within)
        gc_answer(name,
                  "verification failed: '%s' writes other samples than the reference allows, "
                  "promised %s, by up to %g at x %u, y %u, channel %d; %llu wrong samples",
                  result->implementation, gconv_promise_name(result->promise), w->largest, w->x,
                  w->y, w->channel, (unsigned long long)w->mismatches);
    else
        gc_note(name, "verified, %s: largest difference from the reference %g, bound %g",
                gconv_promise_name(result->promise), d->largest, d->bound);
}

double gc_count_colours(const gconv_shape *shape)
{
    double colours = shape->channels - (shape->channels % 2 == 0);
    return (double)shape->width * shape->height * colours;
}

/* Says how many samples may have been clipped, and which options keep them. */
static void note_clipped(const char *name, const gc_result *result)
{
    const double many = 0.01; /* of all samples */
    const gc_clipped *clipped = &result->clipped;
    double samples = gc_count_colours(&result->output);
    if (clipped->below + clipped->above == 0)
        return;
    gc_note(name, "clipped: at most %llu samples (%.1f %%) below 0 and %llu (%.1f %%) above white",
            (unsigned long long)clipped->below, 100 * (double)clipped->below / samples,
            (unsigned long long)clipped->above, 100 * (double)clipped->above / samples);
    if ((double)clipped->below > many * samples)
        gc_note(name, "--offset 128 or --abs keep more of what lies below 0, a PFM output all");
    if ((double)clipped->above > many * samples)
        gc_note(name, "a smaller --scale keeps more of what lies above white, a PFM output all");
}

static void note_found(const char *name, const gc_result *result)
{
    const gc_found *found = &result->found;
    char sigma[48] = "", low[48] = "";
    if (found->sigma > 0)
        snprintf(sigma, sizeof sigma, "sigma %g pixels, ", found->sigma);
    if (found->has_low)
        snprintf(low, sizeof low, "s %.9g (low) and", found->low);
    if (!found->counted && found->sigma > 0)
        gc_note(name, "sigma %g pixels", found->sigma);
    if (found->counted)
        gc_note(name, "%sthreshold%s %.9g%s: %.2f %% of the pixels are edges", sigma, low,
                found->threshold, found->has_low ? " (high)" : "", 100 * gc_share_of_edges(result));
}

/* Says the lines of an explanation that begin with "step": what the implementation chose for each
 * filter. */
static void note_choices(const char *name, const char *explanation)
{
    for (const char *line = explanation; *line != '\0';) {
        int length = (int)strcspn(line, "\n");
        if (strncmp(line, "step ", strlen("step ")) == 0)
            gc_note(name, "%.*s", length, line);
        line += length + (line[length] == '\n');
    }
}

static void report_done(const gc_options *options, const gc_task *task, const gc_result *result)
{
    const char *name = gc_input_name(task->input);
    const gconv_shape from = shape_read(result);
    char image[32] = "";
    if (result->image > 0)
        snprintf(image, sizeof image, "image %zu: ", result->image);
    gc_note(name, "%s%ux%u, %d channel%s of %d bits to %s by %s", image, from.width, from.height,
            from.channels, from.channels == 1 ? "" : "s", from.depth, gc_output_name(task->output),
            result->implementation);
    if (result->fallback != NULL)
        gc_note(name, "%s", result->fallback);
    if (result->decode_fallback[0] != '\0')
        gc_note(name, "decoded on the CPU: %s", result->decode_fallback);
    note_clipped(name, result);
    note_found(name, result);
    if (result->verified)
        report_verification(name, result);
    if (options->report.timings)
        print_timings(name, result);
    if (options->report.explain && !options->report.json) {
        gc_answer(name, "how the implementation was chosen:");
        gc_notes_print(explanation_of(result));
    } else if (options->report.verbose) {
        note_choices(name, explanation_of(result));
    }
}

/* What stands between and behind the names in a line of --dry-run. */
static const char arrow[] = " -> ", skipped[] = " (skipped)", fails[] = " (fails)";

static bool begins(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* Prints a name so that a line of --dry-run can be read in one way only, also if the name ends in
 * an arrow without its last space. */
static void print_name(const char *name)
{
    char part[PATH_MAX], escaped[4 * PATH_MAX];
    while (*name != '\0') {
        size_t length = strcspn(name, "\\ ");
        snprintf(part, sizeof part, "%.*s", (int)length, name);
        fputs(gc_escape(part, escaped, sizeof escaped), stdout);
        name += length;
        if (*name == '\\')
            fputs("\\\\", stdout);
        else if (*name == ' ')
            fputs(begins(name, " ->") || begins(name, skipped) || begins(name, fails) ? "\\x20"
                                                                                      : " ",
                  stdout);
        name += *name != '\0';
    }
}

static void print_plan(const gc_task *task, const gc_result *result)
{
    print_name(task->input);
    fputs(arrow, stdout);
    print_name(task->output);
    if (result->outcome != GC_OUTCOME_PLANNED)
        fputs(result->outcome == GC_OUTCOME_SKIPPED ? skipped : fails, stdout);
    fputc('\n', stdout);
}

/* Of a single image nothing else tells that --no-clobber kept the output. */
static void say_skipped(const gc_options *options, const gc_task *task, const gc_result *result)
{
    const bool alone = options->batch.directory == NULL && options->writer.no_clobber;
    if (alone && !options->report.verbose && !options->report.json && !options->batch.dry_run)
        gc_say("%s: %s", gc_output_name(task->output), result->skipped);
    else
        gc_note(task->output, "%s", result->skipped);
}

void gc_report_image(const gc_options *options, const gc_task *task, const gc_result *result)
{
    for (size_t i = 0; i < result->before_count; i++)
        gc_report_image(options, task, &result->before[i]);
    /* Behind a signal, whose handler removes unfinished outputs. */
    if (result->outcome == GC_OUTCOME_FAILED && gc_counts_are_stopped())
        return;
    if (result->notes != NULL)
        gc_notes_print(result->notes);
    if (result->json != NULL && result->json[0] != '\0')
        gc_write_line(result->json, strlen(result->json));
    if (result->json != NULL)
        return;
    if (result->outcome == GC_OUTCOME_FAILED && result->subject != NULL && !task->collides)
        gc_report(result->subject, &result->error);
    else if (result->outcome == GC_OUTCOME_SKIPPED)
        say_skipped(options, task, result);
    else if (result->outcome == GC_OUTCOME_DONE || result->outcome == GC_OUTCOME_MISMATCH)
        report_done(options, task, result);
    if (options->report.json && !task->is_list)
        print_json(options, task, result);
    else if (options->batch.dry_run && !task->is_list)
        print_plan(task, result);
}
