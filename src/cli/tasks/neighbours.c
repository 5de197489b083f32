#include "cli/tasks/neighbours.h"

#include "cli/tasks/names.h"
#include "gconv.h"

#include <dirent.h>
#include <string.h>

/* The key of the images in a directory that have the stem of `name`. */
static gc_hash hash_stem(gc_hash directory, const char *name)
{
    return gc_hash_string(gc_hash_bytes(directory, name, gc_find_extension(name)), "");
}

static bool add_name(gc_neighbours *n, gc_hash directory, const char *name)
{
    gc_hash key = hash_stem(directory, name);
    uint64_t before = gc_map_find(&n->last, key), place = n->names.size + 1;
    gc_buffer_add(&n->names, &before, sizeof before);
    gc_buffer_add(&n->names, name, strlen(name) + 1);
    return !n->names.failed && gc_map_set(&n->last, key, place);
}

static bool list_images(gc_neighbours *n, gc_hash directory, const char *path)
{
    DIR *opened = opendir(path);
    bool kept = true;
    if (opened == NULL)
        return true;
    for (const struct dirent *entry; kept && (entry = readdir(opened)) != NULL;) {
        const gconv_format_info *info =
            gconv_format_describe(gconv_format_from_path(entry->d_name));
        if (info != NULL && info->reads && entry->d_type != DT_DIR)
            kept = add_name(n, directory, entry->d_name);
    }
    closedir(opened);
    return kept;
}

bool gc_neighbours_find(gc_neighbours *neighbours, const char *path, uint64_t *place)
{
    const char *name = gc_base_name(path);
    char directory[PATH_MAX];
    size_t length = (size_t)(name - path);
    gc_hash hash = gc_hash_bytes(gc_hash_start(), path, length);
    gc_hash listed = gc_hash_string(hash, "/"); /* which no stem holds */
    bool kept = true;
    if (gc_map_find(&neighbours->last, listed) == 0 && length + 2 <= sizeof directory) {
        memcpy(directory, path, length);
        memcpy(directory + length, ".", 2);
        kept = gc_map_set(&neighbours->last, listed, 1) && list_images(neighbours, hash, directory);
    }
    *place = gc_map_find(&neighbours->last, hash_stem(hash, name));
    return kept;
}

const char *gc_neighbours_next(const gc_neighbours *neighbours, uint64_t *place)
{
    const char *record = neighbours->names.bytes + *place - 1;
    memcpy(place, record, sizeof *place);
    return record + sizeof *place;
}

void gc_neighbours_free(gc_neighbours *neighbours)
{
    gc_map_free(&neighbours->last);
    gc_buffer_free(&neighbours->names);
}
