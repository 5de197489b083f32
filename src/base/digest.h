/* Hashes of files, by libraries: XXH3 of 128 bits from xxHash, SHA-256 from Nettle. A build may
 * lack either. */
#pragma once

#include "gconv.h"

typedef enum gc_digest_kind { GC_DIGEST_XXH3, GC_DIGEST_SHA256, GC_DIGEST_KINDS } gc_digest_kind;

/* "sha256:", 64 digits and NUL fit. */
enum { GC_DIGEST_BYTES = 80 };

/* "xxh3" or "sha256". */
const char *gc_digest_name(gc_digest_kind kind);

/* Fails if the build lacks the library, or the system does. */
gconv_status gc_digest_check(gc_digest_kind kind, gconv_error *error);

/* The kind of a hash, by the name before its colon. False if there is none. */
bool gc_digest_kind_of(const char *text, gc_digest_kind *kind);

/* The hash of a file whose bytes are shown as they are read or written. */
typedef struct gc_digest gc_digest;

/* NULL if memory is out or the library is not there. free releases it. */
gc_digest *gc_digest_create(gc_digest_kind kind);

/* A gconv_bytes_function, whose `user` is a gc_digest. Counts bytes that follow those that are
 * counted already. Leaves others to gc_digest_end. */
void gc_digest_show(void *digest, uint64_t offset, const void *bytes, size_t size);

/* As gc_digest_file. Reads what was not counted. Once for each digest. */
gconv_status gc_digest_end(gc_digest *digest, int descriptor, int64_t size,
                           char text[GC_DIGEST_BYTES], gconv_error *error);

/* Writes "NAME:DIGITS" of the first `size` bytes of a regular file, of all if it has fewer. The
 * offset of the descriptor stays. */
gconv_status gc_digest_file(gc_digest_kind kind, int descriptor, int64_t size,
                            char text[GC_DIGEST_BYTES], gconv_error *error);
