#include "cli/commands/image_report.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "cli/options/effects.h"
#include "cli/options/table.h"
#include "cli/options/values.h"
#include "cli/tasks/names.h"
#include "cli/tasks/tasks.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/standard_output.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
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

/* The part of the pixels that are edges. */
static double share_of_edges(const gc_result *result)
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
    json_found(&result->found, share_of_edges(result));
    json_timings(&result->timings);
    if (options->report.explain)
        gc_json_string("explanation", explanation_of(result));
    if (result->verified)
        json_verification(result);
}

static void print_json(const gc_options *options, const gc_task *task, const gc_result *result)
{
    gc_json_open(NULL, '{');
    gc_json_integer("schema", GC_JSON_SCHEMA);
    gc_json_string("command", gc_command_of(options->command)->name);
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
    gc_json_close('}');
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

/* Samples of an image without alpha. */
static double count_colours(const gconv_shape *shape)
{
    double colours = shape->channels - (shape->channels % 2 == 0);
    return (double)shape->width * shape->height * colours;
}

/* Says how many samples may have been clipped, and which options keep them. */
static void note_clipped(const char *name, const gc_result *result)
{
    const double many = 0.01; /* of all samples */
    const gc_clipped *clipped = &result->clipped;
    double samples = count_colours(&result->output);
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
                found->threshold, found->has_low ? " (high)" : "", 100 * share_of_edges(result));
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

/* ---- All images ------------------------------------------------------------------------------ */

static bool is_named(const char *option)
{
    return option != NULL && strcmp(option, "auto") != 0;
}

/* The exit code of one image alone. A depth that its format cannot hold is a mistake in the command
 * line. A device that breaks down is a failure of the image, unless the command line names a device
 * or an implementation. */
static int single_code(const gc_options *options, const gc_result *result)
{
    bool named = is_named(options->implementations) || is_named(options->job.device) ||
                 gc_gpu_decoder(options) != NULL;
    if (result->outcome == GC_OUTCOME_MISMATCH)
        return GC_EXIT_MISMATCH;
    if (result->outcome != GC_OUTCOME_FAILED)
        return GC_EXIT_DONE;
    if (result->error.status == GCONV_ERROR_DEVICE && !named)
        return GC_EXIT_FAILED;
    return result->error.status == GCONV_ERROR_ARGUMENT ? GC_EXIT_USAGE
                                                        : gc_exit_code(result->error.status);
}

/* Says which devices have failed and are not used any more, once for each. The message about one
 * image that has failed alone says it already. */
static void say_losses(gc_summary *s, const gc_result *result)
{
    const char *message;
    if (!s->batch && result->outcome == GC_OUTCOME_FAILED)
        return;
    while ((message = gconv_device_loss(s->losses)) != NULL) {
        gc_say("%s", message);
        s->losses++;
    }
}

static bool ends_in_return(const char *name)
{
    size_t length = strlen(name);
    return length > 0 && name[length - 1] == '\r';
}

/* Whether lines have tones: what counts of such a sketch is the part of its paper. */
static bool draws_in_ink(const gc_options *options)
{
    return options->command == GC_COMMAND_SKETCH && options->draw.lines == GC_LINES_INK;
}

/* Counts images of which hardly anything, or too much, is drawn, or white to `thin`. Small images
 * tell nothing, and floats only if an option says what is white. */
static void note_share(gc_summary *s, const gc_task *task, const gc_result *result)
{
    const double few = 0.001, many = 0.5, small = 100000 /* pixels */;
    double pixels = (double)result->output.width * result->output.height;
    bool is_part = s->options->rows.count > 0, thins = s->options->command == GC_COMMAND_THIN;
    bool inks = draws_in_ink(s->options);
    if ((!result->found.counted && !inks) || s->options->draw.cut == GC_CUT_SHARE || is_part ||
        (result->input.depth == 32 && !gc_option_given(s->options, "white")))
        return;
    double share = thins  ? (double)result->found.marked / pixels
                   : inks ? 1 - share_of_edges(result)
                          : share_of_edges(result);
    if (share < few && pixels >= small)
        gc_images_count(&s->with_few, gc_input_name(task->input));
    if (share > many && !inks && (pixels >= small || thins))
        gc_images_count(&s->with_many, gc_input_name(task->input));
}

/* Counts images of which a filter that makes white whiter, or negative, clips most samples. */
static void note_most_clipped(gc_summary *s, const gc_task *task, const gc_result *result)
{
    const gc_clipped *clipped = &result->clipped;
    const double half = 0.5 * count_colours(&result->output);
    if (clipped->white > 0 && (double)clipped->above > half)
        gc_images_count(&s->with_many, gc_input_name(task->input));
    if (clipped->white < 0 && (double)clipped->below > half)
        gc_images_count(&s->with_few, gc_input_name(task->input));
}

/* Counts an image, and of a batch the last one of each input. */
static void count_image(gc_summary *s, const gc_task *task, const gc_result *result, bool is_last)
{
    bool failed = result->outcome == GC_OUTCOME_FAILED;
    int code = single_code(s->options, result);
    if (code != GC_EXIT_DONE) /* a mismatch stays one, whatever later images of the stream are */
        s->code = code;
    if (s->batch && !is_last)
        return;
    s->reported++;
    if (failed)
        gc_images_count(&s->failed, gc_input_name(task->input));
    s->names_with_returns += failed && ends_in_return(task->input);
    s->skipped += result->outcome == GC_OUTCOME_SKIPPED;
    s->mismatched += result->outcome == GC_OUTCOME_MISMATCH;
    if (result->outcome != GC_OUTCOME_DONE && result->outcome != GC_OUTCOME_MISMATCH)
        return;
    s->written++;
    s->met |= result->met;
    note_share(s, task, result);
    note_most_clipped(s, task, result);
    if ((result->met & GC_MET_BACKGROUND) != 0)
        gc_images_count(&s->composited, gc_input_name(task->input));
}

void gc_summary_take(void *user, const gc_task *task, const gc_result *result)
{
    gc_summary *s = user;
    bool failed = result->outcome == GC_OUTCOME_FAILED;
    say_losses(s, result);
    gc_report_image(s->options, task, result);
    s->list_failed = s->list_failed || task->is_list;
    if (task->is_list)
        return;
    if (task->collides && failed)
        gc_collisions_add(&s->collisions, task->refused);
    for (size_t i = 0; i < result->before_count; i++)
        count_image(s, task, &result->before[i], false);
    count_image(s, task, result, true);
}

/* ---- The end --------------------------------------------------------------------------------- */

/* Nothing is said if nothing was written. */
static void note_effects(const gc_options *options, const gc_summary *s)
{
    unsigned met = s->met | (options->command == GC_COMMAND_EDGES ? GC_MET_EDGES : 0);
    met |= s->written > 1 ? GC_MET_THREADS : 0;
    met |= options->batch.files_from != NULL ? GC_MET_DIRECTORY : 0; /* the list may name some */
    for (int i = 0; i < options->operand_count; i++)
        met |= gc_is_directory(options->operands[i]) ? GC_MET_DIRECTORY : 0;
    if (s->written > 0 && options->report.verbose)
        gc_note_effects(options, met);
}

/* "gconv: 1000 images in 12.3 s, 81.3 a second" */
static void say_times(const gc_summary *summary)
{
    double seconds = gc_seconds() - summary->start;
    gc_say("%zu images in %.2f s, %.1f a second", summary->written, seconds,
           (double)summary->written / seconds);
}

/* Says rate and failed images if a progress line was drawn: somebody watches. */
static void say_images(const gc_summary *summary)
{
    char text[GC_IMAGES_BYTES];
    if (gc_progress_was_drawn() && summary->written > 1)
        say_times(summary);
    if (gc_progress_was_drawn() && summary->failed.count > 0)
        gc_say("%s", gc_images_list("failed: ", &summary->failed, GC_IMAGES_NAMED, text));
}

/* Counts the images of a batch in a line if some were not computed. */
static void say_counts(const gc_summary *s, const gc_task_list *list)
{
    size_t count = list->stream != NULL ? s->reported : list->count;
    size_t done = s->reported - s->failed.count - s->skipped;
    char rest[64] = "";
    if (count > s->reported)
        snprintf(rest, sizeof rest, ", %zu not begun", count - s->reported);
    else if (s->list_failed)
        snprintf(rest, sizeof rest, "; what else the list names is not known");
    else if (list->stream != NULL && gc_stop_is_requested())
        snprintf(rest, sizeof rest, "; what else the list names was not begun");
    if (s->failed.count + s->skipped > 0 || rest[0] != '\0' || gc_stop_is_requested())
        gc_say("%zu of %zu images %s, %zu failed, %zu skipped%s", done, count,
               s->options->batch.dry_run ? "to do" : "done", s->failed.count, s->skipped, rest);
}

static void say_foreign(const gc_task_list *list)
{
    const gc_images *foreign =
        list->stream != NULL ? gc_task_stream_foreign(list->stream) : &list->foreign;
    char names[GC_IMAGES_BYTES];
    if (foreign->count > 0)
        gc_say("%zu image file%s of other formats ignored%s", foreign->count,
               foreign->count == 1 ? "" : "s",
               gc_images_list(": ", foreign, GC_IMAGES_SHOWN, names));
}

/* Why names of a list may not be found. */
static void give_hint(const gc_summary *s)
{
    if (s->options->batch.files_from != NULL && !s->options->batch.files_end_in_nul &&
        s->names_with_returns > 0)
        gc_say("%s: its lines end in a carriage return and a newline; tr -d '\\r' makes names of "
               "them",
               gc_input_name(s->options->batch.files_from));
}

/* Says that transparent pixels were put on a background that the command line does not name. */
static void say_background(const gc_summary *s)
{
    char names[GC_IMAGES_BYTES];
    if (s->composited.count == 0 || s->options->report.verbose ||
        gc_option_given(s->options, "background"))
        return;
    gc_say("transparent pixels%s were put on white; --background COLOUR takes another colour",
           s->batch ? gc_images_list(" of ", &s->composited, GC_IMAGES_SHOWN, names) : "");
}

/* What to do about a threshold that does not suit. */
static const char *find_remedy(const gc_options *options)
{
    if (options->command == GC_COMMAND_THIN || draws_in_ink(options))
        return "'gconv filter -k identity --scale 16' lightens a dark image, as of 12 bits in 16";
    if (options->command == GC_COMMAND_SKETCH)
        return "another --sigma takes finer or wider details";
    switch (options->detector.method) {
    case GCONV_METHOD_CANNY:
        return options->draw.finds_high ? "--low and --high set thresholds"
                                        : "--high auto finds thresholds";
    case GCONV_METHOD_ZERO_CROSSING:
        return "--threshold sets the least slope";
    default:
        return options->draw.cut == GC_CUT_AUTO ? "--threshold N% takes N per cent"
                                                : "--threshold auto finds a threshold";
    }
}

static void say_shares(const gc_summary *s, const gc_images *images, const char *what)
{
    char names[GC_IMAGES_BYTES];
    if (images->count == 0)
        return;
    const char *where = s->batch ? gc_images_list(" in ", images, GC_IMAGES_SHOWN, names) : "";
    const bool thins = s->options->command == GC_COMMAND_THIN;
    if (thins && images == &s->with_many)
        gc_say("%s of the pixels%s are white, and lines are white on black; 'gconv filter -k "
               "identity --scale -1 --offset 255' turns an image round",
               what, where);
    else
        gc_say("%s of the pixels%s are %s; %s", what, where,
               thins                      ? "white"
               : draws_in_ink(s->options) ? "paper"
                                          : "edges",
               find_remedy(s->options));
}

/* Says which images became black or white for the most part, and how to keep more of them. -v says
 * it of each. */
static void say_clipped(const gc_summary *s, const gc_images *images, const char *colour,
                        const char *remedy)
{
    char names[GC_IMAGES_BYTES];
    if (images->count > 0 && !s->options->report.verbose)
        gc_say("more than 50 %% of the samples%s are clipped to %s; %s keep more",
               s->batch ? gc_images_list(" of ", images, GC_IMAGES_SHOWN, names) : "", colour,
               remedy);
}

int gc_summary_finish(const gc_summary *s, const gc_task_list *list)
{
    gconv_error error;
    note_effects(s->options, s);
    if (gc_collisions_tell(&s->collisions, &error) != GCONV_OK)
        gc_report(NULL, &error);
    say_background(s);
    if (s->options->command == GC_COMMAND_FILTER) {
        say_clipped(s, &s->with_few, "black", "--offset 128 or --abs");
        say_clipped(s, &s->with_many, "white", "'divisor sum' in the filter or a smaller --scale");
    } else {
        say_shares(s, &s->with_few, "less than 0.1 %");
        say_shares(s, &s->with_many, "more than 50 %");
    }
    if (!list->batch)
        return s->code;
    say_images(s);
    say_foreign(list);
    give_hint(s);
    say_counts(s, list);
    if (s->failed.count > 0 || s->list_failed)
        return GC_EXIT_FAILED;
    return s->mismatched > 0 ? GC_EXIT_MISMATCH : GC_EXIT_DONE;
}

void gc_summary_destroy(gc_summary *summary)
{
    gc_images *all[] = {&summary->failed, &summary->composited, &summary->with_few,
                        &summary->with_many};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        gc_images_free(all[i]);
}
