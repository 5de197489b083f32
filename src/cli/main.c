/* gconv: the command line. */
#include "cli/cli.h"
#include "cli/help.h"
#include "cli/messages.h"
#include "cli/signals.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int print_version(void)
{
    printf("gconv %s\n", gconv_version());
    return GC_EXIT_DONE;
}

static int run_help(const gc_options *options)
{
    if (options->operand_count == 0) {
        gc_help_program(stdout);
        return GC_EXIT_DONE;
    }
    const gc_command_row *row = gc_command_named(options->operands[0]);
    if (row == NULL || options->operand_count > 1) {
        gconv_error error;
        gc_fail(&error, GCONV_ERROR_ARGUMENT, "there is no command '%s'; see gconv help",
                options->operands[options->operand_count > 1 ? 1 : 0]);
        gc_report(NULL, &error);
        return GC_EXIT_USAGE;
    }
    gc_help_command(stdout, row->command);
    return GC_EXIT_DONE;
}

static int run_command(const gc_options *options)
{
    if (options->version)
        return print_version();
    if (options->help && options->command == GC_COMMAND_NONE) {
        gc_help_program(stdout);
        return GC_EXIT_DONE;
    }
    if (options->help) {
        gc_help_command(stdout, options->command);
        return GC_EXIT_DONE;
    }
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
    case GC_COMMAND_HELP:
        return run_help(options);
    default:
        gc_help_usage(stderr);
        return GC_EXIT_USAGE;
    }
}

/* A result that could not be written is a failure too (a full disk, a closed pipe). */
static int close_output(int code)
{
    bool failed = ferror(stdout) != 0;
    errno = 0;
    if ((fclose(stdout) == 0 && !failed) || code != GC_EXIT_DONE)
        return code;
    gconv_error error;
    gc_fail_errno(&error, GCONV_ERROR_WRITE, errno != 0 ? errno : EIO,
                  "standard output: cannot write");
    gc_report(NULL, &error);
    return GC_EXIT_FAILED;
}

int main(int argc, char **argv)
{
    gc_signals_install();
    gc_options options;
    gconv_error error;
    int code = GC_EXIT_USAGE;
    if (gc_options_parse(argc, argv, &options, &error) != GCONV_OK) {
        gc_report(NULL, &error);
    } else {
        bool draws =
            options.progress == GC_PROGRESS_ALWAYS ||
            (options.progress == GC_PROGRESS_AUTO && !options.quiet && isatty(STDERR_FILENO) == 1);
        gc_messages_set(options.quiet, options.verbose, draws);
        code = run_command(&options);
    }
    gc_options_free(&options);
    gc_progress_clear();
    return close_output(code);
}
