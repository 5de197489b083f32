/* Reading and writing whole, whatever the descriptor; sizes that overflow. */
#include "base/file.h"
#include "base/memory.h"

#include "core_support.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 300 * 1000 };

static char sent[BYTES], received[BYTES + 1];

static void fill(void)
{
    for (int i = 0; i < BYTES; i++)
        sent[i] = (char)(i * 7 + i / 251);
}

/* A child that writes all bytes into a pipe, resting in between. Returns the end to read. */
static int start_writer(pid_t *child)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    *child = fork();
    assert_true(*child >= 0);
    if (*child == 0) {
        close(ends[0]);
        for (int done = 0; done < BYTES; done += BYTES / 3) {
            nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL);
            if (!gc_write_all(ends[1], sent + done, BYTES / 3))
                _exit(1);
        }
        _exit(0);
    }
    close(ends[1]);
    return ends[0];
}

static void assert_child_is_well(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(pieces_are_read_to_the_end)
{
    pid_t child;
    size_t length;
    fill();
    int from = start_writer(&child);
    assert_true(gc_read_all(from, received, sizeof received, &length));
    assert_int_equal(length, BYTES);
    assert_memory_equal(received, sent, BYTES);
    close(from);
    assert_child_is_well(child);
    from = start_writer(&child);
    assert_true(gc_read_all(from, received, 1000, &length)); /* no more than there is room for */
    assert_int_equal(length, 1000);
    assert_true(gc_read_all(from, received + 1000, BYTES - 1000, &length));
    assert_memory_equal(received, sent, BYTES);
    close(from);
    assert_child_is_well(child);
    assert_false(gc_read_all(-1, received, 1, &length));
}

/* A slow reader of a pipe that another process has made non-blocking. */
TEST(a_full_pipe_is_waited_for)
{
    int ends[2];
    fill();
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        size_t length;
        close(ends[1]);
        nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
        bool read = gc_read_all(ends[0], received, sizeof received, &length);
        _exit(read && length == BYTES && memcmp(received, sent, BYTES) == 0 ? 0 : 1);
    }
    close(ends[0]);
    assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    assert_true(gc_write_all(ends[1], sent, BYTES));
    close(ends[1]);
    assert_child_is_well(child);
    assert_false(gc_write_all(-1, sent, 1));
    assert_int_equal(errno, EBADF);
}

TEST(suffixes_differ)
{
    enum { COUNT = 200 };
    static char suffixes[COUNT][GC_SUFFIX_BYTES];
    for (int i = 0; i < COUNT; i++) {
        gc_random_suffix(suffixes[i]);
        assert_int_equal(strlen(suffixes[i]), GC_SUFFIX_BYTES - 1);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(suffixes[i], suffixes[j]);
    }
}

TEST(sizes_that_overflow_are_refused)
{
    size_t result;
    assert_true(gc_multiply(SIZE_MAX / 2, 2, &result));
    assert_true(result == SIZE_MAX - 1);
    assert_false(gc_multiply(SIZE_MAX / 2 + 1, 2, &result));
    assert_false(gc_multiply((size_t)1 << 33, (size_t)1 << 31, &result));
    assert_true(gc_add(SIZE_MAX - 1, 1, &result));
    assert_false(gc_add(SIZE_MAX, 1, &result));
    /* The products are 2 and 0 where they wrap around: memory that would be had. */
    assert_null(gc_allocate_array(SIZE_MAX / 2 + 2, 2));
    assert_null(gc_allocate_array((size_t)1 << 33, (size_t)1 << 31));
    assert_null(gc_allocate_aligned(SIZE_MAX / 2 + 2, 2));
    assert_null(gc_allocate_aligned(SIZE_MAX, 1));
}

TEST(an_array_grows_entry_by_entry)
{
    enum { COUNT = 1000 };
    size_t capacity = 0;
    OWNED int *numbers = NULL;
    for (size_t i = 0; i < COUNT; i++) {
        numbers = gc_make_room(numbers, i, &capacity, sizeof *numbers);
        assert_non_null(numbers);
        assert_true(capacity > i);
        numbers[i] = (int)i;
    }
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(numbers[i], i);
    size_t before = capacity;
    assert_ptr_equal(gc_make_room(numbers, before - 1, &capacity, sizeof *numbers), numbers);
    assert_null(gc_make_room(numbers, before, &capacity, SIZE_MAX / before));
    assert_int_equal(capacity, before);
    assert_int_equal(numbers[COUNT - 1], COUNT - 1);
    capacity = SIZE_MAX / 2 + 1;
    assert_null(gc_make_room(numbers, capacity, &capacity, 1));
    assert_true(capacity == SIZE_MAX / 2 + 1);
}
