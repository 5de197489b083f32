#include "texts/texts.h"

#include <ctype.h>
#include <string.h>

/* ---- What the manual says beyond the table --------------------------------------------------- */

/* The text under "@--NAME"; NULL where there is none. It ends with the next such line. */
static const char *text_on(const char *more, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = strstr(more, "@--"); at != NULL; at = strstr(at + 1, "@--"))
        if (strncmp(at + 3, name, length) == 0 && at[3 + length] == '\n')
            return at + 3 + length + 1;
    return NULL;
}

static bool is_option(const char *name, size_t length)
{
    for (int i = 0; i < gc_option_count(); i++)
        if (strlen(gc_option_at(i)->name) == length &&
            strncmp(gc_option_at(i)->name, name, length) == 0)
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
        if (strlen(w->name) == length && strncmp(w->name, word, length) == 0)
            return true;
    for (; offers != NULL && *offers != '\0'; offers += strcspn(offers, " ") + 1) {
        if (strcspn(offers, " ") == length && strncmp(offers, word, length) == 0)
            return true;
        if (offers[strcspn(offers, " ")] == '\0')
            break;
    }
    return false;
}

/* Options and words of the value are bold, its name is italic. */
static char font_of(const gc_option *option, const char *offers, const char *word, size_t length)
{
    if (option->argument != NULL && strlen(option->argument) == length &&
        strncmp(option->argument, word, length) == 0)
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
    if (text != NULL && option->meanings != NULL)
        fputs(".br\n", out);
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
