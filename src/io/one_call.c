/* Whole files and images in one call. A client of the public functions of readers, plans and
 * writers. */
#include "base/memory.h"
#include "base/memory_rows.h"
#include "base/sized.h"
#include "base/status.h"
#include "core/job.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What the call for files holds. */
typedef struct conversion {
    const char *out;
    gconv_job job; /* without shape */
    gconv_writer_options writing;
    gconv_reader *reader;
    gconv_writer *writer;
    char *pixels; /* of the image, if alpha depends on them; else NULL */
} conversion;

/* The depth of the output, as the program chooses it: the job's; else the input's, or 1 for edges
 * in PNG; if the format cannot hold that, its deepest. */
static int depth_of(const conversion *c, const gconv_shape *input)
{
    const gconv_format_info *format = gconv_format_describe(c->writing.format);
    int depth = input->depth;
    if (c->job.output_depth != 0)
        return c->job.output_depth;
    if (c->job.output == GCONV_OUTPUT_EDGES)
        depth = format != NULL ? format->edge_depth : 8;
    if (format == NULL || (format->depths & depth) != 0)
        return depth;
    for (depth = 32; depth > 1 && (format->depths & depth) == 0;)
        depth /= 2;
    return depth;
}

/* Opens the output for the first image, and goes on in it for another one. */
static gconv_status open_output(conversion *c, const gconv_plan *plan, gconv_error *error)
{
    c->writing.shape = *gconv_plan_output_shape(plan);
    c->writing.metadata = gconv_reader_metadata(c->reader);
    c->writing.white = gconv_reader_shape(c->reader)->depth == 16 ? 65535 : 255;
    return c->writer == NULL ? gconv_writer_open(c->out, &c->writing, &c->writer, error)
                             : gconv_writer_next(c->writer, &c->writing, error);
}

/* Decides how alpha is treated: reads the image if that depends on its pixels. */
static gconv_status resolve_alpha(conversion *c, gconv_job *job, gconv_error *error)
{
    const gconv_shape *shape = &job->input;
    size_t bytes = gconv_shape_row_bytes(shape);
    bool opaque = true;
    job->alpha = GCONV_ALPHA_AUTO;
    if (gconv_alpha_needs_pixels(job)) {
        c->pixels = gc_allocate_array(shape->height, bytes);
        GC_TRY_MEMORY(c->pixels != NULL, error, shape->height * bytes);
        GC_TRY(gconv_reader_read(c->reader, shape->height, c->pixels, bytes, error));
        opaque = gconv_shape_is_opaque(shape, c->pixels, shape->height, bytes);
    }
    job->alpha = gconv_alpha_resolve(job, opaque);
    return GCONV_OK;
}

static gconv_status run(conversion *c, gconv_plan *plan, gconv_error *error)
{
    size_t bytes = gconv_shape_row_bytes(gconv_reader_shape(c->reader));
    gc_memory_source rows = {.next = c->pixels, .row_bytes = bytes, .stride = bytes};
    gconv_source held = gc_source_of_memory(&rows);
    return gconv_plan_run(plan, c->pixels != NULL ? &held : gconv_reader_source(c->reader),
                          gconv_writer_sink(c->writer), NULL, error);
}

static gconv_status convert_image(conversion *c, gconv_error *error)
{
    gconv_job job = c->job;
    gconv_plan *plan = NULL;
    job.input = *gconv_reader_shape(c->reader);
    job.output_depth = depth_of(c, &job.input);
    gconv_status status = resolve_alpha(c, &job, error);
    GC_THEN(status, gconv_plan_create(&job, &plan, error));
    GC_THEN(status, open_output(c, plan, error));
    GC_THEN(status, run(c, plan, error));
    GC_THEN(status, gconv_reader_finish(c->reader, error));
    gconv_plan_free(plan);
    free(c->pixels);
    c->pixels = NULL;
    return status;
}

/* Opens the input, and fills the job and the options of the writer. */
static gconv_status open_input(const char *in, conversion *c, gconv_error *error)
{
    gconv_reader_options reading = gconv_reader_options_default();
    gconv_format format = gconv_format_from_path(c->out);
    const gconv_format_info *info = gconv_format_describe(format);
    bool edges = c->job.output == GCONV_OUTPUT_EDGES;
    reading.grey = edges || (info != NULL && info->depths == 1);
    reading.opaque = info != NULL && !info->alpha;
    GC_TRY(gconv_reader_open(in, &reading, &c->reader, error));
    c->job.between_files = true;
    c->writing = gconv_writer_options_default();
    c->writing.keep = edges ? GCONV_KEEP_RESOLUTION : GCONV_KEEP_ALL;
    c->writing.format = format;
    if (format == GCONV_FORMAT_UNKNOWN && c->out != NULL && strcmp(c->out, "-") == 0)
        c->writing.format = gconv_reader_format(c->reader);
    return GCONV_OK;
}

static bool is_one_file(const char *in, const char *out)
{
    struct stat a, b;
    return in != NULL && out != NULL && stat(in, &a) == 0 && stat(out, &b) == 0 &&
           S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static gconv_status convert_file(const char *in, conversion *c, gconv_error *error)
{
    if (is_one_file(in, c->out))
        return gc_fail(error, GCONV_ERROR_EXISTS, "the output would replace the input");
    gconv_status status = open_input(in, c, error);
    for (bool more = true; status == GCONV_OK && more;) {
        status = convert_image(c, error);
        GC_THEN(status, gconv_reader_next(c->reader, &more, error));
    }
    GC_THEN(status, gconv_writer_finish(c->writer, error));
    gconv_writer_free(c->writer);
    gconv_reader_free(c->reader);
    return status;
}

/* Makes a job of a caller's options, which may be NULL. */
static gconv_status read_options(const gconv_job *options, gconv_job *job, gconv_error *error)
{
    *job = gconv_job_default();
    return options == NULL ? GCONV_OK : gc_job_read(options, job, error);
}

gconv_status gconv_filter_file(const char *in, const char *out, const gconv_filter *filter,
                               const gconv_job *options, gconv_error *error)
{
    conversion c = {.out = out};
    GC_TRY(read_options(options, &c.job, error));
    c.job.filters = &filter;
    c.job.filter_count = 1;
    c.job.output = GCONV_OUTPUT_SAMPLES;
    return convert_file(in, &c, error);
}

gconv_status gconv_edges_file(const char *in, const char *out, const gconv_job *options,
                              gconv_error *error)
{
    gconv_filter *loaded[2] = {NULL};
    gconv_detector detector = gconv_detector_default();
    conversion c = {.out = out};
    gconv_status status = read_options(options, &c.job, error);
    if (status == GCONV_OK && c.job.detector != NULL)
        status = gc_sized_read(c.job.detector, "gconv_detector", &detector, sizeof detector, error);
    if (status == GCONV_OK && c.job.filter_count == 0) {
        const char *const *names = gconv_method_filters(&detector, &c.job.filter_count);
        for (int i = 0; status == GCONV_OK && i < c.job.filter_count; i++)
            status = gconv_filter_load(names[i], &loaded[i], error);
        c.job.filters = (const gconv_filter *const *)loaded;
    }
    c.job.output = GCONV_OUTPUT_EDGES;
    GC_THEN(status, convert_file(in, &c, error));
    gconv_filter_free(loaded[0]);
    gconv_filter_free(loaded[1]);
    return status;
}

gconv_status gconv_filter_memory(const unsigned char *input, unsigned char *output, uint32_t width,
                                 uint32_t height, int channels, const gconv_filter *filter,
                                 const gconv_job *options, gconv_error *error)
{
    gconv_job job;
    gconv_plan *plan;
    GC_TRY(read_options(options, &job, error));
    job.filters = &filter;
    job.filter_count = 1;
    job.input = (gconv_shape){width, height, channels, 8};
    job.output = GCONV_OUTPUT_SAMPLES;
    job.output_depth = 8;
    GC_TRY(gconv_plan_create(&job, &plan, error));
    size_t stride = gconv_shape_row_bytes(&job.input);
    gconv_status status = gconv_plan_run_memory(plan, input, stride, output, stride, NULL, error);
    gconv_plan_free(plan);
    return status;
}
