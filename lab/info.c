/* gconv info IMPLEMENTATION. */
#include "lab/lab.h"

#include "base/json.h"
#include "base/nearest.h"
#include "base/status.h"
#include "cli/options/implementations.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/standard_output.h"
#include "cli/terminal/table.h"
#include "lab/guide.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH_MIN = 40, WIDTH_MAX = 100 };

/* "gaussian:SIGMA[,SIZE]", if the name is that of a generator, with parameters or without; else
 * NULL. */
static const char *find_usage(const char *name)
{
    size_t length = strcspn(name, ":");
    for (size_t i = 0; i < gconv_generator_count(); i++) {
        const gconv_generator *generator = gconv_generator_at(i);
        if (strlen(generator->name) == length && strncmp(generator->name, name, length) == 0)
            return generator->usage;
    }
    return NULL;
}

static gconv_status refuse(const char *name, gconv_error *error)
{
    gconv_filter *filter = NULL;
    bool is_filter = gconv_filter_load_builtin(name, &filter, NULL) == GCONV_OK;
    gconv_filter_free(filter);
    const char *shown = is_filter ? name : find_usage(name);
    if (shown != NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "'%s' is a filter and no implementation; gconv kernel %s shows it", name,
                       shown);
    if (gconv_format_from_name(name) != GCONV_FORMAT_UNKNOWN)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "'%s' is a format and no implementation; gconv info without an operand "
                       "lists the formats",
                       name);
    int count = gconv_implementation_count();
    const char **names = malloc((size_t)count * sizeof *names);
    for (int i = 0; names != NULL && i < count; i++)
        names[i] = gconv_implementation_name(i);
    const char *nearest = names != NULL ? gc_nearest_name(name, names, (size_t)count) : NULL;
    gc_fail(error, GCONV_ERROR_ARGUMENT, "there is no implementation '%s'%s%s%s", name,
            nearest != NULL ? "; did you mean '" : "; see gconv info",
            nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
    free(names);
    return error->status;
}

static void print(const gconv_implementation_info *info, const char *text, bool json)
{
    if (!json) {
        fputs(text, stdout);
        return;
    }
    gc_json_begin("info");
    gc_json_string("implementation", info->name);
    gc_json_string("text", text);
    gc_json_end();
}

/* Adds the table of factors, of `adaptive` alone. */
static gconv_status put_factors(const gc_options *options, const char *name, gc_buffer *text,
                                gconv_error *error)
{
    if (strcmp(name, "adaptive") == 0) {
        gc_buffer_put(text, "\n");
        gc_guide_factors(&options->tiling, text);
    } else if (options->tiling.block_width > 0 || options->tiling.shared_memory > 0) {
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "--block and --shared-memory are for gconv info adaptive");
    }
    return text->failed ? gc_fail_memory(error, text->size) : GCONV_OK;
}

static gconv_status describe(const gc_options *options, gconv_error *error)
{
    const char *name = options->operands[0];
    gconv_implementation_info info = gconv_implementation_info_default();
    gc_buffer text = {.bytes = NULL};
    int width = gc_line_width();
    if (!gc_describe_name(name, &info))
        return refuse(name, error);
    width = width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width;
    gc_guide_describe(info.name, info.summary, width, &text);
    if (info.limits[0] != '\0' || !info.usable)
        gc_buffer_put(&text, "\n");
    if (info.limits[0] != '\0')
        gc_guide_line("refuses:", info.limits, width, &text);
    if (!info.usable)
        gc_guide_line("not usable here:", info.reason, width, &text);
    gconv_status status = put_factors(options, info.name, &text, error);
    if (status == GCONV_OK)
        print(&info, text.bytes, options->report.json);
    gc_buffer_free(&text);
    return status;
}

int gc_run_guide(const gc_options *options)
{
    gconv_error error;
    gconv_status status = describe(options, &error);
    if (status != GCONV_OK)
        gc_report(NULL, &error);
    return status == GCONV_OK ? GC_EXIT_DONE : gc_start_code(status);
}
