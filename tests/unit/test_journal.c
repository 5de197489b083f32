/* Journals and hashes where calls of the system end early or count. */
#include "io_support.h"

#include "base/digest.h"
#include "cli/journal/journal.h"

#include <fcntl.h>

static size_t read_bytes_max; /* of one call; 0: as many as asked */
static int reads, syncs;

ssize_t __real_pread(int descriptor, void *bytes, size_t size, off_t offset);
ssize_t __wrap_pread(int descriptor, void *bytes, size_t size, off_t offset);
int __real_fsync(int descriptor);
int __wrap_fsync(int descriptor);

ssize_t __wrap_pread(int descriptor, void *bytes, size_t size, off_t offset)
{
    reads++;
    bool shortened = read_bytes_max > 0 && size > read_bytes_max;
    return __real_pread(descriptor, bytes, shortened ? read_bytes_max : size, offset);
}

int __wrap_fsync(int descriptor)
{
    syncs++;
    return __real_fsync(descriptor);
}

/* A kind of hash that this build has; skips the test where there is none. */
static gc_digest_kind usable_kind(void)
{
    if (gc_digest_check(GC_DIGEST_XXH3, NULL) == GCONV_OK)
        return GC_DIGEST_XXH3;
    if (gc_digest_check(GC_DIGEST_SHA256, NULL) != GCONV_OK)
        skip();
    return GC_DIGEST_SHA256;
}

enum { BYTES = 200000 };

static unsigned char content[BYTES];

/* Saves the content and opens its file. */
static int open_content(void)
{
    for (size_t i = 0; i < BYTES; i++)
        content[i] = (unsigned char)(i * 31 >> 3);
    save_file("content", content, BYTES);
    int descriptor = open("content", O_RDONLY | O_CLOEXEC);
    assert_true(descriptor >= 0);
    return descriptor;
}

TEST(short_reads_are_not_the_end)
{
    char whole[GC_DIGEST_BYTES], pieces[GC_DIGEST_BYTES];
    gc_digest_kind kind = usable_kind();
    int descriptor = open_content();
    assert_ok(gc_digest_file(kind, descriptor, BYTES, whole, NULL));
    read_bytes_max = 999;
    assert_ok(gc_digest_file(kind, descriptor, BYTES, pieces, NULL));
    read_bytes_max = 0;
    close(descriptor);
    assert_string_equal(pieces, whole);
}

/* Shows pieces of the content, given by offset and size, up to a size of 0. Compares the hash with
 * that of the file, and returns how often the file was read. */
static int read_for_hash(gc_digest_kind kind, const size_t pieces[][2])
{
    char whole[GC_DIGEST_BYTES], shown[GC_DIGEST_BYTES];
    int descriptor = open_content();
    assert_ok(gc_digest_file(kind, descriptor, BYTES, whole, NULL));
    gc_digest *digest = gc_digest_create(kind);
    assert_non_null(digest);
    for (; (*pieces)[1] > 0; pieces++)
        gc_digest_show(digest, (*pieces)[0], content + (*pieces)[0], (*pieces)[1]);
    reads = 0;
    assert_ok(gc_digest_end(digest, descriptor, BYTES, shown, NULL));
    free(digest);
    close(descriptor);
    assert_string_equal(shown, whole);
    return reads;
}

TEST(bytes_that_are_shown_are_not_read_again)
{
    gc_digest_kind kind = usable_kind();
    const size_t all[][2] = {{0, 1}, {1, 99999}, {100000, 100000}, {0}};
    const size_t again[][2] = {{0, 70000}, {0, 500}, {30000, 100000}, {130000, 70000}, {0}};
    const size_t none[][2] = {{0}}, no_begin[][2] = {{1, BYTES - 1}, {0}};
    const size_t no_end[][2] = {{0, BYTES - 1}, {0}};
    const size_t hole[][2] = {{0, 100000}, {100001, 99999}, {0}};
    assert_int_equal(read_for_hash(kind, all), 0);
    assert_int_equal(read_for_hash(kind, again), 0);
    assert_int_equal(read_for_hash(kind, no_end), 1);
    assert_true(read_for_hash(kind, none) > 1);
    assert_true(read_for_hash(kind, no_begin) > 1);
    assert_true(read_for_hash(kind, hole) > 1);
}

/* The hash is that of the first `size` bytes, whatever was shown. */
TEST(more_bytes_than_the_file_has)
{
    gc_digest_kind kind = usable_kind();
    char shorter[GC_DIGEST_BYTES], shown[GC_DIGEST_BYTES];
    int descriptor = open_content();
    assert_ok(gc_digest_file(kind, descriptor, 1000, shorter, NULL));
    gc_digest *digest = gc_digest_create(kind);
    assert_non_null(digest);
    gc_digest_show(digest, 0, content, 5000);
    assert_ok(gc_digest_end(digest, descriptor, 1000, shown, NULL));
    free(digest);
    close(descriptor);
    assert_string_equal(shown, shorter);
}

TEST(intents_are_flushed)
{
    char input[] = "in.png", output[] = "in.png";
    gc_record record = {.input = input, .output = output, .status = GC_RECORD_DONE};
    gc_journal *journal;
    gconv_status status =
        gc_journal_open("journal", &(gc_journal_opening){.writes = true}, &journal, NULL);
    assert_int_equal(status, GCONV_OK);
    syncs = 0;
    assert_ok(gc_journal_append(journal, &record, NULL));
    assert_int_equal(syncs, 0);
    record.status = GC_RECORD_INTENT;
    assert_ok(gc_journal_append(journal, &record, NULL));
    assert_int_equal(syncs, 1);
    gc_journal_close(journal);
}

TEST(records_are_read_as_they_were_written)
{
    enum { LONG = 5000 };
    static char long_name[LONG + 1];
    char odd[] = "new\nline \"quoted\" \\ no utf-8: \xe9", error_text[] = "\"why\"";
    memset(long_name, 'x', LONG);
    const gc_record record = {
        .input = odd,
        .output = long_name,
        .error = error_text,
        .final = true,
        .status = GC_RECORD_FAILED,
        .recipe = "0123456789abcdef0123456789abcdef",
        .in = {.size = 0, .seconds = -7, .nanoseconds = 5, .digest = "xxh3:00"},
        .out = {.size = INT64_C(1) << 40, .seconds = 1795477177, .nanoseconds = 999999999},
        .implementation = "cpu",
        .seconds = 3.000002,
    };
    RELEASED_BY(gc_record_destroy) gc_record again;
    char *line = gc_record_line(&record, "a \"host\"");
    assert_non_null(line);
    assert_int_equal(line[strlen(line) - 1], '\n');
    assert_ok(gc_record_read(line, &again, NULL));
    free(line);
    assert_string_equal(again.input, odd);
    assert_string_equal(again.output, long_name);
    assert_string_equal(again.error, error_text);
    assert_string_equal(again.recipe, record.recipe);
    assert_string_equal(again.implementation, "cpu");
    assert_string_equal(again.in.digest, "xxh3:00");
    assert_true(gc_file_state_is_same(&again.in, &record.in));
    assert_true(gc_file_state_is_same(&again.out, &record.out));
    assert_true(again.final && !again.exact && !again.in_place);
    assert_int_equal(again.status, GC_RECORD_FAILED);
    assert_true(again.seconds > 3.0000019 && again.seconds < 3.0000021);
}

const test_suite suite = {.setup = enter_scratch, .teardown = remove_scratch};
