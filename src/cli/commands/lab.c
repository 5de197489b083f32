/* gconv bench, gconv tune, gconv info IMPLEMENTATION, --html and --response: gconv-lab, a program
 * of its own, runs them. */
#include "base/status.h"
#include "cli/commands/commands.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/standard_output.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Finds gconv-lab beside this program, else in the folder of an installation. */
static bool find(char path[PATH_MAX])
{
    static const char *const places[] = {"", GC_LAB_DIRECTORY "/"};
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(program, '/');
    for (size_t i = 0; slash != NULL && i < sizeof places / sizeof places[0]; i++) {
        slash[1] = '\0';
        if (snprintf(path, PATH_MAX, "%s%sgconv-lab", program, places[i]) < PATH_MAX &&
            access(path, X_OK) == 0)
            return true;
    }
    return false;
}

int gc_run_lab(const gc_options *options)
{
    char path[PATH_MAX];
    gconv_error error;
    if (find(path)) {
        gc_signals_hand_over();
        execv(path, options->words - 1);
        gc_fail_errno(&error, GCONV_ERROR_OPEN, errno, "cannot be run");
        gc_report(path, &error);
    } else {
        gc_fail(&error, GCONV_ERROR_UNSUPPORTED,
                "%s needs the program gconv-lab, which is not installed with this gconv; the "
                "package gconv-lab has it, and so has a build of the sources",
                options->command == GC_COMMAND_BENCH  ? "bench"
                : options->command == GC_COMMAND_TUNE ? "tune"
                : options->command == GC_COMMAND_INFO ? "info IMPLEMENTATION"
                : options->measure.html != NULL       ? "option '--html'"
                                                      : "option '--response'");
        gc_report(NULL, &error);
    }
    return gc_start_code(error.status);
}
