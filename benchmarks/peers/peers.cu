/* gconv_peers: times floors of the chip and what other libraries do, side by side, every result
 * checked. See benchmarks/peers/README.md. */
#include "groups.cuh"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#if GC_PEERS_HAS_CUFFT
#include <cufft.h>
#endif
#if GC_PEERS_HAS_NPP
#include <npp.h>
#endif

static const int sides[] = {3, 5, 7, 9, 11, 13, 15, 17, 21, 25, 31, 43, 63, 127, 255};

#if GC_PEERS_HAS_NPP
/* NPP takes milliseconds from here on. */
static const int npp_side_max = 43;
#endif

struct options {
    int size;
    double seconds;
    const char *csv;
    const char *name; /* of entries that are wanted; NULL: all */
};

static bool usage()
{
    fputs("usage: gconv_peers [--size N] [--seconds S] [--name TEXT] [--csv FILE]\n"
          "  --size N     pixels a side, a multiple of 64 from 256 to 16384 (4096)\n"
          "  --seconds S  how long each time is taken (0.2)\n"
          "  --name TEXT  only what has this in its name, and the floors\n"
          "  --csv FILE   write the table there too\n",
          stderr);
    return false;
}

static bool parse_number(const char *text, double least, double most, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && *value >= least && *value <= most;
}

static bool parse(int argc, char **argv, options *options)
{
    *options = {4096, 0.2, nullptr, nullptr};
    for (int i = 1; i < argc; i += 2) {
        double number = 0.0;
        if (i + 1 == argc)
            return usage();
        if (strcmp(argv[i], "--csv") == 0)
            options->csv = argv[i + 1];
        else if (strcmp(argv[i], "--name") == 0)
            options->name = argv[i + 1];
        else if (strcmp(argv[i], "--seconds") == 0 &&
                 parse_number(argv[i + 1], 1e-3, 60.0, &number))
            options->seconds = number;
        else if (strcmp(argv[i], "--size") == 0 && parse_number(argv[i + 1], 256, 16384, &number) &&
                 number == (int)number && (int)number % 64 == 0)
            options->size = (int)number;
        else
            return usage();
    }
    return true;
}

/* What the figures depend on. */
static bool print_machine(const options &options)
{
    cudaDeviceProp device;
    int driver, runtime;
    PEERS_CUDA(cudaGetDeviceProperties(&device, 0));
    PEERS_CUDA(cudaDriverGetVersion(&driver));
    PEERS_CUDA(cudaRuntimeGetVersion(&runtime));
    printf("# device: %s, %d multiprocessors, L2 %d MB\n", device.name, device.multiProcessorCount,
           device.l2CacheSize >> 20);
    printf("# CUDA: driver %d.%d, runtime %d.%d\n", driver / 1000, driver % 1000 / 10,
           runtime / 1000, runtime % 1000 / 10);
#if GC_PEERS_HAS_CUFFT
    printf("# cuFFT: %d.%d.%d\n", CUFFT_VER_MAJOR, CUFFT_VER_MINOR, CUFFT_VER_PATCH);
#else
    printf("# cuFFT: not installed\n");
#endif
#if GC_PEERS_HAS_NPP
    printf("# NPP: %d.%d.%d\n", NPP_VER_MAJOR, NPP_VER_MINOR, NPP_VER_PATCH);
#else
    printf("# NPP: not installed\n");
#endif
#if GC_PEERS_HAS_NPP && !GC_PEERS_HAS_NPP_EDGES
    printf("# NPP edges: not all libraries installed\n");
#endif
    printf(
        "# pictures: %dx%d, random; us: median between two events; graph us: a launch in a graph;\n"
        "#   x copy: to the fastest copy of the same plane, both between events\n",
        options.size, options.size);
    return true;
}

static void add_all(std::vector<peers_entry> *entries, const peers_data &data)
{
    peers_add_floors(entries, data);
    for (int side : sides) {
        peers_add_ours(entries, data, side);
#if GC_PEERS_HAS_NPP
        if (side <= npp_side_max)
            peers_add_npp(entries, data, side);
#endif
#if GC_PEERS_HAS_CUFFT
        peers_add_fft(entries, data, side);
#endif
    }
    peers_add_our_chains(entries, data);
    peers_add_our_edges(entries, data);
#if GC_PEERS_HAS_NPP_EDGES
    peers_add_npp_edges(entries, data);
#endif
    std::stable_sort(entries->begin(), entries->end(),
                     [](const peers_entry &a, const peers_entry &b) { return a.group < b.group; });
}

static void keep_named(std::vector<peers_entry> *entries, const char *name)
{
    auto others = [name](const peers_entry &entry) {
        return entry.group != PEERS_FLOORS && strstr(entry.name, name) == nullptr;
    };
    entries->erase(std::remove_if(entries->begin(), entries->end(), others), entries->end());
}

static bool close_csv(FILE *csv, const char *name)
{
    bool written = ferror(csv) == 0;
    return (fclose(csv) == 0 && written) || peers_fail("%s: cannot be written", name);
}

int main(int argc, char **argv)
{
    options options;
    if (!parse(argc, argv, &options))
        return 2;
    FILE *csv = nullptr;
    if (options.csv != nullptr && (csv = fopen(options.csv, "w")) == nullptr) {
        peers_fail("%s: cannot be opened", options.csv);
        return 1;
    }
    static peers_data data;
    std::vector<peers_entry> entries;
    if (!print_machine(options) || !peers_data_make(&data, options.size))
        return 1;
    add_all(&entries, data);
    if (options.name != nullptr)
        keep_named(&entries, options.name);
    bool good = peers_run(data, entries, options.seconds, csv);
    if (csv != nullptr)
        good = close_csv(csv, options.csv) && good;
    return good ? 0 : 1;
}
