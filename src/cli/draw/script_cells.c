/* Charts of cells over two numbers: surfaces from above, factors, ratios, classes. */
#include "cli/draw/script.h"

#include "cli/draw/grid.h"
#include "cli/draw/svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Cells that may have their value written into them: more columns leave no room. */
enum { VALUE_COLUMNS_MAX = 12, FACTOR_COLUMNS_MAX = 24 };

enum { FACTOR_TICKS_MAX = 16 };

/* Colours of surfaces, from low to high: those of cividis (Nuñez et al. 2018), whose lightness
 * grows and which readers with colour blindness see like others. */
static const unsigned surface_colours[] = {0x00224e, 0x123570, 0x3b496c, 0x575d6d, 0x707173,
                                           0x8a8678, 0xa59c74, 0xc3b369, 0xe1cc55, 0xfee838};
/* From blue by near-white to orange: below 1, 1, above 1. */
static const unsigned ratio_colours[] = {0x08457e, 0x3f7fb8, 0x93bfdd, 0xf2f0ea,
                                         0xf0b27a, 0xcf6f1e, 0x7f3b08};

typedef struct palette {
    const unsigned *colours;
    int count;
    double low, high; /* values of the first and of the last colour */
} palette;

/* What a colour stands for: the value, or its logarithm. */
static double shade(const gc_chart *chart, double value)
{
    return chart->kind == GC_CHART_RATIOS ? log2(value) : value;
}

static palette choose_palette(const gc_chart *chart)
{
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (size_t i = 0; i < chart->series[0].count; i++) {
        double value = shade(chart, chart->series[0].dots[i].value);
        low = fmin(low, value);
        high = fmax(high, value);
    }
    if (chart->kind == GC_CHART_RATIOS) {
        double end = fmax(fmax(fabs(low), fabs(high)), log2(1.25));
        return (palette){ratio_colours, 7, -end, end};
    }
    if (chart->kind == GC_CHART_SURFACE)
        return (palette){surface_colours, 10, 0, chart->value_max > 0 ? chart->value_max : high};
    return (palette){surface_colours, 10, low, high > low ? high : low + 1};
}

/* The relative luminance of a colour in the middle between two of a palette, by its parts. */
static double luminance(const palette *p, double value)
{
    static const double weights[] = {0.2126, 0.7152, 0.0722}; /* of sRGB: red, green, blue */
    double place = (value - p->low) / (p->high - p->low) * (p->count - 1), sum = 0;
    place = fmin(fmax(place, 0), p->count - 1);
    int below = (int)place, above = below + 1 < p->count ? below + 1 : below;
    for (int i = 0; i < 3; i++) {
        int shift = 16 - 8 * i;
        double a = p->colours[below] >> shift & 255, b = p->colours[above] >> shift & 255;
        sum += weights[i] * pow((a + (place - below) * (b - a)) / 255, 2.2);
    }
    return sum;
}

/* Ticks of ratios up to 2^high and down to its reciprocal: some about 1, or powers of two. */
static void print_ratio_ticks(FILE *script, double high)
{
    static const double near[] = {0.5, 0.67, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2};
    const char *between = "";
    fputs("set cbtics (", script);
    for (size_t i = 0; high <= 1.5 && i < sizeof near / sizeof near[0]; i++) {
        if (fabs(log2(near[i])) > high || (high > 0.7 && near[i] != 1 && fabs(near[i] - 1) < 0.15))
            continue;
        fprintf(script, "%s'%g' %.6g", between, near[i], log2(near[i]));
        between = ", ";
    }
    int step = (int)ceil(high / 4), last = (int)(high / step);
    for (int i = -last; high > 1.5 && i <= last; i++) {
        fprintf(script, "%s'%s%g' %d", between, i < 0 ? "1/" : "", exp2(abs(i) * step), i * step);
        between = ", ";
    }
    fputs(")\n", script);
}

/* Ticks at the factors from the least to the greatest. */
static void print_factor_ticks(FILE *script, const gc_chart *chart)
{
    double low = HUGE_VAL, high = 0;
    for (size_t i = 0; i < chart->series[0].count; i++) {
        low = fmin(low, chart->series[0].dots[i].value);
        high = fmax(high, chart->series[0].dots[i].value);
    }
    int step = 1 + (int)(high - low) / FACTOR_TICKS_MAX;
    fprintf(script, "set cbtics %.0f,%d,%.0f\n", low, step, high);
}

static void print_palette(FILE *script, const gc_chart *chart, const palette *p)
{
    fputs("set palette defined (", script);
    for (int i = 0; i < p->count; i++)
        fprintf(script, "%s%d '#%06x'", i > 0 ? ", " : "", i, p->colours[i]);
    fprintf(script,
            ")\nset cbrange [%.6g:%.6g]\nset colorbox noborder\nset rmargin at screen 0.77\n",
            p->low, p->high);
    gc_script_label(script, "cblabel", chart->value_label);
    if (chart->kind == GC_CHART_RATIOS)
        print_ratio_ticks(script, p->high);
    else if (chart->kind == GC_CHART_FACTORS)
        print_factor_ticks(script, chart);
}

static void print_ticks(FILE *script, char axis, const gc_numbers *numbers)
{
    int every = numbers->count > 24 ? 4 : numbers->count > 14 ? 2 : 1;
    fprintf(script, "set %crange [-0.5:%g]\nset %ctics scale 0.5 (", axis, numbers->count - 0.5,
            axis);
    for (int i = 0; i < numbers->count; i += every)
        fprintf(script, "%s'%d' %d", i > 0 ? ", " : "", numbers->at[i], i);
    fputs(")\n", script);
}

/* Columns and rows of the cells. Each has the same size, whatever lies between their numbers. */
static void print_grid(FILE *script, const gc_chart *chart, gc_numbers *columns, gc_numbers *rows)
{
    gc_grid_of(chart, columns, rows);
    fputs("unset grid\nset style fill solid noborder\n", script);
    print_ticks(script, 'x', columns);
    print_ticks(script, 'y', rows);
}

static void print_cell(FILE *script, const gc_dot *dot, const gc_numbers *columns,
                       const gc_numbers *rows, double value)
{
    fprintf(script, "%d %d %.9g", gc_numbers_find(columns, (int)dot->x),
            gc_numbers_find(rows, (int)dot->y), value);
}

/* Values in the cells, black on light colours and white on dark ones. */
static void print_values(FILE *script, const gc_chart *chart, const palette *p,
                         const gc_numbers *columns, const gc_numbers *rows)
{
    const gc_series *cells = &chart->series[0];
    fputs("$v << END\n", script);
    for (size_t i = 0; i < cells->count; i++) {
        double value = cells->dots[i].value;
        if (isnan(value))
            continue;
        bool light = luminance(p, shade(chart, value)) > 0.18;
        print_cell(script, &cells->dots[i], columns, rows, light ? 0x111111 : 0xfffffe);
        if (value >= 10 || value == floor(value))
            fprintf(script, " \"%.0f\"\n", value);
        else
            fprintf(script, " \"%.2g\"\n", value);
    }
    fputs("END\n", script);
}

/* All cells; those that were not measured have the value of the nearest one. */
static void print_all(FILE *script, const gc_chart *chart, const gc_numbers *columns,
                      const gc_numbers *rows)
{
    fputs("$c << END\n", script);
    for (int x = 0; x < columns->count; x++)
        for (int y = 0; y < rows->count; y++) {
            double value = gc_grid_nearest(chart, columns, rows, x, y)->value;
            if (!isnan(value))
                fprintf(script, "%d %d %.6g\n", x, y, shade(chart, value));
        }
    fputs("END\n", script);
}

/* The places of the cells that were measured. */
static void print_marks(FILE *script, const gc_chart *chart, const gc_numbers *columns,
                        const gc_numbers *rows)
{
    fputs("$m << END\n", script);
    for (size_t i = 0; i < chart->series[0].count; i++) {
        const gc_dot *dot = &chart->series[0].dots[i];
        if (!isnan(dot->value))
            fprintf(script, "%d %d\n", gc_numbers_find(columns, (int)dot->x),
                    gc_numbers_find(rows, (int)dot->y));
    }
    fputs("END\n", script);
}

static void print_surface(FILE *script, const gc_chart *chart)
{
    gc_numbers columns = {.count = 0}, rows = {.count = 0};
    palette p = choose_palette(chart);
    print_grid(script, chart, &columns, &rows);
    print_palette(script, chart, &p);
    fputs("unset key\n", script);
    print_all(script, chart, &columns, &rows);
    bool values =
        columns.count <= (chart->kind == GC_CHART_FACTORS ? FACTOR_COLUMNS_MAX : VALUE_COLUMNS_MAX);
    bool marks = !values && gc_grid_has_gaps(chart);
    if (values)
        print_values(script, chart, &p, &columns, &rows);
    if (marks)
        print_marks(script, chart, &columns, &rows);
    fputs("plot $c using 1:2:(0.5):(0.5):3 with boxxyerror linecolor palette", script);
    if (marks)
        fputs(", $m using 1:2 with points pointtype 7 pointsize 0.35 linecolor rgb "
              "'" GC_COLOUR_PAPER "', $m using 1:2 with points pointtype 6 pointsize 0.35 "
              "linecolor rgb '" GC_COLOUR_INK "'",
              script);
    if (values)
        fprintf(script, ", $v using 1:2:4:3 with labels font ',%d' textcolor rgb variable",
                columns.count > VALUE_COLUMNS_MAX ? 10 : 12);
    putc('\n', script);
}

/* ---- Classes --------------------------------------------------------------------------------- */

static void print_class(FILE *script, const gc_series *series, size_t number)
{
    fprintf(script,
            "$c%zu using 1:2:(0.5):(0.5) with boxxyerror fill solid 0.4 noborder linecolor rgb "
            "'%s' title '%c  ",
            number, gc_colour(series->colour), (char)('a' + number));
    for (const char *text = series->name; *text != '\0'; text++)
        fputs(*text == '\'' ? "''" : (char[]){*text, '\0'}, script);
    fprintf(script,
            "', $c%zu using 1:2:4 with labels font ',11' textcolor rgb '" GC_COLOUR_INK "' notitle",
            number);
}

/* Cells of each class with its letter. */
static void print_classes(FILE *script, const gc_chart *chart)
{
    gc_numbers columns = {.count = 0}, rows = {.count = 0};
    print_grid(script, chart, &columns, &rows);
    fputs("set key outside right top vertical Left reverse samplen 1 spacing 1.3 textcolor rgb "
          "'" GC_COLOUR_INK "'\n",
          script);
    for (size_t i = 0; i < chart->count; i++) {
        fprintf(script, "$c%zu << END\n", i);
        for (size_t j = 0; j < chart->series[i].count; j++) {
            print_cell(script, &chart->series[i].dots[j], &columns, &rows, 0);
            fprintf(script, " \"%c\"\n", (char)('a' + i));
        }
        fputs("END\n", script);
    }
    for (size_t i = 0; i < chart->count; i++) {
        fputs(i == 0 ? "plot " : ", \\\n     ", script);
        print_class(script, &chart->series[i], i);
    }
    putc('\n', script);
}

void gc_script_cells(FILE *script, const gc_chart *chart)
{
    if (chart->kind == GC_CHART_CLASSES)
        print_classes(script, chart);
    else
        print_surface(script, chart);
}
