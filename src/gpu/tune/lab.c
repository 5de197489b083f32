/* The search of tunings for programs: gconv_lab.h. */
#include "base/status.h"
#include "gpu/tune/tune.h"
#include "gpu/tunings/tiling.h"

#include <stdlib.h>
#include <string.h>

_Static_assert((int)GCONV_TUNINGS_MAX == (int)GC_TUNED_MAX, "the header says so");

struct gconv_tuner {
    gconv_device_info device;
    gc_tuner *planes; /* NULL before gconv_tuner_begin */
    gc_tuned found;   /* by the last finished search */
    bool has_found;
    gc_tuned_list before; /* what the cache held */
};

int gconv_adaptive_factor(const gconv_device_info *device, const int registers[2], int block_width,
                          int block_height, int filter_width, int filter_height)
{
    gc_factor_registers all;
    gc_tiling tiling = {.block_width = block_width, .block_height = block_height};
    for (int factor = 0; factor <= GC_FACTOR_MAX; factor++)
        all.count[factor] = registers[factor > 4];
    bool fits = gc_tiling_adapt(device, &all, 0, filter_width, filter_height, &tiling);
    return fits ? tiling.factor : 0;
}

static gc_form form_of(const gconv_tuning_case *one)
{
    if (strcmp(one->implementation, "adaptive:unrolled") == 0)
        return GC_FORM_TILES;
    return one->products > 0 ? gc_form_of_products(one->products) : GC_FORM_BLOCK;
}

static gc_layout layout_of(const gconv_tuning_case *one)
{
    return gc_candidate_layout(form_of(one), one->width, one->height,
                               one->bytes ? GC_BYTE : GC_FLOAT);
}

bool gconv_tuning_pays(const gconv_tuning_case *one)
{
    return gc_form_pays(form_of(one), one->width, one->height);
}

gconv_status gconv_tuner_create(const gconv_device_info *device, gconv_tuner **tuner,
                                gconv_error *error)
{
    gconv_tuner *t = *tuner = calloc(1, sizeof *t);
    GC_TRY_MEMORY(t != NULL, error, sizeof *t);
    t->device = *device;
    gc_tuning_read(device, &t->before);
    return GCONV_OK;
}

void gconv_tuner_free(gconv_tuner *tuner)
{
    if (tuner == NULL)
        return;
    gc_tuner_destroy(tuner->planes);
    free(tuner);
}

gconv_status gconv_tuner_begin(gconv_tuner *tuner, int *side, gconv_error *error)
{
    return gc_tuner_create(&tuner->device, &tuner->planes, side, error);
}

bool gconv_tuner_knows(const gconv_tuner *tuner, const gconv_tuning_case *one,
                       gconv_tuning_result *known)
{
    const gc_layout layout = layout_of(one);
    const gc_tuned *found = gc_tuned_find(&tuner->before, &layout);
    if (found != NULL && known != NULL)
        *known = (gconv_tuning_result){.form = gc_form_name(found->tuning.form),
                                       .schedule = gc_schedule_name(found->tuning.schedule),
                                       .rows = found->tuning.rows,
                                       .warps = found->tuning.warps,
                                       .tiles = found->tuning.tiles,
                                       .seconds = 1e-6 * found->microseconds};
    return found != NULL;
}

gconv_status gconv_tuner_search(gconv_tuner *tuner, const gconv_tuning_case *one,
                                gconv_tuning_goes_on *goes_on, void *user,
                                gconv_tuning_result *result, gconv_error *error)
{
    const gc_layout layout = layout_of(one);
    gconv_status status =
        gc_tuner_search(tuner->planes, &layout, goes_on, user, result, &tuner->found, error);
    tuner->has_found |= status == GCONV_OK && result->finished;
    return status;
}

gconv_status gconv_tuner_keep(gconv_tuner *tuner, gconv_error *error)
{
    return gc_tuning_keep(&tuner->device, tuner->has_found ? &tuner->found : NULL, error);
}
