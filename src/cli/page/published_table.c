#include "cli/charts/published.h"
#include "cli/charts/select.h"
#include "cli/draw/html.h"
#include "cli/page/page.h"

#include <math.h>
#include <string.h>

static bool is_same_size(const gc_point *point, const gc_published *row)
{
    bool filter = row->filter_width == 0 || (point->filter_width == row->filter_width &&
                                             point->filter_height == row->filter_height);
    return filter &&
           (row->image == 0 || (point->width == row->image && point->height == row->image));
}

/* Whether the filter of a point has the rank that the experiment is about. Those of two passes and
 * the Gaussian of the lecture are of rank 1. */
static bool is_same_rank(const gc_point *point, const gc_published *row)
{
    bool rank1 = strcmp(row->preset, "lecture") == 0 ||
                 strncmp(row->implementation, "twopass", strlen("twopass")) == 0;
    return point->rank1 == rank1;
}

/* Whether a name stands for a point: its own, or "spatial" for all on a GPU without transforms. */
static bool is_meant(const gc_point *point, const char *name, size_t length)
{
    static const char spatial[] = "spatial";
    if (length == strlen(spatial) && strncmp(name, spatial, length) == 0)
        return point->kernel_seconds > 0 && !gc_is_transform(point->name);
    return strlen(point->name) == length && strncmp(point->name, name, length) == 0;
}

/* What is published for any filter is the highest rate of all. */
static bool is_better(const gc_point *point, const gc_point *best, const gc_published *row)
{
    if (best == NULL)
        return true;
    return row->filter_width == 0 ? gc_point_gflops(point) > gc_point_gflops(best)
                                  : gc_point_time(point) < gc_point_time(best);
}

/* The best point that repeats a published one by a name; NULL where there is none. */
static const gc_point *find_named(const gc_points *points, const gc_published *row,
                                  const char *name, size_t length)
{
    const gc_point *best = NULL;
    for (size_t i = 0; i < points->count; i++) {
        const gc_point *point = &points->at[i];
        if (gc_point_counts(point) && is_same_size(point, row) && is_same_rank(point, row) &&
            is_meant(point, name, length) && is_better(point, best, row))
            best = point;
    }
    return best;
}

/* The same for the first name of a list that was measured. */
static const gc_point *find(const gc_points *points, const gc_published *row, const char *list)
{
    const char *name;
    const gc_point *point = NULL;
    for (size_t length; point == NULL && (length = gc_published_name(&list, &name)) > 0;)
        point = find_named(points, row, name, length);
    return point;
}

/* What was measured here of the same quantity; 0 where nothing was. */
static double measured(const gc_points *points, const gc_published *row)
{
    const gc_point *point = find(points, row, row->implementation);
    const gc_point *other = find(points, row, row->over);
    if (point == NULL)
        return 0;
    switch (row->quantity) {
    case GC_QUANTITY_SECONDS_100:
        return 100 * gc_point_time(point);
    case GC_QUANTITY_MILLISECONDS:
        return 1e3 * gc_point_time(point);
    case GC_QUANTITY_GFLOPS:
        return gc_point_gflops(point);
    case GC_QUANTITY_SPEED_UP:
        return other != NULL ? gc_point_counted_seconds(other) / gc_point_counted_seconds(point)
                             : 0;
    case GC_QUANTITY_FACTOR:
        return point->factor;
    case GC_QUANTITY_BOUND:
        return 1e-9 * point->theory;
    default:
        return 0;
    }
}

/* The name of what was measured; the first of the row where nothing was. */
static void print_name(FILE *page, const gc_points *points, const gc_published *row)
{
    const gc_point *point = find(points, row, row->implementation);
    char first[GC_NAME_BYTES];
    const char *list = row->implementation, *name;
    snprintf(first, sizeof first, "%.*s", (int)gc_published_name(&list, &name),
             row->implementation);
    gc_html_element(page, "td", point != NULL ? point->name : first);
}

static void print_size(FILE *page, int width, int height)
{
    if (width > 0)
        fprintf(page, "<td>%dx%d</td>", width, height);
    else
        fputs("<td>any</td>", page);
}

/* Some digits, and all in front of the point; nothing for 0. */
static void print_number(FILE *page, double value, int digits)
{
    fputs("<td class=\"n\">", page);
    if (value >= pow(10, digits))
        fprintf(page, "%.0f", value);
    else if (value > 0)
        fprintf(page, "%.*g", digits, value);
    fputs("</td>", page);
}

static void print_row(FILE *page, const gc_points *points, const gc_published *row)
{
    double here = measured(points, row);
    fputs("<tr><td>", page);
    gc_html_text(page, row->source);
    fputs(", ", page);
    gc_html_text(page, row->where);
    fputs("</td>", page);
    gc_html_element(page, "td", row->device[0] != '\0' ? row->device : "not named");
    print_size(page, row->image, row->image);
    print_size(page, row->filter_width, row->filter_height);
    gc_html_element(page, "td", row->step);
    print_name(page, points, row);
    fputs("<td>", page);
    gc_html_text(page, gc_quantity_unit(row->quantity));
    if (row->quantity == GC_QUANTITY_SPEED_UP) {
        const char *list = row->over, *name;
        fprintf(page, " as %.*s", (int)gc_published_name(&list, &name), row->over);
    }
    fputs("</td>", page);
    fprintf(page, "<td class=\"n\">%.6g</td>", row->value);
    print_number(page, here, 4);
    print_number(page, here / row->value, 3);
    fputs("</tr>\n", page);
}

/* Prints the rows of a preset that have a counterpart here, or those that have none. Nothing where
 * there are no such rows. */
static void print_rows(FILE *page, const gc_points *points, const char *preset, bool measured_here)
{
    const gc_published *row;
    size_t count = 0;
    for (size_t i = 0; (row = gc_published_at(i)) != NULL; i++)
        count += strcmp(row->preset, preset) == 0 && (measured(points, row) > 0) == measured_here;
    if (count == 0)
        return;
    fprintf(page,
            "<details%s><summary>%zu %s a counterpart here</summary>"
            "<div class=\"scroll\"><table><thead><tr><th>source</th><th>their device</th>"
            "<th>image</th><th>filter</th><th>step</th><th>here</th><th>unit</th>"
            "<th class=\"n\">published</th><th class=\"n\">measured</th><th class=\"n\">ratio</th>"
            "</tr></thead><tbody>\n",
            measured_here ? " open=\"open\"" : "", count, measured_here ? "with" : "without");
    for (size_t i = 0; (row = gc_published_at(i)) != NULL; i++)
        if (strcmp(row->preset, preset) == 0 && (measured(points, row) > 0) == measured_here)
            print_row(page, points, row);
    fputs("</tbody></table></div></details>\n", page);
}

void gc_published_print(FILE *page, const gc_points *points)
{
    const char *preset = points->count > 0 ? points->at[0].preset : "";
    const gc_published *row;
    bool any = false;
    for (size_t i = 0; !any && (row = gc_published_at(i)) != NULL; i++)
        any = strcmp(row->preset, preset) == 0;
    if (!any)
        return;
    fputs("<h2>Published figures and these</h2>\n<p>Figures that the source prints, on the device "
          "that it used, and what was measured here on the same sizes. None is read off a "
          "curve. The ratio is measured over published: a time below 1, and a rate above 1, is "
          "better here. Of rates for any filter the highest is taken.</p>\n",
          page);
    print_rows(page, points, preset, true);
    print_rows(page, points, preset, false);
}
