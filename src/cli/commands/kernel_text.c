#include "cli/commands/commands.h"

#include "base/buffer.h"
#include "base/number.h"
#include "base/output.h"
#include "base/status.h"

#include <stdio.h>
#include <string.h>

gconv_status gc_write_text(const char *path, gc_buffer *text, gconv_error *error)
{
    gc_output *output = NULL;
    gconv_status status = text->failed ? gc_fail_memory(error, text->size) : GCONV_OK;
    if (status == GCONV_OK)
        status = gc_output_open(path, &(gc_output_options){.sync = false}, &output, error);
    if (status == GCONV_OK)
        status = gc_output_write(output, text->bytes, text->size, error);
    if (status == GCONV_OK)
        status = gc_output_commit(output, error);
    gc_output_free(output);
    gc_buffer_free(text);
    return status;
}

/* Prints a number with as few digits as give it back, as float32 or as double. */
static void print_number(gc_buffer *text, double value, bool as_float, char end)
{
    char digits[32];
    double again = 0;
    for (int count = 6; count <= 17; count++) {
        snprintf(digits, sizeof digits, "%.*g", count, value);
        gc_read_number(digits, strlen(digits), &again);
        if (as_float ? (float)again == (float)value : again == value)
            break;
    }
    gc_buffer_print(text, "%s%c", digits, end);
}

static void print_line(gc_buffer *text, const char *word, const double *values, int count)
{
    gc_buffer_put(text, word);
    for (int i = 0; i < count; i++)
        print_number(text, values[i], false, i + 1 < count ? ' ' : '\n');
}

/* Whether a `name` line gives the name back. */
static bool is_name(const char *name)
{
    char escaped[256];
    size_t length = name != NULL ? strlen(name) : 0;
    return length > 0 && length < sizeof escaped && strchr(name, '#') == NULL && name[0] != ' ' &&
           name[length - 1] != ' ' && strcmp(gc_escape(name, escaped, sizeof escaped), name) == 0;
}

static void print_header(gc_buffer *text, const gconv_filter *filter)
{
    if (is_name(filter->name))
        gc_buffer_print(text, "name %s\n", filter->name);
    print_line(text, "divisor ", &filter->divisor, 1);
    if (filter->has_offset)
        print_line(text, "offset ", &filter->offset, 1);
    gc_buffer_print(text, "anchor %d %d\n", filter->anchor_x, filter->anchor_y);
}

/* How many numbers the first line of a libvips matrix has. It must not be as long as the others:
 * gconv would read it as a row of weights. */
static int libvips_count(const gconv_filter *filter)
{
    int needed = filter->offset != 0 ? 4 : filter->divisor != 1 ? 3 : 2;
    return needed + (needed == filter->width);
}

/* Why the notation cannot hold the filter; NULL: it can. */
static const char *refusal(const gconv_filter *filter, gc_notation notation)
{
    bool centred = filter->anchor_x == filter->width / 2 && filter->anchor_y == filter->height / 2;
    if (notation == GC_NOTATION_GCONV)
        return NULL;
    if (filter->weights == NULL)
        return "a column and a row";
    if (notation == GC_NOTATION_IMAGEMAGICK)
        return filter->offset != 0 ? "an offset" : filter->divisor != 1 ? "a divisor" : NULL;
    return !centred                    ? "an anchor beside the centre"
           : libvips_count(filter) > 4 ? "an offset beside 4 columns (gconv reads that as rows)"
                                       : NULL;
}

static void print_filter(gc_buffer *text, const gconv_filter *f, gc_notation notation)
{
    const double matrix[4] = {f->width, f->height, f->divisor, f->offset};
    if (notation == GC_NOTATION_GCONV)
        print_header(text, f);
    else if (notation == GC_NOTATION_LIBVIPS)
        print_line(text, "", matrix, libvips_count(f));
    else
        gc_buffer_print(text, "%dx%d+%d+%d:\n", f->width, f->height, f->anchor_x, f->anchor_y);
    char separator = notation == GC_NOTATION_IMAGEMAGICK ? ',' : ' ';
    for (int i = 0; f->weights != NULL && i < f->width * f->height; i++)
        print_number(text, (double)f->weights[i], true, (i + 1) % f->width == 0 ? '\n' : separator);
    if (f->weights == NULL) {
        print_line(text, "column ", f->column, f->height);
        print_line(text, "row ", f->row, f->width);
    }
}

gconv_status gc_kernel_write(const char *path, const gconv_filter *filter, gc_notation notation,
                             gconv_error *error)
{
    const char *refused = refusal(filter, notation);
    gc_buffer text = {.bytes = NULL};
    if (refused != NULL)
        return gc_fail(error, GCONV_ERROR_FILTER,
                       "%s cannot hold %s: leave --notation out, and it is written in gconv's",
                       notation == GC_NOTATION_LIBVIPS ? "a libvips matrix"
                                                       : "an ImageMagick string",
                       refused);
    print_filter(&text, filter, notation);
    return gc_write_text(path, &text, error);
}
