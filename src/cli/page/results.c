#include "cli/charts/select.h"
#include "cli/draw/html.h"
#include "cli/measure/figures.h"
#include "cli/page/page.h"

#include <string.h>

enum {
    ROWS_SHOWN = 80,  /* more rows are folded away */
    SPREAD_NOISY = 10 /* percent of the median */
};

static void print_number(FILE *page, double value, int decimals)
{
    if (value > 0)
        fprintf(page, "<td class=\"n\">%.*f</td>", decimals, value);
    else
        fputs("<td></td>", page);
}

/* A spread that says that something disturbed the measurement is bold. */
static void print_spread(FILE *page, const gc_point *point)
{
    double spread = point->seconds > 0 ? 100 * gc_point_spread(point) / point->seconds : 0;
    if (spread > SPREAD_NOISY)
        fprintf(page, "<td class=\"n\"><strong>%.1f</strong></td>", spread);
    else
        print_number(page, spread, 1);
}

static void print_verdict(FILE *page, const gc_point *point)
{
    bool wrong = point->verdict == GC_VERDICT_WRONG;
    fputs("<td class=\"v\">", page);
    fputs(wrong ? "<span class=\"bad\">" : "", page);
    gc_html_text(page, gc_verdict_name(point->verdict));
    fputs(wrong ? "</span>" : "", page);
    if (point->reason[0] != '\0') {
        fputs(": ", page);
        gc_html_text(page, point->reason);
    }
    fputs("</td>", page);
}

static void print_point(FILE *page, const gc_point *point, bool with_gpu)
{
    char label[2 * GC_NAME_BYTES + 4];
    fprintf(page, "<tr><td>%dx%d</td>", point->width, point->height);
    gc_html_element(page, "td", point->filter);
    gc_html_element(page, "td", point->samples);
    gc_html_element(page, "td",
                    gc_row_label(point->name, point->implementation, label, sizeof label));
    if (point->runs > 0)
        fprintf(page, "<td class=\"n\">%d</td>", point->runs);
    else
        fputs("<td></td>", page);
    if (with_gpu) {
        print_number(page, 1e3 * point->kernel_seconds, 4);
        print_number(page, 1e3 * point->border_seconds, 4);
        print_number(page, 1e3 * point->convert_seconds, 4);
        print_number(page, 1e3 * point->transfer_seconds, 3);
    }
    print_number(page, 1e3 * point->seconds, 3);
    print_number(page, 1e3 * point->shortest, 3);
    print_spread(page, point);
    print_number(page, point->values_a_second / 1e6, 1);
    print_number(page, point->flops / 1e9, 1);
    print_verdict(page, point);
    fputs("</tr>\n", page);
}

/* The parts of a run have columns where a GPU took part. */
static void print_heads(FILE *page, bool with_gpu)
{
    fputs("<thead><tr><th>image</th><th>filter</th><th>samples</th><th>implementation</th>"
          "<th class=\"n\">runs</th>",
          page);
    if (with_gpu)
        fputs("<th class=\"n\">kernel ms</th><th class=\"n\">border ms</th>"
              "<th class=\"n\">conversion ms</th><th class=\"n\">transfers ms</th>",
              page);
    fputs("<th class=\"n\">time ms</th><th class=\"n\">shortest ms</th>"
          "<th class=\"n\">spread %</th><th class=\"n\">Msample/s</th>"
          "<th class=\"n\">GFLOP/s</th><th>verdict</th></tr></thead>",
          page);
}

void gc_results_print(FILE *page, const gc_points *points)
{
    bool with_gpu = gc_points_have_gpu(points);
    size_t count = 0;
    for (size_t i = 0; i < points->count; i++)
        count += points->at[i].width > 0;
    fprintf(page,
            "<h2>All results</h2>\n<details%s><summary>%zu results</summary><div "
            "class=\"scroll\"><table>",
            count <= ROWS_SHOWN ? " open=\"open\"" : "", count);
    print_heads(page, with_gpu);
    fputs("<tbody>\n", page);
    for (size_t i = 0; i < points->count; i++)
        if (points->at[i].width > 0)
            print_point(page, &points->at[i], with_gpu);
    fputs("</tbody></table></div><p class=\"note\">Time is that of a whole run, from samples in "
          "memory to samples in memory.",
          page);
    if (with_gpu)
        fputs(" On a GPU kernel is the part from its memory to its memory. Of it, border extends "
              "the image and conversion turns samples into numbers and back. Transfers to the GPU "
              "and back may overlap with each other and with computing.",
              page);
    fputs("</p></details>\n", page);
}

/* Whether a point stands for an implementation that cannot run here. */
static bool is_refused(const gc_point *point)
{
    return point->width == 0;
}

/* Whether a point before this one has the same reason. */
static bool is_repeated(const gc_points *points, size_t index)
{
    const gc_point *point = &points->at[index];
    const char *reason = gc_reason_alone(point->name, point->reason);
    for (size_t i = 0; i < index; i++)
        if (is_refused(&points->at[i]) &&
            strcmp(gc_reason_alone(points->at[i].name, points->at[i].reason), reason) == 0)
            return true;
    return false;
}

/* The names of all implementations that share a reason, and the reason. */
static void print_reason(FILE *page, const gc_points *points, size_t first)
{
    const char *reason = gc_reason_alone(points->at[first].name, points->at[first].reason);
    int names = 0;
    fputs("<li>", page);
    for (size_t i = first; i < points->count; i++) {
        const gc_point *point = &points->at[i];
        if (!is_refused(point) || strcmp(gc_reason_alone(point->name, point->reason), reason) != 0)
            continue;
        fputs(names++ > 0 ? ", <code>" : "<code>", page);
        gc_html_text(page, point->name);
        fputs("</code>", page);
    }
    fputs(names > 1 ? ": each " : ": ", page);
    gc_html_text(page, reason);
    fputs("</li>\n", page);
}

void gc_refused_print(FILE *page, const gc_points *points)
{
    bool any = false;
    for (size_t i = 0; i < points->count; i++) {
        if (!is_refused(&points->at[i]) || is_repeated(points, i))
            continue;
        if (!any)
            fputs("<h2>Not usable here</h2>\n<ul>", page);
        any = true;
        print_reason(page, points, i);
    }
    if (any)
        fputs("</ul>\n", page);
}
