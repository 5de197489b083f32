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

/* A list X(member, function) of the functions of a library makes the members of a structure, and
 * finds them: `of` is the structure, whose member `library` is open. Some headers give functions
 * another name, which is the one that is found. */
#define GC_LIBRARY_MEMBER(member, function) decltype(&function) member;
#define GC_LIBRARY_FIND(member, function)                                                          \
    of.member = (decltype(of.member))gc_library_symbol(&of.library, GC_LIBRARY_NAME(function));
#define GC_LIBRARY_NAME(function) GC_LIBRARY_TEXT(function)
#define GC_LIBRARY_TEXT(name) #name
