/* What the tests of loops share: the instruction sets of this processor, one after the other. */
#pragma once

#include "cpu/instructions/instructions.h"

/* Set number `n`, or NULL if this processor lacks it. */
static inline const gc_instructions *usable_set(int n)
{
    const gc_instructions *set = gc_instructions_at(n);
    return set->usable() ? set : NULL;
}

/* For each set that this processor has; `n` is its number. */
#define EACH_SET(set, n)                                                                           \
    for (int n = 0; n < gc_instructions_count(); n++)                                              \
        for (const gc_instructions *set = usable_set(n); set != NULL; set = NULL)
