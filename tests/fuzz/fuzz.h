/* What every fuzz target shares: the entry that libFuzzer calls, requirements, and bytes read as
 * choices. */
#pragma once

#include "../owned.h"
#include "gconv.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* One input; always returns 0. A broken promise ends the process by abort. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the process where a promise is broken. */
#define FUZZ_REQUIRE(condition, ...)                                                               \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "broken promise at %s:%d: %s: ", __FILE__, __LINE__, #condition);      \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fputc('\n', stderr);                                                                   \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* Requires that a failure left its one line of text, without control characters. */
void fuzz_require_message(gconv_status status, const gconv_error *error);

/* malloc that ends the process; at least 1 byte. Memory is taken to the byte, so that
 * AddressSanitizer sees the first one beyond. */
void *fuzz_allocate(size_t bytes);

/* A copy with nothing readable behind it. */
void *fuzz_copy(const void *bytes, size_t size);

/* The same with a NUL behind it. */
char *fuzz_copy_text(const void *bytes, size_t size);

/* ---- Bytes read as choices ------------------------------------------------------------------- */

/* Reads choices from the front; 0 if none are left. */
typedef struct fuzz_bytes {
    const uint8_t *next;
    size_t left;
} fuzz_bytes;

uint8_t fuzz_byte(fuzz_bytes *from);
uint32_t fuzz_word(fuzz_bytes *from); /* of 4 bytes, the first one lowest */

/* From 0 to count-1, of one byte. */
int fuzz_below(fuzz_bytes *from, int count);
