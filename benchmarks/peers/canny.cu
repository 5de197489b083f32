/* Canny of gconv beside NPP's, from bytes on the device: to bits, and to bytes.
 *
 *     gconv_canny IMAGE... [--repeats N]
 *
 * Each IMAGE is read by gconv, as grey of 8 bits. Times are medians of runs between two events,
 * over copies of the image that the cache does not hold together. gconv is timed with its blur and
 * like OpenCV, which blurs not, as NPP. Output of gconv is compared with that of its reference. */
#include "gconv.h"
#include "npp.cuh"

#include <algorithm>
#include <cstdlib>
#include <cstring>

bool peers_npp_context(cudaStream_t stream, NppStreamContext *context);

enum { COPIES = 10 };

static int repeats = 60;

struct picture {
    gconv_shape shape;
    std::vector<unsigned char> samples;
    unsigned char *inputs[COPIES], *output, *scratch;
    cudaStream_t stream;
    cudaEvent_t begin, end;
};

static bool failed(const gconv_error &error)
{
    return peers_fail("gconv: %s", error.message);
}

static bool load(const char *name, picture *p)
{
    gconv_error error;
    gconv_reader *reader;
    gconv_reader_options options = gconv_reader_options_default();
    if (gconv_reader_open(name, &options, &reader, &error) != GCONV_OK)
        return failed(error);
    p->shape = *gconv_reader_shape(reader);
    size_t row = gconv_shape_row_bytes(&p->shape);
    p->samples.resize(row * p->shape.height);
    gconv_status status =
        gconv_reader_read(reader, p->shape.height, p->samples.data(), row, &error);
    gconv_reader_free(reader);
    if (status != GCONV_OK)
        return failed(error);
    if (p->shape.channels != 1 || p->shape.depth != 8 || p->shape.width % 128 != 0)
        return peers_fail("%s: grey of 8 bits and of a multiple of 128 columns is needed", name);
    for (unsigned char *&input : p->inputs) {
        PEERS_CUDA(cudaMalloc(&input, p->samples.size()));
        PEERS_CUDA(cudaMemcpy(input, p->samples.data(), p->samples.size(), cudaMemcpyHostToDevice));
    }
    PEERS_CUDA(cudaMalloc(&p->output, p->samples.size()));
    PEERS_CUDA(cudaStreamCreate(&p->stream));
    PEERS_CUDA(cudaEventCreate(&p->begin));
    PEERS_CUDA(cudaEventCreate(&p->end));
    return true;
}

/* Prints the median time of `launch`, which works on an input. */
template <class work> static bool measure(const picture &p, const char *name, const work &launch)
{
    std::vector<float> times;
    for (int i = 0; i < repeats + 5; ++i) {
        float milliseconds;
        PEERS_CUDA(cudaEventRecord(p.begin, p.stream));
        if (!launch(p.inputs[i % COPIES]))
            return false;
        PEERS_CUDA(cudaEventRecord(p.end, p.stream));
        PEERS_CUDA(cudaStreamSynchronize(p.stream));
        PEERS_CUDA(cudaEventElapsedTime(&milliseconds, p.begin, p.end));
        if (i >= 5)
            times.push_back(milliseconds);
    }
    std::sort(times.begin(), times.end());
    printf("%-44s %8.1f us\n", name, 1e3 * (double)times[times.size() / 2]);
    return true;
}

/* ---- gconv ----------------------------------------------------------------------------------- */

struct wish {
    gconv_norm norm;
    gconv_likeness like;
    double low;
    int depth;
};

static bool make_plan(const picture &p, const wish &w, const char *implementation,
                      gconv_plan **plan)
{
    gconv_error error;
    gconv_job job = gconv_job_default();
    gconv_detector detector = gconv_detector_default();
    gconv_filter *filter;
    detector.method = GCONV_METHOD_CANNY;
    detector.norm = w.norm;
    detector.like = w.like;
    detector.low = w.low;
    detector.high = 2 * w.low;
    const char *name = w.like == GCONV_LIKE_OPENCV ? "identity" : "gauss5";
    if (gconv_filter_load(name, &filter, &error) != GCONV_OK)
        return failed(error);
    job.detector = &detector;
    job.filters = (const gconv_filter *const *)&filter;
    job.filter_count = 1;
    job.input = p.shape;
    job.output = GCONV_OUTPUT_EDGES;
    job.output_depth = w.depth;
    job.border = GCONV_BORDER_REPLICATE;
    job.implementation = implementation;
    gconv_status status = gconv_plan_create(&job, plan, &error);
    gconv_filter_free(filter);
    return status == GCONV_OK || failed(error);
}

static bool time_gconv(const picture &p, const wish &w)
{
    gconv_plan *plan, *judge;
    gconv_error error;
    if (!make_plan(p, w, "detector", &plan) || !make_plan(p, w, "cpu", &judge))
        return false;
    size_t row = gconv_shape_row_bytes(gconv_plan_output_shape(plan));
    std::vector<unsigned char> right(row * p.shape.height), got(right.size());
    char name[128];
    snprintf(name, sizeof name, "gconv%s, %s, %g/%g, to %d bit",
             w.like == GCONV_LIKE_OPENCV ? " like OpenCV" : "",
             w.norm == GCONV_NORM_L2 ? "L2" : "L1", w.low, 2 * w.low, w.depth);
    auto launch = [&](const unsigned char *input) {
        return gconv_plan_run_device(plan, input, p.shape.width, p.output, row, p.stream, &error) ==
                   GCONV_OK ||
               failed(error);
    };
    if (gconv_plan_run_memory(judge, p.samples.data(), p.shape.width, right.data(), row, nullptr,
                              &error) != GCONV_OK)
        return failed(error);
    bool good = measure(p, name, launch);
    PEERS_CUDA(cudaMemcpy(got.data(), p.output, got.size(), cudaMemcpyDeviceToHost));
    gconv_plan_free(plan);
    gconv_plan_free(judge);
    return good && (got == right || peers_fail("%s: the output is wrong", name));
}

/* ---- NPP ------------------------------------------------------------------------------------- */

static bool time_npp(picture *p, NppiNorm norm, double low)
{
    NppStreamContext context;
    NppiSize size = {(int)p->shape.width, (int)p->shape.height};
    int bytes, step = size.width;
    char name[128];
    NPP(nppiFilterCannyBorderGetBufferSize(size, &bytes));
    PEERS_CUDA(cudaMalloc(&p->scratch, (size_t)bytes));
    snprintf(name, sizeof name, "NPP, %s, %g/%g, to a byte", norm == nppiNormL2 ? "L2" : "L1", low,
             2 * low);
    auto launch = [&](const unsigned char *input) {
        NPP(nppiFilterCannyBorder_8u_C1R_Ctx(
            input, step, size, {0, 0}, p->output, step, size, NPP_FILTER_SOBEL, NPP_MASK_SIZE_3_X_3,
            (Npp16s)low, (Npp16s)(2 * low), norm, NPP_BORDER_REPLICATE, p->scratch, context));
        return true;
    };
    bool good = peers_npp_context(p->stream, &context) && measure(*p, name, launch);
    cudaFree(p->scratch);
    return good;
}

static bool time_all(picture *p)
{
    for (double low : {100.0, 50.0}) {
        for (gconv_norm norm : {GCONV_NORM_L1, GCONV_NORM_L2})
            if (!time_gconv(*p, {norm, GCONV_LIKE_NONE, low, 1}) ||
                !time_gconv(*p, {norm, GCONV_LIKE_OPENCV, low, 1}))
                return false;
        if (!time_gconv(*p, {GCONV_NORM_L1, GCONV_LIKE_OPENCV, low, 8}) ||
            !time_npp(p, nppiNormL1, low) || !time_npp(p, nppiNormL2, low))
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    bool good = argc > 1;
    for (int i = 1; i < argc; ++i) {
        picture p = {};
        if (strcmp(argv[i], "--repeats") == 0 && i + 1 < argc) {
            repeats = std::max(1, atoi(argv[++i]));
            continue;
        }
        printf("%s\n", argv[i]);
        good = load(argv[i], &p) && time_all(&p) && good;
        for (unsigned char *input : p.inputs)
            cudaFree(input);
        cudaFree(p.output);
    }
    return good ? 0 : 1;
}
