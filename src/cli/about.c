#include "cli/about.h"

#include "cli/environment.h"
#include "cpu/instructions/instructions.h"
#include "gconv.h"
#include "io/libraries.h"

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

void gc_about_print(void)
{
    char libraries[GC_LIBRARIES_BYTES], usable[64], system[256];
    gc_libraries(libraries);
    gc_instructions_list(true, usable, sizeof usable);
    gc_about_system(system, sizeof system);
    printf("gconv %s\nbuild: %s\nlibraries: %s\ninstructions: %s (usable here: %s)\nsystem: %s\n",
           gconv_version(), gconv_build_description(), libraries, gc_instructions_chosen()->name,
           usable, system);
}
