#include "cli/draw/html.h"

#include "base/status.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static void print_escaped(FILE *page, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '&':
            fputs("&amp;", page);
            break;
        case '<':
            fputs("&lt;", page);
            break;
        case '>':
            fputs("&gt;", page);
            break;
        case '"':
            fputs("&quot;", page);
            break;
        case '\'':
            fputs("&#39;", page);
            break;
        default:
            putc(*text, page);
        }
    }
}

void gc_html_text(FILE *page, const char *text)
{
    size_t size = 4 * strlen(text) + 1; /* a byte becomes \xNN at most */
    char *plain = malloc(size);
    if (plain != NULL)
        print_escaped(page, gc_escape(text, plain, size));
    free(plain);
}

void gc_html_element(FILE *page, const char *tag, const char *text)
{
    fprintf(page, "<%s>", tag);
    gc_html_text(page, text);
    fprintf(page, "</%.*s>", (int)strcspn(tag, " "), tag);
}

/* What RFC 3986 allows as it is in a path. */
static int is_plain(unsigned char byte)
{
    return byte < 0x80 && (isalnum(byte) || strchr("-._~,:;/", byte) != NULL);
}

void gc_html_download(FILE *page, const char *name, const char *type, const char *text)
{
    fprintf(page, "<a download=\"%s\" href=\"data:%s,", name, type);
    for (; *text != '\0'; text++) {
        unsigned char byte = (unsigned char)*text;
        if (is_plain(byte))
            putc(byte, page);
        else
            fprintf(page, "%%%02X", byte);
    }
    fprintf(page, "\">%s</a>", name);
}
