#include "cli/options/implementations.h"

#include "base/memory.h"
#include "base/status.h"
#include "cli/options/words.h"

#include <stdio.h>
#include <string.h>

bool gc_next_name(const char **list, char name[GC_NAME_BYTES])
{
    if (*list == NULL)
        return false;
    size_t length = strcspn(*list, ",");
    snprintf(name, GC_NAME_BYTES, "%.*s", (int)length, *list);
    *list = (*list)[length] == ',' ? *list + length + 1 : NULL;
    return true;
}

/* Suggests the variant that is called so behind its colon, else the nearest name. */
static void suggest_name(const char *name, const char *const *names, size_t count, char *buffer,
                         size_t size)
{
    for (size_t i = 0; i < count; i++) {
        const char *colon = strchr(names[i], ':');
        if (colon != NULL && strcmp(colon + 1, name) == 0) {
            snprintf(buffer, size, "; did you mean '%s'?", names[i]);
            return;
        }
    }
    gc_suggest(name, names, count, buffer, size);
}

static gconv_status check_name(const char *name, gconv_error *error)
{
    enum { WORDS = 2, NAMES_MAX = 64 };
    const char *names[NAMES_MAX] = {"auto", "all"};
    char legal[256] = "auto", nearest[64];
    size_t count = WORDS;
    for (int i = 0; i < gconv_implementation_count() && count < NAMES_MAX; i++)
        names[count++] = gconv_implementation_name(i);
    if (strcmp(name, "auto") == 0 || strcmp(name, "all") == 0 ||
        gconv_implementation_find(name) >= 0)
        return GCONV_OK;
    for (size_t i = WORDS; i < count; i++)
        if (strchr(names[i], ':') == NULL)
            gc_list_name(legal, sizeof legal, names[i], 1);
    gc_list_name(legal, sizeof legal, "one of their variants", 0);
    suggest_name(name, names, count, nearest, sizeof nearest);
    return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%s' is not %s%s", name, legal, nearest);
}

gconv_status gc_check_names(const char *list, gconv_error *error)
{
    char name[GC_NAME_BYTES];
    while (gc_next_name(&list, name))
        GC_TRY(check_name(name, error));
    return GCONV_OK;
}

/* Whether `name` is one of the names in the list. */
static bool lists(const char *list, const char *name)
{
    char one[GC_NAME_BYTES];
    while (gc_next_name(&list, one))
        if (strcmp(one, name) == 0)
            return true;
    return false;
}

bool gc_names_several(const char *list)
{
    return strchr(list, ',') != NULL || strcmp(list, "all") == 0;
}

bool gc_names_each(const char *list)
{
    return list != NULL && !lists(list, "all");
}

/* Names, and behind them the bytes of those that no table has. */
typedef struct name_list {
    const char **at;
    int count;
    char *room;
} name_list;

/* Appends a name unless it is there. */
static void add_name(name_list *names, const char *name)
{
    for (int i = 0; i < names->count; i++)
        if (strcmp(names->at[i], name) == 0)
            return;
    names->at[names->count++] = name;
}

/* Appends a name that says a thread block or a tiling factor, too, from a list that ends. */
static void add_copy(name_list *names, const char *name)
{
    int count = names->count;
    size_t size = strlen(name) + 1;
    memcpy(names->room, name, size);
    add_name(names, names->room);
    if (names->count > count)
        names->room += size;
}

/* Appends what a name of a list stands for. */
static void add_wanted(name_list *names, const char *wanted)
{
    if (strcmp(wanted, "auto") == 0)
        add_name(names, "auto");
    int found = gconv_implementation_find(wanted);
    if (found >= 0 && strcmp(wanted, gconv_implementation_name(found)) == 0)
        add_name(names, gconv_implementation_name(found));
    else if (found >= 0)
        add_copy(names, wanted);
    for (int i = 0; i < gconv_implementation_count(); i++)
        /* "all" leaves out variants that run on GPUs. */
        if (strcmp(wanted, "all") == 0 && (strchr(gconv_implementation_name(i), ':') == NULL ||
                                           gconv_implementation_kind(i) == GCONV_DEVICE_CPU))
            add_name(names, gconv_implementation_name(i));
}

const char **gc_expand_names(const char *list, int *count)
{
    size_t most = (size_t)gconv_implementation_count() + strlen(list) + 1;
    size_t bytes = strlen(list) + GC_NAME_BYTES;
    name_list names = {.at = gc_allocate_array(1, most * sizeof *names.at + bytes)};
    char wanted[GC_NAME_BYTES];
    *count = 0;
    if (names.at == NULL)
        return NULL;
    names.room = (char *)(names.at + most);
    if (lists(list, "reference") || lists(list, "all"))
        add_name(&names, "reference");
    while (gc_next_name(&list, wanted))
        add_wanted(&names, wanted);
    *count = names.count;
    return names.at;
}

bool gc_describe_name(const char *name, gconv_implementation_info *info)
{
    int index = gconv_implementation_find(name);
    return index >= 0 && gconv_implementation_describe(index, info, NULL) == GCONV_OK;
}

bool gc_is_cuda(const char *name)
{
    int index = gconv_implementation_find(name);
    return index >= 0 && gconv_implementation_kind(index) == GCONV_DEVICE_CUDA;
}
