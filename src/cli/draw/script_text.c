#include "cli/draw/script.h"
#include "cli/draw/svg.h"

void gc_script_text(FILE *script, const char *text)
{
    putc('\'', script);
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            putc('\'', script); /* doubled */
        putc((unsigned char)*text < ' ' ? ' ' : *text, script);
    }
    putc('\'', script);
}

void gc_script_label(FILE *script, const char *what, const char *text)
{
    fprintf(script, "set %s ", what);
    gc_script_text(script, text);
    fputs(" textcolor rgb '" GC_COLOUR_INK "'\n", script);
}
