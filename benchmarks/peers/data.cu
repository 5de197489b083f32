#include "data.cuh"

#include <cmath>
#include <cstdarg>
#include <cstring>

bool peers_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("gconv_peers: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return false;
}

bool peers_cuda_ok(cudaError_t error, const char *call, const char *file, int line)
{
    if (error == cudaSuccess)
        return true;
    cudaGetLastError(); /* else the next check of a launch would find it again */
    return peers_fail("%s:%d: %s: %s", file, line, call, cudaGetErrorString(error));
}

/* ---- Pictures -------------------------------------------------------------------------------- */

/* Mixes well enough that neighbours are unrelated (Wellons' lowbias32). */
static __host__ __device__ uint32_t hash(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352dU;
    x ^= x >> 15;
    x *= 0x846ca68bU;
    return x ^ (x >> 16);
}

static __device__ void set_sample(uint8_t *sample, uint32_t random)
{
    *sample = (uint8_t)(random >> 24);
}

static __device__ void set_sample(float *sample, uint32_t random)
{
    *sample = (float)(peers_max_sample / 16777216.0) * (float)(random >> 8);
}

template <typename T> static __global__ void fill_random(T *samples, size_t count, uint32_t seed)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        set_sample(samples + i, hash((uint32_t)i ^ hash(seed)));
}

/* Writes the whole padded image, whose first sample `padded` is. */
template <typename T> static __global__ void replicate_margin(const T *plane, T *padded, int size)
{
    int pitch = size + 2 * peers_margin;
    int column = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    int row = (int)blockIdx.y;
    if (column >= pitch)
        return;
    int x = min(max(column - peers_margin, 0), size - 1);
    int y = min(max(row - peers_margin, 0), size - 1);
    padded[(size_t)row * pitch + column] = plane[(size_t)y * size + x];
}

template <typename T> static bool make_plane(peers_pool *pool, size_t samples)
{
    uint8_t *plane, *output;
    PEERS_CUDA(cudaMalloc(&plane, samples * sizeof(T)));
    PEERS_CUDA(cudaMalloc(&output, samples * sizeof(T)));
    PEERS_CUDA(cudaMemset(output, 0, samples * sizeof(T)));
    uint32_t seed = (uint32_t)pool->plane.size() + 1;
    fill_random<<<(unsigned)((samples + 255) / 256), 256>>>((T *)plane, samples, seed);
    PEERS_CUDA(cudaGetLastError());
    pool->plane.push_back(plane);
    pool->output.push_back(output);
    return true;
}

template <typename T> static bool make_source(peers_pool *pool, int size)
{
    int side = size + 2 * peers_margin;
    T *padded;
    PEERS_CUDA(cudaMalloc(&padded, (size_t)side * side * sizeof(T)));
    dim3 blocks((unsigned)(side + 255) / 256, (unsigned)side);
    replicate_margin<<<blocks, 256>>>((const T *)pool->plane.back(), padded, size);
    PEERS_CUDA(cudaGetLastError());
    pool->source_pitch = side * sizeof(T);
    pool->source.push_back((uint8_t *)(padded + (size_t)peers_margin * side + peers_margin));
    return true;
}

/* 640 MiB of pairs is 5 float32 pairs and 20 8-bit pairs of 4096x4096, over ten times the largest
 * L2 there is. */
static void size_pool(peers_pool *pool, int size, size_t pixel_bytes)
{
    size_t pair = 2 * pixel_bytes * (size_t)size * (size_t)size;
    size_t sets = (((size_t)640 << 20) + pair - 1) / pair;
    pool->sets = sets < 4 ? 4 : (int)sets;
    pool->pixel_bytes = pixel_bytes;
    pool->pitch = pixel_bytes * (size_t)size;
}

bool peers_data_make(peers_data *data, int size)
{
    data->size = size;
    PEERS_CUDA(cudaStreamCreateWithFlags(&data->stream, cudaStreamNonBlocking));
    size_pool(&data->pools[PEERS_FLOAT], size, sizeof(float));
    size_pool(&data->pools[PEERS_GRAY], size, 1);
    size_pool(&data->pools[PEERS_RGB], size, 3);
    size_t pixels = (size_t)size * (size_t)size;
    for (int i = 0; i < data->pools[PEERS_FLOAT].sets; ++i)
        if (!make_plane<float>(&data->pools[PEERS_FLOAT], pixels) ||
            !make_source<float>(&data->pools[PEERS_FLOAT], size))
            return false;
    for (int i = 0; i < data->pools[PEERS_GRAY].sets; ++i)
        if (!make_plane<uint8_t>(&data->pools[PEERS_GRAY], pixels) ||
            !make_source<uint8_t>(&data->pools[PEERS_GRAY], size))
            return false;
    for (int i = 0; i < data->pools[PEERS_RGB].sets; ++i)
        if (!make_plane<uint8_t>(&data->pools[PEERS_RGB], 3 * pixels))
            return false;
    size_t side = (size_t)size + 2 * peers_margin;
    for (float *&scratch : data->scratch)
        PEERS_CUDA(cudaMalloc(&scratch, side * side * sizeof(float)));
    PEERS_CUDA(cudaDeviceSynchronize());
    return true;
}

/* ---- Filters --------------------------------------------------------------------------------- */

/* Weights whose magnitudes add up to `sum`. */
struct weight_list {
    std::vector<double> weights;
    double sum;
};

static weight_list random_weights(int count, bool whole, uint32_t seed)
{
    weight_list list = {std::vector<double>((size_t)count), 0.0};
    for (int i = 0; i < count; ++i) {
        uint32_t random = hash((uint32_t)i ^ hash(seed));
        double weight = whole ? 1.0 + (double)(random % 9) : (double)random / 2147483648.0 - 1.0;
        list.weights[(size_t)i] = weight;
        list.sum += fabs(weight);
    }
    return list;
}

static bool upload_scaled(const weight_list &list, float **device)
{
    std::vector<float> scaled;
    for (double weight : list.weights)
        scaled.push_back((float)(weight / list.sum));
    return peers_upload(scaled, device);
}

static bool upload_whole(const weight_list &list, int **device, int *divisor)
{
    *divisor = (int)list.sum;
    return peers_upload(std::vector<int>(list.weights.begin(), list.weights.end()), device);
}

static bool upload_lines(peers_filter *filter, const weight_list &row, const weight_list &column,
                         bool whole)
{
    if (!upload_scaled(row, &filter->row) || !upload_scaled(column, &filter->column))
        return false;
    return !whole || (upload_whole(row, &filter->row_whole, &filter->row_divisor) &&
                      upload_whole(column, &filter->column_whole, &filter->column_divisor));
}

/* What the reference uses are the floats of the filter, or products of the floats of its lines. */
static bool upload_reference(peers_filter *filter, const weight_list &all, const weight_list &row,
                             const weight_list &column)
{
    std::vector<double> exact;
    for (size_t i = 0; i < all.weights.size(); ++i) {
        double weight = (float)(all.weights[i] / all.sum);
        if (!row.weights.empty())
            weight = (double)(float)(row.weights[i % row.weights.size()] / row.sum) *
                     (double)(float)(column.weights[i / row.weights.size()] / column.sum);
        exact.push_back(weight);
    }
    return peers_upload(exact, &filter->weights) &&
           peers_upload(std::vector<double>(exact.rbegin(), exact.rend()), &filter->reversed);
}

/* Adds the product of a column and a row; the sum of magnitudes becomes what it is. */
static void add_product(weight_list *all, const weight_list &row, const weight_list &column)
{
    size_t width = row.weights.size();
    all->sum = 0.0;
    for (size_t i = 0; i < all->weights.size(); ++i) {
        all->weights[i] += row.weights[i % width] * column.weights[i / width];
        all->sum += fabs(all->weights[i]);
    }
}

bool peers_filter_make(peers_filter *filter, int width, int height, bool whole, int rank)
{
    *filter = {};
    filter->width = width;
    filter->height = height;
    weight_list row = {}, column = {}, all = random_weights(width * height, whole, 1);
    if (rank > 0)
        all.weights.assign(all.weights.size(), 0.0);
    for (uint32_t product = 0; product < (uint32_t)rank; ++product) {
        row = random_weights(width, whole, 2 + 2 * product);
        column = random_weights(height, whole, 3 + 2 * product);
        add_product(&all, row, column);
    }
    if (rank == 1 && !upload_lines(filter, row, column, whole))
        return false;
    if (rank > 1)
        row = column = {};
    if (whole && !upload_whole(all, &filter->whole, &filter->divisor))
        return false;
    return upload_scaled(all, &filter->single) && upload_reference(filter, all, row, column);
}

void peers_filter_free(peers_filter *filter)
{
    void *parts[] = {filter->weights, filter->reversed,  filter->single,       filter->whole,
                     filter->row,     filter->row_whole, filter->column_whole, filter->column};
    for (void *part : parts)
        cudaFree(part);
    *filter = {};
}

/* ---- References ------------------------------------------------------------------------------ */

struct reference_filter {
    const double *weights;
    int width, height;
};

/* contract.md, rule 1, at one pixel; the anchor is the middle. */
template <typename T>
static __device__ double convolve(const T *source, int64_t pitch, int x, int y,
                                  const reference_filter &filter)
{
    double sum = 0.0;
    for (int j = 0; j < filter.height; ++j) {
        const T *row = source + (y - (j - filter.height / 2)) * pitch + x + filter.width / 2;
        for (int i = 0; i < filter.width; ++i)
            sum += filter.weights[j * filter.width + i] * (double)row[-i];
    }
    return sum;
}

/* Errors are not negative, so their bits are ordered as they are; NaN becomes infinity. */
static __device__ void keep_worst(double error, unsigned long long *worst)
{
    if (!(error >= 0.0))
        error = INFINITY;
    unsigned long long bits = (unsigned long long)__double_as_longlong(error);
    if (bits > *(volatile unsigned long long *)worst)
        atomicMax(worst, bits);
}

template <typename S, typename T>
static __global__ void compare_filter(const S *source, int64_t source_pitch, const T *output,
                                      int64_t output_pitch, int size, reference_filter filter,
                                      unsigned long long *worst)
{
    int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= size || y >= size)
        return;
    double value = convolve(source, source_pitch, x, y, filter);
    keep_worst(fabs((double)output[y * output_pitch + x] - value), worst);
}

/* A picture with its margins, convolved, its outermost pixels repeated in new margins. */
static __global__ void convolve_extended(const float *source, int64_t pitch, int size,
                                         reference_filter filter, double *extended)
{
    int side = size + 2 * peers_margin;
    int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (x < side && y < side)
        extended[(int64_t)y * side + x] =
            convolve(source, pitch, min(max(x - peers_margin, 0), size - 1),
                     min(max(y - peers_margin, 0), size - 1), filter);
}

static __global__ void compare_threshold(const uint8_t *source, int64_t source_pitch,
                                         const uint8_t *output, int size, reference_filter filter,
                                         double threshold, unsigned long long *worst)
{
    int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= size || y >= size)
        return;
    double response = fabs(convolve(source, source_pitch, x, y, filter));
    bool edge = output[(int64_t)y * size + x] != 0;
    if (edge != (response > threshold))
        keep_worst(fmax(fabs(response - threshold), 1e-300), worst);
}

static __global__ void count_different(const uint8_t *a, const uint8_t *b, size_t bytes,
                                       unsigned long long *different)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < bytes && a[i] != b[i])
        atomicAdd(different, 1ULL);
}

/* The word that a comparison leaves its result in, and where it runs. */
struct comparison {
    unsigned long long *word;
    dim3 blocks, threads;
};

static bool begin_comparison(int size, comparison *comparison)
{
    comparison->threads = dim3(32, 8);
    comparison->blocks = dim3((unsigned)(size + 31) / 32, (unsigned)(size + 7) / 8);
    PEERS_CUDA(cudaMalloc(&comparison->word, sizeof *comparison->word));
    PEERS_CUDA(cudaMemset(comparison->word, 0, sizeof *comparison->word));
    PEERS_CUDA(cudaDeviceSynchronize());
    return true;
}

static bool end_comparison(const comparison &comparison, unsigned long long *word)
{
    PEERS_CUDA(cudaGetLastError());
    PEERS_CUDA(cudaMemcpy(word, comparison.word, sizeof *word, cudaMemcpyDeviceToHost));
    PEERS_CUDA(cudaFree(comparison.word));
    return true;
}

static bool end_with_error(const comparison &comparison, double *max_error)
{
    unsigned long long word;
    if (!end_comparison(comparison, &word))
        return false;
    static_assert(sizeof word == sizeof *max_error, "an error is kept as its bits");
    memcpy(max_error, &word, sizeof word);
    return true;
}

template <typename T>
static bool compare_with_filter(const peers_data &data, const peers_pool &pool, const T *output,
                                size_t output_pitch, const reference_filter &filter,
                                double *max_error)
{
    comparison comparison;
    if (!begin_comparison(data.size, &comparison))
        return false;
    compare_filter<<<comparison.blocks, comparison.threads>>>(
        (const T *)pool.source[0], (int64_t)(pool.source_pitch / sizeof(T)), output,
        (int64_t)(output_pitch / sizeof(T)), data.size, filter, comparison.word);
    return end_with_error(comparison, max_error);
}

bool peers_compare_float(const peers_data &data, const float *output, size_t output_pitch,
                         const double *weights, int width, int height, double *max_error)
{
    return compare_with_filter(data, data.pools[PEERS_FLOAT], output, output_pitch,
                               {weights, width, height}, max_error);
}

bool peers_compare_chain(const peers_data &data, const float *output, size_t output_pitch,
                         const peers_filter filters[2], double *max_error)
{
    const peers_pool &pool = data.pools[PEERS_FLOAT];
    int side = data.size + 2 * peers_margin;
    comparison comparison;
    double *extended;
    if (!begin_comparison(side, &comparison))
        return false;
    PEERS_CUDA(cudaMalloc(&extended, (size_t)side * (size_t)side * sizeof *extended));
    convolve_extended<<<comparison.blocks, comparison.threads>>>(
        (const float *)pool.source[0], (int64_t)(pool.source_pitch / sizeof(float)), data.size,
        {filters[0].weights, filters[0].width, filters[0].height}, extended);
    compare_filter<<<comparison.blocks, comparison.threads>>>(
        extended + (int64_t)peers_margin * side + peers_margin, (int64_t)side, output,
        (int64_t)(output_pitch / sizeof(float)), data.size,
        {filters[1].weights, filters[1].width, filters[1].height}, comparison.word);
    bool good = end_with_error(comparison, max_error);
    cudaFree(extended);
    return good;
}

bool peers_compare_gray(const peers_data &data, const uint8_t *output, size_t output_pitch,
                        const double *weights, int width, int height, double *max_error)
{
    return compare_with_filter(data, data.pools[PEERS_GRAY], output, output_pitch,
                               {weights, width, height}, max_error);
}

bool peers_compare_edges(const peers_data &data, const uint8_t *output, const double *weights,
                         int width, int height, double threshold, double *max_error)
{
    const peers_pool &pool = data.pools[PEERS_GRAY];
    comparison comparison;
    if (!begin_comparison(data.size, &comparison))
        return false;
    compare_threshold<<<comparison.blocks, comparison.threads>>>(
        pool.source[0], (int64_t)pool.source_pitch, output, data.size, {weights, width, height},
        threshold, comparison.word);
    return end_with_error(comparison, max_error);
}

bool peers_compare_bytes(const uint8_t *a, const uint8_t *b, size_t bytes, double *different)
{
    comparison comparison;
    if (!begin_comparison(1, &comparison))
        return false;
    count_different<<<(unsigned)((bytes + 255) / 256), 256>>>(a, b, bytes, comparison.word);
    unsigned long long count;
    if (!end_comparison(comparison, &count))
        return false;
    *different = (double)count;
    return true;
}
