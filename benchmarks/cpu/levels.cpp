// Gaussians on 8 bits beside OpenCV's GaussianBlur: grey, RGB and opaque RGBA of 4096 x 4096 in
// memory, border mirror. Weights are real, or the whole numbers 1 2 .. 2 1 as a column and a row.
// The contenders take turns. Each time is the least of many.
//
// All samples of gconv are compared with those of the reference, which rounds right. The last
// column says how many of OpenCV's differ from that.
//
// usage: benchmark_levels [SIDE] [--alone]
//     SIDE     this filter size only
//     --alone  one thread, and its processor time: for a machine that others use too
#include <gconv.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <opencv2/imgproc.hpp>
#include <vector>

namespace
{

const int size = 4096, turns = 25, side_max = 31;
bool alone;

double seconds_now()
{
    timespec now;
    clock_gettime(alone ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// OpenCV's own choice for a side, a little larger, so that it does not take its table of weights
// that are parts of a power of 2.
double sigma_of(int side)
{
    return 0.3 * ((side - 1) * 0.5 - 1) + 0.83;
}

struct ours {
    float weights[side_max * side_max];
    gconv_filter filter;
    const gconv_filter *chain[1];
    gconv_plan *plan;
};

void stop(const gconv_error &error)
{
    std::fprintf(stderr, "gconv: %s\n", error.message);
    std::exit(1);
}

gconv_plan *plan_of(const ours &o, int channels, const cv::Mat &image, const char *implementation)
{
    gconv_job job = gconv_job_default();
    job.filters = o.chain;
    job.filter_count = 1;
    job.implementation = implementation;
    job.threads = alone ? 1 : 0;
    job.alpha = GCONV_ALPHA_KEEP;
    job.input.width = (uint32_t)image.cols;
    job.input.height = (uint32_t)image.rows;
    job.input.channels = channels;
    job.input.depth = job.output_depth = 8;
    gconv_plan *plan;
    gconv_error error;
    if (gconv_plan_create(&job, &plan, &error) != GCONV_OK)
        stop(error);
    return plan;
}

void prepare(ours &o, int side, bool whole, int channels, const cv::Mat &image)
{
    cv::Mat row = cv::getGaussianKernel(side, sigma_of(side), CV_64F);
    double sum = 0;
    for (int i = 0; i < side * side; i++) {
        int x = i % side, y = i / side;
        int near_x = x <= side / 2 ? x : side - 1 - x, near_y = y <= side / 2 ? y : side - 1 - y;
        double real = row.at<double>(x) * row.at<double>(y);
        o.weights[i] = (float)(whole ? (1 + near_x) * (1 + near_y) : real);
        sum += o.weights[i];
    }
    o.filter = gconv_filter();
    o.filter.width = o.filter.height = side;
    o.filter.anchor_x = o.filter.anchor_y = side / 2;
    o.filter.divisor = whole ? sum : 1;
    o.filter.weights = o.weights;
    o.chain[0] = &o.filter;
    o.plan = plan_of(o, channels, image, "cpu");
}

void run(gconv_plan *plan, const cv::Mat &in, cv::Mat &out)
{
    gconv_error error;
    if (gconv_plan_run_memory(plan, in.data, in.step, out.data, out.step, nullptr, &error) !=
        GCONV_OK)
        stop(error);
}

// Some rows at the top of the image. Those whose filter stays inside are the same in the whole one.
size_t different(const ours &o, const cv::Mat &in, const cv::Mat &out, int side)
{
    cv::Mat part = in.rowRange(0, 96).clone(), wanted(part.size(), part.type());
    gconv_plan *plan = plan_of(o, in.channels(), part, "reference");
    run(plan, part, wanted);
    gconv_plan_free(plan);
    size_t count = 0;
    for (int y = 0; y < part.rows - side; y++)
        for (int i = 0; i < part.cols * part.channels(); i++) {
            bool alpha = part.channels() == 4 && i % 4 == 3;
            count += !alpha && wanted.ptr(y)[i] != out.ptr(y)[i];
        }
    return count;
}

double turn(double least, double start)
{
    double seconds = seconds_now() - start;
    return seconds < least ? seconds : least;
}

// False if a sample of gconv is wrong.
bool race(int side, int channels)
{
    cv::Mat in(size, size, CV_8UC(channels)), out(in.size(), in.type()), theirs;
    cv::randu(in, 0, 256);
    static ours real, whole;
    prepare(real, side, false, channels, in);
    prepare(whole, side, true, channels, in);
    run(whole.plan, in, out);
    size_t wrong = different(whole, in, out, side);
    double seconds[3] = {INFINITY, INFINITY, INFINITY};
    for (int n = 0; n < turns; n++) {
        double start = seconds_now();
        run(whole.plan, in, out);
        seconds[1] = turn(seconds[1], start);
        start = seconds_now();
        run(real.plan, in, out);
        seconds[0] = turn(seconds[0], start);
        start = seconds_now();
        cv::GaussianBlur(in, theirs, cv::Size(side, side), sigma_of(side), sigma_of(side),
                         cv::BORDER_REFLECT);
        seconds[2] = turn(seconds[2], start);
    }
    wrong += different(real, in, out, side);
    size_t off = different(real, in, theirs, side);
    std::printf("%2dx%-2d %d %8.2f %8.2f %8.2f %8.2f %8.2f %8.2f %%\n", side, side, channels,
                1e3 * seconds[0], 1e3 * seconds[1], 1e3 * seconds[2], seconds[0] / seconds[2],
                seconds[1] / seconds[2], 100.0 * (double)off / ((96.0 - side) * size * channels));
    if (wrong > 0)
        std::printf("%zu samples of gconv are WRONG\n", wrong);
    std::fflush(stdout);
    gconv_plan_free(real.plan);
    gconv_plan_free(whole.plan);
    return wrong == 0;
}

} // namespace

int main(int argc, char **argv)
{
    static const int sides[] = {3, 5, 7, 9, 11, 15, 21, 31}, kinds[] = {1, 3, 4};
    int only = 0;
    for (int i = 1; i < argc; i++) {
        alone = alone || std::strcmp(argv[i], "--alone") == 0;
        only = std::atoi(argv[i]) > 0 ? std::atoi(argv[i]) : only;
    }
    if (alone)
        cv::setNumThreads(1);
    std::printf("%s\n%dx%d, %s; ms\n", gconv_build_description(), size, size,
                alone ? "one thread, processor time" : "all threads, the time that passes");
    std::printf("side channels real    whole   OpenCV  real/CV whole/CV  OpenCV off\n");
    bool right = true;
    for (int side : sides)
        for (int channels : kinds)
            if (only == 0 || only == side)
                right = race(side, channels) && right;
    return right ? 0 : 1;
}
