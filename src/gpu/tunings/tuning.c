#include "gpu/tunings/tuning.h"

#include "gpu/cost/costs.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- What can run ---------------------------------------------------------------------------- */

/* Of a thread. Kernels that round once keep a bit of a word for each output, 4 a row
 * (pass/settle.cuh). */
enum { REGISTERS_MAX = 255, ROWS_MAX = 8 };

static int registers_of(const gconv_device_info *device, const gc_layout *layout)
{
    int rows = layout->tuning.rows;
    if (layout->tuning.form == GC_FORM_TILES) /* its kernels are compiled to fit in a block */
        return layout->tuning.tiles + gc_costs_of(device)->other_registers;
    int registers = 4 * rows + layout->width + 6 + gc_costs_of(device)->other_registers;
    if (layout->tuning.form == GC_FORM_WARP)
        registers += 4 * (rows + layout->height - 1);
    if (layout->channels > 1 && layout->output != GC_FLOAT)
        registers += gc_layout_planes(layout) * rows * (layout->output == GC_SHORT ? 2 : 1);
    if (layout->alpha == GC_PASS_MULTIPLIES)
        registers += 4 * rows;
    return registers;
}

bool gc_tuning_fits(const gconv_device_info *device, const gc_layout *layout)
{
    int threads = 32 * layout->tuning.warps;
    int registers = registers_of(device, layout);
    bool has_bits = layout->tuning.form == GC_FORM_TILES || layout->tuning.rows <= ROWS_MAX;
    return gc_form_fits(layout->tuning.form, layout) && has_bits &&
           threads <= device->threads_per_block && registers <= REGISTERS_MAX &&
           registers * threads <= device->registers_per_block &&
           gc_layout_shared_bytes(layout) <= device->shared_per_block_optin;
}

/* ---- The nearest known tuning ---------------------------------------------------------------- */

/* An entry serves filters for which its distance has at most this ratio. */
static const double reach = 1.5, reach_of_tiles = 2;

/* How far an entry is from what a layout needs. Members are compared in their order. */
typedef struct distance {
    int types;    /* the type of input matters most, then that of output */
    double ratio; /* of the weights, 1 or more; for tiles of widths times that of heights */
    int height;
} distance;

static double ratio_of(int a, int b)
{
    return a > b ? (double)a / b : (double)b / a;
}

static distance distance_to(const gc_tuned *entry, const gc_layout *layout)
{
    bool floats_in = layout->input == GC_FLOAT, floats_out = layout->output == GC_FLOAT;
    gc_form form = entry->tuning.form;
    double ratio =
        form == GC_FORM_TILES
            ? ratio_of(layout->width, entry->width) * ratio_of(layout->height, entry->height)
            : ratio_of(gc_form_weights(form, layout->width, layout->height),
                       gc_form_weights(form, entry->width, entry->height));
    return (distance){
        .types = 4 * ((entry->input == GC_FLOAT) != floats_in) +
                 2 * ((entry->output == GC_FLOAT) != floats_out) +
                 (entry->input != layout->input || entry->output != layout->output),
        .ratio = ratio,
        .height = abs(entry->height - layout->height),
    };
}

static bool is_nearer(const distance *a, const distance *b)
{
    if (a->types != b->types)
        return a->types < b->types;
    if (a->ratio != b->ratio)
        return a->ratio < b->ratio;
    return a->height < b->height;
}

typedef struct search {
    const gconv_device_info *device;
    const gc_layout *layout;
    const gc_tuned *best; /* NULL: none yet */
    distance best_distance;
} search;

/* The default for a layout. Of the forms that take every weight it is the one that suits its size.
 * A sum gets smaller blocks, and tiles a smaller factor, until they fit. */
static gc_tuning default_of(const gconv_device_info *device, const gc_layout *layout)
{
    gc_form form = layout->tuning.form;
    bool is_tiles = form == GC_FORM_TILES, is_sum = gc_form_products(form) > 1;
    if (!is_tiles && gc_form_products(form) == 0)
        form = layout->width <= 5 && layout->height <= 7 && gc_form_fits(GC_FORM_WARP, layout)
                   ? GC_FORM_WARP
                   : GC_FORM_BLOCK;
    gc_layout with = *layout;
    gc_tuning *tuning = &with.tuning;
    *tuning = gc_tuning_default(form, layout->width, layout->height);
    while (is_sum && tuning->warps > 1 && !gc_tuning_fits(device, &with))
        tuning->warps /= 2;
    while (is_tiles && tuning->tiles > 1 && !gc_tuning_fits(device, &with))
        tuning->tiles--;
    return *tuning;
}

static bool serves(const gconv_device_info *device, const gc_tuned *entry, const gc_layout *layout)
{
    gc_layout with = *layout;
    with.tuning = entry->tuning;
    return gc_tuning_fits(device, &with);
}

static void look_through(search *s, const gc_tuned *entries, int count)
{
    for (int i = 0; i < count; i++) {
        if (!gc_forms_compete(entries[i].tuning.form, s->layout->tuning.form))
            continue;
        distance found = distance_to(&entries[i], s->layout);
        double most = entries[i].tuning.form == GC_FORM_TILES ? reach_of_tiles : reach;
        if (found.ratio > most || !serves(s->device, &entries[i], s->layout) ||
            (s->best != NULL && !is_nearer(&found, &s->best_distance)))
            continue;
        s->best = &entries[i];
        s->best_distance = found;
    }
}

/* Of entries that are equally near, one of `found`, which may be NULL, comes before a shipped
 * one. */
static gc_tuning choose(const gconv_device_info *device, const gc_layout *layout,
                        const gc_tuned_list *found)
{
    search s = {.device = device, .layout = layout};
    int shipped_count;
    const gc_tuned *shipped = gc_tuning_shipped(device, &shipped_count);
    if (found != NULL)
        look_through(&s, found->entries, found->count);
    look_through(&s, shipped, shipped_count);
    return s.best != NULL ? s.best->tuning : default_of(device, layout);
}

/* ---- What was found, read once --------------------------------------------------------------- */

/* An entry in the list is never changed or freed. */
typedef struct loaded_device {
    struct loaded_device *next;
    char name[sizeof((gconv_device_info *)0)->name];
    int driver_version;
    gc_tuned_list list;
} loaded_device;

static loaded_device *loaded_devices;
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

static loaded_device *find_loaded(const gconv_device_info *device)
{
    for (loaded_device *next = loaded_devices; next != NULL; next = next->next)
        if (strcmp(next->name, device->name) == 0 && next->driver_version == device->driver_version)
            return next;
    return NULL;
}

/* NULL if memory is short. */
static const gc_tuned_list *found_on(const gconv_device_info *device)
{
    pthread_mutex_lock(&loading);
    loaded_device *loaded = find_loaded(device);
    if (loaded == NULL && (loaded = calloc(1, sizeof *loaded)) != NULL) {
        memcpy(loaded->name, device->name, sizeof loaded->name);
        loaded->driver_version = device->driver_version;
        gc_tuning_read(device, &loaded->list);
        loaded->next = loaded_devices;
        loaded_devices = loaded;
    }
    pthread_mutex_unlock(&loading);
    return loaded != NULL ? &loaded->list : NULL;
}

gc_tuning gc_tuning_of(const gconv_device_info *device, const gc_layout *layout)
{
    return choose(device, layout, found_on(device));
}

gc_tuning gc_tuning_untuned(const gconv_device_info *device, const gc_layout *layout)
{
    return choose(device, layout, NULL);
}
