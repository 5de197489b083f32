/* gconv check: whether the outputs of a journal are there, unchanged, up to date and right. */
#include "cli/commands/commands.h"

#include "base/json.h"
#include "base/json_reader.h"
#include "base/memory.h"
#include "base/memory_rows.h"
#include "base/status.h"
#include "cli/image/image.h"
#include "cli/image/picture.h"
#include "cli/image/session.h"
#include "cli/journal/journal.h"
#include "cli/options/table.h"
#include "cli/tasks/names.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/standard_output.h"
#include "gconv.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Computing images again ------------------------------------------------------------------ */

/* What is kept from image to image: the session of the last recipe, and a directory. */
typedef struct recheck_state {
    const gc_options *options; /* of gconv check: implementation, device and threads */
    const gc_journal *journal;
    char recipe[GC_RECIPE_BYTES]; /* "": none yet */
    gconv_error failure;          /* why the recipe has no session; else its status is OK */
    bool changed;                 /* a filter file has changed since the recipe was made */
    int definition;               /* GC_DEFINITION of the recipe */
    bool ready;                   /* the session can compute */
    char **arguments;             /* the recorded options as a command line; owned with its texts */
    int argument_count;
    size_t argument_room;
    gc_options recorded; /* what that command line says */
    gc_session session;
    char directory[PATH_MAX]; /* for results; "": not made yet */
} recheck_state;

/* How a result differs from the recorded output. */
typedef struct pixel_difference {
    bool judged; /* false: for this format and chain only equality proves anything */
    bool within;
    uint64_t samples; /* that differ */
    double largest, allowed;
} pixel_difference;

/* ---- Recipes --------------------------------------------------------------------------------- */

static void forget_recipe(recheck_state *recheck)
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

static void end_recheck(recheck_state *recheck)
{
    forget_recipe(recheck);
    if (recheck->directory[0] != '\0')
        rmdir(recheck->directory);
}

/* A NULL follows the last argument. */
static gconv_status add_argument(recheck_state *recheck, const char *text, gconv_error *error)
{
    size_t count = (size_t)recheck->argument_count;
    char **arguments =
        gc_make_room(recheck->arguments, count + 1, &recheck->argument_room, sizeof *arguments);
    char *copy = arguments != NULL ? gc_copy_string(text) : NULL;
    if (arguments != NULL)
        recheck->arguments = arguments;
    if (copy == NULL)
        return gc_fail_memory(error, strlen(text));
    arguments[count] = copy;
    arguments[count + 1] = NULL;
    recheck->argument_count++;
    return GCONV_OK;
}

/* Takes command, options and version from the line of a recipe. */
static gconv_status take_value(void *user, const gc_json_value *value, gconv_error *error)
{
    recheck_state *recheck = user;
    if (strcmp(value->key, "definition") == 0)
        recheck->definition = (int)value->number;
    bool wanted = value->key[0] == '\0' || strcmp(value->key, "command") == 0;
    return wanted && value->text != NULL ? add_argument(recheck, value->text, error) : GCONV_OK;
}

/* Makes the session of the recorded options. This command says on which device. */
static gconv_status make_session(recheck_state *recheck, const char *recipe, gconv_error *error)
{
    const char *subject = NULL;
    gc_options *recorded = &recheck->recorded;
    gconv_status status =
        gc_options_parse(recheck->argument_count, recheck->arguments, recorded, error);
    if (status != GCONV_OK)
        return status;
    recorded->implementations = recheck->options->implementations;
    recorded->job.device = recheck->options->job.device;
    recorded->job.threads = recheck->options->job.threads;
    recorded->journal.file = recheck->options->journal.file; /* the session makes its recipe then */
    status = gc_session_create(recorded, &recheck->session, &subject, error);
    bool is_there = subject != NULL && access(subject, F_OK) == 0;
    recheck->changed = status == GCONV_OK ? strcmp(recheck->session.recipe.name, recipe) != 0
                                          : status == GCONV_ERROR_FILTER && is_there;
    if (status == GCONV_OK || subject == NULL)
        return status;
    gconv_error reason = *error;
    return gc_fail(error, status, "%.100s: %.400s", subject, reason.message);
}

static gconv_status read_recipe(recheck_state *recheck, const char *recipe, gconv_error *error)
{
    char *line;
    gconv_status status = gc_journal_recipe(recheck->journal, recipe, &line, error);
    if (status != GCONV_OK)
        return status;
    const gc_json_events events = {.value = take_value, .user = recheck};
    recheck->definition = 1; /* unless the line says otherwise */
    status = add_argument(recheck, "gconv", error);
    if (status == GCONV_OK)
        status = gc_json_read(line, strlen(line), &events, error);
    free(line);
    return status == GCONV_OK ? make_session(recheck, recipe, error) : status;
}

/* Has the session of this recipe, or `failure`. */
static void use_recipe(recheck_state *recheck, const char *recipe)
{
    gconv_error error;
    if (strcmp(recheck->recipe, recipe) == 0)
        return;
    forget_recipe(recheck);
    if (read_recipe(recheck, recipe, &error) != GCONV_OK)
        recheck->failure = error;
    memcpy(recheck->recipe, recipe, sizeof recheck->recipe);
}

/* Whether the record's recipe gives other pixels now: its version differs, or a filter file has
 * changed. Nothing is known of a filter file that is gone. `reason` becomes a sentence, or "". */
static bool is_stale(recheck_state *recheck, const gc_record *record, char *reason, size_t size)
{
    use_recipe(recheck, record->recipe);
    bool outdated = recheck->definition != GC_DEFINITION;
    snprintf(reason, size, "%s",
             outdated           ? "its recipe stood for other pixels when it was made"
             : recheck->changed ? "a filter of its recipe is another one now than when it was made"
                                : "");
    return outdated || recheck->changed;
}

/* ---- Computing ------------------------------------------------------------------------------- */

/* Checks once whether the session can compute. */
static gconv_status make_ready(recheck_state *recheck, gconv_error *error)
{
    gconv_status status =
        recheck->ready ? GCONV_OK : gc_session_check_all(&recheck->session, error);
    recheck->ready = status == GCONV_OK;
    return status;
}

static gconv_status make_directory(recheck_state *recheck, gconv_error *error)
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

/* Prepares to compute an image again. Fails only if the device, the implementation or the directory
 * for results cannot be used, not because of the image's files. */
static gconv_status prepare(recheck_state *recheck, gconv_error *error)
{
    gconv_status status = make_ready(recheck, error);
    return status == GCONV_OK ? make_directory(recheck, error) : status;
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
static gconv_status compute(recheck_state *recheck, const gc_record *record, char *path,
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

static void compare_samples(const gc_picture *a, const gc_picture *b, pixel_difference *difference)
{
    size_t count = (size_t)a->shape.width * a->shape.height * (size_t)a->shape.channels;
    size_t bytes = (size_t)a->shape.height * a->stride;
    if (memcmp(a->samples, b->samples, bytes) == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        double was = sample_at(a, i), is = sample_at(b, i);
        double distance = isnan(was) && isnan(is) ? 0 : fabs(was - is);
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
                  int depth, pixel_difference *difference)
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
                                     pixel_difference *difference, gconv_error *error)
{
    gc_picture old = {.samples = NULL}, new = {.samples = NULL};
    gconv_status status = gc_picture_read(then, &old, error);
    if (status == GCONV_OK)
        status = gc_picture_read(now, &new, error);
    if (status == GCONV_OK && gc_is_same_shape(&old.shape, &new.shape))
        compare_samples(&old, &new, difference);
    else if (status == GCONV_OK)
        *difference = (pixel_difference){.samples = 1, .largest = HUGE_VAL};
    *depth = old.shape.depth;
    gc_picture_destroy(&old);
    gc_picture_destroy(&new);
    return status;
}

static gconv_status compare_files(recheck_state *recheck, const gc_record *record, const char *path,
                                  const gc_result *result, pixel_difference *difference,
                                  gconv_error *error)
{
    gconv_reader *then = NULL, *now = NULL;
    bool more[2] = {true, true};
    int depth = 0;
    gconv_status status = open_output(record->output, &then, error);
    if (status == GCONV_OK)
        status = open_output(path, &now, error);
    while (status == GCONV_OK && more[0] && more[1]) {
        status = compare_pictures(then, now, &depth, difference, error);
        if (status == GCONV_OK)
            status = gconv_reader_next(then, &more[0], error);
        if (status == GCONV_OK)
            status = gconv_reader_next(now, &more[1], error);
    }
    if (more[0] != more[1])
        *difference = (pixel_difference){.samples = 1, .largest = HUGE_VAL};
    if (status == GCONV_OK)
        judge(&recheck->recorded, record, result, depth, difference);
    gconv_reader_free(then);
    gconv_reader_free(now);
    return status;
}

/* Computes the image of a record again and compares, after `prepare`. */
static gconv_status recheck_image(recheck_state *recheck, const gc_record *record,
                                  pixel_difference *difference, gconv_error *error)
{
    char path[sizeof recheck->directory + 8];
    gc_result result;
    *difference = (pixel_difference){.within = true};
    snprintf(path, sizeof path, "%s/result", recheck->directory);
    gconv_status status = compute(recheck, record, path, &result, error);
    if (status == GCONV_OK)
        status = compare_files(recheck, record, path, &result, difference, error);
    gc_result_destroy(&result);
    unlink(path);
    return status;
}

/* ---- What is found --------------------------------------------------------------------------- */

typedef enum finding {
    FINDING_GOOD,
    FINDING_VERIFIED,
    FINDING_UNJUDGED, /* differs, and cannot be judged */
    FINDING_MISSING,
    FINDING_CHANGED,
    FINDING_STALE,
    FINDING_FAILED,
    FINDING_UNFINISHED, /* an intent that was not carried out */
    FINDING_UNREADABLE, /* could not be checked */
    FINDING_UNVERIFIED, /* as recorded, but --verify cannot compute it */
    FINDING_MISMATCH,
    FINDINGS
} finding;

static const char *const words[FINDINGS] = {"as recorded", "verified",   "unjudged", "missing",
                                            "changed",     "stale",      "failed",   "unfinished",
                                            "unreadable",  "unverified", "mismatch"};

typedef struct check {
    const gc_options *options;
    recheck_state recheck;
    size_t images; /* in the journal */
    size_t found[FINDINGS];
    bool has_relative_name; /* of an output */
    const char *subject;    /* the journal, or NULL if the failure is not about it */
} check;

/* ---- Files ----------------------------------------------------------------------------------- */

typedef enum file_finding { FILE_SAME, FILE_GONE, FILE_OTHER } file_finding;

/* Compares a file with what was recorded of it, by its hash. */
static file_finding look_at(const char *path, const gc_file_state *recorded)
{
    struct stat about;
    if (access(path, R_OK) != 0 || stat(path, &about) != 0)
        return FILE_GONE;
    return about.st_size == recorded->size && gc_file_has_digest(path, recorded) ? FILE_SAME
                                                                                 : FILE_OTHER;
}

static finding find(const gc_record *record, bool *has_input)
{
    file_finding output = look_at(record->output, &record->out);
    /* A rename that failed may have replaced the input all the same, as on NFS. */
    if (record->status == GC_RECORD_FAILED && (!record->in_place || output != FILE_SAME))
        return FINDING_FAILED;
    if (output == FILE_GONE)
        return FINDING_MISSING;
    if (output == FILE_OTHER)
        return record->status == GC_RECORD_INTENT ? FINDING_UNFINISHED : FINDING_CHANGED;
    file_finding input = look_at(record->input, &record->in);
    struct stat in, out;
    bool replaced = stat(record->input, &in) == 0 && stat(record->output, &out) == 0 &&
                    in.st_dev == out.st_dev && in.st_ino == out.st_ino;
    *has_input = input == FILE_SAME && !replaced;
    if (record->status == GC_RECORD_MISMATCH)
        return FINDING_MISMATCH;
    return input == FILE_OTHER && !replaced ? FINDING_STALE : FINDING_GOOD;
}

/* ---- Pixels ---------------------------------------------------------------------------------- */

/* Whether --images selects the image to be computed again. It selects the same images every
 * time. */
static bool is_chosen(const check *c, const gc_record *record)
{
    uint64_t mixed = gc_record_id(record->input, record->output) * UINT64_C(0x9E3779B97F4A7C15);
    double place = (double)(mixed >> 11) / (double)(UINT64_C(1) << 53); /* from 0 to 1 */
    return c->options->journal.images == 0 ||
           place * (double)c->images < (double)c->options->journal.images;
}

static finding verify(check *c, const gc_record *record, char *text, size_t size)
{
    pixel_difference d;
    gconv_error error;
    gconv_status status = recheck_image(&c->recheck, record, &d, &error);
    if (status != GCONV_OK) {
        snprintf(text, size, "%.400s", error.message);
        bool refused = status == GCONV_ERROR_UNSUPPORTED || status == GCONV_ERROR_DEVICE;
        return refused ? FINDING_UNVERIFIED : FINDING_UNREADABLE;
    }
    if (d.samples > 0)
        snprintf(text, size, "%llu samples differ, by up to %g; promised %s: %g is allowed",
                 (unsigned long long)d.samples, d.largest, gconv_promise_name(record->promise),
                 d.allowed);
    if (!d.judged)
        return FINDING_UNJUDGED;
    return d.within ? FINDING_VERIFIED : FINDING_MISMATCH;
}

/* Computes an image again that is as recorded, or writes why it cannot be computed. */
static gconv_status verify_where_possible(check *c, const gc_record *record, bool has_input,
                                          finding *found, char *text, size_t size,
                                          gconv_error *error)
{
    *found = FINDING_UNVERIFIED;
    if (!has_input) {
        snprintf(text, size, "%s",
                 record->in_place ? "it has replaced its input" : "its input is gone");
        return GCONV_OK;
    }
    use_recipe(&c->recheck, record->recipe);
    if (c->recheck.failure.status != GCONV_OK) {
        snprintf(text, size, "%.400s", c->recheck.failure.message);
        return GCONV_OK;
    }
    gconv_status status = prepare(&c->recheck, error);
    if (status == GCONV_OK)
        *found = verify(c, record, text, size);
    else
        c->subject = NULL;
    return status;
}

/* ---- Reports --------------------------------------------------------------------------------- */

static void print_json(const gc_record *record, finding found, const char *text)
{
    gc_json_open(NULL, '{');
    gc_json_integer("schema", GC_JSON_SCHEMA);
    gc_json_string("command", "check");
    gc_json_name("input", record->input);
    gc_json_name("output", record->output);
    gc_json_string("status", words[found]);
    if (record->implementation[0] != '\0')
        gc_json_string("promise", gconv_promise_name(record->promise));
    if (text[0] != '\0')
        gc_json_string("error", text);
    gc_json_close('}');
    gc_json_end();
}

static void print(const check *c, const gc_record *record, finding found, const char *text)
{
    char name[4 * PATH_MAX];
    bool good = found == FINDING_GOOD || found == FINDING_VERIFIED;
    if (c->options->report.json)
        print_json(record, found, text);
    else if (!good || c->options->report.verbose)
        printf("%s: %s%s%s%s%s\n", gc_escape(record->output, name, sizeof name), words[found],
               found == FINDING_VERIFIED ? ", " : "",
               found == FINDING_VERIFIED ? gconv_promise_name(record->promise) : "",
               text[0] != '\0' ? ": " : "", text);
}

/* A gc_journal_function. */
static gconv_status check_record(void *user, const gc_record *record, gconv_error *error)
{
    check *c = user;
    char text[512] = "";
    bool has_input = false;
    gconv_status status = GCONV_OK;
    gc_progress_show_images(record->output, 0, c->images);
    finding found = find(record, &has_input);
    if (found == FINDING_FAILED && record->error != NULL)
        snprintf(text, sizeof text, "%.400s", record->error);
    if (found == FINDING_GOOD && is_stale(&c->recheck, record, text, sizeof text))
        found = FINDING_STALE;
    if (found == FINDING_GOOD && c->options->report.verify && is_chosen(c, record))
        status = verify_where_possible(c, record, has_input, &found, text, sizeof text, error);
    if (status != GCONV_OK)
        return status;
    c->has_relative_name = c->has_relative_name || record->output[0] != '/';
    c->found[found]++;
    gc_counts_add(false, false);
    print(c, record, found, text);
    return GCONV_OK;
}

/* "12 images: 10 as recorded, 2 missing". */
static void print_summary(const check *c)
{
    size_t done = gc_counts_finished();
    printf("%zu image%s", done, done == 1 ? "" : "s");
    for (int i = 0, count = 0; i < FINDINGS; i++)
        if (c->found[i] > 0)
            printf("%s %zu %s", count++ == 0 ? ":" : ",", c->found[i], words[i]);
    printf("\n");
}

/* Says why no output may have been found. */
static void give_hint(const check *c)
{
    size_t missing = c->found[FINDING_MISSING];
    if (c->has_relative_name && missing > 0 && missing + c->found[FINDING_FAILED] == c->images)
        gc_say(
            "%s: every output is missing; its relative names count from the directory where gconv "
            "runs now",
            c->options->journal.file);
}

static int exit_code(const check *c)
{
    for (int i = FINDING_MISSING; i < FINDING_MISMATCH; i++)
        if (c->found[i] > 0)
            return GC_EXIT_FAILED;
    return c->found[FINDING_MISMATCH] > 0 ? GC_EXIT_MISMATCH : GC_EXIT_DONE;
}

/* What is wrong with the command line, or NULL. */
static const char *find_misuse(const gc_options *options)
{
    if (options->journal.file == NULL)
        return "which journal? give its name";
    if (options->report.verify)
        return NULL;
    if (options->journal.images > 0)
        return "--images says how many images --verify computes";
    if (gc_option_given(options, "device") || gc_option_given(options, "impl"))
        return "--device and --impl say what computes for --verify";
    return NULL;
}

static gconv_status check_journal(check *c, gc_journal *journal, gconv_error *error)
{
    c->images = gc_journal_count(journal);
    gc_counts_begin("images checked", false, c->images);
    c->recheck =
        (recheck_state){.options = c->options, .journal = journal, .definition = GC_DEFINITION};
    gconv_status status = gc_journal_each(journal, check_record, c, error);
    end_recheck(&c->recheck);
    gc_progress_clear();
    return status;
}

int gc_run_check(const gc_options *options)
{
    gconv_error error;
    gc_journal *journal;
    check c = {.options = options, .subject = options->journal.file};
    const char *misuse = find_misuse(options);
    if (misuse != NULL) {
        gc_fail(&error, GCONV_ERROR_ARGUMENT, "%s", misuse);
        gc_report(NULL, &error);
        return GC_EXIT_USAGE;
    }
    gconv_status status =
        gc_journal_open(options->journal.file, &(gc_journal_opening){0}, &journal, &error);
    if (status == GCONV_OK) {
        status = check_journal(&c, journal, &error);
        gc_journal_close(journal);
    }
    if (status != GCONV_OK) {
        gc_report(c.subject, &error);
        return gc_exit_code(status);
    }
    if (!options->report.json)
        print_summary(&c);
    give_hint(&c);
    return exit_code(&c);
}
