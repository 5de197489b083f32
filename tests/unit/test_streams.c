/* What the cpu implementation computes does not depend on how an image is divided: on threads, on
 * bands that go through rings or lie in memory, on who is fast and who is slow. */
#include "cpu/pipeline/dispatcher.h"

#include "base/memory_rows.h"
#include "chain_support.h"
#include "sanitized.h"

#include <stdatomic.h>
#include <time.h>

/* Appends a filter whose weights need float32's whole mantissa, of full rank; or whole ones. */
static void append(chain *c, int width, int height, bool whole)
{
    float *weights = extend(c, width, height, whole ? 1 : width * height);
    for (int i = 0; i < width * height; i++)
        weights[i] = whole ? (float)(rand() % 9 - 4) : (float)rand() / (float)RAND_MAX - 0.3f;
}

/* Makes the filter that was appended last the product of a column and a row. */
static void separate(chain *c)
{
    const gconv_filter *filter = c->list[c->count - 1];
    float *weights = c->weights[c->count - 1];
    for (int j = 1; j < filter->height; j++)
        for (int i = 0; i < filter->width; i++)
            weights[j * filter->width + i] = weights[i] * (float)(1 + j % 4);
}

/* Sets most weights of the filter that was appended last to 0. */
static void thin_out(chain *c)
{
    const gconv_filter *filter = c->list[c->count - 1];
    for (int i = 0; i < filter->width * filter->height; i++)
        if (i % 19 != 0)
            c->weights[c->count - 1][i] = 0;
}

static void *allocate(size_t bytes)
{
    void *memory = calloc(bytes, 1);
    assert_non_null(memory);
    return memory;
}

/* ---- Delays ---------------------------------------------------------------------------------- */

static atomic_uint draws;
static atomic_bool delays;

/* Half of the pieces take up to 0.3 ms longer; which ones differs from run to run. */
static void delay(void)
{
    unsigned draw = atomic_fetch_add(&draws, 1) * 2654435761u + (unsigned)clock();
    draw ^= draw >> 15;
    if (atomic_load(&delays) && draw % 2 == 0)
        nanosleep(&(struct timespec){.tv_nsec = (long)(draw >> 4) % 300000}, NULL);
}

static void delay_piece(const gc_piece *piece)
{
    if (piece->kind == GC_PIECE_COMPUTE)
        delay();
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static gconv_status read_late(void *user, uint32_t count, void *rows, size_t stride,
                              gconv_error *error)
{
    gconv_source source = gc_source_of_memory(user);
    delay();
    return source.read(source.user, count, rows, stride, error);
}

static gconv_status write_late(void *user, uint32_t count, const void *rows, size_t stride,
                               gconv_error *error)
{
    gconv_sink sink = gc_sink_of_memory(user);
    delay();
    return sink.write(sink.user, count, rows, stride, error);
}

/* The output of a job, and in *bytes how much that is. `how` is a word that the plan's explanation
 * must have, if the build has fast paths. */
static char *output_of(gconv_job job, int threads, bool streamed, char *samples, const char *how,
                       size_t *bytes)
{
    gconv_error error;
    job.threads = threads;
    OWNED_PLAN plan = planned(&job);
    if (GC_HAS_FAST && how != NULL && strstr(gconv_plan_explanation(plan), how) == NULL)
        fail_msg("not by %s: %s", how, gconv_plan_explanation(plan));
    size_t in_bytes = gconv_shape_row_bytes(&job.input);
    size_t out_bytes = gconv_shape_row_bytes(gconv_plan_output_shape(plan));
    *bytes = out_bytes * job.input.height;
    char *output = allocate(*bytes);
    gc_memory_source in = {.next = samples, .row_bytes = in_bytes, .stride = in_bytes};
    gc_memory_sink out = {.next = output, .row_bytes = out_bytes, .stride = out_bytes};
    gconv_status status =
        streamed
            ? gconv_plan_run(plan, SOURCE(read_late, &in), SINK(write_late, &out), NULL, &error)
            : gconv_plan_run_memory(plan, samples, in_bytes, output, out_bytes, NULL, &error);
    if (status != GCONV_OK)
        fail_msg("%s", error.message);
    return output;
}

static char *samples_for(const gconv_job *job)
{
    size_t bytes = gconv_shape_row_bytes(&job->input) * job->input.height;
    char *samples = allocate(bytes);
    for (size_t i = 0; i < bytes; i++)
        samples[i] = (char)(rand() >> 8);
    return samples;
}

/* Holds runs on `threads`, a list that 0 ends, against the one on one thread in memory. */
static void assert_same_on(gconv_job job, const int *threads, bool in_memory_too, const char *how)
{
    size_t bytes;
    OWNED char *samples = samples_for(&job);
    OWNED char *wanted = output_of(job, 1, false, samples, how, &bytes);
    for (; *threads > 0; threads++)
        for (int streamed = in_memory_too ? 0 : 1; streamed < 2; streamed++) {
            OWNED char *got = output_of(job, *threads, streamed == 1, samples, how, &bytes);
            if (memcmp(got, wanted, bytes) != 0)
                fail_msg("%ux%u on %d threads, %s: other bits", job.input.width, job.input.height,
                         *threads, streamed == 1 ? "streamed" : "in memory");
        }
}

static gconv_job job_on(const chain *c, gconv_shape shape, gconv_border border)
{
    gconv_job job = job_of(c->list, c->count, shape);
    job.implementation = "cpu";
    job.border = border;
    return job;
}

/* ---- Chains that round ----------------------------------------------------------------------- */

#if SANITIZED
static const int many_threads[] = {1, 2, 8, 0};
#else
static const int many_threads[] = {1, 2, 3, 4, 8, 0};
#endif
static const char tiles[] = "transforms of tiles";

/* The chain values themselves, on an image of `width` x `height`, under three borders. */
static void assert_fixed(const chain *c, uint32_t width, uint32_t height, int channels, int depth,
                         const char *how)
{
    static const gconv_border borders[] = {GCONV_BORDER_MIRROR, GCONV_BORDER_WRAP,
                                           GCONV_BORDER_CONSTANT};
    for (int n = 0; n < 3; n++) {
        gconv_job job = job_on(c, shape_of(width, height, channels, depth), borders[n]);
        job.output_depth = 32;
        job.border_value = 77;
        assert_same_on(job, many_threads, true, how);
    }
}

TEST(tiles_before_another_step)
{
    srand(21);
    chain c = {.count = 0};
    append(&c, 21, 21, false);
    append(&c, 3, 3, false);
    assert_fixed(&c, 400, 500, 1, 8, tiles);
    assert_fixed(&c, 130, 900, 3, 16, tiles);
}

TEST(tiles_of_two_sizes)
{
    srand(22);
    chain c = {.count = 0};
    append(&c, 17, 25, false);
    append(&c, 5, 5, false);
    append(&c, 31, 41, false);
    assert_fixed(&c, 300, 700, 1, 8, tiles);
}

TEST(tiles_in_panels)
{
    srand(23);
    chain c = {.count = 0};
    append(&c, 25, 25, false);
    append(&c, 5, 5, false);
    gconv_job job = job_on(&c, shape_of(5000, 260, 1, 8), GCONV_BORDER_MIRROR);
    job.output_depth = 32;
    assert_same_on(job, many_threads, true, tiles);
}

TEST(filters_taller_than_bands)
{
    srand(24);
    chain c = {.count = 0};
    append(&c, 3, 181, false);
    append(&c, 19, 19, false);
    assert_fixed(&c, 200, 600, 1, 8, NULL);
    chain separable = {.count = 0};
    append(&separable, 101, 101, false);
    separate(&separable);
    append(&separable, 3, 3, false);
    assert_fixed(&separable, 333, 400, 1, 8, "a column and a row");
}

TEST(other_methods)
{
    srand(25);
    chain every = {.count = 0}, sparse = {.count = 0};
    append(&every, 5, 5, false);
    append(&every, 7, 3, false);
    assert_fixed(&every, 501, 500, 1, 8, "every tap");
    assert_fixed(&every, 4999, 90, 2, 16, "every tap");
    append(&sparse, 9, 9, false);
    thin_out(&sparse);
    append(&sparse, 3, 3, false);
    assert_fixed(&sparse, 501, 500, 3, 8, "taps that are not 0");
}

TEST(alpha_and_levels)
{
    srand(26);
    chain c = {.count = 0};
    append(&c, 19, 19, false);
    append(&c, 3, 3, false);
    for (int alpha = 0; alpha < 3; alpha++) {
        gconv_job job = job_on(&c, shape_of(130, 400, 4, 8), GCONV_BORDER_MIRROR101);
        job.alpha = (gconv_alpha)alpha;
        job.scale = 3;
        assert_same_on(job, many_threads, true, tiles);
        job.output_depth = 16;
        assert_same_on(job, many_threads, true, tiles);
    }
}

/* ---- Many more bands than the rings hold ----------------------------------------------------- */

static void assert_streams(const chain *c, uint32_t width, uint32_t height)
{
    static const int threads[] = {2, 4, 8, 0};
    gconv_job job = job_on(c, shape_of(width, height, 1, 8), GCONV_BORDER_MIRROR);
    job.scale = 0.02;
    job.offset = 100;
    assert_same_on(job, threads, false, NULL);
}

TEST(long_images)
{
    srand(31);
    chain small = {.count = 0}, tall = {.count = 0};
    append(&small, 3, 3, true);
    append(&tall, 1, 151, true);
    gc_dispatcher_hook = delay_piece;
    atomic_store(&delays, true);
    for (int n = 0; n < 2; n++) {
        const chain *c = n == 0 ? &small : &tall;
        assert_streams(c, 600, SANITIZED ? 10000 : 40000);
        assert_streams(c, 4000, SANITIZED ? 1000 : 3000);
    }
    atomic_store(&delays, false);
    gc_dispatcher_hook = NULL;
}
