/* Finds and loads the CUDA module, and calls it: libgconv's side of module.h. */
#define _GNU_SOURCE /* dladdr, secure_getenv */
#include "gpu/module.h"

#include "base/status.h"
#include "interface.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#if defined(__linux__)
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>
#else
enum { PATH_MAX = 1024 };
#endif

static const gc_cuda_table *_Atomic module; /* NULL: not loaded */
static atomic_bool looked_for;
static char reason[PATH_MAX + 128]; /* why there is no module */
static char loaded_text[PATH_MAX + 128];

/* ---- Finding it ------------------------------------------------------------------------------ */

#if defined(__linux__)

#define SAY(...) snprintf(reason, sizeof reason, __VA_ARGS__)

/* The directory of the file with this code: libgconv.so, or a program that contains it. The loader
 * knows a program by the name that it was called with, the kernel by its file. */
static bool find_directory(char directory[PATH_MAX], bool *is_program)
{
    Dl_info own;
    if (dladdr(reason, &own) == 0)
        return false;
    const ElfW(Ehdr) *header = own.dli_fbase;
    *is_program = (uintptr_t)header + header->e_phoff == getauxval(AT_PHDR);
    if (realpath(*is_program ? "/proc/self/exe" : own.dli_fname, directory) == NULL)
        return false;
    *strrchr(directory, '/') = '\0';
    return true;
}

/* Appends a relative way to a directory. "../" takes the last name away. */
static void go(char directory[PATH_MAX], const char *way)
{
    for (; strncmp(way, "../", 3) == 0; way += 3) {
        char *last = strrchr(directory, '/');
        if (last != NULL)
            *last = '\0';
    }
    size_t length = strlen(directory);
    snprintf(directory + length, PATH_MAX - length, "/%s", way);
}

/* Programs lie in a directory of programs, gconv-lab in its own: GC_..._TO_MODULE lead from there
 * to the module. Where they were built, it lies beside them. */
static const char *way_from(const char *directory)
{
    return gc_ends_with(directory, GC_LAB_PLACE)       ? GC_LAB_TO_MODULE
           : gc_ends_with(directory, GC_PROGRAM_PLACE) ? GC_PROGRAM_TO_MODULE
                                                       : GC_MODULE_BESIDE;
}

/* Where the installed module is. Whoever starts a set-user-id program may have made the name by
 * which it was found. The name of a library is not theirs. */
static bool locate_installed(char path[PATH_MAX])
{
    bool is_program;
    char directory[PATH_MAX];
    if (!find_directory(directory, &is_program)) {
        SAY("the directory of gconv, beside which its CUDA module lies, is not known");
        return false;
    }
    if (is_program && getauxval(AT_SECURE) != 0) {
        SAY("a set-user-id program that contains gconv loads no CUDA module");
        return false;
    }
    strcpy(path, directory);
    go(path, GC_MODULE_BESIDE);
    if (is_program && access(path, F_OK) != 0) {
        strcpy(path, directory);
        go(path, way_from(directory));
    }
    return true;
}

/* Whoever sets the variable wants another module than the installed one, so it comes first. It does
 * not count in set-user-id programs. The loader would look for a name without '/' elsewhere. */
static bool locate(char path[PATH_MAX])
{
    const char *named = secure_getenv("GCONV_CUDA_MODULE");
    if (named == NULL || named[0] == '\0')
        return locate_installed(path);
    const char *here = strchr(named, '/') == NULL ? "./" : "";
    return snprintf(path, PATH_MAX, "%s%s", here, named) > 0;
}

/* ---- Loading it ------------------------------------------------------------------------------ */

/* Whether a file holds all that its header names. Loading one that was cut short would raise
 * SIGBUS. The loader judges what is no ELF file. */
static bool is_whole(int file)
{
    ElfW(Ehdr) header;
    ElfW(Phdr) part;
    struct stat status;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    if (pread(file, &header, sizeof header, 0) != (ssize_t)sizeof header ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return true;
    for (int i = 0; i < header.e_phnum; i++) {
        size_t at = header.e_phoff + (size_t)i * header.e_phentsize;
        if (pread(file, &part, sizeof part, (off_t)at) != (ssize_t)sizeof part ||
            part.p_offset + part.p_filesz > (size_t)status.st_size)
            return false;
    }
    return true;
}

static bool check_file(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        if (errno == ENOENT)
            SAY("there is no CUDA module %s", path);
        else
            SAY("cannot open the CUDA module %s: %s", path, strerror(errno));
        return false;
    }
    bool whole = is_whole(file);
    if (!whole)
        SAY("the CUDA module %s is not a whole file", path);
    close(file);
    return whole;
}

/* NULL if it is not the module of this library. */
static const gc_cuda_table *check_table(const char *path, const gc_cuda_table *table)
{
    if (table == NULL)
        SAY("%s is no CUDA module of gconv", path);
    else if (strcmp(table->version, GC_VERSION) != 0)
        SAY("the CUDA module %s is of gconv %s, and this is gconv %s", path, table->version,
            GC_VERSION);
    else if (strcmp(table->interface, GC_INTERFACE) != 0)
        SAY("the CUDA module %s was built from other sources than this gconv %s", path, GC_VERSION);
    else
        return table;
    return NULL;
}

/* A module stays loaded: threads of the driver may run in it. */
static void load(void)
{
    static const gc_cuda_host host = {gc_team_run};
    char path[PATH_MAX];
    if (!locate(path) || !check_file(path))
        return;
    void *opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (opened == NULL) {
        SAY("cannot load the CUDA module: %s", dlerror());
        return;
    }
    const gc_cuda_table *found = check_table(path, dlsym(opened, "gc_cuda_module"));
    if (found == NULL)
        return;
    snprintf(loaded_text, sizeof loaded_text, "%s (%s)", path, found->built);
    found->enter(&host);
    module = found;
}

#else

static void load(void)
{
    snprintf(reason, sizeof reason, "gconv uses CUDA on Linux alone");
}

#endif

static void look_once(void)
{
    load();
    looked_for = true;
}

/* The module, which this loads the first time; NULL with the reason in `reason`. */
static const gc_cuda_table *ask(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, look_once);
    return module;
}

const char *gconv_cuda_module(void)
{
    return module != NULL ? loaded_text : "";
}

/* ---- Calling it ------------------------------------------------------------------------------ */

static gconv_status fail(gconv_error *error)
{
    return gc_fail(error, GCONV_ERROR_DEVICE, "%s", reason);
}

/* Defines a function that calls that of the module, if there is one. */
#define CALL(found, type, name, parameters, arguments, otherwise)                                  \
    type name parameters                                                                           \
    {                                                                                              \
        return (found) != NULL ? module->name arguments : otherwise;                               \
    }

/* What wants a GPU loads the module. */
CALL(ask(), int, gc_gpu_count, (void), (), 0)
CALL(ask(), const char *, gconv_cuda_reason, (void), (), reason)
CALL(ask(), gconv_status, gc_gpu_describe, (int index, gconv_device_info *info, gconv_error *error),
     (index, info, error),
     gc_fail(error, GCONV_ERROR_DEVICE, "there is no device cuda:%d: %s", index, reason))
CALL(ask(), const struct gc_operations *, gc_gpu_operations, (const char *name), (name), NULL)
CALL(ask(), gconv_status, gc_gpu_pin, (void *memory, size_t bytes, gconv_error *error),
     (memory, bytes, error), fail(error))
CALL(ask(), void, gc_gpu_start, (uint64_t devices), (devices), (void)0)
CALL(ask(), int, gconv_nvrtc_version, (void), (), 0)
CALL(ask(), gconv_status, gconv_gpu_lines_create,
     (int index, const float *numbers, size_t count, gconv_gpu_lines **lines, gconv_error *error),
     (index, numbers, count, lines, error), (*lines = NULL, fail(error)))
CALL(ask(), gconv_status, gc_tuner_create,
     (const gconv_device_info *device, gc_tuner **tuner, int *side, gconv_error *error),
     (device, tuner, side, error), fail(error))

/* What goes on with a GPU, or asks about one, does not. */
CALL(module, bool, gc_gpu_works, (int index), (index), false)
CALL(module, void, gc_gpu_unpin, (void *memory), (memory), (void)0)
CALL(module, bool, gc_gpu_started, (void), (), false)
CALL(module, bool, gc_gpu_ready, (void), (), looked_for)
CALL(module, void, gconv_device_await, (void), (), (void)0)
CALL(module, bool, gconv_device_is_starting, (void), (), false)
CALL(module, void, gconv_gpu_lines_free, (gconv_gpu_lines * lines), (lines), (void)0)
CALL(module, gconv_status, gconv_gpu_lines_plan,
     (gconv_gpu_lines * lines, int points, gconv_lines_way way, gconv_error *error),
     (lines, points, way, error), fail(error))
CALL(module, gconv_status, gconv_gpu_lines_pass,
     (gconv_gpu_lines * lines, double *seconds, gconv_error *error), (lines, seconds, error),
     fail(error))
CALL(module, gconv_status, gconv_gpu_lines_read,
     (const gconv_gpu_lines *lines, size_t first, size_t count, float *numbers, gconv_error *error),
     (lines, first, count, numbers, error), fail(error))
CALL(module, gconv_status, gc_tuner_search,
     (gc_tuner * tuner, const gc_layout *layout, gconv_tuning_goes_on *goes_on, void *user,
      gconv_tuning_result *result, gc_tuned *best, gconv_error *error),
     (tuner, layout, goes_on, user, result, best, error), fail(error))
CALL(module, void, gc_tuner_destroy, (gc_tuner * tuner), (tuner), (void)0)

#if !GC_HAS_FAST /* gpu/cost is not there, and no module fits */
double gc_gpu_least_seconds(const gc_problem *problem, double cpu_seconds)
{
    (void)problem, (void)cpu_seconds;
    return HUGE_VAL;
}
#endif
