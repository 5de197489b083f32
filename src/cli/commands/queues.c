#include "cli/commands/commands.h"

#include "cli/options/values.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Work that shares a queue goes one after the other. On an H100 51200 JPEGs of 1024x1024 take 0.81
 * of the time with 16 queues in place of 8. But each queue takes 0.01 to 0.02 s to start: 1280 of
 * 4096x3072 take 0.13 s more. */
static const char usual[] = "8", most[] = "16";

enum { MANY_IMAGES = 8192, SMALL_BYTES = 1 << 20 };

/* What is seen of the inputs at a first look. */
typedef struct glance {
    int count;
    bool is_small; /* the first one */
} glance;

/* Adds an input; `directory` is that which `name` is relative to. */
static void add(glance *seen, int directory, const char *name)
{
    struct stat about;
    if (seen->count++ == 0)
        seen->is_small = fstatat(directory, name, &about, 0) == 0 && S_ISREG(about.st_mode) &&
                         about.st_size <= SMALL_BYTES;
}

/* Adds what a directory has, but for what is in directories below. */
static void add_directory(glance *seen, DIR *directory)
{
    const struct dirent *entry;
    while (seen->count < MANY_IMAGES && (entry = readdir(directory)) != NULL)
        if (entry->d_name[0] != '.')
            add(seen, dirfd(directory), entry->d_name);
}

static bool has_many_small_images(const gc_options *options)
{
    glance seen = {.count = 0};
    for (int i = 0; i < options->operand_count && seen.count < MANY_IMAGES; i++) {
        DIR *directory = opendir(options->operands[i]);
        if (directory == NULL) {
            add(&seen, AT_FDCWD, options->operands[i]);
            continue;
        }
        add_directory(&seen, directory);
        closedir(directory);
    }
    return seen.count >= MANY_IMAGES && seen.is_small;
}

void gc_widen_queues(const gc_options *options)
{
    static const char variable[] = "CUDA_DEVICE_MAX_CONNECTIONS";
    const char *device = options->job.device;
    bool by_cpu = device != NULL && strcmp(device, "cpu") == 0;
    if (!gc_is_batch(options) || by_cpu || getenv(variable) != NULL)
        return;
    setenv(variable, has_many_small_images(options) ? most : usual, 1);
}
