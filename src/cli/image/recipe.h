/* What decides the pixels of a result beside the input: command, options and filters. */
#ifndef GC_CLI_IMAGE_RECIPE_H
#define GC_CLI_IMAGE_RECIPE_H

#include "cli/image/chain.h"
#include "cli/journal/record.h"
#include "cli/options/options.h"
#include "gconv.h"

typedef struct gc_recipe {
    char name[GC_RECIPE_BYTES]; /* a hash of what follows */
    char *line;                 /* of a journal, with its newline; owned */
    size_t size;
} gc_recipe;

/* Fills the recipe from options that count as they were given, and from the numbers of the filters,
 * so that a filter file that changed makes another recipe. */
gconv_status gc_recipe_create(const gc_options *options, const gc_filter_chain *chain,
                              gc_recipe *recipe, gconv_error *error);

void gc_recipe_destroy(gc_recipe *recipe);

#endif
