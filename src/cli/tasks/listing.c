#include "cli/tasks/listing.h"

#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int compare_names(const void *a, const void *b)
{
    const gc_listed_name *x = a, *y = b;
    return strcmp(x->name, y->name);
}

/* Whether the listing itself says that an entry is a regular file. */
static bool is_listed_as_file(const struct dirent *entry)
{
#ifdef DT_REG
    return entry->d_type == DT_REG;
#else /* a system whose listings do not tell */
    (void)entry;
    return false;
#endif
}

static bool add_name(gc_name_list *list, const struct dirent *entry)
{
    gc_listed_name *names = gc_make_room(list->names, list->count, &list->capacity, sizeof *names);
    if (names == NULL)
        return false;
    list->names = names;
    names[list->count] = (gc_listed_name){gc_copy_string(entry->d_name), is_listed_as_file(entry)};
    return names[list->count].name != NULL && ++list->count > 0;
}

void gc_free_names(gc_name_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->names[i].name);
    free(list->names);
}

bool gc_list_directory(const char *path, gc_name_list *list)
{
    DIR *directory = opendir(path);
    if (directory == NULL)
        return false;
    bool listed = true;
    struct dirent *entry;
    errno = 0;
    while (listed && (entry = readdir(directory)) != NULL) {
        if (entry->d_name[0] != '.')
            listed = add_name(list, entry);
        errno = listed ? 0 : ENOMEM;
    }
    int failure = errno;
    closedir(directory);
    if (list->count > 0)
        qsort(list->names, list->count, sizeof list->names[0], compare_names);
    errno = failure;
    return failure == 0;
}
