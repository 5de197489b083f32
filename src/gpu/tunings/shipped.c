/* The tunings that are shipped. `benchmarks/shipped_tuning.sh` makes entries from what `gconv tune`
 * prints. Of `direct` and `separable`, entries without which no filter has another tuning are left
 * out. */
#include "gpu/tunings/tuning.h"

#include <pthread.h>
#include <string.h>

/* `gconv tune`, driver 580.159.04, CUDA 13.0: entries of 2026-11-22 at commit a06d6ab. Of the other
 * entries, sums of products (GC_FORM_RANK2, GC_FORM_RANK3) at 485d136, the rest at 72f3e86. */
static const gc_tuned h200[] = {
    {3, 3, GC_FLOAT, GC_FLOAT, {GC_FORM_WARP, 2, 4, GC_ONE_TILE, 1}, 36.736, "2026-11-22"},
    {3, 3, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 4, 4, GC_QUEUE, 1}, 40.672, "2026-11-21"},
    {3, 3, GC_BYTE, GC_BYTE, {GC_FORM_BLOCK, 4, 8, GC_ONE_TILE, 1}, 25.376, "2026-11-22"},
    {3, 3, GC_BYTE, GC_BYTE, {GC_FORM_RANK1, 4, 4, GC_ONE_TILE, 1}, 26.496, "2026-11-22"},
    {5, 5, GC_FLOAT, GC_FLOAT, {GC_FORM_BLOCK, 4, 8, GC_QUEUE, 1}, 39.968, "2026-11-22"},
    {5, 5, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 4, 8, GC_QUEUE, 1}, 40.736, "2026-11-21"},
    {5, 5, GC_BYTE, GC_BYTE, {GC_FORM_BLOCK, 4, 8, GC_ONE_TILE, 1}, 33.888, "2026-11-22"},
    {5, 5, GC_BYTE, GC_BYTE, {GC_FORM_RANK1, 4, 8, GC_ONE_TILE, 1}, 28.736, "2026-11-22"},
    {7, 7, GC_FLOAT, GC_FLOAT, {GC_FORM_BLOCK, 4, 8, GC_QUEUE, 1}, 46.464, "2026-11-22"},
    {7, 7, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 8, 8, GC_QUEUE, 1}, 42.368, "2026-11-21"},
    {7, 7, GC_BYTE, GC_BYTE, {GC_FORM_BLOCK, 4, 8, GC_ONE_TILE, 1}, 46.976, "2026-11-22"},
    {7, 7, GC_BYTE, GC_BYTE, {GC_FORM_RANK1, 4, 8, GC_ONE_TILE, 1}, 31.424, "2026-11-22"},
    {9, 9, GC_FLOAT, GC_FLOAT, {GC_FORM_BLOCK, 3, 8, GC_QUEUE, 1}, 61.056, "2026-11-22"},
    {9, 9, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 4, 8, GC_QUEUE, 1}, 41.152, "2026-11-21"},
    {9, 9, GC_BYTE, GC_BYTE, {GC_FORM_RANK1, 4, 8, GC_ONE_TILE, 1}, 34.208, "2026-11-22"},
    {11, 11, GC_FLOAT, GC_FLOAT, {GC_FORM_BLOCK, 3, 8, GC_ONE_TILE, 1}, 84.224, "2026-11-22"},
    {11, 11, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 8, 8, GC_ONE_TILE, 1}, 42.464, "2026-11-21"},
    {11, 11, GC_BYTE, GC_BYTE, {GC_FORM_BLOCK, 3, 8, GC_ONE_TILE, 1}, 89.152, "2026-11-22"},
    {11, 11, GC_BYTE, GC_BYTE, {GC_FORM_RANK1, 4, 16, GC_ONE_TILE, 1}, 39.552, "2026-11-22"},
    {13, 13, GC_FLOAT, GC_FLOAT, {GC_FORM_BLOCK, 2, 8, GC_ONE_TILE, 1}, 111.680, "2026-11-22"},
    {13, 13, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 8, 8, GC_ONE_TILE, 1}, 44.288, "2026-11-21"},
    {13, 13, GC_BYTE, GC_BYTE, {GC_FORM_BLOCK, 2, 8, GC_ONE_TILE, 1}, 118.208, "2026-11-22"},
    {13, 13, GC_BYTE, GC_BYTE, {GC_FORM_RANK1, 4, 16, GC_ONE_TILE, 1}, 41.568, "2026-11-22"},
    {17, 17, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 8, 8, GC_ONE_TILE, 1}, 50.112, "2026-11-21"},
    {19, 19, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 8, 8, GC_QUEUE, 1}, 57.376, "2026-11-21"},
    {19, 19, GC_BYTE, GC_BYTE, {GC_FORM_BLOCK, 2, 8, GC_ONE_TILE, 1}, 236.416, "2026-11-22"},
    {21, 21, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 8, 8, GC_QUEUE, 1}, 59.424, "2026-11-21"},
    {21, 21, GC_BYTE, GC_BYTE, {GC_FORM_BLOCK, 2, 8, GC_ONE_TILE, 1}, 287.552, "2026-11-22"},
    {21, 21, GC_BYTE, GC_BYTE, {GC_FORM_RANK1, 4, 16, GC_ONE_TILE, 1}, 59.328, "2026-11-21"},
    {3, 15, GC_FLOAT, GC_FLOAT, {GC_FORM_BLOCK, 4, 8, GC_QUEUE, 1}, 47.552, "2026-11-22"},
    {3, 15, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 8, 8, GC_QUEUE, 1}, 44.096, "2026-11-21"},
    {3, 15, GC_BYTE, GC_BYTE, {GC_FORM_BLOCK, 6, 8, GC_ONE_TILE, 1}, 47.040, "2026-11-22"},
    {3, 15, GC_BYTE, GC_BYTE, {GC_FORM_RANK1, 4, 16, GC_ONE_TILE, 1}, 41.856, "2026-11-21"},
    {15, 3, GC_FLOAT, GC_FLOAT, {GC_FORM_BLOCK, 2, 8, GC_ONE_TILE, 1}, 47.648, "2026-11-22"},
    {15, 3, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 4, 4, GC_ONE_TILE, 1}, 38.816, "2026-11-21"},
    {15, 3, GC_BYTE, GC_BYTE, {GC_FORM_BLOCK, 4, 4, GC_ONE_TILE, 1}, 45.152, "2026-11-22"},
    {5, 17, GC_FLOAT, GC_FLOAT, {GC_FORM_BLOCK, 4, 8, GC_QUEUE, 1}, 64.960, "2026-11-22"},
    {5, 17, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 8, 8, GC_QUEUE, 1}, 44.800, "2026-11-21"},
    {17, 5, GC_FLOAT, GC_FLOAT, {GC_FORM_BLOCK, 4, 4, GC_ONE_TILE, 1}, 63.392, "2026-11-22"},
    {17, 5, GC_BYTE, GC_BYTE, {GC_FORM_BLOCK, 4, 8, GC_ONE_TILE, 1}, 66.688, "2026-11-22"},
    {17, 5, GC_BYTE, GC_BYTE, {GC_FORM_RANK1, 4, 8, GC_ONE_TILE, 1}, 41.568, "2026-11-21"},
    {9, 9, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK2, 6, 4, GC_QUEUE, 1}, 48.384, "2026-11-21"},
    {9, 9, GC_BYTE, GC_BYTE, {GC_FORM_RANK2, 4, 16, GC_ONE_TILE, 1}, 46.528, "2026-11-22"},
    {11, 11, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK2, 6, 4, GC_ONE_TILE, 1}, 54.464, "2026-11-21"},
    {11, 11, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK3, 6, 4, GC_ONE_TILE, 1}, 73.920, "2026-11-21"},
    {11, 11, GC_BYTE, GC_BYTE, {GC_FORM_RANK2, 6, 16, GC_ONE_TILE, 1}, 54.016, "2026-11-22"},
    {11, 11, GC_BYTE, GC_BYTE, {GC_FORM_RANK3, 6, 16, GC_ONE_TILE, 1}, 74.464, "2026-11-22"},
    {13, 13, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK2, 4, 12, GC_ONE_TILE, 1}, 61.088, "2026-11-21"},
    {13, 13, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK3, 6, 8, GC_ONE_TILE, 1}, 79.808, "2026-11-21"},
    {13, 13, GC_BYTE, GC_BYTE, {GC_FORM_RANK2, 4, 12, GC_ONE_TILE, 1}, 58.528, "2026-11-22"},
    {13, 13, GC_BYTE, GC_BYTE, {GC_FORM_RANK3, 6, 8, GC_ONE_TILE, 1}, 81.024, "2026-11-22"},
    {15, 15, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK2, 6, 8, GC_ONE_TILE, 1}, 66.592, "2026-11-21"},
    {15, 15, GC_BYTE, GC_BYTE, {GC_FORM_RANK2, 4, 12, GC_ONE_TILE, 1}, 63.648, "2026-11-22"},
    {15, 15, GC_BYTE, GC_BYTE, {GC_FORM_RANK3, 6, 12, GC_ONE_TILE, 1}, 89.312, "2026-11-22"},
    {17, 17, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK2, 6, 8, GC_ONE_TILE, 1}, 71.456, "2026-11-21"},
    {17, 17, GC_BYTE, GC_BYTE, {GC_FORM_RANK2, 6, 8, GC_ONE_TILE, 1}, 70.816, "2026-11-22"},
    {19, 19, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK2, 4, 12, GC_QUEUE, 1}, 81.632, "2026-11-21"},
    {19, 19, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK3, 6, 8, GC_ONE_TILE, 1}, 110.848, "2026-11-21"},
    {19, 19, GC_BYTE, GC_BYTE, {GC_FORM_RANK2, 4, 12, GC_ONE_TILE, 1}, 85.280, "2026-11-21"},
    {21, 21, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK2, 6, 8, GC_ONE_TILE, 1}, 87.296, "2026-11-21"},
    {21, 21, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK3, 6, 12, GC_ONE_TILE, 1}, 116.960, "2026-11-21"},
    {21, 21, GC_BYTE, GC_BYTE, {GC_FORM_RANK2, 4, 16, GC_ONE_TILE, 1}, 90.656, "2026-11-21"},
    {5, 17, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK2, 4, 12, GC_QUEUE, 1}, 57.824, "2026-11-21"},
    {5, 17, GC_BYTE, GC_BYTE, {GC_FORM_RANK2, 4, 12, GC_ONE_TILE, 1}, 62.976, "2026-11-21"},
};

/* adaptive:unrolled for filters with odd sides of 3 to 43 (docs/results/tuning-h200.txt): rows,
 * warps and tiles, and which of these the filters have, 'a' the first, by height, then width. */
static const int h200_tiles[][3] = {
    {16, 8, 8},  {32, 16, 8}, {16, 8, 4}, {16, 8, 6},  {8, 8, 4},   {16, 8, 5}, {16, 8, 7},
    {16, 8, 10}, {8, 4, 7},   {8, 4, 6},  {32, 16, 4}, {8, 8, 8},   {8, 4, 8},  {4, 4, 4},
    {8, 8, 5},   {4, 4, 5},   {8, 4, 5},  {4, 4, 8},   {64, 32, 4},
};
static const char h200_tiles_of_filters[] = "nppnprrqmqijqqjjjjjjj"
                                            "ppnnnnrfmmmimiiiiiiii"
                                            "ooooelefmmmijjiijjddd"
                                            "eeolellffaagdfdddgddd"
                                            "dgdclelffaagdaddgdgdf"
                                            "dfdlcllffaagaafagagaa"
                                            "cceeeleffaahaagaaagab"
                                            "cdlccccfaaaaaagagaaaa"
                                            "fdcccccfaaaahggaaaabb"
                                            "deceeeefaaaahaaaaaaaa"
                                            "caecaeefaaaahaaaaaabb"
                                            "dceeeeeaaagahaaaaaaaa"
                                            "kccccccfaaaahaaaaaabb"
                                            "cccaaccaaaaahaaaaaaaa"
                                            "kaaaacaaaaaahaaaaaabb"
                                            "kkkkkkkbbbbahaaaaaaab"
                                            "ccccackbbbbahaaaaaabb"
                                            "daaccbbbbbbahaaaaaaab"
                                            "sdaaabbbbbbahaaaaaabb"
                                            "ddeekeebbbbahaaaaaaab"
                                            "ddaabbbbbbbahaaaaaabb";

enum { ENTRIES = sizeof h200 / sizeof h200[0], SIDES = 21 };
_Static_assert(sizeof h200_tiles_of_filters == SIDES * SIDES + 1, "a letter a filter");

static gc_tuned all_of_h200[ENTRIES + SIDES * SIDES];
static pthread_once_t joining = PTHREAD_ONCE_INIT;

static void join(void)
{
    memcpy(all_of_h200, h200, sizeof h200);
    for (int i = 0; i < SIDES * SIDES; i++) {
        const int *t = h200_tiles[h200_tiles_of_filters[i] - 'a'];
        gc_tuning tuning = {GC_FORM_TILES, t[0], t[1], GC_ONE_TILE, t[2]};
        int width = 3 + 2 * (i % SIDES), height = 3 + 2 * (i / SIDES);
        all_of_h200[ENTRIES + i] = (gc_tuned){width, height, GC_FLOAT, GC_FLOAT, tuning, 0, ""};
    }
}

/* The H100 with as many multiprocessors takes them, too: see docs/results/shipped-h100.txt. */
const gc_tuned *gc_tuning_shipped(const gconv_device_info *device, int *count)
{
    bool known = strcmp(device->name, "NVIDIA H200") == 0 ||
                 strcmp(device->name, "NVIDIA H100 80GB HBM3") == 0;
    pthread_once(&joining, join);
    *count = known ? ENTRIES + SIDES * SIDES : 0;
    return known ? all_of_h200 : NULL;
}
