#include "cli/commands/recheck.h"

#include "base/json_reader.h"
#include "base/memory.h"
#include "base/memory_rows.h"
#include "base/status.h"
#include "cli/image/image.h"
#include "cli/image/picture.h"
#include "cli/tasks/names.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    recheck->argument_room = 0;
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

/* A NULL follows the last argument. */
static gconv_status add_argument(gc_recheck *recheck, const char *text, gconv_error *error)
{
    size_t count = (size_t)recheck->argument_count;
    char **arguments =
        gc_make_room(recheck->arguments, count + 1, &recheck->argument_room, sizeof *arguments);
    char *copy = arguments != NULL ? gc_copy_string(text) : NULL;
    if (arguments != NULL)
        recheck->arguments = arguments;
    GC_TRY_MEMORY(copy != NULL, error, strlen(text));
    arguments[count] = copy;
    arguments[count + 1] = NULL;
    recheck->argument_count++;
    return GCONV_OK;
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

/* Makes the session of the recorded options. This command says on which device. */
static gconv_status make_session(gc_recheck *recheck, const char *recipe, gconv_error *error)
{
    const char *subject = NULL;
    gc_options *recorded = &recheck->recorded;
    GC_TRY(gc_options_parse(recheck->argument_count, recheck->arguments, recorded, error));
    recorded->implementations = recheck->options->implementations;
    recorded->job.device = recheck->options->job.device;
    recorded->job.threads = recheck->options->job.threads;
    recorded->journal.file = recheck->options->journal.file; /* the session makes its recipe then */
    gconv_status status = gc_session_create(recorded, &recheck->session, &subject, error);
    bool is_there = subject != NULL && access(subject, F_OK) == 0;
    recheck->changed = status == GCONV_OK ? strcmp(recheck->session.recipe.name, recipe) != 0
                                          : status == GCONV_ERROR_FILTER && is_there;
    if (status == GCONV_OK || subject == NULL)
        return status;
    gconv_error reason = *error;
    return gc_fail(error, status, "%.100s: %.400s", subject, reason.message);
}

static gconv_status read_recipe(gc_recheck *recheck, const char *recipe, gconv_error *error)
{
    char *line;
    GC_TRY(gc_journal_recipe(recheck->journal, recipe, &line, error));
    const gc_json_events events = {.value = take_value, .user = recheck};
    recheck->definition = 1; /* unless the line says otherwise */
    gconv_status status = add_argument(recheck, "gconv", error);
    GC_THEN(status, gc_json_read(line, strlen(line), &events, error));
    free(line);
    return status == GCONV_OK ? make_session(recheck, recipe, error) : status;
}

void gc_recheck_use(gc_recheck *recheck, const char *recipe)
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
    gc_recheck_use(recheck, record->recipe);
    bool outdated = recheck->definition != GC_DEFINITION;
    snprintf(reason, size, "%s",
             outdated           ? "its recipe stood for other pixels when it was made"
             : recheck->changed ? "a filter of its recipe is another one now than when it was made"
                                : "");
    return outdated || recheck->changed;
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

gconv_status gc_recheck_prepare(gc_recheck *recheck, gconv_error *error)
{
    GC_TRY(make_ready(recheck, error));
    return make_directory(recheck, error);
}

static bool is_bounded(const gc_record *record)
{
    return record->promise == GCONV_PROMISE_BOUNDED;
}

/* A gc_image_function: of the images before the last one the largest bound counts. */
static gconv_status take_bound(void *user, const gc_task *task, gc_result *result,
                               gconv_error *error)
{
    double *bound = user;
    (void)task;
    (void)error;
    *bound = fmax(*bound, result->difference.bound);
    gc_result_destroy(result);
    return GCONV_OK;
}

/* Computes the images of a record into the file `path`, by an implementation that promises at least
 * what the record says. If that is a bound, computes the reference as well, which tells the
 * bound. */
static gconv_status compute(gc_recheck *recheck, const gc_record *record, char *path,
                            gc_result *result, gconv_error *error)
{
    int unknown = 0;
    const gc_task task = {.input = record->input,
                          .output = path,
                          .format = gc_sniff(record->output, &unknown, NULL),
                          .either_pnm = gc_format_named(record->output).either_pnm};
    recheck->recorded.report.verify = is_bounded(record);
    recheck->session.job.exact = !is_bounded(record);
    double bound = 0;
    gc_worker worker = {.session = &recheck->session,
                        .image_done = take_bound,
                        .image_user = &bound,
                        .image_count = gc_journal_count(recheck->journal),
                        .images_left = 1,
                        .images_at_once = 1};
    gc_process(&worker, &task, result);
    gc_worker_end(&worker);
    result->difference.bound = fmax(bound, result->difference.bound);
    if (result->outcome != GC_OUTCOME_FAILED)
        return GCONV_OK;
    *error = result->error;
    return error->status;
}

/* ---- Comparing ------------------------------------------------------------------------------- */

static gconv_status open_output(const char *path, gconv_reader **reader, gconv_error *error)
{
    gconv_reader_options options = gconv_reader_options_default();
    options.auto_orient = false;
    options.planes = GCONV_PLANES_ALL;
    options.nan = GCONV_NAN_SPREAD;
    options.white = 255; /* samples as they are stored */
    return gconv_reader_open(path, &options, reader, error);
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
                            gc_pixel_difference *difference)
{
    size_t count = (size_t)a->shape.width * a->shape.height * (size_t)a->shape.channels;
    size_t bytes = (size_t)a->shape.height * a->stride;
    if (memcmp(a->samples, b->samples, bytes) == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        double was = sample_at(a, i), is = sample_at(b, i);
        bool same = was == is || (isnan(was) && isnan(is)); /* infinities are, too */
        double distance = same ? 0 : fabs(was - is);
        difference->samples += !(distance <= 0);
        if (!(distance <= difference->largest))
            difference->largest = distance;
    }
}

/* How far two bounded results may differ: each is within the bound of the reference, and rounding
 * to whole samples moves each by half a level. */
static double allowed_distance(const gc_options *recorded, const gc_result *result, int depth)
{
    double bound = result->difference.bound * fabs(recorded->job.scale);
    if (result->input.depth == 16 && depth != 16)
        bound /= 257;
    if (result->input.depth != 16 && depth == 16)
        bound *= 257;
    return 2 * bound + (depth == 32 ? 0 : 1);
}

/* Judges samples that differ. A threshold, the compression of JPEG, and a division by alpha turn
 * small differences into large ones, so such outputs cannot be judged. */
static void judge(const gc_options *recorded, const gc_record *record, const gc_result *result,
                  int depth, gc_pixel_difference *difference)
{
    bool plain = recorded->command == GC_COMMAND_FILTER && result->format != GCONV_FORMAT_JPEG &&
                 result->input.channels % 2 == 1 && result->output.depth != 1;
    difference->judged = !is_bounded(record) || plain || difference->samples == 0;
    if (is_bounded(record))
        difference->allowed = allowed_distance(recorded, result, depth);
    difference->within = difference->largest <= difference->allowed || difference->samples == 0;
}

/* Compares the next image of both files. */
static gconv_status compare_pictures(gconv_reader *then, gconv_reader *now, int *depth,
                                     gc_pixel_difference *difference, gconv_error *error)
{
    gc_picture old = {.samples = NULL}, new = {.samples = NULL};
    gconv_status status = gc_picture_read(then, &old, error);
    GC_THEN(status, gc_picture_read(now, &new, error));
    if (status == GCONV_OK && gc_is_same_shape(&old.shape, &new.shape))
        compare_samples(&old, &new, difference);
    else if (status == GCONV_OK)
        *difference = (gc_pixel_difference){.samples = 1, .largest = HUGE_VAL};
    *depth = old.shape.depth;
    gc_picture_destroy(&old);
    gc_picture_destroy(&new);
    return status;
}

static gconv_status compare_files(gc_recheck *recheck, const gc_record *record, const char *path,
                                  const gc_result *result, gc_pixel_difference *difference,
                                  gconv_error *error)
{
    gconv_reader *then = NULL, *now = NULL;
    bool more[2] = {true, true};
    int depth = 0;
    gconv_status status = open_output(record->output, &then, error);
    GC_THEN(status, open_output(path, &now, error));
    while (status == GCONV_OK && more[0] && more[1]) {
        status = compare_pictures(then, now, &depth, difference, error);
        GC_THEN(status, gconv_reader_next(then, &more[0], error));
        GC_THEN(status, gconv_reader_next(now, &more[1], error));
    }
    if (more[0] != more[1])
        *difference = (gc_pixel_difference){.samples = 1, .largest = HUGE_VAL};
    if (status == GCONV_OK)
        judge(&recheck->recorded, record, result, depth, difference);
    gconv_reader_free(then);
    gconv_reader_free(now);
    return status;
}

gconv_status gc_recheck_image(gc_recheck *recheck, const gc_record *record,
                              gc_pixel_difference *difference, gconv_error *error)
{
    char path[sizeof recheck->directory + 8];
    gc_result result;
    *difference = (gc_pixel_difference){.within = true};
    snprintf(path, sizeof path, "%s/result", recheck->directory);
    gconv_status status = compute(recheck, record, path, &result, error);
    GC_THEN(status, compare_files(recheck, record, path, &result, difference, error));
    gc_result_destroy(&result);
    unlink(path);
    return status;
}
