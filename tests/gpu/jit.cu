/* Run-time compilation on a GPU: a kernel is compiled, found in the cache, and launched with more
 * shared memory than it gets unasked. XDG_CACHE_HOME should name an empty directory. */
#include "core/gpu.h"
#include "gpu/device/check.cuh"
#include "gpu/jit/modules.cuh"

#include <cstdio>
#include <cstdlib>

extern "C" const char gc_text_axpy[];

static char text[4096]; /* of the kernel */

enum { COUNT = 1000, THREADS = 128, SHARED_BYTES = 64 << 10 };

static gconv_status launch(gc_gpu_kernel *kernel, const float *x, float *y, gconv_error *error)
{
    int count = COUNT;
    void *arguments[] = {&x, &y, &count};
    int blocks = 0;
    cudaStream_t stream = nullptr;
    GC_TRY(gc_jit_opt_in_shared(kernel, SHARED_BYTES, error));
    GC_TRY(gc_jit_resident(kernel, THREADS, SHARED_BYTES, &blocks, error));
    if (blocks <= 0)
        return gc_fail(error, GCONV_ERROR_DEVICE, "%d blocks", blocks);
    GC_CUDA_TRY(error, cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    gconv_status status = gc_jit_launch(kernel, dim3((COUNT + THREADS - 1) / THREADS),
                                        dim3(THREADS), SHARED_BYTES, stream, arguments, error);
    cudaError_t code = cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    GC_TRY(status);
    GC_CUDA_TRY(error, code);
    return GCONV_OK;
}

/* y[i] = i + 3 i, exact in float32. */
static gconv_status run(gc_gpu_kernel *kernel, gconv_error *error)
{
    float values[COUNT], *x = nullptr, *y = nullptr;
    for (int i = 0; i < COUNT; i++)
        values[i] = (float)i;
    GC_CUDA_TRY(error, cudaMalloc(&x, sizeof values));
    GC_CUDA_TRY(error, cudaMalloc(&y, sizeof values));
    GC_CUDA_TRY(error, cudaMemcpy(x, values, sizeof values, cudaMemcpyHostToDevice));
    GC_CUDA_TRY(error, cudaMemcpy(y, values, sizeof values, cudaMemcpyHostToDevice));
    GC_CUDA_TRY(error, cudaDeviceSynchronize());
    GC_TRY(launch(kernel, x, y, error));
    GC_CUDA_TRY(error, cudaMemcpy(values, y, sizeof values, cudaMemcpyDeviceToHost));
    GC_CUDA_TRY(error, cudaFree(x));
    GC_CUDA_TRY(error, cudaFree(y));
    for (int i = 0; i < COUNT; i++)
        if (values[i] != (float)(4 * i))
            return gc_fail(error, GCONV_ERROR_DEVICE, "y[%d] is %g", i, (double)values[i]);
    return GCONV_OK;
}

static gconv_status create_and_run(const gconv_device_info *device, gc_jit_when when,
                                   gconv_error *error)
{
    gc_gpu_kernel *kernel = nullptr;
    GC_TRY(gc_jit_create(device, text, "axpy", when, &kernel, error));
    gconv_status status = run(kernel, error);
    gc_jit_destroy(kernel);
    return status;
}

static gconv_status refuse_unknown_kernel(const gconv_device_info *device, gconv_error *error)
{
    gc_gpu_kernel *kernel = nullptr;
    gconv_error refusal;
    if (gc_jit_create(device, text, "none", GC_JIT_COMPILE, &kernel, &refusal) !=
            GCONV_ERROR_DEVICE ||
        kernel != nullptr)
        return gc_fail(error, GCONV_ERROR_DEVICE, "a kernel that is not there was found");
    return GCONV_OK;
}

int main(void)
{
    gconv_error error = {};
    gconv_device_info device;
    snprintf(text, sizeof text, "#define FACTOR 3.0f\n%s", gc_text_axpy);
    if (gc_gpu_count() == 0 || !gc_jit_available()) {
        printf("%s\n", gc_gpu_count() == 0 ? gconv_cuda_reason() : "no NVRTC");
        return 77;
    }
    gconv_status status = gc_gpu_describe(0, &device, &error);
    if (status == GCONV_OK)
        status = create_and_run(&device, GC_JIT_COMPILE, &error);
    if (status == GCONV_OK)
        status = create_and_run(&device, GC_JIT_CACHED_ONLY, &error);
    if (status == GCONV_OK)
        status = refuse_unknown_kernel(&device, &error);
    puts(status == GCONV_OK ? "compiled, cached and launched" : error.message);
    return status != GCONV_OK;
}
