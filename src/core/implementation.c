/* Questions about the entries of the registry. */
#include "core/registry.h"

#include "base/number.h"
#include "base/sized.h"
#include "base/status.h"

#include <stdio.h>
#include <string.h>

const gc_implementation *gc_implementation_named(const char *name)
{
    for (int i = 0; i < gconv_implementation_count(); i++)
        if (strcmp(gc_implementation_at(i)->name, name) == 0)
            return gc_implementation_at(i);
    return NULL;
}

/* Reads a number and the byte `end` behind it. Moves *text behind both. */
static bool read_number(const char **text, int most, char end, int *number)
{
    size_t length = strspn(*text, "0123456789");
    long long value;
    if ((*text)[length] != end || !gc_parse_integer_part(*text, length, 1, most, &value))
        return false;
    *number = (int)value;
    *text += length + (end != '\0');
    return true;
}

/* Reads "WxH", "WxHxT" or "xT". */
static bool read_tiling(const char *text, gc_named *named)
{
    enum { THREADS_MAX = 1024, FACTOR_MAX = 64 };
    bool has_block = text[0] != 'x', has_factor = !has_block;
    if (has_block) {
        if (!read_number(&text, THREADS_MAX, 'x', &named->block_width))
            return false;
        has_factor = strchr(text, 'x') != NULL;
        if (!read_number(&text, THREADS_MAX, has_factor ? 'x' : '\0', &named->block_height))
            return false;
        if (named->block_width * named->block_height > THREADS_MAX)
            return false;
    } else {
        text++;
    }
    return !has_factor || read_number(&text, FACTOR_MAX, '\0', &named->tile);
}

bool gc_implementation_read(const char *name, gc_named *named)
{
    *named = (gc_named){.implementation = gc_implementation_named(name)};
    const char *colon = strrchr(name, ':');
    if (named->implementation != NULL || colon == NULL)
        return named->implementation != NULL;
    char base[64];
    size_t length = (size_t)(colon - name);
    if (length >= sizeof base || !read_tiling(colon + 1, named))
        return false;
    memcpy(base, name, length);
    base[length] = '\0';
    const gc_implementation *found = gc_implementation_named(base);
    if (found == NULL || (named->block_width > 0 && (found->follows & GC_FOLLOWS_BLOCK) == 0) ||
        (named->tile > 0 && (found->follows & GC_FOLLOWS_TILE) == 0))
        return false;
    named->implementation = found;
    return true;
}

/* Rule 5 in double rounds the sums of most exact chains once. */
gconv_promise gc_promise_of(const gc_problem *problem, const gc_implementation *implementation,
                            const gconv_device_info *device)
{
    const gc_operations *operations = implementation->operations;
    if (gc_detects(&problem->detector))
        return problem->conversion.finds_edges || problem->detector.rounding.once
                   ? GCONV_PROMISE_EXACT
                   : GCONV_PROMISE_BOUNDED;
    bool once = operations->rounds_once != NULL && operations->rounds_once(problem, device);
    bool plain = problem->chain.exact && problem->rounding.once && problem->rounding.plain;
    if (!once && !plain)
        return GCONV_PROMISE_BOUNDED;
    return problem->chain.exact ? GCONV_PROMISE_EXACT : GCONV_PROMISE_ROUNDED_ONCE;
}

int gconv_implementation_find(const char *name)
{
    gc_named named;
    if (name == NULL || !gc_implementation_read(name, &named))
        return -1;
    int index = 0;
    while (gc_implementation_at(index) != named.implementation)
        index++;
    return index;
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

/* A variant computes by one method alone, and none of its outputs counts as rounded once. */
static const char *rounded_once_by(const gc_implementation *implementation)
{
    const gc_operations *operations = implementation->operations;
    bool is_variant = strchr(implementation->name, ':') != NULL;
    return operations == NULL || operations->rounded_once == NULL || is_variant
               ? ""
               : operations->rounded_once;
}

gconv_status gconv_implementation_describe(int index, gconv_implementation_info *info,
                                           gconv_error *error)
{
    const gc_implementation *implementation = gc_implementation_at(index);
    if (implementation == NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "there is no implementation %d", index);
    unsigned follows = implementation->follows;
    gconv_implementation_info known = {.name = implementation->name,
                                       .summary = implementation->summary,
                                       .limits = implementation->limits,
                                       .kind = implementation->kind,
                                       .follows_threads = (follows & GC_FOLLOWS_THREADS) != 0,
                                       .follows_block = (follows & GC_FOLLOWS_BLOCK) != 0,
                                       .follows_tile = (follows & GC_FOLLOWS_TILE) != 0,
                                       .follows_shared = (follows & GC_FOLLOWS_SHARED) != 0};
    gconv_device_info device;
    gconv_error reason;
    known.usable = gc_implementation_device(implementation, 0, &device, &reason) == GCONV_OK;
    known.rounded_once = rounded_once_by(implementation);
    if (!known.usable)
        snprintf(known.reason, sizeof known.reason, "%.*s", (int)sizeof known.reason - 1,
                 reason.message);
    return gc_sized_fill(info, "gconv_implementation_info", &known, sizeof known, error);
}

const char *gconv_promise_name(gconv_promise promise)
{
    static const char *const names[] = {"bounded", "rounded once", "exact"};
    return (int)promise >= 0 && promise <= GCONV_PROMISE_EXACT ? names[promise] : "unknown";
}
