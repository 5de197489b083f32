#include "cli/options/environment.h"

#include "base/number.h"
#include "base/status.h"
#include "cli/terminal/about.h"

#include <stdlib.h>
#include <string.h>

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
    gconv_status status = GCONV_OK;
    for (size_t i = 0; status == GCONV_OK && i < sizeof variables / sizeof variables[0]; i++) {
        const char *value = getenv(variables[i].name);
        if (value != NULL && value[0] != '\0')
            status = variables[i].check(value, error);
    }
    return status;
}
