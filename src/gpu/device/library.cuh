/* Shared libraries that are loaded when they are first asked for: cuFFT, NVRTC, the driver. Linking
 * them would keep gconv from starting on machines without them. A library stays loaded. */
#pragma once

struct gc_library {
    void *handle;
    bool loaded;      /* with every function that was asked for */
    char file[64];    /* of messages */
    char reason[256]; /* why it is not loaded */
};

/* Opens `file`, a name or a path, unless *library is open already. `what` is what people call
 * it. */
void gc_library_open(gc_library *library, const char *what, const char *file);

/* The address of a function. If there is none: null, and library->loaded becomes false. */
void *gc_library_symbol(gc_library *library, const char *name);

template <typename function>
static inline void gc_library_find(gc_library *library, const char *name, function &target)
{
    target = (function)gc_library_symbol(library, name);
}
