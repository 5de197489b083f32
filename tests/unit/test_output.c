/* Outputs appear whole or not at all. */
#include "io_support.h"

#include "io/output.h"

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
    blob whole = load_file(path);
    assert_int_equal(whole.size, strlen(text));
    assert_memory_equal(whole.bytes, text, whole.size);
    free(whole.bytes);
}

static mode_t mode_of(const char *path)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return status.st_mode & 07777;
}

static void new_file_follows_umask(void **state)
{
    (void)state;
    mode_t before = umask(027);
    assert_int_equal(put(scratch_path("new"), &plain, "text", NULL), GCONV_OK);
    umask(before);
    assert_content(scratch_path("new"), "text");
    assert_int_equal(mode_of(scratch_path("new")), 0640);
    assert_int_equal(count_entries("gconv-"), 0);
}

static void replaced_file_keeps_mode(void **state)
{
    (void)state;
    save_file(scratch_path("old"), "before", 6);
    chmod(scratch_path("old"), 0606);
    assert_int_equal(put(scratch_path("old"), &plain, "after", NULL), GCONV_OK);
    assert_content(scratch_path("old"), "after");
    assert_int_equal(mode_of(scratch_path("old")), 0606);
}

static void nothing_is_visible_before_commit(void **state)
{
    (void)state;
    gc_output *output;
    save_file(scratch_path("whole"), "before", 6);
    assert_int_equal(gc_output_open(scratch_path("whole"), &plain, &output, NULL), GCONV_OK);
    assert_int_equal(gc_output_write(output, "half", 4, NULL), GCONV_OK);
    assert_content(scratch_path("whole"), "before");
    assert_int_equal(count_entries(".whole.gconv-"), 1);
    gc_output_free(output);
    assert_content(scratch_path("whole"), "before");
    assert_int_equal(count_entries("gconv-"), 0);
}

static void large_writes_are_whole(void **state)
{
    (void)state;
    enum { PIECES = 50, PIECE = 77777 };
    gc_output *output;
    unsigned char *piece = malloc(PIECE);
    assert_non_null(piece);
    assert_int_equal(gc_output_open(scratch_path("large"), &plain, &output, NULL), GCONV_OK);
    for (int i = 0; i < PIECES; i++) {
        memset(piece, i, PIECE);
        assert_int_equal(gc_output_write(output, piece, i % 2 ? PIECE : 3, NULL), GCONV_OK);
    }
    assert_int_equal(gc_output_commit(output, NULL), GCONV_OK);
    gc_output_free(output);
    blob whole = load_file(scratch_path("large"));
    size_t at = 0;
    for (int i = 0; i < PIECES; i++)
        for (int n = i % 2 ? PIECE : 3; n > 0; n--)
            assert_int_equal(whole.bytes[at++], i);
    assert_int_equal(at, whole.size);
    free(whole.bytes);
    free(piece);
}

static void no_clobber_leaves_the_old(void **state)
{
    (void)state;
    const gc_output_options careful = {.no_clobber = true};
    gconv_error error;
    assert_int_equal(put(scratch_path("kept"), &careful, "first", &error), GCONV_OK);
    assert_int_equal(put(scratch_path("kept"), &careful, "second", &error), GCONV_ERROR_EXISTS);
    assert_content(scratch_path("kept"), "first");
    /* The name is taken between open and commit. */
    gc_output *output;
    assert_int_equal(gc_output_open(scratch_path("race"), &careful, &output, &error), GCONV_OK);
    save_file(scratch_path("race"), "theirs", 6);
    assert_int_equal(gc_output_commit(output, &error), GCONV_ERROR_EXISTS);
    gc_output_free(output);
    assert_content(scratch_path("race"), "theirs");
    assert_int_equal(count_entries("gconv-"), 0);
}

static void links_stay_links(void **state)
{
    (void)state;
    struct stat status;
    save_file(scratch_path("target"), "before", 6);
    assert_int_equal(symlink("target", scratch_path("link")), 0);
    assert_int_equal(symlink(scratch_path("link"), scratch_path("link2")), 0);
    assert_int_equal(put(scratch_path("link2"), &plain, "after", NULL), GCONV_OK);
    assert_content(scratch_path("target"), "after");
    assert_int_equal(lstat(scratch_path("link"), &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(symlink("not-yet", scratch_path("dangling")), 0);
    assert_int_equal(put(scratch_path("dangling"), &plain, "made", NULL), GCONV_OK);
    assert_content(scratch_path("not-yet"), "made");
    assert_int_equal(lstat(scratch_path("dangling"), &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(symlink("loop", scratch_path("loop")), 0);
    assert_int_equal(put(scratch_path("loop"), &plain, "made", NULL), GCONV_ERROR_OPEN);
}

static void long_names_fit(void **state)
{
    (void)state;
    char name[256];
    memset(name, 'n', 255);
    name[255] = '\0';
    assert_int_equal(put(scratch_path(name), &plain, "text", NULL), GCONV_OK);
    assert_content(scratch_path(name), "text");
}

static void what_cannot_be_opened(void **state)
{
    (void)state;
    gconv_error error;
    assert_int_equal(put("", &plain, "x", &error), GCONV_ERROR_OPEN);
    assert_int_equal(put(scratch, &plain, "x", &error), GCONV_ERROR_OPEN);
    assert_non_null(strstr(error.message, "Is a directory"));
    assert_int_equal(put(scratch_path("no/such/place"), &plain, "x", &error), GCONV_ERROR_OPEN);
    assert_int_equal(put(scratch_path("new/"), &plain, "x", &error), GCONV_ERROR_OPEN);
    if (geteuid() == 0) /* root may write everywhere */
        return;
    mkdir(scratch_path("closed"), 0555);
    assert_int_equal(put(scratch_path("closed/file"), &plain, "x", &error), GCONV_ERROR_OPEN);
    save_file(scratch_path("readonly"), "before", 6);
    chmod(scratch_path("readonly"), 0444);
    assert_int_equal(put(scratch_path("readonly"), &plain, "x", &error), GCONV_ERROR_OPEN);
}

static void full_device_is_an_error(void **state)
{
    (void)state;
    gconv_error error;
    if (access("/dev/full", W_OK) != 0)
        skip();
    assert_int_equal(put("/dev/full", &plain, "x", &error), GCONV_ERROR_WRITE);
    assert_int_equal(put("/dev/null", &plain, "x", &error), GCONV_OK);
    struct stat status;
    assert_int_equal(stat("/dev/null", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
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

static void fifo_is_written_directly(void **state)
{
    (void)state;
    char path[512];
    pthread_t reader;
    void *text;
    snprintf(path, sizeof path, "%s", scratch_path("fifo"));
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(pthread_create(&reader, NULL, read_fifo, path), 0);
    assert_int_equal(put(path, &plain, "through", NULL), GCONV_OK);
    assert_int_equal(pthread_join(reader, &text), 0);
    assert_string_equal(text, "through");
    struct stat status;
    assert_int_equal(lstat(path, &status), 0);
    assert_true(S_ISFIFO(status.st_mode));
}

/* In a child: abandoning is for good. */
static void abandoned_outputs_are_removed(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        gc_output *output[3];
        int failures = 0;
        for (int i = 0; i < 3; i++) {
            char name[24];
            snprintf(name, sizeof name, "abandon%d", i);
            failures += gc_output_open(scratch_path(name), &plain, &output[i], NULL) != GCONV_OK;
        }
        failures += count_entries("gconv-") != 3;
        gconv_abandon_outputs();
        failures += count_entries("gconv-") != 0;
        failures += gc_output_commit(output[0], NULL) == GCONV_OK;
        failures += put(scratch_path("late"), &plain, "x", NULL) == GCONV_OK;
        failures += count_entries("abandon") != 0 || count_entries("late") != 0;
        for (int i = 0; i < 3; i++)
            gc_output_free(output[i]);
        _exit(failures);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 0);
}

static void stop(int number)
{
    gconv_abandon_outputs();
    _exit(number == SIGTERM ? 0 : 1);
}

static void *write_on(void *user)
{
    char path[128];
    snprintf(path, sizeof path, "%s/busy%d", scratch, *(int *)user);
    for (;;)
        put(path, &plain, "busy", NULL);
    return NULL;
}

/* A signal in the middle of the work of several threads leaves no temporary file. */
static void signals_leave_nothing_behind(void **state)
{
    (void)state;
    enum { ROUNDS = 30, THREADS = 3 };
    for (int round = 0; round < ROUNDS; round++) {
        int ready[2];
        assert_int_equal(pipe(ready), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            static int numbers[THREADS] = {0, 1, 2};
            pthread_t threads[THREADS];
            signal(SIGTERM, stop);
            for (int i = 0; i < THREADS; i++)
                pthread_create(&threads[i], NULL, write_on, &numbers[i]);
            if (write(ready[1], "", 1) == 1)
                pause();
            _exit(2);
        }
        char byte;
        assert_int_equal(read(ready[0], &byte, 1), 1);
        close(ready[0]);
        close(ready[1]);
        usleep((useconds_t)(500 + 311 * round));
        kill(child, SIGTERM);
        int result;
        assert_int_equal(waitpid(child, &result, 0), child);
        assert_true(WIFEXITED(result));
        assert_int_equal(WEXITSTATUS(result), 0);
        assert_int_equal(count_entries("gconv-"), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_file_follows_umask),
        cmocka_unit_test(replaced_file_keeps_mode),
        cmocka_unit_test(nothing_is_visible_before_commit),
        cmocka_unit_test(large_writes_are_whole),
        cmocka_unit_test(no_clobber_leaves_the_old),
        cmocka_unit_test(links_stay_links),
        cmocka_unit_test(long_names_fit),
        cmocka_unit_test(what_cannot_be_opened),
        cmocka_unit_test(full_device_is_an_error),
        cmocka_unit_test(fifo_is_written_directly),
        cmocka_unit_test(abandoned_outputs_are_removed),
        cmocka_unit_test(signals_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
