/* JPEG files through what reads their header for devices, and through the judge of their data: if
 * both call a file sound, libjpeg does not warn, and a model gives the same planes. */
#include "../fuzz.h"

#include "jpeg/planes.h"
#include "jpeg/sound.h"

static bool samples_wrap(void)
{
    static int known = -1;
    if (known < 0)
        known = jpeg_samples_wrap();
    return known != 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    jpeg_verdict verdict;
    uint8_t *bytes = fuzz_copy(data, size);
    if (!jpeg_is_sound(bytes, size, &verdict)) {
        FUZZ_REQUIRE(verdict.reason != NULL, "rejected without a reason");
        free(bytes);
        return 0;
    }
    jpeg_planes wanted, got;
    long warnings;
    char text[JMSG_LENGTH_MAX];
    FUZZ_REQUIRE(verdict.layout.mcus > 0, "no MCUs");
    FUZZ_REQUIRE(verdict.layout.data < verdict.bytes && verdict.bytes <= size, "%zu bytes",
                 verdict.bytes);
    FUZZ_REQUIRE(jpeg_planes_by_libjpeg(bytes, size, &wanted, &warnings, text), "%s", text);
    FUZZ_REQUIRE(warnings == 0, "%ld warnings", warnings);
    const char *complaint = jpeg_planes_by_model(bytes, verdict.bytes, samples_wrap(), &got);
    FUZZ_REQUIRE(complaint == NULL, "%s", complaint);
    FUZZ_REQUIRE(!jpeg_planes_differ(&got, &wanted, text, sizeof text), "%s", text);
    jpeg_planes_free(&got);
    jpeg_planes_free(&wanted);
    free(bytes);
    return 0;
}
