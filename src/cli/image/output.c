/* The output of one image: its format and depth, its writer, and how much of it was clipped. */
#include "cli/image/work.h"

#include "base/clock.h"
#include "base/status.h"
#include "cli/options/table.h"
#include "cli/tasks/names.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

gconv_format gc_output_format(const gc_work *work)
{
    const gc_task *task = work->task;
    gconv_format own = gconv_reader_format(work->reader);
    bool draws = work->options->command != GC_COMMAND_FILTER && strcmp(task->output, "-") == 0;
    if (task->format == GCONV_FORMAT_UNKNOWN)
        return draws && own != GCONV_FORMAT_Y4M ? GCONV_FORMAT_PNG : own;
    if (task->either_pnm)
        return work->result->input.channels < 3 ? GCONV_FORMAT_PGM : GCONV_FORMAT_PPM;
    return task->format;
}

static int largest_depth(const gconv_format_info *info)
{
    int depth = 32;
    while (depth > 1 && (info->depths & depth) == 0)
        depth /= 2;
    return depth;
}

gconv_status gc_output_depth(const gc_work *work, int *depth)
{
    const gc_options *options = work->options;
    gconv_format format = work->result->format;
    const gconv_format_info *info = gconv_format_describe(format);
    const gc_draw_options *draw = &options->draw;
    bool draws_bits = options->command != GC_COMMAND_SKETCH && !draw->overlays && !draw->values;
    *depth = options->form.depth;
    if (*depth != 0)
        return gc_check_depth(info, *depth, work->error);
    if (options->command == GC_COMMAND_FILTER)
        *depth = work->result->input.depth;
    else
        *depth = draw->values ? 16 : draws_bits ? info->edge_depth : 8;
    if ((info->depths & *depth) == 0)
        *depth = largest_depth(info);
    if (options->command == GC_COMMAND_FILTER && *depth < work->result->input.depth &&
        gc_is_in_place(options, work->task) && !options->reader.tolerant)
        return gc_fail(work->error, GCONV_ERROR_FORMAT,
                       "gconv writes %s of %d bits, and would lose some; --depth %d or --tolerant "
                       "lets that pass",
                       info->title, *depth, *depth);
    if (*depth == 1 && !draws_bits)
        return gc_fail(work->error, GCONV_ERROR_ARGUMENT,
                       "%s holds black and white alone; write PGM or PNG", info->title);
    return GCONV_OK;
}

static gconv_status keep_times(const gc_work *work, int descriptor, gconv_error *error)
{
    if (work->options->form.preserve && work->has_times && futimens(descriptor, work->times) != 0)
        return gc_fail_errno(error, GCONV_ERROR_WRITE, errno, "cannot keep the times of its input");
    return GCONV_OK;
}

/* A gconv_complete_function, whose `user` is a gc_work. A journal has the time that the output
 * keeps, and may read the output. */
static gconv_status complete(void *user, int descriptor, gconv_error *error)
{
    gc_work *work = user;
    gconv_status status = keep_times(work, descriptor, error);
    if (status != GCONV_OK || work->worker->session->journal == NULL)
        return status;
    status = gc_journaled_complete(work, descriptor, error);
    return status == GCONV_OK ? keep_times(work, descriptor, error) : status;
}

gconv_keep gc_kept_metadata(const gc_options *options)
{
    if (options->form.strip)
        return GCONV_KEEP_NOTHING;
    bool keeps_colours = options->command == GC_COMMAND_FILTER || options->draw.overlays;
    return keeps_colours ? GCONV_KEEP_ALL : GCONV_KEEP_RESOLUTION;
}

static gconv_writer_options writer_options(gc_work *work)
{
    const gc_options *options = work->options;
    gconv_writer_options writer = options->writer;
    writer.format = work->result->format;
    writer.lossy =
        gc_option_given(options, "quality") && options->writer.quality != GCONV_QUALITY_SAME;
    writer.shape = work->result->output;
    writer.white = work->result->input.depth == 16 ? 65535 : 255;
    if (options->command == GC_COMMAND_FILTER && gc_is_in_place(options, work->task)) {
        if (!gc_option_given(options, "quality"))
            writer.quality = GCONV_QUALITY_SAME;
        if (!gc_option_given(options, "chroma"))
            writer.chroma = GCONV_CHROMA_SAME;
    }
    writer.metadata = gconv_reader_metadata(work->reader);
    writer.keep = gc_kept_metadata(options);
    writer.least_alpha = gc_least_alpha(work->worker->session, &work->result->input);
    if (options->rows.join) {
        writer.part_of = work->result->input.height;
        writer.part_first = options->rows.first;
    }
    /* No other file has what the output lacks. */
    writer.warn = gc_is_in_place(options, work->task) ? gc_take_damage : gc_take_warning;
    writer.warn_damage = gc_take_damage;
    writer.warn_user = &work->output_warnings;
    writer.complete = complete;
    writer.complete_user = work;
    if (work->worker->session->journal != NULL)
        writer.written = gc_journaled_written;
    return writer;
}

/* Tells of bits that `filter` loses although the output has the format of the input. */
static void tell_depth(gc_work *work)
{
    char message[80];
    const int depth = work->result->output.depth;
    if (work->options->command != GC_COMMAND_FILTER || work->options->form.depth != 0 ||
        depth >= work->result->input.depth ||
        work->result->format != gconv_reader_format(work->reader))
        return;
    snprintf(message, sizeof message, "%s is written with %d bits, fewer than the input has",
             gconv_format_describe(work->result->format)->title, depth);
    gc_take_damage(&work->output_warnings, message);
}

gconv_status gc_open_output(gc_work *work)
{
    const char *output = work->task->output;
    gc_directories *directories = work->worker->directories;
    work->result->subject = gc_output_name(output);
    work->output_warnings =
        (gc_warning_target){work->result->subject, work->worker->notes, &work->result->warnings};
    gconv_writer_options writer = writer_options(work);
    tell_depth(work);
    if (work->writer != NULL)
        return gconv_writer_next(work->writer, &writer, work->error);
    if (directories != NULL)
        GC_TRY(gc_prepare_parent(directories, output, work->worker->notes, work->error));
    return gconv_writer_open(output, &writer, &work->writer, work->error);
}

/* ---- Clipping -------------------------------------------------------------------------------- */

typedef struct range {
    double low, high;
} range;

static range ordered(double a, double b)
{
    return (range){fmin(a, b), fmax(a, b)};
}

/* Adds the magnitudes of weights to sums[0], those of negative ones to sums[1]. */
static void add_vector(const double *numbers, int count, double sums[2])
{
    for (int i = 0; i < count; i++)
        sums[numbers[i] < 0] += fabs(numbers[i]);
}

static void sum_weights(const gconv_filter *f, double sums[2])
{
    double column[2] = {0, 0}, row[2] = {0, 0};
    sums[0] = sums[1] = 0;
    for (int i = 0; f->weights != NULL && i < f->width * f->height; i++)
        sums[f->weights[i] < 0] += (double)fabsf(f->weights[i]);
    if (f->weights != NULL)
        return;
    add_vector(f->column, f->height, column);
    add_vector(f->row, f->width, row);
    sums[0] = column[0] * row[0] + column[1] * row[1];
    sums[1] = column[0] * row[1] + column[1] * row[0];
}

/* The values of a chain over its divisors, in samples of the input. Premultiplied colours are means
 * of colours if no weight is negative, else they can be anything. */
static range range_of_chain(const gconv_job *job, double white)
{
    bool means = job->alpha == GCONV_ALPHA_PREMULTIPLY && job->input.channels % 2 == 0;
    range r = {0, white};
    for (int i = 0; i < job->filter_count; i++) {
        double sums[2], border = job->border_value * white / 255;
        sum_weights(job->filters[i], sums);
        if (job->border == GCONV_BORDER_CONSTANT)
            r = (range){fmin(r.low, border), fmax(r.high, border)};
        if (means && sums[1] > 0)
            return (range){-HUGE_VAL, HUGE_VAL};
        if (!means)
            r = ordered((sums[0] * r.low - sums[1] * r.high) / job->filters[i]->divisor,
                        (sums[0] * r.high - sums[1] * r.low) / job->filters[i]->divisor);
    }
    return r;
}

static double offset_of(const gconv_job *job)
{
    const gconv_filter *last = job->filters[job->filter_count - 1];
    return job->has_offset ? job->offset : last->has_offset ? last->offset : 0;
}

bool gc_takes_any_white(const gc_work *work)
{
    const gconv_job *job = &work->worker->session->job;
    const gconv_format_info *info = gconv_format_describe(work->task->format);
    int depth = work->options->form.depth;
    bool floats = depth == 32 || (depth == 0 && (info == NULL || (info->depths & 32) != 0));
    return floats && work->options->command == GC_COMMAND_FILTER && offset_of(job) == 0 &&
           (job->border != GCONV_BORDER_CONSTANT || job->border_value == 0);
}

/* The values that v of rule 5 (core/conversion.c) can have before it is clamped. Samples of float32
 * can be anything. */
static range range_of_values(const gconv_job *job, double white)
{
    const double offset = offset_of(job);
    range r = {-HUGE_VAL, HUGE_VAL};
    if (job->input.depth != 32)
        r = range_of_chain(job, white);
    if (job->absolute)
        r = (range){fmax(0, fmax(r.low, -r.high)), fmax(-r.low, r.high)};
    r = ordered(job->scale * r.low, job->scale * r.high);
    return (range){r.low + offset * white / 255, r.high + offset * white / 255};
}

/* Counts the samples equal to `wanted` among every `step`th one of a row, from `first` on. */
static uint64_t count_samples(const gconv_shape *shape, const void *row, size_t first, size_t step,
                              uint16_t wanted)
{
    enum { BLOCK = 128 }; /* compilers count a block in vectors of bytes */
    const uint8_t *bytes = row;
    size_t end = shape->width * (size_t)shape->channels;
    uint64_t count = 0;
    if (shape->depth == 8) {
        for (; step == 1 && end - first >= BLOCK; first += BLOCK) {
            uint8_t some = 0;
            for (size_t i = 0; i < BLOCK; i++)
                some += bytes[first + i] == (uint8_t)wanted;
            count += some;
        }
        for (size_t i = first; i < end; i += step)
            count += bytes[i] == wanted;
    } else
        for (size_t i = first; i < end; i += step)
            count += ((const uint16_t *)row)[i] == wanted;
    return count;
}

/* Counts the samples of a row equal to `wanted`, without alpha. */
static uint64_t count_colours(const gconv_shape *shape, const void *row, uint16_t wanted)
{
    size_t channels = (size_t)shape->channels;
    uint64_t all = count_samples(shape, row, 0, 1, wanted);
    return channels % 2 == 1 ? all
                             : all - count_samples(shape, row, channels - 1, channels, wanted);
}

/* ---- Counting edges -------------------------------------------------------------------------- */

/* The ones of a word: by pairs, by fours, by bytes. Processors of 2006 lack an instruction. */
static uint64_t count_ones(uint64_t word)
{
    word -= word >> 1 & 0x5555555555555555;
    word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
    return ((word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f) * 0x0101010101010101 >> 56;
}

/* The white samples of a row, which has one channel. */
static uint64_t count_white(const gconv_shape *shape, const void *row)
{
    const unsigned char *bytes = row;
    uint64_t count = 0;
    if (shape->depth == 8 || shape->depth == 16)
        return count_samples(shape, row, 0, 1, shape->depth == 8 ? UINT8_MAX : UINT16_MAX);
    if (shape->depth == 32) {
        for (uint32_t x = 0; x < shape->width; x++)
            count += ((const float *)row)[x] > 0;
        return count;
    }
    for (uint32_t i = 0; i < shape->width / 64; i++) {
        uint64_t word;
        memcpy(&word, bytes + (size_t)8 * i, sizeof word);
        count += count_ones(word);
    }
    for (uint32_t i = shape->width / 64 * 8; i < shape->width / 8; i++)
        count += count_ones(bytes[i]);
    if (shape->width % 8 != 0)
        count += count_ones(bytes[shape->width / 8] >> (8 - shape->width % 8));
    return count;
}

static gconv_status count_and_write(void *user, uint32_t count, const void *rows, size_t stride,
                                    gconv_error *error)
{
    gc_clip_counter *c = user;
    uint16_t most = c->shape.depth == 8 ? UINT8_MAX : UINT16_MAX;
    for (uint32_t y = 0; y < count; y++) {
        const void *row = (const char *)rows + y * stride;
        uint64_t white = c->edges != NULL ? count_white(&c->shape, row) : 0;
        if (c->edges != NULL)
            *c->edges += c->inverted ? c->shape.width - white : white;
        c->clipped->below += c->below ? count_colours(&c->shape, row, 0) : 0;
        c->clipped->above += c->above ? count_colours(&c->shape, row, most) : 0;
    }
    return c->sink->write(c->sink->user, count, rows, stride, error);
}

static bool help(void *user)
{
    const gc_clip_counter *c = user;
    return c->sink->help(c->sink->user);
}

static void spread(void *user, int threads)
{
    const gc_clip_counter *c = user;
    c->sink->spread(c->sink->user, threads);
}

/* A sink that counts before it writes to another one. */
static gc_clip_counter make_counter(gc_work *work, const gconv_sink *sink)
{
    gc_clip_counter made = {.own = gconv_sink_default(),
                            .sink = sink,
                            .clipped = &work->result->clipped,
                            .shape = work->result->output};
    made.own.write = count_and_write;
    made.own.user = &work->clip_counter;
    made.own.help = sink->help != NULL ? help : NULL;
    made.own.spread = sink->spread != NULL ? spread : NULL;
    return made;
}

/* What the job makes of a white image, far from its border. */
static double level_of_white(const gconv_job *job, double white)
{
    double level = white;
    for (int i = 0; i < job->filter_count; i++)
        level *= gconv_filter_gain(job->filters[i]);
    return job->scale * (job->absolute ? fabs(level) : level) + offset_of(job) * white / 255;
}

/* Clears the counts. If nothing can be clipped, or no white image is and nobody asked, the sink is
 * the other one. */
static const gconv_sink *count_clipped(gc_work *work, const gconv_sink *sink)
{
    bool reports = work->options->report.verbose || work->options->report.json;
    const gconv_job *job = &work->worker->job;
    const gconv_shape *output = &work->result->output;
    gc_clip_counter *counter = &work->clip_counter;
    gc_clipped *clipped = &work->result->clipped;
    bool has_levels = output->depth == 8 || output->depth == 16;
    *clipped = (gc_clipped){.counted = has_levels && job->output == GCONV_OUTPUT_SAMPLES};
    if (!clipped->counted)
        return sink;
    double white = job->input.depth == 16 ? UINT16_MAX : UINT8_MAX;
    double half = white / (output->depth == 16 ? UINT16_MAX : UINT8_MAX) / 2; /* of a level */
    double level = level_of_white(job, white);
    clipped->white = level > white + half ? 1 : level < half ? -1 : 0;
    clipped->counted = reports || clipped->white != 0;
    if (!clipped->counted)
        return sink;
    range values = range_of_values(job, white);
    *counter = make_counter(work, sink);
    counter->below = values.low < -half;
    counter->above = values.high > white + half;
    return counter->below || counter->above ? &counter->own : sink;
}

static bool takes_compressed(void *user, const gconv_shape *shape)
{
    const gc_clip_counter *c = user;
    return c->sink->takes_compressed(c->sink->user, shape);
}

static gconv_status count_and_write_compressed(void *user, const struct gc_compressed_rows *rows,
                                               uint64_t white, gconv_error *error)
{
    gc_clip_counter *c = user;
    *c->edges += c->inverted ? (uint64_t)c->shape.width * c->shape.height - white : white;
    return c->sink->write_compressed(c->sink->user, rows, white, error);
}

static const gconv_sink *count_edges(gc_work *work, const gconv_sink *sink)
{
    gc_clip_counter *counter = &work->clip_counter;
    gc_note_limits(work);
    *counter = make_counter(work, sink);
    counter->edges = &work->result->found.pixels;
    counter->inverted = work->worker->job.invert;
    if (sink->takes_compressed != NULL) {
        counter->own.takes_compressed = takes_compressed;
        counter->own.write_compressed = count_and_write_compressed;
    }
    return &counter->own;
}

/* ---- Writing --------------------------------------------------------------------------------- */

const gconv_sink *gc_output_sink(gc_work *work)
{
    const gconv_sink *sink = gconv_writer_sink(work->writer);
    if (work->marks.samples != NULL)
        return &work->marks_sink;
    if (work->worker->job.output == GCONV_OUTPUT_EDGES)
        return count_edges(work, sink);
    return count_clipped(work, sink);
}

gconv_status gc_finish_output(gc_work *work)
{
    work->result->subject = gc_output_name(work->task->output);
    double start = gc_seconds();
    gconv_status status = gconv_writer_finish(work->writer, work->error);
    work->result->timings.encode += gc_seconds() - start;
    return status;
}
