#include "cli/page/facts.h"

#include "base/file.h"
#include "cli/measure/clocks.h"
#include "cli/page/commit.h"
#include "cli/report/about.h"
#include "gconv.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Adds text to a fact, as far as there is room. */
static void add(char *fact, size_t size, const char *text)
{
    size_t used = strlen(fact);
    snprintf(fact + used, size - used, "%s", text);
}

static void set_program(gc_facts *facts)
{
    snprintf(facts->program, sizeof facts->program, "gconv %s", gconv_version());
    if (gc_commit[0] == '\0')
        return;
    add(facts->program, sizeof facts->program, ", commit ");
    add(facts->program, sizeof facts->program, gc_commit);
}

/* The version in "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  ...", the first word
 * with a point behind a digit. "" where the file is not there. */
static void read_kernel_module(char *version, size_t size)
{
    char text[512];
    size_t length = 0;
    version[0] = '\0';
    int file = open("/proc/driver/nvidia/version", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    if (!gc_read_all(file, text, sizeof text - 1, &length))
        length = 0;
    close(file);
    text[length] = '\0';
    char *rest = text;
    for (char *word; (word = strtok_r(rest, " \n", &rest)) != NULL;)
        if (word[0] >= '0' && word[0] <= '9' && strchr(word, '.') != NULL) {
            snprintf(version, size, "%s", word);
            return;
        }
}

static void set_gpu(const gconv_device_info *d, gc_facts *facts)
{
    char module[64];
    read_kernel_module(module, sizeof module);
    snprintf(facts->gpu, sizeof facts->gpu,
             "%s, compute capability %d.%d, %d multiprocessors at %d MHz, %.1f GiB at %.0f GB/s",
             d->name, d->compute_major, d->compute_minor, d->processors, d->clock_khz / 1000,
             (double)d->memory_bytes / (1 << 30), d->memory_bandwidth / 1e9);
    snprintf(facts->driver, sizeof facts->driver, "%s%sCUDA %d.%d, runtime %d.%d", module,
             module[0] != '\0' ? ", " : "", d->driver_version / 1000, d->driver_version % 1000 / 10,
             d->runtime_version / 1000, d->runtime_version % 1000 / 10);
    facts->roofs = (gc_roofs){d->memory_bandwidth, gconv_device_peak(d)};
    facts->registers = d->registers_per_processor;
    facts->threads = d->threads_per_processor;
    facts->warp = d->warp_size;
    facts->cores = (int)lround(facts->roofs.peak / (2e3 * d->clock_khz * d->processors));
}

/* The GPU that --device names, else the first. */
static int chosen_gpu(const gc_options *options)
{
    gconv_device_choice choice = gconv_device_choice_default();
    bool named = gconv_device_parse(options->job.device, &choice, NULL) == GCONV_OK &&
                 !choice.any && choice.kind == GCONV_DEVICE_CUDA;
    return 1 + (named ? choice.index : 0);
}

static void set_devices(const gc_options *options, bool with_gpu, gc_facts *facts)
{
    gconv_device_info device = gconv_device_info_default();
    if (gconv_device_describe(0, &device, NULL) == GCONV_OK)
        snprintf(facts->processor, sizeof facts->processor, "%s, %d processors, %.1f GiB",
                 device.name, device.processors, (double)device.memory_bytes / (1 << 30));
    if (with_gpu && gconv_device_describe(chosen_gpu(options), &device, NULL) == GCONV_OK)
        set_gpu(&device, facts);
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           strchr("-_./:,=+%@", c) != NULL;
}

/* Adds a word of the command line, in quotes where a shell needs them. */
static void add_word(char *command, size_t size, const char *word)
{
    bool plain = word[0] != '\0';
    for (const char *c = word; *c != '\0'; c++)
        plain = plain && is_plain(*c);
    add(command, size, plain ? " " : " '");
    for (const char *c = word; *c != '\0'; c++)
        add(command, size, *c == '\'' ? "'\\''" : (char[]){*c, '\0'});
    add(command, size, plain ? "" : "'");
}

void gc_facts_collect(const gc_options *options, bool with_gpu, gc_facts *facts)
{
    *facts = (gc_facts){.registers = 0};
    set_program(facts);
    snprintf(facts->compiler, sizeof facts->compiler, "%s", gconv_build_description());
    gc_about_system(facts->system, sizeof facts->system);
    snprintf(facts->instructions, sizeof facts->instructions, "%s", gc_instructions_name());
    gc_clocks_text(gc_clocks_seen(), facts->clocks, sizeof facts->clocks);
    gc_clocks_text(gc_clocks_seen_of_gpu(), facts->gpu_clocks, sizeof facts->gpu_clocks);
    set_devices(options, with_gpu, facts);
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc) != NULL)
        strftime(facts->date, sizeof facts->date, "%Y-%m-%d %H:%M UTC", &utc);
    add(facts->command, sizeof facts->command, "gconv");
    for (int i = 0; i < options->word_count; i++)
        add_word(facts->command, sizeof facts->command, options->words[i]);
}
