#include "cli/commands/bench_formats.h"

#include "cli/measure/figures.h"
#include "cli/report/json.h"

#include <stdio.h>
#include <string.h>

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_figures(const gc_measurement *row)
{
    gc_json_integer("runs", row->runs);
    gc_json_number("seconds", row->seconds);
    gc_json_number("shortest_seconds", row->shortest);
    gc_json_number("spread_seconds", row->spread);
    if (row->kernel_seconds > 0)
        gc_json_number("kernel_seconds", row->kernel_seconds);
    if (row->compile_seconds > 0)
        gc_json_number("compile_seconds", row->compile_seconds);
    gc_json_number("pixels_per_second", row->values_a_second);
    gc_json_number("flops", row->flops);
}

void gc_bench_json(const gc_bench_result *result)
{
    const gc_measurement *row = result->row;
    gc_json_open(NULL, '{');
    if (result->width > 0) {
        gc_json_integer("width", result->width);
        gc_json_integer("height", result->height);
    }
    gc_json_string("filter", result->filter);
    if (result->kind != NULL)
        gc_json_string("samples", result->kind->name);
    gc_json_string("name", row->name);
    gc_json_string("implementation", row->implementation);
    gc_json_string("verdict", gc_verdict_name(row->verdict));
    if (result->reason[0] != '\0')
        gc_json_string("reason", result->reason);
    if (row->runs > 0)
        json_figures(row);
    gc_json_close('}');
}

/* ---- Values with commas ---------------------------------------------------------------------- */

void gc_bench_csv_heads(void)
{
    puts("width,height,filter,samples,name,implementation,verdict,runs,seconds,shortest_seconds,"
         "spread_seconds,kernel_seconds,pixels_per_second,flops,reason");
}

/* A quotation mark in a text is doubled. */
static void csv_text(const char *text)
{
    putchar('"');
    for (; *text != '\0'; text++)
        printf(*text == '"' ? "\"\"" : "%c", *text);
    putchar('"');
}

static void csv_number(double value)
{
    if (value > 0)
        printf("%.9g", value);
    putchar(',');
}

void gc_bench_csv(const gc_bench_result *result)
{
    const gc_measurement *row = result->row;
    if (result->width > 0)
        printf("%d,%d", result->width, result->height);
    else
        putchar(',');
    printf(",%s,%s,%s,%s,%s,%d,", result->filter, result->kind != NULL ? result->kind->name : "",
           row->name, row->implementation, gc_verdict_name(row->verdict), row->runs);
    csv_number(row->seconds);
    csv_number(row->shortest);
    csv_number(row->spread);
    csv_number(row->kernel_seconds);
    csv_number(row->values_a_second);
    csv_number(row->flops);
    if (result->reason[0] != '\0')
        csv_text(result->reason);
    putchar('\n');
}

/* ---- Markdown -------------------------------------------------------------------------------- */

void gc_bench_markdown_heads(const gc_column *columns, int count)
{
    for (int i = 0; i < count; i++)
        if (!columns[i].hidden)
            printf("| %s ", columns[i].head);
    puts("| verdict |");
    for (int i = 0; i < count; i++)
        if (!columns[i].hidden)
            fputs(columns[i].left ? "|:--" : "|--:", stdout);
    puts("|:--|");
}

void gc_bench_markdown_row(const gc_column *columns, int count, const char *verdict,
                           const char *reason)
{
    for (int i = 0; i < count; i++)
        if (!columns[i].hidden)
            printf("| %s ", columns[i].cell);
    printf("| %s%s%s |\n", verdict, reason[0] != '\0' ? ": " : "", reason);
}
