/* The exponential of generated filters against MPFR: each result is the double next to the true
 * value. GCONV_SIGMA_STEP=1 tries each SIGMA that has tenths; without it every 97th is tried. */
#include "filter/filter.h"

#include "unit.h"

#include <math.h>
#include <mpfr.h>
#include <stdint.h>
#include <stdlib.h>

static double true_exponential_of_minus(double y)
{
    mpfr_t number;
    mpfr_init2(number, 53);
    mpfr_set_d(number, -y, MPFR_RNDN);
    mpfr_subnormalize(number, mpfr_exp(number, number, MPFR_RNDN), MPFR_RNDN);
    double value = mpfr_get_d(number, MPFR_RNDN);
    mpfr_clear(number);
    return value;
}

static void compare(double y)
{
    mpfr_set_emin(-1073); /* as double has it */
    mpfr_set_emax(1024);
    double value = gc_exponential_of_minus(y), expected = true_exponential_of_minus(y);
    if (value != expected)
        fail_msg("exp(-%a) is %a, not %a", y, value, expected);
}

TEST(arguments_of_generators)
{
    const char *wanted = getenv("GCONV_SIGMA_STEP");
    int step = wanted != NULL ? atoi(wanted) : 97;
    assert_true(step > 0);
    for (int tenths = 1; tenths <= 6823; tenths += step) {
        double sigma = tenths / 10.0;
        for (int i = 0; i <= (int)ceil(3 * sigma); i++) {
            double t = i / sigma;
            compare(0.5 * t * t);
        }
    }
}

TEST(random_arguments)
{
    const char *wanted = getenv("GCONV_SIGMA_STEP");
    int count = wanted != NULL && atoi(wanted) == 1 ? 1000000 : 20000;
    uint64_t seed = 1;
    for (int i = 0; i < count; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        double y = ldexp((double)(seed >> 11), (int)(seed % 70) - 112);
        compare(y < 800 ? y : 800);
    }
}

/* Where the reduction changes its multiple of ln 2, and where results become subnormal and 0. */
TEST(edges_of_reduction)
{
    for (int n = 1; n <= 1076; n++) {
        double y = n * 0.6931471805599453;
        for (int i = 0; i < 4; i++)
            y = nextafter(y, 0);
        for (int i = 0; i < 9; i++, y = nextafter(y, 1000))
            compare(y);
    }
    static const double others[] = {0,      0x1p-1074, 0x1p-55, 0x1p-54, 0x1.8p-54, 0x1p-53,
                                    745.13, 745.14,    746,     746.1,   1e300,     INFINITY};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        compare(others[i]);
}
