/* Names of a batch's outputs, below the output directory. */
#ifndef GC_CLI_TASKS_NAMING_H
#define GC_CLI_TASKS_NAMING_H

#include "cli/options/options.h"
#include "gconv.h"

/* A path without "." and "..", without a slash at its beginning and without repeated slashes, as a
 * new string: "/a/./b//../c" becomes "a/c". A ".." that leads out is dropped. "" where nothing is
 * left. NULL where there is no memory. */
char *gc_clean_path(const char *path);

/* The path of a batch's output as a new string, NULL where there is no memory. `relative` is the
 * input's path below its root; its extension is changed where it does not fit `format`. --name
 * makes another name of its parts. The result lies below the output directory. */
char *gc_batch_output(const gc_options *options, const char *relative, gconv_format format);

/* The format that the extension of --name stands for, if the template ends in one.
 * GCONV_FORMAT_UNKNOWN where it does not, and without --name. */
gconv_format gc_template_format(const gc_options *options);

/* The format of a batch's output: that of --format; else that of --name; else PNG for edges; else
 * that of the input, found by gc_sniff where `is_file` says that it is a regular file. */
gconv_format gc_batch_format(const gc_options *options, const char *input, bool is_file,
                             int *unknown);

#endif
