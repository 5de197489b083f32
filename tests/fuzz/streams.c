#define _GNU_SOURCE /* memfd_create */
#include "streams.h"

#include "fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

static void require(bool worked, const char *what)
{
    if (worked)
        return;
    perror(what);
    exit(1);
}

/* Puts an empty file without a name in the place of a descriptor. */
static void make_file(int descriptor)
{
#ifdef __linux__
    int file = memfd_create("fuzz", MFD_CLOEXEC);
#else
    FILE *stream = tmpfile();
    int file = stream != NULL ? fileno(stream) : -1;
#endif
    require(file >= 0 && dup2(file, descriptor) == descriptor, "cannot make a file");
    if (file != descriptor)
        close(file);
}

void fuzz_set_input(const uint8_t *bytes, size_t size)
{
    static bool made = false;
    if (!made)
        make_file(STDIN_FILENO);
    made = true;
    require(ftruncate(STDIN_FILENO, 0) == 0, "ftruncate");
    require(pwrite(STDIN_FILENO, bytes, size, 0) == (ssize_t)size, "pwrite");
    require(lseek(STDIN_FILENO, 0, SEEK_SET) == 0, "lseek");
}

void fuzz_clear_output(void)
{
    static bool made = false;
    if (!made)
        make_file(STDOUT_FILENO);
    made = true;
    require(ftruncate(STDOUT_FILENO, 0) == 0, "ftruncate");
    require(lseek(STDOUT_FILENO, 0, SEEK_SET) == 0, "lseek");
}

void fuzz_output_to_input(void)
{
    require(dup2(STDOUT_FILENO, STDIN_FILENO) == STDIN_FILENO, "dup2");
    require(lseek(STDIN_FILENO, 0, SEEK_SET) == 0, "lseek");
}
