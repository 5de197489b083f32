#include "base/sized.h"

#include "base/status.h"

#include <string.h>

/* No structure comes near this size: a larger one was never set. */
enum { SIZE_MAX_SENSIBLE = 1 << 14 };

static size_t smaller_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

static gconv_status read_size(const void *given, const char *type, size_t *size, gconv_error *error)
{
    *size = 0;
    if (given == NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "the %s is a null pointer", type);
    memcpy(size, given, sizeof *size);
    if (*size <= sizeof *size || *size > SIZE_MAX_SENSIBLE || *size % _Alignof(size_t) != 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "a %s has size %zu: start it from %s_default()",
                       type, *size, type);
    return GCONV_OK;
}

void gc_sized_init(void *given, size_t size, const void *defaults, size_t bytes)
{
    memset(given, 0, size);
    memcpy(given, defaults, smaller_of(size, bytes));
    memcpy(given, &size, smaller_of(size, sizeof size));
}

gconv_status gc_sized_read(const void *given, const char *type, void *known, size_t bytes,
                           gconv_error *error)
{
    size_t size;
    GC_TRY(read_size(given, type, &size, error));
    for (size_t i = bytes; i < size; i++)
        if (((const unsigned char *)given)[i] != 0)
            return gc_fail(error, GCONV_ERROR_ARGUMENT,
                           "a %s has a member that gconv %s does not know", type, gconv_version());
    memcpy(known, given, smaller_of(size, bytes));
    memcpy(known, &bytes, sizeof bytes);
    return GCONV_OK;
}

gconv_status gc_sized_fill(void *given, const char *type, const void *known, size_t bytes,
                           gconv_error *error)
{
    size_t size;
    GC_TRY(read_size(given, type, &size, error));
    gc_sized_init(given, size, known, bytes);
    return GCONV_OK;
}
