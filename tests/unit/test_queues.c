/* How many queues a batch asks CUDA for: by the number and the size of its inputs. */
#include "io_support.h"

#include "cli/commands/commands.h"

#include <fcntl.h>
#include <sys/stat.h>

enum { MANY = 8192, LARGE = (1 << 20) + 1 };

static char variable[] = "CUDA_DEVICE_MAX_CONNECTIONS";

static void assert_asks(const char *wanted, const char *output, char **inputs, int count)
{
    gc_options options = {
        .batch = {.directory = output}, .operands = inputs, .operand_count = count};
    unsetenv(variable);
    gc_widen_queues(&options);
    const char *asked = getenv(variable);
    assert_string_equal(asked != NULL ? asked : "nothing", wanted);
}

typedef struct directory {
    char path[512];
    int count; /* of files */
} directory;

static int open_directory(const directory *of)
{
    int opened = open(of->path, O_RDONLY | O_DIRECTORY);
    assert_true(opened >= 0);
    return opened;
}

static void make(directory *made, const char *name, int count, off_t size)
{
    snprintf(made->path, sizeof made->path, "%s", name);
    made->count = count;
    assert_int_equal(mkdir(made->path, 0700), 0);
    int place = open_directory(made);
    for (int i = 0; i < count; i++) {
        char number[16];
        snprintf(number, sizeof number, "%d", i);
        int file = openat(place, number, O_CREAT | O_WRONLY, 0600);
        assert_true(file >= 0);
        assert_int_equal(ftruncate(file, size), 0);
        close(file);
    }
    close(place);
}

static void empty(const directory *made)
{
    int place = open_directory(made);
    for (int i = 0; i < made->count; i++) {
        char number[16];
        snprintf(number, sizeof number, "%d", i);
        assert_int_equal(unlinkat(place, number, 0), 0);
    }
    close(place);
}

TEST(many_small_images_ask_for_more)
{
    directory few, many, large;
    char name[600];
    make(&few, "few", MANY - 1, 100);
    make(&many, "many", MANY, LARGE - 1);
    make(&large, "large", MANY, LARGE);
    char *all[] = {few.path, many.path, large.path};
    assert_asks("8", "out", all, 1);
    assert_asks("16", "out", all + 1, 1);
    assert_asks("8", "out", all + 2, 1);
    assert_asks("16", "out", all, 2);
    assert_asks("8", "out", NULL, 0); /* names come from a list */
    assert_asks("nothing", NULL, all + 1, 1);
    snprintf(name, sizeof name, "%s/0", few.path);
    char *together[] = {name, few.path};
    assert_asks("16", "out", together, 2);
    empty(&few);
    empty(&many);
    empty(&large);
}

TEST(the_user_goes_first)
{
    gc_options options = {.batch = {.directory = "out"}};
    setenv(variable, "3", 1);
    gc_widen_queues(&options);
    assert_string_equal(getenv(variable), "3");
}

const test_suite suite = {.setup = enter_scratch, .teardown = remove_scratch};
