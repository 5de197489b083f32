/* What --kernel accepts: paths first, then built-in names, generators and inline strings. Runs in a
 * directory of its own. */
#include "unit.h"

#include "filter/filter.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void check_refused(const char *specification, gconv_status expected, int line,
                          const char *message)
{
    static gconv_filter untouched;
    gconv_filter *filter = &untouched;
    gconv_error error;
    gconv_status status = gconv_filter_load(specification, &filter, &error);
    if (status != expected)
        fail_msg("'%s' gave status %d", specification, (int)status);
    assert_null(filter);
    if (error.line != line || strstr(error.message, message) == NULL)
        fail_msg("'%s': line %d: %s", specification, error.line, error.message);
    assert_int_equal(gconv_filter_load(specification, &filter, NULL), expected);
}

static void check_width(const char *specification, int width, const char *name)
{
    OWNED_FILTER filter = load_filter(specification);
    assert_int_equal(filter->width, width);
    assert_string_equal(filter->name, name);
}

TEST(a_path_wins)
{
    static const char *const taken[] = {"gauss5", "gauss5.txt", "box:3", "identity", "3x1: 1,2,3"};
    for (size_t i = 0; i < COUNT(taken); i++) {
        write_file(taken[i], "1 2 3 4 5 6 7\n");
        gconv_filter *filter = load_filter(taken[i]);
        assert_int_equal(filter->width, 7);
        gconv_filter_free(filter);
        assert_int_equal(unlink(taken[i]), 0);
    }
    check_width("gauss5", 5, "gauss5");
    check_width("gauss5.txt", 5, "gauss5");
    check_width("box:3", 3, "box:3");
    check_width("identity", 1, "identity");
    check_width("3x1: 1,2,3", 3, "3x1: 1,2,3");
}

TEST(a_built_in_filter_is_loaded_whatever_files_there_are)
{
    static const char *const names[] = {"gauss5", "box:3", "identity"};
    static const int widths[] = {5, 3, 1};
    gconv_filter *filter;
    for (size_t i = 0; i < COUNT(names); i++) {
        write_file(names[i], "1 2 3 4 5 6 7\n");
        assert_int_equal(gconv_filter_load_builtin(names[i], &filter, &error), GCONV_OK);
        assert_int_equal(filter->width, widths[i]);
        gconv_filter_free(filter);
        assert_int_equal(unlink(names[i]), 0);
    }
    assert_int_equal(gconv_filter_load_builtin("3x1: 1,2,3", &filter, &error), GCONV_ERROR_FILTER);
    assert_null(filter);
}

TEST(a_directory_is_no_filter)
{
    static const char *const taken[] = {"gauss5", "gauss5.txt", "box:3", "identity", "3x1: 1,2,3"};
    static const int widths[] = {5, 5, 3, 1, 3};
    for (size_t i = 0; i < COUNT(taken); i++) {
        assert_int_equal(mkdir(taken[i], 0700), 0);
        gconv_filter *filter = load_filter(taken[i]);
        assert_int_equal(filter->width, widths[i]);
        gconv_filter_free(filter);
        assert_int_equal(rmdir(taken[i]), 0);
    }
}

TEST(a_file_gives_its_stem_or_its_name)
{
    assert_int_equal(mkdir("dir", 0777), 0);
    write_file("dir/mine.txt", "1 2\n");
    check_width("dir/mine.txt", 2, "mine");
    check_width("./dir//mine.txt", 2, "mine");
    write_file("dir/mine.txt", "name Other\n1 2 3\n");
    check_width("dir/mine.txt", 3, "Other");
    write_file("dir/.txt", "3x1: 1\n2 3\n");
    check_width("dir/.txt", 3, ".txt");
    assert_int_equal(symlink("nowhere", "gauss3"), 0);
    check_width("gauss3", 3, "gauss3"); /* a link to nothing is no file */
    assert_int_equal(unlink("gauss3"), 0);
}

TEST(reports_what_cannot_be_read)
{
    write_file("bad.txt", "1 2\n\n3 x\n");
    check_refused("bad.txt", GCONV_ERROR_FILTER, 3, "'x' is not a number");
    write_file("empty.txt", "");
    check_refused("empty.txt", GCONV_ERROR_FILTER, 1, "no weights");
    assert_invalid(gconv_filter_load(NULL, &(gconv_filter *){NULL}, NULL));
    check_refused(".", GCONV_ERROR_FILTER, 0, "a directory");
    check_refused("/dev/null", GCONV_ERROR_FILTER, 1, "no weights");
    check_refused("/dev/zero", GCONV_ERROR_FILTER, 0, "longer than 4 MiB");
    assert_int_equal(symlink("loop", "loop"), 0);
    check_refused("loop", GCONV_ERROR_OPEN, 0, "cannot open the filter: ");
    assert_int_equal(unlink("loop"), 0);
    if (geteuid() != 0) {
        assert_int_equal(chmod("bad.txt", 0), 0);
        check_refused("bad.txt", GCONV_ERROR_OPEN, 0, "cannot open the filter: Permission denied");
    }
    unlink("bad.txt");
    unlink("empty.txt");
}

TEST(refuses_unknown_names)
{
    static const char *const cases[][2] = {
        {"", "empty"},
        {"-", "/dev/stdin"},
        {"gaus5", "no such file, built-in filter or generator; did you mean 'gauss5'?"},
        {"gauss5.", "did you mean 'gauss5'?"},
        {"Sobel-X", "did you mean 'sobel-x'?"},
        {"guassian:2", "did you mean 'gaussian:SIGMA[,SIZE]'?"},
        {"Box:3", "did you mean 'box:N or box:WxH'?"},
        {"nothing/like/it.txt", "generator ('gconv info' lists them)"},
        {"gauss5/x", "no such file"},
        {"gauss5.txt.txt", "no such file"},
        {"1 2 1", "no such file"},
        {"3x1", "no such file"},
        {"3x1: 1,2", "2 weights where 3x1 needs 3"},
        {"3: 1,2,3", "'3:' is not the beginning of an ImageMagick filter"},
        {"3x1: 1,x,3", "'x' is not a number"},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        check_refused(cases[i][0], GCONV_ERROR_FILTER, 0, cases[i][1]);
    check_refused("3x1:\n1,x,3", GCONV_ERROR_FILTER, 2, "'x' is not a number");
}

TEST(takes_long_inline_strings)
{
    char text[6000];
    size_t used = (size_t)sprintf(text, "50x50:");
    for (int i = 0; i < 2500; i++)
        used += (size_t)sprintf(text + used, "%s1", i == 0 ? " " : ",");
    gconv_filter *filter = load_filter(text);
    assert_true(gconv_filter_gain(filter) == 2500);
    assert_int_equal(filter->anchor_x, 24);
    gconv_filter_free(filter);
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    check_refused(text, GCONV_ERROR_FILTER, 0, "no such file");
}

static void check_dialect(const char *specification, const char *dialect, int vips_width,
                          int vips_height)
{
    OWNED_FILTER filter = load_filter(specification);
    if (dialect == NULL)
        assert_null(filter->dialect);
    else
        assert_string_equal(filter->dialect, dialect);
    assert_int_equal(filter->vips_width, vips_width);
    assert_int_equal(filter->vips_height, vips_height);
}

/* Which of the three forms a text was read as, where the user wrote one. */
TEST(tells_how_a_text_was_read)
{
    write_file("rows", "1 2 1\n2 4 2\n1 2 1\n");
    write_file("both", "3 2 1\n1 2 3\n4 5 6\n");
    write_file("matrix", "3 1\n1 2 3\n");
    write_file("string", "3x1: 1,2,1\n");
    check_dialect("rows", "rows of weights", 0, 0);
    check_dialect("both", "rows of weights", 3, 2);
    check_dialect("matrix", "a libvips matrix", 0, 0);
    check_dialect("string", "an ImageMagick string", 0, 0);
    check_dialect("3x1: 1,2,1", "an ImageMagick string", 0, 0);
    check_dialect("gauss5", NULL, 0, 0);
    check_dialect("box:3", NULL, 0, 0);
    static const char *const written[] = {"rows", "both", "matrix", "string"};
    for (int i = 0; i < 4; i++)
        assert_int_equal(unlink(written[i]), 0);
}

static void *feed(void *path)
{
    int descriptor = open(path, O_WRONLY);
    static const char *const pieces[] = {"1 2", " 1\n3", " 4 5\n"};
    for (size_t i = 0; i < 3; i++) {
        if (write(descriptor, pieces[i], strlen(pieces[i])) < 0)
            break;
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    close(descriptor);
    return NULL;
}

TEST(reads_a_fifo_to_its_end)
{
    static char path[] = "pipe";
    pthread_t thread;
    assert_int_equal(mkfifo(path, 0666), 0);
    assert_int_equal(pthread_create(&thread, NULL, feed, path), 0);
    OWNED_FILTER filter = load_filter(path);
    pthread_join(thread, NULL);
    assert_int_equal(filter->width, 3);
    assert_int_equal(filter->height, 2);
    assert_true(filter->weights[5] == 5);
    unlink(path);
}

static char directory[] = "/tmp/gconv-test-XXXXXX";

static int enter_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) == NULL || chdir(directory) != 0;
}

static int leave_directory(void **state)
{
    (void)state;
    unlink("dir/mine.txt");
    unlink("dir/.txt");
    rmdir("dir");
    return chdir("/") != 0 || rmdir(directory) != 0;
}

const test_suite suite = {.setup = enter_directory, .teardown = leave_directory};
