#include "io/fast.h"

bool gc_png_inflating_wanted = true;
uint64_t gc_jpeg_rows_pixels_min = 1 << 17;
uint64_t gc_jpeg_rows_spread_min = 1 << 19;

#if GC_HAS_FAST
extern const gc_png_inflating gc_png_inflating_isal;
extern const gc_png_packing gc_png_packing_own;
extern const gc_deflating gc_deflating_own;
extern const gc_jpeg_encoding gc_jpeg_encoding_parts;
extern gc_jpeg_offer gc_jpeg_offer_file;
#endif
#if GC_HAS_X86_LOOPS
extern const gc_jpeg_decoding gc_jpeg_decoding_own;
#endif

/* THE table of fast paths. */
const gc_io_fast gc_fast = {
#if GC_HAS_ISAL
    .png_inflating = &gc_png_inflating_isal,
#endif
#if GC_HAS_FAST
    .png_packing = &gc_png_packing_own,
    .deflating = &gc_deflating_own,
    .jpeg_encoding = &gc_jpeg_encoding_parts,
    .jpeg_offer = gc_jpeg_offer_file,
#endif
#if GC_HAS_X86_LOOPS
    .jpeg_decoding = &gc_jpeg_decoding_own,
#endif
};
