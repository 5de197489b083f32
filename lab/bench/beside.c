#include "lab/bench/beside.h"

#include "base/status.h"
#include "lab/bench/baseline.h"
#include "lab/html.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAPER "@paper"

/* Whether a word of --with stands for results that come with gconv. */
static bool is_kept(const char *with)
{
    char word[16];
    snprintf(word, sizeof word, " %s ", with);
    return strchr(with, ' ') == NULL && strstr(" " GC_KEPT_DEVICES " ", word) != NULL;
}

/* Finds the kept results of a preset on a device: as installed, else in a source tree. */
static gconv_status find_kept(const char *device, const char *preset, char path[PATH_MAX],
                              gconv_error *error)
{
    static const char *const folders[] = {"", "../docs/results/"};
    char name[128];
    if (preset == NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "--with %s needs a --preset", device);
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        snprintf(name, sizeof name, "%sstudy-%s/%s.json", folders[i], device, preset);
        if (gc_find_lab_file(name, path, PATH_MAX))
            return GCONV_OK;
    }
    return gc_fail(error, GCONV_ERROR_OPEN,
                   "option '--with': there are no results of '%s' on an %s", preset, device);
}

gconv_status gc_beside_read(const gc_options *options, gc_points *points, const char **subject,
                            gconv_error *error)
{
    const char *with = options->measure.with, *preset = options->measure.preset;
    char kept[PATH_MAX];
    gconv_status status = GCONV_OK;
    if (with == NULL)
        return GCONV_OK;
    bool comes_with_gconv = is_kept(with);
    if (comes_with_gconv)
        status = find_kept(with, preset, kept, error);
    else
        *subject = with;
    GC_THEN(status, gc_baseline_read(comes_with_gconv ? kept : with, preset != NULL ? preset : "",
                                     points, error));
    if (status == GCONV_ERROR_OPEN && !comes_with_gconv) {
        const gconv_error why = *error;
        return gc_fail(error, status, "%s; results that come with gconv: " GC_KEPT_DEVICES,
                       why.message);
    }
    GC_TRY(status);
    for (size_t i = 0; i < points->count; i++) {
        gc_point *point = &points->at[i];
        size_t length = strlen(point->name);
        snprintf(point->name + length, sizeof point->name - length, "@%s",
                 comes_with_gconv ? with : "with");
        if (point->kernel_seconds > 0)
            point->roofline = gc_roof_at(points->gpu, point->intensity);
    }
    *subject = NULL;
    return GCONV_OK;
}

/* ---- What the sources print: published.csv --------------------------------------------------- */

enum { FIELD_BYTES = 128, LINE_BYTES = 512 };

/* Columns. */
enum { PRESET = 0, NAMES = 5, QUANTITY = 7, IMAGE, WIDTH, HEIGHT, VALUE, FIELDS };

/* Splits a line at its commas, but for those in quotes. False if it has other fields. */
static bool split(const char *line, char fields[FIELDS][FIELD_BYTES])
{
    bool quoted = false;
    size_t field = 0, size = 0;
    memset(fields, 0, FIELDS * sizeof fields[0]);
    for (; *line != '\0' && *line != '\n'; line++) {
        if (*line == '"') {
            quoted = !quoted;
        } else if (*line == ',' && !quoted) {
            size = 0;
            if (++field == FIELDS)
                return false;
        } else if (size + 1 < FIELD_BYTES) {
            fields[field][size++] = *line;
        }
    }
    return field + 1 == FIELDS;
}

/* Makes a point of a row. False if it is none of a single image. */
static bool take_row(char row[FIELDS][FIELD_BYTES], gc_point *point)
{
    double value = strtod(row[VALUE], NULL);
    bool is_rgb = strcmp(row[PRESET], "lecture") == 0;
    bool rank1 = is_rgb || strncmp(row[NAMES], "twopass", 7) == 0;
    *point = (gc_point){.runs = 1, .rank1 = rank1};
    if (strcmp(row[QUANTITY], "seconds for 100 images") == 0)
        point->seconds = value / 100;
    else if (strcmp(row[QUANTITY], "milliseconds") == 0)
        point->seconds = value / 1000;
    else if (strcmp(row[QUANTITY], "GFLOP/s") == 0)
        point->flops = value * 1e9;
    int side = atoi(row[IMAGE]), taps = atoi(row[WIDTH]) * atoi(row[HEIGHT]);
    point->width = point->height = side;
    row[NAMES][strcspn(row[NAMES], ",")] = '\0';
    snprintf(point->preset, sizeof point->preset, "%.31s", row[PRESET]);
    snprintf(point->samples, sizeof point->samples, is_rgb ? "rgb8" : "grey8");
    snprintf(point->filter, sizeof point->filter, "%.5sx%.5s%s", row[WIDTH], row[HEIGHT],
             rank1 ? " rank 1" : "");
    snprintf(point->name, sizeof point->name, "%.40s" PAPER, row[NAMES]);
    if (point->seconds > 0)
        point->values_a_second = side * (double)side * (is_rgb ? 3 : 1) / point->seconds;
    else if (taps > 0)
        point->values_a_second = point->flops / (2 * taps);
    return row[NAMES][0] != '\0' && point->values_a_second > 0;
}

gconv_status gc_published_read(const char *preset, gc_points *points, gconv_error *error)
{
    char path[PATH_MAX], line[LINE_BYTES], row[FIELDS][FIELD_BYTES];
    gc_point point;
    gconv_status status = GCONV_OK;
    FILE *file = gc_find_lab_file("published.csv", path, sizeof path) ? fopen(path, "re") : NULL;
    if (file == NULL)
        return gc_fail(error, GCONV_ERROR_OPEN,
                       "published.csv, which --with needs, is not installed");
    while (status == GCONV_OK && fgets(line, sizeof line, file) != NULL)
        if (split(line, row) && strcmp(row[PRESET], preset) == 0 && take_row(row, &point))
            status = gc_points_add(points, &point, error);
    fclose(file);
    return status;
}

bool gc_point_is_published(const gc_point *point)
{
    return strstr(point->name, PAPER) != NULL;
}
