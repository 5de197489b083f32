/* gconv check: whether the outputs of a journal are there, unchanged, up to date and right. */
#include "cli/commands/commands.h"

#include "base/json.h"
#include "base/status.h"
#include "cli/commands/recheck.h"
#include "cli/options/table.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/standard_output.h"
#include "gconv.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

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
    gc_recheck recheck;
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
    gc_pixel_difference d;
    gconv_error error;
    gconv_status status = gc_recheck_image(&c->recheck, record, &d, &error);
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
    gc_recheck_use(&c->recheck, record->recipe);
    if (c->recheck.failure.status != GCONV_OK) {
        snprintf(text, size, "%.400s", c->recheck.failure.message);
        return GCONV_OK;
    }
    gconv_status status = gc_recheck_prepare(&c->recheck, error);
    if (status == GCONV_OK)
        *found = verify(c, record, text, size);
    else
        c->subject = NULL;
    return status;
}

/* ---- Reports --------------------------------------------------------------------------------- */

static void print_json(const gc_record *record, finding found, const char *text)
{
    gc_json_begin("check");
    gc_json_name("input", record->input);
    gc_json_name("output", record->output);
    gc_json_string("status", words[found]);
    if (record->implementation[0] != '\0')
        gc_json_string("promise", gconv_promise_name(record->promise));
    if (text[0] != '\0')
        gc_json_string("error", text);
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
    if (found == FINDING_GOOD && gc_recheck_is_stale(&c->recheck, record, text, sizeof text))
        found = FINDING_STALE;
    if (found == FINDING_GOOD && c->options->report.verify && is_chosen(c, record))
        status = verify_where_possible(c, record, has_input, &found, text, sizeof text, error);
    GC_TRY(status);
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
        (gc_recheck){.options = c->options, .journal = journal, .definition = GC_DEFINITION};
    gconv_status status = gc_journal_each(journal, check_record, c, error);
    gc_recheck_end(&c->recheck);
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
