/* The kernels of fused that take a whole chain: their own text, with the instructions of tensor
 * cores in C++. */
#include "instructions.hpp"

#include "gpu/methods/fused/bytes.cuh"
#include "gpu/methods/fused/bytes_lines.cuh"
#include "gpu/methods/fused/kernels.cuh"

#include <map>
#include <string>

namespace fused
{
#include "gpu/methods/fused/instances.cuh"
}
namespace fused_lines
{
#include "gpu/methods/fused/lines.cu"
}

typedef std::map<std::string, gc_double_body> body_map;

template <int height, gc_sample_type input, gc_sample_type output, int finish>
static void add(body_map *bodies)
{
    std::string name = "bytes_kernel<bytes_config<" + std::to_string(height) +
                       ", (gc_sample_type)" + std::to_string(input) + ", (gc_sample_type)" +
                       std::to_string(output) + ", " + std::to_string(finish) + "> >";
    typedef fused::bytes_config<height, input, output, finish> config;
    (*bodies)[name] = {"bytes_kernel", true, gc_double_binder<fused::bytes_kernel<config>>::bind,
                       nullptr};
}

template <int height, gc_sample_type output, int finish> static void add_lines(body_map *bodies)
{
    std::string name = "lines_kernel<lines_config<" + std::to_string(height) +
                       ", (gc_sample_type)" + std::to_string(output) + ", " +
                       std::to_string(finish) + "> >";
    typedef fused_lines::lines_config<height, output, finish> config;
    (*bodies)[name] = {"lines_kernel", true,
                       gc_double_binder<fused_lines::lines_kernel<config>>::bind, nullptr};
}

#undef KERNEL
#undef LINES
#define KERNEL(height, input, output, finish) add<height, input, output, finish>(&bodies)
#define LINES(height, output, finish) add_lines<height, output, finish>(&bodies)

static body_map make_bodies()
{
    body_map bodies;
    KERNELS(3), KERNELS(5), KERNELS(7), KERNELS(9), KERNELS(13), KERNELS(17);
    ALL_LINES(3), ALL_LINES(5), ALL_LINES(7);
    return bodies;
}

const gc_double_body *gc_double_tensor_body(const std::string &name)
{
    static const body_map *bodies = new body_map(make_bodies());
    auto found = bodies->find(name);
    return found != bodies->end() ? &found->second : nullptr;
}
