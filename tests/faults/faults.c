/* A library for LD_PRELOAD that makes chosen calls of a program fail; faults.h says how. It counts
 * what the program and its libraries ask the C library for, not what the C library asks the kernel
 * for. Nothing is counted before main and after it, so that numbers do not depend on the loader. */
#define _GNU_SOURCE /* RTLD_NEXT, renameat2 */
#include "faults.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

enum { SHORT_BYTES = 100 };

typedef enum fault_action { PASS, FAIL, SHORTEN, INTERRUPT, KILL, LOSE } fault_action;

static const struct {
    const char *name;
    fault_action action;
} action_names[] = {
    {"fail", FAIL}, {"short", SHORTEN}, {"eintr", INTERRUPT}, {"kill", KILL}, {"lose", LOSE}};

/* What failing calls leave in errno. */
static const int failures[FAULT_KINDS] = {
    [FAULT_MEMORY] = ENOMEM, [FAULT_OPEN] = EMFILE, [FAULT_READ] = EIO,     [FAULT_WRITE] = ENOSPC,
    [FAULT_SYNC] = EIO,      [FAULT_RENAME] = EIO,  [FAULT_LINK] = EPERM,   [FAULT_CLOSE] = EIO,
    [FAULT_STAT] = EIO,      [FAULT_MODE] = EPERM,  [FAULT_MKDIR] = ENOSPC, [FAULT_UNLINK] = EACCES,
    [FAULT_THREAD] = EAGAIN,
};

static struct {
    bool chosen[FAULT_KINDS];
    fault_action action;
    long first;
    bool later; /* the calls after it too */
    atomic_long met;
    atomic_bool counting;
    fault_counts *counts;
} faults;

/* ---- Counting and choosing ------------------------------------------------------------------- */

static bool is_met(long number)
{
    if (!faults.later || number <= faults.first)
        return number == faults.first;
    return faults.action != INTERRUPT || (number - faults.first) % 2 == 0;
}

static bool can_be_interrupted(fault_kind kind)
{
    return kind == FAULT_OPEN || kind == FAULT_READ || kind == FAULT_WRITE || kind == FAULT_SYNC ||
           kind == FAULT_CLOSE;
}

/* Whether the calls of this thread are the sanitizers' or the loader's, which cannot go on without
 * memory. */
static _Thread_local bool spared;

static fault_action meet(fault_kind kind)
{
    if (!atomic_load(&faults.counting) || spared)
        return PASS;
    if (faults.counts != NULL)
        atomic_fetch_add(&faults.counts->calls[kind], 1);
    if (!faults.chosen[kind] || !is_met(atomic_fetch_add(&faults.met, 1) + 1))
        return PASS;
    if (faults.action == KILL) {
        kill(getpid(), SIGKILL);
        pause();
    }
    return faults.action;
}

/* Whether this call fails, with errno set. */
static bool fails(fault_kind kind)
{
    fault_action action = meet(kind);
    bool interrupted = action == INTERRUPT && can_be_interrupted(kind);
    if (action != FAIL && !interrupted)
        return false;
    errno = interrupted ? EINTR : failures[kind];
    return true;
}

/* The same for a transfer of *size bytes, which may become fewer. The buffers of a program are
 * often larger than the files of its tests: half of a buffer would be all that there is. */
static bool transfer_fails(fault_kind kind, size_t *size)
{
    fault_action action = meet(kind);
    if (action == SHORTEN && *size > 1)
        *size = *size / 2 < SHORT_BYTES ? *size / 2 : SHORT_BYTES;
    if (action != FAIL && action != INTERRUPT)
        return false;
    errno = action == INTERRUPT ? EINTR : failures[kind];
    return true;
}

/* ---- Setting up ------------------------------------------------------------------------------ */

static void refuse(const char *what)
{
    fprintf(stderr, "faults: %s\n", what);
    _exit(125);
}

static void choose_kinds(char *kinds)
{
    char *rest;
    for (char *word = strtok_r(kinds, ",", &rest); word != NULL;
         word = strtok_r(NULL, ",", &rest)) {
        bool known = false;
        for (int i = 0; i < FAULT_KINDS; i++)
            if (fault_kind_is(i, word))
                known = faults.chosen[i] = true;
        if (!known)
            refuse("a kind that is none");
    }
}

static void choose(const char *text)
{
    char kinds[256] = "", action[16] = "", plus[4] = "";
    if (sscanf(text, "%255[^:]:%15[^:]:%ld%3s", kinds, action, &faults.first, plus) < 3)
        refuse("FAULTS is KINDS:ACTION:N[+]");
    choose_kinds(kinds);
    faults.later = strcmp(plus, "+") == 0;
    for (size_t i = 0; i < sizeof action_names / sizeof action_names[0]; i++)
        if (strcmp(action, action_names[i].name) == 0)
            faults.action = action_names[i].action;
    if (faults.action == PASS)
        refuse("an action that is none");
}

static void map_counts(const char *path)
{
    int descriptor = open(path, O_RDWR | O_CLOEXEC);
    void *counts = MAP_FAILED;
    if (descriptor >= 0)
        counts =
            mmap(NULL, sizeof(fault_counts), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (counts == MAP_FAILED)
        refuse("cannot open the file of FAULTS_COUNTS");
    close(descriptor);
    faults.counts = counts;
}

typedef int main_function(int count, char **arguments, char **environment);

static main_function *program_main;

static int main_with_faults(int count, char **arguments, char **environment)
{
    const char *text = getenv("FAULTS"), *path = getenv("FAULTS_COUNTS");
    if (text != NULL)
        choose(text);
    if (path != NULL)
        map_counts(path);
    atomic_store(&faults.counting, true);
    int status = program_main(count, arguments, environment);
    atomic_store(&faults.counting, false);
    return status;
}

/* Calls the function of this name that would have been called without this library. */
#define NEXT(name, arguments)                                                                      \
    ({                                                                                             \
        static __typeof__(&name) next;                                                             \
        if (next == NULL)                                                                          \
            *(void **)&next = dlsym(RTLD_NEXT, #name);                                             \
        next arguments;                                                                            \
    })

/* The C library's start of a program. */
int __libc_start_main(main_function *given, int count, char **arguments, void (*start)(void),
                      void (*end)(void), void (*loader_end)(void), void *stack);

EXPORTED int __libc_start_main(main_function *given, int count, char **arguments,
                               void (*start)(void), void (*end)(void), void (*loader_end)(void),
                               void *stack)
{
    program_main = given;
    return NEXT(__libc_start_main,
                (main_with_faults, count, arguments, start, end, loader_end, stack));
}

/* Defines a call that may fail, and returns `failed` then. */
#define FAILING(type, name, parameters, arguments, kind, failed)                                   \
    EXPORTED type name parameters                                                                  \
    {                                                                                              \
        return fails(kind) ? failed : NEXT(name, arguments);                                       \
    }

/* ---- Libraries ------------------------------------------------------------------------------- */

/* The loader and what libraries do as they are loaded end the process or lose memory if they get
 * none, and are not ours to test: nothing fails there. There is no driver of a GPU. */
EXPORTED void *dlopen(const char *name, int flags)
{
    bool is_driver = name != NULL && strncmp(name, "libcuda.so", strlen("libcuda.so")) == 0;
    bool was_spared = spared;
    spared = true;
    void *library = is_driver ? NULL : NEXT(dlopen, (name, flags));
    spared = was_spared;
    return library;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

FAILING(void *, malloc, (size_t size), (size), FAULT_MEMORY, NULL)
FAILING(void *, calloc, (size_t count, size_t size), (count, size), FAULT_MEMORY, NULL)
FAILING(void *, realloc, (void *memory, size_t size), (memory, size), FAULT_MEMORY, NULL)
FAILING(void *, aligned_alloc, (size_t alignment, size_t size), (alignment, size), FAULT_MEMORY,
        NULL)
FAILING(int, posix_memalign, (void **memory, size_t alignment, size_t size),
        (memory, alignment, size), FAULT_MEMORY, ENOMEM)

/* ---- Descriptors and streams ----------------------------------------------------------------- */

static mode_t mode_argument(int flags, va_list arguments)
{
    return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t)
                                                                      : 0;
}

EXPORTED int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_argument(flags, arguments);
    va_end(arguments);
    return fails(FAULT_OPEN) ? -1 : NEXT(open, (path, flags, mode));
}

EXPORTED int openat(int directory, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_argument(flags, arguments);
    va_end(arguments);
    return fails(FAULT_OPEN) ? -1 : NEXT(openat, (directory, path, flags, mode));
}

FAILING(FILE *, fopen, (const char *path, const char *mode), (path, mode), FAULT_OPEN, NULL)
FAILING(DIR *, opendir, (const char *path), (path), FAULT_OPEN, NULL)
FAILING(DIR *, fdopendir, (int descriptor), (descriptor), FAULT_OPEN, NULL)
FAILING(int, dup, (int descriptor), (descriptor), FAULT_OPEN, -1)

EXPORTED ssize_t read(int descriptor, void *bytes, size_t size)
{
    return transfer_fails(FAULT_READ, &size) ? -1 : NEXT(read, (descriptor, bytes, size));
}

EXPORTED ssize_t pread(int descriptor, void *bytes, size_t size, off_t offset)
{
    return transfer_fails(FAULT_READ, &size) ? -1 : NEXT(pread, (descriptor, bytes, size, offset));
}

/* A stream has no short or interrupted reads but at its end. */
EXPORTED size_t fread(void *bytes, size_t size, size_t count, FILE *stream)
{
    return meet(FAULT_READ) == FAIL ? 0 : NEXT(fread, (bytes, size, count, stream));
}

EXPORTED struct dirent *readdir(DIR *directory)
{
    if (meet(FAULT_READ) != FAIL)
        return NEXT(readdir, (directory));
    errno = failures[FAULT_READ];
    return NULL;
}

EXPORTED ssize_t write(int descriptor, const void *bytes, size_t size)
{
    return transfer_fails(FAULT_WRITE, &size) ? -1 : NEXT(write, (descriptor, bytes, size));
}

EXPORTED ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t offset)
{
    return transfer_fails(FAULT_WRITE, &size) ? -1
                                              : NEXT(pwrite, (descriptor, bytes, size, offset));
}

EXPORTED int fflush(FILE *stream)
{
    bool failed = stream == stdout && meet(FAULT_WRITE) == FAIL;
    if (failed)
        errno = failures[FAULT_WRITE];
    return failed ? EOF : NEXT(fflush, (stream));
}

/* A descriptor is closed even if close(2) fails; Linux does it after EINTR too. */
EXPORTED int close(int descriptor)
{
    bool failed = fails(FAULT_CLOSE);
    int failure = errno, result = NEXT(close, (descriptor));
    if (failed)
        errno = failure;
    return failed ? -1 : result;
}

EXPORTED int fclose(FILE *stream)
{
    bool failed = meet(FAULT_CLOSE) == FAIL;
    int result = NEXT(fclose, (stream));
    if (failed)
        errno = failures[FAULT_CLOSE];
    return failed ? EOF : result;
}

/* Success is pretended: no test here cuts the power, and waiting for disks takes the most time. */
EXPORTED int fsync(int descriptor)
{
    (void)descriptor;
    return fails(FAULT_SYNC) ? -1 : 0;
}

EXPORTED int fdatasync(int descriptor)
{
    return fsync(descriptor);
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* What a rename returns that came to `result`, where the answer may be lost: the request is
 * repeated, and finds the old name gone. */
static int lose(fault_action action, int result)
{
    if (action != LOSE || result != 0)
        return result;
    errno = ENOENT;
    return -1;
}

static bool rename_fails(fault_action *action)
{
    *action = meet(FAULT_RENAME);
    errno = failures[FAULT_RENAME];
    return *action == FAIL;
}

EXPORTED int rename(const char *from, const char *to)
{
    fault_action action;
    return rename_fails(&action) ? -1 : lose(action, NEXT(rename, (from, to)));
}

EXPORTED int renameat(int from_directory, const char *from, int to_directory, const char *to)
{
    fault_action action;
    return rename_fails(&action)
               ? -1
               : lose(action, NEXT(renameat, (from_directory, from, to_directory, to)));
}

EXPORTED int renameat2(int from_directory, const char *from, int to_directory, const char *to,
                       unsigned flags)
{
    fault_action action;
    return rename_fails(&action)
               ? -1
               : lose(action, NEXT(renameat2, (from_directory, from, to_directory, to, flags)));
}

FAILING(int, link, (const char *from, const char *to), (from, to), FAULT_LINK, -1)
FAILING(int, linkat,
        (int from_directory, const char *from, int to_directory, const char *to, int flags),
        (from_directory, from, to_directory, to, flags), FAULT_LINK, -1)
FAILING(int, mkdir, (const char *path, mode_t mode), (path, mode), FAULT_MKDIR, -1)
FAILING(int, mkdirat, (int directory, const char *path, mode_t mode), (directory, path, mode),
        FAULT_MKDIR, -1)
FAILING(int, unlink, (const char *path), (path), FAULT_UNLINK, -1)
FAILING(int, unlinkat, (int directory, const char *path, int flags), (directory, path, flags),
        FAULT_UNLINK, -1)

/* ---- What is known of files ------------------------------------------------------------------ */

FAILING(int, stat, (const char *path, struct stat *about), (path, about), FAULT_STAT, -1)
FAILING(int, lstat, (const char *path, struct stat *about), (path, about), FAULT_STAT, -1)
FAILING(int, fstat, (int descriptor, struct stat *about), (descriptor, about), FAULT_STAT, -1)
FAILING(int, fstatat, (int directory, const char *path, struct stat *about, int flags),
        (directory, path, about, flags), FAULT_STAT, -1)
FAILING(int, faccessat, (int directory, const char *path, int mode, int flags),
        (directory, path, mode, flags), FAULT_STAT, -1)
FAILING(ssize_t, readlink, (const char *path, char *target, size_t size), (path, target, size),
        FAULT_STAT, -1)
FAILING(ssize_t, readlinkat, (int directory, const char *path, char *target, size_t size),
        (directory, path, target, size), FAULT_STAT, -1)
FAILING(int, fchmod, (int descriptor, mode_t mode), (descriptor, mode), FAULT_MODE, -1)
FAILING(int, fchown, (int descriptor, uid_t owner, gid_t group), (descriptor, owner, group),
        FAULT_MODE, -1)

/* ---- Threads --------------------------------------------------------------------------------- */

EXPORTED int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                            void *(*start)(void *), void *user)
{
    return fails(FAULT_THREAD) ? failures[FAULT_THREAD]
                               : NEXT(pthread_create, (thread, attributes, start, user));
}

/* AddressSanitizer asks for the stack of each new thread. */
EXPORTED int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes)
{
    spared = true;
    int result = NEXT(pthread_getattr_np, (thread, attributes));
    spared = false;
    return result;
}
