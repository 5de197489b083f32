/* Files for devices that decode them: those whose header devices take (layout.h), if libjpeg is one
 * that decodes as they do (check.h). */
#include "io/fast.h"
#include "io/jpeg/fast/check.h"
#include "io/jpeg/fast/layout.h"

#include <stdio.h> /* jpeglib.h needs it before */
#include <stdlib.h>

#include <jpeglib.h>

/* Whether libjpeg has read the same from the header as gc_jpeg_read_layout. */
static bool agree(const struct jpeg_decompress_struct *jpeg, const gc_jpeg_facts *facts)
{
    J_COLOR_SPACE colours = facts->components == 1 ? JCS_GRAYSCALE : JCS_YCbCr;
    return jpeg->image_width == facts->width && jpeg->image_height == facts->height &&
           jpeg->num_components == facts->components && jpeg->jpeg_color_space == colours;
}

extern gc_jpeg_offer gc_jpeg_offer_file;

gc_offer gc_jpeg_offer_file(const struct jpeg_decompress_struct *jpeg, gconv_encoded *picture,
                            void **memory, const char **reason)
{
    gc_jpeg_facts facts;
    *reason = "";
    gc_jpeg_layout *layout = *memory = *memory != NULL ? *memory : malloc(sizeof *layout);
    if (layout == NULL)
        return GC_OFFER_REFUSED;
    if (!gc_jpeg_read_layout(picture->bytes, picture->held, &facts, layout, reason))
        return facts.is_cut && picture->held < picture->size ? GC_OFFER_NEEDS_MORE
                                                             : GC_OFFER_REFUSED;
    *reason = "a header that libjpeg reads in another way";
    if (!agree(jpeg, &facts))
        return GC_OFFER_REFUSED;
    *reason = "a libjpeg that decodes in another way than libjpeg-turbo";
    if (!gc_jpeg_check())
        return GC_OFFER_REFUSED;
    picture->width = facts.width;
    picture->height = facts.height;
    picture->components = facts.components;
    picture->sampling_x = facts.sampling == GC_JPEG_422 || facts.sampling == GC_JPEG_420 ? 2 : 1;
    picture->sampling_y = facts.sampling == GC_JPEG_420 ? 2 : 1;
    picture->layout = layout;
    return GC_OFFER_MADE;
}
