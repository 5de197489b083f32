/* Source to machine code by NVRTC. */
#include "gpu/jit/jit.h"

#include "gpu/device/owned.cuh"
#include "gpu/jit/nvrtc.cuh"

extern "C" {
#include "base/clock.h"
#include "base/memory.h"
}

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>

/* ---- What to compile for --------------------------------------------------------------------- */

struct target {
    char option[40];
    bool machine_code; /* else PTX */
};

/* Chooses machine code for the device itself, or else PTX of the newest architecture below it. */
static gconv_status choose_target(int architecture, const int *known, int count, target *chosen,
                                  gconv_error *error)
{
    int newest = 0;
    for (int i = 0; i < count; i++)
        if (known[i] <= architecture)
            newest = std::max(newest, known[i]);
    if (newest == 0)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "NVRTC %d.%d does not compile for compute capability %d.%d",
                       gc_nvrtc_get().release / 1000, gc_nvrtc_get().release % 1000 / 10,
                       architecture / 10, architecture % 10);
    chosen->machine_code = newest == architecture;
    snprintf(chosen->option, sizeof chosen->option, "--gpu-architecture=%s_%d",
             chosen->machine_code ? "sm" : "compute", newest);
    return GCONV_OK;
}

static gconv_status find_target(int architecture, target *chosen, gconv_error *error)
{
    int count = 0;
    GC_NVRTC_TRY(error, gc_nvrtc_get().count_architectures(&count));
    gc_owned_array<int> known((int *)gc_allocate_array((size_t)count, sizeof(int)));
    GC_TRY_MEMORY(known != nullptr, error, (size_t)count * sizeof *known);
    GC_NVRTC_TRY(error, gc_nvrtc_get().architectures(known));
    return choose_target(architecture, known, count, chosen, error);
}

/* ---- Compiling ------------------------------------------------------------------------------- */

/* Fails with the beginning of the compiler's log, as much as fits, with one blank between words. */
static gconv_status fail_with_log(nvrtcProgram program, gconv_error *error)
{
    size_t size = 0;
    GC_NVRTC_TRY(error, gc_nvrtc_get().log_size(program, &size));
    gc_owned_array<char> log((char *)calloc(size + 1, 1));
    GC_TRY_MEMORY(log != nullptr, error, size + 1);
    GC_NVRTC_TRY(error, gc_nvrtc_get().log(program, log));
    char *end = log;
    for (const char *next = log; *next != '\0'; next++)
        if (!isspace((unsigned char)*next))
            *end++ = *next;
        else if (end > log && end[-1] != ' ')
            *end++ = ' ';
    *end = '\0';
    return gc_fail(error, GCONV_ERROR_DEVICE, "NVRTC: %s", log.held);
}

/* -w: nvcc has shown the warnings of the same source already. */
const char *const gc_compile_options[GC_COMPILE_OPTIONS] = {"--std=c++17", "-default-device", "-w"};

static gconv_status compile(nvrtcProgram program, const target &chosen, gconv_error *error)
{
    const char *all[1 + GC_COMPILE_OPTIONS] = {chosen.option};
    std::copy(gc_compile_options, gc_compile_options + GC_COMPILE_OPTIONS, all + 1);
    nvrtcResult result = gc_nvrtc_get().compile(program, 1 + GC_COMPILE_OPTIONS, all);
    if (result == NVRTC_ERROR_COMPILATION)
        return fail_with_log(program, error);
    return result == NVRTC_SUCCESS ? GCONV_OK : gc_nvrtc_fail(error, result, "compiling");
}

static gconv_status take_binary(nvrtcProgram program, bool machine_code, void **binary,
                                size_t *size, gconv_error *error)
{
    size_t bytes = 0;
    GC_NVRTC_TRY(error, machine_code ? gc_nvrtc_get().cubin_size(program, &bytes)
                                     : gc_nvrtc_get().ptx_size(program, &bytes));
    gc_owned_array<char> copy((char *)malloc(bytes));
    GC_TRY_MEMORY(copy != nullptr, error, bytes);
    GC_NVRTC_TRY(error, machine_code ? gc_nvrtc_get().cubin(program, copy)
                                     : gc_nvrtc_get().ptx(program, copy));
    *binary = copy.held;
    copy.held = nullptr;
    *size = bytes;
    return GCONV_OK;
}

static gconv_status compile_for(int major, int minor, const char *source, void **binary,
                                size_t *size, gconv_error *error)
{
    if (!gc_nvrtc_get().library.loaded)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED, "%s", gc_nvrtc_get().library.reason);
    target chosen;
    GC_TRY(find_target(10 * major + minor, &chosen, error));
    nvrtcProgram program = nullptr;
    GC_NVRTC_TRY(error, gc_nvrtc_get().create(&program, source, "gconv.cu", 0, nullptr, nullptr));
    gconv_status status = compile(program, chosen, error);
    GC_THEN(status, take_binary(program, chosen.machine_code, binary, size, error));
    gc_nvrtc_get().destroy(&program);
    return status;
}

static thread_local double seconds_spent;

double gc_jit_seconds(void)
{
    return seconds_spent;
}

gconv_status gc_jit_compile(int major, int minor, const char *source, void **binary, size_t *size,
                            gconv_error *error)
{
    *binary = nullptr;
    *size = 0;
    double start = gc_seconds();
    gconv_status status = compile_for(major, minor, source, binary, size, error);
    seconds_spent += gc_seconds() - start;
    return status;
}
