#include "gpu/methods/source.cuh"

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

/* Texts of kernels, which the build embeds (CMakeLists.txt). */
extern "C" {
extern const char gc_source_kernels[];
extern const char gc_source_compiled[];
}

/* A source that grows. Where memory is short, `failed` stays true. */
struct growing_source {
    char *bytes;
    size_t length, size;
    bool failed;
};

static void append(growing_source *to, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void append(growing_source *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    va_list again;
    va_copy(again, arguments);
    size_t needed = (size_t)vsnprintf(nullptr, 0, format, arguments) + 1;
    va_end(arguments);
    if (!to->failed && to->length + needed > to->size) {
        size_t size = 2 * (to->length + needed);
        char *bytes = (char *)realloc(to->bytes, size);
        to->failed = bytes == nullptr;
        if (!to->failed) {
            to->bytes = bytes;
            to->size = size;
        }
    }
    if (!to->failed)
        to->length += (size_t)vsnprintf(to->bytes + to->length, needed, format, again);
    va_end(again);
}

/* Writes a weight as a hexadecimal integer times a power of 2. A decimal point would depend on the
 * locale. */
static void append_weight(growing_source *to, float weight)
{
    int exponent;
    int digits = (int)(frexp((double)weight, &exponent) * 0x1p24);
    append(to, "%s0x%xp%df,\n", digits < 0 ? "-" : "", (unsigned)abs(digits), exponent - 24);
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
    growing_source source = {};
    append(&source, "%s", gc_source_kernels);
    append(&source,
           "struct gc_config {\n"
           "static constexpr int width = %d, height = %d, left = %d, top = %d;\n"
           "static constexpr int products = %d, rows = %d, warps = %d, schedule = %d;\n"
           "static constexpr int input = %d, output = %d, finish = %d, border = %d;\n"
           "static constexpr int channels = %d, alpha = %d;\n",
           layout.width, layout.height, layout.left, layout.top,
           gc_form_products(layout.tuning.form), layout.tuning.rows, layout.tuning.warps,
           (int)layout.tuning.schedule, (int)layout.input, (int)layout.output, layout.finish,
           layout.border, layout.channels, layout.alpha);
    if (layout.tuning.form == GC_FORM_PAIR)
        append(&source,
               "struct second {\n"
               "static constexpr int width = %d, height = %d, left = %d, top = %d;\n};\n",
               layout.second.width, layout.second.height, layout.second.left, layout.second.top);
    append(&source, "};\n");
    append(&source, "__device__ constexpr float gc_weight_values[] = {\n");
    for (int i = 0; i < count; i++)
        append_weight(&source, weights[i]);
    append(&source,
           "};\nstruct gc_constant_weights {\n"
           "__device__ constexpr float at(int k) const { return gc_weight_values[k]; }\n"
           "__device__ constexpr bool skips(int k) const { return gc_weight_values[k] == 0; }\n"
           "};\n#define GC_COMPILED_PASS %s\n",
           call_of(layout.tuning.form));
    append(&source, "%s", gc_source_compiled);
    if (source.failed)
        free(source.bytes);
    return source.failed ? nullptr : source.bytes;
}
