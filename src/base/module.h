/* Libraries that are loaded when something first asks for them. */
#pragma once

#include "gconv.h"

#include <pthread.h>

typedef struct gc_module {
    const char *files;        /* what is loaded, with blanks between names */
    const char *const *names; /* of functions, up to a NULL */
    void *functions;          /* a pointer for each, in this order */
    size_t bytes;             /* of all of them */
    pthread_mutex_t lock;     /* PTHREAD_MUTEX_INITIALIZER */
    bool loaded;
} gc_module;

/* Loads a module that is not loaded yet. It stays loaded. Any thread. */
gconv_status gc_module_load(gc_module *module, gconv_error *error);

/* Declares pointers to functions, which LIST(X) lists as X(name), in a structure, and the function
 * that loads the module. They may be called once it has returned GCONV_OK. */
#define GC_MODULE_POINTER(name) __typeof__(name) *name;
#define GC_MODULE_DECLARE(object, load, LIST)                                                      \
    extern struct object {                                                                         \
        LIST(GC_MODULE_POINTER)                                                                    \
    } object;                                                                                      \
    gconv_status load(gconv_error *error)

/* Defines both. */
#define GC_MODULE_NAME(name) #name,
#define GC_MODULE_DEFINE(object, load, files, LIST)                                                \
    struct object object;                                                                          \
    gconv_status load(gconv_error *error)                                                          \
    {                                                                                              \
        static const char *const names[] = {LIST(GC_MODULE_NAME) NULL};                            \
        static gc_module module = {                                                                \
            files, names, &object, sizeof object, PTHREAD_MUTEX_INITIALIZER, false};               \
        return gc_module_load(&module, error);                                                     \
    }
