#include "cli/draw/grid.h"
#include "cli/draw/html.h"
#include "cli/page/page.h"

#include <math.h>

/* Four digits that count, and no exponents where they can be avoided. */
static void print_number(FILE *stream, double value)
{
    int decimals = value == floor(value) && value < 1e6 ? 0
                   : value >= 1000                      ? 0
                   : value >= 1                         ? 2
                   : value >= 0.01                      ? 4
                                                        : 7;
    fprintf(stream, "%.*f", decimals, value);
}

static void print_cell(FILE *page, double value)
{
    fputs("<td class=\"n\">", page);
    print_number(page, value);
    fputs("</td>", page);
}

static void print_heads(FILE *page, const gc_chart *chart)
{
    gc_html_element(page, "th", chart->x_label);
    for (size_t i = 0; i < chart->count; i++)
        gc_html_element(page, "th class=\"n\"", chart->series[i].name);
}

static const gc_dot *dot_at(const gc_series *series, int x)
{
    for (size_t i = 0; i < series->count; i++)
        if ((int)series->dots[i].x == x)
            return &series->dots[i];
    return NULL;
}

/* A row for each x, a column for each series. */
static void print_wide(FILE *page, const gc_chart *chart)
{
    gc_numbers all = {.count = 0};
    for (size_t i = 0; i < chart->count; i++)
        for (size_t j = 0; j < chart->series[i].count; j++)
            gc_numbers_add(&all, (int)chart->series[i].dots[j].x);
    fputs("<table>", page);
    gc_html_element(page, "caption", chart->y_label);
    fputs("<thead><tr>", page);
    print_heads(page, chart);
    fputs("</tr></thead><tbody>", page);
    for (int i = 0; i < all.count; i++) {
        fprintf(page, "<tr><td>%d</td>", all.at[i]);
        for (size_t j = 0; j < chart->count; j++) {
            const gc_dot *dot = dot_at(&chart->series[j], all.at[i]);
            if (dot != NULL)
                print_cell(page, dot->y);
            else
                fputs("<td></td>", page);
        }
        fputs("</tr>", page);
    }
    fputs("</tbody></table>", page);
}

/* A row for each dot. */
static void print_long(FILE *page, const gc_chart *chart)
{
    bool rows = chart->kind == GC_CHART_ROWS;
    fputs("<table><thead><tr><th>name</th>", page);
    gc_html_element(page, "th class=\"n\"", chart->x_label);
    if (!rows)
        gc_html_element(page, "th class=\"n\"", chart->y_label);
    fputs("</tr></thead><tbody>", page);
    for (size_t i = 0; i < chart->count; i++)
        for (size_t j = 0; j < chart->series[i].count; j++) {
            fputs("<tr>", page);
            gc_html_element(page, "td", chart->series[i].name);
            print_cell(page, chart->series[i].dots[j].x);
            if (!rows)
                print_cell(page, chart->series[i].dots[j].y);
            fputs("</tr>", page);
        }
    fputs("</tbody></table>", page);
}

/* The cell of a map: its value, or the name of its class. */
static void print_place(FILE *page, const gc_chart *chart, int x, int y)
{
    for (size_t i = 0; i < chart->count; i++)
        for (size_t j = 0; j < chart->series[i].count; j++) {
            const gc_dot *dot = &chart->series[i].dots[j];
            if ((int)dot->x != x || (int)dot->y != y)
                continue;
            if (chart->kind == GC_CHART_CLASSES)
                gc_html_element(page, "td", chart->series[i].name);
            else if (isnan(dot->value))
                fputs("<td></td>", page);
            else
                print_cell(page, dot->value);
            return;
        }
    fputs("<td></td>", page);
}

/* A row for each y, a column for each x. */
static void print_map(FILE *page, const gc_chart *chart)
{
    gc_numbers columns = {.count = 0}, rows = {.count = 0};
    for (size_t i = 0; i < chart->count; i++)
        for (size_t j = 0; j < chart->series[i].count; j++) {
            gc_numbers_add(&columns, (int)chart->series[i].dots[j].x);
            gc_numbers_add(&rows, (int)chart->series[i].dots[j].y);
        }
    fputs("<table>", page);
    gc_html_element(page, "caption",
                    chart->kind == GC_CHART_CLASSES ? "the fastest" : chart->value_label);
    fputs("<thead><tr><th>height \\ width</th>", page);
    for (int i = 0; i < columns.count; i++)
        fprintf(page, "<th class=\"n\">%d</th>", columns.at[i]);
    fputs("</tr></thead><tbody>", page);
    for (int j = 0; j < rows.count; j++) {
        fprintf(page, "<tr><th>%d</th>", rows.at[j]);
        for (int i = 0; i < columns.count; i++)
            print_place(page, chart, columns.at[i], rows.at[j]);
        fputs("</tr>", page);
    }
    fputs("</tbody></table>", page);
}

void gc_chart_table_print(FILE *page, const gc_chart *chart)
{
    if (gc_chart_has_cells(chart))
        print_map(page, chart);
    else if (chart->x_everywhere)
        print_wide(page, chart);
    else
        print_long(page, chart);
}

/* A quotation mark is doubled (RFC 4180). */
static void csv_text(FILE *stream, const char *text)
{
    putc('"', stream);
    for (; *text != '\0'; text++)
        fputs(*text == '"' ? "\"\"" : (char[]){*text, '\0'}, stream);
    putc('"', stream);
}

void gc_chart_csv_print(FILE *stream, const gc_chart *chart)
{
    bool cells = gc_chart_has_cells(chart), rows = chart->kind == GC_CHART_ROWS;
    const char *labels[] = {"series",         chart->x_label,   rows ? "row" : chart->y_label,
                            "lower quartile", "upper quartile", cells ? chart->value_label : ""};
    for (int i = 0; i < (cells ? 6 : 5); i++) {
        fputs(i > 0 ? "," : "", stream);
        csv_text(stream, labels[i]);
    }
    putc('\n', stream);
    for (size_t i = 0; i < chart->count; i++)
        for (size_t j = 0; j < chart->series[i].count; j++) {
            const gc_dot *dot = &chart->series[i].dots[j];
            csv_text(stream, chart->series[i].name);
            fprintf(stream, ",%.9g,%.9g,", dot->x, rows ? (double)i : dot->y);
            if (dot->high > 0)
                fprintf(stream, "%.9g,%.9g", dot->low, dot->high);
            else
                putc(',', stream);
            if (cells)
                fputs(",", stream);
            if (cells && !isnan(dot->value))
                fprintf(stream, "%.9g", dot->value);
            putc('\n', stream);
        }
}
