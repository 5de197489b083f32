/* The program gconv. */
#include "cli/commands/commands.h"
#include "cli/program.h"
#include "cli/terminal/messages.h"

#include <stdio.h>

static int run(const gc_options *options)
{
    switch (options->command) {
    case GC_COMMAND_EDGES:
    case GC_COMMAND_SKETCH:
    case GC_COMMAND_THIN:
    case GC_COMMAND_FILTER:
        return gc_run_images(options);
    case GC_COMMAND_COMPARE:
        return options->measure.html != NULL ? gc_run_lab(options) : gc_run_compare(options, NULL);
    case GC_COMMAND_BENCH:
    case GC_COMMAND_TUNE:
        return gc_run_lab(options);
    case GC_COMMAND_CHECK:
        return gc_run_check(options);
    case GC_COMMAND_KERNEL:
        return options->kernel.response != NULL ? gc_run_lab(options)
                                                : gc_run_kernel(options, NULL);
    case GC_COMMAND_INFO:
        return options->operand_count > 0 ? gc_run_lab(options) : gc_run_info(options);
    default:
        gc_help_usage(stderr);
        return GC_EXIT_USAGE;
    }
}

int main(int argc, char **argv)
{
    return gc_program_run(argc, argv, run);
}
