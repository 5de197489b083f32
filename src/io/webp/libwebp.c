#include "io/webp/libwebp.h"

#include "io/module.h"

gc_libwebp gc_webp;

gconv_status gc_libwebp_load(gconv_error *error)
{
#define NAME(name) #name,
    static const char *const names[] = {GC_LIBWEBP_FUNCTIONS(NAME) NULL};
#undef NAME
    static gc_module module = {
        GC_WEBP_FILES, names, &gc_webp, sizeof gc_webp, PTHREAD_MUTEX_INITIALIZER, false};
    return gc_module_load(&module, error);
}
