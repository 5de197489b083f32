/* The names in a directory. */
#ifndef GC_CLI_TASKS_LISTING_H
#define GC_CLI_TASKS_LISTING_H

#include <stdbool.h>
#include <stddef.h>

typedef struct gc_listed_name {
    char *name;
    bool is_file; /* a regular file; false, too, where the file system does not tell in a listing */
} gc_listed_name;

typedef struct gc_name_list {
    gc_listed_name *names;
    size_t count, capacity;
} gc_name_list;

/* Lists a directory into an empty list, sorted by bytes; names that begin with a dot are left out.
 * False with errno set where that fails; the names that were read are there all the same. */
bool gc_list_directory(const char *path, gc_name_list *list);

void gc_free_names(gc_name_list *list);

#endif
