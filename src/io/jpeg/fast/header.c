#include "io/jpeg/fast/header.h"

#include "io/jpeg/fast/codings.h"
#include "io/jpeg/fast/frame.h"

#include <stdio.h> /* jpeglib.h needs it before */
#include <string.h>

#include <jpeglib.h>

enum { TABLES_MAX = 2 /* Huffman tables of a class, in baseline JPEG */ };

static uint64_t square_root(uint64_t of)
{
    uint64_t root = 0;
    for (uint64_t bit = (uint64_t)1 << 31; bit > 0; bit >>= 1)
        if ((root + bit) * (root + bit) <= of)
            root += bit;
    return root;
}

/* (1024 + norm of the steps / 2)^2, rounded down: 64 samples from -128 to 127 have an energy of at
 * most 1024^2, and rounding moves each coefficient by half a step. */
static uint64_t bound_energy(const unsigned char steps[GC_JPEG_COEFFICIENTS])
{
    enum { SAMPLES_NORM = 1024 };
    uint64_t sum = 0;
    for (int k = 0; k < GC_JPEG_COEFFICIENTS; k++)
        sum += (uint64_t)steps[k] * steps[k];
    return SAMPLES_NORM * SAMPLES_NORM + square_root(SAMPLES_NORM * SAMPLES_NORM * sum) + sum / 4;
}

static bool take_steps(const JQUANT_TBL *from, int number, gc_jpeg_layout *to)
{
    enum { STEP_MAX = 255 };
    for (int k = 0; k < GC_JPEG_COEFFICIENTS; k++) {
        unsigned int step = from != NULL ? from->quantval[gc_jpeg_places[k]] : 0;
        if (step == 0 || step > STEP_MAX)
            return false;
        to->steps[number][k] = (unsigned char)step;
    }
    to->energy_max[number] = bound_energy(to->steps[number]);
    return true;
}

static bool take_code(const JHUFF_TBL *from, bool ac, gc_jpeg_code *to)
{
    gc_jpeg_table table;
    return gc_jpeg_copy_code(from, to) && gc_jpeg_build_codes(to, ac, &table);
}

/* Returns what is wrong with the tables of a component; NULL: nothing. */
static const char *take_tables(const struct jpeg_decompress_struct *jpeg, int c, gc_jpeg_layout *to)
{
    const jpeg_component_info *from = jpeg->cur_comp_info[c];
    int dc = from->dc_tbl_no, ac = from->ac_tbl_no, quantiser = from->quant_tbl_no;
    if (from->component_index != c)
        return "components in another order";
    if (dc < 0 || dc >= TABLES_MAX || ac < 0 || ac >= TABLES_MAX)
        return "a Huffman table of a number that baseline JPEG lacks";
    if (quantiser < 0 || quantiser >= NUM_QUANT_TBLS ||
        !take_steps(jpeg->quant_tbl_ptrs[quantiser], quantiser, to))
        return "a quantisation table that is missing, or with unusual steps";
    if (!take_code(jpeg->dc_huff_tbl_ptrs[dc], false, &to->codes[0][dc]) ||
        !take_code(jpeg->ac_huff_tbl_ptrs[ac], true, &to->codes[1][ac]))
        return "a Huffman table that is missing, or with unusual codes";
    to->components[c].dc = dc;
    to->components[c].ac = ac;
    to->components[c].quantiser = quantiser;
    return NULL;
}

/* The samples of Y for one of Cb and Cr. */
static bool knows_sampling(const struct jpeg_decompress_struct *jpeg)
{
    const jpeg_component_info *parts = jpeg->comp_info;
    int across = parts[0].h_samp_factor, down = parts[0].v_samp_factor;
    for (int c = 1; c < jpeg->num_components; c++)
        if (parts[c].h_samp_factor != 1 || parts[c].v_samp_factor != 1)
            return false;
    return across <= (jpeg->num_components == 1 ? 1 : 2) && down <= across;
}

static const char *read_layout(const struct jpeg_decompress_struct *jpeg, gc_jpeg_layout *layout)
{
    int count = jpeg->num_components;
    if (!gc_jpeg_is_baseline(jpeg))
        return "a coding other than baseline";
    if (jpeg->jpeg_color_space != (count == 1 ? JCS_GRAYSCALE : JCS_YCbCr))
        return "colours other than grey and YCbCr";
    if (!knows_sampling(jpeg))
        return "unusual sampling";
    const char *wrong = NULL;
    for (int c = 0; c < count && wrong == NULL; c++)
        wrong = take_tables(jpeg, c, layout);
    return wrong;
}

const char *gc_jpeg_read_layout(const struct jpeg_decompress_struct *jpeg, uint64_t data,
                                gconv_encoded *picture, gc_jpeg_layout *layout)
{
    memset(layout, 0, sizeof *layout);
    const char *wrong = read_layout(jpeg, layout);
    if (wrong != NULL)
        return wrong;
    picture->width = jpeg->image_width;
    picture->height = jpeg->image_height;
    picture->components = jpeg->num_components;
    picture->sampling_x = jpeg->comp_info[0].h_samp_factor;
    picture->sampling_y = jpeg->comp_info[0].v_samp_factor;
    picture->layout = layout;
    uint32_t columns = 8 * (uint32_t)picture->sampling_x, rows = 8 * (uint32_t)picture->sampling_y;
    layout->data = (size_t)data;
    layout->restart_interval = jpeg->restart_interval;
    layout->mcus = (uint64_t)((picture->width + columns - 1) / columns) *
                   ((picture->height + rows - 1) / rows);
    return NULL;
}
