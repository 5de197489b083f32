#include "io/png/fast/checks.h"

#if GC_HAS_ISAL
#include <isa-l.h>

uint32_t gc_adler32(const uint8_t *bytes, size_t count)
{
    return isal_adler32(1, bytes, count);
}

uint32_t gc_crc32(uint32_t check, const uint8_t *bytes, size_t count)
{
    return crc32_gzip_refl(check, bytes, count);
}
#else
#include <zlib.h>

uint32_t gc_adler32(const uint8_t *bytes, size_t count)
{
    return (uint32_t)adler32(1, bytes, (uInt)count);
}

uint32_t gc_crc32(uint32_t check, const uint8_t *bytes, size_t count)
{
    return (uint32_t)crc32(check, bytes, (uInt)count);
}
#endif
