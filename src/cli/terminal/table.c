#include "cli/terminal/table.h"

#include "base/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

int gc_line_width(void)
{
    struct winsize size;
    long long columns;
    const char *text = getenv("COLUMNS");
    if (isatty(STDOUT_FILENO) == 1 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
        size.ws_col > 0)
        return size.ws_col;
    return text != NULL && gc_parse_integer(text, 1, 10000, &columns) ? (int)columns : 80;
}

static int used_width(const gc_column *columns, int count)
{
    int used = 0;
    for (int i = 0; i < count; i++)
        if (!columns[i].hidden)
            used += columns[i].width + (used > 0);
    return used;
}

/* The visible column with the highest rank; NULL if none may be hidden. */
static gc_column *least_needed(gc_column *columns, int count)
{
    gc_column *least = NULL;
    for (int i = 0; i < count; i++)
        if (!columns[i].hidden && columns[i].rank > (least != NULL ? least->rank : 0))
            least = &columns[i];
    return least;
}

void gc_table_fit(gc_column *columns, int count, int rest)
{
    int width = gc_line_width();
    gc_column *least;
    while (used_width(columns, count) + 2 + rest > width &&
           (least = least_needed(columns, count)) != NULL)
        least->hidden = true;
}

void gc_table_print(const gc_column *columns, int count, bool heads, const char *rest)
{
    const char *blank = "";
    for (int i = 0; i < count; i++) {
        const gc_column *c = &columns[i];
        if (c->hidden)
            continue;
        printf("%s%*s", blank, c->left ? -c->width : c->width, heads ? c->head : c->cell);
        blank = " ";
    }
    printf("  %s\n", rest);
}
