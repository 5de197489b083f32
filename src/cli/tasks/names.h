/* Names of inputs and outputs, and the formats that they stand for. */
#pragma once

#include "base/hash.h"
#include "cli/options/options.h"
#include "gconv.h"

#include <limits.h>
#include <sys/stat.h>

/* What messages call a path: the path itself, or what "-" stands for. */
const char *gc_input_name(const char *path);
const char *gc_output_name(const char *path);

/* Refuses "-" if standard input is a terminal. */
gconv_status gc_check_input(const char *path, gconv_error *error);

/* The part of a path behind its last slash. */
const char *gc_base_name(const char *path);

/* The place of the dot before the extension of a path; the end of the path if it has none. */
size_t gc_find_extension(const char *path);

/* "DIRECTORY/NAME" as a new string, NULL if there is no memory. */
char *gc_join_path(const char *directory, const char *name);

/* Whether a path leads to a directory; false for "-". */
bool gc_is_directory(const char *path);

/* Whether nothing is in a directory. True if it does not exist. */
bool gc_is_empty_directory(const char *path);

/* Whether an errno is about the state of the machine, not about the file. The same call may succeed
 * at another time. */
bool gc_is_passing(int error_number);

/* The format by content. The path is that of a regular file, or of none. If a passing failure
 * (gc_is_passing) hides the content, *unknown becomes its errno. Such a file may be an image, so
 * the caller must not skip it. *foreign becomes the format that is known by sight; NULL: nobody
 * asks. */
gconv_format gc_sniff(const char *path, int *unknown, const gconv_foreign_format **foreign);

/* Whether an input is of a format that gconv does not read, so that it has no output. It is looked
 * into if it has the extension of such a format. */
bool gc_is_foreign(const char *path);

/* Whether an extension fits an output in `format`. */
bool gc_extension_fits(const gc_options *options, const gc_named_format *named,
                       gconv_format format);

/* Fails if the extension of an output is that of a format which gconv does not write, or of none
 * unless one is wanted. */
gconv_status gc_check_extension(const gc_named_format *named, gconv_format wanted,
                                gconv_error *error);

/* Fails if a format cannot hold samples of `depth` bits. NULL, an unknown format, passes. */
gconv_status gc_check_depth(const gconv_format_info *format, int depth, gconv_error *error);

/* ---- Outputs of a batch ---------------------------------------------------------------------- */

/* A path without "." and "..", without a slash at its beginning and without repeated slashes, as a
 * new string: "/a/./b//../c" becomes "a/c". A ".." that leads out is dropped. "" if nothing is
 * left. NULL if there is no memory. */
char *gc_clean_path(const char *path);

/* The path of a batch's output as a new string, NULL if there is no memory. `relative` is the
 * input's path below its root; its extension, `named`, is changed if it does not fit `format`.
 * --name makes another name of its parts. The result lies below the output directory. */
char *gc_batch_output(const gc_options *options, const char *relative, const gc_named_format *named,
                      gconv_format format);

/* The format of a batch's output: that of --format; else that of --name; else PNG for edges; else
 * that of the input, found by gc_sniff if `is_file` says that it is a regular file, else by its
 * extension, `named`. */
gconv_format gc_batch_format(const gc_options *options, const char *input,
                             const gc_named_format *named, bool is_file, int *unknown);

/* ---- Which file a path leads to -------------------------------------------------------------- */

/* Also if it does not exist yet. */

/* The directory that was looked up last, so that names in one directory cost little. */
typedef struct gc_identity_cache {
    char asked[PATH_MAX];    /* "": none yet */
    char resolved[PATH_MAX]; /* without links as far as it exists */
} gc_identity_cache;

/* What a path leads to. */
typedef struct gc_identity {
    /* The hash of the path without links. Two paths to one name have equal hashes, whether the file
     * exists or not. */
    gc_hash path;
    gc_hash file; /* of the file: equal for all its names (hard links) */
    mode_t mode;  /* st_mode of what is there; 0: nothing is */
} gc_identity;

gc_identity gc_identify(gc_identity_cache *cache, const char *path);

/* gc_identify without a look at the last part of the path: its links are not followed, it has one
 * name, and its mode is 0. */
gc_identity gc_identify_plain(gc_identity_cache *cache, const char *path);

/* Whether two paths lead to one file: hard links count as different files. False if one is NULL or
 * "-". */
bool gc_is_one_path(const char *a, const char *b);

/* Whether an output would take the place of its input. What is written to directly replaces
 * nothing. */
bool gc_replaces_input(const char *input, const char *output);

/* Whether `path` names something in a directory or below it. Neither needs to exist. */
bool gc_lies_below(const char *path, const char *directory);
