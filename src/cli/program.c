#include "cli/program.h"

#include "base/status.h"
#include "cli/options/environment.h"
#include "cli/options/help.h"
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
#include <unistd.h>

static int print_version(void)
{
    gc_about_print();
    return GC_EXIT_DONE;
}

static int print_help(gc_command command)
{
    if (command == GC_COMMAND_NONE)
        gc_help_program(stdout);
    else
        gc_help_command(stdout, command);
    return GC_EXIT_DONE;
}

static int run_help(const gc_options *options)
{
    if (options->operand_count == 0)
        return print_help(GC_COMMAND_NONE);
    const gc_command_row *row;
    gconv_error error;
    if (gc_command_find(options->operands[0], &row, &error) == GCONV_OK)
        return print_help(row->command);
    gc_report(NULL, &error);
    return GC_EXIT_USAGE;
}

bool gc_program_informs(const gc_options *options, int *code)
{
    if (options->version)
        *code = print_version();
    else if (options->help)
        *code = print_help(options->command);
    else if (options->command == GC_COMMAND_HELP)
        *code = run_help(options);
    else
        return false;
    return true;
}

/* Occupies standard descriptors that are closed, so that no image file gets their number and with
 * it the text meant for them. They are opened in the wrong direction, so that using them still
 * fails. */
static void occupy_descriptors(void)
{
    for (int number = STDIN_FILENO; number <= STDERR_FILENO; number++)
        if (fcntl(number, F_GETFD) == -1 && errno == EBADF)
            open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* Whether standard output is for programs. A person who reads a text, as with head(1), may have
 * read enough. */
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
    return code;
}
