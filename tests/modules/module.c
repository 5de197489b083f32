/* A CUDA module without CUDA, for tests of how libgconv finds, checks and loads one
 * (tests/cli/module.bats). It has no device and says so. Where $GC_TEST_LOADED names a file, it
 * adds a line to it when it is loaded.
 *
 *     GC_TEST_VERSION, GC_TEST_INTERFACE  what it says of itself, else what libgconv wants
 *     GC_TEST_UNRESOLVED                  it calls a function that nobody has
 *     GC_TEST_FOREIGN                     it is a library of something else  */
#include "gpu/module.h"

#include "interface.h"

#include <stdio.h>
#include <stdlib.h>

#ifndef GC_TEST_VERSION
#define GC_TEST_VERSION GC_VERSION
#endif
#ifndef GC_TEST_INTERFACE
#define GC_TEST_INTERFACE GC_INTERFACE
#endif

__attribute__((constructor)) static void note(void)
{
    const char *name = getenv("GC_TEST_LOADED");
    FILE *file = name != NULL ? fopen(name, "a") : NULL;
    if (file != NULL) {
        fputs("loaded\n", file);
        fclose(file);
    }
}

#ifndef GC_TEST_FOREIGN

void gc_test_nobody_has_this(void);

static void enter(const gc_cuda_host *host)
{
    (void)host;
#ifdef GC_TEST_UNRESOLVED
    gc_test_nobody_has_this();
#endif
}

static int count(void)
{
    return 0;
}

static const char *reason(void)
{
    return "this is the module of a test";
}

static gconv_status pin(void *memory, size_t bytes, gconv_error *error)
{
    (void)memory, (void)bytes, (void)error;
    return GCONV_ERROR_DEVICE;
}

static void start(uint64_t devices)
{
    (void)devices;
}

static bool has_started(void)
{
    return false;
}

static bool is_ready(void)
{
    return true;
}

static void await(void)
{
}

extern const gc_cuda_table gc_cuda_module;
__attribute__((visibility("default")))
const gc_cuda_table gc_cuda_module = {.version = GC_TEST_VERSION,
                                      .interface = GC_TEST_INTERFACE,
                                      .built = "by a test",
                                      .enter = enter,
                                      .gc_gpu_count = count,
                                      .gconv_cuda_reason = reason,
                                      .gc_gpu_pin = pin,
                                      .gc_gpu_start = start,
                                      .gc_gpu_started = has_started,
                                      .gc_gpu_ready = is_ready,
                                      .gconv_device_await = await,
                                      .gconv_device_is_starting = has_started};

#endif
