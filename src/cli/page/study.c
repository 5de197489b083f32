#include "cli/page/study.h"

#include "base/status.h"
#include "cli/charts/charts.h"
#include "cli/charts/select.h"
#include "cli/draw/gnuplot.h"
#include "cli/draw/script.h"
#include "cli/page/page.h"
#include "cli/report/messages.h"
#include "cli/tasks/identity.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static gconv_status refuse_file(const gc_options *options, const char *path, const char *what,
                                gconv_error *error)
{
    if (!gc_is_one_path(options->html, path))
        return GCONV_OK;
    return gc_fail(error, GCONV_ERROR_ARGUMENT,
                   "the report of --html would replace %s, '%.300s'; name another file", what,
                   path);
}

gconv_status gc_study_check(const gc_options *options, gconv_error *error)
{
    gconv_status status = refuse_file(options, options->resume, "the file of --resume", error);
    if (status == GCONV_OK)
        status = refuse_file(options, options->baseline, "the file of --baseline", error);
    for (int i = 0; status == GCONV_OK && i < options->operand_count; i++)
        status = refuse_file(options, options->operands[i], "the input", error);
    for (int i = 0; status == GCONV_OK && i < options->kernel_count; i++)
        status = refuse_file(options, options->kernels[i], "the filter", error);
    return status;
}

gconv_status gc_study_open(const gc_options *options, gc_output **output, gconv_error *error)
{
    *output = NULL;
    if (options->html == NULL)
        return GCONV_OK;
    return gc_output_open(options->html, &(gc_output_options){.sync = false}, output, error);
}

/* ---- Texts in memory ------------------------------------------------------------------------- */

typedef void print_function(FILE *stream, const void *content);

/* What `print` prints, as a string that free releases. */
static gconv_status print_text(print_function *print, const void *content, char **text,
                               gconv_error *error)
{
    size_t size = 0;
    *text = NULL;
    FILE *stream = open_memstream(text, &size);
    if (stream == NULL)
        return gc_fail_memory(error, BUFSIZ);
    print(stream, content);
    bool failed = ferror(stream) != 0;
    if (fclose(stream) != 0 || failed) {
        free(*text);
        *text = NULL;
        return gc_fail_memory(error, size);
    }
    return GCONV_OK;
}

static void print_script(FILE *stream, const void *chart)
{
    gc_script_print(stream, chart);
}

static void print_csv(FILE *stream, const void *chart)
{
    gc_chart_csv_print(stream, chart);
}

static void print_page(FILE *stream, const void *page)
{
    gc_page_print(stream, page);
}

/* ---- Figures --------------------------------------------------------------------------------- */

static void destroy_panels(gc_panel *panels, size_t count)
{
    for (size_t i = 0; panels != NULL && i < count; i++) {
        free(panels[i].script);
        free(panels[i].image);
        free(panels[i].data);
    }
    free(panels);
}

/* Prints script and data of a chart. */
static gconv_status prepare_panel(const gc_chart *chart, size_t number, gc_panel *panel,
                                  gconv_error *error)
{
    panel->chart = chart;
    snprintf(panel->name, sizeof panel->name, "chart-%zu", number);
    gconv_status status = print_text(print_script, chart, &panel->script, error);
    if (status == GCONV_OK)
        status = print_text(print_csv, chart, &panel->data, error);
    return status;
}

/* Draws the panels. The first that cannot be drawn says why. Without the program, or where it took
 * too long, none is tried any more. */
static void draw_panels(gc_panel *panels, size_t count, gconv_error *missing)
{
    bool usable = true;
    for (size_t i = 0; usable && i < count; i++) {
        gconv_error error;
        gconv_status status = gc_gnuplot_draw(panels[i].script, &panels[i].image, &error);
        if (status != GCONV_OK && missing->message[0] == '\0')
            *missing = error;
        usable = status != GCONV_ERROR_OPEN && status != GCONV_ERROR_CANCELLED;
    }
}

/* ---- Files beside the report ----------------------------------------------------------------- */

static gconv_status write_file(const char *directory, const char *name, const char *extension,
                               const char *text, gconv_error *error)
{
    size_t size = strlen(directory) + strlen(name) + strlen(extension) + 2;
    char *path = malloc(size);
    if (path == NULL)
        return gc_fail_memory(error, size);
    snprintf(path, size, "%s/%s%s", directory, name, extension);
    gc_output *output;
    gconv_status status = gc_output_open(path, &(gc_output_options){.sync = false}, &output, error);
    free(path);
    if (status == GCONV_OK)
        status = gc_output_write(output, text, strlen(text), error);
    if (status == GCONV_OK)
        status = gc_output_commit(output, error);
    gc_output_free(output);
    return status;
}

static gconv_status write_data(const char *directory, const gc_panel *panels, size_t count,
                               gconv_error *error)
{
    if (mkdir(directory, 0777) != 0 && errno != EEXIST)
        return gc_fail_errno(error, GCONV_ERROR_OPEN, errno, "cannot make the directory for data");
    gconv_status status = GCONV_OK;
    for (size_t i = 0; status == GCONV_OK && i < count; i++) {
        if (panels[i].image != NULL)
            continue;
        status = write_file(directory, panels[i].name, ".gp", panels[i].script, error);
        if (status == GCONV_OK)
            status = write_file(directory, panels[i].name, ".csv", panels[i].data, error);
    }
    return status;
}

/* ---- The report ------------------------------------------------------------------------------ */

/* Writes the data where charts are missing, then the page, which does not need them. */
static gconv_status write_page(gc_page *page, const char *directory, gc_output *output,
                               gconv_error *error)
{
    char *text = NULL;
    if (page->missing.message[0] != '\0' && gc_output_seeks(output)) {
        const char *name = strrchr(directory, '/');
        gconv_error reason;
        if (write_data(directory, page->panels, page->count, &reason) == GCONV_OK)
            page->directory = name != NULL ? name + 1 : directory;
        else
            gc_warn_into(NULL, directory, reason.message);
    }
    gconv_status status = print_text(print_page, page, &text, error);
    if (status == GCONV_OK)
        status = gc_output_write(output, text, strlen(text), error);
    if (status == GCONV_OK)
        status = gc_output_commit(output, error);
    free(text);
    return status;
}

static gconv_status write_charts(const gc_study *study, const gc_charts *charts,
                                 const char *directory, gc_output *output, gconv_error *error)
{
    gc_panel *panels = calloc(charts->count + 1, sizeof *panels);
    if (panels == NULL)
        return gc_fail_memory(error, charts->count * sizeof *panels);
    gc_page page = {.study = study, .panels = panels, .count = charts->count};
    gconv_status status = GCONV_OK;
    for (size_t i = 0; status == GCONV_OK && i < charts->count; i++)
        status = prepare_panel(&charts->at[i], i + 1, &panels[i], error);
    if (status == GCONV_OK) {
        draw_panels(panels, charts->count, &page.missing);
        status = write_page(&page, directory, output, error);
    }
    destroy_panels(panels, charts->count);
    return status;
}

gconv_status gc_study_write(const gc_study *study, const char *path, gc_output *output,
                            gconv_error *error)
{
    gc_charts charts = {.count = 0};
    size_t size = strlen(path) + sizeof ".data";
    char *directory = malloc(size);
    gconv_status status =
        gc_charts_make(study->points, study->facts.roofs, study->facts.cpu_roofs, &charts, error);
    if (directory == NULL)
        status = gc_fail_memory(error, size);
    if (status == GCONV_OK) {
        snprintf(directory, size, "%s.data", path);
        status = write_charts(study, &charts, directory, output, error);
    }
    free(directory);
    gc_charts_destroy(&charts);
    gc_output_free(output);
    return status;
}

/* The name of a file without its directories. */
static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

gconv_status gc_study_close(const gc_options *options, const char *subject, const gc_points *points,
                            gc_roofs cpu, gc_output *output, gconv_error *error)
{
    char title[256];
    const char *what = options->preset != NULL      ? options->preset
                       : options->operand_count > 0 ? last_part(options->operands[0])
                                                    : NULL;
    gc_study study = {.title = title, .subject = subject, .points = points};
    if (output == NULL)
        return GCONV_OK;
    snprintf(title, sizeof title, "gconv %s%s%s", gc_command_of(options->command)->name,
             what != NULL ? ": " : "", what != NULL ? what : "");
    gc_facts_collect(options, gc_points_have_gpu(points), &study.facts);
    study.facts.cpu_roofs = cpu;
    return gc_study_write(&study, options->html, output, error);
}
