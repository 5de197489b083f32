#include "io/jpeg/fast/frame.h"

#include <stdio.h> /* jpeglib.h needs it before */
#include <string.h>

#include <jpeglib.h>

bool gc_jpeg_is_baseline(const struct jpeg_decompress_struct *jpeg)
{
    return !jpeg->progressive_mode && !jpeg->arith_code && jpeg->data_precision == 8 &&
           jpeg->comps_in_scan == jpeg->num_components && jpeg->Ss == 0 && jpeg->Se == 63 &&
           jpeg->Ah == 0 && jpeg->Al == 0;
}

/* Grey, which also is the Y of a file in colours: the other components are passed over. Or RGB of
 * YCbCr with 1, 2 or 4 samples of Y for one of Cb and Cr. */
static bool knows_colours(const struct jpeg_decompress_struct *jpeg)
{
    enum { UPSAMPLED_PIXELS_MIN = 5 /* libjpeg does not interpolate 2 samples of Cb or fewer */ };
    const jpeg_component_info *parts = jpeg->comp_info;
    if (jpeg->out_color_space == JCS_GRAYSCALE)
        return jpeg->num_components == 1 || jpeg->num_components == 3;
    int across = parts[0].h_samp_factor, down = parts[0].v_samp_factor;
    return jpeg->out_color_space == JCS_RGB && jpeg->jpeg_color_space == JCS_YCbCr &&
           jpeg->num_components == 3 && across <= 2 && down <= across &&
           parts[1].h_samp_factor == 1 && parts[1].v_samp_factor == 1 &&
           parts[2].h_samp_factor == 1 && parts[2].v_samp_factor == 1 &&
           jpeg->image_width >= UPSAMPLED_PIXELS_MIN;
}

static bool describe_steps(const JQUANT_TBL *from, gc_islow_steps *to)
{
    enum { STEP_MAX = 255 };
    if (from == NULL)
        return false;
    for (int k = 0; k < GC_JPEG_COEFFICIENTS; k++) {
        if (from->quantval[k] == 0 || from->quantval[k] > STEP_MAX)
            return false;
        to->steps[k] = (int16_t)from->quantval[k];
    }
    gc_islow_set_limits(to);
    return true;
}

static bool describe_part(const struct jpeg_decompress_struct *jpeg, int number,
                          gc_jpeg_frame *frame)
{
    const jpeg_component_info *from = jpeg->cur_comp_info[number];
    gc_jpeg_part *to = &frame->parts[number];
    bool alone = jpeg->num_components == 1; /* then sampling factors count for nothing */
    int quantiser = from->quant_tbl_no;
    if (from->component_index != number || quantiser < 0 || quantiser >= NUM_QUANT_TBLS)
        return false;
    to->kept = number == 0 || frame->colour;
    to->width = from->downsampled_width;
    to->height = from->downsampled_height;
    to->across = alone ? 1 : from->h_samp_factor;
    to->down = alone ? 1 : from->v_samp_factor;
    to->dc = &frame->codings->dc[from->dc_tbl_no];
    to->ac = &frame->codings->ac[from->ac_tbl_no];
    for (int i = to->across * to->down; i > 0; i--) {
        if (frame->block_count == GC_JPEG_MCU_BLOCKS_MAX)
            return false;
        frame->block_parts[frame->block_count++] = (unsigned char)number;
        frame->mcu_numbers += to->kept ? GC_JPEG_COEFFICIENTS : 0;
    }
    return describe_steps(jpeg->quant_tbl_ptrs[quantiser], &to->steps);
}

static uint32_t divide_up(uint32_t a, uint32_t b)
{
    return (a + b - 1) / b;
}

bool gc_jpeg_describe(const struct jpeg_decompress_struct *jpeg, gc_jpeg_frame *frame)
{
    memset(frame, 0, sizeof *frame);
    if (!gc_jpeg_is_baseline(jpeg) || !knows_colours(jpeg))
        return false;
    frame->codings = gc_jpeg_codings_hold(jpeg);
    if (frame->codings == NULL)
        return false;
    frame->width = jpeg->image_width;
    frame->height = jpeg->image_height;
    frame->colour = jpeg->out_color_space == JCS_RGB;
    frame->restart_interval = jpeg->restart_interval;
    frame->part_count = jpeg->num_components;
    for (int c = 0; c < frame->part_count; c++)
        if (!describe_part(jpeg, c, frame))
            return false;
    /* Samples of Y are those of the image only if no component has more. */
    const gc_jpeg_part *y = &frame->parts[0];
    for (int c = 1; c < frame->part_count; c++)
        if (frame->parts[c].across > y->across || frame->parts[c].down > y->down)
            return false;
    frame->mcus_across = divide_up(frame->width, 8 * (uint32_t)y->across);
    frame->mcus_down = divide_up(frame->height, 8 * (uint32_t)y->down);
    return true;
}
