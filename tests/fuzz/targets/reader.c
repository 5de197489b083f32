/* Any bytes as an image file whose format is found by content. */
#include "../fuzz.h"
#include "../read_image.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gconv_format format = gconv_format_from_content(data, size);
    FUZZ_REQUIRE(format >= GCONV_FORMAT_UNKNOWN && format < GCONV_FORMAT_COUNT, "%d", (int)format);
    FUZZ_REQUIRE(strcmp(gconv_format_name(format), "unknown") != 0 ||
                     format == GCONV_FORMAT_UNKNOWN,
                 "format %d has no name", (int)format);
    fuzz_read_image(data, size);
    return 0;
}
