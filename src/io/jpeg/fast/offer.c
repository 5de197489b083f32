/* Files for devices that decode them: those whose header devices take (layout.h), if libjpeg is one
 * that decodes as they do (check.h). */
#include "io/fast.h"
#include "io/jpeg/fast/header.h"
#include "io/jpeg/fast/same_libjpeg.h"

#include <stdlib.h>

extern gc_jpeg_offer gc_jpeg_offer_file;

gc_offer gc_jpeg_offer_file(const struct jpeg_decompress_struct *jpeg, uint64_t data,
                            gconv_encoded *picture, void **memory, const char **reason)
{
    gc_jpeg_layout *layout = *memory = *memory != NULL ? *memory : malloc(sizeof *layout);
    *reason = "";
    if (picture->held < data)
        return picture->held < picture->size ? GC_OFFER_NEEDS_MORE : GC_OFFER_REFUSED;
    if (layout == NULL)
        return GC_OFFER_REFUSED;
    const char *wrong = gc_jpeg_read_layout(jpeg, data, picture, layout);
    if (wrong == NULL && !gc_jpeg_check())
        wrong = "a libjpeg that decodes in another way than libjpeg-turbo";
    *reason = wrong != NULL ? wrong : "";
    return wrong == NULL ? GC_OFFER_MADE : GC_OFFER_REFUSED;
}
