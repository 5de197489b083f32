#include "cli/program.h"

#include "base/number.h"
#include "base/status.h"
#include "cli/options/table.h"
#include "cli/terminal/about.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/standard_output.h"

#include <errno.h>
#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Commands of images take other operands in the place of IN and OUT, too. */
static void print_synopsis(FILE *stream, const gc_command_row *row, const char *indent)
{
    static const char usual[] = "[IN OUT]", *const others[] = {"-o DIR IN...", "--in-place IN..."};
    int length = (int)(strlen(row->synopsis) - strlen(usual));
    fprintf(stream, "%s%s\n", indent, row->synopsis);
    for (int i = 0; i < 2 && (row->command & GC_COMMANDS_OF_IMAGES) != 0; i++)
        fprintf(stream, "%s%.*s%s\n", indent, length, row->synopsis, others[i]);
}

void gc_help_usage(FILE *stream)
{
    fprintf(stream, "usage:\n");
    for (int i = 0; i < gc_command_count(); i++)
        print_synopsis(stream, gc_command_at(i), "  ");
    fprintf(stream, "Try 'gconv help' for more.\n");
}

/* `gconv help`: commands and where to read on. */
static void help_program(FILE *stream)
{
    fprintf(stream, "gconv %s: convolves images and finds edges, on the CPU and on NVIDIA GPUs\n\n",
            gconv_version());
    fprintf(stream, "Commands:\n");
    for (int i = 0; i < gc_command_count(); i++)
        fprintf(stream, "  %-9s %s\n", gc_command_at(i)->name, gc_command_at(i)->summary);
    fprintf(stream, "\nExamples:\n"
                    "  gconv edges photo.jpg edges.png --threshold 5\n"
                    "  gconv sketch photo.jpg drawing.png\n"
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

/* `gconv help COMMAND`: usage and options. */
static void help_command(FILE *stream, gc_command command)
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

static void print_help(gc_command command)
{
    if (command == GC_COMMAND_NONE)
        help_program(stdout);
    else
        help_command(stdout, command);
}

static int run_help(const gc_options *options)
{
    const gc_command_row *row = NULL;
    gconv_error error = {.status = GCONV_OK};
    if (options->operand_count > 0 &&
        gc_command_find(options->operands[0], &row, &error) != GCONV_OK)
        gc_report(NULL, &error);
    else
        print_help(row != NULL ? row->command : GC_COMMAND_NONE);
    return error.status == GCONV_OK ? GC_EXIT_DONE : GC_EXIT_USAGE;
}

bool gc_program_informs(const gc_options *options, int *code)
{
    *code = GC_EXIT_DONE;
    if (options->version)
        gc_about_print();
    else if (options->help)
        print_help(options->command);
    else if (options->command == GC_COMMAND_HELP)
        *code = run_help(options);
    else
        return false;
    return true;
}

enum { LIST_BYTES = 64 };

static gconv_status check_instructions(const char *value, gconv_error *error)
{
    char known[LIST_BYTES], usable[LIST_BYTES];
    gc_instructions_list(false, known, sizeof known);
    gc_instructions_list(true, usable, sizeof usable);
    gconv_instructions_info set = gconv_instructions_info_default();
    for (int i = 0; gconv_instructions_describe(i, &set, NULL) == GCONV_OK; i++) {
        if (strcmp(set.name, value) != 0)
            continue;
        if (set.usable)
            return GCONV_OK;
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "GCONV_INSTRUCTIONS: this processor lacks '%s'; it has: %s", value, usable);
    }
    return gc_fail(error, GCONV_ERROR_ARGUMENT,
                   "GCONV_INSTRUCTIONS: '%.100s' is not one of: %s; this processor has: %s", value,
                   known, usable);
}

static gconv_status check_memory(const char *value, gconv_error *error)
{
    long long bytes;
    if (gc_parse_integer(value, 1, INT64_MAX, &bytes))
        return GCONV_OK;
    return gc_fail(error, GCONV_ERROR_ARGUMENT,
                   "GCONV_CUDA_MEMORY: '%.100s' is not a whole number of bytes, at least 1", value);
}

gconv_status gc_environment_check(gconv_error *error)
{
    static const struct {
        const char *name;
        gconv_status (*check)(const char *value, gconv_error *error);
    } variables[] = {{"GCONV_INSTRUCTIONS", check_instructions},
                     {"GCONV_CUDA_MEMORY", check_memory}};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *value = getenv(variables[i].name);
        if (value != NULL && value[0] != '\0')
            GC_TRY(variables[i].check(value, error));
    }
    return GCONV_OK;
}

/* Opens standard descriptors that are closed. Otherwise an image file could get such a number, and
 * messages would be written into the image. The direction is wrong, so that using them still
 * fails. */
static void occupy_descriptors(void)
{
    for (int number = STDIN_FILENO; number <= STDERR_FILENO; number++)
        if (fcntl(number, F_GETFD) == -1 && errno == EBADF)
            open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* Whether standard output is data for a program, so that a closed pipe is a failure. A reader of
 * text may close it, as head(1) does. */
static bool prints_data;

int gc_program_close_output(int code)
{
    int failure = gc_flush_output();
    if (fclose(stdout) != 0 && failure == 0)
        failure = errno;
    if (failure == 0 || code != GC_EXIT_DONE)
        return code;
    if (failure == EPIPE && !prints_data)
        return GC_EXIT_FAILED;
    gconv_error error;
    gc_fail_errno(&error, GCONV_ERROR_WRITE, failure, "cannot write");
    gc_report("standard output", &error);
    return GC_EXIT_FAILED;
}

/* Without --progress the first progress line waits half a second, so that short work stays
 * silent. */
void gc_program_set_messages(const gc_options *options)
{
    bool always = options->report.progress == GC_PROGRESS_ALWAYS;
    bool fits = options->report.progress == GC_PROGRESS_AUTO && !options->report.quiet &&
                isatty(STDERR_FILENO) == 1;
    prints_data = options->report.json || options->measure.csv;
    gc_messages_set(options->report.quiet, options->report.verbose);
    gc_progress_set(always || fits, always ? 0 : 0.5);
}

/* Has the C library keep memory that one image frees for the next one. glibc gives it back to the
 * system, and then each image waits for its pages anew. */
static void keep_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
#endif
}

void gc_program_begin(void)
{
    keep_memory();
    occupy_descriptors();
    gc_signals_install();
}

static int run_command(const gc_options *options, gc_program_function *run)
{
    int code;
    gconv_error error;
    if (gc_program_informs(options, &code))
        return code;
    if (gc_environment_check(&error) == GCONV_OK)
        return run(options);
    gc_report(NULL, &error);
    return GC_EXIT_USAGE;
}

int gc_program_run(int argc, char **argv, gc_program_function *run)
{
    gc_program_begin();
    gc_options options;
    gconv_error error;
    int code = GC_EXIT_DONE;
    if (gc_options_parse(argc, argv, &options, &error) == GCONV_OK) {
        gc_program_set_messages(&options);
        code = run_command(&options, run);
    } else {
        gc_report(NULL, &error);
        code = gc_start_code(error.status);
    }
    gc_options_free(&options);
    gc_progress_clear();
    code = gc_program_close_output(code);
    gc_signals_finish();
    if (gconv_device_is_starting()) /* nobody needs it, and exit would wait for it */
        _exit(code);
    gconv_device_await();
    return code;
}
