/* AVIF and HEIC files. What does not begin as one is passed over: target `reader` has it. */
#include "../fuzz.h"
#include "../read_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gconv_format format = gconv_format_from_content(data, size);
    if (format == GCONV_FORMAT_AVIF || format == GCONV_FORMAT_HEIC)
        fuzz_read_image(data, size);
    return 0;
}
