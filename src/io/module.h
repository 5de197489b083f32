/* Libraries of formats, loaded when the first file asks for them. */
#ifndef GC_IO_MODULE_H
#define GC_IO_MODULE_H

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

#endif
