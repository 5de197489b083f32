/* Functions of libraries that are loaded at run time. */
#ifndef GC_GPU_RUNTIME_LIBRARY_CUH
#define GC_GPU_RUNTIME_LIBRARY_CUH

#include <dlfcn.h>

/* False where the library lacks the function. */
template <typename function>
static inline bool gc_find_function(void *library, const char *name, function &target)
{
    target = (function)dlsym(library, name);
    return target != nullptr;
}

#endif
