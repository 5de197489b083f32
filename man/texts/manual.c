#include "texts.h"

#include <ctype.h>
#include <float.h>
#include <string.h>

/* ---- What the manual says beyond the table --------------------------------------------------- */

/* The text under "@--NAME"; NULL if there is none. It ends with the next such line. */
static const char *text_on(const char *more, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = strstr(more, "@--"); at != NULL; at = strstr(at + 1, "@--"))
        if (strncmp(at + 3, name, length) == 0 && at[3 + length] == '\n')
            return at + 3 + length + 1;
    return NULL;
}

static bool is_same(const char *word, size_t length, const char *name)
{
    return strlen(name) == length && strncmp(word, name, length) == 0;
}

static bool is_option(const char *name, size_t length)
{
    for (int i = 0; i < gc_option_count(); i++)
        if (is_same(name, length, gc_option_at(i)->name))
            return true;
    return false;
}

/* ---- Help as a sentence ---------------------------------------------------------------------- */

/* Writes `length` bytes; roff would make a hyphen of "-", which nobody can copy. */
static void write_plain(FILE *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        fprintf(out, "%s%c", text[i] == '-' ? "\\" : "", text[i]);
}

/* Whether the value of an option may be this word. */
static bool is_word_of(const gc_option *option, const char *offers, const char *word, size_t length)
{
    for (const gc_word *w = option->value.words; w != NULL && w->name != NULL; w++)
        if (is_same(word, length, w->name))
            return true;
    for (const char *at = offers; at != NULL && *at != '\0'; at += strspn(at, " ")) {
        size_t own = strcspn(at, " ");
        if (own == length && strncmp(at, word, length) == 0)
            return true;
        at += own;
    }
    return false;
}

/* Options and words of the value are bold, its name is italic. */
static char font_of(const gc_option *option, const char *offers, const char *word, size_t length)
{
    if (option->argument != NULL && is_same(word, length, option->argument))
        return 'I';
    bool bold = (length > 1 && word[0] == '-') || is_word_of(option, offers, word, length);
    return bold ? 'B' : 'R';
}

static void write_sentence(FILE *out, const gc_option *option, gc_meaning meaning, bool capital)
{
    const char *at = meaning.help;
    while (*at != '\0') {
        size_t mark = strspn(at, " ([");
        size_t length = strcspn(at + mark, " ");
        while (length > 0 && strchr(",;:.)]", at[mark + length - 1]) != NULL)
            length--;
        fprintf(out, "%.*s", (int)mark, at);
        const char *word = at + mark;
        char font = font_of(option, meaning.offers, word, length);
        if (font != 'R')
            fprintf(out, "\\f%c", font);
        if (capital && at == meaning.help && font == 'R' && length > 0) {
            fputc(toupper((unsigned char)*word++), out);
            length--;
        }
        write_plain(out, word, length);
        fputs(font != 'R' ? "\\fR" : "", out);
        at = word + length;
        length = strcspn(at, " ");
        fprintf(out, "%.*s", (int)length, at);
        at += length;
    }
    fputs(at[-1] == '.' ? "\n" : ".\n", out);
}

/* Says which numbers are legal, unless the help does. */
static void write_range(FILE *out, const gc_option *option)
{
    const gc_value *value = &option->value;
    char range[80] = "";
    bool limited = value->high < DBL_MAX;
    if (value->kind == GC_VALUE_WHOLE)
        snprintf(range, sizeof range, "%.0f to %.0f", value->low, value->high);
    else if (value->kind == GC_VALUE_COUNT)
        snprintf(range, sizeof range, "at least 1");
    else if (value->kind == GC_VALUE_ABOVE && limited)
        snprintf(range, sizeof range, "above %g and at most %g", value->low, value->high);
    else if (value->kind == GC_VALUE_ABOVE)
        snprintf(range, sizeof range, "above %g", value->low);
    else if ((value->kind == GC_VALUE_NUMBER || value->kind == GC_VALUE_FRACTION) &&
             value->low > -DBL_MAX)
        snprintf(range, sizeof range, "%g or more", value->low);
    if (range[0] != '\0' && strstr(option->help, range) == NULL)
        fprintf(out, ".I %s\nis %s.\n", option->argument, range);
}

/* ---- Options --------------------------------------------------------------------------------- */

/* The names of commands with `between` them; "all" for every command. */
static void write_commands(FILE *out, unsigned commands)
{
    const char *between = "";
    if (commands == 0)
        fputs("all", out);
    for (int i = 0; i < gc_command_count(); i++) {
        if ((gc_command_at(i)->command & commands) == 0)
            continue;
        fprintf(out, "%s%s", between, gc_command_at(i)->name);
        between = ", ";
    }
}

static void write_tag(FILE *out, const gc_option *option)
{
    fputs(".TP\n.B ", out);
    if (option->letter != 0)
        fprintf(out, "\\-%c\\fR, \\fB", option->letter);
    fputs("\\-\\-", out);
    write_plain(out, option->name, strlen(option->name));
    if (option->argument != NULL)
        fprintf(out, " \\fI%s", option->argument);
    fputs("\n[", out);
    write_commands(out, option->commands);
    fputs("]\n", out);
}

static void write_implementations(FILE *out)
{
    for (int i = 0; i < gconv_implementation_count(); i++)
        fprintf(out, ".BR %s %s\n", gconv_implementation_name(i),
                i + 1 < gconv_implementation_count() ? "," : ".");
}

/* Writes what the manual has on an option, up to the next one. */
static void write_more(FILE *out, const char *text)
{
    static const char mark[] = "@implementations@\n";
    while (*text != '\0' && strncmp(text, "@--", 3) != 0) {
        size_t length = strcspn(text, "\n") + 1;
        if (strncmp(text, mark, strlen(mark)) == 0)
            write_implementations(out);
        else
            fprintf(out, "%.*s", (int)length, text);
        text += length;
    }
}

static void write_option(FILE *out, const gc_option *option, const char *more)
{
    const char *text = text_on(more, option->name);
    write_tag(out, option);
    write_sentence(out, option, gc_option_meaning(option, GC_COMMAND_NONE), true);
    for (const gc_meaning *m = option->meanings; m != NULL && m->commands != 0; m++) {
        fputs(".br\nIn \\fB", out);
        write_commands(out, m->commands);
        fputs("\\fR: ", out);
        write_sentence(out, option, *m, false);
    }
    if (option->meanings != NULL)
        fputs(".br\n", out);
    write_range(out, option);
    if (text != NULL)
        write_more(out, text);
}

const char *gc_texts_manual(FILE *out, char *more)
{
    for (char *at = strstr(more, "@--"); at != NULL; at = strstr(at + 1, "@--")) {
        size_t length = strcspn(at + 3, "\n");
        if (!is_option(at + 3, length)) {
            at[3 + length] = '\0';
            return at;
        }
    }
    for (int i = 0; i < gc_option_count(); i++) {
        if (gc_option_at(i)->section != NULL)
            fprintf(out, ".SS %s\n", gc_option_at(i)->section);
        write_option(out, gc_option_at(i), more);
    }
    return NULL;
}
