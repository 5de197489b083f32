/* Seconds that the GPU's implementations are expected to take on an H200, pinned: choices follow
 * from them. Skipped in a build without CUDA, and where NVRTC is missing, which some of them ask
 * for. */
#include "cache_support.h"
#include "core_support.h"

#include "core/registry.h"
#include "gpu/jit/jit.h"

#include <math.h>

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

typedef enum kind { FULL_RANK, RANK_ONE, RANK_TWO, WHOLE } kind;

static float weight_of(kind which, int i, int j, int side)
{
    float row = (float)(1 + (i < side - i ? i : side - 1 - i));
    float column = (float)(1 + (j < side - j ? j : side - 1 - j));
    switch (which) {
    case RANK_ONE:
        return row * column;
    case RANK_TWO:
        return row * column / 7 + 1 / (row * column * (float)(1 + side));
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
    double seconds[sizeof scenes / sizeof scenes[0]]; /* 0: refused */
} pin;

static const pin pins[] = {
    {"naive",
     {0.300076329160907, 0.0042005232410157, 0.304151273164493, 0.00435487310327466,
      0.305254572827793, 0.305061905425728, 0.303109426086885, 0.316475891405689,
      0.312359418554267}},
    {"shared",
     {0.300076122549337, 0.00418923949445923, 0.304089839433241, 0.00425331938426639,
      0.304972479163881, 0.304615159557959, 0.303053176086885, 0.316305381457725,
      0.312231536093293}},
    {"const",
     {0.30007598480829, 0.00418171699675491, 0.304048883612406, 0.00418561690492755,
      0.304784416721273, 0.304317328979447, 0.303015676086885, 0.316191708159082,
      0.312146281119311}},
    {"tiled",
     {0.300075755239879, 0.00416917950058105, 0.303980623911015, 0.00407277943936281,
      0.304470979316926, 0.303820944681926, 0.302953176086885, 0.316002252661343,
      0.312004189496007}},
    {"adaptive",
     {0.300075709326196, 0.00416667200134628, 0.303966971970737, 0.00405021194624986,
      0.304408291836057, 0.303721667822422, 0.302940676086885, 0.315964361561796,
      0.311975771171347}},
    {"twopass", {0, 0, 0.30393137744628, 0, 0, 0, 0.302873265948509, 0, 0}},
    {"direct",
     {0.300076384466986, 0.00412312369035167, 0.303823123690352, 0.00385207607933884,
      0.803924537017391, 0.803033460445009, 0.802833206153846, 0.315446495122813,
      0.31158812134211}},
    {"separable", {0, 0, 0.303811989054117, 0, 0.803846605227071, 0, 0.302816268043442, 0, 0}},
    {"fused", {0, 0, 0.303796335908937, 0, 0, 0, 0, 0.315176343635747, 0.311456371071055}},
    {"tensor",
     {0.300074708051528, 0.00411592752217959, 0.303816838503553, 0.00382985929865999,
      0.303856375095157, 0.302896744293578, 0.302825040040033, 0.315424281851943,
      0.311603739662519}},
    {"fft",
     {0.300114244179944, 0.00439052730196813, 0.304366181003936, 0.00409352730196813,
      0.304090527301968, 0.30294651401437, 0.302945639287723, 0.31958995363149, 0.313058543011809}},
};

/* Seconds, 0 where the implementation refuses the scene. */
static double expect(const char *name, const scene *seen)
{
    static float weights[FILTERS_MAX][SIDE_MAX * SIDE_MAX];
    gconv_filter filters[FILTERS_MAX];
    const gconv_filter *chain[FILTERS_MAX];
    int count = 0;
    for (; count < FILTERS_MAX && seen->sides[count] > 0; count++) {
        int side = seen->sides[count];
        for (int k = 0; k < side * side; k++)
            weights[count][k] = weight_of(seen->which, k % side, k / side, side);
        filters[count] = filter_of(side, side, 1, weights[count]);
        chain[count] = &filters[count];
    }
    gconv_shape shape = shape_of(seen->width, seen->height, seen->channels, seen->depth);
    gconv_job job = job_of(chain, count, shape);
    job.output = seen->output;
    job.threshold = 32;
    job.border = GCONV_BORDER_MIRROR;
    job.runs = seen->runs;
    gc_problem problem;
    gconv_error error;
    assert_int_equal(gc_problem_create(&job, &problem, &error), GCONV_OK);
    gconv_device_info device = h200();
    const gc_operations *operations = gc_implementation_named(name)->operations;
    /* Whether fft supports a problem depends on a library that need not be here. */
    bool asks = strcmp(name, "fft") != 0;
    double seconds = asks && operations->supports(&problem, &device, &error) != GCONV_OK
                         ? 0
                         : operations->cost(&problem, &device);
    gc_problem_destroy(&problem);
    return seconds;
}

static void seconds_are_as_measured(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pins / sizeof pins[0]; i++)
        for (size_t k = 0; k < sizeof scenes / sizeof scenes[0]; k++) {
            double seconds = expect(pins[i].implementation, &scenes[k]);
            if (fabs(seconds - pins[i].seconds[k]) > 1e-12 * pins[i].seconds[k])
                fail_msg("%s, %s: %.17g s", pins[i].implementation, scenes[k].name, seconds);
        }
}

int main(void)
{
    if (gc_implementation_named("naive")->operations == NULL || !gc_jit_available())
        return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(seconds_are_as_measured, make_cache, remove_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
