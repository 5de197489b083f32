/* Tunings: what is kept on this machine, what is shipped, which of them a filter gets. */
#include "cache_support.h"

#include "gpu/tune/tune.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

static gconv_device_info device_named(const char *name)
{
    gconv_device_info device = {.kind = GCONV_DEVICE_CUDA,
                                .compute_major = 9,
                                .driver_version = 13000,
                                .shared_per_block_optin = 227 << 10,
                                .registers_per_block = 65536,
                                .threads_per_block = 1024};
    snprintf(device.name, sizeof device.name, "%s", name);
    return device;
}

static gconv_device_info test_device(void)
{
    return device_named("Test GPU (1)");
}

static const gc_tuning warp_tuning = {GC_FORM_WARP, 6, 2, GC_ONE_TILE, 1};
static const gc_tuning block_tuning = {GC_FORM_BLOCK, 2, 8, GC_QUEUE, 3};
static const gc_tuning rank1_tuning = {GC_FORM_RANK1, 6, 4, GC_QUEUE, 1};

static gc_tuned tuned(int width, int height, gc_sample_type type, gc_tuning tuning)
{
    return (gc_tuned){width, height, type, type, tuning, 41.25, "2026-11-21"};
}

static void assert_same_tuning(gc_tuning a, gc_tuning b)
{
    assert_int_equal(a.form, b.form);
    assert_int_equal(a.rows, b.rows);
    assert_int_equal(a.warps, b.warps);
    assert_int_equal(a.schedule, b.schedule);
    assert_int_equal(a.tiles, b.tiles);
}

static int kept_count(const gconv_device_info *device)
{
    gc_tuned_list list;
    gc_tuning_read(device, &list);
    return list.count;
}

/* ---- What is kept ---------------------------------------------------------------------------- */

TEST(kept_is_read)
{
    gconv_device_info device = test_device();
    const gc_tuned entries[] = {tuned(3, 3, GC_FLOAT, warp_tuning),
                                tuned(15, 3, GC_BYTE, block_tuning),
                                tuned(3, 3, GC_FLOAT, rank1_tuning)};
    assert_int_equal(kept_count(&device), 0);
    for (int i = 0; i < 3; i++) {
        assert_ok(gc_tuning_keep(&device, &entries[i], NULL));
        assert_int_equal(kept_count(&device), i + 1);
    }
    gc_tuned_list list;
    gc_tuning_read(&device, &list);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(list.entries[i].width, entries[i].width);
        assert_int_equal(list.entries[i].height, entries[i].height);
        assert_int_equal(list.entries[i].input, entries[i].input);
        assert_int_equal(list.entries[i].output, entries[i].output);
        assert_same_tuning(list.entries[i].tuning, entries[i].tuning);
        assert_true(list.entries[i].microseconds == 41.25);
        assert_string_equal(list.entries[i].date, "2026-11-21");
    }
}

TEST(the_same_filters_are_replaced)
{
    gconv_device_info device = test_device();
    gc_tuned entry = tuned(3, 3, GC_FLOAT, warp_tuning);
    assert_ok(gc_tuning_keep(&device, &entry, NULL));
    entry.tuning = block_tuning; /* direct, too */
    assert_ok(gc_tuning_keep(&device, &entry, NULL));
    gc_tuned_list list;
    gc_tuning_read(&device, &list);
    assert_int_equal(list.count, 1);
    assert_same_tuning(list.entries[0].tuning, block_tuning);
    gc_layout layout = gc_candidate_layout(GC_FORM_BLOCK, 3, 3, GC_FLOAT);
    assert_ptr_equal(gc_tuned_find(&list, &layout), &list.entries[0]);
    layout = gc_candidate_layout(GC_FORM_RANK1, 3, 3, GC_FLOAT);
    assert_null(gc_tuned_find(&list, &layout));
    layout = gc_candidate_layout(GC_FORM_BLOCK, 3, 3, GC_BYTE);
    assert_null(gc_tuned_find(&list, &layout));
}

TEST(what_is_for_others_counts_as_none)
{
    gconv_device_info device = test_device(), other = device_named("Test-GPU 1");
    gc_tuned entry = tuned(3, 3, GC_FLOAT, warp_tuning);
    assert_ok(gc_tuning_keep(&device, &entry, NULL));
    assert_int_equal(kept_count(&other), 0);
    other = device;
    other.driver_version = 12080;
    assert_int_equal(kept_count(&other), 0);
    assert_int_equal(kept_count(&device), 1);
}

/* What is damaged is begun anew, what is whole stays. */
TEST(damage_counts_as_none)
{
    gconv_device_info device = test_device();
    gc_tuned entry = tuned(3, 3, GC_FLOAT, warp_tuning);
    assert_ok(gc_tuning_keep(&device, &entry, NULL));
    damage_byte(only_entry(), 0);
    assert_int_equal(kept_count(&device), 0);
    assert_ok(gc_tuning_keep(&device, NULL, NULL));
    assert_ok(gc_tuning_keep(&device, &entry, NULL));
    assert_ok(gc_tuning_keep(&device, NULL, NULL));
    assert_int_equal(kept_count(&device), 1);
}

TEST(no_more_than_fit)
{
    gconv_device_info device = test_device();
    gc_tuned entry = tuned(1, 1, GC_FLOAT, block_tuning);
    for (int i = 0; i < GC_TUNED_MAX; i++) {
        entry.width = 1 + i;
        assert_ok(gc_tuning_keep(&device, &entry, NULL));
    }
    assert_ok(gc_tuning_keep(&device, &entry, NULL));
    entry.height = 2;
    assert_int_equal(gc_tuning_keep(&device, &entry, &error), GCONV_ERROR_LIMIT);
    assert_int_equal(kept_count(&device), GC_TUNED_MAX);
}

TEST(no_place_to_keep_it)
{
    gconv_device_info device = test_device();
    assert_int_equal(setenv("XDG_CACHE_HOME", "/dev/null/none", 1), 0);
    assert_int_equal(gc_tuning_keep(&device, NULL, &error), GCONV_ERROR_OPEN);
    assert_true(strlen(error.message) > 0);
    assert_int_equal(kept_count(&device), 0);
}

/* ---- What a filter gets ---------------------------------------------------------------------- */

/* What was found is read once for a device, so that each question has one of its own. */
static gconv_device_info new_device(void)
{
    static int count;
    char name[32];
    snprintf(name, sizeof name, "Device %d", count++);
    return device_named(name);
}

static gc_tuning tuning_of(const gconv_device_info *device, gc_form form, int width, int height,
                           gc_sample_type type)
{
    gc_layout layout = gc_candidate_layout(form, width, height, type);
    return gc_tuning_of(device, &layout);
}

static void keep(const gconv_device_info *device, int width, int height, gc_sample_type type,
                 gc_tuning tuning)
{
    gc_tuned entry = tuned(width, height, type, tuning);
    assert_ok(gc_tuning_keep(device, &entry, NULL));
}

static void gives(const gconv_device_info *device, gc_form form, int width, int height,
                  gc_sample_type type, gc_tuning wanted)
{
    assert_same_tuning(tuning_of(device, form, width, height, type), wanted);
}

/* The model's choice. */
static void gives_default(const gconv_device_info *device, gc_form form, int width, int height,
                          gc_sample_type type)
{
    gives(device, form, width, height, type, gc_tuning_default(form, width, height));
}

TEST(found_goes_before_the_model)
{
    gconv_device_info device = new_device();
    gives_default(&device, GC_FORM_BLOCK, 15, 15, GC_FLOAT);
    keep(&device, 15, 15, GC_FLOAT, warp_tuning);
    gives_default(&device, GC_FORM_BLOCK, 15, 15, GC_FLOAT); /* read before */
    device = new_device();
    const gc_tuning tuning = {GC_FORM_BLOCK, 1, 4, GC_QUEUE, 1};
    keep(&device, 15, 15, GC_FLOAT, tuning);
    keep(&device, 15, 15, GC_FLOAT, rank1_tuning);
    gives(&device, GC_FORM_BLOCK, 15, 15, GC_FLOAT, tuning);
    gives(&device, GC_FORM_RANK1, 15, 15, GC_FLOAT, rank1_tuning);
    gc_layout layout = gc_candidate_layout(GC_FORM_BLOCK, 15, 15, GC_FLOAT);
    assert_same_tuning(gc_tuning_untuned(&device, &layout),
                       gc_tuning_default(GC_FORM_BLOCK, 15, 15));
}

/* Tiles have lines of their own. A block of 16x32 threads has 16 warps. */
TEST(tiles_stand_alone)
{
    gconv_device_info device = new_device();
    const gc_tuning tiles = {GC_FORM_TILES, 32, 16, GC_ONE_TILE, 5};
    const gc_tuning tallest = {GC_FORM_TILES, 64, 32, GC_ONE_TILE, 6}; /* 16x64 */
    keep(&device, 15, 15, GC_FLOAT, tiles);
    keep(&device, 15, 15, GC_FLOAT, block_tuning);
    assert_int_equal(kept_count(&device), 2);
    keep(&device, 17, 43, GC_FLOAT, tallest);
    assert_int_equal(kept_count(&device), 3);
    gives(&device, GC_FORM_TILES, 17, 43, GC_FLOAT, tallest);
    gives(&device, GC_FORM_TILES, 15, 15, GC_FLOAT, tiles);
    gives(&device, GC_FORM_TILES, 17, 13, GC_FLOAT, tiles);
    /* As many weights as 15x15, but other sides. */
    gives(&device, GC_FORM_TILES, 5, 45, GC_FLOAT,
          (gc_tuning){GC_FORM_TILES, 8, 8, GC_ONE_TILE, 4});
    gives(&device, GC_FORM_BLOCK, 15, 15, GC_FLOAT, block_tuning);
    gives(&device, GC_FORM_TILES, 3, 3, GC_FLOAT, (gc_tuning){GC_FORM_TILES, 8, 8, GC_ONE_TILE, 8});
    gives(&device, GC_FORM_TILES, 43, 43, GC_FLOAT,
          (gc_tuning){GC_FORM_TILES, 8, 8, GC_ONE_TILE, 4});
    gc_tiling tiling = gc_tuning_tiling(&tiles, 15, 15);
    assert_int_equal(tiling.block_width, 16);
    assert_int_equal(tiling.block_height, 32);
    assert_int_equal(tiling.factor, 5);
    /* 14 rounded up to 32, 4 * 16 to 64, and a tile; 46 rows */
    assert_int_equal(tiling.shared_bytes, (32 + 64 + 16) * 46 * 4);
    device.shared_per_block_optin = 48 << 10; /* 43x43: (42 + 32 T) * 50 * 4 bytes */
    assert_int_equal(tuning_of(&device, GC_FORM_TILES, 43, 43, GC_FLOAT).tiles, 4);
    device.shared_per_block_optin = 32 << 10;
    assert_int_equal(tuning_of(&device, GC_FORM_TILES, 43, 43, GC_FLOAT).tiles, 3);
}

/* A search tries all 110 kernels of the 2014 paper, among them its commonest best block, 16x64, and
 * the best kernel of all there, 16x64 with factor 6 for filters of 17x43. */
TEST(candidates_of_tiles)
{
    gconv_device_info device = new_device();
    gc_tuning list[GC_CANDIDATES_MAX];
    gc_layout layout = gc_candidate_layout(GC_FORM_TILES, 17, 43, GC_FLOAT);
    assert_int_equal(layout.left, 0);
    int count = gc_candidates(&device, &layout, list), blocks = 0;
    assert_int_equal(count, 110);
    assert_same_tuning(list[0], gc_tuning_untuned(&device, &layout));
    bool has_best = false;
    for (int i = 0; i < count; i++) {
        assert_in_range(list[i].tiles, 1, 10);
        assert_in_range(list[i].warps, 4, 32);
        assert_int_equal(32 * list[i].warps % list[i].rows, 0);
        blocks += list[i].tiles == 6;
        has_best |= list[i].rows == 64 && list[i].warps == 32 && list[i].tiles == 6;
    }
    assert_int_equal(blocks, 11);
    assert_true(has_best);
    assert_int_equal(gc_candidates_like(&device, &layout, &list[3], list, count), count);
    device.shared_per_block_optin = 48 << 10; /* of a GTX 680 */
    assert_in_range(gc_candidates(&device, &layout, list), 1, 109);
}

/* A rank's tunings serve that rank alone; if shared memory is short, blocks get smaller. */
TEST(ranks_do_not_mix)
{
    gconv_device_info device = new_device();
    const gc_tuning rank2_tuning = {GC_FORM_RANK2, 4, 16, GC_ONE_TILE, 1};
    keep(&device, 15, 15, GC_FLOAT, rank1_tuning);
    keep(&device, 15, 15, GC_FLOAT, rank2_tuning);
    assert_int_equal(kept_count(&device), 2);
    gives(&device, GC_FORM_RANK1, 15, 15, GC_FLOAT, rank1_tuning);
    gives(&device, GC_FORM_RANK2, 17, 15, GC_FLOAT, rank2_tuning);
    gives_default(&device, GC_FORM_RANK3, 15, 15, GC_FLOAT);
    device = new_device();
    device.shared_per_block_optin = 64 << 10;
    gc_layout layout = gc_candidate_layout(GC_FORM_RANK3, 15, 15, GC_FLOAT);
    layout.tuning = gc_tuning_of(&device, &layout);
    assert_true(gc_tuning_fits(&device, &layout));
    assert_true(layout.tuning.warps < gc_tuning_default(GC_FORM_RANK3, 15, 15).warps);
}

TEST(the_nearest_serves)
{
    gconv_device_info device = new_device();
    const gc_tuning at_9 = {GC_FORM_BLOCK, 4, 8, GC_QUEUE, 2};
    const gc_tuning at_11 = {GC_FORM_BLOCK, 3, 8, GC_QUEUE, 4};
    const gc_tuning at_11_bytes = {GC_FORM_BLOCK, 3, 4, GC_QUEUE, 4};
    keep(&device, 9, 9, GC_FLOAT, at_9);
    keep(&device, 11, 11, GC_FLOAT, at_11);
    keep(&device, 11, 11, GC_BYTE, at_11_bytes);
    gives(&device, GC_FORM_BLOCK, 9, 10, GC_FLOAT, at_9);
    gives(&device, GC_FORM_BLOCK, 10, 11, GC_FLOAT, at_11);
    gives(&device, GC_FORM_BLOCK, 10, 11, GC_BYTE, at_11_bytes);
    gives(&device, GC_FORM_BLOCK, 10, 11, GC_SHORT, at_11_bytes);
    gives(&device, GC_FORM_BLOCK, 9, 9, GC_BYTE, at_11_bytes);
    gives(&device, GC_FORM_BLOCK, 8, 8, GC_BYTE, at_9); /* within reach */
    /* Beyond reach the model is better. */
    gives_default(&device, GC_FORM_BLOCK, 17, 17, GC_FLOAT);
    gives_default(&device, GC_FORM_RANK1, 9, 9, GC_FLOAT);
}

TEST(what_does_not_fit_is_passed_over)
{
    gconv_device_info device = new_device();
    keep(&device, 3, 15, GC_FLOAT, warp_tuning); /* more rows than the form has */
    gives_default(&device, GC_FORM_BLOCK, 3, 15, GC_FLOAT);
    device = new_device();
    device.shared_per_block_optin = 48 << 10;
    const gc_tuning large = {GC_FORM_BLOCK, 4, 32, GC_QUEUE, 2};
    keep(&device, 7, 7, GC_FLOAT, large);
    gives_default(&device, GC_FORM_BLOCK, 7, 7, GC_FLOAT);
    gc_layout layout = gc_candidate_layout(GC_FORM_BLOCK, 7, 7, GC_FLOAT);
    layout.tuning = (gc_tuning){GC_FORM_BLOCK, 8, 8, GC_ONE_TILE, 1};
    assert_true(gc_tuning_fits(&device, &layout));
    device.threads_per_block = 128;
    assert_false(gc_tuning_fits(&device, &layout));
    device.threads_per_block = 1024;
    device.registers_per_block = 8192;
    assert_false(gc_tuning_fits(&device, &layout));
    device = new_device();
    const gc_tuning tall = {GC_FORM_RANK1, 12, 4, GC_ONE_TILE, 1}; /* such kernels do not compile */
    keep(&device, 7, 7, GC_FLOAT, tall);
    gives_default(&device, GC_FORM_RANK1, 7, 7, GC_FLOAT);
}

TEST(what_is_shipped)
{
    gconv_device_info device = device_named("NVIDIA H200");
    int count;
    const gc_tuned *shipped = gc_tuning_shipped(&device, &count);
    assert_true(count >= 20);
    for (int i = 0; i < count; i++) {
        gc_layout layout = gc_candidate_layout(shipped[i].tuning.form, shipped[i].width,
                                               shipped[i].height, shipped[i].input);
        assert_same_tuning(gc_tuning_of(&device, &layout), shipped[i].tuning);
        for (int other = 0; other < i; other++)
            assert_false(shipped[other].width == shipped[i].width &&
                         shipped[other].height == shipped[i].height &&
                         shipped[other].input == shipped[i].input &&
                         shipped[other].output == shipped[i].output &&
                         gc_forms_compete(shipped[other].tuning.form, shipped[i].tuning.form));
    }
    device = device_named("NVIDIA H100 80GB HBM3");
    assert_ptr_equal(gc_tuning_shipped(&device, &count), shipped);
    device = device_named("NVIDIA H100 PCIe");
    assert_null(gc_tuning_shipped(&device, &count));
    assert_int_equal(count, 0);
}

/* ---- At the same time ------------------------------------------------------------------------ */

static void *ask_often(void *opaque)
{
    const gconv_device_info *devices = opaque;
    gc_layout layout = gc_candidate_layout(GC_FORM_BLOCK, 15, 15, GC_FLOAT);
    size_t wrong = 0;
    for (int i = 0; i < 64; i++) {
        gc_tuning tuning = gc_tuning_of(&devices[i % 8], &layout);
        wrong += tuning.rows != block_tuning.rows || tuning.tiles != block_tuning.tiles;
    }
    return (void *)wrong;
}

TEST(threads_ask_together)
{
    gconv_device_info devices[8];
    for (int i = 0; i < 8; i++) {
        devices[i] = new_device();
        keep(&devices[i], 15, 15, GC_FLOAT, block_tuning);
    }
    pthread_t threads[8];
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_often, devices), 0);
    for (int i = 0; i < 8; i++) {
        void *wrong;
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
}

/* Filters that no other writer keeps. */
static bool keep_many(int writer, int count)
{
    gconv_device_info device = test_device();
    gc_tuned entry = tuned(1 + writer, 1, GC_FLOAT, block_tuning);
    for (; entry.height <= count; entry.height++)
        if (gc_tuning_keep(&device, &entry, NULL) != GCONV_OK)
            return false;
    return true;
}

TEST(processes_keep_together)
{
    enum { WRITERS = 4, ENTRIES = 20 };
    pid_t writers[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = fork();
        assert_true(writers[i] >= 0);
        if (writers[i] == 0)
            _exit(keep_many(i, ENTRIES) ? 0 : 1);
    }
    for (int i = 0; i < WRITERS; i++) {
        int result;
        assert_int_equal(waitpid(writers[i], &result, 0), writers[i]);
        assert_int_equal(result, 0);
    }
    gconv_device_info device = test_device();
    assert_int_equal(kept_count(&device), WRITERS * ENTRIES);
}

TEST(a_killed_process_unlocks)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t holder = fork();
    assert_true(holder >= 0);
    if (holder == 0) {
        int lock;
        if (gc_cache_lock(&lock, NULL) == GCONV_OK && write(ready[1], "", 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(close(ready[1]), 0);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(kill(holder, SIGKILL), 0);
    assert_true(keep_many(0, 1));
    assert_int_equal(waitpid(holder, NULL, 0), holder);
    assert_int_equal(close(ready[0]), 0);
}

/* ---- Candidates ------------------------------------------------------------------------------ */

static bool holds(const gc_tuning *list, int count, gc_tuning wanted)
{
    for (int i = 0; i < count; i++)
        if (memcmp(&list[i], &wanted, sizeof wanted) == 0)
            return true;
    return false;
}

static int check_candidates(const gconv_device_info *device, gc_form form, int width, int height,
                            gc_tuning list[GC_CANDIDATES_MAX])
{
    gc_layout layout = gc_candidate_layout(form, width, height, GC_FLOAT);
    int first = gc_candidates(device, &layout, list);
    assert_true(first >= 1 && first < GC_CANDIDATES_MAX);
    assert_same_tuning(list[0], gc_tuning_untuned(device, &layout));
    int count = first;
    for (int i = 0; i < first && count == first; i++)
        if (list[i].form != GC_FORM_WARP)
            count = gc_candidates_like(device, &layout, &list[i], list, count);
    assert_true(count >= first && count <= GC_CANDIDATES_MAX);
    for (int i = 0; i < count; i++) {
        layout.tuning = list[i];
        assert_true(gc_tuning_fits(device, &layout));
        assert_int_equal(gc_form_products(list[i].form), gc_form_products(form));
        assert_false(holds(list, i, list[i]));
    }
    return count;
}

TEST(candidates_can_run)
{
    gconv_device_info device = new_device();
    gc_tuning list[GC_CANDIDATES_MAX];
    for (int height = 1; height <= 31; height++)
        for (int width = 1; width <= 31; width++) {
            check_candidates(&device, GC_FORM_BLOCK, width, height, list);
            for (int products = 1; products <= 3; products++)
                check_candidates(&device, gc_form_of_products(products), width, height, list);
        }
    device.shared_per_block_optin = 64 << 10;
    check_candidates(&device, GC_FORM_RANK1, 21, 21, list);
}

TEST(candidates_are_few_and_varied)
{
    gconv_device_info device = new_device();
    gc_tuning list[GC_CANDIDATES_MAX];
    int count = check_candidates(&device, GC_FORM_BLOCK, 5, 5, list);
    assert_in_range(count, 20, 28);
    assert_true(holds(list, count, (gc_tuning){GC_FORM_WARP, 8, 2, GC_ONE_TILE, 1}));
    assert_true(holds(list, count, (gc_tuning){GC_FORM_BLOCK, 8, 4, GC_QUEUE, 1}));
    count = check_candidates(&device, GC_FORM_BLOCK, 21, 21, list);
    assert_in_range(count, 4, 9);
    assert_true(holds(list, count, (gc_tuning){GC_FORM_BLOCK, 1, 8, GC_QUEUE, 1}));
    assert_false(holds(list, count, (gc_tuning){GC_FORM_BLOCK, 3, 8, GC_QUEUE, 1}));
    count = check_candidates(&device, GC_FORM_RANK1, 21, 21, list);
    assert_in_range(count, 6, 20);
    assert_true(holds(list, count, (gc_tuning){GC_FORM_RANK1, 8, 16, GC_ONE_TILE, 1}));
}

const test_suite suite = {.before = make_cache, .after = remove_cache};
