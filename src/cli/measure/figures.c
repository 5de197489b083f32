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

const char *gc_row_label(const char *name, const char *implementation, char *buffer, size_t size)
{
    bool chosen = strcmp(name, implementation) != 0;
    snprintf(buffer, size, "%s%s%s", name, chosen ? ": " : "", chosen ? implementation : "");
    return buffer;
}

int gc_label_width(const char *const *names, int count)
{
    size_t width = strlen("name"); /* the head of the column; auto chooses no variant */
    for (int j = 0; j < gconv_implementation_count(); j++)
        for (int i = 0; i < count; i++) {
            const char *one = gconv_implementation_name(j);
            bool is_auto = strcmp(names[i], "auto") == 0 && strchr(one, ':') == NULL;
            size_t length = strlen(one) + (is_auto ? strlen("auto: ") : 0);
            if ((is_auto || strcmp(names[i], one) == 0) && length > width)
                width = length;
        }
    return (int)width;
}

bool gc_may_use_device(const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        for (int j = 0; j < gconv_implementation_count(); j++) {
            const char *one = gconv_implementation_name(j);
            bool meant = strcmp(names[i], "auto") == 0 || strcmp(names[i], one) == 0;
            gconv_implementation_info info;
            if (meant && gconv_implementation_describe(j, &info, NULL) == GCONV_OK &&
                info.kind == GCONV_DEVICE_CUDA && info.usable)
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
