#include "cli/options/words.h"
#include "texts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { COMMANDS_MAX = 16, OFFERS_BYTES = 2048 };

/* ---- What the tables say --------------------------------------------------------------------- */

/* Appends a word behind a blank. */
static void add(char offers[OFFERS_BYTES], const char *word)
{
    size_t used = strlen(offers);
    snprintf(offers + used, OFFERS_BYTES - used, "%s%s", used > 0 ? " " : "", word);
}

/* Appends what a word of gc_option.offers stands for. */
static void expand(char offers[OFFERS_BYTES], const char *word)
{
    const char *formats[GC_FORMAT_WORDS];
    size_t count = strcmp(word, "FORMATS") == 0 ? gc_format_words(formats) : 0;
    for (size_t i = 0; i < count; i++)
        add(offers, formats[i]);
    for (size_t i = 0; strcmp(word, "FILTERS") == 0 && i < gconv_builtin_filter_count(); i++)
        add(offers, gconv_builtin_filter_at(i)->name);
    for (int i = 0; strcmp(word, "IMPLEMENTATIONS") == 0 && i < gconv_implementation_count(); i++)
        add(offers, gconv_implementation_name(i));
    if (count == 0 && strcmp(word, "FILTERS") != 0 && strcmp(word, "IMPLEMENTATIONS") != 0)
        add(offers, word);
}

static void expand_all(char offers[OFFERS_BYTES], const char *text)
{
    char *copy = strdup(text), *rest = NULL;
    offers[0] = '\0';
    for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest))
        expand(offers, word);
    free(copy);
}

/* What may follow an option in a command: words, behind LIST or FILE if these are not all; FILE,
 * DIRECTORY or NONE. "" if it takes no value. */
static void find_offers(const gc_option *option, gc_command command, char offers[OFFERS_BYTES])
{
    const char *text = gc_option_meaning(option, command).offers;
    gc_value_kind kind = option->value.kind;
    offers[0] = '\0';
    if (option->argument == NULL)
        return;
    if (text != NULL)
        expand_all(offers, text);
    else if (kind == GC_VALUE_FILE || kind == GC_VALUE_DIRECTORY)
        add(offers, kind == GC_VALUE_FILE ? "FILE" : "DIRECTORY");
    for (const gc_word *w = option->value.words; text == NULL && w != NULL && w->name != NULL; w++)
        add(offers, w->name);
    if (offers[0] == '\0')
        add(offers, "NONE");
}

/* What a filter may be: FILE, then words. */
static void find_filters(char offers[OFFERS_BYTES])
{
    int i = 0;
    while (strcmp(gc_option_at(i)->name, "kernel") != 0)
        i++;
    find_offers(gc_option_at(i), GC_COMMAND_FILTER, offers);
}

/* Whether offers begin with this word. */
static bool is(const char *offers, const char *word)
{
    size_t length = strlen(word);
    return strncmp(offers, word, length) == 0 && (offers[length] == ' ' || offers[length] == '\0');
}

static const char *behind_first(const char *offers)
{
    return offers + strcspn(offers, " ") + (strchr(offers, ' ') != NULL);
}

static bool takes(const gc_program_of_texts *program, const gc_option *option)
{
    return (option->marks & program->lacks) == 0 &&
           (option->commands == 0 || (option->commands & program->commands) != 0);
}

/* Commands in which an option has the same offers. */
typedef struct group {
    unsigned commands; /* all bits: every command */
    char offers[OFFERS_BYTES];
} group;

/* Returns how many groups an option has: 0 if the program does not take it. */
static int find_groups(const gc_program_of_texts *program, const gc_option *option,
                       group groups[COMMANDS_MAX])
{
    int count = 0;
    for (int i = 0; takes(program, option) && i < gc_command_count(); i++) {
        gc_command command = gc_command_at(i)->command;
        char offers[OFFERS_BYTES];
        int at = 0;
        if ((command & program->commands) == 0 || !gc_option_belongs(option, command))
            continue;
        find_offers(option, command, offers);
        if ((option->marks & GC_OPTION_OFFERS_ALONE) != 0 && program->lacks != 0)
            strcpy(offers, "NONE");
        while (at < count && strcmp(groups[at].offers, offers) != 0)
            at++;
        if (at == count) {
            groups[count].commands = 0;
            strcpy(groups[count++].offers, offers);
        }
        groups[at].commands |= option->commands == 0 ? ~0U : command;
    }
    return count;
}

/* The names of commands with blanks between. */
static void write_commands(FILE *out, const gc_program_of_texts *program, unsigned commands)
{
    const char *blank = "";
    for (int i = 0; i < gc_command_count(); i++) {
        const gc_command_row *row = gc_command_at(i);
        if ((row->command & commands & program->commands) == 0)
            continue;
        fprintf(out, "%s%s", blank, row->name);
        blank = " ";
    }
}

/* The commands whose operands are `kind`. */
static void write_takers(FILE *out, const gc_program_of_texts *program, gc_operands kind)
{
    unsigned commands = 0;
    for (int i = 0; i < gc_command_count(); i++)
        commands |= gc_command_at(i)->operands == kind ? gc_command_at(i)->command : 0;
    write_commands(out, program, commands);
}

/* Writes what stands in a help text before the first ": ", ';' or '('; a backslash before each
 * character that is among `escaped`, and `quote` for "'". */
static void write_short(FILE *out, const char *help, const char *escaped, const char *quote)
{
    const char *colon = strstr(help, ": ");
    size_t length = strcspn(help, ";(");
    if (colon != NULL && (size_t)(colon - help) < length)
        length = (size_t)(colon - help);
    while (length > 0 && help[length - 1] == ' ')
        length--;
    for (size_t i = 0; i < length; i++)
        if (help[i] == '\'')
            fputs(quote, out);
        else
            fprintf(out, "%s%c", strchr(escaped, help[i]) != NULL ? "\\" : "", help[i]);
}

/* ---- bash ------------------------------------------------------------------------------------ */

/* The long options of a command; those of all for GC_COMMAND_NONE. */
static void write_options(FILE *out, const gc_program_of_texts *program, gc_command command)
{
    for (int i = 0; i < gc_option_count(); i++) {
        const gc_option *option = gc_option_at(i);
        if (takes(program, option) &&
            (command == GC_COMMAND_NONE || gc_option_belongs(option, command)))
            fprintf(out, " --%s", option->name);
    }
}

/* A pattern for OPTION:COMMAND of `case`. */
static void write_pattern(FILE *out, const char *option, const char *command, const char **bar)
{
    fprintf(out, "%s%s:%s", *bar, option, command);
    *bar = " | ";
}

static void write_values(FILE *out, const gc_option *option, const group *own, bool first,
                         bool alone)
{
    char names[2][32] = {"", ""};
    const char *bar = "  ";
    snprintf(names[0], sizeof names[0], "--%s", option->name);
    if (option->letter != 0)
        snprintf(names[1], sizeof names[1], "-%c", option->letter);
    for (int i = 0; i < 2 && names[i][0] != '\0'; i++) {
        if (alone || first)
            write_pattern(out, names[i], alone ? "*" : "", &bar);
        for (int j = 0; !alone && j < gc_command_count(); j++)
            if ((gc_command_at(j)->command & own->commands) != 0)
                write_pattern(out, names[i], gc_command_at(j)->name, &bar);
    }
    fprintf(out, ") echo '%s' ;;\n", own->offers);
}

void gc_texts_bash(FILE *out, const gc_program_of_texts *program)
{
    group groups[COMMANDS_MAX];
    fputs("_gconv_commands() { echo '", out);
    write_commands(out, program, program->commands);
    fputs("'; }\n_gconv_takers_of_files() { echo '", out);
    write_takers(out, program, GC_OPERANDS_FILES);
    fputs("'; }\n\n"
          "# Prints the long options of a command, or of all commands if there is none yet.\n"
          "# Argument: COMMAND or nothing\n"
          "_gconv_options() {\n  case $1 in\n",
          out);
    for (int i = 0; i < gc_command_count(); i++) {
        if ((gc_command_at(i)->command & program->commands) == 0)
            continue;
        fprintf(out, "  %s) echo", gc_command_at(i)->name);
        write_options(out, program, gc_command_at(i)->command);
        fputs(" ;;\n", out);
    }
    fputs("  *) echo", out);
    write_options(out, program, GC_COMMAND_NONE);
    fputs(" ;;\n  esac\n}\n\n", out);
    fputs(
        "# Prints what may follow an option: words to choose from, FILE or LIST before them, FILE\n"
        "# or DIRECTORY alone, or NONE if the value cannot be completed. Prints nothing if the\n"
        "# option takes no value. Arguments: OPTION COMMAND\n"
        "_gconv_values() {\n  case $1:$2 in\n",
        out);
    for (int i = 0; i < gc_option_count(); i++) {
        int count = find_groups(program, gc_option_at(i), groups);
        for (int j = 0; j < count && groups[j].offers[0] != '\0'; j++)
            write_values(out, gc_option_at(i), &groups[j], j == 0, count == 1);
    }
    fputs("  esac\n}\n", out);
}

/* ---- zsh ------------------------------------------------------------------------------------- */

/* A quote inside of quotes. */
static const char zsh_quote[] = "'\\''";

/* A list of the words among `offers` that are generators of filters, or of the others. */
static void write_filters(FILE *out, const char *name, const char *offers, bool generators)
{
    fprintf(out, "%s", name);
    for (const char *word = behind_first(offers); *word != '\0'; word = behind_first(word)) {
        int length = (int)strcspn(word, " ");
        if ((word[length - 1] == ':') == generators)
            fprintf(out, " %.*s", length, word);
    }
}

static void escape_colons(FILE *out, const char *text)
{
    for (; *text != '\0'; text++)
        fprintf(out, "%s%c", *text == ':' ? "\\" : "", *text);
}

/* What _arguments does for a value. */
static void write_action(FILE *out, const char *offers)
{
    bool listed = is(offers, "LIST"), file = is(offers, "FILE"), named = *behind_first(offers) != 0;
    if (file)
        fputs(named ? "->filter" : "_files", out);
    else if (is(offers, "DIRECTORY"))
        fputs("_files -/", out);
    else if (!is(offers, "NONE")) {
        fputs(listed ? "_sequence compadd - " : "(", out);
        escape_colons(out, listed ? behind_first(offers) : offers);
        fputs(listed ? "" : ")", out);
    }
}

/* An element of the list that the template has. */
static void write_spec(FILE *out, const gc_program_of_texts *program, const gc_option *option,
                       const group *own)
{
    const char *value = option->argument != NULL ? "=" : "";
    fputs("  '", out);
    if (own->commands == ~0U)
        fputs("all", out);
    else
        write_commands(out, program, own->commands);
    if (option->letter == 0)
        fprintf(out, "|--%s%s[", option->name, value);
    else {
        if ((option->marks & GC_OPTION_REPEATS) != 0)
            fputs("|*", out);
        else
            fprintf(out, "|(-%c --%s)", option->letter, option->name);
        fprintf(out, "'{-%c%s,--%s%s}'[", option->letter, value[0] != '\0' ? "+" : "", option->name,
                value);
    }
    write_short(out, option->help, "[]", zsh_quote);
    fputc(']', out);
    if (option->argument != NULL) {
        fprintf(out, ":%s:", option->name);
        write_action(out, own->offers);
    }
    fputs("'\n", out);
}

void gc_texts_zsh(FILE *out, const gc_program_of_texts *program)
{
    group groups[COMMANDS_MAX];
    char filters[OFFERS_BYTES];
    find_filters(filters);
    fputs("commands=(\n", out);
    for (int i = 0; i < gc_command_count(); i++) {
        const gc_command_row *row = gc_command_at(i);
        if ((row->command & program->commands) == 0)
            continue;
        fprintf(out, "  '%s:", row->name);
        write_short(out, row->summary, "", zsh_quote);
        fputs("'\n", out);
    }
    fputs(")\ntakers_of_files='", out);
    write_takers(out, program, GC_OPERANDS_FILES);
    write_filters(out, "'\nfilters=(", filters, false);
    write_filters(out, " )\ngenerators=(", filters, true);
    fputs(" )\n# For each option: the commands that take it, a bar, and its specification for "
          "_arguments.\ntable=(\n",
          out);
    for (int i = 0; i < gc_option_count(); i++) {
        int count = find_groups(program, gc_option_at(i), groups);
        for (int j = 0; j < count; j++)
            write_spec(out, program, gc_option_at(i), &groups[j]);
    }
    fputs(")\n", out);
}

/* ---- fish ------------------------------------------------------------------------------------ */

/* The description of a command or option, with a capital. */
static void describe(FILE *out, const char *help)
{
    fprintf(out, " -d '%c", toupper((unsigned char)help[0]));
    write_short(out, help + 1, "", "\\'");
    fputs("'\n", out);
}

static void write_complete(FILE *out, const gc_program_of_texts *program, const gc_option *option,
                           const group *own)
{
    const char *offers = own->offers;
    fprintf(out, "complete -c %s", program->name);
    if (own->commands != ~0U) {
        fputs(" -n '__gconv_for ", out);
        write_commands(out, program, own->commands);
        fputc('\'', out);
    }
    if (option->letter != 0)
        fprintf(out, " -s %c", option->letter);
    fprintf(out, " -l %s", option->name);
    if (is(offers, "FILE"))
        fputs(*behind_first(offers) != '\0' ? " -x -a '(__gconv_filters)'" : " -r -F", out);
    else if (is(offers, "DIRECTORY"))
        fputs(" -x -a '(__fish_complete_directories)'", out);
    else if (is(offers, "NONE"))
        fputs(" -x", out);
    else if (offers[0] != '\0')
        fprintf(out, " -x -a '%s'", is(offers, "LIST") ? behind_first(offers) : offers);
    describe(out, option->help);
}

void gc_texts_fish(FILE *out, const gc_program_of_texts *program)
{
    group groups[COMMANDS_MAX];
    char filters[OFFERS_BYTES];
    find_filters(filters);
    fputs("set -g __gconv_commands ", out);
    write_commands(out, program, program->commands);
    fputs("\nset -g __gconv_takers_of_files ", out);
    write_takers(out, program, GC_OPERANDS_FILES);
    write_filters(out, "\nset -g __gconv_builtin_filters", filters, false);
    write_filters(out, "\nset -g __gconv_generators", filters, true);
    fputs("\n\n", out);
    for (int i = 0; i < gc_command_count(); i++) {
        const gc_command_row *row = gc_command_at(i);
        if ((row->command & program->commands) == 0)
            continue;
        fprintf(out, "complete -c %s -n __gconv_no_command -a %s", program->name, row->name);
        describe(out, row->summary);
    }
    fputc('\n', out);
    for (int i = 0; i < gc_option_count(); i++) {
        int count = find_groups(program, gc_option_at(i), groups);
        for (int j = 0; j < count; j++)
            write_complete(out, program, gc_option_at(i), &groups[j]);
    }
}
