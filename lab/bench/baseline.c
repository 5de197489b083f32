#include "lab/bench/baseline.h"

#include "base/status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

gconv_status gc_baseline_read(const char *path, const char *preset, gc_points *points,
                              gconv_error *error)
{
    char *text;
    size_t size;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return gc_fail_errno(error, GCONV_ERROR_OPEN, errno, "cannot open");
    gconv_status status = gc_read_kept(descriptor, &text, &size, error);
    close(descriptor);
    GC_THEN(status, gc_points_read(text, size, preset, points, error));
    if (status == GCONV_ERROR_FORMAT && gc_whole_lines(text, size) > 0) {
        points->count = 0; /* --resume may have been interrupted */
        status = gc_points_read(text, gc_whole_lines(text, size), preset, points, error);
    }
    free(text);
    return status;
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
