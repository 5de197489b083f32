/* The filters of a command, loaded. */
#ifndef GC_CLI_IMAGE_CHAIN_H
#define GC_CLI_IMAGE_CHAIN_H

#include "cli/options/options.h"
#include "gconv.h"

typedef struct gc_filter_chain {
    gconv_filter **filters; /* in the order in which they are applied; owned */
    int count;
} gc_filter_chain;

/* Loads what --kernel names, or the built-in filters of the chain of edges where it was not given.
 * On failure `*blamed` is the --kernel at fault, and the chain holds what was loaded before it. */
gconv_status gc_filter_chain_load(const gc_options *options, gc_filter_chain *chain,
                                  const char **blamed, gconv_error *error);
void gc_filter_chain_free(gc_filter_chain *chain);

/* Writes how a filter's text was read: "rows of weights", "SIGMA 1 and SIZE 5", "a built-in
 * filter". `name` is its --kernel. */
void gc_filter_reading(const char *name, const gconv_filter *filter, char *text, size_t size);

/* Multiply-adds that one value takes: the weights of all filters. */
double gc_filter_chain_taps(const gc_filter_chain *chain);

#endif
