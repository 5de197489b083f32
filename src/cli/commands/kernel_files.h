/* What `gconv kernel` writes to files: a filter as text, and the frequency response of a chain. */
#ifndef GC_CLI_COMMANDS_KERNEL_FILES_H
#define GC_CLI_COMMANDS_KERNEL_FILES_H

#include "cli/options/options.h"
#include "gconv.h"

/* Writes a filter in a notation from which gconv reads the same filter again. GCONV_ERROR_FILTER
 * where the notation cannot hold it. */
gconv_status gc_kernel_write(const char *path, const gconv_filter *filter, gc_notation notation,
                             gconv_error *error);

/* Writes the magnitudes of the chain's frequency response: as CSV where the name ends so, else as
 * PNG. *largest becomes the largest magnitude, which is white. */
gconv_status gc_kernel_response(const char *path, gconv_filter *const *filters, int count,
                                double *largest, gconv_error *error);

#endif
