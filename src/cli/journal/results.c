#include "cli/journal/results.h"

#include "base/status.h"

#include <fcntl.h>
#include <unistd.h>

/* Sizes and hashes are told apart by the kind of their entries. */
static const gc_seen_kind size_kind = GC_SEEN_INPUT, digest_kind = GC_SEEN_OUTPUT;

static gc_hash hash_size(int64_t size)
{
    return gc_hash_bytes(gc_hash_start(), &size, sizeof size);
}

static bool add(gc_seen *seen, gc_hash hash, gc_seen_kind kind)
{
    return gc_seen_find(seen, hash, kind) != 0 || gc_seen_add(seen, hash, kind, 1);
}

typedef struct reading {
    gc_results *results;
    gc_recipe_function *counts;
    const void *user;
} reading;

/* A gc_journal_function. */
static gconv_status take(void *user, const gc_record *record, gconv_error *error)
{
    const reading *r = user;
    gc_digest_kind kind;
    if (!record->in_place || !r->counts(r->user, record->recipe) ||
        !gc_digest_kind_of(record->out.digest, &kind))
        return GCONV_OK;
    gc_hash digest = gc_hash_string(gc_hash_start(), record->out.digest);
    r->results->kinds[kind] = true;
    if (add(&r->results->seen, hash_size(record->out.size), size_kind) &&
        add(&r->results->seen, digest, digest_kind))
        return GCONV_OK;
    return gc_fail_memory(error, sizeof(gc_seen_entry));
}

gconv_status gc_results_read(const gc_journal *journal, gc_recipe_function *counts,
                             const void *user, gc_results *results, gconv_error *error)
{
    reading r = {results, counts, user};
    *results = (gc_results){.seen = {.entries = NULL}};
    return gc_journal_each_line(journal, take, &r, error);
}

/* Whether the hash of an open file of this size, by one of the kinds, is that of a result. */
static bool has_content(const gc_results *results, int descriptor, int64_t size)
{
    char digest[GC_DIGEST_BYTES];
    bool found = false;
    for (int kind = 0; !found && kind < GC_DIGEST_KINDS; kind++)
        found =
            results->kinds[kind] &&
            gc_digest_file((gc_digest_kind)kind, descriptor, size, digest, NULL) == GCONV_OK &&
            gc_seen_find(&results->seen, gc_hash_string(gc_hash_start(), digest), digest_kind) != 0;
    return found;
}

bool gc_results_have(const gc_results *results, const char *path)
{
    struct stat about;
    if (results->seen.count == 0)
        return false;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return false;
    bool found = fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) &&
                 gc_seen_find(&results->seen, hash_size(about.st_size), size_kind) != 0 &&
                 has_content(results, descriptor, about.st_size);
    close(descriptor);
    return found;
}

void gc_results_free(gc_results *results)
{
    gc_seen_free(&results->seen);
}
