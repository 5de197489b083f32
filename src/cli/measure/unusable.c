#include "cli/measure/figures.h"

#include <stdio.h>
#include <string.h>

const char *gc_reason_alone(const char *name, const char *reason)
{
    int found = gconv_implementation_find(name); /* reasons leave out blocks and factors */
    name = found >= 0 ? gconv_implementation_name(found) : name;
    size_t length = strlen(name);
    bool begins = reason[0] == '\'' && strncmp(reason + 1, name, length) == 0 &&
                  strncmp(reason + 1 + length, "' ", 2) == 0;
    return begins ? reason + length + 3 : reason;
}

/* Prints the first with all that share its reason, and keeps the others. */
static void print_reason(gc_unusable *unusable)
{
    const gconv_error reason = unusable->reasons[0];
    const char *first = unusable->names[0], *shared = gc_reason_alone(first, reason.message);
    int left = 0, taken = 0;
    for (int i = 0; i < unusable->count; i++) {
        const char *name = unusable->names[i];
        if (strcmp(gc_reason_alone(name, unusable->reasons[i].message), shared) != 0) {
            unusable->names[left] = name;
            unusable->reasons[left++] = unusable->reasons[i];
            continue;
        }
        if (taken++ == 1)
            printf("not usable: %s", first);
        if (taken > 1)
            printf(", %s", name);
    }
    if (taken == 1)
        printf("%s not usable: %s\n", first, reason.message);
    else
        printf(": each %s\n", shared);
    unusable->count = left;
}

void gc_print_unusable(gc_unusable *unusable)
{
    while (unusable->count > 0)
        print_reason(unusable);
}

void gc_drop_unusable(const gc_session *session, const char **names, int *count,
                      gc_unusable *unusable)
{
    int kept = 0;
    for (int i = 0; i < *count; i++) {
        gconv_error *reason = &unusable->reasons[unusable->count];
        bool drops = unusable->count < GC_UNUSABLE_MAX &&
                     gc_session_check(session, names[i], reason) == GCONV_ERROR_DEVICE;
        if (drops)
            unusable->names[unusable->count++] = names[i];
        else
            names[kept++] = names[i];
    }
    *count = kept;
}
