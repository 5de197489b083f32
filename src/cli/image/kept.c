/* Drawings that depend on the responses of the whole image. Responses are kept, and thresholds
 * found in their histogram. The tones of pixels are written as colours. */
#include "cli/image/work.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "cli/image/blur.h"
#include "cli/image/sketch.h"
#include "cli/options/values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- What is computed ------------------------------------------------------------------------ */

static bool is_sketch(const gc_options *options)
{
    return options->command == GC_COMMAND_SKETCH;
}

/* The gradient that an edge of one level has if nothing is blurred. */
static double gain_of(const gc_options *options)
{
    static const double gains[] = {
        [GCONV_OPERATOR_SOBEL] = 4,   [GCONV_OPERATOR_SCHARR] = 16,  [GCONV_OPERATOR_PREWITT] = 3,
        [GCONV_OPERATOR_SOBEL5] = 48, [GCONV_OPERATOR_SOBEL7] = 640,
    };
    return gains[options->detector.derivative];
}

/* Responses are multiplied by this power of 2, so that 16 bits hold them: those of gauss5 reach
 * 4 * 255 levels, those of a Gaussian 375 levels over the square of its sigma, and magnitudes twice
 * the gradient of a step of 255 levels. */
static double response_scale(const gc_options *options, const gconv_shape *shape)
{
    double sigma = gc_has_own_chain(options) ? gc_sigma_of(options, shape) : 0;
    int exponent;
    if (!gc_finds_edges(options))
        return 1;
    if (options->detector.method != GCONV_METHOD_LAPLACE)
        return exp2(-ceil(log2(2 * gain_of(options))));
    frexp(sigma * sigma, &exponent);
    return sigma < 1 ? 0.25 : ldexp(1, exponent - 2);
}

/* Whether responses take the place of edges in the job: a threshold has to be found, or the command
 * draws no edges. */
static bool keeps_samples(const gc_options *options)
{
    return !gc_finds_edges(options) || options->draw.cut != GC_CUT_GIVEN;
}

void gc_kept_job(const gc_options *options, gconv_job *job)
{
    if (options->draw.values && options->detector.method == GCONV_METHOD_GRADIENT) {
        job->scale = job->output_depth != 32 ? response_scale(options, &job->input) : 1;
    } else if (options->draw.values && job->output_depth != 32) {
        job->scale = 0.125;
        job->offset = 128;
        job->has_offset = true;
    }
    if (!gc_keeps_responses(options))
        return;
    job->output_depth = 16;
    job->invert = false;
    if (!keeps_samples(options))
        return;
    job->output = GCONV_OUTPUT_SAMPLES;
    job->absolute = options->command == GC_COMMAND_EDGES && job->rule == GCONV_RULE_ABS;
    job->scale = response_scale(options, &job->input);
    if (job->rule == GCONV_RULE_NEGATIVE)
        job->scale = -job->scale;
}

static bool is_grey(const uint8_t colour[3])
{
    return colour[0] == colour[1] && colour[1] == colour[2];
}

gconv_status gc_kept_begin(gc_work *work)
{
    const gc_draw_options *draw = &work->options->draw;
    gconv_shape *output = &work->result->output;
    if (!gc_keeps_responses(work->options))
        return GCONV_OK;
    if (draw->transparent && !gconv_format_describe(work->result->format)->alpha)
        return gc_fail(work->error, GCONV_ERROR_ARGUMENT,
                       "--paper transparent needs a format with alpha, such as PNG; %s has none",
                       gconv_format_name(work->result->format));
    bool inks = !is_grey(draw->ink) || (!draw->transparent && !is_grey(draw->paper));
    bool colours = draw->overlays || inks;
    if (inks && gconv_format_describe(work->result->format)->channels == 1)
        return gc_fail(work->error, GCONV_ERROR_ARGUMENT,
                       "the colour of --%s needs an output that holds colours; %s holds grey",
                       draw->overlays         ? "overlay"
                       : is_grey(draw->paper) ? "ink"
                                              : "paper",
                       gconv_format_name(work->result->format));
    output->channels = (colours ? 3 : 1) + draw->transparent;
    gconv_status status = gc_output_depth(work, &output->depth);
    GC_THEN(status,
            gc_marks_create(&work->marks, output->width, output->height, true, work->error));
    work->marks_sink = gc_marks_sink(&work->marks);
    return status;
}

/* ---- Thresholds ------------------------------------------------------------------------------ */

/* Limits of --threshold auto and --high auto. `usual`: the share of pixels that are edges.
 * `lowest`, over the square of the Gaussian's sigma: the least response, that to an edge of six
 * levels under a wide Gaussian and of nine with gauss5. lowest_step, in levels: the edge whose
 * gradient without a blur, over the sigma, is the least magnitude. */
static const double usual = 0.1, lowest = 1.45, sigma_of_gauss5 = 1.19, lowest_step = 6;

/* --low of Canny is this times --high, a usual choice. */
static const double low_part = 0.4;

/* In levels. */
static double least_threshold(const gc_work *work)
{
    const gc_options *options = work->options;
    double sigma = options->detector.like == GCONV_LIKE_OPENCV ? 1 : sigma_of_gauss5;
    if (gc_has_own_chain(options))
        sigma = gc_sigma_of(options, &work->result->input);
    return options->detector.method == GCONV_METHOD_LAPLACE
               ? lowest / (sigma * sigma)
               : lowest_step * gain_of(options) / sigma;
}

static double larger_cut(const gc_marks *marks, double part, double least)
{
    return fmax(gc_marks_cut(marks, part * ((double)marks->width * marks->height)), least);
}

/* Marks edges, and notes what was found. */
static void mark_edges(gc_work *work)
{
    gc_marks *marks = &work->marks;
    const gc_draw_options *draw = &work->options->draw;
    double unit = 257 * response_scale(work->options, &work->result->input); /* of a level */
    double cut = GC_RESPONSE_MOST / 2;                                       /* white is above */
    if (draw->cut == GC_CUT_SHARE)
        cut = larger_cut(marks, draw->share / 100, 0);
    else if (draw->cut == GC_CUT_AUTO)
        cut = larger_cut(marks, usual, floor(least_threshold(work) * unit));
    gc_marks_set(marks, (uint32_t)cut);
    work->result->found.marked = gc_marks_count(marks);
    gc_note_limits(work);
    if (keeps_samples(work->options))
        work->result->found.threshold = (cut + 0.5) / unit;
}

/* Thin lines of a sketch or over a picture are made so wide that they are seen if it is shown
 * smaller: one pixel more for each 1500 of the longer side. */
static void widen_lines(gc_work *work)
{
    const gc_options *options = work->options;
    uint32_t width = work->marks.width, height = work->marks.height;
    bool thin = options->draw.thin || options->detector.method == GCONV_METHOD_CANNY ||
                options->detector.method == GCONV_METHOD_ZERO_CROSSING;
    if (options->draw.lines == GC_LINES_THIN || (options->draw.overlays && thin))
        gc_marks_widen(&work->marks, 1 + (width > height ? width : height) / 1500);
}

/* Makes tones of what was kept. */
static gconv_status make_tones(gc_work *work)
{
    const int cell = 5, mark = 8; /* side of a sketch's cells, and its least marks, over sigma */
    gc_marks *marks = &work->marks;
    const gc_draw_options *draw = &work->options->draw;
    double sigma = work->result->found.sigma;
    uint64_t least = draw->least;
    gconv_status status = GCONV_OK;
    if (least == 0 && draw->lines == GC_LINES_THIN)
        least = (uint64_t)(mark * sigma + 0.5);
    if (is_sketch(work->options) && draw->lines == GC_LINES_INK)
        status = gc_sketch_draw(marks, (uint32_t)(cell * sigma + 0.5), work->error);
    else
        mark_edges(work);
    if (status == GCONV_OK && (draw->thin || work->options->command == GC_COMMAND_THIN))
        status = gc_marks_thin(marks, work->error);
    if (status == GCONV_OK && least > 1)
        status = gc_marks_drop(marks, least, work->error);
    work->result->found.pixels = gc_marks_count(marks);
    widen_lines(work);
    return status;
}

void gc_note_limits(gc_work *work)
{
    gc_found *found = &work->result->found;
    bool is_canny = work->detector.method == GCONV_METHOD_CANNY;
    found->counted = true;
    found->threshold = is_canny ? work->detector.high : work->options->job.threshold;
    found->low = work->detector.low;
    found->has_low = is_canny;
}

/* ---- The file, once more --------------------------------------------------------------------- */

/* Opens a reader of its own, which gives no warnings: the other reader does. */
static gconv_status open_again(gc_work *work, gconv_reader_options options, gconv_reader **reader)
{
    const gconv_shape *wanted = &work->result->input;
    GC_TRY(gconv_reader_open(work->task->input, &options, reader, work->error));
    const gconv_shape *shape = gconv_reader_shape(*reader);
    if (shape->width == wanted->width && shape->height == wanted->height &&
        (shape->channels == wanted->channels || !options.grey) && shape->depth == wanted->depth)
        return GCONV_OK;
    gconv_reader_free(*reader);
    *reader = NULL;
    return gc_fail(work->error, GCONV_ERROR_READ, "the file has changed since it was opened");
}

/* ---- Thresholds of Canny --------------------------------------------------------------------- */

/* Counts the magnitudes of the image times `scale`. Every device computes the same ones. */
static gconv_status count_magnitudes(gc_work *work, double scale, gc_marks *marks)
{
    gconv_detector gradient = work->options->detector;
    gconv_job job;
    gconv_plan *plan = NULL;
    gconv_reader *reader = NULL;
    gc_memory_source memory;
    gconv_source samples = gc_picture_source(&work->picture, &memory);
    gconv_sink sink = gc_marks_sink(marks);
    gconv_status status = gc_plan_job(work, &job);
    gradient.method = GCONV_METHOD_GRADIENT;
    job.detector = &gradient;
    job.output = GCONV_OUTPUT_SAMPLES;
    job.output_depth = 16;
    job.scale = scale;
    job.invert = false;
    job.implementation = job.device = "cpu";
    GC_THEN(status, gconv_plan_create(&job, &plan, work->error));
    if (status == GCONV_OK && work->picture.samples == NULL)
        status = open_again(work, gc_reader_options(work->options), &reader);
    GC_THEN(status, gconv_plan_run(plan, reader != NULL ? gconv_reader_source(reader) : &samples,
                                   &sink, NULL, work->error));
    gconv_reader_free(reader);
    gconv_plan_free(plan);
    return status;
}

bool gc_finds_limits(const gc_options *options)
{
    return options->draw.finds_high && options->detector.method == GCONV_METHOD_CANNY;
}

gconv_status gc_find_limits(gc_work *work)
{
    const gconv_shape *shape = &work->result->input;
    gconv_detector *d = &work->detector;
    gc_marks marks = {.samples = NULL};
    gconv_status status = GCONV_OK;
    *d = work->options->detector;
    if (gc_finds_limits(work->options)) {
        double start = gc_seconds(), scale = response_scale(work->options, shape);
        status = gc_marks_create(&marks, shape->width, shape->height, false, work->error);
        GC_THEN(status, count_magnitudes(work, scale, &marks));
        if (status == GCONV_OK)
            d->high = fmax((larger_cut(&marks, usual, 0) + 0.5) / (257 * scale),
                           fmax(least_threshold(work), work->options->draw.finds_low ? 0 : d->low));
        gc_marks_destroy(&marks);
        work->result->timings.compute += gc_seconds() - start;
    }
    if (work->options->draw.finds_low)
        d->low = low_part * d->high;
    return status;
}

/* ---- Colours --------------------------------------------------------------------------------- */

/* What tones look like in the output. */
typedef struct palette {
    size_t bytes; /* of a pixel; 0: a bit */
    unsigned char pixels[UINT8_MAX + 1][4 * sizeof(float)];
} palette;

/* Writes a sample of 8 bits at the depth of the output. Returns its bytes; 0 for a bit. */
static size_t put_sample(const gc_work *work, int value, unsigned char *to)
{
    int depth = work->result->output.depth;
    float real = (float)(value * (work->result->input.depth == 16 ? 257 : 1));
    if (depth == 32)
        memcpy(to, &real, sizeof real);
    else
        to[0] = to[depth == 16] = (unsigned char)value;
    return (size_t)depth / 8;
}

/* Edges are white on black, or the other way round. */
static void make_palette(const gc_work *work, palette *p)
{
    enum { MOST = UINT8_MAX, HALF = UINT8_MAX / 2 };
    static const uint8_t plain[2][3] = {{0, 0, 0}, {MOST, MOST, MOST}};
    const gc_draw_options *draw = &work->options->draw;
    bool coloured = is_sketch(work->options) || draw->overlays, invert = work->options->job.invert;
    const uint8_t *ink = coloured ? draw->ink : plain[!invert];
    const uint8_t *paper = !coloured ? plain[invert] : draw->transparent ? ink : draw->paper;
    for (int i = 0; i <= MOST; i++) {
        p->bytes = 0;
        for (int c = 0; c < (work->result->output.channels < 3 ? 1 : 3); c++)
            p->bytes += put_sample(work, (paper[c] * (MOST - i) + ink[c] * i + HALF) / MOST,
                                   p->pixels[i] + p->bytes);
        if (draw->transparent)
            p->bytes += put_sample(work, i, p->pixels[i] + p->bytes);
    }
}

static void fill_row(const palette *p, const uint16_t *tones, uint32_t width, unsigned char *row)
{
    if (p->bytes == 0)
        memset(row, 0, (width + 7) / 8);
    for (uint32_t x = 0; x < width; x++)
        if (p->bytes == 0)
            row[x / 8] |= (unsigned char)((p->pixels[tones[x]][0] & 1) << (7 - x % 8));
        else
            memcpy(row + x * p->bytes, p->pixels[tones[x]], p->bytes);
}

/* ---- The picture behind the edges ------------------------------------------------------------ */

/* Opens the input once more, with its colours. Sets `picture` to NULL if it is not wanted. */
static gconv_status open_picture(gc_work *work, gconv_reader **picture)
{
    gconv_reader_options options = gc_reader_options(work->options);
    *picture = NULL;
    if (!work->options->draw.overlays)
        return GCONV_OK;
    if (work->image > 1 || strcmp(work->task->input, "-") == 0)
        return gc_fail(work->error, GCONV_ERROR_ARGUMENT,
                       "--overlay reads its input twice: give a file of one image");
    options.grey = false;
    options.opaque = true;
    return open_again(work, options, picture);
}

static unsigned char byte_of(const void *row, size_t i, int depth)
{
    if (depth == 8)
        return ((const uint8_t *)row)[i];
    if (depth == 16)
        return (unsigned char)((((const uint16_t *)row)[i] + 128) / 257);
    return (unsigned char)fmin(fmax((double)((const float *)row)[i] + 0.5, 0), UINT8_MAX);
}

/* Puts the next row of the picture where a row has no edges. */
static gconv_status put_behind(const gc_work *work, gconv_reader *picture, const uint16_t *tones,
                               unsigned char *row)
{
    const gconv_shape *shape = gconv_reader_shape(picture);
    size_t bytes = gconv_shape_row_bytes(shape), channels = (size_t)shape->channels;
    void *samples = gc_allocate_array(1, bytes);
    GC_TRY_MEMORY(samples != NULL, work->error, bytes);
    gconv_status status = gconv_reader_read(picture, 1, samples, bytes, work->error);
    size_t size = (size_t)work->result->output.depth / 8;
    for (size_t x = 0; x < shape->width && status == GCONV_OK; x++)
        for (size_t c = 0; c < 3 && tones[x] == 0; c++)
            put_sample(work, byte_of(samples, x * channels + c % channels, shape->depth),
                       row + (3 * x + c) * size);
    free(samples);
    return status;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static gconv_status write_rows(gc_work *work, const palette *p, gconv_reader *picture,
                               unsigned char *rows, size_t stride, uint32_t most)
{
    const gconv_shape *shape = &work->result->output;
    for (uint32_t y = 0; y < shape->height; y += most) {
        uint32_t count = shape->height - y < most ? shape->height - y : most;
        for (uint32_t i = 0; i < count; i++) {
            const uint16_t *tones = work->marks.samples + (size_t)(y + i) * shape->width;
            fill_row(p, tones, shape->width, rows + i * stride);
            if (picture != NULL)
                GC_TRY(put_behind(work, picture, tones, rows + i * stride));
        }
        GC_TRY(gconv_writer_write(work->writer, count, rows, stride, work->error));
    }
    return GCONV_OK;
}

static gconv_status write_tones(gc_work *work)
{
    enum { SLICE = 64 /* rows */ };
    size_t stride = gconv_shape_row_bytes(&work->result->output);
    palette p;
    gconv_reader *picture;
    gconv_status status = open_picture(work, &picture);
    unsigned char *rows = gc_allocate_array(SLICE, stride);
    make_palette(work, &p);
    GC_THEN(status, rows != NULL ? write_rows(work, &p, picture, rows, stride, SLICE)
                                 : gc_fail_memory(work->error, SLICE * stride));
    gconv_reader_free(picture);
    free(rows);
    return status;
}

gconv_status gc_kept_finish(gc_work *work)
{
    double start = gc_seconds();
    if (work->marks.samples == NULL)
        return GCONV_OK;
    gconv_status status = make_tones(work);
    double end = gc_seconds();
    work->result->timings.compute += end - start;
    GC_THEN(status, write_tones(work));
    work->result->timings.encode += gc_seconds() - end;
    gc_marks_destroy(&work->marks);
    return status;
}
