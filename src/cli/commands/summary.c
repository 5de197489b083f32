#include "cli/commands/summary.h"

#include "base/clock.h"
#include "base/memory.h"
#include "cli/report/messages.h"
#include "cli/report/progress.h"
#include "cli/tasks/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

gc_summary gc_summary_begin(void)
{
    return (gc_summary){.start = gc_seconds()};
}

void gc_summary_destroy(gc_summary *summary)
{
    for (int i = 0; i < GC_SLOWEST; i++)
        free(summary->slowest[i].name);
    for (int i = 0; i < GC_FAILED_NAMED; i++)
        free(summary->failed_names[i]);
}

/* Sorts an image in among the slowest ones. Of equal ones the first stays. */
static void note_slow(gc_summary *summary, const char *name, double seconds)
{
    gc_slow_image *last = &summary->slowest[GC_SLOWEST - 1];
    if (seconds <= last->seconds)
        return;
    free(last->name);
    *last = (gc_slow_image){seconds, gc_copy_string(name)};
    for (int i = GC_SLOWEST - 1; i > 0; i--) {
        gc_slow_image *slow = &summary->slowest[i], copy = *slow;
        if (slow->seconds <= slow[-1].seconds)
            return;
        *slow = slow[-1];
        slow[-1] = copy;
    }
}

void gc_summary_take(gc_summary *summary, const gc_task *task, const gc_result *result)
{
    const char *name = gc_input_name(task->input);
    if (result->outcome == GC_OUTCOME_FAILED) {
        if (summary->failed < GC_FAILED_NAMED)
            summary->failed_names[summary->failed] = gc_copy_string(name);
        summary->failed++;
    }
    if (result->outcome != GC_OUTCOME_DONE && result->outcome != GC_OUTCOME_MISMATCH)
        return;
    summary->computed++;
    note_slow(summary, name, result->timings.total);
}

/* ---- Saying ---------------------------------------------------------------------------------- */

/* Appends a name to a list that has `before` others. Of a long one the end tells most. */
static size_t append_name(char *text, size_t used, size_t size, size_t before, const char *name)
{
    enum { SHOWN = 120 };
    size_t length = name != NULL ? strlen(name) : 0;
    const char *shown = name == NULL ? "?" : length > SHOWN ? name + length - SHOWN : name;
    int added = snprintf(text + used, size - used, "%s %s%s", before > 0 ? "," : "",
                         length > SHOWN ? "..." : "", shown);
    return used + (size_t)added;
}

/* "gconv: 1000 images in 12.3 s, 81.3 a second; slowest: a.png 3.21 s, b.png 1.10 s" */
static void say_times(const gc_summary *summary)
{
    double seconds = gc_seconds() - summary->start;
    char text[1024];
    size_t used = (size_t)snprintf(
        text, sizeof text, "%zu images in %.2f s, %.1f a second; slowest:", summary->computed,
        seconds, (double)summary->computed / seconds);
    for (size_t i = 0; i < GC_SLOWEST && summary->slowest[i].seconds > 0; i++) {
        used = append_name(text, used, sizeof text, i, summary->slowest[i].name);
        used += (size_t)snprintf(text + used, sizeof text - used, " %.3f s",
                                 summary->slowest[i].seconds);
    }
    gc_say("%s", text);
}

/* "gconv: failed: a.png, b.png and 3 more" */
static void say_failed(const gc_summary *summary)
{
    char text[1900];
    size_t named = summary->failed < GC_FAILED_NAMED ? summary->failed : GC_FAILED_NAMED;
    size_t used = (size_t)snprintf(text, sizeof text, "failed:");
    for (size_t i = 0; i < named; i++)
        used = append_name(text, used, sizeof text, i, summary->failed_names[i]);
    if (summary->failed > named)
        snprintf(text + used, sizeof text - used, " and %zu more", summary->failed - named);
    gc_say("%s", text);
}

void gc_summary_say(const gc_summary *summary)
{
    if (!gc_progress_was_drawn())
        return;
    if (summary->computed > 1)
        say_times(summary);
    if (summary->failed > 0)
        say_failed(summary);
}
