/* The strongest peer of gpu_files.sh: what one would write in a day on nvJPEG's hardware decoder,
 * NPP and all cores.
 *
 *     files_nvjpeg [-b BATCH] decode FILE...            decode to luma, nothing more: the floor
 *     files_nvjpeg [-b BATCH] edges DIR FILE...         5x5 Gaussian, Laplacian, threshold 5, to
 *                                                       PNG of 1 bit
 *     files_nvjpeg [-b BATCH] gaussian:8 DIR FILE...    by a row and a column, RGB, to JPEG
 *     files_nvjpeg [-b BATCH] log:5,43 DIR FILE...      by all 43x43 weights, RGB, to JPEG
 *
 * BATCH images (64) are decoded by one call. Three batches are under way: while one is decoded and
 * filtered, another is encoded and the third is read. 16 threads read and encode. PNG is written at
 * level 1 with Z_RLE, JPEG with quality 90. Samples between two calls of NPP have 8 bits; borders
 * are replicated. A file that the decoder refuses is named and left out: the exit status is then
 * 1. */
#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime.h>
#include <jpeglib.h>
#include <npp.h>
#include <nvjpeg.h>
#include <png.h>
#include <zlib.h>

namespace
{

constexpr int worker_count = 16, slot_count = 3, default_batch = 64;
constexpr int edges_threshold = 5;

[[noreturn]] void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    std::fputs("files_nvjpeg: ", stderr);
    std::vfprintf(stderr, format, arguments);
    std::fputs("\n", stderr);
    va_end(arguments);
    std::_Exit(2);
}

#define CUDA(call)                                                                                 \
    do {                                                                                           \
        cudaError_t status_ = (call);                                                              \
        if (status_ != cudaSuccess)                                                                \
            die("%s: %s", #call, cudaGetErrorString(status_));                                     \
    } while (0)

/* nvJPEG and NPP both call success 0. */
#define LIBRARY(call)                                                                              \
    do {                                                                                           \
        int status_ = (int)(call);                                                                 \
        if (status_ != 0)                                                                          \
            die("%s: status %d", #call, status_);                                                  \
    } while (0)

/* ---- Threads --------------------------------------------------------------------------------- */

class workers
{
  public:
    workers()
    {
        for (int i = 0; i < worker_count; i++)
            threads.emplace_back([this] { work(); });
    }

    ~workers()
    {
        {
            std::lock_guard<std::mutex> lock(mutex);
            ends = true;
        }
        wakes.notify_all();
        for (auto &thread : threads)
            thread.join();
    }

    /* Calls body(0) to body(count - 1) on the threads and waits for all. */
    void run(size_t count, const std::function<void(size_t)> &body)
    {
        std::unique_lock<std::mutex> lock(mutex);
        size_t remaining = count;
        std::condition_variable done;
        for (size_t i = 0; i < count; i++)
            tasks.push_back([&, i] {
                body(i);
                std::lock_guard<std::mutex> finished(mutex);
                if (--remaining == 0)
                    done.notify_one();
            });
        wakes.notify_all();
        done.wait(lock, [&] { return remaining == 0; });
    }

  private:
    void work()
    {
        std::unique_lock<std::mutex> lock(mutex);
        for (;;) {
            wakes.wait(lock, [this] { return ends || !tasks.empty(); });
            if (tasks.empty())
                return;
            std::function<void()> task = std::move(tasks.front());
            tasks.pop_front();
            lock.unlock();
            task();
            lock.lock();
        }
    }

    std::vector<std::thread> threads;
    std::deque<std::function<void()>> tasks;
    std::mutex mutex;
    std::condition_variable wakes;
    bool ends = false;
};

/* ---- Files ----------------------------------------------------------------------------------- */

FILE *open_file(const std::string &name, const char *mode)
{
    FILE *file = std::fopen(name.c_str(), mode);
    if (file == nullptr)
        die("cannot open %s", name.c_str());
    return file;
}

void read_file(const std::string &name, std::vector<unsigned char> *bytes)
{
    FILE *file = open_file(name, "rb");
    std::fseek(file, 0, SEEK_END);
    bytes->resize((size_t)std::ftell(file));
    std::rewind(file);
    if (std::fread(bytes->data(), 1, bytes->size(), file) != bytes->size())
        die("cannot read %s", name.c_str());
    std::fclose(file);
}

void write_png(const std::string &name, const unsigned char *bits, int width, int height)
{
    FILE *file = open_file(name, "wb");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
    png_infop info = png_create_info_struct(png);
    if (setjmp(png_jmpbuf(png)) != 0)
        die("cannot write %s", name.c_str());
    png_init_io(png, file);
    png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, 1, PNG_COLOR_TYPE_GRAY,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_compression_level(png, 1);
    png_set_compression_strategy(png, Z_RLE);
    png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);
    png_write_info(png, info);
    for (int y = 0; y < height; y++)
        png_write_row(png, bits + (size_t)y * (size_t)((width + 7) / 8));
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    if (std::fclose(file) != 0)
        die("cannot write %s", name.c_str());
}

void write_jpeg(const std::string &name, const unsigned char *rgb, int width, int height)
{
    FILE *file = open_file(name, "wb");
    jpeg_compress_struct jpeg;
    jpeg_error_mgr errors;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, file);
    jpeg.image_width = (JDIMENSION)width;
    jpeg.image_height = (JDIMENSION)height;
    jpeg.input_components = 3;
    jpeg.in_color_space = JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 90, TRUE);
    jpeg_start_compress(&jpeg, TRUE);
    while (jpeg.next_scanline < jpeg.image_height) {
        JSAMPROW row = const_cast<JSAMPROW>(rgb + (size_t)jpeg.next_scanline * (size_t)width * 3);
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    if (std::fclose(file) != 0)
        die("cannot write %s", name.c_str());
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

enum job_kind { job_decode, job_edges, job_gaussian, job_log };

struct job {
    job_kind kind;
    std::string directory;
    std::vector<std::string> files;
    size_t batch = default_batch;
    int side = 0;             /* of the filter: weights of a row and a column, or of all places */
    int *gauss = nullptr;     /* of edges, 5x5 */
    float *weights = nullptr; /* of edges the Laplacian, 3x3 */
    std::mutex mutex;         /* of what follows */
    size_t next = 0;          /* file */
    bool refused = false;
};

template <typename T> T *upload(const std::vector<T> &values)
{
    T *device;
    CUDA(cudaMalloc((void **)&device, values.size() * sizeof(T)));
    CUDA(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

void prepare_edges(job *made)
{
    const int line[] = {2, 4, 5, 4, 2};
    std::vector<int> gauss;
    for (int y : line)
        for (int x : line)
            gauss.push_back(x * y);
    made->gauss = upload(gauss);
    made->weights = upload(std::vector<float>{0, 1, 0, 1, -4, 1, 0, 1, 0});
}

void prepare_gaussian(job *made, double sigma)
{
    int radius = (int)std::ceil(3 * sigma);
    std::vector<float> line;
    double sum = 0;
    for (int x = -radius; x <= radius; x++)
        sum += std::exp(-x * x / (2 * sigma * sigma));
    for (int x = -radius; x <= radius; x++)
        line.push_back((float)(std::exp(-x * x / (2 * sigma * sigma)) / sum));
    made->side = 2 * radius + 1;
    made->weights = upload(line);
}

void prepare_log(job *made, double sigma, int side)
{
    const double variance = sigma * sigma, pi = 3.14159265358979323846;
    std::vector<double> exact;
    double sum = 0;
    for (int y = -side / 2; y <= side / 2; y++)
        for (int x = -side / 2; x <= side / 2; x++) {
            double square = (x * x + y * y) / variance;
            exact.push_back((square - 2) * std::exp(-square / 2) / (2 * pi * variance * variance));
            sum += exact.back();
        }
    std::vector<float> weights;
    for (double weight : exact)
        weights.push_back((float)(weight - sum / (double)exact.size()));
    made->side = side;
    made->weights = upload(weights);
}

/* ---- Slots ----------------------------------------------------------------------------------- */

struct picture {
    std::string name;
    std::vector<unsigned char> bytes; /* of the file */
    int width, height;
    size_t plane, result; /* where they begin, in the slot's memory */
};

/* Memory that grows. */
struct memory {
    unsigned char *bytes = nullptr;
    size_t size = 0;

    void reserve(size_t wanted, bool pinned)
    {
        if (wanted <= size)
            return;
        if (bytes != nullptr)
            CUDA(pinned ? cudaFreeHost(bytes) : cudaFree(bytes));
        CUDA(pinned ? cudaMallocHost((void **)&bytes, wanted)
                    : cudaMalloc((void **)&bytes, wanted));
        size = wanted;
    }
};

/* What a batch needs from its reading to its encoding. */
struct slot {
    nvjpegHandle_t handle;
    nvjpegJpegState_t state;
    nvjpegJpegStream_t header;
    cudaStream_t stream;
    NppStreamContext npp;
    size_t batch = 0; /* that the state is ready for */
    std::vector<picture> pictures;
    memory planes, results, scratch; /* on the device */
    memory host;                     /* the results, pinned */
};

void open_slot(slot *opened, nvjpegHandle_t handle)
{
    opened->handle = handle;
    LIBRARY(nvjpegJpegStateCreate(handle, &opened->state));
    LIBRARY(nvjpegJpegStreamCreate(handle, &opened->header));
    CUDA(cudaStreamCreateWithFlags(&opened->stream, cudaStreamNonBlocking));
    cudaDeviceProp properties;
    CUDA(cudaGetDeviceProperties(&properties, 0));
    NppStreamContext &npp = opened->npp;
    npp = {};
    npp.hStream = opened->stream;
    npp.nMultiProcessorCount = properties.multiProcessorCount;
    npp.nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
    npp.nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
    npp.nSharedMemPerBlock = properties.sharedMemPerBlock;
    npp.nCudaDevAttrComputeCapabilityMajor = properties.major;
    npp.nCudaDevAttrComputeCapabilityMinor = properties.minor;
    npp.nStreamFlags = cudaStreamNonBlocking;
}

/* The next files of the job; false: there are none. */
bool take_batch(job *running, slot *taken)
{
    std::lock_guard<std::mutex> lock(running->mutex);
    size_t count = std::min(running->batch, running->files.size() - running->next);
    taken->pictures.clear();
    for (size_t i = 0; i < count; i++) {
        taken->pictures.emplace_back();
        taken->pictures.back().name = running->files[running->next++];
    }
    return count > 0;
}

bool understood(const slot &used, picture *asked)
{
    unsigned width, height;
    int refused = 1; /* 0: supported */
    if (nvjpegJpegStreamParseHeader(used.handle, asked->bytes.data(), asked->bytes.size(),
                                    used.header) != NVJPEG_STATUS_SUCCESS ||
        nvjpegDecodeBatchedSupported(used.handle, used.header, &refused) != NVJPEG_STATUS_SUCCESS ||
        nvjpegJpegStreamGetFrameDimensions(used.header, &width, &height) != NVJPEG_STATUS_SUCCESS)
        return false;
    asked->width = (int)width;
    asked->height = (int)height;
    return refused == 0;
}

void drop_refused(job *running, slot *used)
{
    auto refused = [&](picture &asked) {
        if (understood(*used, &asked))
            return false;
        std::fprintf(stderr, "files_nvjpeg: %s: left out, the decoder refuses it\n",
                     asked.name.c_str());
        std::lock_guard<std::mutex> lock(running->mutex);
        running->refused = true;
        return true;
    };
    auto &pictures = used->pictures;
    pictures.erase(std::remove_if(pictures.begin(), pictures.end(), refused), pictures.end());
}

int channels(const job &running)
{
    return running.kind == job_gaussian || running.kind == job_log ? 3 : 1;
}

size_t row_bytes(const job &running, const picture &of)
{
    return (size_t)of.width * (size_t)channels(running);
}

size_t result_bytes(const job &running, const picture &of)
{
    switch (running.kind) {
    case job_decode:
        return 0;
    case job_edges:
        return (size_t)((of.width + 7) / 8) * (size_t)of.height;
    default:
        return row_bytes(running, of) * (size_t)of.height;
    }
}

/* Gives each picture its places. Scratch holds what lies between two calls for one picture. */
void lay_out(const job &running, slot *used)
{
    const size_t alignment = 256;
    size_t planes = 0, results = 0, largest = 0;
    for (auto &each : used->pictures) {
        size_t plane = row_bytes(running, each) * (size_t)each.height;
        each.plane = planes;
        each.result = results;
        planes += (plane + alignment - 1) / alignment * alignment;
        results += (result_bytes(running, each) + alignment - 1) / alignment * alignment;
        largest = std::max(largest, plane);
    }
    used->planes.reserve(planes, false);
    used->results.reserve(results, false);
    used->host.reserve(results, true);
    used->scratch.reserve(running.kind == job_edges ? 3 * largest : largest, false);
}

/* ---- The GPU --------------------------------------------------------------------------------- */

void decode(const job &running, slot *used)
{
    std::vector<const unsigned char *> bytes;
    std::vector<size_t> lengths;
    std::vector<nvjpegImage_t> images;
    nvjpegOutputFormat_t format = channels(running) == 3 ? NVJPEG_OUTPUT_RGBI : NVJPEG_OUTPUT_Y;
    for (auto &each : used->pictures) {
        nvjpegImage_t image = {};
        image.channel[0] = used->planes.bytes + each.plane;
        image.pitch[0] = row_bytes(running, each);
        images.push_back(image);
        bytes.push_back(each.bytes.data());
        lengths.push_back(each.bytes.size());
    }
    if (used->batch != images.size())
        LIBRARY(nvjpegDecodeBatchedInitialize(used->handle, used->state, (int)images.size(), 1,
                                              format));
    used->batch = images.size();
    LIBRARY(nvjpegDecodeBatched(used->handle, used->state, bytes.data(), lengths.data(),
                                images.data(), used->stream));
}

/* Marks responses beyond the threshold: 8 pixels in a byte, the first in its highest bit. */
__global__ void mark(const Npp16s *responses, int width, unsigned char *bits)
{
    int at = (int)(blockIdx.x * blockDim.x + threadIdx.x), y = (int)blockIdx.y;
    int row = (width + 7) / 8;
    if (at >= row)
        return;
    unsigned byte = 0;
    for (int x = 8 * at; x < min(8 * at + 8, width); x++)
        if (abs((int)responses[(size_t)y * width + x]) > edges_threshold)
            byte |= 0x80u >> x % 8;
    bits[(size_t)y * row + at] = (unsigned char)byte;
}

void find_edges(const job &running, slot *used, const picture &of)
{
    NppiSize size = {of.width, of.height};
    Npp16s *responses = (Npp16s *)used->scratch.bytes;
    Npp8u *smooth = used->scratch.bytes + 2 * (size_t)of.width * (size_t)of.height;
    LIBRARY(nppiFilterBorder_8u_C1R_Ctx(used->planes.bytes + of.plane, of.width, size, {0, 0},
                                        smooth, of.width, size, running.gauss, {5, 5}, {2, 2},
                                        17 * 17, NPP_BORDER_REPLICATE, used->npp));
    LIBRARY(nppiFilterBorder32f_8u16s_C1R_Ctx(
        smooth, of.width, size, {0, 0}, responses, of.width * (int)sizeof *responses, size,
        running.weights, {3, 3}, {1, 1}, NPP_BORDER_REPLICATE, used->npp));
    dim3 blocks((unsigned)((of.width + 7) / 8 + 127) / 128, (unsigned)of.height);
    mark<<<blocks, 128, 0, used->stream>>>(responses, of.width, used->results.bytes + of.result);
    CUDA(cudaGetLastError());
}

void filter(const job &running, slot *used, const picture &of)
{
    NppiSize size = {of.width, of.height};
    int step = 3 * of.width, side = running.side;
    Npp8u *from = used->planes.bytes + of.plane, *to = used->results.bytes + of.result;
    Npp8u *between = used->scratch.bytes;
    if (running.kind == job_log) {
        LIBRARY(nppiFilterBorder32f_8u_C3R_Ctx(from, step, size, {0, 0}, to, step, size,
                                               running.weights, {side, side}, {side / 2, side / 2},
                                               NPP_BORDER_REPLICATE, used->npp));
        return;
    }
    LIBRARY(nppiFilterRowBorder32f_8u_C3R_Ctx(from, step, size, {0, 0}, between, step, size,
                                              running.weights, side, side / 2, NPP_BORDER_REPLICATE,
                                              used->npp));
    LIBRARY(nppiFilterColumnBorder32f_8u_C3R_Ctx(between, step, size, {0, 0}, to, step, size,
                                                 running.weights, side, side / 2,
                                                 NPP_BORDER_REPLICATE, used->npp));
}

/* Queues a batch; one slot at a time, since there is one decoder. */
void queue(const job &running, slot *used)
{
    static std::mutex mutex;
    std::lock_guard<std::mutex> lock(mutex);
    decode(running, used);
    size_t results = 0;
    for (auto &each : used->pictures) {
        if (running.kind == job_edges)
            find_edges(running, used, each);
        else if (running.kind != job_decode)
            filter(running, used, each);
        results = each.result + result_bytes(running, each);
    }
    if (results > 0)
        CUDA(cudaMemcpyAsync(used->host.bytes, used->results.bytes, results, cudaMemcpyDeviceToHost,
                             used->stream));
}

/* ---- All together ---------------------------------------------------------------------------- */

std::string output_name(const job &running, const std::string &input)
{
    size_t begins = input.rfind('/') == std::string::npos ? 0 : input.rfind('/') + 1;
    std::string stem = input.substr(begins, input.rfind('.') - begins);
    return running.directory + "/" + stem + (running.kind == job_edges ? ".png" : ".jpg");
}

void encode(const job &running, const slot &used, const picture &of)
{
    const unsigned char *from = used.host.bytes + of.result;
    std::string name = output_name(running, of.name);
    if (running.kind == job_edges)
        write_png(name, from, of.width, of.height);
    else
        write_jpeg(name, from, of.width, of.height);
}

/* Takes batch after batch through a slot. Each slot's state takes a third of a second to make: this
 * way the first can begin before the others are made. */
void run_slot(job *running, nvjpegHandle_t handle, workers *threads)
{
    slot own, *used = &own;
    open_slot(used, handle);
    while (take_batch(running, used)) {
        auto &pictures = used->pictures;
        threads->run(pictures.size(),
                     [&](size_t i) { read_file(pictures[i].name, &pictures[i].bytes); });
        drop_refused(running, used);
        if (pictures.empty())
            continue;
        lay_out(*running, used);
        queue(*running, used);
        CUDA(cudaStreamSynchronize(used->stream));
        if (running->kind != job_decode)
            threads->run(pictures.size(), [&](size_t i) { encode(*running, *used, pictures[i]); });
    }
}

void run(job *running)
{
    nvjpegHandle_t handle;
    LIBRARY(nvjpegCreateEx(NVJPEG_BACKEND_HARDWARE, nullptr, nullptr, 0, &handle));
    workers threads;
    std::vector<std::thread> loops;
    for (int i = 0; i < slot_count; i++)
        loops.emplace_back([&] { run_slot(running, handle, &threads); });
    for (auto &loop : loops)
        loop.join();
}

int usage()
{
    std::fputs("usage: files_nvjpeg [-b BATCH] decode FILE...\n"
               "       files_nvjpeg [-b BATCH] edges|gaussian:8|log:5,43 DIR FILE...\n",
               stderr);
    return 2;
}

} // namespace

int main(int argc, char **argv)
{
    static job running;
    int at = 1;
    if (argc > 3 && std::strcmp(argv[1], "-b") == 0) {
        running.batch = (size_t)std::max(1, std::atoi(argv[2]));
        at = 3;
    }
    static const char *const names[] = {"decode", "edges", "gaussian:8", "log:5,43"};
    int kind = 0;
    while (kind < 4 && (at >= argc || std::strcmp(argv[at], names[kind]) != 0))
        kind++;
    int first = at + (kind == job_decode ? 1 : 2);
    if (kind == 4 || first >= argc)
        return usage();
    running.kind = (job_kind)kind;
    running.directory = argv[first - 1];
    running.files.assign(argv + first, argv + argc);
    CUDA(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
    if (kind == job_edges)
        prepare_edges(&running);
    else if (kind == job_gaussian)
        prepare_gaussian(&running, 8);
    else if (kind == job_log)
        prepare_log(&running, 5, 43);
    run(&running);
    return running.refused ? 1 : 0;
}
