#include "cli/terminal/about.h"

#include "base/json.h"
#include "gconv.h"

#include <stdio.h>
#include <sys/utsname.h>

void gc_about_system(char *text, size_t size)
{
    struct utsname names;
    if (uname(&names) == 0)
        snprintf(text, size, "%s %s %s", names.sysname, names.release, names.machine);
    else
        snprintf(text, size, "unknown");
}

const char *gc_instructions_name(void)
{
    gconv_instructions_info info = gconv_instructions_info_default();
    for (int i = 0; gconv_instructions_describe(i, &info, NULL) == GCONV_OK; i++)
        if (info.chosen)
            return info.name;
    return "none";
}

void gc_instructions_list(bool only_usable, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    gconv_instructions_info set = gconv_instructions_info_default();
    for (int i = 0; gconv_instructions_describe(i, &set, NULL) == GCONV_OK && used < size; i++)
        if (!only_usable || set.usable)
            used +=
                (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", set.name);
}

void gc_about_print(void)
{
    char usable[64], system[256];
    gc_instructions_list(true, usable, sizeof usable);
    gc_about_system(system, sizeof system);
    printf("gconv %s\nbuild: %s\ninstructions: %s (usable here: %s)\nsystem: %s\n", gconv_version(),
           gconv_build_description(), gc_instructions_name(), usable, system);
}

void gc_about_device_json(const gconv_device_info *d)
{
    gc_json_open(NULL, '{');
    gc_json_string("kind", d->kind == GCONV_DEVICE_CPU ? "cpu" : "cuda");
    gc_json_integer("index", d->index);
    gc_json_string("name", d->name);
    gc_json_bool("usable", d->usable);
    gc_json_string("reason", d->reason);
    gc_json_integer("processors", d->processors);
    gc_json_integer("memory_bytes", (int64_t)d->memory_bytes);
    if (d->kind == GCONV_DEVICE_CUDA) {
        gc_json_integer("compute_major", d->compute_major);
        gc_json_integer("compute_minor", d->compute_minor);
        gc_json_integer("clock_khz", d->clock_khz);
        gc_json_integer("memory_clock_khz", d->memory_clock_khz);
        gc_json_integer("memory_bus_bits", d->memory_bus_bits);
        gc_json_number("memory_bandwidth", d->memory_bandwidth);
        gc_json_integer("l2_bytes", (int64_t)d->l2_bytes);
        gc_json_integer("constant_bytes", (int64_t)d->constant_bytes);
        gc_json_integer("shared_per_block", (int64_t)d->shared_per_block);
        gc_json_integer("shared_per_block_optin", (int64_t)d->shared_per_block_optin);
        gc_json_integer("shared_per_processor", (int64_t)d->shared_per_processor);
        gc_json_integer("registers_per_block", d->registers_per_block);
        gc_json_integer("registers_per_processor", d->registers_per_processor);
        gc_json_integer("threads_per_processor", d->threads_per_processor);
        gc_json_integer("threads_per_block", d->threads_per_block);
        gc_json_integer("blocks_per_processor", d->blocks_per_processor);
        gc_json_integer("warp_size", d->warp_size);
        gc_json_integer("driver_version", d->driver_version);
        gc_json_integer("runtime_version", d->runtime_version);
        gc_json_number("peak_flops", gconv_device_peak(d));
        gc_json_bool("measured", d->measured);
    }
    gc_json_close('}');
}
