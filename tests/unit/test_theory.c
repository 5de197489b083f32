/* Equations of the sources against what they print, and against values computed by hand. */
#include "unit.h"

#include "cli/measure/traffic.h"
#include "lab/bench/theory.h"

/* The GTX 960M of KTH 2018: 80 GB/s and 1403 GFLOP/s (section 4.2). */
static const double bandwidth = 80e9, peak = 1403e9;

static void assert_near(double value, double wanted, double digit)
{
    if (!(fabs(value - wanted) <= digit / 2))
        fail_msg("%g is not %g", value, wanted);
}

static double gflops(const char *name, int side)
{
    double intensity = gc_kth_intensity(name, side, side, 21);
    return gc_roof_at((gc_roofs){bandwidth, peak}, intensity) / 1e9;
}

/* Sections 4.2 to 4.6. For 5x5 tiled the paper prints 546.52, and its equation gives 456.52. */
TEST(test_printed)
{
    assert_near(gflops("naive", 3), 20, 0.001);
    assert_near(gflops("naive", 5), 20, 0.001);
    assert_near(gflops("shared", 3), 27.692, 0.001);
    assert_near(gflops("shared", 5), 34.483, 0.001);
    assert_near(gflops("const", 3), 90, 0.001);
    assert_near(gflops("const", 5), 250, 0.001);
    assert_near(gflops("const:kth", 5), 250, 0.001);
    assert_near(gflops("adaptive", 3), 164.35, 0.01);
    assert_near(gflops("tiled", 5), 456.52, 0.01);
    assert_near(gflops("adaptive:kth", 5), 456.52, 0.01);
}

/* By hand: 3x5 over 17 columns and 3 rows. */
TEST(test_by_hand)
{
    assert_near(gc_kth_intensity("naive", 17, 3, 1), 0.25, 1e-12);
    assert_near(gc_kth_intensity("shared", 17, 3, 1), 102.0 / 220, 1e-12);
    assert_near(gc_kth_intensity("const", 17, 3, 1), 102.0 / 16, 1e-12);
    assert_near(gc_kth_intensity("twopass:lecture", 17, 3, 0), 2.5, 1e-12); /* (34/8 + 6/8) / 2 */
    assert_near(gc_kth_intensity("twopass:lecture1d", 17, 3, 0), 2.5, 1e-12);
    assert_near(gc_kth_intensity("twopass:kth", 17, 3, 0), 2.5, 1e-12);
    assert_near(gc_kth_intensity("tiled", 17, 3, 4), 408.0 / 48, 1e-12);
    assert_near(gc_kth_intensity("twopass:tiled", 17, 3, 4), 160.0 / 24, 1e-12);
    assert_near(gc_kth_intensity("twopass:tiled", 5, 5, 21), 420.0 / 92, 1e-12);
    assert_near(gc_kth_intensity("twopass:transposed", 17, 3, 0), 840.0 / 92, 1e-12);
    /* twopass has a factor for each pass, and the others need to know theirs. */
    static const char *const none[] = {"direct", "twopass", "adaptive", "twopass:tiled"};
    for (size_t i = 0; i < COUNT(none); i++)
        assert_true(gc_kth_intensity(none[i], 3, 3, 0) == 0);
}

/* Equation 1 of van Werkhoven et al. 2014, with a block of 32x32. */
static double intensity_of_2014(int width, int height)
{
    return 2.0 * width * height * 32 * 32 / ((width - 1 + 32) * (height - 1 + 32) * 4);
}

/* Section 2 there: 3.99 FLOP a byte and 766.36 GFLOP/s at 3x3 on a GTX 680, and "for most filter
 * sizes in our test range, except for the 20 smallest", the peak is the limit. */
TEST(test_roofline_of_2014)
{
    const gc_roofs gtx680 = {192.26e9, 3090.43e9};
    int by_memory = 0;
    assert_near(intensity_of_2014(3, 3), 3.99, 0.01);
    assert_near(gc_roof_at(gtx680, intensity_of_2014(3, 3)) / 1e9, 766.36, 1);
    for (int width = 3; width <= 43; width += 2)
        for (int height = 3; height <= 43; height += 2)
            by_memory += gc_roof_at(gtx680, intensity_of_2014(width, height)) < gtx680.peak;
    assert_int_equal(by_memory, 20);
}

/* De Smet 2011, table 1, which rounds bandwidths to 0.1 10^9 numbers a second: 141.7, 111.9 and
 * 17.056 GB/s. */
TEST(test_locality)
{
    assert_near(gc_locality_factor(1), 0, 0);
    assert_near(gc_locality_factor(1024), 50, 0);
    assert_near(gc_locality_flops(2, 8 * 17.7e9) / 1e9, 88.5, 1e-6);
    assert_near(gc_locality_flops(512, 8 * 17.7e9) / 1e9, 796.5, 1e-6);
    assert_near(gc_locality_flops(1 << 14, 8 * 14.0e9) / 1e9, 980, 1e-6);
    assert_near(gc_locality_flops(64, 17.056e9) / 1e9, 63.96, 0.01);
}

/* 8 bits: a byte read and a byte written, 2 * 9 operations. As floats, 8 bytes. */
TEST(test_one_pass)
{
    gc_traffic t = {.implementation = "direct",
                    .width = 100,
                    .height = 50,
                    .filter_width = 3,
                    .filter_height = 3,
                    .sample_bytes = 1};
    static const char *const names[] = {"direct", "separable", "fused",     "tensor",   "tilefft",
                                        "cpu",    "cpu:taps",  "cpu:tiles", "reference"};
    for (size_t i = 0; i < COUNT(names); i++) {
        t.implementation = names[i];
        assert_near(gc_traffic_bytes(&t), 2, 0);
        assert_near(gc_traffic_intensity(&t), 9, 0);
    }
    t.planes = true;
    assert_near(gc_traffic_intensity(&t), 18.0 / 8, 0);
    static const char *const published[] = {"naive", "const", "twopass:tiled", "adaptive:nc", "f"};
    for (size_t i = 0; i < COUNT(published); i++) {
        t.implementation = published[i];
        assert_true(gc_traffic_intensity(&t) == 0);
    }
}

/* 98x48 outputs of 100x50 points: 15 floats of 4 bytes a point; 13 doubles and 2 floats where the
 * result is exact. */
TEST(test_transforms)
{
    gc_traffic t = {.implementation = "fft",
                    .width = 98,
                    .height = 48,
                    .filter_width = 3,
                    .filter_height = 3,
                    .sample_bytes = 1};
    assert_near(gc_traffic_bytes(&t), 60 * 5000.0 / 4704, 1e-9);
    assert_near(gc_traffic_intensity(&t), 18 * 4704 / 300000.0, 1e-9);
    t.exact = true;
    assert_near(gc_traffic_bytes(&t), 112 * 5000.0 / 4704, 1e-9);
}

TEST(test_roof)
{
    const gc_roofs roofs = {100e9, 1000e9};
    assert_near(gc_roof_at(roofs, 2), 200e9, 0);
    assert_near(gc_roof_at(roofs, 20), 1000e9, 0);
    assert_near(gc_roof_at((gc_roofs){100e9, 0}, 20), 2000e9, 0); /* the peak is not known */
    assert_true(gc_roof_at((gc_roofs){0, 0}, 20) == 0);
}
