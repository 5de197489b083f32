#include "base/module.h"

#include "base/status.h"

#include <dlfcn.h>
#include <string.h>

enum { FILES_MAX = 4, NAME_BYTES = 64 };

/* Debian's packages have the names of libraries: libjxl0.7 has libjxl.so.0.7. */
static gconv_status fail_missing(const char *file, gconv_error *error)
{
    const char *version = strstr(file, ".so.");
    return gc_fail(error, GCONV_ERROR_OPEN,
                   "cannot load a library: %s; install it (Debian: %.*s%s)", dlerror(),
                   (int)strcspn(file, "."), file, version != NULL ? version + 4 : "");
}

static gconv_status open_files(const char *files, void *opened[FILES_MAX], int *count,
                               gconv_error *error)
{
    char name[NAME_BYTES];
    for (*count = 0; *files != '\0' && *count < FILES_MAX; ++*count) {
        size_t length = strcspn(files, " ");
        memcpy(name, files, length < NAME_BYTES ? length : NAME_BYTES - 1);
        name[length < NAME_BYTES ? length : NAME_BYTES - 1] = '\0';
        opened[*count] = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (opened[*count] == NULL)
            return fail_missing(name, error);
        files += length + (files[length] == ' ');
    }
    return GCONV_OK;
}

static gconv_status find_functions(const gc_module *module, void *const *opened, int count,
                                   gconv_error *error)
{
    for (size_t i = 0; module->names[i] != NULL; i++) {
        void *function = NULL;
        for (int k = 0; function == NULL && k < count; k++)
            function = dlsym(opened[k], module->names[i]);
        if (function == NULL)
            return gc_fail(error, GCONV_ERROR_OPEN, "%s has no function %s: it is too old",
                           module->files, module->names[i]);
        if ((i + 1) * sizeof function <= module->bytes)
            memcpy((char *)module->functions + i * sizeof function, &function, sizeof function);
    }
    return GCONV_OK;
}

gconv_status gc_module_load(gc_module *module, gconv_error *error)
{
    void *opened[FILES_MAX];
    int count = 0;
    gconv_status status = GCONV_OK;
    pthread_mutex_lock(&module->lock);
    if (!module->loaded)
        status = open_files(module->files, opened, &count, error);
    if (status == GCONV_OK && !module->loaded) {
        status = find_functions(module, opened, count, error);
        module->loaded = status == GCONV_OK;
    }
    pthread_mutex_unlock(&module->lock);
    return status;
}
