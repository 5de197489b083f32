/* Seconds that the GPU's implementations are expected to take on an H200, pinned: choices follow
 * from them. Skipped in a build without CUDA, and where NVRTC is missing, which some of them ask
 * for. */
#include "cache_support.h"
#include "core_support.h"

#include "core/gpu.h"
#include "core/implementation.h"
#include "gpu/cost/costs.h"
#include "gpu/jit/jit.h"

enum { FILTERS_MAX = 2, SIDE_MAX = 31 };

static gconv_device_info h200(void)
{
    gconv_device_info device = {.kind = GCONV_DEVICE_CUDA,
                                .usable = true,
                                .compute_major = 9,
                                .processors = 132,
                                .memory_bytes = 150754820096,
                                .l2_bytes = 62914560,
                                .constant_bytes = 65536,
                                .shared_per_block = 49152,
                                .shared_per_block_optin = 232448,
                                .shared_per_processor = 233472,
                                .registers_per_block = 65536,
                                .registers_per_processor = 65536,
                                .threads_per_processor = 2048,
                                .threads_per_block = 1024,
                                .blocks_per_processor = 32,
                                .warp_size = 32,
                                .memory_bus_bits = 6144,
                                .clock_khz = 1980000,
                                .memory_clock_khz = 3201000,
                                .memory_bandwidth = 4916736000000,
                                .driver_version = 13000,
                                .runtime_version = 13000};
    strcpy(device.name, "NVIDIA H200");
    return device;
}

typedef enum kind { FULL_RANK, RANK_ONE, RANK_TWO, WHOLE, GAUSS5 } kind;

static float weight_of(kind which, int i, int j, int side)
{
    float row = (float)(1 + (i < side - i ? i : side - 1 - i));
    float column = (float)(1 + (j < side - j ? j : side - 1 - j));
    switch (which) {
    case RANK_ONE:
        return row * column;
    case RANK_TWO:
        return row * column / 7 + 1 / (row * column * (float)(1 + side));
    case GAUSS5:
        return (float)"\2\4\5\4\2"[i] * (float)"\2\4\5\4\2"[j];
    case WHOLE:
        return (float)((3 * i + 5 * j + i * j) % 5 - 2);
    default:
        return 1 / (float)(1 + i * i + 3 * j + i * j * j);
    }
}

typedef struct scene {
    const char *name;
    uint32_t width, height;
    int channels, depth;
    kind which;
    int sides[FILTERS_MAX]; /* 0: no second filter */
    gconv_output output;
    uint64_t runs;
} scene;

static const scene scenes[] = {
    {"small", 640, 480, 1, 8, FULL_RANK, {3, 0}, GCONV_OUTPUT_SAMPLES, 0},
    {"3x3", 4096, 4096, 1, 8, FULL_RANK, {3, 0}, GCONV_OUTPUT_SAMPLES, 1000},
    {"7x7 rank 1", 4096, 4096, 1, 8, RANK_ONE, {7, 0}, GCONV_OUTPUT_SAMPLES, 1},
    {"9x9", 4096, 4096, 1, 8, FULL_RANK, {9, 0}, GCONV_OUTPUT_SAMPLES, 100000},
    {"15x15 rank 2", 4096, 4096, 1, 8, RANK_TWO, {15, 0}, GCONV_OUTPUT_SAMPLES, 1},
    {"31x31 of 16 bits", 1920, 1080, 3, 16, FULL_RANK, {31, 0}, GCONV_OUTPUT_SAMPLES, 1},
    {"11x11 of 16 bits, rank 1", 1920, 1080, 3, 16, RANK_ONE, {11, 0}, GCONV_OUTPUT_SAMPLES, 1},
    {"edges, 5x5 and 3x3", 8192, 8192, 1, 8, WHOLE, {5, 3}, GCONV_OUTPUT_EDGES, 1},
    {"5x5 and 3x3 of colours", 4096, 4096, 3, 8, FULL_RANK, {5, 3}, GCONV_OUTPUT_SAMPLES, 1},
};

typedef struct pin {
    const char *implementation;
    double seconds[COUNT(scenes)]; /* 0: refused */
} pin;

static const pin pins[] = {
    {"naive",
     {0.300087725783286, 0.00428679744454279, 0.30423754736802, 0.00444114730680174,
      0.30534084703132, 0.305105843349538, 0.303153364010695, 0.316790988219798,
      0.312598241164848}},
    {"shared",
     {0.300087519171716, 0.00427551369798631, 0.304176113636768, 0.00433959358779348,
      0.305058753367408, 0.30465909748177, 0.303097114010695, 0.316620478271833,
      0.312470358703875}},
    {"const",
     {0.300087381430669, 0.004267991200282, 0.304135157815933, 0.00427189110845463, 0.3048706909248,
      0.304361266903257, 0.303059614010695, 0.31650680497319, 0.312385103729892}},
    {"tiled",
     {0.300087151862258, 0.00425545370410814, 0.304066898114542, 0.0041590536428899,
      0.304557253520453, 0.303864882605736, 0.302997114010695, 0.316317349475452,
      0.312243012106589}},
    {"adaptive",
     {0.300087105948576, 0.00425294620487337, 0.304053246174264, 0.00413648614977695,
      0.304494566039584, 0.303765605746232, 0.302984614010695, 0.316279458375904,
      0.312214593781928}},
    {"twopass", {0, 0, 0.304017651649807, 0, 0, 0, 0.302917203872319, 0, 0}},
    {"direct",
     {0.300080296103056, 0.00414910450823333, 0.303870653187224, 0.00385023960660843,
      0.803934824193739, 0.803039181996186, 0.802838927705022, 0.315544373134791,
      0.311823943952691}},
    {"separable", {0, 0, 0.303849606106628, 0, 0.803856892403419, 0, 0.302860801369425, 0, 0}},
    {"fused", {0, 0, 0.303796897676732, 0, 0, 0, 0, 0.31516809070693, 0.311693693681636}},
    {"tensor",
     {0.300074267012882, 0.00411084351733111, 0.303806670493856, 0.00382477529381151,
      0.303851291090309, 0.302940682217389, 0.302868977963844, 0.315424281851943, 0.3118425622731}},
    {"tilefft",
     {0.3000778422531396, 0.0041418702604967194, 0, 0.0038537994877694474, 0.30386291217867856,
      0.30288791366889017, 0.3028715806791995, 0, 0.31189383489214945}},
    {"fft",
     {0.300125640802323, 0.00447680150549522, 0.304452455207463, 0.00417980150549522,
      0.304176801505495, 0.302990451938181, 0.302989577211533, 0.319905050445599,
      0.31329736562239}},
};

/* Makes the problem of a scene. Its filters lie in static memory. */
static void make_problem(const scene *seen, double divisor, gc_problem *problem)
{
    static float weights[FILTERS_MAX][SIDE_MAX * SIDE_MAX];
    gconv_filter filters[FILTERS_MAX];
    const gconv_filter *chain[FILTERS_MAX];
    int count = 0;
    for (; count < FILTERS_MAX && seen->sides[count] > 0; count++) {
        int side = seen->sides[count];
        for (int k = 0; k < side * side; k++)
            weights[count][k] = weight_of(seen->which, k % side, k / side, side);
        filters[count] = filter_of(side, side, divisor, weights[count]);
        chain[count] = &filters[count];
    }
    gconv_shape shape = shape_of(seen->width, seen->height, seen->channels, seen->depth);
    gconv_job job = job_of(chain, count, shape);
    job.output = seen->output;
    job.threshold = 32;
    job.border = GCONV_BORDER_MIRROR;
    job.runs = seen->runs;
    *problem = problem_of(&job);
}

/* Seconds, 0 where the implementation refuses the problem. */
static double seconds_of(const char *name, const gc_problem *problem)
{
    gconv_error error;
    gconv_device_info device = h200();
    const gc_operations *operations = gc_gpu_operations(name);
    /* Whether fft supports a problem depends on a library that need not be here. */
    bool asks = strcmp(name, "fft") != 0;
    return asks && operations->supports(problem, &device, &error) != GCONV_OK
               ? 0
               : operations->cost(problem, &device);
}

static double expect(const char *name, const scene *seen)
{
    OWNED_PROBLEM problem;
    make_problem(seen, 1, &problem);
    double seconds = seconds_of(name, &problem);
    return seconds;
}

TEST(seconds_are_as_measured)
{
    for (size_t i = 0; i < COUNT(pins); i++)
        for (size_t k = 0; k < COUNT(scenes); k++) {
            double seconds = expect(pins[i].implementation, &scenes[k]);
            if (fabs(seconds - pins[i].seconds[k]) > 1e-12 * pins[i].seconds[k])
                fail_msg("%s, %s: %.17g s", pins[i].implementation, scenes[k].name, seconds);
        }
}

/* A small image takes the time of a launch. Weights as arguments do not make it longer, so that
 * direct, which has no extended image, goes before the ladder. */
TEST(small_images_take_the_time_of_a_launch)
{
    static const scene small = {"7x7", 64, 64, 1, 8, FULL_RANK, {7, 0}, GCONV_OUTPUT_SAMPLES, 1};
    static const char *const ladder[] = {"naive", "shared", "const", "tiled", "adaptive"};
    for (size_t i = 0; i < COUNT(ladder); i++)
        assert_true(expect("direct", &small) < expect(ladder[i], &small));
}

/* What an image of 4096x4096 took, from samples to samples in the device's memory: us, 0 where the
 * implementation refuses it or was not measured. */
typedef struct row {
    const char *name;
    int channels, depth;
    kind which;
    int side;
    double divisor;
    double direct, separable, fused, tensor;
} row;

static const row rows[] = {
    {"3x3 of grey", 1, 8, WHOLE, 3, 1, 23.4, 0, 19.0, 25.6},
    {"3x3 of RGB", 3, 8, WHOLE, 3, 1, 60.4, 0, 44.9, 88.8},
    {"3x3 of RGBA", 4, 8, WHOLE, 3, 1, 78.9, 0, 57.0, 120.6},
    {"3x3 of 16 bits", 1, 16, WHOLE, 3, 1, 31.0, 0, 30.7, 127},
    {"3x3 of RGB, 16 bits", 3, 16, WHOLE, 3, 1, 77.8, 0, 79.5, 386},
    {"gauss5 of grey", 1, 8, GAUSS5, 5, 289, 31.9, 27.1, 21.2, 28.6},
    {"gauss5 of RGB", 3, 8, GAUSS5, 5, 289, 85.8, 80.4, 47.2, 93.4},
    {"gauss5 of RGBA", 4, 8, GAUSS5, 5, 289, 103.9, 100.2, 59.4, 124.5},
    {"gauss5 of 16 bits", 1, 16, GAUSS5, 5, 289, 43.9, 43.4, 35.0, 112.1},
    {"gauss5 of RGB, 16 bits", 3, 16, GAUSS5, 5, 289, 111.6, 111.7, 0, 411.3},
    {"5x5 of RGB", 3, 8, FULL_RANK, 5, 7, 104.2, 0, 0, 142.8},
    {"7x7 of RGB", 3, 8, FULL_RANK, 7, 7, 144.2, 0, 0, 151.0},
    {"7x7 of RGBA", 4, 8, FULL_RANK, 7, 7, 171.9, 0, 0, 184.7},
    {"9x9 of grey", 1, 8, FULL_RANK, 9, 1, 62.2, 0, 0, 47.3},
    {"9x9 of RGB", 3, 8, FULL_RANK, 9, 7, 207.6, 0, 0, 158.3},
    {"9x9 of RGBA", 4, 8, FULL_RANK, 9, 7, 240.0, 0, 0, 191.6},
    {"9x9 of 16 bits", 1, 16, FULL_RANK, 9, 1, 65.6, 0, 0, 144},
};

enum { METHODS = 4 };
static const char *const methods[METHODS] = {"direct", "separable", "fused", "tensor"};

/* Microseconds of kernels alone; 0 where the implementation refuses the problem. */
static double kernels_of(const char *name, const gc_problem *problem)
{
    gconv_device_info device = h200();
    double seconds = seconds_of(name, problem);
    return seconds == 0 ? 0 : 1e6 * (seconds - gc_cost_of_image(problem, &device, 0, true));
}

/* The shortest time; 0 is none. */
static int fastest(const double *times, int count)
{
    int best = -1;
    for (int i = 0; i < count; i++)
        if (times[i] > 0 && (best < 0 || times[i] < times[best]))
            best = i;
    return best;
}

/* Expected times are within a third of those that were measured, and what is expected to be fastest
 * was the fastest, by 5 % at most. */
static void check_row(const row *seen, const gc_problem *problem)
{
    const double measured[METHODS] = {seen->direct, seen->separable, seen->fused, seen->tensor};
    double expected[METHODS];
    for (int m = 0; m < METHODS; m++) {
        expected[m] = kernels_of(methods[m], problem);
        if (measured[m] > 0 && fabs(expected[m] - measured[m]) > measured[m] / 3)
            fail_msg("%s, %s: %.1f us, measured %.1f us", seen->name, methods[m], expected[m],
                     measured[m]);
    }
    int chosen = fastest(expected, METHODS);
    if (measured[chosen] == 0 || measured[chosen] > 1.05 * measured[fastest(measured, METHODS)])
        fail_msg("%s: %s is not the fastest", seen->name, methods[chosen]);
    for (size_t i = 0; i < COUNT(pins); i++) {
        double other = kernels_of(pins[i].implementation, problem);
        if (other > 0 && other < expected[chosen])
            fail_msg("%s: %s is faster than %s", seen->name, pins[i].implementation,
                     methods[chosen]);
    }
}

TEST(kernels_from_samples_to_samples)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        const row *seen = &rows[i];
        scene of = {seen->name,
                    4096,
                    4096,
                    seen->channels,
                    seen->depth,
                    seen->which,
                    {seen->side, 0},
                    GCONV_OUTPUT_SAMPLES,
                    1000000000};
        OWNED_PROBLEM problem;
        make_problem(&of, seen->divisor, &problem);
        check_row(seen, &problem);
    }
}

static const char *missing(void)
{
    return gc_jit_available() ? NULL : "NVRTC is missing";
}

const test_suite suite = {.before = make_cache, .after = remove_cache, .missing = missing};
