/* What decides the pixels of a result beside the input: command, options and filters. */
#pragma once

#include "cli/journal/record.h"
#include "cli/options/options.h"
#include "gconv.h"

/* The version of what recipes stand for. A change that alters pixels of any output raises it, or
 * journals take outputs of an earlier version for done. */
enum { GC_DEFINITION = 5 };

typedef struct gc_recipe {
    char name[GC_RECIPE_BYTES];                       /* a hash of what follows */
    char earlier[GC_DEFINITION - 1][GC_RECIPE_BYTES]; /* its names under versions 1, 2, ... */
    char *line;                                       /* of a journal, with its newline; owned */
} gc_recipe;

/* Fills the recipe from options that count as they were given, and from the numbers of the filters,
 * so that a filter file that changed makes another recipe. */
gconv_status gc_recipe_create(const gc_options *options, gconv_filter *const *filters, int count,
                              gc_recipe *recipe, gconv_error *error);

/* Whether this is the name of a gc_recipe under this version or an earlier one. An output that
 * replaced its input by such a recipe counts as done: the input is gone. */
bool gc_recipe_was(const void *recipe, const char *name);

void gc_recipe_destroy(gc_recipe *recipe);
