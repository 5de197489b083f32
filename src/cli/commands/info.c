/* gconv info: program and machine, filters, formats, devices, implementations. */
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/options/options.h"
#include "cli/terminal/about.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/standard_output.h"
#include "gconv.h"

#include <stdio.h>
#include <string.h>

static void print_cuda_device(const gconv_device_info *d)
{
    printf("            compute capability %d.%d, %d multiprocessors at %d MHz, driver %d.%d, "
           "runtime %d.%d\n",
           d->compute_major, d->compute_minor, d->processors, d->clock_khz / 1000,
           d->driver_version / 1000, d->driver_version % 1000 / 10, d->runtime_version / 1000,
           d->runtime_version % 1000 / 10);
    printf("            memory %.1f GiB, %d bits at %d MHz, %.0f GB/s; L2 %.0f MiB; constant %.0f "
           "KiB\n",
           (double)d->memory_bytes / (1 << 30), d->memory_bus_bits, d->memory_clock_khz / 1000,
           d->memory_bandwidth / 1e9, (double)d->l2_bytes / (1 << 20),
           (double)d->constant_bytes / 1024);
    printf("            per multiprocessor: shared %.0f KiB, %d registers, %d threads, %d blocks\n",
           (double)d->shared_per_processor / 1024, d->registers_per_processor,
           d->threads_per_processor, d->blocks_per_processor);
    printf("            per block: shared %.0f KiB (%.0f KiB opt-in), %d registers, %d threads\n",
           (double)d->shared_per_block / 1024, (double)d->shared_per_block_optin / 1024,
           d->registers_per_block, d->threads_per_block);
    printf("            auto reckons with %s\n",
           d->measured ? "what was measured here at the first use"
                       : "the figures of an NVIDIA H200, until the first use");
}

static void print_device(const gconv_device_info *device)
{
    char label[32] = "cpu";
    if (device->kind == GCONV_DEVICE_CUDA)
        snprintf(label, sizeof label, "cuda:%d", device->index);
    printf("  %-9s %s", label, device->name);
    if (!device->usable)
        printf(": not usable: %s\n", device->reason);
    else if (device->kind == GCONV_DEVICE_CPU)
        printf(", %d processors, %.1f GiB\n", device->processors,
               (double)device->memory_bytes / (1 << 30));
    else {
        putchar('\n');
        print_cuda_device(device);
    }
}

/* NVRTC is of use only if there is a device for the kernels that it compiles. */
static void print_devices(void)
{
    printf("\ndevices:\n");
    gconv_device_info device = gconv_device_info_default();
    for (int i = 0; i < gconv_device_count(); i++)
        if (gconv_device_describe(i, &device, NULL) == GCONV_OK)
            print_device(&device);
    if (gconv_cuda_module()[0] != '\0')
        printf("  %-9s %s\n", "module", gconv_cuda_module());
    if (gconv_cuda_reason()[0] != '\0') {
        printf("  %-9s none: %s\n", "cuda", gconv_cuda_reason());
        return;
    }
    int version = gconv_nvrtc_version();
    if (version > 0)
        printf("  %-9s %d.%d\n", "nvrtc", version / 1000, version % 1000 / 10);
    else
        printf("  %-9s none: libnvrtc of the CUDA toolkit cannot be loaded, or is too old\n",
               "nvrtc");
}

/* Whether an implementation cannot be used for the reason that stands beside "cuda". */
static bool lacks_cuda(const gconv_implementation_info *info)
{
    return !info->usable && info->kind == GCONV_DEVICE_CUDA && gconv_cuda_reason()[0] != '\0';
}

static void print_implementation(const gconv_implementation_info *info, int width)
{
    printf("  %-*s %s\n", width, info->name, info->summary);
    if (info->limits[0] != '\0')
        printf("  %*s   refuses: %s\n", width, "", info->limits);
    if (info->rounded_once[0] != '\0')
        printf("  %*s   rounds once: %s\n", width, "", info->rounded_once);
    if (!info->usable)
        printf("  %*s   not usable here: %s\n", width, "",
               lacks_cuda(info) ? "see cuda above" : info->reason);
}

static void print_names_that_lack_cuda(void)
{
    enum { WIDTH = 80, INDENT = 4 };
    gconv_implementation_info info = gconv_implementation_info_default();
    int column = 0;
    for (int i = 0; i < gconv_implementation_count(); i++) {
        if (gconv_implementation_describe(i, &info, NULL) != GCONV_OK || !lacks_cuda(&info))
            continue;
        int length = (int)strlen(info.name);
        bool first = column == 0, breaks = column + 3 + length > WIDTH;
        if (first)
            printf("  not usable here, see cuda above (-v describes them):");
        else
            putchar(',');
        printf(first || breaks ? "\n%*s%s" : "%*s%s", first || breaks ? INDENT : 1, "", info.name);
        column = first || breaks ? INDENT + length : column + 2 + length;
    }
    if (column > 0)
        putchar('\n');
}

/* Implementations that lack CUDA are described with --verbose. Otherwise they would bury the
 * rest. */
static bool is_described(const gconv_implementation_info *info, bool verbose)
{
    return verbose || !lacks_cuda(info);
}

static void print_implementations(bool verbose)
{
    gconv_implementation_info info = gconv_implementation_info_default();
    int width = 0;
    for (int i = 0; i < gconv_implementation_count(); i++)
        if (gconv_implementation_describe(i, &info, NULL) == GCONV_OK &&
            is_described(&info, verbose) && width < (int)strlen(info.name))
            width = (int)strlen(info.name);
    printf("\nimplementations:\n");
    for (int i = 0; i < gconv_implementation_count(); i++)
        if (gconv_implementation_describe(i, &info, NULL) == GCONV_OK &&
            is_described(&info, verbose))
            print_implementation(&info, width);
    if (!verbose)
        print_names_that_lack_cuda();
}

static void print_filters(void)
{
    printf("\nbuilt-in filters:\n");
    for (size_t i = 0; i < gconv_builtin_filter_count(); i++)
        printf("  %-10s %s\n", gconv_builtin_filter_at(i)->name,
               gconv_builtin_filter_at(i)->summary);
    printf("\ngenerated filters:\n");
    for (size_t i = 0; i < gconv_generator_count(); i++)
        printf("  %-22s %s\n", gconv_generator_at(i)->usage, gconv_generator_at(i)->summary);
}

static void print_formats(void)
{
    printf("\nformats:\n");
    for (int i = GCONV_FORMAT_UNKNOWN + 1; i < GCONV_FORMAT_COUNT; i++) {
        const gconv_format_info *info = gconv_format_describe((gconv_format)i);
        printf("  %-10s %s%s%s%s\n", info->name, info->reads ? "read" : "",
               info->reads && info->writes ? " and " : "", info->writes ? "written" : "",
               info->missing != NULL ? info->missing : "");
    }
}

static void print_text(bool verbose)
{
    gc_about_print();
    printf("libraries: %s\n", gconv_codec_description()); /* loads those that files ask for */
    print_filters();
    print_formats();
    print_devices();
    print_implementations(verbose);
}

static void json_implementations(void)
{
    gconv_implementation_info info = gconv_implementation_info_default();
    gc_json_open("implementations", '[');
    for (int i = 0; i < gconv_implementation_count(); i++)
        if (gconv_implementation_describe(i, &info, NULL) == GCONV_OK) {
            gc_json_open(NULL, '{');
            gc_json_string("name", info.name);
            gc_json_string("summary", info.summary);
            gc_json_string("refuses", info.limits);
            gc_json_string("rounds_once", info.rounded_once);
            gc_json_string("kind", info.kind == GCONV_DEVICE_CPU ? "cpu" : "cuda");
            gc_json_bool("usable", info.usable);
            gc_json_string("reason", info.reason);
            gc_json_close('}');
        }
    gc_json_close(']');
}

static void json_about(void)
{
    char text[256];
    gc_json_string("version", gconv_version());
    gc_json_string("build", gconv_build_description());
    gc_json_string("libraries", gconv_codec_description());
    gc_json_string("instructions", gc_instructions_name());
    gc_json_open("usable_instructions", '[');
    gconv_instructions_info set = gconv_instructions_info_default();
    for (int i = 0; gconv_instructions_describe(i, &set, NULL) == GCONV_OK; i++)
        if (set.usable)
            gc_json_string(NULL, set.name);
    gc_json_close(']');
    gc_about_system(text, sizeof text);
    gc_json_string("system", text);
    gc_json_string("cuda_reason", gconv_cuda_reason());
    gc_json_string("cuda_module", gconv_cuda_module());
    gc_json_integer("nvrtc_version", gconv_cuda_reason()[0] == '\0' ? gconv_nvrtc_version() : 0);
}

static void json_devices(void)
{
    gc_json_open("devices", '[');
    gconv_device_info device = gconv_device_info_default();
    for (int i = 0; i < gconv_device_count(); i++)
        if (gconv_device_describe(i, &device, NULL) == GCONV_OK)
            gc_about_device_json(&device);
    gc_json_close(']');
}

static void json_filters(void)
{
    gc_json_open("filters", '[');
    for (size_t i = 0; i < gconv_builtin_filter_count(); i++) {
        gc_json_open(NULL, '{');
        gc_json_string("name", gconv_builtin_filter_at(i)->name);
        gc_json_string("summary", gconv_builtin_filter_at(i)->summary);
        gc_json_close('}');
    }
    gc_json_close(']');
    gc_json_open("generators", '[');
    for (size_t i = 0; i < gconv_generator_count(); i++) {
        gc_json_open(NULL, '{');
        gc_json_string("name", gconv_generator_at(i)->name);
        gc_json_string("usage", gconv_generator_at(i)->usage);
        gc_json_string("summary", gconv_generator_at(i)->summary);
        gc_json_close('}');
    }
    gc_json_close(']');
}

static void json_formats(void)
{
    gc_json_open("formats", '[');
    for (int i = GCONV_FORMAT_UNKNOWN + 1; i < GCONV_FORMAT_COUNT; i++) {
        const gconv_format_info *info = gconv_format_describe((gconv_format)i);
        gc_json_open(NULL, '{');
        gc_json_string("name", info->name);
        gc_json_bool("reads", info->reads);
        gc_json_bool("writes", info->writes);
        gc_json_string("missing", info->missing != NULL ? info->missing : "");
        gc_json_close('}');
    }
    gc_json_close(']');
}

static void print_json(void)
{
    gc_json_begin("info");
    json_about();
    json_devices();
    json_implementations();
    json_filters();
    json_formats();
    gc_json_end();
}

int gc_run_info(const gc_options *options)
{
    if (options->tiling.block_width > 0 || options->tiling.shared_memory > 0) {
        gc_answer(NULL, "--block and --shared-memory are for gconv info adaptive");
        return GC_EXIT_USAGE;
    }
    if (options->report.json)
        print_json();
    else
        print_text(options->report.verbose);
    return GC_EXIT_DONE;
}
