#include "io/fast.h"

#include <stddef.h>

bool gc_png_inflating_wanted = true;
uint64_t gc_jpeg_rows_pixels_min = 1 << 17;
uint64_t gc_jpeg_rows_spread_min = 1 << 19;

#if GC_HAS_FAST
extern const gc_png_inflating gc_png_inflating_room;
extern const gc_png_packing gc_png_packing_room;
extern const gc_jpeg_decoding gc_jpeg_decoding_room;
extern gc_jpeg_offer gc_jpeg_offer_file;
#endif

/* THE table of fast rooms. */
const gc_io_fast gc_fast = {
#if GC_HAS_ISAL
    .png_inflating = &gc_png_inflating_room,
#endif
#if GC_HAS_FAST
    .png_packing = &gc_png_packing_room,
    .jpeg_decoding = &gc_jpeg_decoding_room,
    .jpeg_offer = gc_jpeg_offer_file,
#endif
};
