/* JPEG files. What does not begin as one is passed over: target `reader` has it. */
#include "../fuzz.h"
#include "../read_image.h"

#include "io/fast.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gc_jpeg_rows_pixels_min = 0;
    if (gconv_format_from_content(data, size) == GCONV_FORMAT_JPEG)
        fuzz_read_image(data, size);
    return 0;
}
