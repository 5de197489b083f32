#include "lab/bench/beside.h"

#include "base/status.h"
#include "lab/bench/baseline.h"
#include "lab/html.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define KEPT "h200" /* the results that come with gconv */

/* Finds the kept results of a preset: as installed, else in a source tree. */
static gconv_status find_kept(const char *preset, char path[PATH_MAX], gconv_error *error)
{
    static const char *const folders[] = {"", "../docs/results/"};
    char name[128];
    if (preset == NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "--with " KEPT " needs a --preset");
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        snprintf(name, sizeof name, "%sstudy-" KEPT "/%s.json", folders[i], preset);
        if (gc_find_lab_file(name, path, PATH_MAX))
            return GCONV_OK;
    }
    return gc_fail(error, GCONV_ERROR_OPEN,
                   "option '--with': the results of '%s' on an " KEPT " are not installed", preset);
}

gconv_status gc_beside_read(const gc_options *options, gc_points *points, const char **subject,
                            gconv_error *error)
{
    const char *with = options->measure.with, *preset = options->measure.preset;
    char kept[PATH_MAX];
    gconv_status status = GCONV_OK;
    if (with == NULL)
        return GCONV_OK;
    bool is_kept = strcmp(with, KEPT) == 0;
    if (is_kept)
        status = find_kept(preset, kept, error);
    else
        *subject = with;
    if (status == GCONV_OK)
        status =
            gc_baseline_read(is_kept ? kept : with, preset != NULL ? preset : "", points, error);
    if (status != GCONV_OK)
        return status;
    for (size_t i = 0; i < points->count; i++) {
        char *name = points->at[i].name;
        size_t length = strlen(name);
        snprintf(name + length, sizeof points->at[i].name - length, "@%s", is_kept ? KEPT : "with");
    }
    *subject = NULL;
    return GCONV_OK;
}
