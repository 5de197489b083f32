/* The expected times of whole images on a GPU: start, copies and kernels, and, if several images go
 * from file to file at one time, decoding and encoding. */
#include "core/file_time.h"
#include "core/gpu.h"
#include "gpu/cost/costs.h"

#include <math.h>

/* ---- An image alone -------------------------------------------------------------------------- */

static double upload_bytes(const gc_problem *problem)
{
    return (double)gconv_shape_row_bytes(&problem->job.input) * problem->chain.height;
}

static double values_bytes(const gc_problem *problem)
{
    return (double)problem->chain.width * problem->chain.height * problem->chain.channels *
           sizeof(float);
}

static double download_bytes(const gc_problem *problem, bool finishes)
{
    if (finishes)
        return (double)gconv_shape_row_bytes(&problem->conversion.output) * problem->chain.height;
    return values_bytes(problem);
}

static double seconds_alone(const gc_problem *problem, const gc_costs *costs, double kernels,
                            bool finishes)
{
    double start =
        problem->gpu_in_use ? costs->plan_seconds : costs->start_seconds / gc_images_left(problem);
    double rate = finishes ? costs->download_rate : costs->download_values_rate;
    return start + upload_bytes(problem) / costs->upload_rate +
           download_bytes(problem, finishes) / rate + kernels;
}

/* ---- One of several -------------------------------------------------------------------------- */

/* Whether kernels decode the source. A run that reads rows twice needs them on the CPU. */
static bool is_decoded_by_kernels(const gc_problem *problem)
{
    const gconv_job *job = &problem->job;
    return job->source_format == GCONV_FORMAT_JPEG && job->source_decoder != GCONV_DECODER_CPU &&
           job->input.depth == 8 && (job->input.channels == 1 || job->input.channels == 3) &&
           job->border != GCONV_BORDER_WRAP;
}

/* Seconds of the parts of an image. The copies and the kernels overlap with each other and with the
 * CPU. */
typedef struct image_parts {
    double upload, kernels, download;
    double thread; /* of the CPU: from the file and to it, the driver, output of chain values */
} image_parts;

/* Whether a kernel compresses the output, if the device makes it. 1 bit stands for PNG by gconv's
 * own compression: the format is unknown here. */
static bool is_compressed_by_kernel(const gc_problem *problem)
{
    return problem->conversion.output.depth == 1 && problem->conversion.output.channels == 1;
}

/* The parts on any device. */
static image_parts parts_at_least(const gc_problem *problem, const gc_costs *costs)
{
    bool by_kernels = is_decoded_by_kernels(problem);
    double source = by_kernels ? gc_pack_seconds(problem) : gc_decode_seconds(problem);
    double output = is_compressed_by_kernel(problem) ? gc_write_compressed_seconds(problem)
                                                     : gc_encode_seconds(problem);
    return (image_parts){.kernels = by_kernels ? costs->decode_picture_seconds : 0,
                         .thread = source + output + costs->run_thread_seconds};
}

/* Seconds between the ends of two pictures that kernels decode. */
static double decode_seconds(const gc_problem *problem, const gconv_device_info *device)
{
    const gc_costs *costs = gc_costs_of(device);
    double pixels = (double)problem->job.input.width * problem->job.input.height;
    return fmax(pixels / (costs->decode_rate * device->processors), costs->decode_picture_seconds);
}

/* Seconds between the ends of two outputs that a kernel compresses. */
static double compress_seconds(const gc_problem *problem, const gconv_device_info *device)
{
    const gc_costs *costs = gc_costs_of(device);
    double pixels = (double)problem->conversion.output.width * problem->conversion.output.height;
    return fmax(pixels / (costs->compress_rate * device->processors),
                costs->compress_picture_seconds);
}

static image_parts parts_of(const gc_problem *problem, const gconv_device_info *device,
                            double kernels, bool finishes)
{
    const gc_costs *costs = gc_costs_of(device);
    image_parts parts = parts_at_least(problem, costs);
    if (!finishes)
        parts.thread +=
            values_bytes(problem) * (1 / costs->download_values_rate - 1 / costs->download_rate);
    parts.kernels = kernels;
    if (is_compressed_by_kernel(problem) && finishes)
        parts.kernels += compress_seconds(problem, device);
    else if (is_compressed_by_kernel(problem))
        parts.thread += gc_encode_seconds(problem) - gc_write_compressed_seconds(problem);
    if (is_decoded_by_kernels(problem)) /* a file is small: its upload does not count */
        parts.kernels += decode_seconds(problem, device);
    else
        parts.upload = upload_bytes(problem) / costs->pinned_upload_rate;
    parts.download = download_bytes(problem, finishes) / costs->pinned_download_rate;
    return parts;
}

/* Seconds of `images` images. When many are under way, the slowest part sets the pace. */
static double seconds_of_all(const gc_problem *problem, const gc_costs *costs,
                             const image_parts *parts, double images)
{
    double start = problem->gpu_in_use ? 0 : costs->start_seconds + costs->batch_seconds;
    double device = fmax(fmax(parts->upload, parts->kernels), parts->download);
    double thread = parts->thread / gc_file_threads(problem);
    return start + images * fmax(fmax(device, costs->run_seconds), thread);
}

double gc_gpu_least_seconds(const gc_problem *problem, double cpu_seconds)
{
    const gc_costs *costs = gc_costs_before_asking();
    if (!gc_counts_throughput(problem))
        return costs->start_seconds;
    image_parts parts = parts_at_least(problem, costs);
    /* The CPU computes images while a GPU starts. A third of the time to start is the time that the
     * process takes longer to end. */
    double meanwhile = cpu_seconds > 0 ? costs->start_seconds * 2 / 3 / cpu_seconds : 0;
    double images = fmax(0, gc_images_left(problem) - meanwhile);
    return seconds_of_all(problem, costs, &parts, images);
}

double gc_cost_of_image(const gc_problem *problem, const gconv_device_info *device, double kernels,
                        bool finishes)
{
    const gc_costs *costs = gc_costs_of(device);
    if (!gc_counts_throughput(problem))
        return seconds_alone(problem, costs, kernels, finishes);
    image_parts parts = parts_of(problem, device, kernels, finishes);
    double images = gc_images_left(problem);
    return seconds_of_all(problem, costs, &parts, images) / images;
}
