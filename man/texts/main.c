/* Writes a text from its template: the completion of a shell, or gconv(1). Runs when gconv is built
 * and is not installed.
 *
 * Usage: gconv_texts bash|zsh|fish|manual PROGRAM TEMPLATE OUTPUT
 *
 * In the template of a shell, a line "@data@" stands for what the tables say, and "@program@" for
 * PROGRAM. Names with _gconv_ get PROGRAM in the place of gconv. In the template of the manual, a
 * line "@options@" begins the texts that gc_texts_manual takes, and the next section ends them. */
#include "texts.h"

#include <stdlib.h>
#include <string.h>

static const gc_program_of_texts programs[] = {
    {"gconv", ~0U, 0},
    {"gconv-mpi", GC_COMMANDS_OF_IMAGES | GC_COMMAND_HELP, GC_OPTION_ALONE},
};

static const struct {
    const char *kind;
    gc_texts_writer *write;
} shells[] = {{"bash", gc_texts_bash}, {"zsh", gc_texts_zsh}, {"fish", gc_texts_fish}};

static void fail(const char *what, const char *name)
{
    fprintf(stderr, "gconv_texts: %s: %s\n", name, what);
    exit(1);
}

static void read_file(const char *name, char **text)
{
    size_t size = 0;
    FILE *in = fopen(name, "r");
    if (in == NULL || getdelim(text, &size, '\0', in) <= 0)
        fail("cannot read", name);
    fclose(in);
}

/* Writes `text` with `by` in the place of every `word`. */
static void replace(FILE *out, const char *text, const char *word, const char *by)
{
    const char *next;
    for (; (next = strstr(text, word)) != NULL; text = next + strlen(word))
        fprintf(out, "%.*s%s", (int)(next - text), text, by);
    fputs(text, out);
}

/* The text of a template with the data in it, for gconv. */
static char *fill(char *template, gc_texts_writer *write, const gc_program_of_texts *program)
{
    static const char mark[] = "@data@\n";
    char *at = strstr(template, mark), *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL || at == NULL)
        fail("no line @data@", "template");
    *at = '\0';
    replace(out, template, "@program@", program->name);
    write(out, program);
    replace(out, at + strlen(mark), "@program@", program->name);
    fclose(out);
    return text;
}

static void write_shell(FILE *out, char *template, gc_texts_writer *write,
                        const gc_program_of_texts *program)
{
    char *text = fill(template, write, program);
    replace(out, text, "_gconv_", strcmp(program->name, "gconv") == 0 ? "_gconv_" : "_gconv_mpi_");
    free(text);
}

static void write_manual(FILE *out, char *template, const char *name)
{
    static const char mark[] = "@options@\n", end[] = "\n.SH ";
    char *at = strstr(template, mark), *rest = at != NULL ? strstr(at, end) : NULL;
    if (rest == NULL)
        fail("no line @options@ before a section", name);
    *at = '\0';
    rest[1] = '\0';
    fputs(template, out);
    const char *stranger = gc_texts_manual(out, at + strlen(mark));
    if (stranger != NULL)
        fail("names no option", stranger);
    fprintf(out, ".%s", rest + 2);
}

int main(int argc, char **argv)
{
    if (argc != 5)
        fail("usage: gconv_texts KIND PROGRAM TEMPLATE OUTPUT", "arguments");
    char *template = NULL;
    read_file(argv[3], &template);
    const gc_program_of_texts *program = &programs[strcmp(argv[2], programs[1].name) == 0];
    FILE *out = fopen(argv[4], "w");
    if (out == NULL)
        fail("cannot write", argv[4]);
    if (strcmp(argv[1], "manual") == 0)
        write_manual(out, template, argv[3]);
    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++)
        if (strcmp(argv[1], shells[i].kind) == 0)
            write_shell(out, template, shells[i].write, program);
    if (ferror(out) != 0 || fclose(out) != 0)
        fail("cannot write", argv[4]);
    free(template);
    return 0;
}
