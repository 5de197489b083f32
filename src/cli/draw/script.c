#include "cli/draw/script.h"

#include "cli/draw/grid.h"
#include "cli/draw/svg.h"

#include <math.h>
#include <string.h>

/* Pixels. Each name of a legend, and each row, needs some. */
static int height_of(const gc_chart *chart)
{
    int legend = 90 + 32 * (int)chart->count;
    if (gc_chart_has_cells(chart))
        return GC_CELLS_HEIGHT;
    if (chart->kind == GC_CHART_ROWS)
        return 90 + 30 * (int)chart->count;
    return legend > GC_CHART_HEIGHT ? legend : GC_CHART_HEIGHT;
}

static void print_head(FILE *script, const gc_chart *chart)
{
    bool cells = gc_chart_has_cells(chart);
    fprintf(script,
            "set encoding utf8\n"
            "set terminal svg size %d,%d dynamic noenhanced font 'sans-serif,14' linewidth 1\n"
            "set border %d linewidth 1 linecolor rgb '" GC_COLOUR_QUIET "'\n"
            "set tics nomirror out textcolor rgb '" GC_COLOUR_INK "'\n"
            "set grid linetype 1 linewidth 0.7 linecolor rgb '" GC_COLOUR_LINE "'\n",
            cells ? GC_CELLS_WIDTH : GC_CHART_WIDTH, height_of(chart), cells ? 0 : 3);
    gc_script_label(script, "xlabel", chart->x_label);
    gc_script_label(script, "ylabel", chart->y_label);
}

/* ---- Axes ------------------------------------------------------------------------------------ */

typedef struct range {
    double low, high;
} range;

static void widen(range *all, double value)
{
    if (value <= 0)
        return;
    all->low = fmin(all->low, value);
    all->high = fmax(all->high, value);
}

static range range_of(const gc_chart *chart, bool of_y)
{
    range all = {HUGE_VAL, 0};
    for (size_t i = 0; i < chart->count; i++)
        for (size_t j = 0; j < chart->series[i].count; j++) {
            const gc_dot *dot = &chart->series[i].dots[j];
            widen(&all, of_y ? dot->y : dot->x);
            if (of_y) {
                widen(&all, dot->low);
                widen(&all, dot->high);
            }
        }
    return all;
}

/* The longest bar of rows, with the whisker behind it. */
static double longest_row(const gc_chart *chart)
{
    double longest = 0;
    for (size_t i = 0; i < chart->count; i++)
        for (size_t j = 0; j < chart->series[i].count; j++)
            longest =
                fmax(longest, fmax(chart->series[i].dots[j].x, chart->series[i].dots[j].high));
    return longest;
}

/* Ticks at 1, 2 and 5 times powers of ten; at powers of ten alone where there are many. */
static void print_log_axis(FILE *script, char axis, range all)
{
    static const double steps[] = {1, 2, 5};
    if (!(all.high > 0))
        return;
    double low = all.low / 1.25, high = all.high * 1.25;
    int count = log10(high / low) > 3.5 ? 1 : 3;
    fprintf(script, "set logscale %c\nset %crange [%.6g:%.6g]\nset %ctics (", axis, axis, low, high,
            axis);
    const char *between = "";
    for (int power = (int)floor(log10(low)); power <= (int)ceil(log10(high)); power++)
        for (int i = 0; i < count; i++) {
            double value = steps[i] * pow(10, power);
            if (value < low || value > high)
                continue;
            fprintf(script, "%s'%.12g' %.6g", between, value, value);
            between = ", ";
        }
    fputs(")\n", script);
}

enum { TICK_LABELS_MAX = 14 };

/* A tick at every x of a dot, with numbers at some of them where there are many. */
static void print_own_ticks(FILE *script, const gc_chart *chart)
{
    gc_numbers all = {.count = 0};
    for (size_t i = 0; i < chart->count; i++)
        for (size_t j = 0; j < chart->series[i].count; j++)
            if (chart->x_log || chart->series[i].role != GC_SERIES_PUBLISHED)
                gc_numbers_add(&all, (int)chart->series[i].dots[j].x);
    int every = 1 + all.count / TICK_LABELS_MAX;
    fputs("set xtics (", script);
    for (int i = 0; i < all.count; i++) {
        fputs(i > 0 ? ", " : "", script);
        if (i % every == 0)
            fprintf(script, "'%d' %d", all.at[i], all.at[i]);
        else
            fprintf(script, "'' %d", all.at[i]);
    }
    fputs(")\n", script);
}

static void print_axes(FILE *script, const gc_chart *chart)
{
    range x = range_of(chart, false);
    if (chart->x_log)
        print_log_axis(script, 'x', x);
    else
        fprintf(script, "set xrange [%.6g:%.6g]\n", x.low - 0.03 * (x.high - x.low),
                x.high + 0.03 * (x.high - x.low));
    if (chart->x_everywhere)
        print_own_ticks(script, chart);
    if (chart->y_log)
        print_log_axis(script, 'y', range_of(chart, true));
    else
        fputs("set yrange [0:*]\n", script);
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* Marks of gnuplot, filled and hollow, by colour: circle, square, triangle, diamond, triangle
 * upside down, pentagon, cross, star. */
static const int filled_marks[GC_CHART_COLOURS] = {7, 5, 9, 13, 11, 15, 2, 3};
static const int hollow_marks[GC_CHART_COLOURS] = {6, 4, 8, 12, 10, 14, 1, 2};

static bool has_quartiles(const gc_series *series)
{
    for (size_t i = 0; i < series->count; i++)
        if (series->dots[i].high > 0)
            return true;
    return false;
}

static void print_data(FILE *script, const gc_series *series, size_t number)
{
    fprintf(script, "$s%zu << END\n", number);
    for (size_t i = 0; i < series->count; i++) {
        const gc_dot *dot = &series->dots[i];
        bool known = dot->high > 0;
        fprintf(script, "%.9g %.9g %.9g %.9g\n", dot->x, dot->y, known ? dot->low : dot->y,
                known ? dot->high : dot->y);
    }
    fputs("END\n", script);
}

/* The mark of a series: that of its colour, another one where colours begin again, or the next one
 * for each series before it that has the same colour and role. */
static int mark_of(const gc_chart *chart, size_t number)
{
    const gc_series *series = &chart->series[number];
    int mark = series->colour < 0 ? 0 : series->colour + 3 * (series->colour / GC_CHART_COLOURS);
    for (size_t i = 0; i < number; i++)
        mark += chart->series[i].colour == series->colour && chart->series[i].role == series->role;
    return mark % GC_CHART_COLOURS;
}

static void print_line(FILE *script, const gc_chart *chart, size_t number)
{
    const gc_series *series = &chart->series[number];
    int mark = mark_of(chart, number);
    bool second = series->colour >= GC_CHART_COLOURS; /* colours begin again, with dashes */
    bool published = series->role == GC_SERIES_PUBLISHED;
    fprintf(script, "$s%zu using 1:2", number);
    if (series->role == GC_SERIES_LIMIT)
        fprintf(script, " with lines linewidth 1.5 dashtype %s", second ? "4" : "1");
    else if (series->role == GC_SERIES_MARKS)
        fprintf(script, " with points pointtype %d pointsize 0.9", filled_marks[mark]);
    else if (published)
        fprintf(script, " with %s linewidth 1.3 dashtype (5,4) pointtype %d pointsize 0.9",
                series->count > 1 ? "linespoints" : "points", hollow_marks[mark]);
    else
        fprintf(script, "%s linewidth 2 dashtype %s pointtype %d pointsize 0.75",
                has_quartiles(series) ? ":3:4 with yerrorlines" : " with linespoints",
                second ? "4" : "1", filled_marks[mark]);
    fprintf(script, " linecolor rgb '%s' title ", gc_colour(series->colour));
    gc_script_text(script, series->name);
}

static size_t longest_name(const gc_chart *chart)
{
    size_t longest = 0;
    for (size_t i = 0; i < chart->count; i++)
        if (strlen(chart->series[i].name) > longest)
            longest = strlen(chart->series[i].name);
    return longest;
}

static void print_lines(FILE *script, const gc_chart *chart)
{
    print_axes(script, chart);
    fprintf(script,
            "set key outside right top vertical maxcols 1 Left reverse samplen 2.5 spacing 1.3 "
            "width %.1f "
            "textcolor rgb '" GC_COLOUR_INK "'\n",
            -0.2 *
                (double)longest_name(chart)); /* gnuplot takes letters to be wider than they are */
    for (size_t i = 0; i < chart->count; i++)
        print_data(script, &chart->series[i], i);
    for (size_t i = 0; i < chart->count; i++) {
        fputs(i == 0 ? "plot " : ", \\\n     ", script);
        print_line(script, chart, i);
    }
    putc('\n', script);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void print_row_names(FILE *script, const gc_chart *chart)
{
    fputs("set ytics scale 0 (", script);
    for (size_t i = 0; i < chart->count; i++) {
        fputs(i > 0 ? ", " : "", script);
        gc_script_text(script, chart->series[i].name);
        fprintf(script, " %zu", i);
    }
    fprintf(script, ")\nset yrange [%g:-0.6]\n", (double)chart->count - 0.4);
}

/* A bar with its quartiles, and its value behind them. */
static void print_row(FILE *script, const gc_series *series, size_t number)
{
    fprintf(script,
            "$s%zu using (0.5*$1):2:(0.5*$1):(0.33) with boxxyerror linecolor rgb '%s', "
            "$s%zu using 1:2:3:4 with xerrorbars pointtype 0 linecolor rgb '" GC_COLOUR_INK "', "
            "$s%zu using 4:2:5 with labels left offset 1,0 textcolor rgb '" GC_COLOUR_INK "'",
            number, gc_colour(series->colour), number, number);
}

/* Rows count from the top. */
static void print_rows(FILE *script, const gc_chart *chart)
{
    fprintf(script,
            "unset key\nset grid noytics\nset style fill solid 0.6 noborder\n"
            "set xrange [0:%.6g]\n",
            1.15 * longest_row(chart));
    print_row_names(script, chart);
    for (size_t i = 0; i < chart->count; i++) {
        const gc_dot *dot = &chart->series[i].dots[0];
        bool known = dot->high > 0;
        int decimals = dot->x < 10 ? 3 : dot->x < 1000 ? 1 : 0;
        fprintf(script, "$s%zu << END\n%.9g %zu %.9g %.9g \"%.*f\"\nEND\n", i, dot->x, i,
                known ? dot->low : dot->x, known ? dot->high : dot->x, decimals, dot->x);
    }
    for (size_t i = 0; i < chart->count; i++) {
        fputs(i == 0 ? "plot " : ", \\\n     ", script);
        print_row(script, &chart->series[i], i);
    }
    putc('\n', script);
}

void gc_script_print(FILE *script, const gc_chart *chart)
{
    print_head(script, chart);
    if (chart->kind == GC_CHART_LINES)
        print_lines(script, chart);
    else if (chart->kind == GC_CHART_ROWS)
        print_rows(script, chart);
    else
        gc_script_cells(script, chart);
}
