/* Names of devices, and which of several equal devices gets a plan. */
#include "core/device.h"
#include "core_support.h"

static gconv_device_choice parsed(const char *text)
{
    gconv_device_choice choice = gconv_device_choice_default();
    assert_succeeds(gconv_device_parse(text, &choice, &why));
    return choice;
}

TEST(one_device)
{
    assert_true(parsed(NULL).any && parsed("auto").any);
    gconv_device_choice cpu = parsed("cpu");
    assert_true(!cpu.any && !cpu.all && cpu.kind == GCONV_DEVICE_CPU && cpu.count == 0);
    gconv_device_choice cuda = parsed("cuda");
    assert_true(!cuda.any && !cuda.all && cuda.kind == GCONV_DEVICE_CUDA);
    assert_true(cuda.count == 1 && cuda.index == 0 && cuda.indices[0] == 0);
    gconv_device_choice seventh = parsed("cuda:7");
    assert_true(seventh.count == 1 && seventh.index == 7 && seventh.indices[0] == 7);
    assert_int_equal(parsed("cuda:1023").index, 1023);
}

TEST(several_devices)
{
    gconv_device_choice all = parsed("cuda:all");
    assert_true(all.all && !all.any && all.kind == GCONV_DEVICE_CUDA && all.count == 0);
    gconv_device_choice list = parsed("cuda:3,0,12");
    assert_true(!list.all && list.kind == GCONV_DEVICE_CUDA && list.count == 3);
    assert_true(list.index == 3 && list.indices[1] == 0 && list.indices[2] == 12);
}

TEST(what_is_no_device)
{
    static const char *const texts[] = {
        "cuda:,1",    "cuda:1,",    "cuda:1,,2",   "cuda:0,x",          "cuda:0-1",
        "cuda:0;1",   "cuda:0, 1",  "cuda:1024",   "cuda:0,-1",         "cuda:All",
        "cuda:all,1", "cuda:1,all", "cuda,cuda:1", "cuda:0,00000000001"};
    gconv_device_choice choice = gconv_device_choice_default();
    for (size_t i = 0; i < COUNT(texts); i++) {
        assert_fails(gconv_device_parse(texts[i], &choice, &error), GCONV_ERROR_ARGUMENT, &error,
                     "unknown device");
    }
    assert_invalid(gconv_device_parse("cuda:2,1,02", &choice, &error));
    assert_string_equal(error.message, "'cuda:2,1,02' names device 2 twice");
}

TEST(as_many_as_fit)
{
    char text[512] = "cuda:0";
    for (int i = 1; i < GCONV_DEVICES_MAX; i++)
        sprintf(text + strlen(text), ",%d", i);
    assert_int_equal(parsed(text).count, GCONV_DEVICES_MAX);
    strcat(text, ",64");
    gconv_device_choice choice = gconv_device_choice_default();
    assert_invalid(gconv_device_parse(text, &choice, NULL));
}

TEST(the_fewest_plans)
{
    gc_device_set three = 1 << 1 | 1 << 4 | (gc_device_set)1 << 63;
    assert_int_equal(gc_device_first(three), 1);
    assert_int_equal(gc_device_first((gc_device_set)1 << 63), 63);
    assert_int_equal(gc_device_take(three), 1);
    assert_int_equal(gc_device_take(three), 4);
    assert_int_equal(gc_device_take(three), 63);
    assert_int_equal(gc_device_take(three), 1);
    assert_int_equal(gc_device_take(1 << 4), 4); /* the only one, though it has a plan */
    gc_device_give(4);
    gc_device_give(4);
    assert_int_equal(gc_device_take(three), 4);
    assert_int_equal(gc_device_take(three), 4);
    gc_device_give(63);
    assert_int_equal(gc_device_take(three), 63);
    static const int left[] = {1, 1, 4, 4, 63};
    for (size_t i = 0; i < COUNT(left); i++)
        gc_device_give(left[i]);
    assert_int_equal(gc_device_take(three), 1);
    gc_device_give(1);
}

TEST(the_cpu_is_in_no_set)
{
    gconv_device_choice cpu = parsed("cpu");
    gc_device_set set = 1;
    assert_ok(gc_device_set_of(&cpu, &set, NULL));
    assert_true(set == 0);
}
