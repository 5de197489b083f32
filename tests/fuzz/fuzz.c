#include "fuzz.h"

#include <string.h>

void fuzz_require_message(gconv_status status, const gconv_error *error)
{
    FUZZ_REQUIRE(status > GCONV_OK && status < GCONV_STATUS_COUNT, "status %d", (int)status);
    FUZZ_REQUIRE(error->status == status, "returned %d, left %d", (int)status, (int)error->status);
    size_t length = strnlen(error->message, sizeof error->message);
    FUZZ_REQUIRE(length > 0 && length < sizeof error->message, "%zu bytes", length);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)error->message[i];
        FUZZ_REQUIRE(c >= 0x20 && c != 0x7f, "byte %02x in '%s'", c, error->message);
    }
}

void *fuzz_allocate(size_t bytes)
{
    void *memory = malloc(bytes > 0 ? bytes : 1);
    if (memory == NULL) {
        fprintf(stderr, "out of memory (%zu bytes)\n", bytes);
        exit(1);
    }
    return memory;
}

void *fuzz_copy(const void *bytes, size_t size)
{
    void *copy = fuzz_allocate(size);
    if (size > 0)
        memcpy(copy, bytes, size);
    return copy;
}

char *fuzz_copy_text(const void *bytes, size_t size)
{
    char *copy = fuzz_allocate(size + 1);
    if (size > 0)
        memcpy(copy, bytes, size);
    copy[size] = '\0';
    return copy;
}

uint8_t fuzz_byte(fuzz_bytes *from)
{
    if (from->left == 0)
        return 0;
    from->left--;
    return *from->next++;
}

uint32_t fuzz_word(fuzz_bytes *from)
{
    uint32_t word = 0;
    for (int i = 0; i < 4; i++)
        word |= (uint32_t)fuzz_byte(from) << 8 * i;
    return word;
}

int fuzz_below(fuzz_bytes *from, int count)
{
    return fuzz_byte(from) % count;
}
