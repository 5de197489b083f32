#include "lab/bench/formats.h"

#include <stdio.h>

/* ---- Values with commas ---------------------------------------------------------------------- */

void gc_bench_csv_heads(void)
{
    puts("width,height,filter,samples,name,implementation,verdict,runs,seconds,shortest_seconds,"
         "spread_seconds,kernel_seconds,border_seconds,convert_seconds,transfer_seconds,"
         "pixels_per_second,flops,"
         "reason,change_percent");
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

void gc_bench_csv(const gc_point *point)
{
    if (point->width > 0)
        printf("%d,%d", point->width, point->height);
    else
        putchar(',');
    printf(",%s,%s,%s,%s,%s,%d,", point->filter, point->samples, point->name, point->implementation,
           gc_verdict_name(point->verdict), point->runs);
    csv_number(point->seconds);
    csv_number(point->shortest);
    csv_number(gc_point_spread(point));
    csv_number(point->kernel_seconds);
    csv_number(point->border_seconds);
    csv_number(point->convert_seconds);
    csv_number(point->transfer_seconds);
    csv_number(point->values_a_second);
    csv_number(point->flops);
    if (point->reason.message[0] != '\0')
        csv_text(point->reason.message);
    putchar(',');
    if (point->has_baseline)
        printf("%.4g", point->change);
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
