/* What the library says of itself: libraries, instructions, generators, names of devices and
 * implementations. */
#include "core_support.h"

TEST(libraries_are_named_with_versions)
{
    const char *text = gconv_codec_description();
    assert_contains(text, "libpng 1.");
    assert_contains(text, ", zlib 1.");
    assert_contains(text, ", libjpeg");
    assert_null(strchr(text, '\n'));
    assert_ptr_equal(gconv_codec_description(), text);
}

TEST(one_usable_instruction_set_is_chosen)
{
    int count = gconv_instructions_count(), chosen = 0;
    gconv_instructions_info set = gconv_instructions_info_default();
    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        assert_ok(gconv_instructions_describe(i, &set, &error));
        assert_true(set.name[0] != '\0');
        assert_true(set.usable || !set.chosen);
        chosen += set.chosen;
    }
    assert_int_equal(chosen, 1);
    assert_string_equal(set.name, "portable");
    assert_true(set.usable);
    assert_invalid(gconv_instructions_describe(count, &set, &error));
    assert_invalid(gconv_instructions_describe(-1, &set, &error));
}

TEST(the_environment_chooses_instructions)
{
    gconv_instructions_info set = gconv_instructions_info_default();
    setenv("GCONV_INSTRUCTIONS", "portable", 1);
    assert_ok(gconv_instructions_describe(gconv_instructions_count() - 1, &set, NULL));
    assert_true(set.chosen);
    unsetenv("GCONV_INSTRUCTIONS");
}

/* What a usage line begins with makes a filter. */
TEST(generators_are_listed)
{
    static const char *const examples[] = {"box:5", "gaussian:1.5", "log:1.5"};
    assert_int_equal(gconv_generator_count(), 3);
    assert_null(gconv_generator_at(3));
    for (size_t i = 0; i < 3; i++) {
        const gconv_generator *one = gconv_generator_at(i);
        assert_int_equal(strncmp(one->usage, one->name, strlen(one->name)), 0);
        assert_int_equal(strncmp(examples[i], one->name, strlen(one->name)), 0);
        assert_true(one->summary[0] != '\0');
        OWNED_FILTER filter = load_filter(examples[i]);
        assert_null(filter->dialect);
    }
}

TEST(names_of_devices_are_read)
{
    static const struct {
        const char *text;
        bool any;
        gconv_device_kind kind;
        int index;
    } good[] = {{NULL, true, GCONV_DEVICE_CPU, 0},       {"auto", true, GCONV_DEVICE_CPU, 0},
                {"cpu", false, GCONV_DEVICE_CPU, 0},     {"cuda", false, GCONV_DEVICE_CUDA, 0},
                {"cuda:0", false, GCONV_DEVICE_CUDA, 0}, {"cuda:12", false, GCONV_DEVICE_CUDA, 12}};
    static const char *const bad[] = {"", "gpu", "CPU", "cuda:", "cuda:x", "cuda:-1", "cuda:1024"};
    gconv_device_choice choice = gconv_device_choice_default();
    for (size_t i = 0; i < COUNT(good); i++) {
        assert_ok(gconv_device_parse(good[i].text, &choice, &error));
        assert_true(choice.any == good[i].any);
        assert_int_equal(choice.kind, good[i].kind);
        assert_int_equal(choice.index, good[i].index);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_fails(gconv_device_parse(bad[i], &choice, &error), GCONV_ERROR_ARGUMENT, &error,
                     "auto, cpu, cuda, cuda:N, cuda:N,N or cuda:all");
    }
}

TEST(implementations_say_what_they_follow)
{
    gconv_implementation_info info = gconv_implementation_info_default();
    for (int i = 0; i < gconv_implementation_count(); i++) {
        assert_ok(gconv_implementation_describe(i, &info, NULL));
        assert_string_equal(gconv_implementation_name(i), info.name);
        assert_int_equal(gconv_implementation_kind(i), info.kind);
        assert_true(info.follows_threads == (strncmp(info.name, "cpu", strlen("cpu")) == 0));
        bool tiles = strncmp(info.name, "tiled", strlen("tiled")) == 0 ||
                     strncmp(info.name, "adaptive:unrolled", strlen("adaptive:unrolled")) == 0 ||
                     strcmp(info.name, "twopass:tiled") == 0;
        assert_true(info.follows_tile == tiles);
        assert_true(info.follows_shared ==
                    (strcmp(info.name, "adaptive") == 0 || strcmp(info.name, "adaptive:nc") == 0));
        assert_true(info.kind == GCONV_DEVICE_CUDA || !info.follows_block);
    }
    assert_null(gconv_implementation_name(-1));
    assert_int_equal(gconv_implementation_kind(-1), GCONV_DEVICE_CPU);
    assert_null(gconv_implementation_name(gconv_implementation_count()));
}

static const char *name_of(int index)
{
    return index >= 0 ? gconv_implementation_name(index) : "none";
}

TEST(names_may_say_a_block_and_a_factor)
{
    assert_string_equal(name_of(gconv_implementation_find("cpu:taps")), "cpu:taps");
    assert_string_equal(name_of(gconv_implementation_find("tiled:32x32x4")), "tiled");
    assert_string_equal(name_of(gconv_implementation_find("tiled:x2")), "tiled");
    assert_string_equal(name_of(gconv_implementation_find("tiled:nopad:16x16x2")), "tiled:nopad");
    assert_string_equal(name_of(gconv_implementation_find("const:16x64")), "const");
    assert_string_equal(name_of(gconv_implementation_find("twopass:tiled:x20")), "twopass:tiled");
    static const char *const bad[] = {"tiled:32",
                                      "tiled:32x",
                                      "tiled:32x32x",
                                      "tiled:x",
                                      "tiled:32x32x4x1",
                                      "tiled:33x32x4",
                                      "tiled:0x32",
                                      "tiled:x65",
                                      "tiled:32x32 ",
                                      "const:32x32x2",
                                      "cpu:16x16",
                                      "adaptive:16x16x2",
                                      "twopass:16x16",
                                      "nothing:x2",
                                      ":x2",
                                      "auto:x2",
                                      "tiled:-1x2",
                                      "tiled:+1x2",
                                      "",
                                      "tiled:",
                                      "tiled:1x99999999999999999999",
                                      "tiled:32x32:16x16"};
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_string_equal(name_of(gconv_implementation_find(bad[i])), "none");
    assert_int_equal(gconv_implementation_find(NULL), -1);
}

TEST(nvrtc_has_a_version_where_it_can_be_loaded)
{
    int version = gconv_nvrtc_version();
    assert_true(version == 0 || version >= 10000);
    if (gconv_cuda_module()[0] == '\0')
        assert_int_equal(version, 0);
}
