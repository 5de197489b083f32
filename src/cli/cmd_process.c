/* gconv edges, gconv filter: one image or a batch, from file to file. */
#include "cli/batch.h"
#include "cli/cli.h"
#include "cli/effects.h"
#include "cli/json.h"
#include "cli/messages.h"

#include <stdio.h>
#include <string.h>

static const char *const outcome_names[] = {
    [GC_OUTCOME_DONE] = "done",
    [GC_OUTCOME_SKIPPED] = "skipped",
    [GC_OUTCOME_FAILED] = "failed",
    [GC_OUTCOME_MISMATCH] = "mismatch",
};

/* ---- Reporting one image --------------------------------------------------------------------- */

static void print_timings(const char *name, const gconv_timings *t)
{
    gc_answer(name,
              "decode %.3f ms, upload %.3f ms, compute %.3f ms, download %.3f ms, encode %.3f ms, "
              "total %.3f ms",
              1e3 * t->decode, 1e3 * t->upload, 1e3 * t->compute, 1e3 * t->download,
              1e3 * t->encode, 1e3 * t->total);
}

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

static void json_difference(const gconv_difference *difference)
{
    gc_json_open("verify", '{');
    gc_json_bool("within", difference->within);
    gc_json_number("bound", difference->bound);
    gc_json_number("largest", difference->largest);
    gc_json_integer("x", difference->x);
    gc_json_integer("y", difference->y);
    gc_json_integer("channel", difference->channel);
    gc_json_integer("mismatches", (int64_t)difference->mismatches);
    gc_json_close('}');
}

static const char *explanation_of(const gc_result *result)
{
    return result->explanation != NULL ? result->explanation : "";
}

static void print_json(const gc_session *session, const gc_task *task, const gc_result *result)
{
    gc_json_open(NULL, '{');
    gc_json_integer("schema", GC_JSON_SCHEMA);
    gc_json_string("command", session->options->command == GC_COMMAND_EDGES ? "edges" : "filter");
    gc_json_string("input", task->input);
    gc_json_string("output", task->output);
    if (result->image > 0)
        gc_json_integer("image", (int64_t)result->image);
    gc_json_string("status", outcome_names[result->outcome]);
    if (result->outcome == GC_OUTCOME_FAILED)
        gc_json_string("error", result->error.message);
    gc_warning_list_json(&result->warnings);
    if (result->outcome == GC_OUTCOME_DONE || result->outcome == GC_OUTCOME_MISMATCH) {
        json_shape("from", &result->input);
        json_shape("to", &result->output);
        gc_json_string("implementation", result->implementation);
        gc_json_bool("exact", result->exact);
        json_timings(&result->timings);
        if (session->options->explain)
            gc_json_string("explanation", explanation_of(result));
        if (result->verified)
            json_difference(&result->difference);
    }
    gc_json_close('}');
    gc_json_end();
}

static void report_verification(const char *name, const gc_result *result)
{
    const gconv_difference *d = &result->difference;
    if (d->within)
        gc_note(name, "verified: largest difference from the reference %g, bound %g", d->largest,
                d->bound);
    else
        gc_answer(name,
                  "verification failed: '%s' differs from the reference by up to %g (bound %g) at "
                  "x %u, y %u, channel %d; %llu values beyond the bound",
                  result->implementation, d->largest, d->bound, d->x, d->y, d->channel,
                  (unsigned long long)d->mismatches);
}

/* The lines of an explanation that tell of steps: what the implementation chose for each. */
static void note_choices(const char *name, const char *explanation)
{
    for (const char *line = explanation; *line != '\0';) {
        int length = (int)strcspn(line, "\n");
        if (strncmp(line, "step ", strlen("step ")) == 0)
            gc_note(name, "%.*s", length, line);
        line += length + (line[length] == '\n');
    }
}

static void report_done(const gc_session *session, const gc_task *task, const gc_result *result)
{
    const gc_options *options = session->options;
    const char *name = gc_input_name(task->input);
    const gconv_shape *from = &result->input;
    char image[32] = "";
    if (result->image > 0)
        snprintf(image, sizeof image, "image %zu: ", result->image);
    gc_note(name, "%s%ux%u, %d channel%s of %d bits to %s by %s", image, from->width, from->height,
            from->channels, from->channels == 1 ? "" : "s", from->depth,
            gc_output_name(task->output), result->implementation);
    if (result->fallback != NULL)
        gc_note(name, "the CPU took over: %s", result->fallback);
    if (result->verified)
        report_verification(name, result);
    if (options->timings)
        print_timings(name, &result->timings);
    if (options->explain && !options->json) {
        gc_answer(name, "how the implementation was chosen:");
        fputs(explanation_of(result), stderr);
    } else if (options->verbose) {
        note_choices(name, explanation_of(result));
    }
}

static void report(const gc_session *session, const gc_task *task, const gc_result *result)
{
    if (result->notes != NULL)
        gc_notes_print(result->notes);
    if (result->outcome == GC_OUTCOME_FAILED && result->blamed != NULL)
        gc_report(result->blamed, &result->error);
    else if (result->outcome == GC_OUTCOME_SKIPPED)
        gc_note(task->output, "exists; skipped");
    else if (result->outcome != GC_OUTCOME_FAILED)
        report_done(session, task, result);
    if (session->options->json)
        print_json(session, task, result);
}

/* ---- All images ------------------------------------------------------------------------------ */

static bool is_named(const char *option)
{
    return option != NULL && strcmp(option, "auto") != 0;
}

/* The exit code of one image alone. A depth that its format cannot hold was asked for on the
 * command line; a device that breaks down was not, unless it or an implementation was named. */
static int single_code(const gc_options *options, const gc_result *result)
{
    bool named = is_named(options->implementation) || is_named(options->device);
    if (result->outcome == GC_OUTCOME_MISMATCH)
        return GC_EXIT_MISMATCH;
    if (result->outcome != GC_OUTCOME_FAILED)
        return GC_EXIT_DONE;
    if (result->error.status == GCONV_ERROR_DEVICE && !named)
        return GC_EXIT_FAILED;
    return result->error.status == GCONV_ERROR_ARGUMENT ? GC_EXIT_USAGE
                                                        : gc_exit_code(result->error.status);
}

/* What has been reported so far. */
typedef struct tally {
    const gc_session *session;
    size_t failed, skipped, mismatched;
    size_t written;
    unsigned met; /* by all that were written, as gc_note_effects takes it */
    int code;     /* of one input alone */
} tally;

static void take_result(void *user, const gc_task *task, const gc_result *result)
{
    tally *t = user;
    report(t->session, task, result);
    t->failed += result->outcome == GC_OUTCOME_FAILED;
    t->skipped += result->outcome == GC_OUTCOME_SKIPPED;
    t->mismatched += result->outcome == GC_OUTCOME_MISMATCH;
    int code = single_code(t->session->options, result);
    if (code != GC_EXIT_DONE) /* a mismatch among the images of a stream stays one */
        t->code = code;
    if (result->outcome != GC_OUTCOME_DONE && result->outcome != GC_OUTCOME_MISMATCH)
        return;
    t->written++;
    t->met |= gc_met_format(result->format) | gc_met_implementation(result->implementation);
    t->met |= result->input.channels % 2 == 0 ? GC_MET_ALPHA : 0;
}

/* Nothing is said where nothing was written. */
static void note_effects(const gc_options *options, const tally *t)
{
    unsigned met = t->met | (options->command == GC_COMMAND_EDGES ? GC_MET_EDGES : 0);
    met |= t->written > 1 ? GC_MET_THREADS : 0;
    for (int i = 0; i < options->operand_count; i++)
        met |= gc_is_directory(options->operands[i]) ? GC_MET_DIRECTORY : 0;
    if (t->written > 0 && options->verbose)
        gc_note_effects(options, met);
}

static int run_tasks(const gc_session *session, const gc_task_list *list)
{
    tally t = {.session = session, .code = GC_EXIT_DONE};
    gconv_error error;
    gc_tally_begin("images done", true, list->count);
    gconv_status status = gc_batch_run(session, list, take_result, &t, &error);
    if (status != GCONV_OK) {
        gc_report(NULL, &error);
        return GC_EXIT_FAILED;
    }
    note_effects(session->options, &t);
    if (!list->batch)
        return t.code;
    if (t.failed + t.skipped > 0)
        gc_say("%zu of %zu images done, %zu failed, %zu skipped",
               list->count - t.failed - t.skipped, list->count, t.failed, t.skipped);
    return t.failed > 0 ? GC_EXIT_FAILED : t.mismatched > 0 ? GC_EXIT_MISMATCH : GC_EXIT_DONE;
}

int gc_run_process(const gc_options *options)
{
    gc_session session = {.options = options};
    gc_task_list list = {.tasks = NULL};
    gconv_error error;
    const char *blamed = NULL;
    gconv_status status = GCONV_OK;
    if (options->command == GC_COMMAND_FILTER && options->kernel_count == 0)
        status = gc_fail(&error, GCONV_ERROR_ARGUMENT,
                         "which filter? give --kernel (gconv info lists the built-in ones)");
    if (status == GCONV_OK)
        status = gc_task_list_create(options, &list, &blamed, &error);
    if (status == GCONV_OK) {
        status = gc_session_create(options, &session, &error);
        blamed = session.blamed;
    }
    int code = gc_start_code(status);
    gc_directories directories = GC_DIRECTORIES_NONE;
    session.directories = &directories;
    if (status == GCONV_OK && options->output_directory != NULL) {
        blamed = options->output_directory;
        status = gc_make_directory(&directories, blamed, &error);
        code = gc_exit_code(status);
    }
    if (status == GCONV_OK)
        code = run_tasks(&session, &list);
    else
        gc_report(blamed, &error);
    gc_remove_empty_directories(&directories);
    gc_session_destroy(&session);
    gc_task_list_destroy(&list);
    return code;
}
