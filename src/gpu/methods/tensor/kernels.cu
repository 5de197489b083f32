/* The kernels of tensor that GC_TENSOR_KERNELS lists, which GC_TENSOR_PART finds. This file is
 * compiled once for each list (cmake/Kernels.cmake), since all together take minutes. */
#include "gpu/methods/tensor/instances.cuh"

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
