/* CPU or GPU for images between files: the expected times of an H200 and of 16 processors. */
#include "core_support.h"

#include "core/gpu.h"
#include "core/registry.h"
#include "cpu/instructions/instructions.h"
#include "gpu/cost/costs.h"

enum { THREADS = 16 };

/* ---- Jobs ------------------------------------------------------------------------------------ */

typedef enum work { EDGES, GAUSSIAN_8, LOG_5_43 } work;

static gconv_filter *loaded[3][2];

static int load_filters(void **state)
{
    (void)state;
    static const char *const names[3][2] = {{"gauss5", "laplace3"}, {"gaussian:8"}, {"log:5,43"}};
    setenv("XDG_CACHE_HOME", "/nonexistent", 1); /* no figures that were measured here */
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2 && names[i][k] != NULL; k++)
            if (gconv_filter_load(names[i][k], &loaded[i][k], NULL) != GCONV_OK)
                return -1;
    return 0;
}

static int free_filters(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++)
            gconv_filter_free(loaded[i][k]);
    return 0;
}

/* `runs` files of RGB photographs, as many of them at one time as there are threads. */
static gconv_job files(work which, uint32_t width, uint32_t height, gconv_format format,
                       uint64_t runs)
{
    bool edges = which == EDGES;
    gconv_job job = job_of((const gconv_filter *const *)loaded[which], edges ? 2 : 1,
                           shape_of(width, height, edges ? 1 : 3, 8));
    job.output = edges ? GCONV_OUTPUT_EDGES : GCONV_OUTPUT_SAMPLES;
    job.output_depth = edges ? 1 : 8;
    job.threads = THREADS;
    job.between_files = true;
    job.source_format = format;
    job.runs = runs;
    job.images_at_once = runs < THREADS ? (int)runs : THREADS;
    return job;
}

static gconv_job jpegs(work which, uint64_t runs)
{
    return files(which, 4096, 3072, GCONV_FORMAT_JPEG, runs);
}

/* ---- Times ----------------------------------------------------------------------------------- */

typedef struct expected {
    double cpu, gpu;  /* of an image */
    double least;     /* of all images, on a GPU that is not in use, where they wait for it */
    double meanwhile; /* the same, where the CPU computes until it has started */
} expected;

static gconv_device_info h200(void)
{
    gconv_device_info device = {
        .kind = GCONV_DEVICE_CUDA, .usable = true, .compute_major = 9, .processors = 132};
    strcpy(device.name, "NVIDIA H200");
    return device;
}

/* Kernels take what was measured for 12.6 million samples, rounded up. */
static double kernel_seconds(const gconv_job *job)
{
    double samples = (double)job->input.width * job->input.height * job->input.channels;
    return 1e-5 + samples / 12.6e6 * (job->output == GCONV_OUTPUT_EDGES ? 2e-5 : 3e-4);
}

static expected expect_on(const gconv_device_info *device, const gconv_job *job, bool in_use)
{
    OWNED_PROBLEM problem = problem_of(job);
    problem.gpu_in_use = in_use;
    expected times = {
        .cpu = gc_implementation_named("cpu")->operations->cost(&problem, device),
        .gpu = gc_cost_of_image(&problem, device, kernel_seconds(job), true),
        .least = gc_gpu_least_seconds(&problem, 0),
    };
    times.meanwhile = gc_gpu_least_seconds(&problem, times.cpu);
    return times;
}

static expected expect_in_use(const gconv_job *job, bool in_use)
{
    gconv_device_info device = h200();
    return expect_on(&device, job, in_use);
}

static expected expect(const gconv_job *job)
{
    return expect_in_use(job, false);
}

static void takes_cpu(gconv_job job)
{
    expected times = expect(&job);
    if (!(times.cpu < times.gpu))
        fail_msg("CPU %g ms, GPU %g ms", 1e3 * times.cpu, 1e3 * times.gpu);
}

static void takes_gpu(gconv_job job)
{
    expected times = expect(&job);
    if (!(times.gpu < times.cpu))
        fail_msg("CPU %g ms, GPU %g ms", 1e3 * times.cpu, 1e3 * times.gpu);
}

/* ---- One image ------------------------------------------------------------------------------- */

TEST(one_image_stays_on_the_cpu)
{
    for (work which = EDGES; which <= GAUSSIAN_8; which++) {
        takes_cpu(files(which, 512, 512, GCONV_FORMAT_PNG, 1));
        /* With narrower vectors a long filter takes about as long as the start of a GPU. */
        if (which != EDGES && strncmp(gc_instructions_chosen()->name, "avx512", 6) != 0)
            continue;
        takes_cpu(jpegs(which, 1));
        takes_cpu(files(which, 8192, 8192, GCONV_FORMAT_PGM, 1));
    }
}

/* Starting the driver to ask for devices takes 0.1 s already. */
TEST(the_cpu_does_not_ask_for_a_gpu_in_vain)
{
    static const uint64_t counts[] = {1, 16, 120};
    for (int i = 0; i < 3; i++) {
        gconv_job job = jpegs(EDGES, counts[i]);
        expected times = expect(&job);
        assert_true(times.cpu * (double)counts[i] < times.least);
        assert_true(times.least <= times.gpu * (double)counts[i]);
    }
    gconv_job job = jpegs(EDGES, 1600);
    expected times = expect(&job);
    assert_true(times.cpu * 1600 > times.least);
    assert_true(times.least <= times.gpu * 1600);
}

/* A GPU pays earlier where the CPU is not idle until it has started. */
TEST(the_cpu_need_not_wait_for_a_start)
{
    gconv_job job = jpegs(EDGES, 100);
    expected times;
    int between = 0; /* batches that are done sooner with a GPU for this reason alone */
    for (job.runs = 100; job.runs < 300; job.runs++) {
        times = expect(&job);
        double cpu = times.cpu * (double)job.runs;
        between += times.meanwhile < cpu && cpu < times.least;
    }
    assert_true(between > 0);
    job.runs = 20; /* done before a GPU has started */
    times = expect(&job);
    assert_true(times.cpu * 20 < times.meanwhile);
}

/* ---- Batches --------------------------------------------------------------------------------- */

/* Whole runs on an H200 with 16 processors (docs/results/batches-two-h200.txt): seconds on the CPU,
 * and with kernels that decode and compress. */
static const struct {
    work which;
    uint32_t width, height;
    uint64_t count;
    double cpu, gpu;
} measured[] = {
    {EDGES, 4096, 3072, 160, 0.296, 0.612},  {EDGES, 4096, 3072, 1280, 1.98, 0.83},
    {EDGES, 1024, 1024, 25600, 3.76, 1.77},  {GAUSSIAN_8, 4096, 3072, 160, 2.13, 1.01},
    {LOG_5_43, 4096, 3072, 160, 3.24, 0.92},
};

/* What computing costs depends on the processor that runs this test: for the CPU edges alone count,
 * where it is little. */
TEST(batches_of_jpegs_take_as_long_as_measured)
{
    for (size_t i = 0; i < COUNT(measured); i++) {
        gconv_job job = files(measured[i].which, measured[i].width, measured[i].height,
                              GCONV_FORMAT_JPEG, measured[i].count);
        expected times = expect(&job);
        double cpu = times.cpu * (double)measured[i].count;
        double gpu = times.gpu * (double)measured[i].count;
        if (fabs(gpu / measured[i].gpu - 1) > 0.25)
            fail_msg("row %zu: GPU %g s in place of %g s", i, gpu, measured[i].gpu);
        if (measured[i].which == EDGES &&
            (cpu < 0.85 * measured[i].cpu || cpu > 1.15 * measured[i].cpu))
            fail_msg("row %zu: CPU %g s in place of %g s", i, cpu, measured[i].cpu);
        if (measured[i].cpu > 1.2 * measured[i].gpu)
            takes_gpu(job);
    }
}

TEST(jpegs_go_to_the_gpu_where_it_is_started_in_time)
{
    takes_cpu(jpegs(EDGES, 16));
    takes_cpu(jpegs(EDGES, 120));
    takes_gpu(jpegs(EDGES, 400));
    takes_gpu(jpegs(EDGES, 1600));
    takes_cpu(jpegs(GAUSSIAN_8, 16));
    takes_gpu(jpegs(GAUSSIAN_8, 160));
    takes_gpu(jpegs(LOG_5_43, 160));
    takes_cpu(files(EDGES, 1024, 1024, GCONV_FORMAT_JPEG, 1600));
    takes_gpu(files(EDGES, 1024, 1024, GCONV_FORMAT_JPEG, 8000));
}

/* The CPU decodes them, and what is left for the GPU is a small part of the work. */
TEST(others_go_there_where_computing_counts)
{
    takes_cpu(files(EDGES, 4096, 3072, GCONV_FORMAT_PNG, 160));
    takes_cpu(files(GAUSSIAN_8, 4096, 3072, GCONV_FORMAT_PNG, 16));
    takes_gpu(files(LOG_5_43, 4096, 3072, GCONV_FORMAT_PNG, 160));
}

/* Seconds of such an image on a GPU in use, in a long batch. */
static double pace(const gconv_job *job)
{
    return expect_in_use(job, true).gpu;
}

TEST(kernels_decode_what_they_may)
{
    double by_kernels, by_cpu;
    gconv_job job = jpegs(EDGES, 1600);
    by_kernels = pace(&job);
    job.source_decoder = GCONV_DECODER_CUDA;
    assert_true(pace(&job) == by_kernels);
    job.source_decoder = GCONV_DECODER_CPU;
    by_cpu = pace(&job);
    assert_true(by_cpu > 5 * by_kernels);
    job = jpegs(EDGES, 1600);
    job.border = GCONV_BORDER_WRAP;
    assert_true(pace(&job) == by_cpu);
    job = jpegs(EDGES, 1600);
    job.input.depth = 16;
    assert_true(pace(&job) == by_cpu);
    job = jpegs(GAUSSIAN_8, 1600);
    by_kernels = pace(&job);
    job.input.channels = 4; /* more to encode */
    assert_true(pace(&job) > 1.5 * by_kernels);
}

/* Driver calls take longer than the CPU needs for a whole image. */
TEST(tiny_images_stay_on_the_cpu)
{
    gconv_job job = files(EDGES, 64, 64, GCONV_FORMAT_PGM, 100000);
    expected times = expect_in_use(&job, true);
    assert_true(times.cpu < times.gpu);
}

/* ---- What an image costs --------------------------------------------------------------------- */

TEST(the_cpu_computes_as_measured)
{
    gconv_job job = jpegs(EDGES, 160);
    double cpu = expect(&job).cpu; /* 541 and 647 images a second */
    assert_true(cpu > 1 / 647.0 && cpu < 1 / 513.0);
}

/* In the long run the slowest part counts: packing, writing and the driver on four threads, or the
 * kernels, which decode with all multiprocessors, filter, and compress. */
TEST(many_images_run_at_the_pace_of_the_slowest_part)
{
    gconv_job job = jpegs(EDGES, 1000000);
    double thread = 12.58e6 * (5.5e-11 + 3e-11) + 3e-4;
    job.threads = job.images_at_once = 4;
    assert_true(fabs(pace(&job) / (thread / 4) - 1) < 0.01);
    job.threads = job.images_at_once = 64;
    double files = 12.58e6 / 7.4e10 + 12.58e6 / 6.7e11; /* decoding and compressing */
    assert_true(fabs(pace(&job) / (files + kernel_seconds(&job)) - 1) < 0.01);
    gconv_device_info half = h200();
    half.processors /= 2;
    double slower = expect_on(&half, &job, true).gpu;
    assert_true(fabs(slower / (2 * files + kernel_seconds(&job)) - 1) < 0.01);
}

/* However few pixels there are: a thread takes less than the kernels that decode and compress. */
TEST(small_pictures_have_a_pace_of_their_own)
{
    gconv_job job = files(EDGES, 512, 512, GCONV_FORMAT_JPEG, 1000000);
    double kernels = 3.5e-5 + 1e-5 + kernel_seconds(&job);
    assert_true(fabs(pace(&job) / kernels - 1) < 0.01);
}

TEST(runs_share_the_start)
{
    gconv_job job = files(GAUSSIAN_8, 1024, 1024, GCONV_FORMAT_PGM, 100);
    double first = expect(&job).gpu, later = expect_in_use(&job, true).gpu;
    gconv_device_info device = h200();
    const gc_costs *costs = gc_costs_of(&device);
    double start = costs->start_seconds + costs->batch_seconds;
    assert_true(fabs(first - later - start / 100) < 1e-9);
}

TEST(threads_decode_as_many_images_as_there_are)
{
    gconv_job job = files(EDGES, 4096, 3072, GCONV_FORMAT_PNG, 4);
    double four = expect_in_use(&job, true).gpu;
    job.images_at_once = 2;
    assert_true(fabs(expect_in_use(&job, true).gpu - 2 * four) < 1e-9);
}

TEST(what_the_job_says_of_the_source_is_checked)
{
    gconv_job job = jpegs(EDGES, 1);
    job.source_format = GCONV_FORMAT_COUNT;
    assert_fails(gconv_job_check(&job, &error), GCONV_ERROR_ARGUMENT, &error, "source");
    job = jpegs(EDGES, 1);
    job.source_decoder = (gconv_decoder)(GCONV_DECODER_CUDA + 1);
    assert_invalid(gconv_job_check(&job, &error));
}

const test_suite suite = {.setup = load_filters, .teardown = free_filters};
