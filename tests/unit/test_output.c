/* Outputs appear whole or not at all. */
#include "io_support.h"

#include "base/output.h"
#include "base/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

static const gc_output_options plain = {0};

/* Writes `text` to `path` with every step checked; the status of the first that fails. */
static gconv_status put(const char *path, const gc_output_options *options, const char *text,
                        gconv_error *error)
{
    gc_output *output;
    gconv_status status = gc_output_open(path, options, &output, error);
    if (status == GCONV_OK)
        status = gc_output_write(output, text, strlen(text), error);
    if (status == GCONV_OK)
        status = gc_output_commit(output, error);
    gc_output_free(output);
    return status;
}

static void assert_content(const char *path, const char *text)
{
    OWNED_BLOB whole = load_file(path);
    assert_int_equal(whole.size, strlen(text));
    assert_memory_equal(whole.bytes, text, whole.size);
}

static mode_t mode_of(const char *path)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return about.st_mode & 07777;
}

TEST(new_file_follows_umask)
{
    mode_t before = umask(027);
    assert_ok(put("new", &plain, "text", NULL));
    umask(before);
    assert_content("new", "text");
    assert_int_equal(mode_of("new"), 0640);
    assert_int_equal(count_entries("gconv-"), 0);
}

TEST(replaced_file_keeps_mode)
{
    save_file("old", "before", 6);
    chmod("old", 0606);
    assert_ok(put("old", &plain, "after", NULL));
    assert_content("old", "after");
    assert_int_equal(mode_of("old"), 0606);
}

TEST(nothing_is_visible_before_commit)
{
    gc_output *output;
    save_file("whole", "before", 6);
    assert_ok(gc_output_open("whole", &plain, &output, NULL));
    assert_ok(gc_output_write(output, "half", 4, NULL));
    assert_content("whole", "before");
    assert_int_equal(count_entries(".whole.gconv-"), 1);
    gc_output_free(output);
    assert_content("whole", "before");
    assert_int_equal(count_entries("gconv-"), 0);
}

TEST(large_writes_are_whole)
{
    enum { PIECES = 50, PIECE = 77777 };
    gc_output *output;
    OWNED unsigned char *piece = malloc(PIECE);
    assert_non_null(piece);
    assert_ok(gc_output_open("large", &plain, &output, NULL));
    for (int i = 0; i < PIECES; i++) {
        memset(piece, i, PIECE);
        assert_ok(gc_output_write(output, piece, i % 2 ? PIECE : 3, NULL));
    }
    assert_ok(gc_output_commit(output, NULL));
    gc_output_free(output);
    OWNED_BLOB whole = load_file("large");
    size_t at = 0;
    for (int i = 0; i < PIECES; i++)
        for (int n = i % 2 ? PIECE : 3; n > 0; n--)
            assert_int_equal(whole.bytes[at++], i);
    assert_int_equal(at, whole.size);
}

TEST(no_clobber_leaves_the_old)
{
    const gc_output_options careful = {.no_clobber = true};
    assert_ok(put("kept", &careful, "first", &error));
    assert_int_equal(put("kept", &careful, "second", &error), GCONV_ERROR_EXISTS);
    assert_content("kept", "first");
    /* The name is taken between open and commit. */
    gc_output *output;
    assert_ok(gc_output_open("race", &careful, &output, &error));
    save_file("race", "theirs", 6);
    assert_int_equal(gc_output_commit(output, &error), GCONV_ERROR_EXISTS);
    gc_output_free(output);
    assert_content("race", "theirs");
    assert_int_equal(count_entries("gconv-"), 0);
}

TEST(links_stay_links)
{
    struct stat about;
    save_file("target", "before", 6);
    assert_int_equal(symlink("target", "link"), 0);
    assert_int_equal(symlink("link", "link2"), 0);
    assert_ok(put("link2", &plain, "after", NULL));
    assert_content("target", "after");
    assert_int_equal(lstat("link", &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(symlink("not-yet", "dangling"), 0);
    assert_ok(put("dangling", &plain, "made", NULL));
    assert_content("not-yet", "made");
    assert_int_equal(lstat("dangling", &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(symlink("loop", "loop"), 0);
    assert_int_equal(put("loop", &plain, "made", NULL), GCONV_ERROR_OPEN);
}

/* ---- Links ----------------------------------------------------------------------------------- */

/* A link to a folder beside, whose target is relative to the link and leads into a third one. */
TEST(links_lead_over_folders)
{
    static const char *const folders[] = {"a", "a/b", "c"};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(mkdir(folders[i], 0777), 0);
    assert_int_equal(symlink("a/b/second", "first"), 0);
    assert_int_equal(symlink("../../c/third", "a/b/second"), 0);
    assert_int_equal(symlink("../real", "c/third"), 0);
    assert_ok(put("first", &plain, "new", NULL));
    assert_content("real", "new");
    assert_ok(put("first", &plain, "again", NULL));
    assert_content("real", "again");
    assert_ok(put("c/../first", &plain, "third", NULL));
    assert_content("real", "third");
    assert_int_equal(count_entries("gconv-"), 0);
    unlink("c/third");
    assert_int_equal(symlink("none/real", "c/third"), 0);
    assert_fails(put("first", &plain, "x", &error), GCONV_ERROR_OPEN, &error,
                 "directory does not exist");
    unlink("c/third");
    unlink("a/b/second");
    for (int i = 2; i >= 0; i--)
        assert_int_equal(rmdir(folders[i]), 0);
}

TEST(chains_of_links_have_an_end)
{
    enum { DEPTH = 40 };
    char name[32] = "chain-end";
    for (int i = 0; i <= DEPTH; i++) {
        char next[32];
        snprintf(next, sizeof next, "chain%d", i);
        assert_int_equal(symlink(name, next), 0);
        strcpy(name, next);
    }
    assert_ok(put("chain39", &plain, "held", NULL));
    assert_content("chain-end", "held");
    assert_int_equal(put("chain40", &plain, "lost", NULL), GCONV_ERROR_OPEN);
    assert_content("chain-end", "held");
}

/* Links of /proc lead to files that have no name. */
TEST(unnamed_files_are_written_directly)
{
    char path[64];
    char text[8] = "";
    int ends[2];
    if (access("/proc/self/fd", X_OK) != 0)
        skip();
    int file = open("unnamed", O_RDWR | O_CREAT, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, "much longer", 11), 11);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    unlink("unnamed");
    assert_ok(put(path, &plain, "new", NULL));
    assert_int_equal(pread(file, text, sizeof text, 0), 3);
    assert_string_equal(text, "new");
    close(file);
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[1]);
    assert_ok(put(path, &plain, "piped", NULL));
    assert_int_equal(read(ends[0], text, sizeof text), 5);
    close(ends[0]);
    close(ends[1]);
    /* One that has a name is replaced like any other. */
    save_file("named", "before", 6);
    file = open("named", O_RDONLY);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    assert_ok(put(path, &plain, "after", NULL));
    assert_int_equal(pread(file, text, 6, 0), 6);
    assert_memory_equal(text, "before", 6);
    close(file);
    assert_content("named", "after");
}

/* ---- What others do meanwhile ---------------------------------------------------------------- */

/* Called once, after the library has looked up the output's name for the first time. */
static void (*after_look)(void);

static void looked(void)
{
    void (*now)(void) = after_look;
    after_look = NULL;
    if (now != NULL)
        now();
}

int __real_fstatat(int directory, const char *name, struct stat *about, int flags);
int __wrap_fstatat(int directory, const char *name, struct stat *about, int flags);

int __wrap_fstatat(int directory, const char *name, struct stat *about, int flags)
{
    int result = __real_fstatat(directory, name, about, flags);
    int failure = errno;
    looked();
    errno = failure;
    return result;
}

int __real_stat(const char *path, struct stat *about);
int __wrap_stat(const char *path, struct stat *about);

int __wrap_stat(const char *path, struct stat *about)
{
    int result = __real_stat(path, about);
    int failure = errno;
    looked();
    errno = failure;
    return result;
}

static void plant_link(void)
{
    symlink("victim", "planted");
}

static void plant_file(void)
{
    unlink("planted");
    link("victim", "planted");
}

TEST(planted_links_are_not_followed)
{
    struct stat about;
    save_file("victim", "precious", 8);
    after_look = plant_link;
    gconv_status result = put("planted", &plain, "evil", &error);
    if (after_look != NULL)
        skip(); /* the C library has these calls under other names */
    assert_content("victim", "precious");
    assert_fails(result, GCONV_ERROR_WRITE, &error, "somebody made it");
    assert_int_equal(lstat("planted", &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    unlink("planted");
    unlink("victim");
    /* One whose target is not there yet. */
    after_look = plant_link;
    assert_int_equal(put("planted", &plain, "evil", &error), GCONV_ERROR_WRITE);
    assert_int_equal(count_entries("victim"), 0);
    assert_int_equal(count_entries("gconv-"), 0);
    unlink("planted");
}

TEST(what_takes_the_place_of_a_pipe_is_not_written)
{
    save_file("victim", "precious", 8);
    assert_int_equal(mkfifo("planted", 0600), 0);
    after_look = plant_file;
    gconv_status result = put("planted", &plain, "evil", &error);
    if (after_look != NULL)
        skip();
    assert_int_equal(result, GCONV_ERROR_OPEN);
    assert_content("victim", "precious");
    unlink("planted");
}

TEST(new_names_are_not_taken_from_others)
{
    gc_output *output;
    assert_ok(gc_output_open("meanwhile", &plain, &output, &error));
    save_file("meanwhile", "theirs", 6);
    assert_int_equal(gc_output_commit(output, &error), GCONV_ERROR_WRITE);
    gc_output_free(output);
    assert_content("meanwhile", "theirs");
    assert_int_equal(count_entries("gconv-"), 0);
}

/* In a directory like /tmp, links of other users are not followed. */
TEST(links_of_others_in_shared_directories)
{
    enum { NOBODY = 65534 };
    if (geteuid() != 0)
        skip();
    assert_int_equal(mkdir("shared", 0777), 0);
    assert_int_equal(chmod("shared", 01777), 0);
    save_file("victim", "precious", 8);
    assert_int_equal(symlink("../victim", "shared/theirs"), 0);
    assert_int_equal(symlink("../victim-to-be", "shared/dangling"), 0);
    assert_int_equal(symlink("../victim", "shared/ours"), 0);
    assert_int_equal(lchown("shared/theirs", NOBODY, NOBODY), 0);
    assert_int_equal(lchown("shared/dangling", NOBODY, NOBODY), 0);
    assert_fails(put("shared/theirs", &plain, "evil", &error), GCONV_ERROR_OPEN, &error,
                 "Permission denied");
    assert_int_equal(put("shared/dangling", &plain, "evil", &error), GCONV_ERROR_OPEN);
    assert_content("victim", "precious");
    assert_int_equal(count_entries("victim-to-be"), 0);
    assert_ok(put("shared/ours", &plain, "good", &error));
    assert_content("victim", "good");
    assert_int_equal(chmod("shared", 0777), 0);
    assert_ok(put("shared/theirs", &plain, "open", &error));
    assert_content("victim", "open");
    unlink("shared/theirs");
    unlink("shared/dangling");
    unlink("shared/ours");
    assert_int_equal(rmdir("shared"), 0);
}

/* The directory is renamed while an output is written: the output goes into the renamed directory,
 * and no temporary file stays in it. */
TEST(renamed_directories_keep_nothing_unfinished)
{
    gc_output *output[2];
    for (int end = 0; end < 2; end++) {
        assert_int_equal(mkdir("before", 0777), 0);
        assert_ok(gc_output_open("before/one", &plain, &output[0], NULL));
        assert_ok(gc_output_open("before/two", &plain, &output[1], NULL));
        assert_int_equal(rename("before", "after"), 0);
        if (end == 0)
            assert_ok(gc_output_commit(output[0], NULL));
        gc_output_free(output[0]);
        gc_output_free(output[1]);
        assert_int_equal(unlink("after/one"), end == 0 ? 0 : -1);
        assert_int_equal(rmdir("after"), 0);
    }
}

/* ---- The disk -------------------------------------------------------------------------------- */

static int syncs;
static bool sync_fails;

int __wrap_fsync(int descriptor);
int __real_fsync(int descriptor);

int __wrap_fsync(int descriptor)
{
    syncs++;
    if (!sync_fails)
        return __real_fsync(descriptor);
    errno = EIO;
    return -1;
}

static int close_failure; /* errno of every close; 0: none fails */

int __wrap_close(int descriptor);
int __real_close(int descriptor);

/* Fails, but closes the descriptor all the same, as Linux does. */
int __wrap_close(int descriptor)
{
    int result = __real_close(descriptor);
    if (close_failure == 0)
        return result;
    errno = close_failure;
    return -1;
}

static int syncs_of(const char *path, bool sync)
{
    const gc_output_options options = {.sync = sync};
    syncs = 0;
    assert_ok(put(path, &options, "text", NULL));
    return syncs;
}

/* Outputs are flushed to the disk before they replace a file, and with --sync. Others are not: that
 * would be slow. */
TEST(what_replaces_is_flushed_to_the_disk)
{
    assert_int_equal(syncs_of("flushed", false), 0);
    assert_int_equal(syncs_of("flushed", false), 1);
    assert_int_equal(syncs_of("flushed-new", true), 1);
    assert_int_equal(syncs_of("flushed-new", true), 1);
    assert_int_equal(syncs_of("/dev/null", true), 0);
    sync_fails = true;
    gconv_status status = put("flushed", &plain, "other", &error);
    sync_fails = false;
    assert_fails(status, GCONV_ERROR_WRITE, &error, "flush to the disk");
    assert_content("flushed", "text");
    assert_int_equal(count_entries("gconv-"), 0);
}

/* Network file systems and quotas tell of lost data when a file is closed. */
TEST(what_cannot_be_closed_is_an_error)
{
    static const int failures[] = {EIO, ENOSPC, EDQUOT};
    for (size_t i = 0; i < COUNT(failures); i++) {
        save_file("kept", "before", 6);
        close_failure = failures[i];
        gconv_status status = put("kept", &plain, "other", &error);
        close_failure = 0;
        assert_fails(status, GCONV_ERROR_WRITE, &error, "cannot close");
        assert_content("kept", "before");
        assert_int_equal(count_entries("gconv-"), 0);
    }
    close_failure = EINTR; /* of a file that is closed all the same */
    assert_ok(put("kept", &plain, "after", NULL));
    close_failure = 0;
    assert_content("kept", "after");
}

TEST(long_names_fit)
{
    char name[256];
    memset(name, 'n', 255);
    name[255] = '\0';
    assert_ok(put(name, &plain, "text", NULL));
    assert_content(name, "text");
}

TEST(what_cannot_be_opened)
{
    assert_int_equal(put("", &plain, "x", &error), GCONV_ERROR_OPEN);
    assert_fails(put(scratch, &plain, "x", &error), GCONV_ERROR_OPEN, &error, "Is a directory");
    assert_int_equal(put("no/such/place", &plain, "x", &error), GCONV_ERROR_OPEN);
    assert_int_equal(put("new/", &plain, "x", &error), GCONV_ERROR_OPEN);
    if (geteuid() == 0) /* root may write everywhere */
        return;
    mkdir("closed", 0555);
    assert_int_equal(put("closed/file", &plain, "x", &error), GCONV_ERROR_OPEN);
    save_file("readonly", "before", 6);
    chmod("readonly", 0444);
    assert_int_equal(put("readonly", &plain, "x", &error), GCONV_ERROR_OPEN);
}

TEST(full_device_is_an_error)
{
    if (access("/dev/full", W_OK) != 0)
        skip();
    assert_int_equal(put("/dev/full", &plain, "x", &error), GCONV_ERROR_WRITE);
    assert_ok(put("/dev/null", &plain, "x", &error));
    struct stat about;
    assert_int_equal(stat("/dev/null", &about), 0);
    assert_true(S_ISCHR(about.st_mode));
}

static void *read_fifo(void *path)
{
    static char text[32];
    int descriptor = open(path, O_RDONLY);
    ssize_t count = read(descriptor, text, sizeof text - 1);
    text[count > 0 ? count : 0] = '\0';
    close(descriptor);
    return text;
}

TEST(fifo_is_written_directly)
{
    char path[512];
    pthread_t reader;
    void *text;
    snprintf(path, sizeof path, "%s", "fifo");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(pthread_create(&reader, NULL, read_fifo, path), 0);
    assert_ok(put(path, &plain, "through", NULL));
    assert_int_equal(pthread_join(reader, &text), 0);
    assert_string_equal(text, "through");
    struct stat about;
    assert_int_equal(lstat(path, &about), 0);
    assert_true(S_ISFIFO(about.st_mode));
}

/* Runs in a child: after gconv_abandon_outputs a process can write no more. */
TEST(abandoned_outputs_are_removed)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        gc_output *output[4];
        int failures = 0;
        for (int i = 0; i < 3; i++) {
            char name[24];
            snprintf(name, sizeof name, "abandon%d", i);
            failures += gc_output_open(name, &plain, &output[i], NULL) != GCONV_OK;
        }
        failures += count_entries("gconv-") != 3;
        failures += mkdir("moving", 0777) != 0;
        failures += gc_output_open("moving/late", &plain, &output[3], NULL) != GCONV_OK;
        failures += rename("moving", "moved") != 0;
        gconv_abandon_outputs();
        failures += count_entries("gconv-") != 0;
        failures += rmdir("moved") != 0; /* nothing is left in it */
        failures += gc_output_commit(output[0], NULL) == GCONV_OK;
        failures += put("late", &plain, "x", NULL) == GCONV_OK;
        failures += count_entries("abandon") != 0 || count_entries("late") != 0;
        for (int i = 0; i < 4; i++)
            gc_output_free(output[i]);
        _exit(failures);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 0);
}

/* ---- Leftovers ------------------------------------------------------------------------------- */

TEST(temporary_names_are_told_from_others)
{
    char name[NAME_MAX + 1], other[NAME_MAX + 1];
    gc_temporary_name("0123abcd", "x.png", name);
    assert_memory_equal(name, ".x.png.gconv-0123abcd", 21);
    assert_int_equal(strlen(name), 31);
    assert_true(gc_temporary_is_of("0123abcd", name));
    assert_false(gc_temporary_is_of("0123abce", name));
    for (size_t i = 0; name[i] != '\0'; i++) {
        strcpy(other, name);
        other[i] = other[i] == '7' ? '8' : '7';
        assert_false(gc_temporary_is_of("0123abcd", other));
        other[i] = '\0';
        assert_false(gc_temporary_is_of("0123abcd", other));
    }
}

TEST(leftovers_of_this_machine_alone_are_removed)
{
    char own[GC_HOST_TAG_BYTES], name[NAME_MAX + 1];
    size_t removed = 0;
    assert_true(gc_host_tag(own));
    for (int i = 0; i < 2; i++) {
        gc_temporary_name(i == 0 ? own : "00000000", "x.png", name);
        save_file(name, "part", 4);
    }
    assert_ok(gconv_remove_leftovers(scratch, &removed, NULL));
    assert_int_equal(removed, 1);
    assert_content(name, "part");
    unlink(name);
    assert_int_equal(count_entries(".x.png.gconv-"), 0);
}

const test_suite suite = {.setup = enter_scratch, .teardown = remove_scratch};
