#include "gpu/tuning.h"

gc_tuning gc_tuning_of(const gconv_device_info *device, const gc_layout *layout)
{
    (void)device;
    if (layout->tuning.form == GC_FORM_RANK1)
        return gc_tuning_default(GC_FORM_RANK1, layout->width, layout->height);
    bool small = layout->width <= 5 && layout->height <= 7 && gc_form_fits(GC_FORM_WARP, layout);
    return gc_tuning_default(small ? GC_FORM_WARP : GC_FORM_BLOCK, layout->width, layout->height);
}
