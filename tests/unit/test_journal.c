/* Journals and hashes where calls of the system end early or count. */
#include "io_support.h"

#include "cli/journal/digest.h"
#include "cli/journal/journal.h"

#include <fcntl.h>

static size_t read_bytes_max; /* of one call; 0: as many as asked */
static int syncs;

ssize_t __real_pread(int descriptor, void *bytes, size_t size, off_t offset);
ssize_t __wrap_pread(int descriptor, void *bytes, size_t size, off_t offset);
int __real_fsync(int descriptor);
int __wrap_fsync(int descriptor);

ssize_t __wrap_pread(int descriptor, void *bytes, size_t size, off_t offset)
{
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

static void short_reads_are_not_the_end(void **state)
{
    (void)state;
    enum { BYTES = 200000 };
    char whole[GC_DIGEST_BYTES], pieces[GC_DIGEST_BYTES];
    gc_digest_kind kind = usable_kind();
    unsigned char *content = malloc(BYTES);
    assert_non_null(content);
    for (size_t i = 0; i < BYTES; i++)
        content[i] = (unsigned char)(i * 31 >> 3);
    save_file(scratch_path("content"), content, BYTES);
    free(content);
    int descriptor = open(scratch_path("content"), O_RDONLY | O_CLOEXEC);
    assert_true(descriptor >= 0);
    assert_int_equal(gc_digest_file(kind, descriptor, BYTES, whole, NULL), GCONV_OK);
    read_bytes_max = 999;
    assert_int_equal(gc_digest_file(kind, descriptor, BYTES, pieces, NULL), GCONV_OK);
    read_bytes_max = 0;
    close(descriptor);
    assert_string_equal(pieces, whole);
}

static void intents_are_flushed(void **state)
{
    (void)state;
    char input[] = "in.png", output[] = "in.png";
    gc_record record = {.input = input, .output = output, .status = GC_RECORD_DONE};
    gc_journal *journal;
    gconv_status status = gc_journal_open(scratch_path("journal"), GC_JOURNAL_WRITE, GC_DIGEST_XXH3,
                                          false, &journal, NULL);
    assert_int_equal(status, GCONV_OK);
    syncs = 0;
    assert_int_equal(gc_journal_append(journal, &record, NULL), GCONV_OK);
    assert_int_equal(syncs, 0);
    record.status = GC_RECORD_INTENT;
    assert_int_equal(gc_journal_append(journal, &record, NULL), GCONV_OK);
    assert_int_equal(syncs, 1);
    gc_journal_close(journal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_reads_are_not_the_end),
        cmocka_unit_test(intents_are_flushed),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
