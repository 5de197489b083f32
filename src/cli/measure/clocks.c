#include "cli/measure/clocks.h"

#include "base/json.h"
#include "gconv_lab.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>

enum { PROCESSORS_MAX = 1024, ZONES_MAX = 64 };

static gc_clocks seen, gpu_seen;

static FILE *open_below(const char *root, const char *path)
{
    char whole[PATH_MAX];
    return snprintf(whole, sizeof whole, "%s%s", root, path) < (int)sizeof whole
               ? fopen(whole, "re")
               : NULL;
}

/* The number at the beginning of the file whose name has `index` between two parts; 0 if there is
 * none. */
static double read_number(const char *root, const char *before, int index, const char *after)
{
    char path[128];
    double number = 0;
    snprintf(path, sizeof path, "%s%d%s", before, index, after);
    FILE *file = open_below(root, path);
    if (file == NULL)
        return 0;
    if (fscanf(file, "%lf", &number) != 1)
        number = 0;
    fclose(file);
    return number;
}

/* The highest clock in /proc/cpuinfo, which virtual machines have, too. */
static double read_cpuinfo(const char *root)
{
    char line[256];
    double highest = 0, clock;
    FILE *file = open_below(root, "/proc/cpuinfo");
    if (file == NULL)
        return 0;
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "cpu MHz : %lf", &clock) == 1)
            highest = fmax(highest, clock);
    fclose(file);
    return highest;
}

static double read_megahertz(const char *root)
{
    double highest = 0;
    for (int i = 0; i < PROCESSORS_MAX; i++) {
        double kilohertz =
            read_number(root, "/sys/devices/system/cpu/cpu", i, "/cpufreq/scaling_cur_freq");
        if (kilohertz <= 0)
            break;
        highest = fmax(highest, 1e-3 * kilohertz);
    }
    return highest > 0 ? highest : read_cpuinfo(root);
}

static double read_celsius(const char *root)
{
    double highest = 0;
    for (int i = 0; i < ZONES_MAX; i++) {
        double thousandths = read_number(root, "/sys/class/thermal/thermal_zone", i, "/temp");
        highest = fmax(highest, 1e-3 * thousandths);
    }
    return highest;
}

static void widen(double value, double *low, double *high)
{
    if (!(value > 0))
        return;
    *low = *low > 0 ? fmin(*low, value) : value;
    *high = fmax(*high, value);
}

void gc_clocks_read(const char *root, gc_clocks *clocks)
{
    widen(read_megahertz(root), &clocks->megahertz_low, &clocks->megahertz_high);
    widen(read_celsius(root), &clocks->celsius_low, &clocks->celsius_high);
}

void gc_clocks_sample(int gpu)
{
    double megahertz, celsius;
    gc_clocks_read("", &seen);
    if (gpu < 0)
        return;
    gconv_gpu_clock(gpu, &megahertz, &celsius);
    widen(megahertz, &gpu_seen.megahertz_low, &gpu_seen.megahertz_high);
    widen(celsius, &gpu_seen.celsius_low, &gpu_seen.celsius_high);
}

static void write_range(const char *low_key, double low, const char *high_key, double high)
{
    if (!(high > 0))
        return;
    gc_json_number(low_key, low);
    gc_json_number(high_key, high);
}

void gc_clocks_json(void)
{
    write_range("megahertz_low", seen.megahertz_low, "megahertz_high", seen.megahertz_high);
    write_range("celsius_low", seen.celsius_low, "celsius_high", seen.celsius_high);
    write_range("gpu_megahertz_low", gpu_seen.megahertz_low, "gpu_megahertz_high",
                gpu_seen.megahertz_high);
    write_range("gpu_celsius_low", gpu_seen.celsius_low, "gpu_celsius_high", gpu_seen.celsius_high);
}
