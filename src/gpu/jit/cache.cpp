/* The cache of compiled kernels on disk. */
#include "gpu/device/check.cuh"
#include "gpu/jit/jit.h"
#include "gpu/jit/nvrtc.cuh"

extern "C" {
#include "base/cache.h"
}

#include <cstdlib>
#include <cstring>

static const char kind[] = "kernel";

static gc_hash hash_number(gc_hash hash, int number)
{
    return gc_hash_bytes(hash, &number, sizeof number);
}

/* The key of an entry. NVRTC's version is not part of it: to know this version, NVRTC has to be
 * loaded. The entry holds the version instead. */
static gc_hash key_of(const gconv_device_info *device, const char *source)
{
    gc_hash hash = gc_hash_string(gc_hash_start(), gconv_version());
    hash = gc_hash_string(hash, device->name);
    hash = hash_number(hash, device->compute_major);
    hash = hash_number(hash, device->compute_minor);
    hash = hash_number(hash, device->driver_version);
    for (const char *option : gc_compile_options)
        hash = gc_hash_string(hash, option);
    return gc_hash_string(hash, source);
}

/* An entry is the binary, then the release of the NVRTC that made it. The binary is empty if the
 * driver refused it for good. */
static bool load_entry(gc_hash key, int *release, void **binary, size_t *size)
{
    if (gc_cache_load(kind, key, binary, size, nullptr) != GCONV_OK)
        return false;
    if (*size < sizeof *release) {
        free(*binary);
        return false;
    }
    *size -= sizeof *release;
    memcpy(release, (const char *)*binary + *size, sizeof *release);
    return true;
}

/* A failure has no consequence except that the kernel is compiled again next time. */
static void store_entry(gc_hash key, int release, const void *binary, size_t size)
{
    char *entry = (char *)malloc(size + sizeof release);
    if (entry == nullptr)
        return;
    if (size > 0)
        memcpy(entry, binary, size);
    memcpy(entry + size, &release, sizeof release);
    gc_cache_store(kind, key, entry, size + sizeof release, nullptr);
    free(entry);
}

gconv_status gc_jit_binary(const gconv_device_info *device, const char *source, gc_jit_when when,
                           void **binary, size_t *size, gconv_error *error)
{
    if (when == GC_JIT_UNKEPT)
        return gc_jit_compile(device->compute_major, device->compute_minor, source, binary, size,
                              error);
    gc_hash key = key_of(device, source);
    int release = 0;
    bool cached = load_entry(key, &release, binary, size);
    bool holds = cached && (when == GC_JIT_CACHED_ONLY || !gc_nvrtc_get().library.loaded ||
                            release == gc_nvrtc_get().release);
    if (holds && *size > 0)
        return GCONV_OK;
    if (cached)
        free(*binary);
    *binary = nullptr;
    *size = 0;
    if (holds)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "the driver refuses what NVRTC %d.%d compiles", release / 1000,
                       release % 1000 / 10);
    if (when == GC_JIT_CACHED_ONLY)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED, "this kernel has not been compiled yet");
    GC_TRY(
        gc_jit_compile(device->compute_major, device->compute_minor, source, binary, size, error));
    store_entry(key, gc_nvrtc_get().release, *binary, *size);
    return GCONV_OK;
}

void gc_jit_refuse(const gconv_device_info *device, const char *source, bool for_good)
{
    gc_hash key = key_of(device, source);
    if (for_good)
        store_entry(key, gc_nvrtc_get().release, nullptr, 0);
    else
        gc_cache_remove(kind, key);
}
