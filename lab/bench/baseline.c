#include "lab/bench/baseline.h"

#include "base/memory.h"
#include "base/status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 256 << 20, BLOCK = 1 << 16 };

/* Reads a file to its end. free releases *text. */
static gconv_status read_text(const char *path, char **text, size_t *size, gconv_error *error)
{
    *text = NULL;
    *size = 0;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return gc_fail_errno(error, GCONV_ERROR_OPEN, errno, "cannot open");
    gconv_status status = GCONV_OK;
    size_t got = BLOCK;
    while (status == GCONV_OK && got == BLOCK) {
        char *room = *size < FILE_BYTES_MAX ? realloc(*text, *size + BLOCK) : NULL;
        if (room == NULL) {
            status = gc_fail_memory(error, *size + BLOCK);
            break;
        }
        *text = room;
        errno = 0;
        got = fread(*text + *size, 1, BLOCK, file);
        *size += got;
        if (ferror(file) != 0)
            status = gc_fail_errno(error, GCONV_ERROR_READ, errno, "cannot read");
    }
    fclose(file);
    return status;
}

/* The length of the text without what is left of a last line. */
static size_t whole_lines(const char *text, size_t size)
{
    while (size > 0 && text[size - 1] != '\n')
        size--;
    return size;
}

gconv_status gc_baseline_read(const char *path, const char *preset, gc_points *points,
                              gconv_error *error)
{
    char *text;
    size_t size;
    gconv_status status = read_text(path, &text, &size, error);
    if (status == GCONV_OK)
        status = gc_points_read(text, size, preset, points, error);
    if (status == GCONV_ERROR_FORMAT && whole_lines(text, size) > 0) {
        points->count = 0; /* --resume may have been interrupted */
        status = gc_points_read(text, whole_lines(text, size), preset, points, error);
    }
    free(text);
    return status;
}

const gc_point *gc_baseline_find(const gc_points *baseline, const gc_point *wanted)
{
    for (size_t i = 0; i < baseline->count; i++)
        if (baseline->at[i].runs > 0 && gc_point_is_same(&baseline->at[i], wanted))
            return &baseline->at[i];
    return NULL;
}

/* Both know the time on a GPU alone. */
static bool both_know_kernels(const gc_point *now, const gc_point *before)
{
    return now->kernel_seconds > 0 && before->kernel_seconds > 0;
}

double gc_baseline_change(const gc_point *now, const gc_point *before)
{
    if (both_know_kernels(now, before))
        return 100 * (now->kernel_seconds / before->kernel_seconds - 1);
    return 100 * (now->seconds / before->seconds - 1);
}

bool gc_baseline_is_slower(const gc_point *now, const gc_point *before, double percent)
{
    double factor = 1 + percent / 100;
    if (now->runs == 0 || before->runs == 0)
        return false;
    if (both_know_kernels(now, before) && now->kernel_seconds > factor * before->kernel_seconds)
        return true;
    return now->seconds > factor * before->seconds && now->shortest > factor * before->shortest &&
           now->lower_quartile > before->upper_quartile;
}
