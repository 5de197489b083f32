#include "gpu/tunings/layout.h"

#include "core/products.h"
#include "gpu/cost/costs.h"
#include "gpu/tunings/tiling.h"

const char *gc_form_name(int form)
{
    static const char *const names[] = {
        [GC_FORM_WARP] = "warp",   [GC_FORM_BLOCK] = "block", [GC_FORM_RANK1] = "rank1",
        [GC_FORM_RANK2] = "rank2", [GC_FORM_RANK3] = "rank3", [GC_FORM_PAIR] = "pair",
        [GC_FORM_TILES] = "tiles"};
    return names[form];
}

_Static_assert(GC_FORM_RANK3 - GC_FORM_RANK1 + 1 == GC_PRODUCTS_MAX, "a form a rank");

int gc_form_products(gc_form form)
{
    return form < GC_FORM_RANK1 || form > GC_FORM_RANK3 ? 0 : (int)form - (int)GC_FORM_RANK1 + 1;
}

gc_form gc_form_of_products(int products)
{
    return (gc_form)((int)GC_FORM_RANK1 + products - 1);
}

bool gc_forms_compete(gc_form a, gc_form b)
{
    return gc_form_products(a) == gc_form_products(b) &&
           (a == GC_FORM_TILES) == (b == GC_FORM_TILES);
}

int gc_form_weights(gc_form form, int width, int height)
{
    int products = gc_form_products(form);
    return products > 0 ? products * (width + height) : width * height;
}

/* Time in lines (gc_costs). Convolving the tile's rows takes row_lines for each column of the
 * filter. Convolving the columns takes one line for each row of the filter. */
double gc_form_work(gc_form form, int width, int height)
{
    const gc_costs *costs = gc_costs_of(NULL);
    int products = gc_form_products(form);
    double lines = products * (costs->row_lines * width + height);
    if (products > 1)
        return costs->sum_line * (lines + costs->sum_overhead);
    return products == 1 ? costs->rank1_line * lines : (double)width * height;
}

bool gc_form_pays(gc_form form, int width, int height)
{
    return gc_form_work(form, width, height) < width * height;
}

const char *gc_schedule_name(int schedule)
{
    return schedule == GC_QUEUE ? "queue" : "one";
}

gc_layout gc_layout_of(const gc_problem *problem, const gc_step *step)
{
    return (gc_layout){.width = step->width,
                       .height = step->height,
                       .left = step->left,
                       .top = step->top,
                       .input = GC_FLOAT,
                       .output = GC_FLOAT,
                       .finish = GC_FINISH_NONE,
                       .border = (int)problem->job.border,
                       .channels = 1,
                       .alpha = GC_PASS_NO_ALPHA};
}

int gc_layout_planes(const gc_layout *layout)
{
    return layout->channels - (layout->alpha == GC_PASS_KEEPS ? 1 : 0);
}

bool gc_form_fits(gc_form form, const gc_layout *layout)
{
    int right = layout->width - 1 - layout->left;
    if ((form == GC_FORM_PAIR) != (layout->second.width > 0))
        return false;
    if (form == GC_FORM_WARP)
        return layout->channels == 1 && layout->left <= 4 && right <= 4 && layout->height <= 9;
    return true;
}

bool gc_border_is_byte(const gc_problem *problem, const gc_step *step)
{
    float value = step->border[0];
    return problem->job.border != GCONV_BORDER_CONSTANT ||
           (value >= 0 && value <= 255 && value == (float)(int)value);
}

void gc_layout_tile(const gc_layout *layout, int *width, int *height)
{
    *width = layout->tuning.form == GC_FORM_WARP ? GC_WARP_COLUMNS : GC_BLOCK_COLUMNS;
    *height = layout->tuning.rows * layout->tuning.warps;
}

gc_tiling gc_tuning_tiling(const gc_tuning *tuning, int filter_width, int filter_height)
{
    gc_tiling tiling = {.block_width = 32 * tuning->warps / tuning->rows,
                        .block_height = tuning->rows,
                        .factor = tuning->tiles};
    gc_tiling_measure(filter_width, filter_height, &tiling);
    return tiling;
}

/* `columns`, rounded up to whole words of 4 samples. */
static int whole_words(int columns)
{
    return (columns + 3) / 4 * 4;
}

void gc_layout_middle(const gc_layout *layout, int *width, int *height)
{
    gc_layout_tile(layout, width, height);
    *width = whole_words(*width + layout->second.width - 1);
    *height += layout->second.height - 1;
}

/* The surroundings of both filters, and the values between the filters. */
static size_t shared_bytes_of_pair(const gc_layout *layout)
{
    int width, height;
    gc_layout_middle(layout, &width, &height);
    gc_layout tile = *layout;
    tile.tuning.form = GC_FORM_BLOCK;
    tile.width += width - GC_BLOCK_COLUMNS;
    tile.height += layout->second.height - 1;
    tile.left += layout->second.left;
    tile.top += layout->second.top;
    return gc_layout_shared_bytes(&tile) + (size_t)width * (size_t)height * sizeof(float);
}

size_t gc_layout_shared_bytes(const gc_layout *layout)
{
    if (layout->tuning.form == GC_FORM_WARP)
        return 0;
    if (layout->tuning.form == GC_FORM_PAIR)
        return shared_bytes_of_pair(layout);
    if (layout->tuning.form == GC_FORM_TILES)
        return gc_tuning_tiling(&layout->tuning, layout->width, layout->height).shared_bytes;
    int width, height;
    gc_layout_tile(layout, &width, &height);
    size_t pitch =
        (size_t)(whole_words(layout->left) + width + whole_words(layout->width - 1 - layout->left));
    size_t lines = (size_t)(height + layout->height - 1);
    size_t buffers =
        (size_t)gc_layout_planes(layout) * (layout->tuning.schedule == GC_ONE_TILE ? 1 : 2);
    size_t beside = gc_form_products(layout->tuning.form) > 1 ? GC_BLOCK_COLUMNS : 0;
    return (pitch * buffers + beside) * lines * sizeof(float);
}
