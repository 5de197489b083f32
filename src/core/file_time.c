#include "core/file_time.h"

#include "base/number.h"
#include "base/processors.h"

/* Seconds on one core of a Xeon of 2023 at 2 to 3.8 GHz, from photographs of 4096x3072 pixels: RGB
 * JPEG of 4:2:0 and 2.6 MB, and PNG. */
static const double jpeg_luma_seconds = 1.7e-9;      /* a pixel */
static const double jpeg_rgb_seconds = 2.5e-9;       /* a pixel */
static const double jpeg_pack_seconds = 5.5e-11;     /* a pixel */
static const double png_seconds = 7e-9;              /* a sample */
static const double to_jpeg_seconds = 1.4e-9;        /* a sample */
static const double to_bits_seconds = 0.2e-9;        /* a pixel, to PNG of 1 bit */
static const double compressed_bits_seconds = 3e-11; /* a pixel, if a device has compressed it */

bool gc_counts_throughput(const gc_problem *problem)
{
    return problem->job.between_files && problem->job.images_at_once > 1;
}

double gc_images_left(const gc_problem *problem)
{
    return problem->job.runs > 1 ? (double)problem->job.runs : 1;
}

int gc_file_threads(const gc_problem *problem)
{
    int images = problem->job.images_at_once;
    return images > 1 ? (int)gc_smaller(images, gc_thread_count(problem->job.threads)) : 1;
}

static double pixels_of(const gc_problem *problem)
{
    return (double)problem->job.input.width * problem->job.input.height;
}

double gc_decode_seconds(const gc_problem *problem)
{
    int channels = problem->job.input.channels;
    double pixels = pixels_of(problem);
    if (problem->job.source_format == GCONV_FORMAT_JPEG)
        return pixels * (channels < 3 ? jpeg_luma_seconds : jpeg_rgb_seconds);
    if (problem->job.source_format == GCONV_FORMAT_PNG)
        return pixels * channels * png_seconds;
    return 0;
}

double gc_pack_seconds(const gc_problem *problem)
{
    return pixels_of(problem) * jpeg_pack_seconds;
}

double gc_encode_seconds(const gc_problem *problem)
{
    const gconv_shape *output = &problem->conversion.output;
    double pixels = (double)output->width * output->height;
    return output->depth == 1 ? pixels * to_bits_seconds
                              : pixels * output->channels * to_jpeg_seconds;
}

double gc_write_compressed_seconds(const gc_problem *problem)
{
    const gconv_shape *output = &problem->conversion.output;
    return (double)output->width * output->height * compressed_bits_seconds;
}

double gc_cpu_throughput(const gc_problem *problem, double compute, int threads)
{
    double files = gc_decode_seconds(problem) + gc_encode_seconds(problem);
    return files / gc_file_threads(problem) + compute / threads;
}
