/* Names of inputs and outputs, and the formats that they stand for. */
#ifndef GC_CLI_TASKS_NAMES_H
#define GC_CLI_TASKS_NAMES_H

#include "cli/options/options.h"
#include "gconv.h"

/* What messages call a path: the path itself, or what "-" stands for. */
const char *gc_input_name(const char *path);
const char *gc_output_name(const char *path);

/* The part of a path behind its last slash. */
const char *gc_base_name(const char *path);

/* "DIRECTORY/NAME" as a new string, NULL where there is no memory. */
char *gc_join_path(const char *directory, const char *name);

/* Whether a path leads to a directory; false for "-". */
bool gc_is_directory(const char *path);

/* Whether nothing is in a directory. True where it does not exist. */
bool gc_is_empty_directory(const char *path);

/* Whether an errno is about the state of the machine, not about the file. The same call may succeed
 * at another time. */
bool gc_is_passing(int error_number);

/* The format by content. The path is that of a regular file, or of none. Where a passing failure
 * (gc_is_passing) hides the content, *unknown becomes its errno. Such a file may be an image, so
 * the caller must not skip it. *foreign becomes the format that is known by sight; NULL: nobody
 * asks. */
gconv_format gc_sniff(const char *path, int *unknown, const gconv_foreign_format **foreign);

/* Whether the extension of a path stands for PGM and PPM alike. */
bool gc_is_either_pnm(const char *path);

/* Whether the extension of `path` fits an output in `format`. */
bool gc_extension_fits(const gc_options *options, const char *path, gconv_format format);

/* Fails where the extension of an output is that of a format which gconv does not write. */
gconv_status gc_check_extension(const char *path, gconv_error *error);

/* Fails where `format` cannot hold samples of `depth` bits. GCONV_FORMAT_UNKNOWN passes. */
gconv_status gc_check_depth(gconv_format format, int depth, gconv_error *error);

#endif
