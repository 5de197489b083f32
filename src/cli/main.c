/* The program gconv: reads the command line and runs a command. */
#include "base/status.h"
#include "cli/commands/commands.h"
#include "cli/options/commands.h"
#include "cli/options/environment.h"
#include "cli/options/options.h"
#include "cli/report/about.h"
#include "cli/report/exit.h"
#include "cli/report/help.h"
#include "cli/report/messages.h"
#include "cli/report/output.h"
#include "cli/report/progress.h"
#include "cli/report/signals.h"
#include "gconv.h"

#include <errno.h>
#include <fcntl.h>
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

static int start_command(const gc_options *options)
{
    switch (options->command) {
    case GC_COMMAND_EDGES:
    case GC_COMMAND_FILTER:
        return gc_run_process(options);
    case GC_COMMAND_COMPARE:
        return gc_run_compare(options);
    case GC_COMMAND_BENCH:
        return gc_run_bench(options);
    case GC_COMMAND_TUNE:
        return gc_run_tune(options);
    case GC_COMMAND_INFO:
        return gc_run_info(options);
    default:
        gc_help_usage(stderr);
        return GC_EXIT_USAGE;
    }
}

static int run_command(const gc_options *options)
{
    if (options->version)
        return print_version();
    if (options->help)
        return print_help(options->command);
    if (options->command == GC_COMMAND_HELP)
        return run_help(options);
    gconv_error error;
    if (gc_environment_check(&error) == GCONV_OK)
        return start_command(options);
    gc_report(NULL, &error);
    return GC_EXIT_USAGE;
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

/* Flushes and closes standard output. Where that fails (a full disk, a closed pipe) the program
 * fails. */
static int close_output(int code)
{
    int failure = gc_flush_output();
    if (fclose(stdout) != 0 && failure == 0)
        failure = errno;
    if (failure == 0 || code != GC_EXIT_DONE)
        return code;
    gconv_error error;
    gc_fail_errno(&error, GCONV_ERROR_WRITE, failure, "cannot write");
    gc_report("standard output", &error);
    return GC_EXIT_FAILED;
}

/* Without --progress the first progress line waits half a second, so that short work stays
 * silent. */
static void set_messages(const gc_options *options)
{
    bool always = options->progress == GC_PROGRESS_ALWAYS;
    bool fits =
        options->progress == GC_PROGRESS_AUTO && !options->quiet && isatty(STDERR_FILENO) == 1;
    gc_messages_set(options->quiet, options->verbose);
    gc_progress_set(always || fits, always ? 0 : 0.5);
}

int main(int argc, char **argv)
{
    occupy_descriptors();
    gc_signals_install();
    gc_options options;
    gconv_error error;
    int code = GC_EXIT_DONE;
    if (gc_options_parse(argc, argv, &options, &error) == GCONV_OK) {
        set_messages(&options);
        code = run_command(&options);
    } else {
        gc_report(NULL, &error);
        code = gc_start_code(error.status);
    }
    gc_options_free(&options);
    gc_progress_clear();
    return close_output(code);
}
