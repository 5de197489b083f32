/* Detectors: what a job may ask for, filters of real weights, and lines across the whole image. The
 * model in tests/model/edges.py judges their results. */
#include "core_support.h"
#include "sets_support.h"

#include "base/number.h"
#include "cpu/edges/hysteresis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct request {
    gconv_detector detector;
    gconv_filter *filters[2];
    gconv_job job;
} request;

static void free_request(request *q)
{
    gconv_filter_free(q->filters[0]);
    gconv_filter_free(q->filters[1]);
}

#define OWNED_REQUEST RELEASED_BY(free_request) request

/* Fills a request for edges by a method, after the chain of these filters. */
static void ask(request *q, gconv_method method, gconv_shape shape, const char *first,
                const char *second)
{
    *q = (request){.detector = gconv_detector_default()};
    q->detector.method = method;
    assert_succeeds(gconv_filter_load(first, &q->filters[0], &why));
    if (second != NULL)
        assert_succeeds(gconv_filter_load(second, &q->filters[1], &why));
    q->job = job_of((const gconv_filter *const *)q->filters, second != NULL ? 2 : 1, shape);
    q->job.output = GCONV_OUTPUT_EDGES;
    q->job.output_depth = 8;
    q->job.detector = &q->detector;
}

/* Computes the output by an implementation. */
static void compute(request *q, const char *implementation, int threads, const void *input,
                    uint8_t *output)
{
    q->job.implementation = implementation;
    q->job.threads = threads;
    OWNED_PLAN plan = planned(&q->job);
    assert_int_equal(gconv_plan_promise(plan), GCONV_PROMISE_EXACT);
    assert_succeeds(gconv_plan_run_memory(plan, input, gconv_shape_row_bytes(&q->job.input), output,
                                          q->job.input.width, NULL, &why));
}

/* `cpu` gives the reference's output, which has edges, with any number of threads and by all sets
 * of instructions. */
static void agree(request *q, const void *input)
{
    size_t pixels = (size_t)q->job.input.width * q->job.input.height;
    OWNED uint8_t *expected = malloc(pixels), *found = malloc(pixels);
    compute(q, "reference", 1, input, expected);
    assert_non_null(memchr(expected, 255, pixels));
    for (int threads = 1; threads <= 5; threads += 2) {
        compute(q, "cpu", threads, input, found);
        assert_memory_equal(found, expected, pixels);
    }
    EACH_SET(set, n)
    {
        setenv("GCONV_INSTRUCTIONS", set->name, 1);
        compute(q, "cpu", 1, input, found);
        unsetenv("GCONV_INSTRUCTIONS");
        assert_memory_equal(found, expected, pixels);
    }
}

static void fill_noise(uint8_t *samples, size_t count)
{
    for (size_t i = 0; i < count; i++)
        samples[i] = (uint8_t)((i * i + 7 * i + i / 97) * 2654435761u >> 13);
}

/* Weights of no common denominator become whole ones: of a matrix, of two vectors, and of a filter
 * of higher rank. */
TEST(real_weights)
{
    static const char *const chains[][2] = {
        {"gaussian:2", "laplace3"}, {"gaussian:50,301", "laplace3"}, {"log:1.4", NULL}};
    uint8_t samples[2 * 70 * 61];
    fill_noise(samples, sizeof samples);
    for (int depth = 8; depth <= 16; depth += 8)
        for (size_t i = 0; i < sizeof chains / sizeof *chains; i++)
            for (int method = GCONV_METHOD_ZERO_CROSSING; method <= GCONV_METHOD_CANNY; method++) {
                OWNED_REQUEST q = {.filters = {NULL}};
                bool crosses = method == GCONV_METHOD_ZERO_CROSSING;
                ask(&q, (gconv_method)method, shape_of(70, 61, 1, depth), chains[i][0],
                    crosses ? chains[i][1] : NULL);
                q.job.threshold = q.detector.low = q.detector.high = 0;
                q.detector.norm = (gconv_norm)(i % 2);
                agree(&q, samples);
            }
}

/* A column of zeros beside a row that is not whole has no ratio of magnitudes. */
TEST(vectors_of_zeros)
{
    static const char text[] = "column 0 0 0\nrow 1 1 0x1.999999999999bp-4";
    OWNED_REQUEST q = {.filters = {NULL}};
    ask(&q, GCONV_METHOD_GRADIENT, shape_of(8, 8, 1, 8), "identity", NULL);
    gconv_filter_free(q.filters[0]);
    assert_ok(gconv_filter_parse(text, strlen(text), NULL, &q.filters[0], NULL));
    OWNED_PROBLEM problem = problem_of(&q.job);
    const gc_step *step = &problem.chain.steps[0];
    assert_true(problem.chain.sums_fit && step->column[0] == 0 && step->row[0] > 0);
}

/* Columns and rows that are longer than what is summed together, under every border. */
TEST(wide_blurs)
{
    enum { WIDTH = 1111, HEIGHT = 50 };
    OWNED uint8_t *samples = malloc(2 * WIDTH * HEIGHT);
    fill_noise(samples, 2 * WIDTH * HEIGHT);
    for (int border = 0; border < GCONV_BORDER_COUNT; border++) {
        OWNED_REQUEST q = {.filters = {NULL}};
        bool crosses = border % 2 != 0;
        ask(&q, crosses ? GCONV_METHOD_ZERO_CROSSING : GCONV_METHOD_CANNY,
            shape_of(WIDTH, HEIGHT, 1, border % 3 == 0 ? 16 : 8), "gaussian:7,121",
            crosses ? "laplace3" : NULL);
        q.job.border = (gconv_border)border;
        q.job.border_value = 77;
        q.job.threshold = q.detector.low = q.detector.high = 0;
        agree(&q, samples);
    }
}

/* Squares that double does not hold. */
TEST(thresholds_with_large_squares)
{
    static const int64_t magnitudes[] = {94906267, 123456789, 268435457, 700000001};
    OWNED_REQUEST q = {.filters = {NULL}};
    ask(&q, GCONV_METHOD_GRADIENT, shape_of(8, 8, 1, 16), "gauss5", NULL);
    q.detector.norm = GCONV_NORM_L2;
    for (size_t i = 0; i < sizeof magnitudes / sizeof *magnitudes; i++) {
        q.job.threshold = (double)magnitudes[i] / (257 * q.filters[0]->divisor);
        OWNED_PROBLEM problem = problem_of(&q.job);
        assert_int_equal(problem.detector.low, magnitudes[i] * magnitudes[i]);
    }
}

/* A quotient in the middle of two samples is found there: 49 times the nearest double to 1/49 is
 * below 1. */
TEST(ties_of_magnitudes)
{
    OWNED_REQUEST q = {.filters = {NULL}};
    ask(&q, GCONV_METHOD_GRADIENT, shape_of(8, 8, 1, 8), "box:7", NULL);
    q.job.output = GCONV_OUTPUT_SAMPLES;
    q.job.scale = 0.125;
    OWNED_PROBLEM problem = problem_of(&q.job);
    for (int32_t i = 0; i < 255; i++) {
        int32_t found = (int32_t)problem.conversion.divisor * 4 * (2 * i + 1); /* i + 1/2 */
        uint8_t sample;
        gc_detector_store(&problem.detector, &problem.conversion, &found, false, 1, &sample);
        assert_int_equal(sample, i + i % 2);
    }
}

/* Squares on a tie and beside it, most of which double does not hold. */
TEST(roots_beside_ties)
{
    OWNED_REQUEST q = {.filters = {NULL}};
    ask(&q, GCONV_METHOD_GRADIENT, shape_of(8, 8, 1, 16), "gauss5", NULL);
    q.detector.norm = GCONV_NORM_L2;
    q.job.output = GCONV_OUTPUT_SAMPLES;
    q.job.output_depth = 16;
    for (int falls = 0; falls < 2; falls++) {
        q.job.scale = falls ? -0x1p-13 : 0x1p-13;
        q.job.has_offset = true;
        q.job.offset = falls ? 2 : 0; /* 514 of 65535 */
        OWNED_PROBLEM problem = problem_of(&q.job);
        for (int64_t i = 0; i < 400; i++) {
            int64_t root = (int64_t)problem.conversion.divisor * 4096 * (2 * i + 1); /* i + 1/2 */
            int64_t found[] = {root * root - 1, root * root, root * root + 1};
            int64_t even = i + i % 2, wanted[] = {i, even, i + 1};
            uint16_t samples[3];
            gc_detector_store(&problem.detector, &problem.conversion, found, true, 3, samples);
            for (int k = 0; k < 3; k++)
                assert_int_equal(samples[k], falls ? 514 - wanted[k] : wanted[k]);
        }
    }
}

/* A scale of 0 leaves the offset alone, here a tie, whatever the root is. */
TEST(roots_without_a_scale)
{
    OWNED_REQUEST q = {.filters = {NULL}};
    ask(&q, GCONV_METHOD_GRADIENT, shape_of(8, 8, 1, 8), "gauss5", NULL);
    q.detector.norm = GCONV_NORM_L2;
    q.job.output = GCONV_OUTPUT_SAMPLES;
    q.job.has_offset = true;
    for (int i = 0; i < 255; i++) {
        int32_t found[] = {0, 1, 12345};
        uint8_t samples[3];
        q.job.scale = i % 3 == 0 ? -0.0 : 0;
        q.job.offset = i + 0.5;
        OWNED_PROBLEM problem = problem_of(&q.job);
        gc_detector_store(&problem.detector, &problem.conversion, found, false, 3, samples);
        for (int k = 0; k < 3; k++)
            assert_int_equal(samples[k], i + i % 2);
    }
}

/* Middles of two floats, too. */
TEST(roots_as_floats)
{
    OWNED_REQUEST q = {.filters = {NULL}};
    ask(&q, GCONV_METHOD_GRADIENT, shape_of(8, 8, 1, 16), "identity", NULL);
    q.detector.norm = GCONV_NORM_L2;
    q.job.output = GCONV_OUTPUT_SAMPLES;
    q.job.output_depth = 32;
    OWNED_PROBLEM problem = problem_of(&q.job);
    for (int64_t i = (1 << 28) + 8; i < (1 << 28) + 32 * 100; i += 32) { /* floats lie 32 apart */
        int64_t middle = i + 8, found[] = {middle * middle - 1, middle * middle + 1};
        float samples[2];
        gc_detector_store(&problem.detector, &problem.conversion, found, true, 2, samples);
        assert_true((int64_t)samples[0] == i - 8 && (int64_t)samples[1] == i + 24);
    }
}

/* The largest whole number whose square is at most `square`. */
static int64_t whole_root(unsigned __int128 square)
{
    uint64_t root = 0;
    for (int bit = 62; bit >= 0; bit--) {
        uint64_t larger = root | UINT64_C(1) << bit;
        root = (unsigned __int128)larger * larger <= square ? larger : root;
    }
    return (int64_t)root;
}

/* Stores the sample of a magnitude at this depth. */
static void store_magnitude(request *q, int depth, int32_t square, void *sample)
{
    q->job.output_depth = depth;
    OWNED_PROBLEM problem = problem_of(&q->job);
    gc_detector_store(&problem.detector, &problem.conversion, &square, false, 1, sample);
}

/* Offsets that leave 64 to 192 of large magnitudes: doubles on the way to v say little about it.
 * Whole numbers have the first bits of v behind the point, and a last one for the others. */
TEST(roots_that_an_offset_cancels)
{
    enum { BITS = 30, MORE_BITS = 41, BEHIND = 22 };
    OWNED_REQUEST q = {.filters = {NULL}};
    ask(&q, GCONV_METHOD_GRADIENT, shape_of(8, 8, 1, 8), "gauss5", NULL);
    q.detector.norm = GCONV_NORM_L2;
    q.job.output = GCONV_OUTPUT_SAMPLES;
    q.job.has_offset = true;
    for (int32_t found = 2; found < 40000; found += 4) {
        unsigned __int128 square = 9 * (unsigned __int128)found;
        int64_t root = whole_root(square << 2 * MORE_BITS), added = 64 - root / 128 * 128;
        int64_t twice = whole_root(square << (2 * MORE_BITS + 2)) + 2 * added;
        uint8_t sample, bit;
        q.job.scale = ldexp(3 * q.filters[0]->divisor, MORE_BITS);
        q.job.offset = (double)added;
        store_magnitude(&q, 8, found, &sample);
        assert_int_equal(sample, (twice + 1) / 2);
        store_magnitude(&q, 1, found, &bit);
        assert_int_equal(bit >> 7, twice >= 256);
        root = whole_root(square << 2 * BITS);
        added = 64 - root / 128 * 128;
        int64_t first = whole_root(square << 2 * (BITS + BEHIND)) + added * (1 << BEHIND);
        float value;
        q.job.scale = ldexp(3 * q.filters[0]->divisor, BITS);
        q.job.offset = (double)added;
        store_magnitude(&q, 32, found, &value);
        assert_true(value == (float)ldexp((double)(2 * first + 1), -BEHIND - 1));
    }
}

/* Values that rounding cannot have from numbers without an error are bounded, edges are not. */
TEST(magnitudes_beyond_limits)
{
    OWNED_REQUEST q = {.filters = {NULL}};
    ask(&q, GCONV_METHOD_GRADIENT, shape_of(8, 8, 1, 8), "gauss5", NULL);
    for (int limit = 299; limit <= 301; limit += 2)
        for (int edges = 0; edges < 2; edges++) {
            q.job.output = edges ? GCONV_OUTPUT_EDGES : GCONV_OUTPUT_SAMPLES;
            q.job.scale = ldexp(1, limit);
            OWNED_PLAN plan = planned(&q.job);
            assert_int_equal(gconv_plan_promise(plan),
                             edges || limit < 300 ? GCONV_PROMISE_EXACT : GCONV_PROMISE_BOUNDED);
        }
}

/* No magnitude is below a negative threshold, nor is its square. */
TEST(negative_thresholds)
{
    OWNED_REQUEST q = {.filters = {NULL}};
    uint8_t samples[64] = {0}, found[64], wanted[64];
    memset(wanted, 255, sizeof wanted);
    ask(&q, GCONV_METHOD_GRADIENT, shape_of(8, 8, 1, 8), "gauss5", NULL);
    for (int norm = 0; norm < 2; norm++)
        for (double threshold = -1e-300; threshold > -1e300; threshold *= 1e150) {
            q.detector.norm = (gconv_norm)norm;
            q.job.threshold = threshold;
            compute(&q, "cpu", 1, samples, found);
            assert_memory_equal(found, wanted, sizeof wanted);
        }
}

/* A wall that winds from the border to the middle, one pixel wide, faint but for its inner end. */
TEST(spirals_across_bands)
{
    enum { SIDE = 402 };
    OWNED uint8_t *samples = calloc(SIDE, SIDE);
    int x = 0, y = 0, dx = 1, dy = 0, last = 0;
    for (int length = SIDE - 1, turn = 0; length > 0; turn++) {
        for (int i = 0; i < length; i++, x += dx, y += dy)
            samples[last = y * SIDE + x] = 100;
        int swap = dx;
        dx = -dy;
        dy = swap;
        length -= turn >= 2 && turn % 2 == 0 ? 8 : 0;
    }
    for (int i = -3; i <= 3; i++)
        samples[last + i] = samples[last + i] > 0 ? 255 : 0;
    OWNED_REQUEST q = {.filters = {NULL}};
    ask(&q, GCONV_METHOD_CANNY, shape_of(SIDE, SIDE, 1, 8), "gauss5", NULL);
    q.detector.low = 20;
    q.detector.high = 140;
    agree(&q, samples);
}

/* A stack that cannot grow forgets words and says so. Edges are complete once they are followed
 * again. */
TEST(stacks_without_room)
{
    enum { WORDS = 40, HEIGHT = 40 };
    uint64_t weak[WORDS * HEIGHT], strong[WORDS * HEIGHT] = {0};
    memset(weak, 0xff, sizeof weak);
    strong[0] = 1;
    gc_edge_bits bits = {weak, strong, WORDS, HEIGHT};
    size_t room[1];
    gc_edge_stack small = {.words = room, .room = 1};
    gc_follow_edges(&bits, 0, 1, 0, HEIGHT, &small);
    assert_true(small.failed);
    assert_memory_not_equal(strong, weak, sizeof weak);
    gc_edge_stack large = {.grows = true};
    gc_follow_edges(&bits, 0, HEIGHT, 0, HEIGHT, &large);
    assert_false(large.failed);
    free(large.words);
    assert_memory_equal(strong, weak, sizeof weak);
}

TEST(jobs_that_are_refused)
{
    OWNED_REQUEST q = {.filters = {NULL}};
    ask(&q, GCONV_METHOD_CANNY, shape_of(8, 8, 1, 8), "gauss5", NULL);
    q.detector.low = q.detector.high + 1;
    assert_invalid(gconv_job_check(&q.job, NULL));
    q.detector = gconv_detector_default();
    q.detector.method = (gconv_method)4;
    assert_invalid(gconv_job_check(&q.job, NULL));
    q.detector.method = GCONV_METHOD_CANNY;
    q.detector.like = GCONV_LIKE_OPENCV;
    assert_invalid(gconv_job_check(&q.job, NULL)); /* the border mirrors */
    q.job.border = GCONV_BORDER_REPLICATE;
    assert_succeeds(gconv_job_check(&q.job, &why));
    q.job.input.depth = 16;
    assert_invalid(gconv_job_check(&q.job, NULL));
    q.detector.size = 3;
    assert_invalid(gconv_job_check(&q.job, NULL));
    q.detector = gconv_detector_default();
    q.detector.method = GCONV_METHOD_GRADIENT;
    q.job.border = GCONV_BORDER_CONSTANT;
    q.job.input.depth = 8;
    q.job.border_value = 0x1p40;
    q.filters[0]->divisor = 0x1p12;
    assert_succeeds(gconv_job_check(&q.job, &why));
    q.filters[0]->divisor = 0x1p13; /* times 2^40 */
    assert_int_equal(gconv_job_check(&q.job, NULL), GCONV_ERROR_FILTER);
}

static gconv_status write_nothing(void *user, uint32_t count, const void *rows, size_t stride,
                                  gconv_error *error)
{
    (void)user, (void)count, (void)rows, (void)stride, (void)error;
    return GCONV_OK;
}

TEST(what_the_method_laplace_alone_has)
{
    OWNED_REQUEST q = {.filters = {NULL}};
    ask(&q, GCONV_METHOD_CANNY, shape_of(8, 8, 1, 8), "gauss5", NULL);
    uint8_t samples[64] = {0};
    gconv_pixel at = {0, 0};
    gconv_difference difference;
    gconv_source source = gconv_source_default();
    gconv_sink sink = gconv_sink_default();
    sink.write = write_nothing;
    OWNED_PLAN plan = planned(&q.job);
    assert_int_equal(gconv_plan_run_rows(plan, 0, 1, &source, &sink, NULL, NULL),
                     GCONV_ERROR_UNSUPPORTED);
    assert_int_equal(
        gconv_plan_compare_pixels(plan, samples, 8, samples, 8, &at, 1, &difference, NULL),
        GCONV_ERROR_UNSUPPORTED);
}
