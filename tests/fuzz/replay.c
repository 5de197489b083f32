/* Runs a fuzz target on files, without libFuzzer: every argument is a file, or a directory whose
 * files are taken. A broken promise ends the process as it does under libFuzzer, after the name of
 * the file at work. Prints how many files were run; none is a failure. */
#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* libFuzzer's, which a mutator calls: a replay never does. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t size_max);

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t size_max)
{
    (void)data;
    return size < size_max ? size : size_max;
}

/* The file at work, for the handler. */
static char at_work[4096];

static void tell_file(int number)
{
    static const char words[] = "\nwhile replaying ";
    bool told = write(STDERR_FILENO, words, sizeof words - 1) > 0 &&
                write(STDERR_FILENO, at_work, strlen(at_work)) > 0 &&
                write(STDERR_FILENO, "\n", 1) > 0;
    (void)told;
    signal(number, SIG_DFL);
    raise(number);
}

static void fail(const char *path)
{
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    exit(1);
}

static void replay_file(const char *path, off_t size)
{
    OWNED uint8_t *bytes = fuzz_allocate((size_t)size);
    FILE *file = fopen(path, "rb");
    if (file == NULL || fread(bytes, 1, (size_t)size, file) != (size_t)size)
        fail(path);
    fclose(file);
    snprintf(at_work, sizeof at_work, "%s", path);
    LLVMFuzzerTestOneInput(bytes, (size_t)size);
}

static int replay(const char *path);

static int replay_directory(const char *path)
{
    struct dirent **names;
    int count = scandir(path, &names, NULL, alphasort), files = 0;
    if (count < 0)
        fail(path);
    for (int i = 0; i < count; i++) {
        char inside[4096];
        snprintf(inside, sizeof inside, "%s/%s", path, names[i]->d_name);
        if (names[i]->d_name[0] != '.')
            files += replay(inside);
        free(names[i]);
    }
    free(names);
    return files;
}

/* Returns how many files were run. */
static int replay(const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0)
        fail(path);
    if (S_ISDIR(about.st_mode))
        return replay_directory(path);
    replay_file(path, about.st_size);
    return 1;
}

int main(int argc, char **argv)
{
    int files = 0;
    signal(SIGABRT, tell_file);
    for (int i = 1; i < argc; i++)
        files += replay(argv[i]);
    fprintf(stderr, "%d inputs\n", files);
    return files > 0 ? 0 : 1;
}
