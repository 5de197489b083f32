/* Y4M streams. What does not begin as one is passed over: target `reader` has it. */
#include "../fuzz.h"
#include "../read_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (gconv_format_from_content(data, size) == GCONV_FORMAT_Y4M)
        fuzz_read_image(data, size);
    return 0;
}
