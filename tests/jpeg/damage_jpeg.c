/* Writes damaged and crafted JPEG files, the same ones for the same seed and FILES.
 *
 * Usage: damage_jpeg SEED COUNT DIR [FILE...]
 *
 * DIR/000000.jpg to DIR/(COUNT-1).jpg are made. Half of those that are damaged come of FILES, the
 * others of small files that libjpeg writes; a quarter of all is crafted. Then one line for every
 * file goes to standard output: its name and `sound`, or what the scan rejects. */
#include "damage.h"

#include "sound.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void fail(const char *path)
{
    fprintf(stderr, "damage_jpeg: %s: %s\n", path, strerror(errno));
    exit(EXIT_FAILURE);
}

static jpeg_file load(const char *path)
{
    jpeg_file made = {0};
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        fail(path);
    long size = ftell(file);
    rewind(file);
    made.size = size > 0 ? (size_t)size : 0;
    made.bytes = malloc(made.size + 1);
    if (made.bytes == NULL || fread(made.bytes, 1, made.size, file) != made.size)
        fail(path);
    fclose(file);
    return made;
}

static void save(const char *path, const jpeg_file *made)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(made->bytes, 1, made->size, file) != made->size || fclose(file) != 0)
        fail(path);
}

static void make_file(uint64_t seed, size_t index, const char *directory, const jpeg_file *files,
                      size_t count)
{
    char path[4096];
    jpeg_verdict verdict;
    jpeg_file made = jpeg_damaged(seed, index, files, count);
    snprintf(path, sizeof path, "%s/%06zu.jpg", directory, index);
    save(path, &made);
    bool sound = jpeg_is_sound(made.bytes, made.size, &verdict);
    printf("%06zu.jpg %s\n", index, sound ? "sound" : verdict.reason);
    free(made.bytes);
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: damage_jpeg SEED COUNT DIR [FILE...]\n");
        return 2;
    }
    uint64_t seed = strtoull(argv[1], NULL, 10);
    size_t wanted = strtoull(argv[2], NULL, 10), count = 0;
    jpeg_file *files = calloc((size_t)argc, sizeof *files);
    if (files == NULL)
        fail("memory");
    for (int i = 4; i < argc; i++) {
        jpeg_file loaded = load(argv[i]);
        if (loaded.size > 0)
            files[count++] = loaded;
        else
            free(loaded.bytes);
    }
    for (size_t i = 0; i < wanted; i++)
        make_file(seed, i, argv[3], files, count);
    for (size_t i = 0; i < count; i++)
        free(files[i].bytes);
    free(files);
    return EXIT_SUCCESS;
}
