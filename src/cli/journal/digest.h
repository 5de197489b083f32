/* Hashes of files, by libraries: XXH3 of 128 bits from xxHash, SHA-256 from Nettle. A build may
 * lack either. */
#ifndef GC_CLI_JOURNAL_DIGEST_H
#define GC_CLI_JOURNAL_DIGEST_H

#include "gconv.h"

typedef enum gc_digest_kind { GC_DIGEST_XXH3, GC_DIGEST_SHA256, GC_DIGEST_KINDS } gc_digest_kind;

/* "sha256:", 64 digits and NUL fit. */
enum { GC_DIGEST_BYTES = 80 };

/* "xxh3" or "sha256". */
const char *gc_digest_name(gc_digest_kind kind);

/* GCONV_ERROR_UNSUPPORTED where the build lacks the library. */
gconv_status gc_digest_check(gc_digest_kind kind, gconv_error *error);

/* The kind of a hash, by the name before its colon. False where there is none. */
bool gc_digest_kind_of(const char *text, gc_digest_kind *kind);

/* Writes "NAME:DIGITS" of the first `size` bytes of a regular file, of all where it has fewer. The
 * offset of the descriptor stays. */
gconv_status gc_digest_file(gc_digest_kind kind, int descriptor, int64_t size,
                            char text[GC_DIGEST_BYTES], gconv_error *error);

#endif
