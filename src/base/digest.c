#include "base/digest.h"

#include "base/memory.h"
#include "base/module.h"
#include "base/status.h"
#include "base/x86.h"
#include "base/xxh3_avx2.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* xxHash from its header alone: no library to load when gconv starts. */
#define XXH_INLINE_ALL
#include <xxhash.h>
#if GC_HAS_NETTLE
#include <nettle/sha2.h>
/* Loaded for the first hash: a program that links Nettle starts a tenth of a millisecond later. */
#define NETTLE_FUNCTIONS(X)                                                                        \
    X(nettle_sha256_init)                                                                          \
    X(nettle_sha256_update)                                                                        \
    X(nettle_sha256_digest)

GC_MODULE_DECLARE(gc_nettle, gc_nettle_load, NETTLE_FUNCTIONS);
GC_MODULE_DEFINE(gc_nettle, gc_nettle_load, GC_NETTLE_FILES, NETTLE_FUNCTIONS)
#endif

enum { READ_BYTES = 1 << 16, HASH_BYTES_MAX = 32 };

struct gc_digest {
    gc_digest_kind kind;
    uint64_t counted; /* bytes of the file, from its first one */
    XXH3_state_t xxh3;
#if GC_HAS_NETTLE
    struct sha256_ctx sha256;
#endif
};

static const char *const names[GC_DIGEST_KINDS] = {
    [GC_DIGEST_XXH3] = "xxh3", [GC_DIGEST_SHA256] = "sha256"};

const char *gc_digest_name(gc_digest_kind kind)
{
    return names[kind];
}

gconv_status gc_digest_check(gc_digest_kind kind, gconv_error *error)
{
    if (kind == GC_DIGEST_XXH3)
        return GCONV_OK;
#if GC_HAS_NETTLE
    return gc_nettle_load(error);
#else
    return gc_fail(error, GCONV_ERROR_ARGUMENT,
                   "this gconv was built without Nettle, which computes sha256 hashes");
#endif
}

bool gc_digest_kind_of(const char *text, gc_digest_kind *kind)
{
    for (int i = 0; i < GC_DIGEST_KINDS; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(text, names[i], length) != 0 || text[length] != ':')
            continue;
        *kind = (gc_digest_kind)i;
        return true;
    }
    return false;
}

static void begin(gc_digest *d)
{
    d->counted = 0;
    if (d->kind == GC_DIGEST_XXH3)
        XXH3_128bits_reset(&d->xxh3);
#if GC_HAS_NETTLE
    if (d->kind == GC_DIGEST_SHA256)
        gc_nettle.nettle_sha256_init(&d->sha256);
#endif
}

static void update_xxh3(XXH3_state_t *state, const void *bytes, size_t size)
{
#if GC_HAS_XXH3_AVX2
    if (gc_x86_has(AVX2, "avx2")) {
        gc_xxh3_update_avx2(state, bytes, size);
        return;
    }
#endif
    XXH3_128bits_update(state, bytes, size);
}

static void add(gc_digest *d, const void *bytes, size_t size)
{
    d->counted += size;
    if (d->kind == GC_DIGEST_XXH3)
        update_xxh3(&d->xxh3, bytes, size);
#if GC_HAS_NETTLE
    if (d->kind == GC_DIGEST_SHA256)
        gc_nettle.nettle_sha256_update(&d->sha256, size, bytes);
#endif
}

/* Returns the length of the hash. */
static size_t end(gc_digest *d, unsigned char hash[HASH_BYTES_MAX])
{
    if (d->kind == GC_DIGEST_XXH3) {
        XXH128_canonical_t canonical;
        XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&d->xxh3));
        memcpy(hash, canonical.digest, sizeof canonical.digest);
        return sizeof canonical.digest;
    }
#if GC_HAS_NETTLE
    if (d->kind == GC_DIGEST_SHA256) {
        gc_nettle.nettle_sha256_digest(&d->sha256, SHA256_DIGEST_SIZE, hash);
        return SHA256_DIGEST_SIZE;
    }
#endif
    return 0;
}

/* Reads up to `size` bytes of the file into the hash, fewer if the file ends before. */
static gconv_status add_file(gc_digest *d, int descriptor, uint64_t size, gconv_error *error)
{
    unsigned char bytes[READ_BYTES];
    while (d->counted < size) {
        uint64_t left = size - d->counted;
        size_t wanted = left < READ_BYTES ? (size_t)left : READ_BYTES;
        ssize_t count = pread(descriptor, bytes, wanted, (off_t)d->counted);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return gc_fail_errno(error, GCONV_ERROR_READ, errno, "cannot read it for its hash");
        if (count == 0)
            return GCONV_OK;
        add(d, bytes, (size_t)count);
    }
    return GCONV_OK;
}

gc_digest *gc_digest_create(gc_digest_kind kind)
{
    gc_digest *d =
        gc_digest_check(kind, NULL) == GCONV_OK ? gc_allocate_aligned(1, sizeof *d) : NULL;
    if (d == NULL)
        return NULL;
    d->kind = kind;
    begin(d);
    return d;
}

void gc_digest_show(void *digest, uint64_t offset, const void *bytes, size_t size)
{
    gc_digest *d = digest;
    uint64_t known = d->counted - offset; /* bytes of these that are counted */
    if (offset <= d->counted && known < size)
        add(d, (const unsigned char *)bytes + known, size - (size_t)known);
}

gconv_status gc_digest_end(gc_digest *d, int descriptor, int64_t size, char text[GC_DIGEST_BYTES],
                           gconv_error *error)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char hash[HASH_BYTES_MAX];
    text[0] = '\0';
    if (size < 0 || d->counted > (uint64_t)size)
        begin(d);
    GC_TRY(add_file(d, descriptor, size < 0 ? 0 : (uint64_t)size, error));
    const char *name = names[d->kind];
    size_t length = end(d, hash), used = strlen(name);
    memcpy(text, name, used);
    text[used++] = ':';
    for (size_t i = 0; i < length; i++) {
        text[used++] = digits[hash[i] >> 4];
        text[used++] = digits[hash[i] & 15];
    }
    text[used] = '\0';
    return GCONV_OK;
}

gconv_status gc_digest_file(gc_digest_kind kind, int descriptor, int64_t size,
                            char text[GC_DIGEST_BYTES], gconv_error *error)
{
    gc_digest d = {.kind = kind};
    text[0] = '\0';
    GC_TRY(gc_digest_check(kind, error));
    begin(&d);
    return gc_digest_end(&d, descriptor, size, text, error);
}
