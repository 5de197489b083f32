/* What `gconv kernel` writes to files. */
#ifndef GC_CLI_COMMANDS_KERNEL_FILES_H
#define GC_CLI_COMMANDS_KERNEL_FILES_H

#include "base/buffer.h"
#include "cli/options/options.h"
#include "gconv.h"

/* Writes a filter in a notation from which gconv reads the same filter again. GCONV_ERROR_FILTER if
 * the notation cannot hold it. */
gconv_status gc_kernel_write(const char *path, const gconv_filter *filter, gc_notation notation,
                             gconv_error *error);

/* Writes a text to a file, which appears whole or not at all, and frees the text. */
gconv_status gc_write_text(const char *path, gc_buffer *text, gconv_error *error);

#endif
