/* The judge of damage, on thousands of damaged and crafted files: libjpeg decodes a file that it
 * calls sound without a warning. */

#include "unit.h"

#include "jpeg/damage.h"
#include "jpeg/sound.h"
#include "jpeg/turbo.h"

#include <dirent.h>

/* Judges a copy with nothing readable behind it, and checks a file that is called sound. */
static bool check_file(const jpeg_file *file, const char *name, size_t index)
{
    jpeg_verdict verdict;
    turbo_image image;
    OWNED unsigned char *copy = malloc(file->size > 0 ? file->size : 1);
    assert_non_null(copy);
    memcpy(copy, file->bytes, file->size);
    if (!jpeg_is_sound(copy, file->size, &verdict))
        return false;
    if (!turbo_decode(&(gconv_encoded){.bytes = file->bytes, .size = file->size}, &image))
        fail_msg("%s %zu: libjpeg fails or warns", name, index);
    assert_int_equal(image.about.components, verdict.picture.components);
    assert_int_equal(image.about.width, verdict.picture.width);
    assert_int_equal(image.about.height, verdict.picture.height);
    turbo_free(&image);
    return true;
}

TEST(undamaged_files)
{
    for (int i = 0; i < JPEG_BASES; i++) {
        OWNED_JPEG file = jpeg_base(i);
        assert_int_equal(check_file(&file, "base", (size_t)i), i < 22);
    }
}

/* Files without damage: the judge rejects those whose energy is too large. */
TEST(crafted_files)
{
    enum { COUNT = 1000 };
    size_t sound = 0;
    for (size_t i = 0; i < COUNT; i++) {
        jpeg_random random = {i};
        OWNED_JPEG file = jpeg_craft(&random);
        sound += check_file(&file, "crafted", i);
    }
    assert_in_range(sound, COUNT / 2, COUNT - COUNT / 100);
}

TEST(damaged_files)
{
    enum { COUNT = 6000, SEED = 1 };
    size_t sound = 0;
    for (size_t i = 0; i < COUNT; i++) {
        OWNED_JPEG file = jpeg_damaged(SEED, i, NULL, 0);
        sound += check_file(&file, "damaged", i);
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
    OWNED unsigned char *bytes = malloc(1 << 20);
    assert_non_null(bytes);
    jpeg_file file = {bytes, fread(bytes, 1, 1 << 20, stream)};
    fclose(stream);
    check_file(&file, name, 0);
}

TEST(corpora_of_the_fuzzer)
{
    static const char *const directories[] = {"tests/fuzz/corpus/jpeg",
                                              "tests/fuzz/corpus/jpeg_sound"};
    for (size_t i = 0; i < COUNT(directories); i++) {
        DIR *listing = opendir(directories[i]);
        assert_non_null(listing);
        for (struct dirent *entry; (entry = readdir(listing)) != NULL;)
            if (entry->d_name[0] != '.')
                check_corpus_file(directories[i], entry->d_name);
        closedir(listing);
    }
}
