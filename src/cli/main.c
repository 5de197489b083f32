/* The program gconv: reads the command line and runs a command. */
#include "cli/commands/commands.h"
#include "cli/options/environment.h"
#include "cli/options/help.h"
#include "cli/options/options.h"
#include "cli/program.h"
#include "cli/report/exit.h"
#include "cli/report/messages.h"
#include "cli/report/progress.h"
#include "cli/report/signals.h"
#include "gconv.h"

#include <stdio.h>

static int start_command(const gc_options *options)
{
    switch (options->command) {
    case GC_COMMAND_EDGES:
    case GC_COMMAND_FILTER:
        return gc_run_images(options);
    case GC_COMMAND_COMPARE:
        return gc_run_compare(options);
    case GC_COMMAND_BENCH:
        return gc_run_bench(options);
    case GC_COMMAND_TUNE:
        return gc_run_tune(options);
    case GC_COMMAND_CHECK:
        return gc_run_check(options);
    case GC_COMMAND_KERNEL:
        return gc_run_kernel(options);
    case GC_COMMAND_INFO:
        return gc_run_info(options);
    default:
        gc_help_usage(stderr);
        return GC_EXIT_USAGE;
    }
}

static int run_command(const gc_options *options)
{
    int code;
    gconv_error error;
    if (gc_program_informs(options, &code))
        return code;
    if (gc_environment_check(&error) == GCONV_OK)
        return start_command(options);
    gc_report(NULL, &error);
    return GC_EXIT_USAGE;
}

int main(int argc, char **argv)
{
    gc_program_begin();
    gc_options options;
    gconv_error error;
    int code = GC_EXIT_DONE;
    if (gc_options_parse(argc, argv, &options, &error) == GCONV_OK) {
        gc_program_set_messages(&options);
        code = run_command(&options);
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
