#include "cli/image/recheck.h"

#include "base/memory.h"
#include "base/status.h"
#include "cli/image/gate.h"
#include "cli/image/image.h"
#include "cli/image/picture.h"
#include "cli/report/json_reader.h"
#include "cli/tasks/names.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void gc_recheck_begin(gc_recheck *recheck, const gc_options *options, const gc_journal *journal)
{
    *recheck = (gc_recheck){.options = options, .journal = journal, .definition = GC_DEFINITION};
}

/* ---- Recipes --------------------------------------------------------------------------------- */

static void forget_recipe(gc_recheck *recheck)
{
    gc_session_destroy(&recheck->session);
    gc_options_free(&recheck->recorded);
    for (int i = 0; i < recheck->argument_count; i++)
        free(recheck->arguments[i]);
    free(recheck->arguments);
    recheck->arguments = NULL;
    recheck->argument_count = 0;
    recheck->recorded = (gc_options){.command = GC_COMMAND_NONE};
    recheck->recipe[0] = '\0';
    recheck->failure.status = GCONV_OK;
    recheck->changed = recheck->ready = false;
    recheck->definition = GC_DEFINITION;
}

void gc_recheck_end(gc_recheck *recheck)
{
    forget_recipe(recheck);
    if (recheck->directory[0] != '\0')
        rmdir(recheck->directory);
}

static gconv_status add_argument(gc_recheck *recheck, const char *text, gconv_error *error)
{
    size_t count = (size_t)recheck->argument_count;
    char **arguments = realloc(recheck->arguments, (count + 2) * sizeof *arguments);
    if (arguments == NULL)
        return gc_fail_memory(error, (count + 2) * sizeof *arguments);
    recheck->arguments = arguments;
    arguments[count] = gc_copy_string(text);
    arguments[count + 1] = NULL;
    recheck->argument_count += arguments[count] != NULL;
    return arguments[count] != NULL ? GCONV_OK : gc_fail_memory(error, strlen(text));
}

/* Takes command, options and version from the line of a recipe. */
static gconv_status take_value(void *user, const gc_json_value *value, gconv_error *error)
{
    gc_recheck *recheck = user;
    if (strcmp(value->key, "definition") == 0)
        recheck->definition = (int)value->number;
    bool wanted = value->key[0] == '\0' || strcmp(value->key, "command") == 0;
    return wanted && value->text != NULL ? add_argument(recheck, value->text, error) : GCONV_OK;
}

/* Makes the session of the recorded options. Where it is computed is what this command says. */
static gconv_status make_session(gc_recheck *recheck, const char *recipe, gconv_error *error)
{
    const char *blamed = NULL;
    gc_options *recorded = &recheck->recorded;
    gconv_status status =
        gc_options_parse(recheck->argument_count, recheck->arguments, recorded, error);
    if (status != GCONV_OK)
        return status;
    recorded->implementations = recheck->options->implementations;
    recorded->job.device = recheck->options->job.device;
    recorded->job.threads = recheck->options->job.threads;
    /* The session makes its recipe then. */
    recorded->journal.file = gc_journal_path(recheck->journal);
    status = gc_session_create(recorded, &recheck->session, &blamed, error);
    bool is_there = blamed != NULL && access(blamed, F_OK) == 0;
    recheck->changed = status == GCONV_OK ? strcmp(recheck->session.recipe.name, recipe) != 0
                                          : status == GCONV_ERROR_FILTER && is_there;
    if (status == GCONV_OK || blamed == NULL)
        return status;
    gconv_error reason = *error;
    return gc_fail(error, status, "%.100s: %.400s", blamed, reason.message);
}

static gconv_status read_recipe(gc_recheck *recheck, const char *recipe, gconv_error *error)
{
    char *line;
    size_t size;
    gconv_status status = gc_journal_recipe(recheck->journal, recipe, &line, &size, error);
    if (status != GCONV_OK)
        return status;
    const gc_json_events events = {.value = take_value, .user = recheck};
    recheck->definition = 1; /* unless the line says otherwise */
    status = add_argument(recheck, "gconv", error);
    if (status == GCONV_OK)
        status = gc_json_read(line, size, &events, error);
    free(line);
    return status == GCONV_OK ? make_session(recheck, recipe, error) : status;
}

/* Has the session of this recipe, or `failure`. */
static void use_recipe(gc_recheck *recheck, const char *recipe)
{
    gconv_error error;
    if (strcmp(recheck->recipe, recipe) == 0)
        return;
    forget_recipe(recheck);
    if (read_recipe(recheck, recipe, &error) != GCONV_OK)
        recheck->failure = error;
    memcpy(recheck->recipe, recipe, sizeof recheck->recipe);
}

bool gc_recheck_is_stale(gc_recheck *recheck, const gc_record *record, char *reason, size_t size)
{
    use_recipe(recheck, record->recipe);
    bool outdated = recheck->definition != GC_DEFINITION;
    snprintf(reason, size, "%s",
             outdated           ? "its recipe stood for other pixels when it was made"
             : recheck->changed ? "a filter of its recipe is another one now than when it was made"
                                : "");
    return outdated || recheck->changed;
}

bool gc_recheck_can_compute(gc_recheck *recheck, const gc_record *record, char *reason, size_t size)
{
    use_recipe(recheck, record->recipe);
    bool can = recheck->failure.status == GCONV_OK;
    snprintf(reason, size, "%.400s", can ? "" : recheck->failure.message);
    return can;
}

/* ---- Computing ------------------------------------------------------------------------------- */

/* Checks once whether the session can compute. */
static gconv_status make_ready(gc_recheck *recheck, gconv_error *error)
{
    gconv_status status =
        recheck->ready ? GCONV_OK : gc_session_check_all(&recheck->session, error);
    recheck->ready = status == GCONV_OK;
    return status;
}

static gconv_status make_directory(gc_recheck *recheck, gconv_error *error)
{
    const char *parent = getenv("TMPDIR");
    char *path = recheck->directory;
    if (path[0] != '\0')
        return GCONV_OK;
    if (parent == NULL || parent[0] == '\0')
        parent = "/tmp";
    int length = snprintf(path, sizeof recheck->directory, "%s/gconv-check-XXXXXX", parent);
    errno = ENAMETOOLONG;
    if (length < (int)sizeof recheck->directory && mkdtemp(path) != NULL)
        return GCONV_OK;
    path[0] = '\0';
    return gc_fail_errno(error, GCONV_ERROR_WRITE, errno,
                         "cannot make a directory in TMPDIR, else /tmp");
}

gconv_status gc_recheck_prepare(gc_recheck *recheck, const gc_record *record, gconv_error *error)
{
    use_recipe(recheck, record->recipe);
    gconv_status status = recheck->failure.status;
    if (status != GCONV_OK)
        *error = recheck->failure;
    else
        status = make_ready(recheck, error);
    return status == GCONV_OK ? make_directory(recheck, error) : status;
}

/* A gc_gate_function: the session was checked. */
static gconv_status pass(void *user, gconv_error *error)
{
    (void)user;
    (void)error;
    return GCONV_OK;
}

/* Computes the image of a record into the file `path`. Where its chain is not exact, the reference
 * is computed, too: it tells the bound. */
static gconv_status compute(gc_recheck *recheck, const gc_record *record, char *path,
                            gc_result *result, gconv_error *error)
{
    gc_gate gate;
    int unknown = 0;
    const gc_task task = {
        .input = record->input, .output = path, .format = gc_sniff(record->output, &unknown, NULL)};
    recheck->recorded.report.verify = !record->exact;
    gc_gate_create(&gate, pass, NULL);
    gc_worker worker = {.session = &recheck->session,
                        .gate = &gate,
                        .image_count = gc_journal_count(recheck->journal),
                        .images_left = 1,
                        .images_at_once = 1};
    gc_process(&worker, &task, result);
    gc_kept_plan_free(&worker.kept);
    gc_gate_destroy(&gate);
    if (result->outcome != GC_OUTCOME_FAILED)
        return GCONV_OK;
    *error = result->error;
    return error->status;
}

/* ---- Comparing ------------------------------------------------------------------------------- */

static gconv_status read_picture(const char *path, gc_picture *picture, gconv_error *error)
{
    gconv_reader_options options = gconv_reader_options_default();
    gconv_reader *reader;
    options.auto_orient = false;
    options.white = 255; /* samples as they are stored */
    gconv_status status = gconv_reader_open(path, &options, &reader, error);
    if (status != GCONV_OK)
        return status;
    status = gc_picture_read(reader, picture, error);
    gconv_reader_free(reader);
    return status;
}

static double sample_at(const gc_picture *picture, size_t index)
{
    uint16_t deep;
    float real;
    switch (picture->shape.depth) {
    case 8:
        return picture->samples[index];
    case 16:
        memcpy(&deep, picture->samples + 2 * index, sizeof deep);
        return deep;
    default:
        memcpy(&real, picture->samples + 4 * index, sizeof real);
        return (double)real;
    }
}

static void compare_samples(const gc_picture *a, const gc_picture *b,
                            gc_recheck_difference *difference)
{
    size_t count = (size_t)a->shape.width * a->shape.height * (size_t)a->shape.channels;
    size_t bytes = (size_t)a->shape.height * a->stride;
    if (memcmp(a->samples, b->samples, bytes) == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        double distance = fabs(sample_at(a, i) - sample_at(b, i));
        difference->samples += !(distance <= 0);
        if (!(distance <= difference->largest))
            difference->largest = distance;
    }
}

static bool same_shape(const gconv_shape *a, const gconv_shape *b)
{
    return a->width == b->width && a->height == b->height && a->channels == b->channels &&
           a->depth == b->depth;
}

/* How far two results of a chain that is not exact may lie apart: each is within the bound of the
 * reference, and rounding to whole samples moves each by half a level. */
static double allowed_distance(const gc_options *recorded, const gc_result *result, int depth)
{
    double bound = result->difference.bound * fabs(recorded->job.scale);
    if (result->input.depth == 16 && depth != 16)
        bound /= 257;
    if (result->input.depth != 16 && depth == 16)
        bound *= 257;
    return 2 * bound + (depth == 32 ? 0 : 1);
}

/* Judges samples that differ. A threshold, the compression of JPEG, and a division by alpha turn a
 * small difference into a large one, so there nothing can be said. */
static void judge(const gc_options *recorded, const gc_record *record, const gc_result *result,
                  int depth, gc_recheck_difference *difference)
{
    bool plain = recorded->command == GC_COMMAND_FILTER && result->format != GCONV_FORMAT_JPEG &&
                 result->input.channels % 2 == 1 && result->output.depth != 1;
    difference->judged = record->exact || plain || difference->samples == 0;
    if (!record->exact)
        difference->allowed = allowed_distance(recorded, result, depth);
    difference->within = difference->largest <= difference->allowed || difference->samples == 0;
}

static gconv_status compare_files(gc_recheck *recheck, const gc_record *record, const char *path,
                                  const gc_result *result, gc_recheck_difference *difference,
                                  gconv_error *error)
{
    gc_picture then = {.samples = NULL}, now = {.samples = NULL};
    gconv_status status = read_picture(record->output, &then, error);
    if (status == GCONV_OK)
        status = read_picture(path, &now, error);
    if (status == GCONV_OK && same_shape(&then.shape, &now.shape))
        compare_samples(&then, &now, difference);
    else if (status == GCONV_OK)
        *difference = (gc_recheck_difference){.samples = 1, .largest = HUGE_VAL};
    if (status == GCONV_OK)
        judge(&recheck->recorded, record, result, then.shape.depth, difference);
    gc_picture_destroy(&then);
    gc_picture_destroy(&now);
    return status;
}

gconv_status gc_recheck_image(gc_recheck *recheck, const gc_record *record,
                              gc_recheck_difference *difference, gconv_error *error)
{
    char path[sizeof recheck->directory + 8];
    gc_result result;
    *difference = (gc_recheck_difference){.within = true};
    snprintf(path, sizeof path, "%s/result", recheck->directory);
    gconv_status status = compute(recheck, record, path, &result, error);
    if (status == GCONV_OK)
        status = compare_files(recheck, record, path, &result, difference, error);
    gc_result_destroy(&result);
    unlink(path);
    return status;
}
