#include "cli/page/page.h"

#include "cli/draw/html.h"
#include "cli/draw/svg.h"

#include <string.h>

/* ---- The head -------------------------------------------------------------------------------- */

static void print_fact(FILE *page, const char *name, const char *fact)
{
    if (fact[0] == '\0')
        return;
    gc_html_element(page, "dt", name);
    gc_html_element(page, "dd", fact);
}

static void print_roofs(FILE *page, gc_roofs roofs)
{
    char text[160];
    if (!(roofs.peak > 0))
        return;
    snprintf(text, sizeof text,
             "%.1f GB/s, read and written beyond the caches, and %.0f GFLOP/s by multiply-adds in "
             "registers, both measured by this run",
             1e-9 * roofs.bandwidth, 1e-9 * roofs.peak);
    print_fact(page, "CPU roofs", text);
}

static void print_facts(FILE *page, const gc_facts *facts)
{
    fputs("<dl>", page);
    fputs("<dt>command</dt><dd><code>", page);
    gc_html_text(page, facts->command);
    fputs("</code></dd>", page);
    print_fact(page, "date", facts->date);
    print_fact(page, "program", facts->program);
    print_fact(page, "build", facts->compiler);
    print_fact(page, "GPU", facts->gpu);
    print_fact(page, "GPU clock", facts->gpu_clocks);
    print_fact(page, "driver", facts->driver);
    print_fact(page, "processor", facts->processor);
    print_fact(page, "clock", facts->clocks);
    print_fact(page, "instructions", facts->instructions);
    print_roofs(page, facts->cpu_roofs);
    print_fact(page, "system", facts->system);
    fputs("</dl>\n", page);
}

static void print_verdicts(FILE *page, const gc_points *points)
{
    size_t right = 0, wrong = 0, refused = 0;
    for (size_t i = 0; i < points->count; i++) {
        right +=
            points->at[i].verdict == GC_VERDICT_EXACT || points->at[i].verdict == GC_VERDICT_WITHIN;
        wrong += points->at[i].verdict == GC_VERDICT_WRONG;
        refused += points->at[i].verdict == GC_VERDICT_UNUSABLE;
    }
    bool transforms = points->count > 0 && strcmp(points->at[0].preset, "fft-locality") == 0;
    fprintf(page, "<p>%s: %zu %s right",
            transforms ? "Numbers of each result were compared with sums in double"
                       : "Each result was compared with the serial reference before it was timed",
            right, right == 1 ? "is" : "are");
    if (refused > 0)
        fprintf(page, ", %zu could not run", refused);
    fprintf(page, "%s</p>\n", wrong == 0 ? ", none is wrong." : ".");
    if (wrong > 0)
        fprintf(page,
                "<p class=\"warn\"><strong>%zu %s WRONG</strong> and in no chart: see the table of "
                "all results.</p>\n",
                wrong, wrong == 1 ? "is" : "are");
}

static void print_missing(FILE *page, const gc_page *content)
{
    if (content->missing.message[0] == '\0')
        return;
    fputs("<p class=\"warn\"><strong>Charts are missing:</strong> ", page);
    gc_html_text(page, content->missing.message);
    fputs(". To see them, install gnuplot 5 or newer (Debian and Ubuntu: <code>apt install "
          "gnuplot-nox</code>; others: <code>gnuplot</code>) and run the command again. The "
          "figures stand in the tables below.",
          page);
    if (content->directory != NULL) {
        fputs(" The directory <code>", page);
        gc_html_text(page, content->directory);
        fputs("</code> beside this page has the data and the scripts that draw the charts: "
              "<code>gnuplot chart-1.gp &gt;chart-1.svg</code>.",
              page);
    }
    fputs("</p>\n", page);
}

static void print_head(FILE *page, const gc_page *content)
{
    const gc_study *study = content->study;
    fputs("<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>"
          "<meta charset=\"utf-8\"/>"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n",
          page);
    gc_html_element(page, "title", study->title);
    gc_style_print(page);
    fputs("</head>\n<body>\n", page);
    gc_html_element(page, "h1", study->title);
    gc_html_element(page, "p", study->subject);
    print_facts(page, &study->facts);
    print_verdicts(page, study->points);
    print_missing(page, content);
}

/* ---- Charts ---------------------------------------------------------------------------------- */

/* Machine, driver, compiler, commit and command under every chart, because charts are copied. */
static void print_caption(FILE *page, const gc_facts *facts)
{
    const char *parts[] = {facts->gpu,     facts->driver,  facts->processor, facts->compiler,
                           facts->program, facts->command, facts->date};
    fputs("<figcaption>", page);
    for (size_t i = 0, printed = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i][0] != '\0') {
            fputs(printed++ > 0 ? " · " : "", page);
            gc_html_text(page, parts[i]);
        }
    fputs("</figcaption>\n", page);
}

static void print_panel(FILE *page, const gc_page *content, const gc_panel *panel)
{
    const gc_chart *chart = panel->chart;
    char name[64];
    fprintf(page, "<figure id=\"%s\"%s>", panel->name,
            gc_chart_has_cells(chart) ? "" : " class=\"wide\"");
    gc_html_element(page, "h3", chart->title);
    snprintf(name, sizeof name, "%s-", panel->name);
    if (panel->image != NULL)
        gc_svg_print(page, panel->image, name, chart->title);
    if (chart->note[0] != '\0')
        gc_html_element(page, "p class=\"note\"", chart->note);
    fprintf(page, "<details%s><summary>Figures</summary><div class=\"scroll\">",
            panel->image == NULL ? " open=\"open\"" : "");
    gc_chart_table_print(page, chart);
    fputs("</div><p>Save: ", page);
    snprintf(name, sizeof name, "%s.csv", panel->name);
    gc_html_download(page, name, "text/csv;charset=utf-8", panel->data);
    fputs(", ", page);
    snprintf(name, sizeof name, "%s.gp", panel->name);
    gc_html_download(page, name, "text/plain;charset=utf-8", panel->script);
    fputs("</p></details>", page);
    print_caption(page, &content->study->facts);
    fputs("</figure>\n", page);
}

static void print_panels(FILE *page, const gc_page *content)
{
    if (content->count == 0)
        return;
    fputs("<h2>Charts</h2>\n", page);
    if (content->count > 3) {
        fputs("<details><summary>List of charts</summary><ol>", page);
        for (size_t i = 0; i < content->count; i++) {
            fprintf(page, "<li><a href=\"#%s\">", content->panels[i].name);
            gc_html_text(page, content->panels[i].chart->title);
            fputs("</a></li>", page);
        }
        fputs("</ol></details>\n", page);
    }
    fputs("<div class=\"charts\">\n", page);
    for (size_t i = 0; i < content->count; i++)
        print_panel(page, content, &content->panels[i]);
    fputs("</div>\n", page);
}

void gc_page_print(FILE *page, const gc_page *content)
{
    const gc_points *points = content->study->points;
    print_head(page, content);
    print_panels(page, content);
    gc_published_print(page, points);
    gc_registers_print(page, content->study);
    gc_results_print(page, points);
    gc_refused_print(page, points);
    fputs(
        "<h2>How to read this</h2>\n"
        "<p><em>Time</em> is the median of the runs, from samples in memory to samples in "
        "memory. <em>Kernel</em> is the time of a GPU alone: the median of other runs, which begin "
        "with empty caches and are not counted in <em>runs</em>. <em>Spread</em> is the distance "
        "of the quartiles, in percent of the median. Above 10 % (bold) something disturbed the "
        "measurement. <em>GFLOP/s</em> counts 2 w h operations for a sample and a filter of w "
        "times h weights, whatever an implementation does to need fewer.</p>\n"
        "</body>\n</html>\n",
        page);
}
