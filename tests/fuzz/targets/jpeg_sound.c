/* JPEG files through what reads their header for devices, and through the judge of their data: if
 * both call a file sound, libjpeg decodes it without a warning. */
#include "../fuzz.h"

#include "jpeg/sound.h"
#include "jpeg/turbo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    jpeg_verdict verdict;
    uint8_t *bytes = fuzz_copy(data, size);
    if (!jpeg_is_sound(bytes, size, &verdict)) {
        FUZZ_REQUIRE(verdict.reason != NULL, "rejected without a reason");
        free(bytes);
        return 0;
    }
    turbo_image image;
    FUZZ_REQUIRE(verdict.layout.mcus > 0, "no MCUs");
    FUZZ_REQUIRE(verdict.layout.data < verdict.bytes && verdict.bytes <= size, "%zu bytes",
                 verdict.bytes);
    FUZZ_REQUIRE(turbo_decode(&(gconv_encoded){.bytes = bytes, .size = size}, &image),
                 "libjpeg fails or warns");
    turbo_free(&image);
    free(bytes);
    return 0;
}
