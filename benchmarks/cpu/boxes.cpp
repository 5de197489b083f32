// Means of boxes in memory by several builds of gconv, OpenCV's blur and IPP's FilterBoxBorder, in
// turns on one thread: 2048 x 1536 pixels of noise, border replicate. Prints medians of processor
// time in milliseconds, and how many samples differ from those of the first contender.
//
// usage: benchmark_boxes CONTENDER...
//     LIBRARY[@SET]  a libgconv.so, with GCONV_INSTRUCTIONS=SET
//     opencv
//     ipp            found by LD_LIBRARY_PATH, which has its parts as libipp*.so.12 and .so.12.1
#include <gconv.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <dlfcn.h>
#include <functional>
#include <opencv2/imgproc.hpp>
#include <string>
#include <vector>

namespace
{

const int width = 2048, height = 1536, turns = 11;

struct job {
    int side, channels, depth;
    cv::Mat in;
};

struct contender {
    std::string name;
    std::function<void()> run;
    cv::Mat out;
    std::vector<double> times;
};

double seconds_now()
{
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

[[noreturn]] void stop(const std::string &why)
{
    std::fprintf(stderr, "%s\n", why.c_str());
    std::exit(1);
}

template <typename F> F *symbol(void *library, const std::string &name)
{
    void *found = library != nullptr ? dlsym(library, name.c_str()) : nullptr;
    if (found == nullptr)
        stop("no " + name);
    return reinterpret_cast<F *>(found);
}

void prepare_gconv(const job &j, contender &c)
{
    static const std::vector<double> ones(256, 1.0);
    size_t at = c.name.find('@');
    void *library = dlopen(c.name.substr(0, at).c_str(), RTLD_NOW | RTLD_LOCAL);
    auto *init = symbol<decltype(gconv_job_init)>(library, "gconv_job_init");
    auto *create = symbol<decltype(gconv_plan_create)>(library, "gconv_plan_create");
    auto *run = symbol<decltype(gconv_plan_run_memory)>(library, "gconv_plan_run_memory");
    gconv_filter filter = gconv_filter();
    filter.width = filter.height = j.side;
    filter.anchor_x = filter.anchor_y = j.side / 2;
    filter.divisor = (double)j.side * j.side;
    filter.row = filter.column = const_cast<double *>(ones.data());
    const gconv_filter *chain[] = {&filter};
    gconv_job plain;
    init(&plain, sizeof plain);
    plain.filters = chain;
    plain.filter_count = plain.threads = 1;
    plain.implementation = "cpu";
    plain.alpha = GCONV_ALPHA_KEEP;
    plain.border = GCONV_BORDER_REPLICATE;
    plain.input = {(uint32_t)width, (uint32_t)height, j.channels, j.depth};
    plain.output_depth = j.depth;
    if (at == std::string::npos)
        unsetenv("GCONV_INSTRUCTIONS");
    else
        setenv("GCONV_INSTRUCTIONS", c.name.c_str() + at + 1, 1);
    gconv_plan *plan;
    gconv_error error;
    if (create(&plain, &plan, &error) != GCONV_OK)
        stop(error.message);
    c.run = [&j, &c, plan, run] {
        run(plan, j.in.data, j.in.step, c.out.data, c.out.step, nullptr, nullptr);
    };
}

struct ipp_size {
    int width, height;
};

void prepare_ipp(const job &j, contender &c)
{
    void *parts = nullptr;
    for (const char *name :
         {"libippcore.so.12", "libippvm.so.12", "libipps.so.12", "libippi.so.12"}) {
        parts = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
        if (std::string(name) == "libippcore.so.12")
            symbol<int()>(parts, "ippInit")();
    }
    auto *size =
        symbol<int(ipp_size, ipp_size, int, int, int *)>(parts, "ippiFilterBoxBorderGetBufferSize");
    auto *run =
        symbol<int(const void *, int, void *, int, ipp_size, ipp_size, int, const void *, void *)>(
            parts, "ippiFilterBoxBorder_" + std::to_string(j.depth) + "u_C" +
                       std::to_string(j.channels) + "R");
    const int type = j.depth == 8 ? 1 : 5, replicate = 1;
    int bytes = 0;
    size({width, height}, {j.side, j.side}, type, j.channels, &bytes);
    void *room = aligned_alloc(64, ((size_t)bytes + 127) / 64 * 64);
    c.run = [&j, &c, run, room] {
        static const uint16_t border[4] = {0};
        run(j.in.data, (int)j.in.step, c.out.data, (int)c.out.step, {width, height},
            {j.side, j.side}, replicate, border, room);
    };
}

size_t different(const cv::Mat &a, const cv::Mat &b)
{
    cv::Mat off;
    cv::compare(a.reshape(1), b.reshape(1), off, cv::CMP_NE);
    return (size_t)cv::countNonZero(off);
}

void race(job &j, int count, char **names)
{
    const int type = CV_MAKETYPE(j.depth == 8 ? CV_8U : CV_16U, j.channels);
    j.in.create(height, width, type);
    cv::randu(j.in, 0, j.depth == 8 ? 256 : 65536);
    std::vector<contender> all((size_t)count);
    for (size_t i = 0; i < all.size(); i++) {
        contender &c = all[i];
        c.name = names[i];
        c.out.create(height, width, type);
        if (c.name == "opencv")
            c.run = [&j, &c] {
                cv::blur(j.in, c.out, {j.side, j.side}, {-1, -1}, cv::BORDER_REPLICATE);
            };
        else if (c.name == "ipp")
            prepare_ipp(j, c);
        else
            prepare_gconv(j, c);
        c.run();
    }
    for (int n = 0; n < turns; n++)
        for (contender &c : all) {
            double start = seconds_now();
            c.run();
            c.times.push_back(seconds_now() - start);
        }
    std::printf("%3dx%-3d %d channels, %2d bits:", j.side, j.side, j.channels, j.depth);
    for (contender &c : all) {
        std::nth_element(c.times.begin(), c.times.begin() + turns / 2, c.times.end());
        std::printf(" %7.2f (%zu)", 1e3 * c.times[turns / 2], different(c.out, all[0].out));
    }
    std::printf("\n");
    std::fflush(stdout);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2)
        stop("usage: benchmark_boxes CONTENDER...");
    cv::setNumThreads(1);
    for (int depth : {8, 16})
        for (int channels : {1, 3, 4})
            for (int side : {3, 5, 7, 15, 31, 63, 255}) {
                job j = {side, channels, depth, cv::Mat()};
                race(j, argc - 1, argv + 1);
            }
    return 0;
}
