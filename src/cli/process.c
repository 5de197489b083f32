#include "cli/process.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "cli/messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- Sessions -------------------------------------------------------------------------------- */

static gconv_status load_builtin(const char *name, gconv_filter **filter, gconv_error *error)
{
    for (size_t i = 0; i < gconv_builtin_filter_count(); i++) {
        const gconv_builtin_filter *builtin = gconv_builtin_filter_at(i);
        if (strcmp(builtin->name, name) == 0)
            return gconv_filter_parse(builtin->text, strlen(builtin->text), name, filter, error);
    }
    return gc_fail(error, GCONV_ERROR_FILTER, "not among the built-in filters");
}

/* Says how the text of a filter was read: rows of weights can be meant as a libvips matrix. */
static void note_dialect(const char *name, const gconv_filter *filter)
{
    char other[96] = "";
    if (filter->dialect == NULL)
        return;
    if (filter->vips_width > 0)
        snprintf(other, sizeof other, ", not as the libvips matrix of %dx%d that it could be",
                 filter->vips_width, filter->vips_height);
    gc_note(name, "a filter of %dx%d, read as %s%s", filter->width, filter->height, filter->dialect,
            other);
}

static gconv_status load_given(const char *name, gconv_filter **filter, gconv_error *error)
{
    gconv_status status = gconv_filter_load(name, filter, error);
    if (status == GCONV_OK)
        note_dialect(name, *filter);
    return status;
}

static gconv_status load_chain(gc_session *session, gconv_error *error)
{
    static const char *const edges_chain[] = {"gauss5", "laplace3"};
    const gc_options *options = session->options;
    bool given = options->kernel_count > 0;
    const char *const *names = given ? (const char *const *)options->kernels : edges_chain;
    int count = given ? options->kernel_count : 2;
    session->filters = calloc((size_t)count, sizeof(gconv_filter *));
    if (session->filters == NULL)
        return gc_fail_memory(error, (size_t)count * sizeof(gconv_filter *));
    for (int i = 0; i < count; i++) {
        session->blamed = names[i];
        /* The edges chain is the built-in one, whatever files lie about under these names. */
        gconv_status status = given ? load_given(names[i], &session->filters[i], error)
                                    : load_builtin(names[i], &session->filters[i], error);
        if (status != GCONV_OK)
            return status;
        session->filter_count++;
        if (session->filters[i]->has_offset && i + 1 < count)
            return gc_fail(error, GCONV_ERROR_FILTER,
                           "has an offset, and only the last filter of a chain may have one");
    }
    session->blamed = NULL;
    return GCONV_OK;
}

static void fill_job(gc_session *session)
{
    const gc_options *options = session->options;
    gconv_job *job = &session->job;
    *job = gconv_job_default();
    job->filters = (const gconv_filter *const *)session->filters;
    job->filter_count = session->filter_count;
    job->correlate = options->correlate;
    job->border = options->border;
    job->border_value = options->border_value;
    job->output = options->kernel_count > 0 ? GCONV_OUTPUT_SAMPLES : GCONV_OUTPUT_EDGES;
    job->scale = options->scale;
    job->offset = options->offset;
    job->has_offset = options->has_offset;
    job->absolute = options->absolute;
    job->threshold = options->threshold;
    job->rule = options->rule;
    job->invert = options->invert;
    job->alpha = options->alpha;
    job->implementation = options->implementation != NULL ? options->implementation : "auto";
    job->device = options->device;
    job->threads = options->threads;
    job->between_files = (options->command & (GC_COMMAND_EDGES | GC_COMMAND_FILTER)) != 0;
    job->tile = options->tile;
    job->block_width = options->block_width;
    job->block_height = options->block_height;
}

bool gc_is_cuda(const char *implementation)
{
    gconv_implementation_info info;
    for (int i = 0; i < gconv_implementation_count(); i++)
        if (gconv_implementation_describe(i, &info, NULL) == GCONV_OK &&
            strcmp(info.name, implementation) == 0)
            return info.kind == GCONV_DEVICE_CUDA;
    return false;
}

const char *gc_device_for(const gc_session *session, const char *implementation)
{
    bool measures = (session->options->command & (GC_COMMAND_COMPARE | GC_COMMAND_BENCH)) != 0;
    bool on_cpu = strcmp(implementation, "auto") != 0 && !gc_is_cuda(implementation);
    return measures && on_cpu ? "auto" : session->job.device;
}

/* A job of one pixel shows every error that does not depend on the image. */
gconv_status gc_session_check(const gc_session *session, const char *implementation,
                              gconv_error *error)
{
    gconv_job job = session->job;
    job.input = (gconv_shape){.width = 1, .height = 1, .channels = 1, .depth = 8};
    job.output_depth = 8;
    job.implementation = implementation;
    job.device = gc_device_for(session, implementation);
    gconv_status status = gconv_job_check(&job, error);
    /* What an implementation refuses may depend on the shape: the image will tell. */
    return status == GCONV_ERROR_UNSUPPORTED ? GCONV_OK : status;
}

/* One of the implementations named must be usable; those that are not get a row of their own. */
static gconv_status check_jobs(const gc_session *session, gconv_error *error)
{
    const char *next = session->job.implementation;
    gconv_error reason, first = {.status = GCONV_OK};
    int usable = 0;
    while (*next != '\0') {
        char name[64];
        size_t length = strcspn(next, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, next);
        gconv_status status =
            gc_session_check(session, strcmp(name, "all") == 0 ? "auto" : name, &reason);
        usable += status == GCONV_OK;
        if (status != GCONV_OK && first.status == GCONV_OK)
            first = reason;
        if (status != GCONV_OK && status != GCONV_ERROR_DEVICE) {
            *error = reason;
            return status;
        }
        next += length + (next[length] == ',');
    }
    if (usable > 0)
        return GCONV_OK;
    *error = first;
    return first.status;
}

gconv_status gc_session_create(const gc_options *options, gc_session *session, gconv_error *error)
{
    *session = (gc_session){.options = options};
    gconv_status status = load_chain(session, error);
    if (status != GCONV_OK)
        return status;
    fill_job(session);
    return check_jobs(session, error);
}

void gc_session_destroy(gc_session *session)
{
    gconv_plan_free(session->plan);
    for (int i = 0; i < session->filter_count; i++)
        gconv_filter_free(session->filters[i]);
    free(session->filters);
    *session = (gc_session){.options = NULL};
}

static bool same_shape(const gconv_shape *a, const gconv_shape *b)
{
    return a->width == b->width && a->height == b->height && a->channels == b->channels &&
           a->depth == b->depth;
}

gconv_status gc_session_plan(gc_session *session, const gconv_shape *shape, gconv_alpha alpha,
                             int output_depth, gconv_error *error)
{
    gconv_job job = session->job;
    job.input = *shape;
    job.alpha = alpha;
    job.output_depth = output_depth;
    job.runs = session->image_count - session->image;
    job.images_at_once = session->images_at_once;
    if (session->plan != NULL && same_shape(shape, &session->plan_job.input) &&
        session->plan_job.alpha == alpha && session->plan_job.output_depth == output_depth)
        return GCONV_OK;
    gconv_plan_free(session->plan);
    session->plan_job = job;
    return gconv_plan_create(&job, &session->plan, error);
}

/* ---- Pictures -------------------------------------------------------------------------------- */

gconv_reader_options gc_reader_options(const gc_options *options, gc_warning_place *place)
{
    gconv_reader_options reader = gconv_reader_options_default();
    bool filters = options->command == GC_COMMAND_FILTER || options->kernel_count > 0;
    reader.grey = !filters;
    reader.auto_orient = !options->no_auto_orient;
    reader.tolerant = options->tolerant;
    reader.max_pixels = options->max_pixels;
    reader.warn = gc_take_warning;
    reader.warn_damage = gc_take_damage;
    reader.warn_user = place;
    return reader;
}

gconv_status gc_picture_read(gconv_reader *reader, gc_picture *picture, gconv_error *error)
{
    picture->shape = *gconv_reader_shape(reader);
    picture->format = gconv_reader_format(reader);
    picture->stride = gconv_shape_row_bytes(&picture->shape);
    picture->samples = gc_allocate_array(picture->shape.height, picture->stride);
    if (picture->samples == NULL)
        return gc_fail(error, GCONV_ERROR_MEMORY, "out of memory for %ux%u pixels",
                       picture->shape.width, picture->shape.height);
    gconv_status status =
        gconv_reader_read(reader, picture->shape.height, picture->samples, picture->stride, error);
    return status == GCONV_OK ? gconv_reader_finish(reader, error) : status;
}

void gc_picture_destroy(gc_picture *picture)
{
    free(picture->samples);
    *picture = (gc_picture){.samples = NULL};
}

/* The session's job on images of this shape. */
static gconv_job job_for(const gc_session *session, const gconv_shape *shape)
{
    gconv_job job = session->job;
    job.input = *shape;
    return job;
}

gconv_alpha gc_choose_alpha(const gc_session *session, const gc_picture *picture)
{
    gconv_job job = job_for(session, &picture->shape);
    bool opaque = picture->samples == NULL || !gconv_alpha_needs_pixels(&job) ||
                  gconv_shape_is_opaque(&picture->shape, picture->samples, picture->shape.height,
                                        picture->stride);
    return gconv_alpha_resolve(&job, opaque);
}

/* ---- One image ------------------------------------------------------------------------------- */

/* A larger image is decoded twice rather than held where its alpha must be known beforehand. */
#define HELD_BYTES ((size_t)16 << 20)

/* Everything that one image needs and that is cleaned up after it. */
typedef struct work {
    gc_session *session;
    const gc_task *task;
    gc_result *result;
    gconv_reader *reader;
    gconv_writer *writer;
    gc_picture picture;  /* the whole input, where it must be seen whole */
    uint32_t rows_given; /* of the picture, as a source */
    bool opaque;         /* as far as it decides how alpha is treated */
    gconv_format format;
    size_t image;      /* of the input, from 1 */
    double start;      /* of its work, in seconds */
    bool make_parents; /* of the output */
    gc_warning_place input_warnings, output_warnings;
    gconv_error *error;
} work;

static gconv_status read_picture(void *user, uint32_t count, void *rows, size_t stride,
                                 gconv_error *error)
{
    work *w = user;
    (void)error;
    for (uint32_t i = 0; i < count; i++)
        memcpy((char *)rows + i * stride,
               w->picture.samples + (size_t)(w->rows_given + i) * w->picture.stride,
               w->picture.stride);
    w->rows_given += count;
    return GCONV_OK;
}

/* Tells of a part of one image's work: the whole of it from 0 to 1. */
typedef struct image_part {
    const gc_session *session;
    const char *name;
    double from, to;
    bool endless; /* one of a stream: how many images will come is not known */
} image_part;

static bool show_part(void *user, double done)
{
    const image_part *part = user;
    size_t finished = gc_tally_finished(), count = part->session->image_count;
    if (part->endless)
        count = 0;
    double of_image = part->from + (part->to - part->from) * done;
    double of_all = count > 0 ? ((double)finished + of_image) / (double)count : 0;
    gc_progress_show(part->name, of_all, finished, count);
    return true;
}

/* Depth of the output where --depth leaves it to the format and the input. */
static gconv_status output_depth(const work *w, const gconv_shape *input, int *depth)
{
    const gc_options *options = w->session->options;
    *depth = options->depth;
    if (w->format == GCONV_FORMAT_PFM)
        *depth = options->depth == 0 ? 32 : options->depth;
    else if (options->depth == 0 && w->format == GCONV_FORMAT_JPEG)
        *depth = 8;
    else if (options->depth == 0 && options->command == GC_COMMAND_EDGES)
        *depth = w->format == GCONV_FORMAT_PNG ? 1 : 8;
    else if (options->depth == 0)
        *depth = input->depth;
    return gc_check_depth(w->format, *depth, w->error);
}

/* The format of the output, once the input's header is read. */
static gconv_format output_format(const work *w)
{
    const gc_task *task = w->task;
    if (task->format == GCONV_FORMAT_UNKNOWN)
        return gconv_reader_format(w->reader);
    bool grey = task->either_pnm && w->result->input.channels < 3;
    return grey ? GCONV_FORMAT_PGM : task->format;
}

/* A file that can be read twice, and is better not held in memory. */
static bool is_large_file(const work *w)
{
    struct stat status;
    size_t bytes = gconv_shape_row_bytes(&w->result->input) * (size_t)w->result->input.height;
    return bytes > HELD_BYTES && strcmp(w->task->input, "-") != 0 &&
           stat(w->task->input, &status) == 0 && S_ISREG(status.st_mode);
}

/* Reads until `reader` comes to a row that is not opaque, or to the end. */
static gconv_status read_opaque_rows(gconv_reader *reader, unsigned char *rows, uint32_t room,
                                     bool *opaque, gconv_error *error)
{
    const gconv_shape *shape = gconv_reader_shape(reader);
    size_t stride = gconv_shape_row_bytes(shape);
    *opaque = true;
    for (uint32_t y = 0; *opaque && y < shape->height; y += room) {
        uint32_t count = shape->height - y < room ? shape->height - y : room;
        gconv_status status = gconv_reader_read(reader, count, rows, stride, error);
        if (status != GCONV_OK)
            return status;
        *opaque = gconv_shape_is_opaque(shape, rows, count, stride);
    }
    return GCONV_OK;
}

/* Sets w->opaque by a reader of its own, whose warnings the other one will repeat. */
static gconv_status look_for_transparency(work *w)
{
    enum { ROWS = 16 };
    gconv_reader_options options = gc_reader_options(w->session->options, NULL);
    options.warn = options.warn_damage = NULL;
    gconv_reader *reader;
    gconv_status status = gconv_reader_open(w->task->input, &options, &reader, w->error);
    if (status != GCONV_OK)
        return status;
    size_t row_bytes = gconv_shape_row_bytes(gconv_reader_shape(reader));
    unsigned char *rows = gc_allocate_array(ROWS, row_bytes);
    if (rows != NULL)
        status = read_opaque_rows(reader, rows, ROWS, &w->opaque, w->error);
    else
        status = gc_fail_memory(w->error, ROWS * row_bytes);
    free(rows);
    gconv_reader_free(reader);
    return status;
}

/* Reads whole, or looks through, an image that must be seen before it is computed. */
static gconv_status look_ahead(work *w)
{
    w->opaque = true;
    gconv_job job = job_for(w->session, &w->result->input);
    bool alpha_is_wanted = gconv_alpha_needs_pixels(&job);
    if (!w->session->options->verify && !alpha_is_wanted)
        return GCONV_OK;
    gconv_status status;
    double start = gc_seconds();
    if (!w->session->options->verify && is_large_file(w))
        status = look_for_transparency(w);
    else
        status = gc_picture_read(w->reader, &w->picture, w->error);
    if (status == GCONV_OK && alpha_is_wanted && w->picture.samples != NULL)
        w->opaque = gconv_shape_is_opaque(&w->picture.shape, w->picture.samples,
                                          w->picture.shape.height, w->picture.stride);
    w->result->timings.decode += gc_seconds() - start;
    return status;
}

static gconv_status open_input(work *w)
{
    w->result->blamed = gc_input_name(w->task->input);
    if (w->task->unlisted != 0)
        return gc_fail_errno(w->error, GCONV_ERROR_READ, w->task->unlisted,
                             "cannot list the directory");
    if (w->task->unknown != 0)
        return gc_fail_errno(w->error, GCONV_ERROR_READ, w->task->unknown, "cannot read");
    w->input_warnings =
        (gc_warning_place){gc_input_name(w->task->input), w->session->notes, &w->result->warnings};
    gconv_reader_options options = gc_reader_options(w->session->options, &w->input_warnings);
    return gconv_reader_open(w->task->input, &options, &w->reader, w->error);
}

static gconv_status make_plan(work *w)
{
    int depth;
    gconv_status status = output_depth(w, &w->result->input, &depth);
    if (status != GCONV_OK)
        return status;
    gconv_job job = job_for(w->session, &w->result->input);
    status = gc_session_plan(w->session, &w->result->input, gconv_alpha_resolve(&job, w->opaque),
                             depth, w->error);
    if (status != GCONV_OK)
        return status;
    w->result->output = *gconv_plan_output_shape(w->session->plan);
    w->result->format = w->format;
    w->result->implementation = gconv_plan_implementation(w->session->plan);
    w->result->exact = gconv_plan_is_exact(w->session->plan);
    return GCONV_OK;
}

/* Opens the output, or begins the next image in it. */
static gconv_status open_output(work *w)
{
    const gc_options *options = w->session->options;
    w->result->blamed = gc_output_name(w->task->output);
    if (w->make_parents && w->writer == NULL) {
        gconv_status status =
            gc_make_parent_directories(w->session->directories, w->task->output, w->error);
        if (status != GCONV_OK)
            return status;
    }
    gconv_writer_options writer = gconv_writer_options_default();
    writer.format = w->format;
    writer.shape = w->result->output;
    writer.quality = options->quality;
    writer.compression = options->compression;
    writer.metadata = gconv_reader_metadata(w->reader);
    writer.keep = options->strip                         ? GCONV_KEEP_NOTHING
                  : options->command == GC_COMMAND_EDGES ? GCONV_KEEP_RESOLUTION
                                                         : GCONV_KEEP_ALL;
    writer.no_clobber = options->no_clobber;
    writer.sync = options->sync;
    w->output_warnings = (gc_warning_place){gc_output_name(w->task->output), w->session->notes,
                                            &w->result->warnings};
    writer.warn = gc_take_warning;
    writer.warn_user = &w->output_warnings;
    if (w->writer != NULL)
        return gconv_writer_next(w->writer, &writer, w->error);
    return gconv_writer_open(w->task->output, &writer, &w->writer, w->error);
}

/* Divides the image's progress among the plan, the reference and the writing of `rows`. */
static void share_progress(const gconv_plan *plan, const gconv_plan *reference,
                           const image_part *whole, image_part *own, image_part *other,
                           image_part *rows)
{
    const double writing = 0.05;
    double seconds = gconv_plan_expected_seconds(plan);
    double other_seconds = gconv_plan_expected_seconds(reference);
    *own = *other = *rows = *whole;
    rows->from = 1 - writing;
    other->to = rows->from;
    own->to = other->from = rows->from * seconds / (seconds + other_seconds);
}

/* Computes with the plan and with the reference, compares, and writes the plan's result. */
static gconv_status run_verified(work *w, const image_part *whole)
{
    image_part own, other, rows;
    gconv_plan *plan = w->session->plan;
    gconv_job job = w->session->plan_job;
    job.implementation = "reference";
    job.device = "cpu";
    size_t row = (size_t)job.input.width * (size_t)gconv_plan_chain_channels(plan) * sizeof(float);
    float *chain = gc_allocate_array(job.input.height, row);
    float *expected = gc_allocate_array(job.input.height, row);
    gconv_plan *reference = NULL;
    gconv_status status = GCONV_OK;
    if (chain == NULL || expected == NULL)
        status = gc_fail_memory(w->error, 2 * row * job.input.height);
    if (status == GCONV_OK)
        status = gconv_plan_create(&job, &reference, w->error);
    const void *input = w->picture.samples;
    size_t stride = w->picture.stride;
    if (status == GCONV_OK) {
        share_progress(plan, reference, whole, &own, &other, &rows);
        gconv_plan_watch(plan, show_part, &own);
        gconv_plan_watch(reference, show_part, &other);
        status =
            gconv_plan_run_chain(plan, input, stride, chain, row, &w->result->timings, w->error);
    }
    if (status == GCONV_OK)
        status = gconv_plan_run_chain(reference, input, stride, expected, row, NULL, w->error);
    if (status == GCONV_OK)
        status = gconv_plan_compare(plan, input, stride, chain, expected, row,
                                    &w->result->difference, w->error);
    w->result->verified = status == GCONV_OK;
    gconv_plan_watch(plan, show_part, &rows);
    if (status == GCONV_OK)
        status = gconv_plan_convert(plan, chain, row, input, stride, gconv_writer_sink(w->writer),
                                    w->error);
    gconv_plan_watch(plan, NULL, NULL);
    gconv_plan_free(reference);
    free(expected);
    free(chain);
    return status;
}

static gconv_status compute(work *w)
{
    image_part whole = {.session = w->session,
                        .name = gc_input_name(w->task->input),
                        .to = 1,
                        .endless = w->image > 1};
    gconv_plan *plan = w->session->plan;
    gconv_source source = w->picture.samples != NULL ? (gconv_source){read_picture, w}
                                                     : gconv_reader_source(w->reader);
    gconv_status status;
    if (w->session->options->verify)
        status = run_verified(w, &whole);
    else {
        gconv_plan_watch(plan, show_part, &whole);
        status = gconv_plan_run(plan, source, gconv_writer_sink(w->writer), &w->result->timings,
                                w->error);
        gconv_plan_watch(plan, NULL, NULL);
    }
    if (status != GCONV_ERROR_WRITE)
        w->result->blamed = gc_input_name(w->task->input);
    w->result->implementation = gconv_plan_implementation(plan);
    if (status == GCONV_OK && w->picture.samples == NULL)
        status = gconv_reader_finish(w->reader, w->error);
    return status;
}

static gconv_status finish_output(work *w)
{
    w->result->blamed = gc_output_name(w->task->output);
    double start = gc_seconds();
    gconv_status status = gconv_writer_finish(w->writer, w->error);
    w->result->timings.encode += gc_seconds() - start;
    return status;
}

/* Whether there is an output that --no-clobber protects. */
static bool output_exists(const gc_task *task)
{
    struct stat status;
    return task->unlisted == 0 && task->unknown == 0 && strcmp(task->output, "-") != 0 &&
           lstat(task->output, &status) == 0;
}

/* The plan serves the next image before this one is reported. */
static void keep_explanation(work *w)
{
    const gc_options *options = w->session->options;
    if (!options->verbose && !options->explain)
        return;
    w->result->explanation = gc_copy_string(gconv_plan_explanation(w->session->plan));
    if (gconv_plan_fallback(w->session->plan)[0] != '\0')
        w->result->fallback = gc_copy_string(gconv_plan_fallback(w->session->plan));
}

/* Lets another image of several have the GPU. */
static void release_gpu(gc_session *session)
{
    if (session->images_at_once < 2 || session->plan == NULL)
        return;
    bool used_gpu = gconv_plan_device(session->plan)->kind == GCONV_DEVICE_CUDA ||
                    gconv_plan_fallback(session->plan)[0] != '\0';
    if (!used_gpu)
        return;
    gconv_plan_free(session->plan);
    session->plan = NULL;
}

/* Puts "image N: " before the message about an image that is not the first. */
static void name_image(const work *w)
{
    gconv_error error = *w->error;
    if (w->image > 1)
        snprintf(w->error->message, sizeof w->error->message, "image %zu: %.480s", w->image,
                 error.message);
}

/* Fills what a result says when an image is done, or has failed. */
static void conclude(work *w, gconv_status status)
{
    gc_result *result = w->result;
    result->timings.total = gc_seconds() - w->start;
    if (w->image > 1)
        result->image = w->image;
    if (status == GCONV_ERROR_EXISTS)
        result->outcome = GC_OUTCOME_SKIPPED;
    else if (status != GCONV_OK)
        result->outcome = GC_OUTCOME_FAILED;
    else if (result->verified && !result->difference.within)
        result->outcome = GC_OUTCOME_MISMATCH;
    if (status == GCONV_OK)
        keep_explanation(w);
    else
        name_image(w);
}

static gconv_status process_image(work *w)
{
    w->result->blamed = gc_input_name(w->task->input);
    w->result->input = *gconv_reader_shape(w->reader);
    w->format = output_format(w);
    gconv_status status = look_ahead(w);
    if (status == GCONV_OK)
        status = make_plan(w);
    if (status == GCONV_OK)
        status = open_output(w);
    return status == GCONV_OK ? compute(w) : status;
}

static gconv_status refuse_several(const work *w)
{
    bool several = w->format == GCONV_FORMAT_PGM || w->format == GCONV_FORMAT_PPM ||
                   w->format == GCONV_FORMAT_PFM;
    if (!several)
        return gc_fail(w->error, GCONV_ERROR_FORMAT,
                       "more than one image, and %s holds one; --format pnm holds all",
                       gconv_format_name(w->format));
    if (w->session->image_done == NULL)
        return gc_fail(w->error, GCONV_ERROR_FORMAT,
                       "more than one image, and a batch takes one of each input; give IN OUT");
    return GCONV_OK;
}

/* Goes on to the next image of a stream, and hands over what became of this one; *more is false where
 * there is none. A next one that cannot be opened has failed as an image of its own; an input that
 * fails before it is known whether there is one fails this image. */
static gconv_status go_on(work *w, bool *more)
{
    gconv_error error;
    gconv_status status = gconv_reader_next(w->reader, more, &error);
    if (status == GCONV_OK && !*more)
        return GCONV_OK;
    w->result->blamed = gc_input_name(w->task->input);
    if (!*more) {
        *w->error = error;
        return status;
    }
    if (refuse_several(w) != GCONV_OK)
        return w->error->status;
    conclude(w, GCONV_OK);
    w->result->image = w->image++;
    gconv_error untold;
    gconv_status taken =
        w->session->image_done(w->session->image_user, w->task, w->result, &untold);
    gc_picture_destroy(&w->picture);
    *w->result = (gc_result){.outcome = GC_OUTCOME_DONE, .blamed = gc_input_name(w->task->input)};
    w->rows_given = 0;
    w->start = gc_seconds();
    if (status != GCONV_OK || taken != GCONV_OK)
        *w->error = taken != GCONV_OK ? untold : error;
    return w->error->status;
}

static gconv_status process(work *w)
{
    if (w->session->options->no_clobber && output_exists(w->task))
        return GCONV_ERROR_EXISTS;
    bool more = true;
    gconv_status status = open_input(w);
    while (status == GCONV_OK && more) {
        status = process_image(w);
        if (status == GCONV_OK)
            status = go_on(w, &more);
    }
    return status == GCONV_OK ? finish_output(w) : status;
}

void gc_process(gc_session *session, const gc_task *task, bool make_parents, gc_result *result)
{
    *result = (gc_result){.outcome = GC_OUTCOME_DONE};
    work w = {.session = session,
              .task = task,
              .result = result,
              .image = 1,
              .start = gc_seconds(),
              .make_parents = make_parents,
              .error = &result->error};
    gconv_status status = process(&w);
    gconv_writer_free(w.writer);
    gconv_reader_free(w.reader);
    gc_picture_destroy(&w.picture);
    conclude(&w, status);
    release_gpu(session);
}

void gc_result_destroy(gc_result *result)
{
    free(result->explanation);
    free(result->fallback);
    free(result->notes);
    gc_warning_list_destroy(&result->warnings);
    result->explanation = result->fallback = result->notes = NULL;
}
