#include "planes.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

void jpeg_planes_free(jpeg_planes *planes)
{
    for (int i = 0; i < 3; i++)
        free(planes->planes[i].samples);
    *planes = (jpeg_planes){0};
}

bool jpeg_planes_differ(const jpeg_planes *a, const jpeg_planes *b, char *text, size_t size)
{
    if (a->count != b->count) {
        snprintf(text, size, "%d planes, not %d", a->count, b->count);
        return true;
    }
    for (int i = 0; i < a->count; i++) {
        const jpeg_plane *one = &a->planes[i], *two = &b->planes[i];
        if (one->columns != two->columns || one->rows != two->rows) {
            snprintf(text, size, "plane %d of %u x %u, not %u x %u", i, one->columns, one->rows,
                     two->columns, two->rows);
            return true;
        }
        for (size_t j = 0; j < (size_t)one->columns * one->rows; j++)
            if (one->samples[j] != two->samples[j]) {
                snprintf(text, size, "plane %d, column %u, row %u: %d, not %d", i,
                         (unsigned)(j % one->columns), (unsigned)(j / one->columns),
                         one->samples[j], two->samples[j]);
                return true;
            }
    }
    return false;
}

/* ---- By libjpeg ------------------------------------------------------------------------------ */

typedef struct trapped {
    struct jpeg_error_mgr errors;
    jmp_buf trap;
    char *message;
} trapped;

static void take_error(j_common_ptr jpeg)
{
    trapped *of = (trapped *)jpeg->err;
    jpeg->err->format_message(jpeg, of->message);
    longjmp(of->trap, 1);
}

static void count_warning(j_common_ptr jpeg, int level)
{
    if (level < 0)
        jpeg->err->num_warnings++;
}

static void take_planes(const struct jpeg_decompress_struct *jpeg, jpeg_planes *planes)
{
    planes->count = jpeg->num_components;
    for (int i = 0; i < planes->count; i++) {
        const jpeg_component_info *from = &jpeg->comp_info[i];
        planes->planes[i] =
            (jpeg_plane){from->width_in_blocks * DCTSIZE, from->height_in_blocks * DCTSIZE, NULL};
        planes->planes[i].samples = calloc(planes->planes[i].columns, planes->planes[i].rows);
        if (planes->planes[i].samples == NULL)
            abort();
    }
}

/* One row of MCUs at a time. */
static void read_planes(struct jpeg_decompress_struct *jpeg, jpeg_planes *planes)
{
    enum { ROWS_MAX = 4 * DCTSIZE };
    JSAMPROW rows[3][ROWS_MAX];
    JSAMPARRAY pointers[3] = {rows[0], rows[1], rows[2]};
    uint32_t done[3] = {0};
    JDIMENSION step = (JDIMENSION)(jpeg->max_v_samp_factor * DCTSIZE);
    for (JDIMENSION row = 0; row < jpeg->output_height; row += step) {
        for (int i = 0; i < planes->count; i++) {
            jpeg_plane *to = &planes->planes[i];
            for (int j = 0; j < jpeg->comp_info[i].v_samp_factor * DCTSIZE; j++) {
                uint32_t at = done[i] < to->rows ? done[i] : to->rows - 1;
                rows[i][j] = to->samples + (size_t)at * to->columns;
                done[i]++;
            }
        }
        jpeg_read_raw_data(jpeg, pointers, step);
    }
}

bool jpeg_planes_by_libjpeg(const unsigned char *bytes, size_t size, jpeg_planes *planes,
                            long *warnings, char message[JMSG_LENGTH_MAX])
{
    struct jpeg_decompress_struct jpeg;
    trapped of = {.message = message};
    *planes = (jpeg_planes){0};
    jpeg.err = jpeg_std_error(&of.errors);
    of.errors.error_exit = take_error;
    of.errors.emit_message = count_warning;
    jpeg_create_decompress(&jpeg);
    if (setjmp(of.trap) != 0) {
        *warnings = of.errors.num_warnings;
        jpeg_destroy_decompress(&jpeg);
        jpeg_planes_free(planes);
        return false;
    }
    jpeg_mem_src(&jpeg, (unsigned char *)(uintptr_t)bytes, size);
    jpeg_read_header(&jpeg, TRUE);
    if (jpeg.num_components > 3)
        take_error((j_common_ptr)&jpeg); /* CMYK: no message */
    jpeg.raw_data_out = TRUE;
    jpeg.dct_method = JDCT_ISLOW;
    jpeg_start_decompress(&jpeg);
    take_planes(&jpeg, planes);
    read_planes(&jpeg, planes);
    jpeg_finish_decompress(&jpeg);
    *warnings = of.errors.num_warnings;
    jpeg_destroy_decompress(&jpeg);
    return true;
}

bool jpeg_samples_wrap(void)
{
    char text[JMSG_LENGTH_MAX];
    jpeg_planes planes;
    long warnings;
    jpeg_file file = jpeg_sample(&(jpeg_recipe){.width = 8,
                                                .height = 8,
                                                .stored = JCS_GRAYSCALE,
                                                .quality = 100,
                                                .across = 1,
                                                .down = 1,
                                                .pattern = JPEG_WHITE});
    /* DC 1016 of a white block, with steps of 6 in place of 1: 762 in each sample, which wraps to
     * -262. */
    for (size_t at = 2; at + 69 < file.size; at++)
        if (file.bytes[at] == 0xff && file.bytes[at + 1] == 0xdb)
            file.bytes[at + 5] = 6;
    if (!jpeg_planes_by_libjpeg(file.bytes, file.size, &planes, &warnings, text))
        abort();
    bool wrap = planes.planes[0].samples[0] == 0;
    jpeg_planes_free(&planes);
    free(file.bytes);
    return wrap;
}
