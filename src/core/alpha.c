/* GCONV_ALPHA_AUTO: how the library treats alpha if the job does not say (rule 7). */
#include "core/job.h"

#include <math.h>

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
