#include "gpu/cost/costs.h"

#include "gpu/cost/measured.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* NVIDIA H200, driver 580.159.04, CUDA 13.0.
 * Kernels were timed at 4096 x 4096 values. docs/performance has the measurements. */
static const gc_costs h200 = {
    .device = "NVIDIA H200",

    /* 0.2 s with 16 processors, 0.3 s with two of them. */
    .start_seconds = 0.3,
    /* 0.1 to 2 ms: 64 MB of the device take 0.1 ms, 16 MB of the host 1 ms to be pinned. */
    .plan_seconds = 0.002,
    .upload_rate = 8e9,
    /* Through pinned memory, in pieces. */
    .download_rate = 10e9,
    .download_values_rate = 5e9,
    .pinned_upload_rate = 53e9,
    .pinned_download_rate = 53e9,
    .run_seconds = 3e-5,
    /* In batches of 1024x1024: 0.33 to 0.44 ms, start included, of which 0.09 ms pack the source
     * and write what a kernel has compressed. */
    .run_thread_seconds = 3e-4,
    /* `gconv edges` on JPEGs of 4096x3072 with 16 processors: 0.61 s for 160, 0.83 s for 1280. */
    .batch_seconds = 0.2,

    /* `gconv edges` with compression, its start left out: 5000 pictures a second of 4096x3072. */
    .decode_rate = 7.4e10 / 132,
    /* The same command: 20000 pictures a second of 1024x1024, with 16 queues. */
    .decode_picture_seconds = 3.5e-5,
    /* Edges of a photograph of 4096x3072, from 16 streams: 19 us. */
    .compress_rate = 6.7e11 / 132,
    .compress_picture_seconds = 1e-5,

    .launch_seconds = 5e-6,
    .bandwidth_share = 0.85,
    /* tensor at 3x3 of RGB: 130 us from planes to planes, 364 us from samples to samples. */
    .planes_factor = 1.9,

    /* From `gconv bench` at commit 2625077e, over filters of 3x3 to 31x31. */
    .naive_share = 0.08,
    .shared_share = 0.1,
    .const_share = 0.12,
    .tiled_share = 0.18,
    .adaptive_share = 0.2,
    .twopass_factor = 1.5,

    /* A kernel of moderate size, by NVRTC on a server. */
    .compile_seconds = 0.5,
    .compiled_share = 0.78,
    /* 1.1 to 1.35. */
    .arguments_factor = 1.3,
    .constants_gain = 0.05,
    /* direct at 3x3, 5x5 and 9x9 of grey: 23, 32 and 62 us for 8 bits. At 3x3 of 16 bits 31 us. */
    .byte_work = 8,
    .short_work = 12,
    .remainder_work = 22,

    /* A tile has 1.3 times as many rows as it has rows of output. */
    .row_lines = 1.3,
    /* Includes writing convolved rows to shared memory and reading them again. */
    .rank1_line = 1.95,
    /* The products of a sum read the tile once together. On floats a sum takes 24 us + 0.68 us a
     * line. A weight of direct takes 0.64 us. */
    .sum_line = 1.07,
    /* For the second buffer of convolved rows. */
    .sum_overhead = 28,
    /* 5x5 on floats takes 40 us either way. On bytes direct takes 39 us, separable 33 us. */
    .direct_side = 5,
    .direct_side_of_bytes = 3,

    /* 1501 numbers twice on 4096x3072 floats: 1.85 ms. */
    .vectors_share = 0.6,

    /* Grey of 8 bits: 19 us at 3x3 to 30 us at 17x17. 3x3 of RGB 45 us, of RGBA 57 us, of RGB with
     * 16 bits 80 us. */
    .fused_launch_seconds = 6.5e-6,
    .fused_bandwidth_share = 0.67,
    .fused_rate = 2.2e13 / 132,

    /* Canny of photographs: 50 to 107 us. */
    .detector_work = 100,

    .product_rate = 1.09e9,
    .half_product = 0.68,
    /* Without any weights a kernel would take 35 us. Products come on top of that. */
    .output_seconds = 2.8e-10,
    /* In all 26 us at 3x3 and 29 us at 5x5 with whole weights, 47 us at 9x9 with real ones. */
    .output_seconds_of_bytes = {2e-10, 2.4e-10},
    /* 89 us at 3x3 of RGB and 121 us of RGBA with whole weights; 118 us at 3x3 of RGB by the
     * kernels for all finishes. */
    .dealing_seconds = {8.8e-11, 4e-11},
    /* 61 us with two buffers and 67 with one at 9x9; 116 us and 108 at 17x17. */
    .two_buffers_columns = 16,

    /* 64x64 points 80 us at 17x17 and 145 at 31x31; 64x128 101 at 25x25, 128x64 90 at 21x21;
     * 128x128 99 at 31x31 and 192 at 63x63. Those of three kernels: 512x512 168 us at 63x63, 265 at
     * 255x255; 1024x512 170 at 127x127; 1024x1024 177 at 127x127 and 209 at 255x255. */
    .tiles = {{64, 64, 4, 2.19e-6, 0.53},
              {64, 128, 2, 4.6e-6, 0.88},
              {128, 64, 2, 5.1e-6, 0.51},
              {128, 128, 1, 10e-6, 0.95},
              {512, 512, 0, 165e-6, 3.3},
              {1024, 512, 0, 256e-6, 3.88},
              {1024, 1024, 0, 730e-6, 3.46}},
    .tile_samples_factor = 1.17,

    /* Some ten passes over memory. */
    .fft_launch_seconds = 4e-5,
    .fft_crossings = 14,
    .fft_bandwidth_share = 0.7,

    /* Code beyond this misses the cache and is slower. */
    .code_bytes = 32 << 10,
    .candidate_bytes = 40 << 10,
    .candidate_weights = 16,
    /* Four multiply-adds of 16 bytes. */
    .code_of_a_weight = 4 * 16,
    /* Addresses and counters, as the compiler reports them. */
    .other_registers = 24,
};

/* ---- The figures of a device ----------------------------------------------------------------- */

/* The figures of a kind of device. */
typedef struct kind {
    char name[sizeof((gconv_device_info *)NULL)->name];
    int driver_version;
    gc_costs costs;
    bool measured;
    struct kind *next;
} kind;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static kind *kinds; /* that were asked for; kept as long as the process lives */

static void use(double *figure, double measured)
{
    if (measured > 0)
        *figure = measured;
}

static kind *create_kind(const gconv_device_info *device, const char *name, int driver_version)
{
    kind *created = calloc(1, sizeof *created);
    if (created == NULL)
        return NULL;
    gc_measured figures = gc_measured_load(device);
    strcpy(created->name, name);
    created->driver_version = driver_version;
    created->costs = h200;
    created->measured = figures.pinned_upload_rate > 0 && figures.pinned_download_rate > 0 &&
                        figures.memory_rate > 0;
    use(&created->costs.start_seconds, figures.start_seconds);
    use(&created->costs.pinned_upload_rate, figures.pinned_upload_rate);
    use(&created->costs.pinned_download_rate, figures.pinned_download_rate);
    use(&created->costs.memory_rate, figures.memory_rate);
    return created;
}

/* NULL if memory is out. */
static const kind *kind_of(const gconv_device_info *device)
{
    const char *name = device != NULL ? device->name : "";
    int driver_version = device != NULL ? device->driver_version : 0;
    pthread_mutex_lock(&mutex);
    kind *found = kinds;
    while (found != NULL &&
           (strcmp(found->name, name) != 0 || found->driver_version != driver_version))
        found = found->next;
    if (found == NULL && (found = create_kind(device, name, driver_version)) != NULL) {
        found->next = kinds;
        kinds = found;
    }
    pthread_mutex_unlock(&mutex);
    return found;
}

const gc_costs *gc_costs_of(const gconv_device_info *device)
{
    const kind *known = device != NULL ? kind_of(device) : NULL;
    return known != NULL ? &known->costs : &h200;
}

const gc_costs *gc_costs_before_asking(void)
{
    const kind *known = kind_of(NULL);
    return known != NULL ? &known->costs : &h200;
}

bool gc_costs_are_measured(const gconv_device_info *device)
{
    const kind *known = kind_of(device);
    return known != NULL && known->measured;
}

/* ---- The roofline ---------------------------------------------------------------------------- */

double gc_cost_bandwidth(const gconv_device_info *device)
{
    return device->memory_bandwidth > 0 ? device->memory_bandwidth : 1e11;
}

/* Bytes a second that a pass reads and writes in order. */
static double memory_rate(const gconv_device_info *device)
{
    const gc_costs *costs = gc_costs_of(device);
    return costs->memory_rate > 0 ? costs->memory_rate
                                  : costs->bandwidth_share * gc_cost_bandwidth(device);
}

static double values_of(const gc_problem *problem)
{
    return (double)problem->chain.width * problem->chain.height * problem->chain.channels;
}

double gc_cost_of_step(const gc_problem *problem, const gc_step *step,
                       const gconv_device_info *device, double share)
{
    const gc_costs *costs = gc_costs_of(device);
    double values = values_of(problem);
    double bytes = values * 4 * sizeof(float) / memory_rate(device);
    double multiply_adds =
        values * step->width * step->height / (share * gc_device_peak(device) / 2);
    return costs->launch_seconds + bytes + multiply_adds;
}

double gc_cost_of_pass(const gc_problem *problem, double bytes, double multiply_adds,
                       const gconv_device_info *device, double share)
{
    const gc_costs *costs = gc_costs_of(device);
    double values = values_of(problem);
    double copying = values * bytes / memory_rate(device);
    double seconds = values * multiply_adds / (share * gc_device_peak(device) / 2);
    return costs->launch_seconds + (copying > seconds ? copying : seconds);
}

double gc_cost_of_planes(const gc_problem *problem, double sample_bytes,
                         const gconv_device_info *device)
{
    const gc_costs *costs = gc_costs_of(device);
    double samples =
        (double)problem->chain.width * problem->chain.height * problem->job.input.channels;
    double bytes = samples * (sample_bytes + sizeof(float));
    return costs->launch_seconds + costs->planes_factor * bytes / memory_rate(device);
}
