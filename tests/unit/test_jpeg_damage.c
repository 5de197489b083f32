/* The judge of damage, on thousands of damaged and crafted files: a file that it calls sound is
 * decoded by libjpeg without a warning, and the model gives the same planes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "jpeg/damage.h"
#include "jpeg/planes.h"
#include "jpeg/sound.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static bool samples_wrap;

/* Judges a copy with nothing readable behind it, and checks a file that is called sound. */
static bool check_file(const jpeg_file *file, const char *name, size_t index)
{
    jpeg_verdict verdict;
    char text[JMSG_LENGTH_MAX];
    jpeg_planes wanted, got;
    long warnings;
    unsigned char *copy = malloc(file->size > 0 ? file->size : 1);
    assert_non_null(copy);
    memcpy(copy, file->bytes, file->size);
    bool sound = jpeg_is_sound(copy, file->size, &verdict);
    free(copy);
    if (!sound)
        return false;
    if (!jpeg_planes_by_libjpeg(file->bytes, file->size, &wanted, &warnings, text))
        fail_msg("%s %zu: %s", name, index, text);
    if (warnings != 0)
        fail_msg("%s %zu: %ld warnings", name, index, warnings);
    const char *complaint = jpeg_planes_by_model(file->bytes, verdict.bytes, samples_wrap, &got);
    if (complaint != NULL)
        fail_msg("%s %zu: %s", name, index, complaint);
    if (jpeg_planes_differ(&got, &wanted, text, sizeof text))
        fail_msg("%s %zu: %s", name, index, text);
    assert_int_equal(got.count, verdict.facts.components);
    assert_int_equal(got.planes[0].columns, (verdict.facts.width + 7) / 8 * 8);
    assert_int_equal(got.planes[0].rows, (verdict.facts.height + 7) / 8 * 8);
    jpeg_planes_free(&got);
    jpeg_planes_free(&wanted);
    return true;
}

static void undamaged_files(void **state)
{
    (void)state;
    for (int i = 0; i < JPEG_BASES; i++) {
        jpeg_file file = jpeg_base(i);
        assert_int_equal(check_file(&file, "base", (size_t)i), i < 22);
        free(file.bytes);
    }
}

/* Files without damage: the judge rejects those that the model refuses, and those whose energy
 * is too large. */
static void crafted_files(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    size_t sound = 0;
    for (size_t i = 0; i < COUNT; i++) {
        jpeg_random random = {i};
        jpeg_file file = jpeg_craft(&random);
        sound += check_file(&file, "crafted", i);
        free(file.bytes);
    }
    assert_in_range(sound, COUNT / 2, COUNT - COUNT / 100);
}

static void damaged_files(void **state)
{
    (void)state;
    enum { COUNT = 6000, SEED = 1 };
    size_t sound = 0;
    for (size_t i = 0; i < COUNT; i++) {
        jpeg_file file = jpeg_damaged(SEED, i, NULL, 0);
        sound += check_file(&file, "damaged", i);
        free(file.bytes);
    }
    print_message("%zu of %d files are sound\n", sound, COUNT);
    assert_in_range(sound, COUNT / 20, COUNT - COUNT / 2);
}

static void check_corpus_file(const char *directory, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    unsigned char *bytes = malloc(1 << 20);
    assert_non_null(bytes);
    jpeg_file file = {bytes, fread(bytes, 1, 1 << 20, stream)};
    fclose(stream);
    check_file(&file, name, 0);
    free(bytes);
}

static void corpora_of_the_fuzzer(void **state)
{
    (void)state;
    static const char *const directories[] = {"tests/fuzz/corpus/jpeg",
                                              "tests/fuzz/corpus/jpeg_sound"};
    for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++) {
        DIR *listing = opendir(directories[i]);
        assert_non_null(listing);
        for (struct dirent *entry; (entry = readdir(listing)) != NULL;)
            if (entry->d_name[0] != '.')
                check_corpus_file(directories[i], entry->d_name);
        closedir(listing);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(undamaged_files),
        cmocka_unit_test(crafted_files),
        cmocka_unit_test(damaged_files),
        cmocka_unit_test(corpora_of_the_fuzzer),
    };
    samples_wrap = jpeg_samples_wrap();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
