/* Entries of the cache: any bytes in the place of an entry, and what was stored comes back. The
 * cache is a directory of this process, in memory where there is /dev/shm. */
#include "../fuzz.h"

#include "base/cache.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 256 };

static char root[64], directory[80], entry_path[PATH_BYTES];
static const char kind[] = "fuzz";
static const gc_hash key = {0x0123456789abcdef, 0xfedcba9876543210};

static void remove_directory(void)
{
    unlink(entry_path);
    rmdir(directory);
    rmdir(root);
}

static void make_directory(void)
{
    snprintf(root, sizeof root, "%s/gconv-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    FUZZ_REQUIRE(mkdtemp(root) != NULL && setenv("XDG_CACHE_HOME", root, 1) == 0, "%s", root);
    snprintf(directory, sizeof directory, "%s/gconv", root);
    FUZZ_REQUIRE(mkdir(directory, 0700) == 0, "%s", directory);
    snprintf(entry_path, sizeof entry_path, "%s/%s-%016llx%016llx.bin", directory, kind,
             (unsigned long long)key.high, (unsigned long long)key.low);
    atexit(remove_directory);
}

/* What stands behind the bytes of an entry: "gconv 01", their number, a hash of kind, key and
 * bytes. */
typedef struct entry_end {
    char magic[8];
    uint64_t size;
    gc_hash checksum;
} entry_end;

static entry_end right_end(const uint8_t *bytes, size_t size)
{
    entry_end end = {.magic = {'g', 'c', 'o', 'n', 'v', ' ', '0', '1'}, .size = size};
    gc_hash hash = gc_hash_string(gc_hash_start(), kind);
    hash = gc_hash_bytes(hash, &key, sizeof key);
    end.checksum = gc_hash_bytes(hash, bytes, size);
    return end;
}

static void write_entry(const uint8_t *bytes, size_t size, const entry_end *end)
{
    int file = open(entry_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool written = file >= 0 && write(file, bytes, size) == (ssize_t)size;
    if (written && end != NULL)
        written = write(file, end, sizeof *end) == sizeof *end;
    FUZZ_REQUIRE(written && close(file) == 0, "cannot write %s", entry_path);
}

/* Loads the entry: these bytes, or none of them. */
static void check_load(bool whole, const uint8_t *bytes, size_t size)
{
    void *loaded;
    size_t loaded_size;
    gconv_error error = {.status = GCONV_OK};
    gconv_status status = gc_cache_load(kind, key, &loaded, &loaded_size, &error);
    FUZZ_REQUIRE((status == GCONV_OK) == whole, "%s entry: %d", whole ? "a whole" : "no",
                 (int)status);
    if (status != GCONV_OK) {
        fuzz_require_message(status, &error);
        FUZZ_REQUIRE(loaded == NULL && access(entry_path, F_OK) != 0, "damage is still there");
        return;
    }
    FUZZ_REQUIRE(loaded_size == size && memcmp(loaded, bytes, size) == 0, "other bytes");
    free(loaded);
}

/* The bytes as a file: an entry only where they end as one does. */
static void check_raw(const uint8_t *bytes, size_t size)
{
    size_t inside = size >= sizeof(entry_end) ? size - sizeof(entry_end) : 0;
    entry_end end = right_end(bytes, inside);
    bool whole = size >= sizeof end && memcmp(bytes + inside, &end, sizeof end) == 0;
    write_entry(bytes, size, NULL);
    check_load(whole, bytes, inside);
}

/* An entry with one byte of its end, or its length, changed. */
static void check_damaged(const uint8_t *bytes, size_t size, uint8_t change)
{
    entry_end end = right_end(bytes, size);
    ((uint8_t *)&end)[change % sizeof end] ^= (uint8_t)(1 + change / sizeof end);
    write_entry(bytes, size, &end);
    check_load(false, NULL, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { RAW, MENDED, DAMAGED, STORED, CHOICES };
    fuzz_bytes from = {data, size};
    gconv_error error = {.status = GCONV_OK};
    if (root[0] == '\0')
        make_directory();
    int choice = fuzz_below(&from, CHOICES);
    uint8_t change = fuzz_byte(&from);
    entry_end end = right_end(from.next, from.left);
    if (choice == RAW) {
        check_raw(from.next, from.left);
    } else if (choice == DAMAGED) {
        check_damaged(from.next, from.left, change);
    } else {
        if (choice == MENDED)
            write_entry(from.next, from.left, &end);
        else
            FUZZ_REQUIRE(gc_cache_store(kind, key, from.next, from.left, &error) == GCONV_OK, "%s",
                         error.message);
        check_load(true, from.next, from.left);
    }
    return 0;
}
