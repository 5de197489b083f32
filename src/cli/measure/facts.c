#include "cli/measure/facts.h"

#include "base/json.h"
#include "cli/terminal/about.h"
#include "gconv.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* The commit that the program was built from: "1a2b3c4", or "1a2b3c4 with changes"; "" if the
 * sources were no working tree of git. The build writes it: cmake/Commit.cmake. */
extern const char gc_commit[];

/* The version in "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  ...", the first word
 * with a point behind a digit. Nothing if the file is not there. */
static void write_kernel_module(void)
{
    char word[64];
    FILE *file = fopen("/proc/driver/nvidia/version", "re");
    if (file == NULL)
        return;
    while (fscanf(file, "%63s", word) == 1)
        if (word[0] >= '0' && word[0] <= '9' && strchr(word, '.') != NULL) {
            gc_json_string("kernel_module", word);
            break;
        }
    fclose(file);
}

int gc_chosen_gpu(const gc_options *options)
{
    return 1 + options->device.index;
}

static void write_device(int index)
{
    gconv_device_info device = gconv_device_info_default();
    if (gconv_device_describe(index, &device, NULL) == GCONV_OK)
        gc_about_device_json(&device);
}

static void write_date(void)
{
    char text[64];
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc) != NULL && strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &utc) > 0)
        gc_json_string("date", text);
}

void gc_facts_json(const gc_options *options, const char *subject, bool with_gpu)
{
    char system[256];
    gc_json_open("about", '{');
    gc_json_string("subject", subject);
    write_date();
    gc_json_open("arguments", '[');
    for (int i = 0; i < options->word_count; i++)
        gc_json_string(NULL, options->words[i]);
    gc_json_close(']');
    gc_json_string("version", gconv_version());
    gc_json_string("commit", gc_commit);
    gc_json_string("build", gconv_build_description());
    gc_json_string("instructions", gc_instructions_name());
    gc_about_system(system, sizeof system);
    gc_json_string("system", system);
    if (with_gpu) {
        gc_json_string("cuda_module", gconv_cuda_module());
        write_kernel_module();
    }
    gc_json_open("devices", '[');
    write_device(0);
    if (with_gpu)
        write_device(gc_chosen_gpu(options));
    gc_json_close(']');
    gc_json_close('}');
}
