/* How fast images in the caller's memory are: 4096x4096, edges of grey and gauss5 of RGB, 8 bits, from
 * memory to memory and from the device's memory to the device's memory, by a plan on the GPU. Every
 * result is compared with that of a plan on the CPU before it is timed.
 *
 *     benchmark_memory [IMPLEMENTATION [RUNS]]     auto and 30 unless given
 *
 * It prints the medians in milliseconds. `bus` is a copy of the input up and of the output down at one
 * time, and `copy` a copy of the input on the device. */
#include "gconv.h"

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIDE = 4096, RUNS_MAX = 1000, WARM_UPS = 3 };

/* What is measured, and the memory that it uses. */
typedef struct bench {
    gconv_plan *plan;
    size_t input_row, output_row, input_bytes, output_bytes;
    unsigned char *expected;
    void *input, *output; /* pageable */
    void *pinned_in, *pinned_out;
    void *device_in, *device_out;
    cudaStream_t up, down;
    int runs;
} bench;

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "benchmark_memory: %s: %s\n", what, why);
    exit(1);
}

static void check(gconv_status status, const gconv_error *error, const char *what)
{
    if (status != GCONV_OK)
        fail(what, error->message);
}

static void check_cuda(cudaError_t code, const char *what)
{
    if (code != cudaSuccess)
        fail(what, cudaGetErrorString(code));
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- What is timed --------------------------------------------------------------------------- */

typedef void run_function(bench *b);

static void run_memory(bench *b, const void *input, void *output)
{
    gconv_error error;
    check(gconv_plan_run_memory(b->plan, input, b->input_row, output, b->output_row, NULL, &error),
          &error, "a run");
}

static void run_pageable(bench *b)
{
    run_memory(b, b->input, b->output);
}

static void run_pinned(bench *b)
{
    run_memory(b, b->pinned_in, b->pinned_out);
}

static void run_device(bench *b)
{
    gconv_error error;
    check(gconv_plan_run_device(b->plan, b->device_in, b->input_row, b->device_out, b->output_row,
                                b->up, &error),
          &error, "a run on the device");
    check_cuda(cudaStreamSynchronize(b->up), "a run on the device");
}

/* Ten runs in a row: a caller does not wait after each. */
static void run_device_ten(bench *b)
{
    gconv_error error;
    for (int i = 0; i < 10; i++)
        check(gconv_plan_run_device(b->plan, b->device_in, b->input_row, b->device_out,
                                    b->output_row, b->up, &error),
              &error, "a run on the device");
    check_cuda(cudaStreamSynchronize(b->up), "runs on the device");
}

static void run_bus(bench *b)
{
    check_cuda(
        cudaMemcpyAsync(b->device_in, b->pinned_in, b->input_bytes, cudaMemcpyHostToDevice, b->up),
        "a copy up");
    check_cuda(cudaMemcpyAsync(b->pinned_out, b->device_out, b->output_bytes,
                               cudaMemcpyDeviceToHost, b->down),
               "a copy down");
    check_cuda(cudaStreamSynchronize(b->up), "a copy up");
    check_cuda(cudaStreamSynchronize(b->down), "a copy down");
}

static void run_copy(bench *b)
{
    size_t bytes = b->input_bytes < b->output_bytes ? b->input_bytes : b->output_bytes;
    for (int i = 0; i < 10; i++)
        check_cuda(
            cudaMemcpyAsync(b->device_out, b->device_in, bytes, cudaMemcpyDeviceToDevice, b->up),
            "a copy on the device");
    check_cuda(cudaStreamSynchronize(b->up), "copies on the device");
}

static int compare_seconds(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Prints the median of a run, over `parts`. */
static void measure(bench *b, const char *name, run_function *run, int parts)
{
    double times[RUNS_MAX];
    for (int i = -WARM_UPS; i < b->runs; i++) {
        double begin = seconds();
        run(b);
        if (i >= 0)
            times[i] = seconds() - begin;
    }
    qsort(times, (size_t)b->runs, sizeof *times, compare_seconds);
    double median = (times[b->runs / 2] + times[(b->runs - 1) / 2]) / 2;
    printf("  %-34s %8.3f ms, fastest %8.3f\n", name, 1e3 * median / parts, 1e3 * times[0] / parts);
}

/* ---- Verification ---------------------------------------------------------------------------- */

static void compare(const bench *b, const void *output, const char *what)
{
    if (memcmp(output, b->expected, b->output_bytes) != 0)
        fail(what, "another result than that of the CPU");
}

static void verify(bench *b)
{
    memset(b->output, 0, b->output_bytes);
    run_pageable(b);
    compare(b, b->output, "pageable");
    memset(b->pinned_out, 0, b->output_bytes);
    run_pinned(b);
    compare(b, b->pinned_out, "pinned");
    check_cuda(cudaMemcpy(b->device_in, b->pinned_in, b->input_bytes, cudaMemcpyHostToDevice),
               "a copy up");
    check_cuda(cudaMemset(b->device_out, 0, b->output_bytes), "the device");
    run_device(b);
    check_cuda(cudaMemcpy(b->output, b->device_out, b->output_bytes, cudaMemcpyDeviceToHost),
               "a copy down");
    compare(b, b->output, "on the device");
}

/* ---- The jobs -------------------------------------------------------------------------------- */

static void take_memory(bench *b)
{
    gconv_error error;
    b->input = malloc(b->input_bytes);
    b->output = malloc(b->output_bytes);
    b->expected = malloc(b->output_bytes);
    if (b->input == NULL || b->output == NULL || b->expected == NULL)
        fail("memory", "there is not enough");
    check(gconv_memory_allocate(b->input_bytes, &b->pinned_in, &error), &error, "pinned memory");
    check(gconv_memory_allocate(b->output_bytes, &b->pinned_out, &error), &error, "pinned memory");
    check_cuda(cudaMalloc(&b->device_in, b->input_bytes), "device memory");
    check_cuda(cudaMalloc(&b->device_out, b->output_bytes), "device memory");
    check_cuda(cudaStreamCreateWithFlags(&b->up, cudaStreamNonBlocking), "a stream");
    check_cuda(cudaStreamCreateWithFlags(&b->down, cudaStreamNonBlocking), "a stream");
    uint32_t state = 1;
    for (size_t i = 0; i < b->input_bytes; i++) {
        state = state * 1664525u + 1013904223u;
        ((unsigned char *)b->input)[i] = (unsigned char)(state >> 24);
    }
    memcpy(b->pinned_in, b->input, b->input_bytes);
}

static void give_memory(bench *b)
{
    free(b->input);
    free(b->output);
    free(b->expected);
    gconv_memory_free(b->pinned_in);
    gconv_memory_free(b->pinned_out);
    cudaFree(b->device_in);
    cudaFree(b->device_out);
    cudaStreamDestroy(b->up);
    cudaStreamDestroy(b->down);
}

static gconv_plan *plan_of(const gconv_job *job, const char *implementation, const char *device)
{
    gconv_job named = *job;
    gconv_plan *plan;
    gconv_error error;
    named.implementation = implementation;
    named.device = device;
    named.runs = 100;
    check(gconv_plan_create(&named, &plan, &error), &error, "a plan");
    check(gconv_plan_prepare(plan, NULL, &error), &error, "a plan");
    return plan;
}

static void run_bench(const gconv_job *job, const char *title, const char *implementation, int runs)
{
    bench b = {.runs = runs};
    gconv_error error;
    gconv_plan *on_cpu = plan_of(job, "cpu", "cpu");
    b.plan = plan_of(job, implementation, "cuda");
    b.input_row = gconv_shape_row_bytes(&job->input);
    b.output_row = gconv_shape_row_bytes(gconv_plan_output_shape(b.plan));
    b.input_bytes = b.input_row * SIDE;
    b.output_bytes = b.output_row * SIDE;
    take_memory(&b);
    check(
        gconv_plan_run_memory(on_cpu, b.input, b.input_row, b.expected, b.output_row, NULL, &error),
        &error, "the CPU");
    printf("%s, %.0f MiB up, %.0f MiB down, by %s\n", title, (double)b.input_bytes / (1 << 20),
           (double)b.output_bytes / (1 << 20), gconv_plan_implementation(b.plan));
    verify(&b);
    measure(&b, "pageable to pageable", run_pageable, 1);
    measure(&b, "pinned to pinned", run_pinned, 1);
    measure(&b, "bus, both directions at once", run_bus, 1);
    measure(&b, "device to device", run_device, 1);
    measure(&b, "device to device, one of ten", run_device_ten, 10);
    measure(&b, "copy on the device, one of ten", run_copy, 10);
    verify(&b);
    gconv_plan_free(on_cpu);
    gconv_plan_free(b.plan);
    give_memory(&b);
}

int main(int count, char **arguments)
{
    const char *implementation = count > 1 ? arguments[1] : "auto";
    int runs = count > 2 ? atoi(arguments[2]) : 30;
    gconv_filter *filters[2];
    gconv_error error;
    if (runs < 1 || runs > RUNS_MAX)
        fail("runs", "1 to 1000");
    check(gconv_filter_load("gauss5", &filters[0], &error), &error, "gauss5");
    check(gconv_filter_load("laplace3", &filters[1], &error), &error, "laplace3");
    gconv_job job = gconv_job_default();
    job.filters = (const gconv_filter *const *)filters;
    job.filter_count = 2;
    job.output = GCONV_OUTPUT_EDGES;
    job.input = (gconv_shape){.width = SIDE, .height = SIDE, .channels = 1, .depth = 8};
    run_bench(&job, "grey 8, edges", implementation, runs);
    job.filter_count = 1;
    job.output = GCONV_OUTPUT_SAMPLES;
    job.input.channels = 3;
    run_bench(&job, "RGB 8, gauss5", implementation, runs);
    gconv_filter_free(filters[0]);
    gconv_filter_free(filters[1]);
    return 0;
}
