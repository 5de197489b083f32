/* What a journal has of results that replaced their inputs, whatever their names: a file of this
 * content is done already. */
#ifndef GC_CLI_JOURNAL_RESULTS_H
#define GC_CLI_JOURNAL_RESULTS_H

#include "cli/journal/journal.h"
#include "cli/tasks/seen.h"
#include "gconv.h"

/* 32 bytes of memory for each result. It does not change once it is read. */
typedef struct gc_results {
    gc_seen seen;                /* sizes and hashes */
    bool kinds[GC_DIGEST_KINDS]; /* that the hashes have */
} gc_results;

/* Whether a recipe of this name made results that count. */
typedef bool gc_recipe_function(const void *user, const char *name);

/* Reads the results of recipes that count. gc_results_free releases them, after a failure too. */
gconv_status gc_results_read(const gc_journal *journal, gc_recipe_function *counts,
                             const void *user, gc_results *results, gconv_error *error);

/* Whether the content of a regular file is one of the results. False where it cannot be read. Any
 * thread. */
bool gc_results_have(const gc_results *results, const char *path);

void gc_results_free(gc_results *results);

#endif
