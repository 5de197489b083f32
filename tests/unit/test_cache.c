/* What the cache returns is what was stored, or nothing. */
#include "cache_support.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

static const gc_hash key = {1, 2}, other_key = {1, 3};

static gconv_status store(const char *text)
{
    return gc_cache_store("test", key, text, strlen(text), NULL);
}

static gconv_status load(gc_hash wanted, const char *expected)
{
    OWNED void *bytes;
    size_t size;
    gconv_error error = {0};
    gconv_status status = gc_cache_load("test", wanted, &bytes, &size, &error);
    if (status == GCONV_OK) {
        assert_int_equal(size, strlen(expected));
        assert_memory_equal(bytes, expected, size);
    } else {
        assert_null(bytes);
        assert_int_equal(error.status, status);
        assert_true(strlen(error.message) > 0);
    }
    return status;
}

static mode_t mode_of(const char *path)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return about.st_mode & 07777;
}

/* ---- Entries --------------------------------------------------------------------------------- */

TEST(stored_is_found)
{
    assert_int_equal(load(key, ""), GCONV_ERROR_OPEN);
    assert_int_equal(access(cache_path, F_OK), -1); /* looking makes nothing */
    assert_ok(store("first"));
    assert_ok(load(key, "first"));
    assert_ok(store("second, longer"));
    assert_ok(load(key, "second, longer"));
    assert_ok(store(""));
    assert_ok(load(key, ""));
    assert_int_equal(load(other_key, ""), GCONV_ERROR_OPEN);
    assert_int_equal(count_cached("", NULL), 1);
    assert_int_equal(mode_of(cache_path), 0700);
    assert_int_equal(mode_of(only_entry()), 0600);
}

TEST(damage_counts_as_none)
{
    const char text[] = "some bytes that are kept";
    const long entry_bytes = (long)sizeof text - 1 + 32;
    for (long offset = 0; offset < entry_bytes; offset++) {
        assert_ok(store(text));
        damage_byte(only_entry(), offset);
        assert_int_equal(load(key, text), GCONV_ERROR_OPEN);
        assert_int_equal(count_cached("", NULL), 0);
    }
    for (long length = 0; length < entry_bytes; length++) {
        assert_ok(store(text));
        assert_int_equal(truncate(only_entry(), length), 0);
        assert_int_equal(load(key, text), GCONV_ERROR_OPEN);
        assert_int_equal(count_cached("", NULL), 0);
    }
    assert_ok(store(text));
    assert_ok(load(key, text));
}

/* A file that holds another entry than its name says is not returned. */
TEST(entries_know_their_key)
{
    assert_ok(store("mine"));
    char stolen[512];
    snprintf(stolen, sizeof stolen, "%s/test-00000000000000010000000000000003.bin", cache_path);
    assert_int_equal(rename(only_entry(), stolen), 0);
    assert_int_equal(load(other_key, ""), GCONV_ERROR_OPEN);
}

TEST(writers_do_not_mix)
{
    enum { WRITERS = 6, ROUNDS = 40, SIZE = 50000 };
    static char bytes[SIZE];
    for (int writer = 0; writer < WRITERS; writer++) {
        if (fork() != 0)
            continue;
        memset(bytes, 'a' + writer, SIZE);
        gconv_status worst = GCONV_OK;
        for (int round = 0; round < ROUNDS && worst == GCONV_OK; round++)
            worst = gc_cache_store("test", key, bytes, SIZE, NULL);
        _exit((int)worst);
    }
    int running = WRITERS, result, found = 0;
    while (running > 0) {
        while (waitpid(-1, &result, WNOHANG) > 0) {
            assert_int_equal(result, 0);
            running--;
        }
        OWNED char *whole;
        size_t size;
        gconv_status status = gc_cache_load("test", key, (void **)&whole, &size, NULL);
        assert_true(status == GCONV_OK || (status == GCONV_ERROR_OPEN && found == 0));
        found += status == GCONV_OK;
        assert_true(status != GCONV_OK || size == SIZE);
        for (size_t i = 1; i < size; i++)
            assert_int_equal(whole[i], whole[0]);
    }
    assert_true(found > 0);
    assert_int_equal(count_cached("", NULL), 1);
}

TEST(full_disk_leaves_the_old)
{
    static char large[100000];
    struct rlimit before, small;
    assert_ok(store("old"));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 5000;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    gconv_status status = gc_cache_store("test", key, large, sizeof large, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, GCONV_ERROR_WRITE);
    assert_ok(load(key, "old"));
    assert_int_equal(count_cached("", NULL), 1);
}

/* ---- Room ------------------------------------------------------------------------------------ */

/* A file of the cache that was last used some seconds ago, without bytes on the disk. */
static void make_old(const char *name, off_t size, time_t age)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", cache_path, name);
    save_file(path, "", 0);
    assert_int_equal(truncate(path, size), 0);
    const struct timespec used = {.tv_sec = time(NULL) - age};
    assert_int_equal(utimensat(AT_FDCWD, path, (const struct timespec[]){used, used}, 0), 0);
}

TEST(longest_unused_is_removed)
{
    assert_ok(store("kept, for it is used again"));
    const struct timespec past[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    assert_int_equal(utimensat(AT_FDCWD, only_entry(), past, 0), 0);
    assert_ok(load(key, "kept, for it is used again"));
    make_old("test-old.bin", 30 << 20, 300);
    make_old("test-older.bin", 30 << 20, 400);
    make_old("test-oldest.bin", 30 << 20, 500);
    make_old("large.txt", 90 << 20, 600);
    make_old(".test.bin.abandon", 10, 4000);
    make_old(".test.bin.current", 10, 10);
    assert_ok(gc_cache_store("test", other_key, "new", 3, NULL));
    assert_int_equal(count_cached("test-old", NULL), 2);
    assert_int_equal(count_cached("test-oldest", NULL), 0);
    assert_int_equal(count_cached("large.txt", NULL), 1);
    assert_int_equal(count_cached("abandon", NULL), 0);
    assert_int_equal(count_cached("current", NULL), 1);
    assert_ok(load(key, "kept, for it is used again"));
    assert_ok(load(other_key, "new"));
}

TEST(too_much_is_refused)
{
    assert_int_equal(gc_cache_store("test", key, "", GC_CACHE_BYTES_MAX, NULL), GCONV_ERROR_LIMIT);
    assert_ok(store("one"));
    assert_int_equal(truncate(only_entry(), (off_t)GC_CACHE_BYTES_MAX * 1000), 0);
    assert_int_equal(load(key, ""), GCONV_ERROR_OPEN);
}

/* ---- The directory --------------------------------------------------------------------------- */

/* A store lands below this directory. */
static void assert_place(const char *directory)
{
    snprintf(cache_path, sizeof cache_path, "%s/gconv", directory);
    assert_ok(store("here"));
    assert_int_equal(unlink(only_entry()), 0);
    assert_int_equal(rmdir(cache_path), 0);
}

TEST(environment_names_the_place)
{
    char home[256] = "", below[128];
    if (getenv("HOME") != NULL)
        snprintf(home, sizeof home, "%s", getenv("HOME"));
    setenv("HOME", scratch, 1);
    assert_place(scratch);
    snprintf(below, sizeof below, "%s/.cache", scratch); /* which is made, and no more */
    setenv("XDG_CACHE_HOME", "relative/cache", 1);
    assert_place(below);
    unsetenv("XDG_CACHE_HOME");
    assert_place(below);
    setenv("HOME", scratch_path("missing"), 1);
    assert_int_equal(store("nowhere"), GCONV_ERROR_OPEN);
    unsetenv("HOME");
    assert_int_equal(store("nowhere"), GCONV_ERROR_OPEN);
    assert_int_equal(load(key, ""), GCONV_ERROR_OPEN);
    setenv("HOME", home, 1);
}

TEST(others_may_not_write)
{
    assert_ok(store("mine"));
    assert_int_equal(chmod(cache_path, 0770), 0);
    assert_int_equal(load(key, "mine"), GCONV_ERROR_OPEN);
    assert_int_equal(store("more"), GCONV_ERROR_OPEN);
    assert_int_equal(chmod(cache_path, 0755), 0);
    assert_ok(load(key, "mine"));
    const char *entry = only_entry();
    assert_int_equal(rename(entry, scratch_path("elsewhere")), 0);
    assert_int_equal(symlink(scratch_path("elsewhere"), entry), 0);
    assert_int_equal(load(key, "mine"), GCONV_ERROR_OPEN);
    assert_ok(store("a file again"));
    assert_ok(load(key, "a file again"));
}

/* A file that other users may write, or that they own, is not used: the entry counts as missing,
 * and is replaced. */
TEST(files_of_others_count_as_none)
{
    const mode_t modes[] = {0620, 0602, 0666};
    for (size_t i = 0; i < COUNT(modes); i++) {
        assert_ok(store("mine"));
        assert_int_equal(chmod(only_entry(), modes[i]), 0);
        assert_int_equal(load(key, "mine"), GCONV_ERROR_OPEN);
    }
    assert_ok(store("mine"));
    assert_int_equal(chmod(only_entry(), 0444), 0);
    assert_ok(load(key, "mine"));
    if (geteuid() != 0) /* nobody else gives files away */
        return;
    assert_int_equal(chown(only_entry(), 1, (gid_t)-1), 0);
    assert_int_equal(load(key, "mine"), GCONV_ERROR_OPEN);
    assert_ok(store("mine again"));
    assert_ok(load(key, "mine again"));
}

TEST(removed_counts_as_none)
{
    gc_cache_remove("test", key);
    assert_ok(store("mine"));
    assert_ok(gc_cache_store("test", other_key, "other", 5, NULL));
    gc_cache_remove("test", key);
    assert_int_equal(load(key, "mine"), GCONV_ERROR_OPEN);
    assert_ok(load(other_key, "other"));
}

const test_suite suite = {.before = make_cache, .after = remove_cache};
