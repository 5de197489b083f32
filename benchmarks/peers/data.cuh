/* Images, filters and references that the entries share. */
#pragma once

#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

/* Reports on stderr what failed; always false. */
bool peers_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool peers_cuda_ok(cudaError_t error, const char *call, const char *file, int line);

/* In a function that returns bool: leaves it with false if a CUDA call fails. */
#define PEERS_CUDA(call)                                                                           \
    do {                                                                                           \
        if (!peers_cuda_ok((call), #call, __FILE__, __LINE__))                                     \
            return false;                                                                          \
    } while (0)

/* Pixels around a source: a multiple of 32 keeps rows aligned, and half of 255 fits. */
constexpr int peers_margin = 128;
constexpr double peers_max_sample = 255.0;

enum peers_pool_id { PEERS_FLOAT, PEERS_GRAY, PEERS_RGB, PEERS_POOLS };

/* Buffer sets of one pixel type: together many times the L2, so that no launch finds in the cache
 * what it reads. */
struct peers_pool {
    int sets;
    size_t pixel_bytes;
    size_t pitch;        /* of plane and output in bytes: rows are contiguous */
    size_t source_pitch; /* in bytes */
    std::vector<uint8_t *> plane;
    /* Pixel (0, 0) of the same picture with peers_margin pixels around it that repeat the outermost
     * ones: a source for functions without border handling. PEERS_RGB has none. */
    std::vector<uint8_t *> source;
    std::vector<uint8_t *> output;
};

struct peers_data {
    int size; /* pixels a side */
    cudaStream_t stream;
    peers_pool pools[PEERS_POOLS];
    float *scratch[2]; /* (size + 2 margins)^2 floats each, for intermediate images */
};

/* size: a multiple of 64. Everything lives as long as the process. */
bool peers_data_make(peers_data *data, int size);

/* Weights on the device, row by row as contract.md, rule 1, has them. */
struct peers_filter {
    int width, height;
    double *weights;     /* what the reference uses: exactly the floats */
    double *reversed;    /* the same turned by 180 degrees */
    float *single;       /* sum|w| is 1 */
    int *whole;          /* 1 to 9, or products of such; NULL for signed filters */
    float *row, *column; /* NULL unless of rank 1 */
    int *row_whole, *column_whole;
    int divisor, row_divisor, column_divisor; /* sums of the whole weights */
};

/* Random weights, the sum of `rank` products of a column and a row, or of full rank where that is
 * 0: signed floats, or whole numbers over their sum. */
bool peers_filter_make(peers_filter *filter, int width, int height, bool whole, int rank);
void peers_filter_free(peers_filter *filter);

template <typename T> bool peers_upload(const std::vector<T> &host, T **device)
{
    PEERS_CUDA(cudaMalloc(device, host.size() * sizeof(T)));
    PEERS_CUDA(cudaMemcpy(*device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return true;
}

/* Greatest distance of a result from the convolution of source set 0 of its pool with `weights`, in
 * double. output_pitch is in bytes. */
bool peers_compare_float(const peers_data &data, const float *output, size_t output_pitch,
                         const double *weights, int width, int height, double *max_error);
/* The same of the convolution with one filter after the other. The second meets the border of the
 * first one's output. */
bool peers_compare_chain(const peers_data &data, const float *output, size_t output_pitch,
                         const peers_filter filters[2], double *max_error);
bool peers_compare_gray(const peers_data &data, const uint8_t *output, size_t output_pitch,
                        const double *weights, int width, int height, double *max_error);

/* The greatest distance of a response from the threshold, over the pixels on the wrong side of
 * |response| > threshold; 0 if all are right. Output: a byte a pixel, 0 if there is no edge. */
bool peers_compare_edges(const peers_data &data, const uint8_t *output, const double *weights,
                         int width, int height, double threshold, double *max_error);

/* How many bytes differ. */
bool peers_compare_bytes(const uint8_t *a, const uint8_t *b, size_t bytes, double *different);
