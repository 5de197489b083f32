/* Tilings: shared memory without bank conflicts, factors chosen from descriptions of devices. */
#include "core_support.h"

#include "gpu/tunings/tiling.h"

/* ---- Bank conflicts -------------------------------------------------------------------------- */

/* Each thread of a block reads the word at its place, in rows of `pitch` words. True if two
 * threads of a warp want different words of one bank. */
static bool has_conflicts(int block_width, int block_height, int pitch)
{
    int threads = block_width * block_height;
    for (int warp = 0; warp < threads; warp += 32) {
        bool taken[GC_SHARED_BANKS] = {false};
        for (int thread = warp; thread < warp + 32 && thread < threads; thread++) {
            int bank = (thread / block_width * pitch + thread % block_width) % GC_SHARED_BANKS;
            if (taken[bank])
                return true;
            taken[bank] = true;
        }
    }
    return false;
}

TEST(no_bank_conflicts)
{
    static const int widths[] = {1, 2, 4, 8, 16, 24, 32, 48, 64, 128};
    for (size_t w = 0; w < COUNT(widths); w++)
        for (int factor = 1; factor <= GC_FACTOR_MAX; factor++)
            for (int filter = 1; filter <= 64; filter++) {
                int width = widths[w];
                int pitch = gc_tiling_pitch(filter, width, factor);
                if (width < 32 && has_conflicts(width, 1024 / width, pitch))
                    fail_msg("block %d, factor %d, filter %d: pitch %d", width, factor, filter,
                             pitch);
                if (width % 32 == 0)
                    assert_false(has_conflicts(width, 1024 / width, pitch));
            }
    assert_true(has_conflicts(16, 16, 64)); /* what the padding is for */
    assert_true(has_conflicts(8, 32, 34));
}

TEST(pitch_holds_the_row)
{
    for (int width = 1; width <= 128; width++)
        for (int factor = 1; factor <= GC_FACTOR_MAX; factor++)
            for (int filter = 1; filter <= 255; filter++) {
                int needed = filter - 1 + factor * width;
                int pitch = gc_tiling_pitch(filter, width, factor);
                assert_true(pitch >= needed);
                if (width >= 32)
                    assert_int_equal(pitch, needed); /* nothing to pad */
                else
                    assert_true(pitch < needed + 2 * GC_SHARED_BANKS);
            }
}

TEST(measures)
{
    gc_tiling tiling = {.block_width = 32, .block_height = 8, .factor = 4};
    gc_tiling_measure(17, 9, &tiling);
    assert_int_equal(tiling.shared_pitch, 16 + 4 * 32);
    assert_int_equal(tiling.shared_bytes, 144 * (8 + 8) * 4);
    tiling = (gc_tiling){.block_width = 16, .block_height = 16, .factor = 2};
    gc_tiling_measure(17, 17, &tiling);
    assert_int_equal(tiling.shared_pitch, 32 + 48); /* 32 and 32 without padding, and one more 16 */
    gc_tiling_measure(255, 255, &tiling);
    assert_int_equal(tiling.shared_bytes, (256 + 48) * (254 + 16) * 4);
}

/* ---- Devices --------------------------------------------------------------------------------- */

/* What a choice asks of a device: its multiprocessors; KiB of shared memory of a block, of a block
 * that asks for more, and of a multiprocessor; 1024s of registers of a block, which are all of a
 * multiprocessor; threads of a multiprocessor and of a block; and blocks of a multiprocessor. */
#define DEVICE(label, capability, number, shared, most, all, registers, threads, block, blocks)    \
    {                                                                                              \
        .name = (label), .compute_major = (capability), .processors = (number),                    \
        .shared_per_block = (shared) << 10, .shared_per_block_optin = (most) << 10,                \
        .shared_per_processor = (all) << 10, .registers_per_processor = (registers) << 10,         \
        .registers_per_block = (registers) << 10, .threads_per_processor = (threads),              \
        .threads_per_block = (block), .blocks_per_processor = (blocks), .warp_size = 32            \
    }

static const gconv_device_info gtx480 = DEVICE("GTX 480", 2, 15, 48, 48, 48, 32, 1536, 1024, 8);
static const gconv_device_info gtx680 = DEVICE("GTX 680", 3, 8, 48, 48, 48, 64, 2048, 1024, 16);
static const gconv_device_info h200 = DEVICE("H200", 9, 132, 48, 227, 228, 64, 2048, 1024, 32);
static const gconv_device_info tiny = DEVICE("tiny", 7, 1, 8, 8, 16, 16, 512, 256, 8);

static gc_factor_registers registers_of(int count)
{
    gc_factor_registers registers;
    for (int factor = 0; factor <= GC_FACTOR_MAX; factor++)
        registers.count[factor] = count;
    return registers;
}

/* The factor of gc_tiling_adapt, 0 if there is none. */
static int published(const gconv_device_info *device, const gc_factor_registers *registers,
                     int block_width, int block_height, int width, int height)
{
    gc_tiling tiling = {.block_width = block_width, .block_height = block_height};
    return gc_tiling_adapt(device, registers, 0, width, height, &tiling) ? tiling.factor : 0;
}

/* That for a square filter and kernels that all take as many registers. */
static int factor(const gconv_device_info *device, int registers, int width, int height, int filter)
{
    gc_factor_registers all = registers_of(registers);
    return published(device, &all, width, height, filter, filter);
}

/* The table of the papers: on a GTX 680 large filters leave room for ever smaller factors. */
TEST(factors_on_a_gtx680)
{
    assert_int_equal(factor(&gtx680, 32, 32, 8, 3), 16);  /* 514 * 10 * 4 bytes, twice */
    assert_int_equal(factor(&gtx680, 32, 32, 8, 17), 7);  /* 240 * 24 * 4, twice */
    assert_int_equal(factor(&gtx680, 32, 32, 8, 31), 9);  /* 318 * 38 * 4, one block */
    assert_int_equal(factor(&gtx680, 32, 32, 8, 43), 6);  /* 234 * 50 * 4, one block */
    assert_int_equal(factor(&gtx680, 32, 32, 8, 64), 3);  /* 159 * 71 * 4, one block */
    assert_int_equal(factor(&gtx680, 32, 32, 8, 128), 0); /* 159 * 135 * 4 is too much */
}

TEST(factors_on_an_h200)
{
    assert_int_equal(factor(&h200, 32, 32, 8, 3), 16);
    assert_int_equal(factor(&h200, 32, 32, 8, 64), 16); /* 575 * 71 * 4, one block */
    assert_int_equal(factor(&h200, 32, 32, 8, 128), 9); /* 415 * 135 * 4, one block */
    assert_int_equal(factor(&h200, 32, 32, 8, 200), 2); /* 263 * 207 * 4, one block */
    assert_int_equal(factor(&h200, 32, 32, 8, 255), 0);
}

/* A block may take all the shared memory there is, where the system keeps none of it. */
TEST(all_shared_memory_of_an_old_device)
{
    gconv_device_info device = gtx680;
    gc_tiling tiling = {.block_width = 32, .block_height = 8, .factor = 2};
    gc_tiling_measure(64, 64, &tiling);
    device.shared_per_block_optin = device.shared_per_processor = tiling.shared_bytes;
    assert_int_equal(factor(&device, 32, 32, 8, 64), 2);
    device.compute_major = 8;
    assert_int_equal(factor(&device, 32, 32, 8, 64), 1);
    device.shared_per_processor += 1024;
    assert_int_equal(factor(&device, 32, 32, 8, 64), 2);
}

TEST(registers_limit_the_factor)
{
    gc_factor_registers registers = registers_of(32);
    for (int factor = 9; factor <= GC_FACTOR_MAX; factor++)
        registers.count[factor] = 129; /* 136 * 256 threads, once in 65536 */
    assert_int_equal(published(&h200, &registers, 32, 8, 5, 5), 8);
    assert_int_equal(factor(&h200, 64, 32, 32, 5), 16); /* 1024 threads, once */
    assert_int_equal(factor(&h200, 65, 32, 32, 5), 0);  /* 72 * 1024 are too many */
    assert_int_equal(factor(&h200, 32, 32, 33, 5), 0);  /* more than 1024 threads */
}

TEST(factors_on_a_tiny_device)
{
    assert_int_equal(factor(&tiny, 32, 32, 8, 3), 6); /* 194 * 10 * 4, twice */
    assert_int_equal(factor(&tiny, 64, 32, 8, 3), 6); /* one block of 16384 registers */
    assert_int_equal(factor(&tiny, 32, 32, 8, 43), 0);
    assert_int_equal(factor(&tiny, 32, 32, 16, 3), 0);
    assert_int_equal(factor(&tiny, 32, 16, 8, 17), 3); /* (32 + 48) * 24 * 4, twice */
}

/* What a tiling takes fits as often as is wished for, and no larger one does. */
static void assert_largest(const gconv_device_info *device, const gc_tiling *chosen, int filter)
{
    uint64_t kept = device->compute_major >= 8 ? 1024 : 0;
    int fits[3] = {0, 0, 0}; /* the largest factor of which that many blocks fit */
    for (int factor = 1; factor <= GC_FACTOR_MAX; factor++) {
        gc_tiling other = *chosen;
        other.factor = factor;
        gc_tiling_measure(filter, filter, &other);
        for (int blocks = 1; blocks <= 2; blocks++)
            if (other.shared_bytes <= device->shared_per_block_optin &&
                (other.shared_bytes + kept) * (uint64_t)blocks <= device->shared_per_processor)
                fits[blocks] = factor;
    }
    assert_int_equal(chosen->factor,
                     filter <= GC_SMALL_FILTER_COLUMNS && fits[2] > 0 ? fits[2] : fits[1]);
}

TEST(chosen_factors_are_the_largest)
{
    static const int blocks[][2] = {{32, 8}, {32, 4}, {16, 16}, {8, 8}, {64, 2}, {32, 16}};
    static const gconv_device_info *const devices[] = {&gtx680, &h200};
    gc_factor_registers registers = registers_of(32);
    for (int n = 0; n < 12; n++)
        for (int filter = 1; filter <= 128; filter++) {
            gc_tiling tiling = {.block_width = blocks[n / 2][0], .block_height = blocks[n / 2][1]};
            /* If none fits the factor stays 0. */
            gc_tiling_adapt(devices[n % 2], &registers, 0, filter, filter, &tiling);
            assert_largest(devices[n % 2], &tiling, filter);
        }
}

/* ---- Factors as published -------------------------------------------------------------------- */

enum { SIDE_FIRST = 3, SIDE_LAST = 43 }; /* the filters of the 2014 paper, odd in both directions */

/* Kernels of which two blocks of 32x32 fit in 65536 registers up to factor 4, and of more than the
 * 63 registers that a thread of a GTX 680 can have beyond. */
static gc_factor_registers registers_of_a_gtx680(void)
{
    gc_factor_registers registers = registers_of(32);
    for (int factor = 5; factor <= GC_FACTOR_MAX; factor++)
        registers.count[factor] = 65;
    return registers;
}

/* "Adaptive tiling improves the efficiency of 121 out of the 441 tested filter sizes, for the other
 * filter sizes the same tiling factor is selected", which is 4; and 41x43 and 43x43 run, for which
 * 1x4 tiling needs more shared memory than there is (2014, section 4, figure 11c). */
TEST(map_of_a_gtx680)
{
    gc_factor_registers registers = registers_of_a_gtx680();
    int sizes = 0, improved = 0, rescued = 0;
    for (int width = SIDE_FIRST; width <= SIDE_LAST; width += 2)
        for (int height = SIDE_FIRST; height <= SIDE_LAST; height += 2) {
            int factor = published(&gtx680, &registers, 32, 32, width, height);
            gc_tiling four = {.block_width = 32, .block_height = 32, .factor = 4};
            gc_tiling_measure(width, height, &four);
            bool fits = four.shared_bytes <= gtx680.shared_per_block;
            sizes++;
            improved += fits && factor != 4;
            rescued += !fits && factor > 0;
            assert_true(fits || (height == 43 && width >= 41));
        }
    assert_int_equal(sizes, 441);
    assert_int_equal(improved, 121);
    assert_int_equal(rescued, 2);
    assert_int_equal(published(&gtx680, &registers, 32, 32, 3, 3), 4);   /* 130 * 34 * 4, twice */
    assert_int_equal(published(&gtx680, &registers, 32, 32, 17, 17), 3); /* 112 * 48 * 4, twice */
    assert_int_equal(published(&gtx680, &registers, 32, 32, 17, 43), 2); /* 80 * 74 * 4, twice */
    assert_int_equal(published(&gtx680, &registers, 32, 32, 19, 43),
                     4); /* 146 * 74 * 4, one block */
    assert_int_equal(published(&gtx680, &registers, 32, 32, 43, 43),
                     3); /* 138 * 74 * 4, one block */
}

/* With the registers of its kernels up to factor 16 an H200 takes the largest factor nearly
 * everywhere; where it does not, two blocks have to fit. By shared memory alone two of factor 26
 * would at 3x3. */
TEST(map_of_an_h200)
{
    gc_factor_registers registers = registers_of(32);
    int largest = 0;
    for (int width = SIDE_FIRST; width <= SIDE_LAST; width += 2)
        for (int height = SIDE_FIRST; height <= SIDE_LAST; height += 2) {
            int factor = published(&h200, &registers, 32, 32, width, height);
            largest += factor == GC_FACTOR_MAX;
            assert_true(factor == GC_FACTOR_MAX || (width <= 17 && height >= 25 && factor >= 11));
        }
    assert_int_equal(largest, 363);
    for (int width = 7; width <= SIDE_LAST; width += 2)
        for (int height = 7; height <= SIDE_LAST; height += 2)
            assert_int_equal(published(&h200, &registers, 16, 32, width, height), GC_FACTOR_MAX);
    gc_tiling tiling = {.block_width = 32, .block_height = 32, .factor = 26};
    gc_tiling_measure(3, 3, &tiling);
    assert_true(2 * (tiling.shared_bytes + 1024) <= h200.shared_per_processor);
    tiling.factor++;
    gc_tiling_measure(3, 3, &tiling);
    assert_true(2 * (tiling.shared_bytes + 1024) > h200.shared_per_processor);
}

/* Blocks of 16x32 (2011, figure 8d), whose rows are padded: one block, as large as fits. */
TEST(map_of_a_gtx480)
{
    gc_factor_registers registers = registers_of(63);
    assert_int_equal(published(&gtx480, &registers, 16, 32, 7, 7), 16);   /* (32 + 272) * 38 * 4 */
    assert_int_equal(published(&gtx480, &registers, 16, 32, 17, 17), 13); /* (32 + 208) * 48 * 4 */
    assert_int_equal(published(&gtx480, &registers, 16, 32, 43, 43), 5);  /* (64 + 80) * 74 * 4 */
    int before = GC_FACTOR_MAX;
    for (int side = 7; side <= SIDE_LAST; side += 2) {
        int factor = published(&gtx480, &registers, 16, 32, side, side);
        assert_in_range(factor, 1, before);
        before = factor;
    }
    registers.count[10] = 65; /* 68 * 512 registers are too many */
    for (int factor = 11; factor <= GC_FACTOR_MAX; factor++)
        registers.count[factor] = 65;
    assert_int_equal(published(&gtx480, &registers, 16, 32, 7, 7), 9);
}

/* Within 48 KiB an H200 chooses what smaller devices do, but for their registers. */
TEST(shared_memory_can_be_limited)
{
    gc_factor_registers registers = registers_of(63);
    gc_tiling tiling = {.block_width = 16, .block_height = 32};
    for (int side = GC_SMALL_FILTER_COLUMNS + 2; side <= SIDE_LAST; side += 2) {
        assert_true(gc_tiling_adapt(&h200, &registers, 49152, side, side, &tiling));
        assert_int_equal(tiling.factor, published(&gtx480, &registers, 16, 32, side, side));
    }
    assert_true(gc_tiling_adapt(&h200, &registers, 49152, 7, 7, &tiling));
    assert_int_equal(tiling.factor, 7); /* (32 + 112) * 38 * 4, twice */
    assert_false(gc_tiling_adapt(&h200, &registers, 4096, 7, 7, &tiling));
    assert_true(gc_tiling_adapt(&h200, &registers, UINT64_C(1) << 30, 43, 43, &tiling));
    assert_int_equal(tiling.factor, published(&h200, &registers, 16, 32, 43, 43));
}

TEST(published_rule_follows_the_device)
{
    gc_factor_registers few = registers_of(32), many = registers_of(48);
    assert_int_equal(published(&h200, &few, 32, 32, 17, 17), 16);  /* 528 * 48 * 4, twice */
    assert_int_equal(published(&h200, &many, 32, 32, 17, 17), 16); /* one block */
    assert_int_equal(published(&h200, &few, 32, 32, 43, 43), 16);  /* 554 * 74 * 4, one block */
    assert_int_equal(published(&h200, &few, 32, 32, 128, 128), 7); /* 351 * 159 * 4, one block */
    assert_int_equal(published(&h200, &few, 32, 32, 255, 255), 0);
    many = registers_of(65);
    assert_int_equal(published(&h200, &many, 32, 32, 3, 3), 0); /* 1024 threads of 72 registers */
    assert_int_equal(published(&tiny, &few, 32, 32, 3, 3), 0);  /* 1024 threads */
    assert_int_equal(published(&tiny, &few, 32, 8, 3, 3), 6);   /* 194 * 10 * 4, twice */
    assert_int_equal(published(&tiny, &few, 32, 8, 19, 3), 5);  /* 178 * 10 * 4, one block */
}

/* KTH 2018: 3x3 and 5x5 in 24576 samples. (24576 - 2 * 34) / (34 * 32) is 22, of which the paper
 * takes 21; (24576 - 4 * 36) / (36 * 32) is 21. */
TEST(factors_of_kth)
{
    static const struct {
        int width, height, factor, pitch;
    } cases[] = {{3, 3, 21, 674},  {5, 5, 21, 676},    {17, 17, 15, 496},
                 {43, 43, 9, 330}, {255, 255, 0, 254}, {3, 255, 2, 66}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        gc_tiling tiling = {.block_width = 32, .block_height = 32};
        gc_tiling_adapt_kth(cases[i].width, cases[i].height, &tiling);
        assert_int_equal(tiling.factor, cases[i].factor);
        assert_int_equal(tiling.shared_pitch, cases[i].pitch);
        assert_true(tiling.factor == 0 || tiling.shared_bytes <= 48 << 10);
        assert_int_equal(tiling.shared_bytes,
                         (uint64_t)cases[i].pitch * (uint64_t)(cases[i].height + 31) * 2);
    }
}

/* Columns have no apron to their sides. */
TEST(tiles_below_each_other)
{
    gc_tiling tiling = {.block_width = 16, .block_height = 8, .factor = 20};
    gc_tiling_measure_down(1, 43, &tiling);
    assert_int_equal(tiling.shared_pitch, 16);
    assert_int_equal(tiling.shared_bytes, 16 * (20 * 8 + 42) * 4);
}
