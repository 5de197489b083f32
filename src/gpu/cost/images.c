#include "gpu/cost/images.h"

#include "core/file_time.h"
#include "gpu/cost/costs.h"

#include <math.h>

/* How many times its own start the CPU's work must take. The engine saves a part of this work only.
 * Starting it beside busy threads takes twice as long, and ending it a third. A batch of 1.3 s took
 * 3.0 s with the engine and 1.9 s without (H200, 16 processors). */
static const double worth_of_start = 4;

/* ---- The JPEG engine ------------------------------------------------------------------------- */

/* Whether the engine may decode the source. A run that reads rows twice needs them on the CPU. */
static bool may_use_engine(const gc_problem *problem)
{
    const gconv_job *job = &problem->job;
    bool fits = job->input.depth == 8 && (job->input.channels == 1 || job->input.channels == 3) &&
                job->border != GCONV_BORDER_WRAP;
    return fits && job->source_format == GCONV_FORMAT_JPEG &&
           job->source_decoder != GCONV_DECODER_CPU && job->source_decoder != GCONV_DECODER_CUDA;
}

/* Seconds between the ends of two pictures that the engine decodes. */
static double engine_pace(const gc_problem *problem, const gc_costs *costs)
{
    double pixels = (double)problem->job.input.width * problem->job.input.height;
    return fmax(pixels / costs->engine_rate, costs->engine_picture_seconds);
}

bool gc_cost_engine_pays(const gc_problem *problem, const gconv_device_info *device)
{
    if (!may_use_engine(problem))
        return false;
    if (problem->job.source_decoder == GCONV_DECODER_HARDWARE)
        return true;
    double image =
        (gc_decode_seconds(problem) + gc_encode_seconds(problem)) / gc_file_threads(problem);
    return engine_pace(problem, gc_costs_of(device)) < image &&
           gc_images_left(problem) * image > worth_of_start * gc_costs_engine_start(device);
}

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

/* Seconds of the device's parts of an image. They overlap with each other and with the CPU. */
typedef struct device_parts {
    double upload, kernels, download;
    double thread; /* a thread of the CPU: the driver, and making the output of chain values */
} device_parts;

static device_parts parts_of(const gc_problem *problem, const gc_costs *costs, double kernels,
                             bool finishes)
{
    double convert =
        values_bytes(problem) * (1 / costs->download_values_rate - 1 / costs->download_rate);
    return (device_parts){.upload = upload_bytes(problem) / costs->pinned_upload_rate,
                          .kernels = kernels,
                          .download =
                              download_bytes(problem, finishes) / costs->pinned_download_rate,
                          .thread = costs->run_thread_seconds + (finishes ? 0 : convert)};
}

/* Seconds of an image when many are under way: those of the slowest part. */
static double pace_with_cpu(const gc_problem *problem, const gc_costs *costs,
                            const device_parts *parts)
{
    double files = gc_decode_seconds(problem) + gc_encode_seconds(problem) + parts->thread;
    double device = fmax(fmax(parts->upload, parts->kernels), parts->download);
    return fmax(fmax(device, costs->run_seconds), files / gc_file_threads(problem));
}

static double pace_with_engine(const gc_problem *problem, const gc_costs *costs,
                               const device_parts *parts)
{
    double files = gc_scan_seconds(problem) + gc_encode_seconds(problem) + parts->thread;
    double engine = engine_pace(problem, costs);
    double device = fmax(fmax(engine, parts->kernels), parts->download);
    return fmax(device, files / gc_file_threads(problem));
}

/* Seconds of `images` images. The CPU decodes until the engine has started. */
static double seconds_of_all(const gc_problem *problem, const gc_costs *costs,
                             const device_parts *parts, double images, double engine_start)
{
    double start = problem->gpu_in_use ? 0 : costs->start_seconds;
    double pace = pace_with_cpu(problem, costs, parts);
    double before = fmin(images, engine_start / pace);
    return start + before * pace + (images - before) * pace_with_engine(problem, costs, parts);
}

/* Images that the CPU computes while a GPU starts. A third of the time to start is the time that
 * the process takes longer to end. */
static double images_meanwhile(const gc_costs *costs, double cpu_seconds)
{
    return cpu_seconds > 0 ? costs->start_seconds * 2 / 3 / cpu_seconds : 0;
}

double gc_cost_at_least(const gc_problem *problem, double cpu_seconds)
{
    const gc_costs *costs = gc_costs_before_asking();
    if (!gc_counts_throughput(problem))
        return costs->start_seconds;
    double engine_start = may_use_engine(problem) ? costs->engine_start_seconds : HUGE_VAL;
    double images = fmax(0, gc_images_left(problem) - images_meanwhile(costs, cpu_seconds));
    return seconds_of_all(problem, costs, &(device_parts){.kernels = 0}, images, engine_start);
}

double gc_cost_of_image(const gc_problem *problem, const gconv_device_info *device, double kernels,
                        bool finishes)
{
    const gc_costs *costs = gc_costs_of(device);
    if (!gc_counts_throughput(problem))
        return seconds_alone(problem, costs, kernels, finishes);
    device_parts parts = parts_of(problem, costs, kernels, finishes);
    double engine_start =
        gc_cost_engine_pays(problem, device) ? gc_costs_engine_start(device) : HUGE_VAL;
    double images = gc_images_left(problem);
    return seconds_of_all(problem, costs, &parts, images, engine_start) / images;
}
