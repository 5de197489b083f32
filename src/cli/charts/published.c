#include "cli/charts/published.h"

#include <string.h>

/* Devices and steps of the source, and the implementations that do the same. */
#define KTH_NAIVE "GTX 960M", "Naive", "naive"
#define KTH_SHARED "GTX 960M", "Shared", "shared"
#define KTH_CONSTANT "GTX 960M", "Constant", "const"
#define KTH_SEPARABLE "GTX 960M", "Separable", "twopass:transposed,twopass"
#define KTH_ADAPTIVE "GTX 960M", "Adaptive", "adaptive:kth,adaptive"
#define KTH_SERIAL "Core i7-6700HQ, one core", "CPU", "reference"

#define KTH_SECONDS(table, step, image, filter, value)                                             \
    {                                                                                              \
        "kth", "KTH 2018", "table " #table, step, "", GC_QUANTITY_SECONDS_100, image, filter,      \
            filter, value                                                                          \
    }
#define KTH_BOUND(where, step, filter, value)                                                      \
    {                                                                                              \
        "kth", "KTH 2018", where, step, "", GC_QUANTITY_BOUND, 0, filter, filter, value            \
    }

#define LECTURE_TIME(step, implementation, image, value)                                           \
    {                                                                                              \
        "lecture", "Abramov 2011", "Runtime and speedups", "", step, implementation, "",           \
            GC_QUANTITY_MILLISECONDS, image, 17, 17, value                                         \
    }
#define LECTURE_SPEED_UP(step, implementation, over, image, value)                                 \
    {                                                                                              \
        "lecture", "Abramov 2011", "Runtime and speedups", "", step, implementation, over,         \
            GC_QUANTITY_SPEED_UP, image, 17, 17, value                                             \
    }

#define WERKHOVEN_2011(where, device, step, implementation, quantity, width, height, value)        \
    {                                                                                              \
        "adaptive-2011", "van Werkhoven et al. 2011", where, device, step, implementation, "",     \
            quantity, 4096, width, height, value                                                   \
    }
#define WERKHOVEN_2014(where, device, step, implementation, width, height, value)                  \
    {                                                                                              \
        "adaptive-2014", "van Werkhoven et al. 2014", where, device, step, implementation, "",     \
            GC_QUANTITY_GFLOPS, 4096, width, height, value                                         \
    }
#define FOURIER_SPEED_UP(preset, source, where, device, filter, value)                             \
    {                                                                                              \
        preset, source, where, device, "spatial over Fourier", "spatial", "fft",                   \
            GC_QUANTITY_SPEED_UP, 4096, filter, filter, value                                      \
    }
#define TABLE_1_FACTOR(where, step, implementation, width, height, value)                          \
    {                                                                                              \
        "adaptive-2014", "van Werkhoven et al. 2014", where, "GTX 680", step, implementation, "",  \
            GC_QUANTITY_FACTOR, 4096, width, height, value                                         \
    }
/* The bound of De Smet 2011 for a GPU and 2 to this power of points. */
#define LOCALITY_BOUND(device, power, value)                                                       \
    {                                                                                              \
        "fft-locality", "De Smet 2011", "table 1", device, "bound", "fft,cpu", "",                 \
            GC_QUANTITY_BOUND, 0, 1 << (power), 1, value                                           \
    }
#define TABLE_1_ROWS(side, factor)                                                                 \
    TABLE_1_FACTOR("table 1, left", "horizontal filtering", "", side, 1, factor)
#define TABLE_1_COLUMNS(side, factor)                                                              \
    TABLE_1_FACTOR("table 1, right", "vertical filtering", "", 1, side, factor)

static const gc_published all_published[] = {
    /* Running times on 100 images. */
    KTH_SECONDS(2, KTH_NAIVE, 256, 3, 0.03028),
    KTH_SECONDS(2, KTH_SHARED, 256, 3, 0.02935),
    KTH_SECONDS(2, KTH_CONSTANT, 256, 3, 0.01154),
    KTH_SECONDS(2, KTH_ADAPTIVE, 256, 3, 0.02147),
    KTH_SECONDS(2, KTH_SERIAL, 256, 3, 0.57747),
    KTH_SECONDS(2, KTH_NAIVE, 512, 3, 0.06081),
    KTH_SECONDS(2, KTH_SHARED, 512, 3, 0.05731),
    KTH_SECONDS(2, KTH_CONSTANT, 512, 3, 0.03830),
    KTH_SECONDS(2, KTH_ADAPTIVE, 512, 3, 0.07054),
    KTH_SECONDS(2, KTH_SERIAL, 512, 3, 2.21353),
    KTH_SECONDS(2, KTH_NAIVE, 1024, 3, 0.22893),
    KTH_SECONDS(2, KTH_SHARED, 1024, 3, 0.22312),
    KTH_SECONDS(2, KTH_CONSTANT, 1024, 3, 0.18631),
    KTH_SECONDS(2, KTH_ADAPTIVE, 1024, 3, 0.26275),
    KTH_SECONDS(2, KTH_SERIAL, 1024, 3, 8.9972),
    KTH_SECONDS(2, KTH_NAIVE, 2048, 3, 0.74210),
    KTH_SECONDS(2, KTH_SHARED, 2048, 3, 0.68913),
    KTH_SECONDS(2, KTH_CONSTANT, 2048, 3, 0.62886),
    KTH_SECONDS(2, KTH_ADAPTIVE, 2048, 3, 0.84656),
    KTH_SECONDS(2, KTH_SERIAL, 2048, 3, 35.89697),
    KTH_SECONDS(2, KTH_NAIVE, 4096, 3, 1.39531),
    KTH_SECONDS(2, KTH_SHARED, 4096, 3, 1.40037),
    KTH_SECONDS(2, KTH_CONSTANT, 4096, 3, 1.40050),
    KTH_SECONDS(2, KTH_ADAPTIVE, 4096, 3, 1.41074),
    KTH_SECONDS(2, KTH_SERIAL, 4096, 3, 141.20673),
    KTH_SECONDS(3, KTH_NAIVE, 256, 5, 0.07643),
    KTH_SECONDS(3, KTH_SHARED, 256, 5, 0.05121),
    KTH_SECONDS(3, KTH_CONSTANT, 256, 5, 0.34102),
    KTH_SECONDS(3, KTH_SEPARABLE, 256, 5, 0.02047),
    KTH_SECONDS(3, KTH_ADAPTIVE, 256, 5, 0.12751),
    KTH_SECONDS(3, KTH_SERIAL, 256, 5, 1.53194),
    KTH_SECONDS(3, KTH_NAIVE, 512, 5, 0.16982),
    KTH_SECONDS(3, KTH_SHARED, 512, 5, 0.10807),
    KTH_SECONDS(3, KTH_CONSTANT, 512, 5, 0.05403),
    KTH_SECONDS(3, KTH_SEPARABLE, 512, 5, 0.059440),
    KTH_SECONDS(3, KTH_ADAPTIVE, 512, 5, 0.04246),
    KTH_SECONDS(3, KTH_SERIAL, 512, 5, 5.94404),
    KTH_SECONDS(3, KTH_NAIVE, 1024, 5, 0.37363),
    KTH_SECONDS(3, KTH_SHARED, 1024, 5, 0.30825),
    KTH_SECONDS(3, KTH_CONSTANT, 1024, 5, 0.20551),
    KTH_SECONDS(3, KTH_SEPARABLE, 1024, 5, 0.22412),
    KTH_SECONDS(3, KTH_ADAPTIVE, 1024, 5, 0.20722),
    KTH_SECONDS(3, KTH_SERIAL, 1024, 5, 24.66439),
    KTH_SECONDS(3, KTH_NAIVE, 2048, 5, 0.96227),
    KTH_SECONDS(3, KTH_SHARED, 2048, 5, 0.78883),
    KTH_SECONDS(3, KTH_CONSTANT, 2048, 5, 0.74028),
    KTH_SECONDS(3, KTH_SEPARABLE, 2048, 5, 0.80197),
    KTH_SECONDS(3, KTH_ADAPTIVE, 2048, 5, 0.76989),
    KTH_SECONDS(3, KTH_SERIAL, 2048, 5, 96.23732),
    KTH_SECONDS(3, KTH_NAIVE, 4096, 5, 5.17129),
    KTH_SECONDS(3, KTH_SHARED, 4096, 5, 5.31297),
    KTH_SECONDS(3, KTH_CONSTANT, 4096, 5, 5.1702),
    KTH_SECONDS(3, KTH_SEPARABLE, 4096, 5, 2.42404),
    KTH_SECONDS(3, KTH_ADAPTIVE, 4096, 5, 1.46357),
    KTH_SECONDS(3, KTH_SERIAL, 4096, 5, 387.84728),
    /* What the memory allows, by equations 9 to 11 and 13. */
    KTH_BOUND("section 4.2", KTH_NAIVE, 0, 20),
    KTH_BOUND("section 4.3", KTH_SHARED, 3, 27.692),
    KTH_BOUND("section 4.3", KTH_SHARED, 5, 34.483),
    KTH_BOUND("section 4.4", KTH_CONSTANT, 3, 90),
    KTH_BOUND("section 4.4", KTH_CONSTANT, 5, 250),
    KTH_BOUND("section 4.6", KTH_ADAPTIVE, 3, 164.35),
    KTH_BOUND("section 4.6", KTH_ADAPTIVE, 5, 546.52),
    {"kth", "KTH 2018", "section 3.5.1", KTH_ADAPTIVE, "", GC_QUANTITY_FACTOR, 0, 3, 3, 21},
    {"kth", "KTH 2018", "section 3.5.1", KTH_ADAPTIVE, "", GC_QUANTITY_FACTOR, 0, 5, 5, 22},

    /* A Gaussian of radius 8 on RGB images. The speed-up is over the step before. */
    LECTURE_TIME("Naive version (CPU)", "reference", 400, 91),
    LECTURE_TIME("Naive version (GPU)", "naive:const", 400, 27),
    LECTURE_TIME("Shared memory", "const", 400, 26.9),
    LECTURE_TIME("Separable convolution", "twopass:lecture,twopass", 400, 3),
    LECTURE_TIME("Optimized separable convolution", "twopass:lecture1d", 400, 1.6),
    LECTURE_TIME("Naive version (CPU)", "reference", 2000, 2330),
    LECTURE_TIME("Naive version (GPU)", "naive:const", 2000, 693),
    LECTURE_TIME("Shared memory", "const", 2000, 663),
    LECTURE_TIME("Separable convolution", "twopass:lecture,twopass", 2000, 72),
    LECTURE_TIME("Optimized separable convolution", "twopass:lecture1d", 2000, 38),
    LECTURE_SPEED_UP("Naive version (GPU)", "naive:const", "reference", 400, 3.3),
    LECTURE_SPEED_UP("Shared memory", "const", "naive:const", 400, 1.003),
    LECTURE_SPEED_UP("Separable convolution", "twopass:lecture,twopass", "const", 400, 8.9),
    LECTURE_SPEED_UP("Optimized separable convolution", "twopass:lecture1d",
                     "twopass:lecture,twopass", 400, 1.8),
    LECTURE_SPEED_UP("Naive version (GPU)", "naive:const", "reference", 2000, 3.3),
    LECTURE_SPEED_UP("Shared memory", "const", "naive:const", 2000, 1.05),
    LECTURE_SPEED_UP("Separable convolution", "twopass:lecture,twopass", "const", 2000, 9.2),
    LECTURE_SPEED_UP("Optimized separable convolution", "twopass:lecture1d",
                     "twopass:lecture,twopass", 2000, 1.9),

    /* Rates, and what the memory of a device without caches allows. */
    WERKHOVEN_2011("section 5", "Tesla C1060", "naive", "naive", GC_QUANTITY_BOUND, 0, 0, 25.5),
    WERKHOVEN_2011("section 5", "Tesla C1060", "constant memory", "naive:const", GC_QUANTITY_GFLOPS,
                   0, 0, 51),
    FOURIER_SPEED_UP("adaptive-2011", "van Werkhoven et al. 2011", "section 7", "GTX 480", 3, 10),

    WERKHOVEN_2014("section 9", "GTX 680", "naive", "naive", 3, 3, 66.6),
    WERKHOVEN_2014("section 9", "GTX 680", "adaptive tiling", "adaptive", 3, 3, 133.2),
    WERKHOVEN_2014("section 5", "GTX 680", "adaptive tiling", "adaptive", 3, 3, 135.9),
    WERKHOVEN_2014("sections 5 and 9", "GTX 680", "adaptive, unrolled", "adaptive:unrolled", 3, 3,
                   251.3),
    WERKHOVEN_2014("figure 12, section 5", "GTX 680", "adaptive, unrolled", "adaptive:unrolled", 17,
                   43, 938.4),
    WERKHOVEN_2014("section 9", "Tesla K20", "adaptive, unrolled", "adaptive:unrolled", 17, 43,
                   1003),
    WERKHOVEN_2014("section 8", "GTX 480", "shared memory, unrolled", "", 5, 5, 229.8),
    WERKHOVEN_2014("section 8", "GTX 480", "shared memory of Hwu, unrolled", "", 5, 5, 180.8),
    WERKHOVEN_2014("section 8", "GTX 480", "adaptive, unrolled", "adaptive:unrolled", 32, 32,
                   749.6),
    WERKHOVEN_2014("section 8", "GTX 480", "compiler of Yang et al.", "", 32, 32, 239.0),
    FOURIER_SPEED_UP("adaptive-2014", "van Werkhoven et al. 2014", "section 7", "GTX 680", 3,
                     18.96),
    FOURIER_SPEED_UP("adaptive-2014", "van Werkhoven et al. 2014", "section 7", "GTX 680", 5,
                     10.09),
    FOURIER_SPEED_UP("fft-map", "van Werkhoven et al. 2014", "section 7", "GTX 680", 3, 18.96),
    FOURIER_SPEED_UP("fft-map", "van Werkhoven et al. 2014", "section 7", "GTX 680", 5, 10.09),

    /* Factors that the search for unrolled kernels found. */
    TABLE_1_ROWS(3, 4),
    TABLE_1_ROWS(5, 4),
    TABLE_1_ROWS(7, 5),
    TABLE_1_ROWS(9, 4),
    TABLE_1_ROWS(11, 4),
    TABLE_1_ROWS(13, 8),
    TABLE_1_ROWS(15, 8),
    TABLE_1_ROWS(17, 8),
    TABLE_1_ROWS(19, 8),
    TABLE_1_ROWS(21, 8),
    TABLE_1_ROWS(23, 7),
    TABLE_1_ROWS(25, 7),
    TABLE_1_ROWS(27, 7),
    TABLE_1_ROWS(29, 7),
    TABLE_1_ROWS(31, 7),
    TABLE_1_ROWS(33, 7),
    TABLE_1_ROWS(35, 6),
    TABLE_1_ROWS(37, 6),
    TABLE_1_ROWS(39, 6),
    TABLE_1_ROWS(41, 8),
    TABLE_1_ROWS(43, 8),
    TABLE_1_COLUMNS(3, 5),
    TABLE_1_COLUMNS(5, 4),
    TABLE_1_COLUMNS(7, 4),
    TABLE_1_COLUMNS(9, 3),
    TABLE_1_COLUMNS(11, 4),
    TABLE_1_COLUMNS(13, 3),
    TABLE_1_COLUMNS(15, 6),
    TABLE_1_COLUMNS(17, 6),
    TABLE_1_COLUMNS(19, 7),
    TABLE_1_COLUMNS(21, 7),
    TABLE_1_COLUMNS(23, 6),
    TABLE_1_COLUMNS(25, 5),
    TABLE_1_COLUMNS(27, 6),
    TABLE_1_COLUMNS(29, 6),
    TABLE_1_COLUMNS(31, 8),
    TABLE_1_COLUMNS(33, 4),
    TABLE_1_COLUMNS(35, 5),
    TABLE_1_COLUMNS(37, 5),
    TABLE_1_COLUMNS(39, 7),
    TABLE_1_COLUMNS(41, 8),
    TABLE_1_COLUMNS(43, 6),

    /* GFLOP/s that the bandwidth allows. The source prints no others. */
    LOCALITY_BOUND("GeForce 9400M G", 1, 10.66),
    LOCALITY_BOUND("GeForce 9400M G", 6, 63.96),
    LOCALITY_BOUND("GTX280", 1, 88.5),
    LOCALITY_BOUND("GTX280", 4, 354),
    LOCALITY_BOUND("GTX280", 6, 531),
    LOCALITY_BOUND("GTX280", 7, 619.5),
    LOCALITY_BOUND("GTX280", 8, 708),
    LOCALITY_BOUND("GTX280", 9, 796.5),
    LOCALITY_BOUND("GTX220", 1, 70),
    LOCALITY_BOUND("GTX220", 6, 420),
    LOCALITY_BOUND("GTX220", 7, 490),
    LOCALITY_BOUND("GTX220", 8, 560),
    LOCALITY_BOUND("GTX220", 14, 980),
    LOCALITY_BOUND("8800GTX", 1, 54),
    LOCALITY_BOUND("8800GTX", 5, 270),
    LOCALITY_BOUND("8800GTX", 6, 324),
    LOCALITY_BOUND("8800GTX", 7, 378),
    LOCALITY_BOUND("8800GTX", 8, 432),
};

const gc_published *gc_published_at(size_t index)
{
    return index < sizeof all_published / sizeof all_published[0] ? &all_published[index] : NULL;
}

size_t gc_published_name(const char **list, const char **name)
{
    size_t length = strcspn(*list, ",");
    *name = *list;
    *list += length + ((*list)[length] == ',');
    return length;
}

const char *gc_quantity_unit(gc_quantity quantity)
{
    static const char *const units[] = {
        [GC_QUANTITY_SECONDS_100] = "s for 100 images",
        [GC_QUANTITY_MILLISECONDS] = "ms",
        [GC_QUANTITY_GFLOPS] = "GFLOP/s",
        [GC_QUANTITY_BOUND] = "GFLOP/s allowed",
        [GC_QUANTITY_SPEED_UP] = "times as fast",
        [GC_QUANTITY_FACTOR] = "tiling factor",
    };
    return units[quantity];
}
