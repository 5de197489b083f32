/* Frames of a camera: edges of 1920x1080 grey pixels of 8 bits, from memory to memory, by one thread.
 * A plan of gconv runs on each frame, beside OpenCV with the same Gaussian, Laplacian and threshold,
 * and beside Canny of both. In turns, processor time.
 *
 *     c++ -O3 -march=native -I include -I /usr/include/opencv4 benchmarks/camera.cpp -o camera \
 *       -L build -Wl,-rpath,build -lgconv -lopencv_core -lopencv_imgproc
 *     camera [FRAME.pgm [ROUNDS]]     a picture of 1920x1080 pixels; made up without it
 *
 * GCONV_INSTRUCTIONS=avx2 keeps gconv to AVX2; OPENCV_CPU_DISABLE=AVX512-SKX does so for OpenCV. */
#include "gconv.h"

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

enum { WIDTH = 1920, HEIGHT = 1080 };

static double milliseconds()
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static void check(gconv_status status, const gconv_error &error)
{
    if (status == GCONV_OK)
        return;
    fprintf(stderr, "camera: %s\n", error.message);
    exit(1);
}

static gconv_plan *plan_of(bool canny)
{
    static const char *const names[] = {"gauss5", "laplace3", "identity"};
    gconv_filter *filters[3] = {NULL, NULL, NULL};
    gconv_error error;
    gconv_plan *plan = NULL;
    gconv_job job = gconv_job_default();
    gconv_detector detector = gconv_detector_default();
    for (int i = 0; i < 3; i++)
        check(gconv_filter_load(names[i], &filters[i], &error), error);
    job.input = gconv_shape{WIDTH, HEIGHT, 1, 8};
    job.device = "cpu";
    job.threads = 1;
    job.output = GCONV_OUTPUT_EDGES;
    if (canny) {
        detector.method = GCONV_METHOD_CANNY;
        detector.like = GCONV_LIKE_OPENCV;
        detector.low = 100;
        detector.high = 200;
        job.detector = &detector;
        job.border = GCONV_BORDER_REPLICATE;
    }
    /* As `gconv edges` does. */
    job.filters = (const gconv_filter *const *)filters + (canny ? 2 : 0);
    job.filter_count = canny ? 1 : 2;
    check(gconv_plan_create(&job, &plan, &error), error);
    for (gconv_filter *filter : filters)
        gconv_filter_free(filter);
    return plan;
}

/* Shades with noise. */
static cv::Mat make_frame()
{
    cv::Mat frame(HEIGHT, WIDTH, CV_8UC1);
    uint32_t noise = 1;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            noise = noise * 1664525U + 1013904223U;
            int disc = (x % 240 - 120) * (x % 240 - 120) + (y % 180 - 90) * (y % 180 - 90);
            frame.at<uint8_t>(y, x) =
                (uint8_t)((disc < 4900 ? 150 : 60) + x * 40 / WIDTH + (int)(noise >> 30));
        }
    return frame;
}

static cv::Mat load_frame(const char *path)
{
    gconv_error error;
    gconv_reader *reader;
    cv::Mat frame(HEIGHT, WIDTH, CV_8UC1);
    check(gconv_reader_open(path, NULL, &reader, &error), error);
    check(gconv_reader_read(reader, HEIGHT, frame.data, WIDTH, &error), error);
    gconv_reader_free(reader);
    return frame;
}

/* What gconv computes, in float: the weights are those of gauss5 and laplace3. */
static void find_edges(const cv::Mat &frame, cv::Mat &edges)
{
    static const float weights[] = {2, 4, 5, 4, 2};
    static cv::Mat smooth, response, size;
    cv::Mat side(5, 1, CV_32F, const_cast<float *>(weights));
    cv::sepFilter2D(frame, smooth, CV_32F, side, side, cv::Point(-1, -1), 0, cv::BORDER_REFLECT);
    cv::Laplacian(smooth, response, CV_32F, 1, 1, 0, cv::BORDER_REFLECT);
    size = cv::abs(response);
    cv::threshold(size, response, 5 * 289, 255, cv::THRESH_BINARY);
    response.convertTo(edges, CV_8U);
}

/* The fastest that OpenCV has: levels of 8 bits between the steps, so other edges. */
static void find_edges_of_levels(const cv::Mat &frame, cv::Mat &edges)
{
    static cv::Mat smooth, response, size;
    cv::GaussianBlur(frame, smooth, cv::Size(5, 5), 0, 0, cv::BORDER_REFLECT);
    cv::Laplacian(smooth, response, CV_16S, 1, 1, 0, cv::BORDER_REFLECT);
    cv::convertScaleAbs(response, size);
    cv::threshold(size, edges, 5, 255, cv::THRESH_BINARY);
}

struct contender {
    const char *name;
    std::function<void()> run;
    std::vector<double> times;
};

static double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/* The first of them is gconv. */
static void compare(std::vector<contender> all, int rounds)
{
    for (int n = -3; n < rounds; n++) /* three are not counted */
        for (contender &c : all) {
            double start = milliseconds();
            c.run();
            if (n >= 0)
                c.times.push_back(milliseconds() - start);
        }
    for (const contender &c : all) {
        std::vector<double> ratios;
        for (size_t n = 0; n < c.times.size(); n++)
            ratios.push_back(all[0].times[n] / c.times[n]);
        printf("%-40s %7.3f ms   gconv takes %4.2f of it\n", c.name, median(c.times),
               median(ratios));
    }
}

int main(int count, char **arguments)
{
    cv::Mat frame = count > 1 ? load_frame(arguments[1]) : make_frame(), found, expected;
    int rounds = count > 2 ? atoi(arguments[2]) : 101;
    gconv_plan *edges = plan_of(false), *canny = plan_of(true);
    cv::setNumThreads(1);
    found.create(HEIGHT, WIDTH, CV_8UC1);
    auto run = [&](gconv_plan *plan) {
        gconv_error error;
        check(gconv_plan_run_memory(plan, frame.data, WIDTH, found.data, WIDTH, NULL, &error),
              error);
    };
    run(edges);
    find_edges(frame, expected);
    printf("of %d pixels %d differ in float, ", WIDTH * HEIGHT,
           cv::countNonZero(found != expected));
    find_edges_of_levels(frame, expected);
    printf("%d with levels between the steps; ", cv::countNonZero(found != expected));
    run(canny);
    cv::Canny(frame, expected, 100, 200);
    printf("%d of Canny\n", cv::countNonZero(found != expected));
    compare({{"edges: gconv", [&] { run(edges); }, {}},
             {"edges: OpenCV, float", [&] { find_edges(frame, expected); }, {}},
             {"edges: OpenCV, 8 bits between the steps",
              [&] { find_edges_of_levels(frame, expected); },
              {}}},
            rounds);
    compare({{"Canny: gconv", [&] { run(canny); }, {}},
             {"Canny: OpenCV", [&] { cv::Canny(frame, expected, 100, 200); }, {}}},
            rounds);
    gconv_plan_free(edges);
    gconv_plan_free(canny);
    return 0;
}
