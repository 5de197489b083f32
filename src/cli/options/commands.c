#include "cli/options/commands.h"

#include "base/nearest.h"
#include "base/status.h"

#include <limits.h>
#include <string.h>

static const gc_command_row commands[] = {
    {GC_COMMAND_EDGES, "edges", "gconv edges [options] [IN OUT]",
     "find edges: 5x5 Gaussian, 3x3 Laplacian, threshold", GC_OPERANDS_FILES, 0, INT_MAX},
    {GC_COMMAND_SKETCH, "sketch", "gconv sketch [options] [IN OUT]",
     "draw an image: ink on paper, with settings found from the image", GC_OPERANDS_FILES, 0,
     INT_MAX},
    {GC_COMMAND_THIN, "thin", "gconv thin [options] [IN OUT]",
     "thin the white lines of an image to one pixel", GC_OPERANDS_FILES, 0, INT_MAX},
    {GC_COMMAND_FILTER, "filter", "gconv filter [options] --kernel K [IN OUT]",
     "convolve an image with one filter or a chain of filters", GC_OPERANDS_FILES, 0, INT_MAX},
    {GC_COMMAND_CHECK, "check", "gconv check [options] FILE", "check the outputs of a journal",
     GC_OPERANDS_FILES, 0, 1},
    {GC_COMMAND_COMPARE, "compare", "gconv compare [options] [--kernel K] IN",
     "check and time every implementation on one image", GC_OPERANDS_FILES, 1, 1},
    {GC_COMMAND_BENCH, "bench", "gconv bench [options] [--kernel K]",
     "time implementations over filter sizes on a synthetic image", GC_OPERANDS_NONE, 0, 0},
    {GC_COMMAND_TUNE, "tune", "gconv tune [options]",
     "search this GPU's best configurations and keep them", GC_OPERANDS_NONE, 0, 0},
    {GC_COMMAND_KERNEL, "kernel", "gconv kernel [options] [K...]",
     "show a filter or a chain of filters as gconv reads it", GC_OPERANDS_FILTERS, 0, INT_MAX},
    {GC_COMMAND_INFO, "info", "gconv info [options] [IMPLEMENTATION]",
     "version, devices, filters, implementations, or one implementation in words",
     GC_OPERANDS_IMPLEMENTATIONS, 0, 1},
    {GC_COMMAND_HELP, "help", "gconv help [COMMAND]", "explain gconv or one of its commands",
     GC_OPERANDS_COMMANDS, 0, 1},
};

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

int gc_command_count(void)
{
    return COMMAND_COUNT;
}

const gc_command_row *gc_command_at(int index)
{
    return index >= 0 && index < COMMAND_COUNT ? &commands[index] : NULL;
}

const gc_command_row *gc_command_of(gc_command command)
{
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (commands[i].command == command)
            return &commands[i];
    return NULL;
}

gconv_status gc_command_find(const char *name, const gc_command_row **row, gconv_error *error)
{
    const char *names[COMMAND_COUNT];
    for (int i = 0; i < COMMAND_COUNT; i++) {
        *row = &commands[i];
        names[i] = commands[i].name;
        if (strcmp(name, names[i]) == 0)
            return GCONV_OK;
    }
    *row = NULL;
    const char *nearest = gc_nearest_name(name, names, COMMAND_COUNT);
    if (nearest != NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "unknown command '%s'; did you mean '%s'?",
                       name, nearest);
    return gc_fail(error, GCONV_ERROR_ARGUMENT, "unknown command '%s'; see gconv help", name);
}
