#include "cli/report/about.h"

#include "gconv.h"

#include <stdio.h>
#include <sys/utsname.h>

void gc_about_system(char *text, size_t size)
{
    struct utsname names;
    if (uname(&names) == 0)
        snprintf(text, size, "%s %s %s", names.sysname, names.release, names.machine);
    else
        snprintf(text, size, "unknown");
}

const char *gc_instructions_name(void)
{
    gconv_instructions_info info = gconv_instructions_info_default();
    for (int i = 0; gconv_instructions_describe(i, &info, NULL) == GCONV_OK; i++)
        if (info.chosen)
            return info.name;
    return "none";
}

void gc_instructions_list(bool only_usable, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    gconv_instructions_info set = gconv_instructions_info_default();
    for (int i = 0; gconv_instructions_describe(i, &set, NULL) == GCONV_OK && used < size; i++)
        if (!only_usable || set.usable)
            used +=
                (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", set.name);
}

void gc_about_print(void)
{
    char usable[64], system[256];
    gc_instructions_list(true, usable, sizeof usable);
    gc_about_system(system, sizeof system);
    printf("gconv %s\nbuild: %s\nlibraries: %s\ninstructions: %s (usable here: %s)\nsystem: %s\n",
           gconv_version(), gconv_build_description(), gconv_codec_description(),
           gc_instructions_name(), usable, system);
}
