/* EXIF blobs: what is read from them, what is changed in them, and what must stay. */
#include "../fuzz.h"

#include "io/exif.h"

#include <string.h>

/* No orientation but upright is left, and the rest of the structure is as it was. */
static void check_reset(const uint8_t *data, size_t size)
{
    OWNED uint8_t *exif = fuzz_copy(data, size);
    gc_exif_reset_orientation(exif, size);
    int now = gc_exif_orientation(exif, size);
    FUZZ_REQUIRE(now == GC_ORIENTATION_UPRIGHT, "orientation %d is left", now);
}

/* Nothing is taken out twice, and nothing that pixels depend on. */
static void check_drop(const uint8_t *data, size_t size, int orientation)
{
    OWNED uint8_t *exif = fuzz_copy(data, size);
    size_t kept = size;
    bool dropped = gc_exif_drop_thumbnail(exif, &kept) == GCONV_OK;
    FUZZ_REQUIRE(kept <= size, "%zu bytes of %zu", kept, size);
    FUZZ_REQUIRE(dropped || memcmp(exif, data, size) == 0, "changed without being dropped");
    if (dropped) {
        OWNED uint8_t *rest = fuzz_copy(exif, kept);
        int now = gc_exif_orientation(rest, kept);
        FUZZ_REQUIRE(now == orientation, "orientation %d became %d", orientation, now);
        size_t less = kept;
        FUZZ_REQUIRE(gc_exif_drop_thumbnail(rest, &less) == GCONV_OK && less == kept &&
                         memcmp(rest, exif, kept) == 0,
                     "a second thumbnail");
    }
}

/* What was cut is sound once it is mended and its thumbnail is dropped. */
static void check_mend(const uint8_t *data, size_t size)
{
    OWNED uint8_t *exif = fuzz_allocate(size + GC_EXIF_ROOM_BYTES);
    size_t mended = size;
    memcpy(exif, data, size);
    gc_exif_state state = gc_exif_mend(exif, &mended);
    FUZZ_REQUIRE(mended - size <= GC_EXIF_ROOM_BYTES, "%zu bytes of %zu", mended, size);
    FUZZ_REQUIRE(state == GC_EXIF_CUT || memcmp(exif, data, size) == 0, "changed");
    if (state == GC_EXIF_CUT && gc_exif_drop_thumbnail(exif, &mended) == GCONV_OK)
        FUZZ_REQUIRE(gc_exif_mend(exif, &mended) == GC_EXIF_SOUND, "cut again");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *exif = fuzz_copy(data, size);
    int orientation = gc_exif_orientation(exif, size);
    FUZZ_REQUIRE(orientation >= 1 && orientation <= GC_ORIENTATION_COUNT, "%d", orientation);
    gc_resolution resolution = gc_exif_resolution(exif, size);
    FUZZ_REQUIRE(resolution.unit == GC_RESOLUTION_NONE || (resolution.x > 0 && resolution.y > 0),
                 "resolution %u x %u", resolution.x, resolution.y);
    free(exif);
    check_reset(data, size);
    check_drop(data, size, orientation);
    check_mend(data, size);
    return 0;
}
