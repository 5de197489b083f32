/* The kernels of tensor: their own text, with the instructions of tensor cores in C++. */
#include "instructions.hpp"

#include "gpu/methods/tensor/halves.cuh"
#include "gpu/methods/tensor/kernels.cuh"

#include <map>
#include <string>

namespace tensor
{
#include "gpu/methods/tensor/instances.cuh"
}

typedef std::map<std::string, gc_double_body> body_map;

template <class sample, int... constants> static void add(body_map *bodies)
{
    std::string name = "halves_kernel<halves_config<";
    name += sizeof(sample) > 1 ? "float" : "unsigned char";
    for (int constant : {constants...})
        name += ", " + std::to_string(constant);
    typedef tensor::halves_config<sample, constants...> config;
    (*bodies)[name + "> >"] = {"halves_kernel", true,
                               gc_double_binder<tensor::halves_kernel<config>>::bind, nullptr};
}

#undef CHANNELS
#define CHANNELS(sample, columns, weights, input, output, finish, channels, alpha)                 \
    add<sample, columns, weights, input, output, finish, channels, alpha>(&bodies)

static body_map make_bodies()
{
    body_map bodies;
    TENSOR_BYTES, TENSOR_SPLIT_BYTES, TENSOR_FLOATS, TENSOR_ANY;
    TENSOR_RGB, TENSOR_RGBA, TENSOR_KEPT_ALPHA;
    return bodies;
}

const gc_double_body *gc_double_halves_body(const std::string &name)
{
    static const body_map *bodies = new body_map(make_bodies());
    auto found = bodies->find(name);
    return found != bodies->end() ? &found->second : nullptr;
}
