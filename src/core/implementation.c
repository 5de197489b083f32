/* Questions about the entries of the registry. */
#include "core/registry.h"

#include "base/status.h"

#include <stdio.h>
#include <string.h>

const gc_implementation *gc_implementation_named(const char *name)
{
    for (int i = 0; i < gc_implementation_count(); i++)
        if (strcmp(gc_implementation_at(i)->name, name) == 0)
            return gc_implementation_at(i);
    return NULL;
}

int gconv_implementation_count(void)
{
    return gc_implementation_count();
}

const char *gconv_implementation_name(int index)
{
    const gc_implementation *implementation = gc_implementation_at(index);
    return implementation != NULL ? implementation->name : NULL;
}

gconv_device_kind gconv_implementation_kind(int index)
{
    const gc_implementation *implementation = gc_implementation_at(index);
    return implementation != NULL ? implementation->kind : GCONV_DEVICE_CPU;
}

gconv_status gconv_implementation_describe(int index, gconv_implementation_info *info,
                                           gconv_error *error)
{
    const gc_implementation *implementation = gc_implementation_at(index);
    if (implementation == NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "there is no implementation %d", index);
    memset(info, 0, sizeof *info);
    info->name = implementation->name;
    info->summary = implementation->summary;
    info->limits = implementation->limits;
    info->kind = implementation->kind;
    info->follows_threads = (implementation->follows & GC_FOLLOWS_THREADS) != 0;
    info->follows_block = (implementation->follows & GC_FOLLOWS_BLOCK) != 0;
    info->follows_tile = (implementation->follows & GC_FOLLOWS_TILE) != 0;
    info->follows_shared = (implementation->follows & GC_FOLLOWS_SHARED) != 0;
    gconv_device_info device;
    gconv_error reason;
    info->usable = gc_implementation_device(implementation, 0, &device, &reason) == GCONV_OK;
    if (!info->usable)
        snprintf(info->reason, sizeof info->reason, "%.*s", (int)sizeof info->reason - 1,
                 reason.message);
    return GCONV_OK;
}
