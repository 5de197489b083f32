#include "gpu/fast/layout.h"

#include "core/products.h"

/* Code up to this size stays in the instruction cache of an H200 (measured); a thread's row of output
 * takes four multiply-adds of 16 bytes a weight. */
enum { CODE_BYTES = 32 << 10, CODE_OF_A_WEIGHT = 4 * 16 };

const char *gc_form_name(gc_form form)
{
    static const char *const names[] = {
        [GC_FORM_WARP] = "warp",   [GC_FORM_BLOCK] = "block", [GC_FORM_RANK1] = "rank1",
        [GC_FORM_RANK2] = "rank2", [GC_FORM_RANK3] = "rank3", [GC_FORM_PAIR] = "pair"};
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

int gc_form_weights(gc_form form, int width, int height)
{
    int products = gc_form_products(form);
    return products > 0 ? products * (width + height) : width * height;
}

/* A product is 1.3 width + height lines: tiles have more rows than come out of them. A line of rank 1
 * takes as long as two weights, the shared memory that it goes through counted; of sums, whose products
 * share what is read of a tile, as long as one, and a second buffer as long as 28 lines (measured on an
 * H200: 24 us + 0.68 us a line of 4096 x 4096 floats, where a weight takes 0.64). */
static const double row_lines = 1.3, rank1_line = 1.95, sum_line = 1.07, sum_overhead = 28;

double gc_form_work(gc_form form, int width, int height)
{
    int products = gc_form_products(form);
    double lines = products * (row_lines * width + height);
    if (products > 1)
        return sum_line * (lines + sum_overhead);
    return products == 1 ? rank1_line * lines : (double)width * height;
}

bool gc_form_pays(gc_form form, int width, int height)
{
    return gc_form_work(form, width, height) < width * height;
}

const char *gc_schedule_name(gc_schedule schedule)
{
    static const char *const names[] = {
        [GC_ONE_TILE] = "one", [GC_STRIP] = "strip", [GC_QUEUE] = "queue"};
    return names[schedule];
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
                       .border = (int)problem->job.border};
}

/* What a sum of products keeps beside the tile takes as much shared memory again; the code for the
 * columns has to stay in the instruction cache. */
static gc_tuning default_sum(gc_form form, int height)
{
    int rows = CODE_BYTES / (CODE_OF_A_WEIGHT * gc_form_products(form) * height);
    return (gc_tuning){form, rows > 8 ? 8 : rows < 2 ? 2 : rows, 8, GC_ONE_TILE, 1};
}

/* Small blocks hide the latency of short sums, large ones share more of a tile's surroundings. */
static gc_tuning default_block(int weights)
{
    int rows = CODE_BYTES / (CODE_OF_A_WEIGHT * weights);
    if (weights <= 49)
        return (gc_tuning){GC_FORM_BLOCK, 6, 4, GC_QUEUE, 1};
    if (weights <= 81)
        return (gc_tuning){GC_FORM_BLOCK, 4, 4, GC_QUEUE, 1};
    if (weights <= 121)
        return (gc_tuning){GC_FORM_BLOCK, 3, 8, GC_STRIP, 2};
    if (weights <= 225)
        return (gc_tuning){GC_FORM_BLOCK, 2, 8, GC_STRIP, 3};
    return (gc_tuning){GC_FORM_BLOCK, rows > 1 || weights <= 512 ? 2 : 1, 8, GC_ONE_TILE, 1};
}

gc_tuning gc_tuning_default(gc_form form, int width, int height)
{
    if (form == GC_FORM_WARP)
        return (gc_tuning){GC_FORM_WARP, 4, 4, GC_ONE_TILE, 1};
    if (form == GC_FORM_RANK1)
        return (gc_tuning){GC_FORM_RANK1, height > 5 ? 8 : 4, height > 13 ? 8 : 4, GC_ONE_TILE, 1};
    if (gc_form_products(form) > 1)
        return default_sum(form, height);
    return default_block(width * height);
}

/* Rows that leave registers for two blocks a thousand threads, in code that stays in the instruction
 * cache. Two slots hide the loads of floats, as in GC_FORM_BLOCK; samples go through registers, and one
 * slot leaves room for more blocks. */
gc_tuning gc_tuning_pair(const gc_layout *layout)
{
    return (gc_tuning){GC_FORM_PAIR, 4, 8, layout->input == GC_FLOAT ? GC_QUEUE : GC_ONE_TILE, 1};
}

bool gc_form_fits(gc_form form, const gc_layout *layout)
{
    int right = layout->width - 1 - layout->left;
    if ((form == GC_FORM_PAIR) != (layout->second.width > 0))
        return false;
    if (form == GC_FORM_WARP)
        return layout->left <= 4 && right <= 4 && layout->height <= 9;
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

/* Whole words of 4 samples that hold `columns`. */
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

/* Surroundings for both filters, and what stands between these. */
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
    int width, height;
    gc_layout_tile(layout, &width, &height);
    size_t pitch =
        (size_t)(whole_words(layout->left) + width + whole_words(layout->width - 1 - layout->left));
    size_t lines = (size_t)(height + layout->height - 1);
    size_t slots = layout->tuning.schedule == GC_ONE_TILE ? 1 : 2;
    size_t beside = gc_form_products(layout->tuning.form) > 1 ? GC_BLOCK_COLUMNS : 0;
    return (pitch * slots + beside) * lines * sizeof(float);
}
