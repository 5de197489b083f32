/* The checks of zlib and PNG, by ISA-L if the build has it: zlib takes several times as long. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The Adler-32 of these bytes alone. */
uint32_t gc_adler32(const uint8_t *bytes, size_t count);

/* The CRC-32 of the bytes that `check` stands for, 0 if there are none, and of these. */
uint32_t gc_crc32(uint32_t check, const uint8_t *bytes, size_t count);
