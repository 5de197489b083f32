/* The program gconv-lab: the commands of gconv that measure at length. gconv runs it. */
#include "cli/commands/commands.h"
#include "cli/program.h"
#include "cli/terminal/messages.h"
#include "lab/html.h"
#include "lab/lab.h"

static int run(const gc_options *options)
{
    switch (options->command) {
    case GC_COMMAND_BENCH:
        return gc_run_bench(options);
    case GC_COMMAND_TUNE:
        return gc_run_tune(options);
    case GC_COMMAND_COMPARE:
        return gc_run_compare(options, options->measure.html != NULL ? &gc_html_reporter : NULL);
    case GC_COMMAND_KERNEL:
        return gc_run_kernel(options, gc_write_response);
    case GC_COMMAND_INFO:
        if (options->operand_count > 0)
            return gc_run_guide(options);
        __attribute__((fallthrough));
    default:
        gc_answer(NULL,
                  "gconv-lab is for bench, tune, compare, kernel and info IMPLEMENTATION; use "
                  "gconv for the rest");
        return GC_EXIT_USAGE;
    }
}

int main(int argc, char **argv)
{
    return gc_program_run(argc, argv, run);
}
