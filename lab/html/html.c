#include "lab/html/html.h"

#include "base/status.h"
#include "cli/report/messages.h"
#include "cli/tasks/names.h"
#include "lab/html/python.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* FILE.json; NULL where memory is short. free releases it. */
static char *name_of_data(const gc_options *options)
{
    size_t size = strlen(options->measure.html) + sizeof ".json";
    char *name = malloc(size);
    if (name != NULL)
        snprintf(name, size, "%s.json", options->measure.html);
    return name;
}

static gconv_status refuse_file(const gc_options *options, const char *data, const char *path,
                                const char *what, gconv_error *error)
{
    if (!gc_is_one_path(options->measure.html, path) && !gc_is_one_path(data, path))
        return GCONV_OK;
    return gc_fail(error, GCONV_ERROR_ARGUMENT,
                   "the report of --html would replace %s, '%.300s'; name another file", what,
                   path);
}

static gconv_status check(const gc_options *options, gconv_error *error)
{
    if (options->measure.html == NULL)
        return GCONV_OK;
    char *data = name_of_data(options);
    if (data == NULL)
        return gc_fail_memory(error, strlen(options->measure.html));
    gconv_status status =
        refuse_file(options, data, options->measure.resume, "the file of --resume", error);
    if (status == GCONV_OK)
        status =
            refuse_file(options, data, options->measure.baseline, "the file of --baseline", error);
    for (int i = 0; status == GCONV_OK && i < options->operand_count; i++)
        status = refuse_file(options, data, options->operands[i], "the input", error);
    for (int i = 0; status == GCONV_OK && i < options->kernel_count; i++)
        status = refuse_file(options, data, options->kernels[i], "the filter", error);
    free(data);
    return status;
}

static gconv_status open_report(const gc_options *options, gc_output **output, gconv_error *error)
{
    *output = NULL;
    if (options->measure.html == NULL)
        return GCONV_OK;
    return gc_output_open(options->measure.html, &(gc_output_options){.sync = false}, output,
                          error);
}

static gconv_status complete(gc_output *output, const char *text, size_t size, gconv_error *error)
{
    gconv_status status = gc_output_write(output, text, size, error);
    return status == GCONV_OK ? gc_output_commit(output, error) : status;
}

static gconv_status write_data(const char *name, const char *json, size_t size, gconv_error *error)
{
    gc_output *output;
    gconv_status status = gc_output_open(name, &(gc_output_options){.sync = false}, &output, error);
    if (status == GCONV_OK)
        status = complete(output, json, size, error);
    gc_output_free(output);
    return status;
}

/* Keeps the data of a report that nothing drew, beside a file: not beside a pipe or a device. Says
 * why, and how to draw it later. */
static void keep(const gc_options *options, const char *json, size_t size, bool is_file,
                 const char *program, const gconv_error *reason)
{
    char *data = is_file ? name_of_data(options) : NULL;
    gconv_error error;
    char text[PATH_MAX + sizeof error.message + 128];
    gconv_status status = data != NULL ? write_data(data, json, size, &error) : GCONV_ERROR_WRITE;
    snprintf(text, sizeof text, "no report: %s%s%s%s", reason->message,
             status == GCONV_OK ? "; FILE.json has its data, for python3 " : "",
             status == GCONV_OK ? program : "", status == GCONV_OK ? " FILE.json -o FILE" : "");
    gc_warn_into(NULL, options->measure.html, text);
    if (data != NULL && status != GCONV_OK)
        gc_warn_into(NULL, data, error.message);
    free(data);
}

static gconv_status draw(const gc_options *options, char *json, size_t size, gc_output *output,
                         gconv_error *error)
{
    char program[PATH_MAX] = "report.py", *page = NULL;
    size_t length = 0;
    gconv_error reason;
    gconv_status status = json == NULL ? gc_fail_memory(error, BUFSIZ) : GCONV_OK;
    if (status == GCONV_OK && gc_python_find(program, sizeof program, &reason) == GCONV_OK &&
        gc_python_run(program, json, size, &page, &length, &reason) == GCONV_OK)
        status = complete(output, page, length, error);
    else if (status == GCONV_OK)
        keep(options, json, size, gc_output_seeks(output), program, &reason);
    free(page);
    free(json);
    gc_output_free(output);
    return status;
}

const gc_reporter gc_html_reporter = {check, open_report, draw};
