#include "core/job.h"

#include "base/number.h"
#include "base/sized.h"
#include "base/status.h"
#include "core/shape.h"

#include <limits.h>
#include <math.h>

/* What CUDA allows on every device. */
enum { BLOCK_THREADS_MAX = 1024 };

static gconv_job defaults(void)
{
    return (gconv_job){
        .size = sizeof(gconv_job),
        .border = GCONV_BORDER_MIRROR,
        .alpha = GCONV_ALPHA_KEEP,
        .output = GCONV_OUTPUT_SAMPLES,
        .scale = 1,
        .threshold = 5,
        .rule = GCONV_RULE_ABS,
        .implementation = "auto",
        .device = "auto",
    };
}

void gconv_job_init(gconv_job *job, size_t size)
{
    gconv_job made = defaults();
    gc_sized_init(job, size, &made, sizeof made);
}

gconv_status gc_job_read(const gconv_job *given, gconv_job *job, gconv_error *error)
{
    *job = defaults();
    return gc_sized_read(given, "gconv_job", job, sizeof *job, error);
}

static gconv_status check_shape(const gconv_job *job, gconv_error *error)
{
    gconv_status status = gc_shape_check(&job->input, 8 | 16 | 32, "", error);
    return status == GCONV_OK && job->output_depth != 0
               ? gc_depth_check(job->output_depth, 1 | 8 | 16 | 32, "output ", error)
               : status;
}

/* A value that a C caller may get wrong. The command line checks its own options with other
 * messages. */
typedef struct choice {
    const char *name;
    int value, most;
} choice;

static gconv_status check_choices(const choice *choices, size_t count, gconv_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (choices[i].value < 0 || choices[i].value > choices[i].most)
            return gc_fail(error, GCONV_ERROR_ARGUMENT, "%s %d: 0 to %d are possible",
                           choices[i].name, choices[i].value, choices[i].most);
    return GCONV_OK;
}

static gconv_status check_members(const gconv_job *job, gconv_error *error)
{
    const choice choices[] = {
        {"border", (int)job->border, GCONV_BORDER_COUNT - 1},
        {"alpha", (int)job->alpha, GCONV_ALPHA_AUTO},
        {"output", (int)job->output, GCONV_OUTPUT_EDGES},
        {"rule", (int)job->rule, GCONV_RULE_NEGATIVE},
        {"order", (int)job->order, GCONV_ORDER_BGR},
        {"source_format", (int)job->source_format, GCONV_FORMAT_COUNT - 1},
        {"source_decoder", (int)job->source_decoder, GCONV_DECODER_CUDA},
        {"threads", job->threads, INT_MAX},
        {"images_at_once", job->images_at_once, INT_MAX},
    };
    return check_choices(choices, sizeof choices / sizeof *choices, error);
}

static gconv_status read_tiling(const gconv_job *job, gconv_tiling *tiling, gconv_error *error)
{
    *tiling = gconv_tiling_default();
    if (job->tiling != NULL)
        GC_TRY(gc_sized_read(job->tiling, "gconv_tiling", tiling, sizeof *tiling, error));
    if (tiling->tile < 0 || tiling->shared_memory < 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "%s %d: 0 to %d are possible",
                       tiling->tile < 0 ? "tile" : "shared_memory",
                       tiling->tile < 0 ? tiling->tile : tiling->shared_memory, INT_MAX);
    int width = tiling->block_width, height = tiling->block_height;
    bool left_open = width == 0 && height == 0;
    if (!left_open && (width < 1 || width > BLOCK_THREADS_MAX || height < 1 ||
                       height > BLOCK_THREADS_MAX || width * height > BLOCK_THREADS_MAX))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "a block of %dx%d threads: 1 to %d threads are possible, or 0x0", width,
                       height, BLOCK_THREADS_MAX);
    return GCONV_OK;
}

/* ---- Detectors ------------------------------------------------------------------------------- */

void gconv_detector_init(gconv_detector *detector, size_t size)
{
    const gconv_detector made = {.size = sizeof made, .low = 50, .high = 100};
    gc_sized_init(detector, size, &made, sizeof made);
}

const char *const *gconv_method_filters(const gconv_detector *detector, int *count)
{
    static const char *const names[] = {"gauss5", "laplace3"}, *const none[] = {"identity"};
    bool is_like = detector->method == GCONV_METHOD_CANNY && detector->like == GCONV_LIKE_OPENCV;
    *count =
        detector->method == GCONV_METHOD_GRADIENT || detector->method == GCONV_METHOD_CANNY ? 1 : 2;
    return is_like ? none : names;
}

static gconv_status check_detector(const gconv_job *job, const gconv_detector *d,
                                   gconv_error *error)
{
    if (job->input.depth == 32)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "this method finds edges in samples of 8 or 16 bits, and these are floats");
    if (!(d->low >= 0 && d->low <= d->high && isfinite(d->high)))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "the thresholds %g (low) and %g (high) must be finite, and low from 0 to "
                       "high",
                       d->low, d->high);
    bool is_like = d->like == GCONV_LIKE_OPENCV;
    if (!is_like && d->derivative > GCONV_OPERATOR_PREWITT)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "the operators sobel5 and sobel7 are those of Canny like OpenCV");
    if (is_like && d->derivative != GCONV_OPERATOR_SOBEL && d->derivative < GCONV_OPERATOR_SOBEL5)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "like OpenCV, the operator is sobel, sobel5 or sobel7");
    if (is_like && job->input.depth != 8)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "like OpenCV, samples have 8 bits");
    if (is_like && job->border != GCONV_BORDER_REPLICATE)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "like OpenCV, the border is replicate");
    return GCONV_OK;
}

static gconv_status read_detector(const gconv_job *job, gconv_detector *detector,
                                  gconv_error *error)
{
    *detector = gconv_detector_default();
    if (job->detector == NULL)
        return GCONV_OK;
    GC_TRY(gc_sized_read(job->detector, "gconv_detector", detector, sizeof *detector, error));
    const choice choices[] = {{"method", (int)detector->method, GCONV_METHOD_CANNY},
                              {"derivative", (int)detector->derivative, GCONV_OPERATOR_SOBEL7},
                              {"norm", (int)detector->norm, GCONV_NORM_L2},
                              {"like", (int)detector->like, GCONV_LIKE_OPENCV}};
    GC_TRY(check_choices(choices, sizeof choices / sizeof *choices, error));
    if (detector->method != GCONV_METHOD_GRADIENT && job->output != GCONV_OUTPUT_EDGES)
        *detector = gconv_detector_default();
    if (detector->method != GCONV_METHOD_CANNY && detector->method != GCONV_METHOD_GRADIENT)
        detector->like = GCONV_LIKE_NONE;
    return detector->method == GCONV_METHOD_LAPLACE ? GCONV_OK
                                                    : check_detector(job, detector, error);
}

/* ---- Filters --------------------------------------------------------------------------------- */

/* A filter has a matrix, or a column and a row. */
static gconv_status check_form(const gconv_filter *filter, gconv_error *error)
{
    if (filter == NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "a filter of the chain is a null pointer");
    bool both = filter->column != NULL && filter->row != NULL;
    bool either = filter->column != NULL || filter->row != NULL;
    if (filter->weights != NULL && either)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "a filter of the chain has weights, and a column or a row");
    if (filter->weights == NULL && !both)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "a filter of the chain has %s: a null pointer",
                       !either                  ? "no weights"
                       : filter->column == NULL ? "no column"
                                                : "no row");
    int most = filter->weights == NULL ? GCONV_FILTER_VECTOR_MAX : GCONV_FILTER_SIDE_MAX;
    if (filter->width < 1 || filter->width > most || filter->height < 1 || filter->height > most)
        return gc_fail(error, GCONV_ERROR_FILTER, "filter size %dx%d is not within 1x1 and %dx%d",
                       filter->width, filter->height, most, most);
    return GCONV_OK;
}

static gconv_status check_vector(const double *values, int count, const char *word,
                                 gconv_error *error)
{
    for (int i = 0; i < count; i++)
        if (!gc_fits_float(values[i]))
            return gc_fail(error, GCONV_ERROR_FILTER,
                           "number %d of the %s is not finite in float32", i, word);
    return GCONV_OK;
}

static gconv_status check_weights(const gconv_filter *filter, gconv_error *error)
{
    if (filter->weights == NULL) {
        GC_TRY(check_vector(filter->column, filter->height, "column", error));
        return check_vector(filter->row, filter->width, "row", error);
    }
    for (int i = 0; i < filter->width * filter->height; i++)
        if (!isfinite(filter->weights[i]))
            return gc_fail(error, GCONV_ERROR_FILTER, "weight %d is not finite", i);
    return GCONV_OK;
}

static gconv_status check_filter(const gconv_filter *filter, gconv_error *error)
{
    GC_TRY(check_form(filter, error));
    if (filter->anchor_x < 0 || filter->anchor_x >= filter->width || filter->anchor_y < 0 ||
        filter->anchor_y >= filter->height)
        return gc_fail(error, GCONV_ERROR_FILTER, "anchor %d %d lies outside the %dx%d filter",
                       filter->anchor_x, filter->anchor_y, filter->width, filter->height);
    if (!isfinite(filter->divisor) || filter->divisor == 0)
        return gc_fail(error, GCONV_ERROR_FILTER, "divisor %g is zero or not finite",
                       filter->divisor);
    if (filter->has_offset && !isfinite(filter->offset))
        return gc_fail(error, GCONV_ERROR_FILTER, "offset %g is not finite", filter->offset);
    return check_weights(filter, error);
}

static gconv_status check_chain(const gconv_job *job, gconv_error *error)
{
    if (job->filter_count < 1)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "a chain has at least one filter");
    if (job->filters == NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "the filters of the job are a null pointer");
    for (int i = 0; i < job->filter_count; i++) {
        GC_TRY(check_filter(job->filters[i], error));
        if (job->filters[i]->has_offset && i + 1 < job->filter_count)
            return gc_fail(error, GCONV_ERROR_FILTER,
                           "filter %d of %d has an offset; only the last of a chain may have one",
                           i + 1, job->filter_count);
    }
    if (!isfinite(job->border_value) || !isfinite(job->scale) || !isfinite(job->offset) ||
        !isfinite(job->threshold))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "border value, scale, offset and threshold must be finite");
    return GCONV_OK;
}

gconv_status gc_job_check(const gconv_job *job, gconv_tiling *tiling, gconv_detector *detector,
                          gconv_error *error)
{
    GC_TRY(check_shape(job, error));
    GC_TRY(check_members(job, error));
    GC_TRY(read_tiling(job, tiling, error));
    GC_TRY(read_detector(job, detector, error));
    return check_chain(job, error);
}

/* ---- Alpha ----------------------------------------------------------------------------------- */

/* GCONV_ALPHA_AUTO: how the library treats alpha if the job does not say (rule 7). */

static bool has_alpha(const gconv_shape *shape)
{
    return shape->channels == 2 || shape->channels == 4;
}

/* What a chain multiplies a constant image by; 0 of filters that no plan takes. */
static double chain_gain(const gconv_job *job)
{
    double gain = job->filters != NULL;
    for (int i = 0; gain != 0 && i < job->filter_count; i++)
        gain *= job->filters[i] != NULL ? gconv_filter_gain(job->filters[i]) : 0;
    return gain;
}

static bool needs_pixels(const gconv_job *job)
{
    return job->alpha == GCONV_ALPHA_AUTO && job->output != GCONV_OUTPUT_EDGES &&
           has_alpha(&job->input) && fabs(chain_gain(job) - 1) <= 1e-6;
}

bool gconv_alpha_needs_pixels(const gconv_job *given)
{
    gconv_job job;
    return gc_job_read(given, &job, NULL) == GCONV_OK && needs_pixels(&job);
}

gconv_alpha gconv_alpha_resolve(const gconv_job *given, bool opaque)
{
    gconv_job job;
    gc_job_read(given, &job, NULL);
    if (job.alpha != GCONV_ALPHA_AUTO)
        return job.alpha;
    return needs_pixels(&job) && !opaque ? GCONV_ALPHA_PREMULTIPLY : GCONV_ALPHA_KEEP;
}

/* Whether alpha is white: sample `at` of a row. */
static inline bool is_opaque(const void *row, int depth, size_t at)
{
    return depth == 8    ? ((const uint8_t *)row)[at] == UINT8_MAX
           : depth == 16 ? ((const uint16_t *)row)[at] == UINT16_MAX
                         : ((const float *)row)[at] == UINT8_MAX;
}

bool gconv_shape_is_opaque(const gconv_shape *shape, const void *rows, uint32_t count,
                           size_t stride)
{
    if (!has_alpha(shape))
        return true;
    size_t channels = (size_t)shape->channels;
    for (size_t y = 0; y < count; y++) {
        const unsigned char *row = (const unsigned char *)rows + y * stride;
        for (size_t x = 0; x < shape->width; x++) {
            size_t at = (x + 1) * channels - 1;
            if (!is_opaque(row, shape->depth, at))
                return false;
        }
    }
    return true;
}
