/* The table of commands. */
#include "cli/options.h"

#include <string.h>

static const gc_command_row commands[] = {
    {GC_COMMAND_EDGES,
     "edges",
     {"gconv edges [options] IN OUT", "gconv edges [options] -o DIR IN...", NULL},
     "find edges: 5x5 Gaussian, 3x3 Laplacian, threshold"},
    {GC_COMMAND_FILTER,
     "filter",
     {"gconv filter [options] --kernel K IN OUT", "gconv filter [options] --kernel K -o DIR IN...",
      NULL},
     "convolve an image with one filter or a chain of filters"},
    {GC_COMMAND_COMPARE,
     "compare",
     {"gconv compare [options] [--kernel K] IN", NULL, NULL},
     "every implementation on one image: time, rate, speed-up, error"},
    {GC_COMMAND_BENCH,
     "bench",
     {"gconv bench [options] [--kernel K]", NULL, NULL},
     "time implementations over filter sizes on a synthetic image"},
    {GC_COMMAND_TUNE,
     "tune",
     {"gconv tune [options]", NULL, NULL},
     "search this GPU's best configurations and keep them"},
    {GC_COMMAND_INFO,
     "info",
     {"gconv info [--json]", NULL, NULL},
     "version, build, devices, implementations, built-in filters"},
    {GC_COMMAND_HELP,
     "help",
     {"gconv help [COMMAND]", NULL, NULL},
     "explain gconv or one of its commands"},
};

int gc_command_count(void)
{
    return sizeof commands / sizeof commands[0];
}

const gc_command_row *gc_command_at(int index)
{
    return index >= 0 && index < gc_command_count() ? &commands[index] : NULL;
}

const gc_command_row *gc_command_named(const char *name)
{
    for (int i = 0; i < gc_command_count(); i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}
