/* What a C program does with the library in its first hour: it frees filters at once, filters in
 * place, asks for edges of colours, and gets a member wrong. */
#include "core/grey.h"
#include "io_support.h"
#include "plan_support.h"

enum { BYTES = 4 * WIDTH * HEIGHT * sizeof(float) };
static unsigned char image[BYTES], expected[BYTES], place[2 * BYTES];

static void fill(int depth)
{
    for (size_t i = 0; i < BYTES / sizeof(float); i++)
        if (depth == 32)
            ((float *)(void *)image)[i] = (float)(i * 2654435761u % 255);
    for (size_t i = 0; depth != 32 && i < BYTES; i++)
        image[i] = (unsigned char)(i * 2654435761u >> 13);
}

static void run(const gconv_job *job, const void *from, size_t from_stride, void *to,
                size_t to_stride)
{
    OWNED_PLAN plan = planned(job);
    assert_succeeds(gconv_plan_run_memory(plan, from, from_stride, to, to_stride, NULL, &why));
}

/* ---- What a plan keeps ----------------------------------------------------------------------- */

TEST(filters_may_be_freed_at_once)
{
    static const char *const names[] = {"gauss5", "gaussian:3", "laplace3", "log:2"};
    fill(8);
    for (size_t i = 0; i < COUNT(names); i++)
        for (int reference = 0; reference < 2; reference++) {
            const gconv_filter **chain = malloc(2 * sizeof(gconv_filter *));
            gconv_filter *first, *second;
            first = load_filter(names[i]);
            second = load_filter("box:3");
            chain[0] = first;
            chain[1] = second;
            char device[] = "cpu", name[] = "reference";
            gconv_job job = job_of(chain, 2, shape_of(WIDTH, HEIGHT, 1, 8));
            job.device = device;
            if (reference == 1)
                job.implementation = name;
            run(&job, image, WIDTH, expected, WIDTH);
            OWNED_PLAN plan = planned(&job);
            memset(first->weights, 0xff, sizeof *first->weights);
            first->divisor = 0;
            device[0] = name[0] = '?';
            gconv_filter_free(first);
            gconv_filter_free(second);
            free(chain);
            assert_ok(gconv_plan_run_memory(plan, image, WIDTH, place, WIDTH, NULL, NULL));
            assert_memory_equal(place, expected, WIDTH * HEIGHT);
        }
}

/* ---- Overlapping images ---------------------------------------------------------------------- */

TEST(images_are_filtered_in_place)
{
    gconv_filter *filters[3];
    static const char *const names[] = {"gauss5", "gaussian:9", "laplace3"};
    for (int i = 0; i < 3; i++)
        filters[i] = load_filter(names[i]);
    filters[2]->anchor_y = 2; /* reaches upwards alone */
    for (int n = 0; n < 3 * 4 * 3 * GCONV_BORDER_COUNT; n++) {
        int channels = 1 + n / 3 % 4, depth = 8 << n / 12 % 3;
        gconv_job job = job_of((const gconv_filter *const *)&filters[n % 3], 1,
                               shape_of(WIDTH, HEIGHT, channels, depth));
        job.border = (gconv_border)(n / 36);
        job.threads = 1 + n % 4;
        job.offset = 3;
        size_t stride = gconv_shape_row_bytes(&job.input);
        fill(depth);
        run(&job, image, stride, expected, stride);
        memcpy(place, image, stride * HEIGHT);
        run(&job, place, stride, place, stride);
        if (memcmp(place, expected, stride * HEIGHT) != 0)
            fail_msg("%s, %d channels, depth %d, border %d", names[n % 3], channels, depth, n / 36);
        memcpy(place + 7 * stride, image, stride * HEIGHT); /* output rows above */
        run(&job, place + 7 * stride, stride, place, stride);
        assert_memory_equal(place, expected, stride * HEIGHT);
    }
    for (int i = 0; i < 3; i++)
        gconv_filter_free(filters[i]);
}

/* Many bands, which threads compute at one time. */
TEST(large_images_are_filtered_in_place)
{
    enum { SIDE = 1200, STRIDE = 3 * SIDE };
    static const char *const names[] = {"gauss5", "gaussian:9"};
    OWNED unsigned char *large = malloc(SIDE * STRIDE);
    OWNED unsigned char *apart = malloc(SIDE * STRIDE);
    for (int i = 0; i < 2; i++) {
        OWNED_FILTER filter = load_filter(names[i]);
        gconv_job job = job_of(CHAIN(filter), 1, shape_of(SIDE, SIDE, 3, 8));
        job.threads = 4;
        for (size_t at = 0; at < SIDE * STRIDE; at++)
            large[at] = (unsigned char)(at * 2654435761u >> 13);
        run(&job, large, STRIDE, apart, STRIDE);
        run(&job, large, STRIDE, large, STRIDE);
        assert_memory_equal(large, apart, SIDE * STRIDE);
    }
}

TEST(what_cannot_work_in_place_is_refused)
{
    gconv_job job = usual_job();
    OWNED_PLAN plan = planned(&job);
    fill(8);
    run(&job, image, WIDTH, expected, WIDTH);
    const struct {
        size_t from, from_stride, to, to_stride;
        bool good;
    } cases[] = {
        {0, WIDTH, 1, WIDTH, false},                    /* a byte behind */
        {0, WIDTH, WIDTH, WIDTH, false},                /* a row below */
        {0, WIDTH, (HEIGHT - 1) * WIDTH, WIDTH, false}, /* the last row */
        {0, WIDTH, 0, WIDTH + 1, false},                /* grows apart */
        {0, WIDTH, HEIGHT * WIDTH, WIDTH, true},        /* behind */
        {HEIGHT * WIDTH, WIDTH, 0, WIDTH, true},        /* before */
        {0, 2 * WIDTH, WIDTH, 2 * WIDTH, true},         /* side by side in a frame */
        {WIDTH, 2 * WIDTH, 0, 2 * WIDTH, true},
        {0, 2 * WIDTH, WIDTH - 1, 2 * WIDTH, true},  /* its own row */
        {0, 2 * WIDTH, WIDTH + 1, 2 * WIDTH, false}, /* a byte of the row below */
        {0, 2 * WIDTH, 0, WIDTH, true},              /* closes up */
        {WIDTH, WIDTH, 0, WIDTH, true},              /* a row above */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        memset(place, 7, sizeof place);
        for (size_t y = 0; y < HEIGHT; y++)
            memcpy(place + cases[i].from + y * cases[i].from_stride, image + y * WIDTH, WIDTH);
        gconv_status status =
            gconv_plan_run_memory(plan, place + cases[i].from, cases[i].from_stride,
                                  place + cases[i].to, cases[i].to_stride, NULL, &error);
        if (status != (cases[i].good ? GCONV_OK : GCONV_ERROR_ARGUMENT))
            fail_msg("case %zu: %d", i, (int)status);
        if (!cases[i].good)
            assert_contains(error.message, "overlaps");
        for (size_t y = 0; cases[i].good && y < HEIGHT; y++)
            assert_memory_equal(place + cases[i].to + y * cases[i].to_stride, expected + y * WIDTH,
                                WIDTH);
    }
}

/* ---- Grey ------------------------------------------------------------------------------------ */

/* Rule 7, of an image of one row. */
static void put_on_white(void *rows, size_t pixels, int channels, int depth)
{
    for (size_t i = 0; i < pixels * (size_t)channels; i++) {
        size_t alpha = i / (size_t)channels * (size_t)channels + (size_t)channels - 1;
        if (i == alpha)
            continue;
        if (depth == 32) {
            float *row = rows;
            double a = (double)row[alpha];
            row[i] = (float)((a * (double)row[i] + (255 - a) * 255) / 255);
        } else if (depth == 16) {
            uint16_t *row = rows;
            uint64_t a = row[alpha];
            row[i] = (uint16_t)((a * row[i] + (65535 - a) * 65535 + 32767) / 65535);
        } else {
            uint8_t *row = rows;
            unsigned int a = row[alpha];
            row[i] = (uint8_t)((a * row[i] + (255 - a) * 255 + 127) / 255);
        }
    }
}

TEST(edges_of_colours_are_edges_of_their_grey)
{
    static unsigned char grey[BYTES];
    for (int n = 0; n < 3 * 3 * 2; n++) {
        int channels = 2 + n % 3, depth = 8 << n / 3 % 3;
        bool is_bgr = n >= 9;
        gconv_shape shape = shape_of(WIDTH, HEIGHT, channels, depth);
        size_t stride = gconv_shape_row_bytes(&shape), grey_stride = (size_t)(WIDTH * depth / 8);
        fill(depth);
        memcpy(place, image, stride * HEIGHT);
        if (channels % 2 == 0)
            put_on_white(place, WIDTH * HEIGHT, channels, depth);
        for (size_t y = 0; y < HEIGHT; y++)
            gc_grey_row(place + y * stride, grey + y * grey_stride, WIDTH, channels, depth, is_bgr);
        gconv_job job = job_of(box_chain(), 1, shape_of(WIDTH, HEIGHT, 1, depth));
        job.output = GCONV_OUTPUT_EDGES;
        job.output_depth = 8;
        job.threshold = channels == 3 ? 126 : depth == 32 ? 212 : 185; /* the mean */
        run(&job, grey, grey_stride, expected, WIDTH);
        assert_non_null(memchr(expected, 0, WIDTH * HEIGHT));
        assert_non_null(memchr(expected, 255, WIDTH * HEIGHT));
        job.input = shape;
        job.order = is_bgr ? GCONV_ORDER_BGR : GCONV_ORDER_RGB;
        job.alpha = GCONV_ALPHA_AUTO; /* there is no alpha in grey */
        run(&job, image, stride, place, WIDTH);
        assert_memory_equal(place, expected, WIDTH * HEIGHT);
        memcpy(place, image, stride * HEIGHT);
        run(&job, place, stride, place, WIDTH);
        assert_memory_equal(place, expected, WIDTH * HEIGHT);
        OWNED_PLAN plan = planned(&job);
        gconv_difference difference;
        assert_int_equal(gconv_plan_compare(plan, image, stride, (float *)(void *)place,
                                            (float *)(void *)place, WIDTH * sizeof(float),
                                            &difference, NULL),
                         GCONV_ERROR_UNSUPPORTED);
    }
}

/* Of rows of every length, with extreme samples; nothing beyond a row is read or written. */
TEST(grey_of_bytes_is_their_luma)
{
    static const uint8_t samples[] = {0, 255, 1, 128, 254, 127};
    for (uint32_t width = 1; width <= 50; width++)
        for (int n = 0; n < 4; n++) {
            size_t channels = n < 2 ? 3 : 4, red = n % 2 != 0 ? 2 : 0, row_bytes = width * channels;
            uint8_t *row = malloc(row_bytes), *grey = malloc(width);
            for (size_t i = 0; i < row_bytes; i++)
                row[i] = i % 7 < 5 ? samples[rand() % 6] : (uint8_t)rand();
            gc_grey_row(row, grey, width, (int)channels, 8, red == 2);
            for (size_t x = 0; x < width; x++) {
                const uint8_t *pixel = row + x * channels;
                assert_int_equal(grey[x], gc_luma(pixel[red], pixel[1], pixel[2 - red]));
            }
            free(row);
            free(grey);
        }
}

/* ---- Depths and messages --------------------------------------------------------------------- */

TEST(output_has_the_depth_of_the_input)
{
    for (int depth = 8; depth <= 32; depth *= 2) {
        gconv_job job = gconv_job_default();
        job.filters = box_chain();
        job.filter_count = 1;
        job.input = shape_of(3, 2, 3, depth);
        OWNED_PLAN plan = planned(&job);
        assert_int_equal(gconv_plan_output_shape(plan)->depth, depth);
    }
}

static void says(gconv_job job, const char *message)
{
    gconv_error error;
    assert_invalid(gconv_job_check(&job, &error));
    assert_string_equal(error.message, message);
}

TEST(messages_say_what_is_possible)
{
    gconv_job good = usual_job();
    const gconv_tiling large =
        WITH(gconv_tiling_default(), it.block_width = 33, it.block_height = 32);
    says(WITH(good, it.input.depth = 24), "depth 24: 8, 16 or 32 are possible");
    says(WITH(good, it.input.depth = 1), "depth 1: 8, 16 or 32 are possible");
    says(WITH(good, it.output_depth = 12), "output depth 12: 1, 8, 16 or 32 are possible");
    says(WITH(good, it.input.channels = 5), "channels 5: 1 to 4 are possible");
    says(WITH(good, it.input.width = 0), "width 0: 1 to 2147483647 are possible");
    says(WITH(good, it.input.height = UINT32_MAX),
         "height 4294967295: 1 to 2147483647 are possible");
    says(WITH(good, it.border = (gconv_border)GCONV_BORDER_COUNT), "border 5: 0 to 4 are possible");
    says(WITH(good, it.order = (gconv_order)2), "order 2: 0 to 1 are possible");
    says(WITH(good, it.tiling = &large),
         "a block of 33x32 threads: 1 to 1024 threads are possible, or 0x0");
    gconv_writer *writer;
    gconv_writer_options options = writing_as(GCONV_FORMAT_JPEG);
    options.shape = shape_of(1, 1, 1, 16);
    assert_invalid(gconv_writer_open("none", &options, &writer, &error));
    assert_string_equal(error.message, "jpeg: depth 16: 8 is possible");
    options.format = gconv_format_from_path("image.gif");
    assert_invalid(gconv_writer_open("none", &options, &writer, &error));
    assert_non_null(strstr(error.message, "unknown output format: png, jpeg, pgm, "));
    assert_non_null(strstr(error.message, " are possible"));
}

/* ---- One call -------------------------------------------------------------------------------- */

TEST(memory_is_filtered_in_one_call)
{
    fill(8);
    gconv_job job = job_of(box_chain(), 1, shape_of(WIDTH, HEIGHT, 3, 8));
    run(&job, image, 3 * WIDTH, expected, 3 * WIDTH);
    memcpy(place, image, 3 * WIDTH * HEIGHT);
    assert_ok(gconv_filter_memory(place, place, WIDTH, HEIGHT, 3, box_chain()[0], NULL, &error));
    assert_memory_equal(place, expected, 3 * WIDTH * HEIGHT);
    job = gconv_job_default();
    job.border = GCONV_BORDER_WRAP;
    assert_ok(gconv_filter_memory(image, place, WIDTH, HEIGHT, 3, box_chain()[0], &job, &error));
    assert_memory_not_equal(place, expected, 3 * WIDTH * HEIGHT);
    assert_invalid(
        gconv_filter_memory(image, place, WIDTH, HEIGHT, 5, box_chain()[0], NULL, &error));
    assert_invalid(gconv_filter_memory(image, place, WIDTH, HEIGHT, 3, NULL, NULL, &error));
}

/* Writes the image as PNG, and calls for it and another file. */
static void convert(const gconv_shape *shape, const char *out, bool edges)
{
    gconv_error error;
    gconv_writer_options options = writing_as(GCONV_FORMAT_PNG);
    options.shape = *shape;
    gconv_writer *writer = opened_writer("in.png", &options);
    assert_ok(gconv_writer_write(writer, shape->height, image, gconv_shape_row_bytes(shape), NULL));
    assert_ok(gconv_writer_finish(writer, NULL));
    gconv_writer_free(writer);
    gconv_job job = gconv_job_default();
    job.filters = box_chain();
    job.filter_count = 1;
    job.threshold = 190;
    job.output_depth = 8;
    gconv_status status = edges ? gconv_edges_file("in.png", out, &job, &error)
                                : gconv_filter_file("in.png", out, box_chain()[0], &job, &error);
    if (status != GCONV_OK)
        fail_msg("%s", error.message);
}

static void compare_file(const char *name, int channels)
{
    OWNED_READER reader = opened_reader(name, NULL);
    assert_int_equal(gconv_reader_shape(reader)->channels, channels);
    size_t stride = (size_t)(WIDTH * channels);
    assert_ok(gconv_reader_read(reader, HEIGHT, place, stride, NULL));
    assert_memory_equal(place, expected, stride * HEIGHT);
}

/* Alpha is treated as its pixels are: `auto` of the program. What the output cannot hold is put on
 * white. */
TEST(files_with_alpha_are_filtered_in_one_call)
{
    const gconv_shape shape = shape_of(WIDTH, HEIGHT, 4, 8);
    gconv_job job = job_of(box_chain(), 1, shape);
    for (int opaque = 0; opaque < 2; opaque++) {
        fill(8);
        for (size_t i = 3; opaque == 1 && i < BYTES; i += 4)
            image[i] = 255;
        job.alpha = opaque == 1 ? GCONV_ALPHA_KEEP : GCONV_ALPHA_PREMULTIPLY;
        run(&job, image, 4 * WIDTH, expected, 4 * WIDTH);
        convert(&shape, "out.png", false);
        compare_file("out.png", 4);
    }
    fill(8);
    convert(&shape, "out.ppm", false);
    convert(&shape, "edges.png", true);
    put_on_white(image, WIDTH * HEIGHT, 4, 8);
    for (size_t i = 0; i < WIDTH * HEIGHT; i++)
        memmove(image + 3 * i, image + 4 * i, 3);
    job.input.channels = 3;
    run(&job, image, 3 * WIDTH, expected, 3 * WIDTH);
    compare_file("out.ppm", 3);
    job.output = GCONV_OUTPUT_EDGES;
    job.threshold = 190;
    run(&job, image, 3 * WIDTH, expected, WIDTH);
    compare_file("edges.png", 1);
    assert_invalid(gconv_filter_file("in.png", "none.png", NULL, NULL, &error));
    assert_int_equal(symlink("in.png", "link.png"), 0);
    assert_int_equal(gconv_edges_file("in.png", "link.png", NULL, &error), GCONV_ERROR_EXISTS);
}

const test_suite suite = {.setup = enter_scratch, .teardown = remove_scratch};
