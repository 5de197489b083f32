#include "cli/options/help.h"

#include "cli/options/table.h"

#include <string.h>

static void print_synopsis(FILE *stream, const gc_command_row *row, const char *indent)
{
    for (int i = 0; i < 4 && row->synopsis[i] != NULL; i++)
        fprintf(stream, "%s%s\n", indent, row->synopsis[i]);
}

void gc_help_usage(FILE *stream)
{
    fprintf(stream, "usage:\n");
    for (int i = 0; i < gc_command_count(); i++)
        print_synopsis(stream, gc_command_at(i), "  ");
    fprintf(stream, "Try 'gconv help' for more.\n");
}

void gc_help_program(FILE *stream)
{
    fprintf(stream, "gconv %s: convolves images and finds edges, on the CPU and on NVIDIA GPUs\n\n",
            gconv_version());
    fprintf(stream, "Commands:\n");
    for (int i = 0; i < gc_command_count(); i++)
        fprintf(stream, "  %-9s %s\n", gc_command_at(i)->name, gc_command_at(i)->summary);
    fprintf(stream, "\nExamples:\n"
                    "  gconv edges photo.jpg edges.png --threshold 5\n"
                    "  gconv filter --kernel gauss5 photo.png smooth.png\n"
                    "  gconv filter --kernel gaussian:2 -o smooth/ photos/\n"
                    "  gconv compare photo.jpg\n"
                    "\n'gconv help COMMAND' lists a command's options.\n"
                    "IN and OUT may be '-'; without both, standard input goes to standard output.\n"
                    "Manual: gconv(1); filter files: gconv-filter(5).\n");
}

/* One option: "  -k, --kernel K       help". The lines of its help are aligned. */
static void print_option(FILE *stream, const gc_option *option, const char *help)
{
    enum { COLUMN = 24, WIDTH = 80 };
    char left[64];
    snprintf(left, sizeof left, "%c%c%c --%s%s%s", option->letter != 0 ? '-' : ' ',
             option->letter != 0 ? option->letter : ' ', option->letter != 0 ? ',' : ' ',
             option->name, option->argument != NULL ? " " : "",
             option->argument != NULL ? option->argument : "");
    fprintf(stream, "  %-*s", COLUMN, left);
    int column = COLUMN + 2;
    for (const char *word = help; *word != '\0';) {
        int length = (int)strcspn(word, " ");
        if (column + 1 + length > WIDTH) {
            fprintf(stream, "\n  %*s", COLUMN, "");
            column = COLUMN + 2;
        }
        fprintf(stream, "%s%.*s", column > COLUMN + 2 ? " " : "", length, word);
        column += length + (column > COLUMN + 2);
        word += length + (word[length] == ' ');
    }
    fputc('\n', stream);
}

void gc_help_command(FILE *stream, gc_command command)
{
    const gc_command_row *row = gc_command_of(command);
    print_synopsis(stream, row, "");
    fprintf(stream, "\n%c%s.\n\nOptions:\n", row->summary[0] - 'a' + 'A', row->summary + 1);
    for (int i = 0; i < gc_option_count(); i++) {
        const gc_option *option = gc_option_at(i);
        if (gc_option_belongs(option, command))
            print_option(stream, option, gc_option_meaning(option, command).help);
    }
}
