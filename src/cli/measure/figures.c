#include "cli/measure/figures.h"

#include "cli/report/messages.h"

#include <stdio.h>
#include <string.h>

const char *gc_verdict_name(gc_verdict verdict)
{
    static const char *const names[] = {
        [GC_VERDICT_EXACT] = "exact",
        [GC_VERDICT_WITHIN] = "within bound",
        [GC_VERDICT_WRONG] = "WRONG",
        [GC_VERDICT_UNUSABLE] = "not usable",
    };
    return names[verdict];
}

const char *gc_figure(double value, const char *unit, int decimals, char *buffer, size_t size)
{
    if (value > 0)
        snprintf(buffer, size, "%.*f%s", decimals, value, unit);
    else
        snprintf(buffer, size, "-");
    return buffer;
}

bool gc_is_noisy(double median, double spread)
{
    const double most = 0.1;
    return spread > most * median;
}

const char *gc_spread_figure(double median, double spread, char *buffer, size_t size)
{
    const char *mark = gc_is_noisy(median, spread) ? "!" : "";
    return gc_figure(median > 0 ? 100 * spread / median : 0, mark, 1, buffer, size);
}

const char *gc_total_figure(double median, double spread, bool marks, char *buffer, size_t size)
{
    return gc_figure(1e3 * median, marks && gc_is_noisy(median, spread) ? "!" : "", 3, buffer,
                     size);
}

const char *gc_row_label(const char *name, const char *implementation, char *buffer, size_t size)
{
    bool chosen = strcmp(name, "auto") == 0 && strcmp(name, implementation) != 0;
    snprintf(buffer, size, "%s%s%s", name, chosen ? ": " : "", chosen ? implementation : "");
    return buffer;
}

int gc_label_width(const char *const *names, int count)
{
    size_t width = strlen("name"); /* the head of the column */
    for (int i = 0; i < count; i++) {
        bool is_auto = strcmp(names[i], "auto") == 0; /* chooses no variant */
        if (!is_auto && strlen(names[i]) > width)
            width = strlen(names[i]);
        for (int j = 0; is_auto && j < gconv_implementation_count(); j++) {
            const char *one = gconv_implementation_name(j);
            if (strchr(one, ':') == NULL && strlen("auto: ") + strlen(one) > width)
                width = strlen("auto: ") + strlen(one);
        }
    }
    return (int)width;
}

static bool is_usable_on_gpu(int index)
{
    gconv_implementation_info info = gconv_implementation_info_default();
    return gconv_implementation_describe(index, &info, NULL) == GCONV_OK &&
           info.kind == GCONV_DEVICE_CUDA && info.usable;
}

bool gc_may_use_device(const char *const *names, int count)
{
    for (int i = 0; i < count; i++) {
        int found = gconv_implementation_find(names[i]);
        bool may = found >= 0 && is_usable_on_gpu(found);
        for (int j = 0; strcmp(names[i], "auto") == 0 && j < gconv_implementation_count(); j++)
            may = may || is_usable_on_gpu(j);
        if (may)
            return true;
    }
    return false;
}

void gc_note_compilation(const gc_measurement *row)
{
    if (row->compile_seconds > 0)
        gc_note(NULL, "%s: its kernels took %.0f ms to compile, which is not counted", row->name,
                1e3 * row->compile_seconds);
}
