/* Clocks and temperatures from files such as Linux has. */
#include "unit.h"

#include "cli/measure/clocks.h"

#include <sys/stat.h>

static char root[] = "/tmp/clocks-XXXXXX";

/* Writes a file below the root, and the directories that lead to it. */
static void put(const char *path, const char *text)
{
    char whole[256];
    size_t begin = strlen(root) + 1;
    snprintf(whole, sizeof whole, "%s%s", root, path);
    for (char *slash = strchr(whole + begin, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(whole, 0700);
        *slash = '/';
    }
    FILE *file = fopen(whole, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void ranges_are(const gc_clocks *clocks, double megahertz_low, double megahertz_high,
                       double celsius_low, double celsius_high)
{
    assert_true(clocks->megahertz_low == megahertz_low && clocks->celsius_low == celsius_low);
    assert_true(clocks->megahertz_high == megahertz_high && clocks->celsius_high == celsius_high);
}

/* In the order in which the files appear: each says more. */
TEST(test_sources)
{
    gc_clocks clocks = {0};
    assert_non_null(mkdtemp(root));
    gc_clocks_read(root, &clocks);
    ranges_are(&clocks, 0, 0, 0, 0);
    put("/proc/cpuinfo",
        "processor\t: 0\ncpu MHz\t\t: 2596.142\nflags\t: x\ncpu MHz\t\t: 2700.8\n");
    gc_clocks_read(root, &clocks);
    ranges_are(&clocks, 2700.8, 2700.8, 0, 0);
    put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "1200000\n");
    put("/sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3700000\n");
    put("/sys/class/thermal/thermal_zone0/temp", "45000\n");
    put("/sys/class/thermal/thermal_zone2/temp", "61500\n");
    gc_clocks_read(root, &clocks);
    ranges_are(&clocks, 2700.8, 3700, 61.5, 61.5);
    put("/sys/class/thermal/thermal_zone2/temp", "40000\n");
    put("/sys/class/thermal/thermal_zone1/temp", "no number\n");
    gc_clocks_read(root, &clocks);
    ranges_are(&clocks, 2700.8, 3700, 45, 61.5);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
}
