#include "cli/draw/html.h"
#include "cli/page/page.h"

#include <string.h>

enum { PRINTED = 5, ROWS = 6 };

/* Table 2 of De Smet 2011: the columns are compute capabilities. */
static const char *const capabilities[PRINTED] = {"1.0", "1.1", "1.2", "1.3", "2.x"};
static const struct {
    const char *what;
    int printed[PRINTED];
} rows[ROWS] = {
    {"registers of 32 bits of a multiprocessor", {8192, 8192, 16384, 16384, 32768}},
    {"registers of 32 bits of a core", {256, 256, 512, 512, 1024}},
    {"complex numbers in the registers of a multiprocessor", {4096, 4096, 8192, 8192, 16384}},
    {"complex numbers in the registers of a core", {128, 128, 256, 256, 512}},
    {"resident threads of a multiprocessor", {768, 768, 1024, 1024, 1536}},
    {"resident warps of a multiprocessor", {24, 24, 32, 32, 48}},
};

/* Values of one column; 0 where there is none. */
static void fill_gpu(const gc_facts *facts, int values[ROWS])
{
    int per_core = facts->cores > 0 ? facts->registers / facts->cores : 0;
    const int own[ROWS] = {
        facts->registers, per_core,       facts->registers / 2,
        per_core / 2,     facts->threads, facts->warp > 0 ? facts->threads / facts->warp : 0};
    memcpy(values, own, sizeof own);
}

/* Floats in the vector registers of a processor's core; 0 where they are not known. */
static int vector_floats(const char *instructions)
{
    static const struct {
        const char *name;
        int floats;
    } all[] = {{"avx512", 32 * 16}, {"avx2", 16 * 8}, {"neon", 32 * 4}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strncmp(instructions, all[i].name, strlen(all[i].name)) == 0)
            return all[i].floats;
    return 0;
}

static void print_value(FILE *page, int value)
{
    if (value > 0)
        fprintf(page, "<td class=\"n\">%d</td>", value);
    else
        fputs("<td class=\"n\">-</td>", page);
}

static void print_heads(FILE *page, const gc_facts *facts)
{
    fputs("<thead><tr><th>De Smet 2011, table 2</th>", page);
    for (int i = 0; i < PRINTED; i++)
        fprintf(page, "<th>compute capability %s, printed</th>", capabilities[i]);
    if (facts->registers > 0)
        gc_html_element(page, "th", facts->gpu);
    fputs("<th>this processor, vectors of ", page);
    gc_html_text(page, facts->instructions);
    fputs("</th></tr></thead>\n", page);
}

void gc_registers_print(FILE *page, const gc_study *study)
{
    const gc_facts *facts = &study->facts;
    int gpu[ROWS], floats = vector_floats(facts->instructions);
    const int cpu[ROWS] = {0, floats, 0, floats / 2, 0, 0};
    if (study->points->count == 0 || strcmp(study->points->at[0].preset, "fft-locality") != 0)
        return;
    fill_gpu(facts, gpu);
    fputs("<h2>Registers</h2>\n<div class=\"scroll\"><table>\n", page);
    print_heads(page, facts);
    fputs("<tbody>\n", page);
    for (int i = 0; i < ROWS; i++) {
        fprintf(page, "<tr><td>%s</td>", rows[i].what);
        for (int k = 0; k < PRINTED; k++)
            print_value(page, rows[i].printed[k]);
        if (facts->registers > 0)
            print_value(page, gpu[i]);
        print_value(page, cpu[i]);
        fputs("</tr>\n", page);
    }
    fputs("</tbody></table></div>\n"
          "<p>A transform that stays in the registers of a core has at most as many points as "
          "complex numbers fit there, and some registers hold other things.</p>\n",
          page);
}
