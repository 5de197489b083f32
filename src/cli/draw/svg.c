#include "cli/draw/svg.h"

#include "cli/draw/chart.h"
#include "cli/draw/html.h"

#include <stdlib.h>
#include <string.h>

/* Colours of series. In each theme any two differ for readers with protanopia, deuteranopia and
 * tritanopia too (by 10 in OKLab, after the simulation of Machado et al. 2009), and each has a
 * contrast of 3 to 1 and more to the page. */
static const struct {
    const char *property, *light, *dark;
} colours[] = {
    {"--s0", "#0072b2", "#5ab4f0"},        {"--s1", "#b98404", "#f4f043"},
    {"--s2", "#760601", "#f63915"},        {"--s3", "#239d8c", "#1ffddf"},
    {"--s4", "#e939fc", "#da388e"},        {"--s5", "#022d84", "#6670f3"},
    {"--s6", "#666707", "#e5b06b"},        {"--s7", "#1606de", "#e181a7"},
    {"--ink", GC_COLOUR_INK, "#f0efec"},   {"--quiet", GC_COLOUR_QUIET, "#b3b1ab"},
    {"--line", GC_COLOUR_LINE, "#3b3a38"}, {"--paper", GC_COLOUR_PAPER, "#161615"},
};
enum { COLOUR_COUNT = sizeof colours / sizeof colours[0] };

const char *gc_colour(int index)
{
    return index < 0 ? GC_COLOUR_INK : colours[index % GC_CHART_COLOURS].light;
}

void gc_colours_print(FILE *page, int dark)
{
    for (int i = 0; i < COLOUR_COUNT; i++)
        fprintf(page, "%s:%s;", colours[i].property, dark ? colours[i].dark : colours[i].light);
}

static const char *property_of(long red, long green, long blue)
{
    for (int i = 0; i < COLOUR_COUNT; i++)
        if (strtol(colours[i].light + 1, NULL, 16) == (red << 16 | green << 8 | blue))
            return colours[i].property;
    return NULL;
}

/* "rgb(  0, 114, 178)" becomes "var(--s0)", and another colour "#rrggbb". Returns how much of the
 * text is done. */
static size_t print_colour(FILE *page, const char *text)
{
    long parts[3];
    char *end = (char *)text + strlen("rgb(");
    for (int i = 0; i < 3; i++) {
        parts[i] = strtol(end, &end, 10);
        if (*end++ != (i < 2 ? ',' : ')'))
            return 0;
    }
    const char *property = property_of(parts[0], parts[1], parts[2]);
    if (property != NULL)
        fprintf(page, "var(%s)", property);
    else
        fprintf(page, "#%02lx%02lx%02lx", parts[0] & 255, parts[1] & 255, parts[2] & 255);
    return (size_t)(end - text);
}

static const char points_begin[] = "' points = '";

/* The corners of a cell of a map. Maps have hundreds of cells, so numbers get four digits: a tenth
 * of a pixel. Returns how much of the text is done. */
static size_t print_points(FILE *page, const char *text)
{
    const char *place = text + strlen(points_begin), *between = "";
    fputs("' points='", page);
    for (char *end; *place != '\''; place = end) {
        double number = strtod(place, &end);
        if (end == place)
            break;
        fprintf(page, "%s%.4g", between, number);
        between = *end == ',' ? "," : " ";
        end += strspn(end, ", ");
    }
    return (size_t)(place - text);
}

/* What gnuplot writes, and what the page needs instead; %s is the prefix of identifiers. What SVG
 * takes by default goes, and the font: the page has its own. */
static const struct {
    const char *from, *to;
} replacements[] = {
    {"xlink:href='#", "href='#%s"},
    {"xlink:href=\"#", "href=\"#%s"},
    {"id='", "id='%s"},
    {"id=\"", "id=\"%s"},
    {"url(#", "url(#%s"},
    {"\"black\"", "\"var(--ink)\""},
    {"'black'", "'var(--ink)'"},
    {"\"gray\"", "\"var(--line)\""},
    {"xmlns:xlink=\"http://www.w3.org/1999/xlink\"", ""},
    {" stroke-width=\"1.00\" stroke-linecap=\"butt\" stroke-linejoin=\"miter\"", ""},
    {" font-family=\"sans-serif\"", ""},
    {"<polygon fill = '", "<polygon fill='"},
    {"\t", ""},
};
enum { REPLACEMENT_COUNT = sizeof replacements / sizeof replacements[0] };

/* Writes what takes the place of the beginning of `text`. Returns how much of it is done. */
static size_t print_replacement(FILE *page, const char *text, const char *prefix)
{
    if (strncmp(text, "rgb(", 4) == 0)
        return print_colour(page, text);
    if (strncmp(text, points_begin, strlen(points_begin)) == 0)
        return print_points(page, text);
    for (int i = 0; i < REPLACEMENT_COUNT; i++) {
        size_t length = strlen(replacements[i].from);
        if (strncmp(text, replacements[i].from, length) != 0)
            continue;
        const char *to = replacements[i].to, *place = strstr(to, "%s");
        fwrite(to, 1, place != NULL ? (size_t)(place - to) : strlen(to), page);
        if (place != NULL)
            fputs(prefix, page);
        return length;
    }
    return 0;
}

/* Behind the description of the program that drew the image. */
static const char *behind_head(const char *text)
{
    const char *end = strstr(text, "</desc>");
    return end != NULL ? end + strlen("</desc>") : text;
}

void gc_svg_print(FILE *page, const char *image, const char *prefix, const char *title)
{
    const char *text = strstr(image, "<svg");
    const char *head_end = text != NULL ? strchr(text, '>') : NULL;
    if (head_end == NULL)
        return;
    fputs("<svg role=\"img\"", page);
    for (text += strlen("<svg"); text < head_end;) {
        size_t done = print_replacement(page, text, prefix);
        if (done == 0)
            putc(*text, page);
        text += done > 0 ? done : 1;
    }
    fputs("><title>", page);
    gc_html_text(page, title);
    fputs("</title>", page);
    for (text = behind_head(head_end + 1); *text != '\0';) {
        size_t done = print_replacement(page, text, prefix);
        if (done == 0)
            putc(*text, page);
        text += done > 0 ? done : 1;
    }
}
