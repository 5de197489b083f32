/* Edges by 16-bit integers: responses up to the largest that 8-bit samples can give, thresholds on
 * both sides of what these integers hold, against the reference's responses. */
#include "core_support.h"
#include "sets_support.h"

/* Patches of 7x7 samples in a row, in cells of 16 columns. */
enum { CELL = 16, LEVELS = 8, WIDTH = 2 * LEVELS * CELL + 3, HEIGHT = 15, REACH = 3 };

/* 17 T = 8 v makes the response 136 v of a patch of level v equal to 289 T: 255 and 120, 238 and
 * 112, 221 and 104. */
static const uint8_t levels[LEVELS] = {255, 239, 238, 237, 222, 221, 220, 17};

typedef struct chain {
    gconv_filter *filters[2];
    uint8_t image[HEIGHT][WIDTH];
    float responses[HEIGHT][WIDTH];
    uint8_t got[HEIGHT][WIDTH];
} chain;

/* The two filters of `edges` as one. */
static void multiply_out(int weights[7][7])
{
    static const int smooth[5] = {2, 4, 5, 4, 2};
    static const int laplace[3][3] = {{0, 1, 0}, {1, -4, 1}, {0, 1, 0}};
    memset(weights, 0, 49 * sizeof(int));
    for (int y = 0; y < 5; y++)
        for (int x = 0; x < 5; x++)
            for (int j = 0; j < 3; j++)
                for (int i = 0; i < 3; i++)
                    weights[y + j][x + i] += smooth[y] * smooth[x] * laplace[j][i];
}

/* The samples that make the response at a place as large or as small as it can be with one
 * level. */
static void fill_patches(chain *c)
{
    int weights[7][7];
    multiply_out(weights);
    memset(c->image, 0, sizeof c->image);
    for (int patch = 0; patch < 2 * LEVELS; patch++)
        for (int y = 0; y < 7; y++)
            for (int x = 0; x < 7; x++) {
                int weight = patch % 2 == 0 ? weights[y][x] : -weights[y][x];
                c->image[HEIGHT / 2 - REACH + y][patch * CELL + CELL / 2 - REACH + x] =
                    weight > 0 ? levels[patch / 2] : 0;
            }
}

/* Black and white at random: large responses at every border. */
static void fill_noise(chain *c)
{
    uint32_t state = 12;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            state = state * 1664525 + 1013904223;
            c->image[y][x] = state >> 31 ? 255 : 0;
        }
}

static gconv_job job_for(const chain *c, gconv_border border)
{
    gconv_job job =
        job_of((const gconv_filter *const *)c->filters, 2, shape_of(WIDTH, HEIGHT, 1, 8));
    job.output = GCONV_OUTPUT_EDGES;
    job.border = border;
    job.implementation = "cpu";
    job.threads = 1;
    return job;
}

static void find_responses(chain *c, gconv_border border)
{
    gconv_job job = job_for(c, border);
    job.implementation = "reference";
    OWNED_PLAN plan = planned(&job);
    assert_ok(gconv_plan_run_chain(plan, c->image, WIDTH, c->responses[0], sizeof c->responses[0],
                                   NULL, NULL));
}

static bool is_edge(double response, const gconv_job *job)
{
    double side = job->rule == GCONV_RULE_ABS        ? fabs(response)
                  : job->rule == GCONV_RULE_POSITIVE ? response
                                                     : -response;
    return (side > job->threshold * 289) != job->invert;
}

static void compare_edges(chain *c, const gconv_job *job, const char *instructions)
{
    gconv_plan *plan = planned(job);
    memset(c->got, 0xa5, sizeof c->got);
    assert_ok(gconv_plan_run_memory(plan, c->image, WIDTH, c->got, WIDTH, NULL, NULL));
    gconv_plan_free(plan);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            bool wanted = is_edge((double)c->responses[y][x], job);
            bool got = job->output_depth == 8 ? c->got[y][x] == 255
                                              : (c->got[y][x / 8] >> (7 - x % 8) & 1) != 0;
            if (got != wanted || (job->output_depth == 8 && !got && c->got[y][x] != 0))
                fail_msg(
                    "%s, %s, threshold %g, rule %d, invert %d, depth %d: x %d, y %d of response "
                    "%g is %d",
                    instructions, gconv_border_name(job->border), job->threshold, (int)job->rule,
                    job->invert, job->output_depth, x, y, (double)c->responses[y][x], got);
        }
}

/* Every rule, inverted or not, at both depths. */
static void compare_kinds(chain *c, gconv_job *job, const char *instructions)
{
    static const int depths[] = {8, 1};
    for (int rule = GCONV_RULE_ABS; rule <= GCONV_RULE_NEGATIVE; rule++)
        for (int kind = 0; kind < 4; kind++) {
            job->rule = (gconv_rule)rule;
            job->invert = kind % 2 == 1;
            job->output_depth = depths[kind / 2];
            compare_edges(c, job, instructions);
        }
}

static void compare_thresholds(chain *c, gconv_border border, const char *instructions)
{
    gconv_job job = job_for(c, border);
    for (double threshold = 104; threshold <= 122; threshold += 0.5) {
        job.threshold = threshold;
        compare_kinds(c, &job, instructions);
    }
    static const double others[] = {0, 0.3, 5, 5.3, 8, 106.75, 106.76, 119.999, 1e9};
    for (size_t i = 0; i < COUNT(others); i++) {
        job.threshold = others[i];
        compare_kinds(c, &job, instructions);
    }
}

static void compare_image(chain *c)
{
    for (int border = 0; border < GCONV_BORDER_COUNT; border++) {
        find_responses(c, (gconv_border)border);
        EACH_SET(set, n)
        {
            setenv("GCONV_INSTRUCTIONS", set->name, 1);
            compare_thresholds(c, (gconv_border)border, set->name);
        }
        unsetenv("GCONV_INSTRUCTIONS");
    }
}

static void load_chain(chain *c)
{
    c->filters[0] = load_filter("gauss5");
    c->filters[1] = load_filter("laplace3");
}

static void free_chain(chain *c)
{
    gconv_filter_free(c->filters[0]);
    gconv_filter_free(c->filters[1]);
}

TEST(the_largest_responses)
{
    static chain c;
    load_chain(&c);
    fill_patches(&c);
    find_responses(&c, GCONV_BORDER_MIRROR);
    for (int patch = 0; patch < 2 * LEVELS; patch++) {
        float wanted = 136.0f * levels[patch / 2];
        assert_true(c.responses[HEIGHT / 2][patch * CELL + CELL / 2] ==
                    (patch % 2 == 0 ? wanted : -wanted));
    }
    compare_image(&c);
    free_chain(&c);
}

TEST(noise_at_the_borders)
{
    static chain c;
    load_chain(&c);
    fill_noise(&c);
    compare_image(&c);
    free_chain(&c);
}

/* Thresholds that are no whole multiple of 1/289, just below and above a response of the image. */
TEST(thresholds_beside_responses)
{
    static chain c;
    load_chain(&c);
    fill_noise(&c);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            c.image[y][x] &= (uint8_t)(17 * y + 29 * x);
    find_responses(&c, GCONV_BORDER_MIRROR);
    gconv_job job = job_for(&c, GCONV_BORDER_MIRROR);
    EACH_SET(set, n)
    {
        setenv("GCONV_INSTRUCTIONS", set->name, 1);
        for (int x = 0; x < WIDTH; x += 5) {
            double response = fabs((double)c.responses[x % HEIGHT][x]);
            job.threshold = fmax(response - 0.5, 0) / 289;
            compare_kinds(&c, &job, set->name);
            job.threshold = (response + 0.5) / 289;
            compare_kinds(&c, &job, set->name);
        }
    }
    unsetenv("GCONV_INSTRUCTIONS");
    free_chain(&c);
}
