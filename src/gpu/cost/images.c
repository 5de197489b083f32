#include "gpu/cost/images.h"

#include "core/file_time.h"
#include "gpu/cost/costs.h"
#include "gpu/gpu.h"

#include <math.h>

/* How many times its own start the engine must have to do: it saves the CPU a part of its work
 * only, and takes some of the device's memory. */
static const double worth_of_start = 1.5;

/* ---- The JPEG engine ------------------------------------------------------------------------- */

/* Data-centre devices have engines: GA100, GH100 and GB100, that is 8.0, 9.0 and 10.0. */
static bool has_engine(const gconv_device_info *device)
{
    return device->compute_major >= 8 && device->compute_minor == 0 &&
           gc_costs_of(device)->engine_rate > 0;
}

/* Whether the source is a JPEG as the engine decodes it. */
static bool may_use_engine(const gc_problem *problem)
{
    const gconv_job *job = &problem->job;
    bool fits = job->input.depth == 8 && (job->input.channels == 1 || job->input.channels == 3);
    return fits && job->source_format == GCONV_FORMAT_JPEG &&
           job->source_decoder != GCONV_DECODER_CPU;
}

bool gc_cost_engine_pays(const gc_problem *problem, const gconv_device_info *device)
{
    if (!may_use_engine(problem))
        return false;
    if (problem->job.source_decoder == GCONV_DECODER_HARDWARE)
        return true;
    double busy = gc_images_left(problem) *
                  (gc_decode_seconds(problem) + gc_encode_seconds(problem)) /
                  gc_file_threads(problem);
    return has_engine(device) && busy > worth_of_start * gc_costs_of(device)->engine_start_seconds;
}

/* ---- An image alone -------------------------------------------------------------------------- */

static double upload_bytes(const gc_problem *problem)
{
    return (double)gconv_shape_row_bytes(&problem->job.input) * problem->chain.height;
}

static double download_bytes(const gc_problem *problem, bool finishes)
{
    if (finishes)
        return (double)gconv_shape_row_bytes(&problem->conversion.output) * problem->chain.height;
    return (double)problem->chain.width * problem->chain.height * problem->chain.channels *
           sizeof(float);
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

/* Seconds of an image when many are under way. */
typedef struct paces {
    double by_cpu;    /* the CPU decodes */
    double by_engine; /* the engine decodes, once it has started */
} paces;

/* Where the engine does not pay, both are the same. Everything overlaps, so that the slowest part
 * counts. */
static paces pace_of(const gc_problem *problem, const gc_costs *costs, bool engine, double kernels,
                     bool finishes)
{
    double threads = gc_file_threads(problem);
    double encode = gc_encode_seconds(problem);
    double down = download_bytes(problem, finishes) / costs->pinned_download_rate;
    double both = fmax(fmax(kernels, down), costs->run_seconds);
    double up = upload_bytes(problem) / costs->pinned_upload_rate;
    paces pace;
    pace.by_cpu = fmax(both, fmax(up, (gc_decode_seconds(problem) + encode) / threads));
    pace.by_engine = pace.by_cpu;
    if (engine) {
        double pixels = (double)problem->job.input.width * problem->job.input.height;
        pace.by_engine = fmax(
            both, fmax(pixels / costs->engine_rate, (gc_scan_seconds(problem) + encode) / threads));
    }
    return pace;
}

/* Seconds of all images that are left, divided by their number. While the engine starts, the CPU
 * decodes. */
static double seconds_of_one(const gc_problem *problem, const gc_costs *costs, paces pace)
{
    double images = gc_images_left(problem);
    double start = problem->gpu_in_use ? 0 : costs->start_seconds;
    double before = fmin(images, costs->engine_start_seconds / pace.by_cpu);
    return (start + before * pace.by_cpu + (images - before) * pace.by_engine) / images;
}

double gc_cost_of_image(const gc_problem *problem, const gconv_device_info *device, double kernels,
                        bool finishes)
{
    const gc_costs *costs = gc_costs_of(device);
    if (!gc_counts_throughput(problem))
        return seconds_alone(problem, costs, kernels, finishes);
    bool engine = gc_cost_engine_pays(problem, device);
    return seconds_of_one(problem, costs, pace_of(problem, costs, engine, kernels, finishes));
}
