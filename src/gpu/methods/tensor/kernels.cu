/* The kernels of tensor that GC_TENSOR_KERNELS lists, which GC_TENSOR_PART finds. This file is
 * compiled once for each list (cmake/Kernels.cmake), since all together take minutes. */
#include "gpu/methods/tensor/kernels.cuh"

#include "gpu/methods/tensor/halves.cuh"

template <class sample_type, int of_matrix, int parts, int from, int type, int conversion,
          int interleaved, int mode>
struct halves_config {
    typedef sample_type sample;
    static constexpr int columns = of_matrix, weight_parts = parts, rows = GC_TENSOR_ROWS,
                         warps = GC_TENSOR_WARPS;
    static constexpr int input = from, output = type, finish = conversion, border = -1;
    static constexpr int channels = interleaved, alpha = mode;
    static constexpr int width = 0, height = 0; /* of any filter */
};

/* The second bound is the number of blocks that a multiprocessor should hold: as many as the
 * registers for samples allow. */
template <class config>
static __global__ void __launch_bounds__(GC_TENSOR_THREADS,
                                         sizeof(typename config::sample) > 1 ? 3 : 4)
    halves_kernel(const __grid_constant__ gc_pass pass, const __grid_constant__ gc_halves halves)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800 /* or the host alone */
    gc_halves_pass<config>(pass, halves);
#else
    __trap(); /* the host offers these kernels to no such device */
#endif
}

struct kernel_entry {
    gc_tensor_shape shape;
    const void *kernel;
};

#define CHANNELS(sample, columns, weights, input, output, finish, channels, alpha)                 \
    {                                                                                              \
        {sizeof(sample) > 1, weights, columns, input, output, finish, channels, alpha},            \
            (const void *)halves_kernel<                                                           \
                halves_config<sample, columns, weights, input, output, finish, channels, alpha>>,  \
    }
#define KERNEL(sample, columns, weights, input, output, finish)                                    \
    CHANNELS(sample, columns, weights, input, output, finish, 1, GC_PASS_NO_ALPHA)
#define BYTES(columns, weights, finish, channels, alpha)                                           \
    CHANNELS(unsigned char, columns, weights, GC_BYTE, GC_BYTE, finish, channels, alpha)
#define PIXELS(channels, alpha)                                                                    \
    BYTES(16, 1, GC_FINISH_ROUND, channels, alpha),                                                \
        BYTES(16, 2, GC_FINISH_ROUND, channels, alpha),                                            \
        BYTES(16, 2, GC_FINISH_ONCE, channels, alpha),                                             \
        BYTES(24, 1, GC_FINISH_ROUND, channels, alpha),                                            \
        BYTES(24, 2, GC_FINISH_ROUND, channels, alpha),                                            \
        BYTES(24, 2, GC_FINISH_ONCE, channels, alpha), BYTES(-1, 1, -1, channels, alpha),          \
        BYTES(-1, 2, -1, channels, alpha)
#define OUTPUTS(sample, columns, weights, input)                                                   \
    KERNEL(sample, columns, weights, input, GC_FLOAT, GC_FINISH_NONE),                             \
        KERNEL(sample, columns, weights, input, GC_BYTE, GC_FINISH_ROUND),                         \
        KERNEL(sample, columns, weights, input, GC_BYTE, GC_FINISH_QUOTIENT),                      \
        KERNEL(sample, columns, weights, input, GC_BYTE, GC_FINISH_NEAREST)
#define COLUMNS(sample, weights, input)                                                            \
    OUTPUTS(sample, 16, weights, input), OUTPUTS(sample, 24, weights, input),                      \
        OUTPUTS(sample, 32, weights, input), KERNEL(sample, -1, weights, input, -1, -1)

/* What is compiled together: in each the kernels for one shape come before kernels for any. */
#define TENSOR_BYTES COLUMNS(unsigned char, 1, GC_BYTE)
#define TENSOR_SPLIT_BYTES                                                                         \
    BYTES(16, 2, GC_FINISH_ONCE, 1, GC_PASS_NO_ALPHA),                                             \
        BYTES(24, 2, GC_FINISH_ONCE, 1, GC_PASS_NO_ALPHA),                                         \
        BYTES(32, 2, GC_FINISH_ONCE, 1, GC_PASS_NO_ALPHA), COLUMNS(unsigned char, 2, GC_BYTE)
#define TENSOR_FLOATS COLUMNS(float, 2, GC_FLOAT)
#define TENSOR_ANY KERNEL(float, -1, 2, -1, -1, -1), KERNEL(float, -1, 1, -1, -1, -1)
#define TENSOR_RGB PIXELS(3, GC_PASS_NO_ALPHA)
#define TENSOR_RGBA PIXELS(4, GC_PASS_NO_ALPHA)
#define TENSOR_KEPT_ALPHA PIXELS(4, GC_PASS_KEEPS)

static const kernel_entry kernels[] = {GC_TENSOR_KERNELS};

static bool serves(int made_for, int wanted)
{
    return made_for == wanted || made_for == -1;
}

const void *GC_TENSOR_PART(const gc_tensor_shape &wanted, bool scales)
{
    for (const kernel_entry &entry : kernels) {
        const gc_tensor_shape &shape = entry.shape;
        if (shape.splits == wanted.splits && shape.weight_parts == wanted.weight_parts &&
            (shape.columns == -1 || !scales) && serves(shape.columns, wanted.columns) &&
            serves(shape.input, wanted.input) && serves(shape.output, wanted.output) &&
            serves(shape.finish, wanted.finish) && shape.channels == wanted.channels &&
            shape.alpha == wanted.alpha)
            return entry.kernel;
    }
    return nullptr;
}
