#include "gpu/device/library.cuh"

#include <cstdio>
#include <dlfcn.h>

void gc_library_open(gc_library *library, const char *what, const char *file)
{
    if (library->handle != nullptr)
        return;
    library->handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    library->loaded = library->handle != nullptr;
    snprintf(library->file, sizeof library->file, "%s", file);
    if (!library->loaded)
        snprintf(library->reason, sizeof library->reason, "%s cannot be loaded: %s", what,
                 dlerror());
}

void *gc_library_symbol(gc_library *library, const char *name)
{
    void *symbol = library->handle != nullptr ? dlsym(library->handle, name) : nullptr;
    if (symbol == nullptr && library->loaded) {
        library->loaded = false;
        snprintf(library->reason, sizeof library->reason, "%s lacks a function", library->file);
    }
    return symbol;
}
