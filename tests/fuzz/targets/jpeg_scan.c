/* JPEG files through the scan: where it calls a file sound, libjpeg does not warn, and the header
 * alone says the same. */
#include "../fuzz.h"

#include "io/jpeg/scan.h"
#include "jpeg/planes.h"

static bool samples_wrap(void)
{
    static int known = -1;
    if (known < 0)
        known = jpeg_samples_wrap();
    return known != 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gc_jpeg_facts facts, alone;
    gc_jpeg_layout layout;
    const char *doubt = NULL;
    uint8_t *bytes = fuzz_copy(data, size);
    bool has_layout = gc_jpeg_read_layout(bytes, size, &alone, &layout, &doubt);
    FUZZ_REQUIRE(has_layout || doubt != NULL, "a doubt without a word");
    FUZZ_REQUIRE(!has_layout || (layout.data <= size && layout.mcus > 0), "%zu", layout.data);
    if (!gc_jpeg_scan(bytes, size, &facts, &doubt)) {
        FUZZ_REQUIRE(doubt != NULL, "a doubt without a word");
        free(bytes);
        return 0;
    }
    jpeg_planes wanted, got;
    long warnings;
    char text[JMSG_LENGTH_MAX];
    FUZZ_REQUIRE(has_layout && layout.data == facts.data, "sound without its header");
    FUZZ_REQUIRE(facts.data < facts.bytes && facts.bytes <= size, "%zu bytes", facts.bytes);
    FUZZ_REQUIRE(jpeg_planes_by_libjpeg(bytes, size, &wanted, &warnings, text), "%s", text);
    FUZZ_REQUIRE(warnings == 0, "%ld warnings", warnings);
    const char *complaint = jpeg_planes_by_model(bytes, facts.bytes, samples_wrap(), &got);
    FUZZ_REQUIRE(complaint == NULL, "%s", complaint);
    FUZZ_REQUIRE(!jpeg_planes_differ(&got, &wanted, text, sizeof text), "%s", text);
    jpeg_planes_free(&got);
    jpeg_planes_free(&wanted);
    free(bytes);
    return 0;
}
