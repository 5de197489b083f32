/* Some rows of an image: --rows and --join. */
#ifndef GC_CLI_OPTIONS_ROWS_H
#define GC_CLI_OPTIONS_ROWS_H

#include "gconv.h"

/* Rows of the output from row `first` on, which is 0 at the top; count 0 stands for all of them. */
typedef struct gc_rows {
    uint32_t first, count;
    bool join; /* they become parts that cat joins */
} gc_rows;

struct gc_options;

/* Refuses options that --rows does not go with: those of batches, of GPUs, and --verify. */
gconv_status gc_check_rows(const struct gc_options *options, gconv_error *error);

#endif
