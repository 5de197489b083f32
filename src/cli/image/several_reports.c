#include "cli/image/several_reports.h"

#include "base/memory.h"
#include "base/place.h"
#include "base/status.h"
#include "cli/report/tally.h"

#include <stdlib.h>
#include <string.h>

/* Whether an output is direct: its bytes are out as soon as they are written. */
static bool is_direct(const char *output)
{
    gc_place place;
    if (strcmp(output, "-") == 0)
        return true;
    if (gc_place_find(output, &place, NULL) != GCONV_OK)
        return false;
    bool direct = gc_place_is_direct(&place);
    gc_place_close(&place);
    return direct;
}

/* Whether anything is said of an image that is done. */
static bool tells_of_images(const gc_options *options)
{
    return options->report.json || options->report.verbose || options->report.timings ||
           options->report.explain || options->report.verify;
}

void gc_several_reports_begin(gc_several_reports *reports, const gc_options *options,
                              const char *output, gc_report_function *report, void *user)
{
    *reports = (gc_several_reports){.report = report,
                                    .user = user,
                                    .appears_whole = !is_direct(output),
                                    .is_told = tells_of_images(options)};
}

/* Takes over the result in any case. */
static gconv_status keep(gc_several_reports *reports, gc_result *result, gconv_error *error)
{
    gc_result *kept = gc_make_room(reports->kept, reports->count, &reports->capacity, sizeof *kept);
    if (kept == NULL) {
        gc_result_destroy(result);
        return gc_fail_memory(error, (reports->count + 1) * sizeof *kept);
    }
    reports->kept = kept;
    reports->kept[reports->count++] = *result;
    return GCONV_OK;
}

gconv_status gc_several_reports_take(void *user, const gc_task *task, gc_result *result,
                                     gconv_error *error)
{
    gc_several_reports *reports = user;
    if (reports->appears_whole)
        gc_tally_several("computed, none written", false);
    else
        gc_tally_several("done", true);
    gc_tally_add(false, false);
    if (reports->appears_whole && reports->is_told)
        return keep(reports, result, error);
    reports->report(reports->user, task, result);
    gc_result_destroy(result);
    return GCONV_OK;
}

void gc_several_reports_end(gc_several_reports *reports, const gc_task *task, const gc_result *last)
{
    for (size_t i = 0; i < reports->count; i++) {
        gc_result *result = &reports->kept[i];
        if (last->outcome == GC_OUTCOME_FAILED || last->outcome == GC_OUTCOME_SKIPPED)
            result->outcome = last->outcome;
        if (last->outcome == GC_OUTCOME_FAILED) {
            gc_fail(&result->error, last->error.status, "not written, because image %zu failed",
                    last->image);
            result->blamed = NULL;
        }
        reports->report(reports->user, task, result);
        gc_result_destroy(result);
    }
    free(reports->kept);
    reports->kept = NULL;
    reports->count = reports->capacity = 0;
}
