/* Rows of the output alone: the bits of the whole, whatever solver, border and division, from the
 * input rows that they depend on. */
#include "base/memory_rows.h"
#include "chain_support.h"
#include "sanitized.h"

/* ---- Images and chains ----------------------------------------------------------------------- */

enum { FILTERS_MAX = 3 };

/* A chain that owns its filters. */
typedef struct filters {
    int count;
    gconv_filter *list[FILTERS_MAX];
} filters;

static void add(filters *f, const char *text)
{
    gconv_error error;
    if (gconv_filter_load(text, &f->list[f->count++], &error) != GCONV_OK)
        fail_msg("%s: %s", text, error.message);
}

/* Adds a matrix of random weights, whole or not. */
static void add_random(filters *f, bool whole)
{
    int width = 1 + rand() % (rand() % 4 == 0 ? 40 : 9), height = 1 + rand() % 31;
    gconv_filter *filter;
    assert_ok(gconv_filter_create(width, height, &filter, NULL));
    for (int i = 0; i < width * height; i++)
        filter->weights[i] = whole ? (float)(rand() % 5 - 2) : (float)rand() / (float)RAND_MAX;
    filter->anchor_x = rand() % width;
    filter->anchor_y = rand() % height;
    filter->divisor = whole ? 1 : width * height / 2.0;
    f->list[f->count++] = filter;
}

static filters random_filters(void)
{
    static const char *const texts[] = {"gaussian:2",    "gaussian:20", "gaussian:60", "box:7",
                                        "box:41",        "box:3x301",   "gauss5",      "laplace3",
                                        "gaussian:9,55", "log:4"};
    filters f = {.count = 0};
    int count = 1 + rand() % FILTERS_MAX;
    for (int i = 0; i < count; i++)
        if (rand() % 2 == 0)
            add(&f, texts[(size_t)rand() % (COUNT(texts))]);
        else
            add_random(&f, rand() % 2 == 0);
    return f;
}

static void free_filters(filters *f)
{
    for (int i = 0; i < f->count; i++)
        gconv_filter_free(f->list[i]);
}

static char *noise(const gconv_shape *shape)
{
    size_t values = gconv_shape_row_bytes(shape) * shape->height;
    char *samples = malloc(values);
    assert_non_null(samples);
    for (size_t i = 0; i < values; i++)
        samples[i] = (char)(rand() >> 8);
    for (size_t i = 0; shape->depth == 32 && i < values / sizeof(float); i++) {
        float sample = (float)(rand() % 65536) / 256;
        memcpy(samples + i * sizeof sample, &sample, sizeof sample);
    }
    return samples;
}

/* A job whose implementation is one solver now and then. */
static gconv_job random_job(const filters *f)
{
    static const char *const names[] = {"cpu",         "cpu",     "cpu",          "cpu:tiles",
                                        "cpu:vectors", "cpu:box", "cpu:products", "reference"};
    static const int depths[] = {8, 16, 32};
    int channels = 1 + rand() % 4, depth = depths[rand() % 3];
    gconv_shape shape =
        shape_of(1 + (uint32_t)rand() % 150, 1 + (uint32_t)rand() % 900, channels, depth);
    gconv_job job = job_of((const gconv_filter *const *)f->list, f->count, shape);
    job.border = (gconv_border)(rand() % GCONV_BORDER_COUNT);
    job.border_value = 17;
    job.alpha = (gconv_alpha)(rand() % 3);
    job.output_depth = rand() % 4 == 0 ? 8 : 32;
    job.threads = 1 + rand() % 3;
    job.implementation = names[(size_t)rand() % (COUNT(names))];
    if (strcmp(job.implementation, "reference") == 0)
        job.input.height = 1 + job.input.height % 40;
    if (gconv_job_check(&job, NULL) != GCONV_OK)
        job.implementation = "cpu";
    return job;
}

/* ---- Comparing ------------------------------------------------------------------------------- */

/* A source that counts rows, and may have no `select`. */
typedef struct counted {
    gc_memory_source memory;
    uint32_t rows;
} counted;

static gconv_status count_rows(void *user, uint32_t count, void *rows, size_t stride,
                               gconv_error *error)
{
    counted *c = user;
    gconv_source source = gc_source_of_memory(&c->memory);
    c->rows += count;
    return source.read(source.user, count, rows, stride, error);
}

static gconv_status select_rows(void *user, uint32_t first, uint32_t count, gconv_error *error)
{
    counted *c = user;
    gconv_source source = gc_source_of_memory(&c->memory);
    assert_int_equal(c->rows, 0);
    return source.select(source.user, first, count, error);
}

/* The rows of the input that were read for rows of the output, which must be those of the whole. */
static uint32_t assert_rows(gconv_plan *plan, const gconv_shape *input, const char *samples,
                            const char *whole, uint32_t first, uint32_t count, bool selects)
{
    size_t bytes = gconv_shape_row_bytes(gconv_plan_output_shape(plan));
    OWNED char *rows = malloc(count * bytes);
    counted from = {.memory = {.next = samples,
                               .row_bytes = gconv_shape_row_bytes(input),
                               .stride = gconv_shape_row_bytes(input)}};
    gc_memory_sink to = {.next = rows, .row_bytes = bytes, .stride = bytes};
    gconv_source source = {.size = sizeof source,
                           .read = count_rows,
                           .user = &from,
                           .select = selects ? select_rows : NULL};
    gconv_sink sink = gc_sink_of_memory(&to);
    assert_succeeds(gconv_plan_run_rows(plan, first, count, &source, &sink, NULL, &why));
    assert_int_equal(to.count, count);
    for (size_t i = 0; i < count * bytes; i++)
        if (rows[i] != whole[first * bytes + i])
            fail_msg("row %zu of %ux%u differs (%u:%u, %s)\n%s", first + i / bytes, input->width,
                     input->height, first, count, gconv_plan_implementation(plan),
                     gconv_plan_explanation(plan));
    return from.rows;
}

static char *whole_of(gconv_plan *plan, const gconv_job *job, const char *samples)
{
    size_t bytes = gconv_shape_row_bytes(gconv_plan_output_shape(plan));
    char *whole = malloc(job->input.height * bytes);
    assert_succeeds(gconv_plan_run_memory(plan, samples, gconv_shape_row_bytes(&job->input), whole,
                                          bytes, NULL, &why));
    return whole;
}

/* The whole by one plan, rows by another one with another number of threads. */
static bool try_job(gconv_job job)
{
    uint32_t height = job.input.height;
    OWNED char *samples = noise(&job.input);
    gconv_plan *plan = planned(&job);
    bool exact = gconv_plan_is_exact(plan);
    OWNED char *whole = whole_of(plan, &job, samples);
    gconv_plan_free(plan);
    job.threads = 1 + rand() % 3;
    plan = planned(&job);
    for (int n = 0; n < 6; n++) {
        uint32_t first = (uint32_t)rand() % height;
        uint32_t count =
            1 + (uint32_t)rand() % (n < 3 && height - first > 20 ? 20 : height - first);
        assert_rows(plan, &job.input, samples, whole, first, count, n % 2 == 0);
    }
    gconv_plan_free(plan);
    return exact;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

TEST(rows_have_the_bits_of_the_whole)
{
    const int jobs = SANITIZED ? 40 : 300;
    int exact = 0, inexact = 0;
    srand(19);
    for (int n = 0; n < jobs; n++) {
        RELEASED_BY(free_filters) filters f = random_filters();
        gconv_job job = random_job(&f);
        if (gconv_job_check(&job, NULL) == GCONV_OK)
            *(try_job(job) ? &exact : &inexact) += 1;
    }
    assert_true(exact > jobs / 30 && inexact > jobs / 2);
}

/* Edges of 8 bits have a pass of their own. */
TEST(edges_have_the_bits_of_the_whole)
{
    RELEASED_BY(free_filters) filters f = {.count = 0};
    srand(20);
    add(&f, "gauss5");
    add(&f, "laplace3");
    for (int n = 0; n < 20; n++) {
        gconv_job job =
            job_of((const gconv_filter *const *)f.list, f.count,
                   shape_of(1 + (uint32_t)rand() % 300, 1 + (uint32_t)rand() % 300, 1, 8));
        job.output = GCONV_OUTPUT_EDGES;
        job.output_depth = n % 2 == 0 ? 1 : 8;
        job.border = (gconv_border)(rand() % GCONV_BORDER_CONSTANT);
        job.implementation = "cpu";
        assert_true(try_job(job));
    }
}

TEST(reads_little_more)
{
    RELEASED_BY(free_filters) filters f = {.count = 0};
    add(&f, "gauss5");
    add(&f, "laplace3");
    gconv_job job = job_of((const gconv_filter *const *)f.list, f.count, shape_of(64, 4000, 1, 8));
    job.implementation = "cpu";
    OWNED char *samples = noise(&job.input);
    OWNED_PLAN plan = planned(&job);
    OWNED char *whole = whole_of(plan, &job, samples);
    enum { HALO = 3, ALIGNED = 8 };
    uint32_t rows = assert_rows(plan, &job.input, samples, whole, 1000, 1000, true);
    assert_in_range(rows, 1000 + 2 * HALO, 1000 + 2 * (HALO + ALIGNED));
    assert_in_range(assert_rows(plan, &job.input, samples, whole, 0, 1, true), 1,
                    1 + HALO + ALIGNED);
    /* A source that cannot select gives the rows before, too. */
    rows = assert_rows(plan, &job.input, samples, whole, 1000, 1000, false);
    assert_in_range(rows, 2000 + HALO, 2000 + HALO + ALIGNED);
}

static gconv_status fail_to_select(void *user, uint32_t first, uint32_t count, gconv_error *error)
{
    (void)user, (void)first, (void)count, (void)error;
    return GCONV_ERROR_READ;
}

TEST(refuses_what_cannot_be)
{
    RELEASED_BY(free_filters) filters f = {.count = 0};
    add(&f, "gauss3");
    gconv_job job = job_of((const gconv_filter *const *)f.list, f.count, shape_of(9, 10, 1, 8));
    job.implementation = "cpu";
    char samples[90] = "", rows[90];
    OWNED_PLAN plan = planned(&job);
    gc_memory_source from = {.next = samples, .row_bytes = 9, .stride = 9};
    gc_memory_sink to = {.next = rows, .row_bytes = 9, .stride = 9};
    gconv_source source = gc_source_of_memory(&from);
    gconv_sink sink = gc_sink_of_memory(&to);
    static const uint32_t wrong[][2] = {{0, 0}, {10, 1}, {3, 8}, {0, 11}, {UINT32_MAX, 2}};
    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_invalid(
            gconv_plan_run_rows(plan, wrong[i][0], wrong[i][1], &source, &sink, NULL, &error));
    assert_string_equal(error.message,
                        "2 rows from row 4294967295 on are not in the image, which has 10 rows");
    source.select = fail_to_select;
    assert_int_equal(gconv_plan_run_rows(plan, 5, 1, &source, &sink, NULL, &error),
                     GCONV_ERROR_READ);
    assert_true(strlen(error.message) > 0);
    source.read = NULL;
    assert_invalid(gconv_plan_run_rows(plan, 5, 1, &source, &sink, NULL, &error));
    assert_int_equal(to.count, 0);
}
