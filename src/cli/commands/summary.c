#include "cli/commands/summary.h"

#include "base/clock.h"
#include "cli/commands/image_report.h"
#include "cli/options/effects.h"
#include "cli/options/table.h"
#include "cli/options/values.h"
#include "cli/tasks/names.h"
#include "cli/tasks/tasks.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/standard_output.h"

#include <stdio.h>
#include <string.h>

/* ---- Counting -------------------------------------------------------------------------------- */

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
                   : inks ? 1 - gc_share_of_edges(result)
                          : gc_share_of_edges(result);
    if (share < few && pixels >= small)
        gc_images_count(&s->with_few, gc_input_name(task->input));
    if (share > many && !inks && (pixels >= small || thins))
        gc_images_count(&s->with_many, gc_input_name(task->input));
}

/* Counts images of which a filter that makes white whiter, or black, may clip most samples. */
static void note_most_clipped(gc_summary *s, const gc_task *task, const gc_result *result)
{
    const gc_clipped *clipped = &result->clipped;
    const double half = 0.5 * gc_count_colours(&result->output);
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
    s->names_with_returns += failed && gc_ends_with(task->input, "\r");
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
    if ((result->met & GC_MET_MISSING) != 0)
        gc_images_count(&s->missing, gc_input_name(task->input));
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

/* Says rate and failed images if a progress line was drawn: somebody watches. */
static void say_images(const gc_summary *summary)
{
    char text[GC_IMAGES_BYTES];
    double seconds = gc_seconds() - summary->start;
    if (gc_progress_was_drawn() && summary->written > 1)
        gc_say("%zu images in %.2f s, %.1f a second", summary->written, seconds,
               (double)summary->written / seconds);
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

/* Says what some images have in common. -v says it of each. */
static void say_of(const gc_summary *s, const gc_images *images, const char *what, const char *text)
{
    char names[GC_IMAGES_BYTES];
    if (images->count > 0 && !s->options->report.verbose)
        gc_say("%s%s %s", what,
               s->batch ? gc_images_list(" of ", images, GC_IMAGES_SHOWN, names) : "", text);
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

int gc_summary_finish(const gc_summary *s, const gc_task_list *list)
{
    gconv_error error;
    note_effects(s->options, s);
    if (gc_collisions_tell(&s->collisions, &error) != GCONV_OK)
        gc_report(NULL, &error);
    if (!gc_option_given(s->options, "background"))
        say_of(s, &s->composited, "transparent pixels",
               "were put on white; --background COLOUR takes another colour");
    say_of(s, &s->missing, "samples",
           "count like others, though GDAL_NODATA says that they are missing; make them NaN, in "
           "floats, and 'gconv filter --nan ignore' leaves them out");
    if (s->options->command == GC_COMMAND_FILTER) {
        say_of(s, &s->with_few, "more than 50 % of the samples",
               "are black or clipped to black; --offset 128 or --abs keep more");
        say_of(s, &s->with_many, "more than 50 % of the samples",
               "are clipped to white; 'divisor sum' in the filter or a smaller --scale keep more");
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
    gc_images *all[] = {&summary->failed, &summary->composited, &summary->missing,
                        &summary->with_few, &summary->with_many};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        gc_images_free(all[i]);
}
