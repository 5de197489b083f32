/* The source of a kernel that is compiled for one filter. */
#include "gpu/methods/passes.cuh"

extern "C" {
#include "base/buffer.h"
}

#include <cmath>
#include <cstdlib>

/* Texts of kernels, which the build embeds (CMakeLists.txt). */
extern "C" {
extern const char gc_source_kernels[];
extern const char gc_source_compiled[];
}

/* Writes a weight as a hexadecimal integer times a power of 2. A decimal point would depend on the
 * locale. */
static void append_weight(gc_buffer *to, float weight)
{
    int exponent;
    int digits = (int)(frexp((double)weight, &exponent) * 0x1p24);
    gc_buffer_print(to, "%s0x%xp%df,\n", digits < 0 ? "-" : "", (unsigned)abs(digits),
                    exponent - 24);
}

static const char *call_of(gc_form form)
{
    if (form == GC_FORM_WARP)
        return "gc_warp_pass<gc_config>";
    if (form == GC_FORM_PAIR)
        return "gc_block_pass<gc_block_pair, gc_pair<gc_config>>";
    return gc_form_products(form) > 0 ? "gc_block_pass<gc_block_products, gc_config>"
                                      : "gc_block_pass<gc_block_direct, gc_config>";
}

char *gc_kernel_source(const gc_layout &layout, const float *weights, int count)
{
    gc_buffer source = {};
    gc_buffer_put(&source, gc_source_kernels);
    gc_buffer_print(&source,
                    "struct gc_config {\n"
                    "static constexpr int width = %d, height = %d, left = %d, top = %d;\n"
                    "static constexpr int products = %d, rows = %d, warps = %d, schedule = %d;\n"
                    "static constexpr int input = %d, output = %d, finish = %d, border = %d;\n"
                    "static constexpr int channels = %d, alpha = %d;\n",
                    layout.width, layout.height, layout.left, layout.top,
                    gc_form_products(layout.tuning.form), layout.tuning.rows, layout.tuning.warps,
                    (int)layout.tuning.schedule, (int)layout.input, (int)layout.output,
                    layout.finish, layout.border, layout.channels, layout.alpha);
    if (layout.tuning.form == GC_FORM_PAIR)
        gc_buffer_print(&source,
                        "struct second {\n"
                        "static constexpr int width = %d, height = %d, left = %d, top = %d;\n};\n",
                        layout.second.width, layout.second.height, layout.second.left,
                        layout.second.top);
    gc_buffer_put(&source, "};\n");
    gc_buffer_put(&source, "__device__ constexpr float gc_weight_values[] = {\n");
    for (int i = 0; i < count; i++)
        append_weight(&source, weights[i]);
    gc_buffer_print(
        &source,
        "};\nstruct gc_constant_weights {\n"
        "__device__ constexpr float at(int k) const { return gc_weight_values[k]; }\n"
        "__device__ constexpr bool skips(int k) const { return gc_weight_values[k] == 0; }\n"
        "};\n#define GC_COMPILED_PASS %s\n",
        call_of(layout.tuning.form));
    gc_buffer_put(&source, gc_source_compiled);
    return gc_buffer_take(&source, nullptr);
}
