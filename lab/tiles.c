#include "lab/tiles.h"

#include <stdio.h>
#include <string.h>

void gc_tiles_count(gc_tile_counts *counts, const gconv_tuning_case *one,
                    const gconv_tuning_result *best)
{
    if (strcmp(one->implementation, "adaptive:unrolled") != 0)
        return;
    int width = 32 * best->warps / best->rows;
    counts->sizes++;
    counts->factor_2 += best->tiles == 2;
    counts->factor_4 += best->tiles == 4;
    counts->above_4 += best->tiles > 4;
    counts->wide_16 += width == 16;
    counts->block_16x64 += width == 16 && best->rows == 64;
    counts->factors += best->tiles;
    counts->threads += 32 * best->warps;
}

void gc_tiles_print(const gc_tile_counts *counts)
{
    const struct {
        const char *name;
        int count;
        const char *gtx_680, *gtx_480, *k20;
    } shares[] = {
        {"factor 2", counts->factor_2, "21.3", "24.0", "-"},
        {"factor 4", counts->factor_4, "33.6", "44.2", "24.9"},
        {"factors above 4", counts->above_4, "34.2", "31.8", "-"},
        {"blocks 16 wide", counts->wide_16, "77.6 83.2", "-", "92.1"},
        {"blocks of 16x64", counts->block_16x64, "49.7", "-", "36.5"},
    };
    printf("\n%-21s %8s   %9s %8s %6s\n", "% of sizes", "here", "GTX 680", "GTX 480", "K20");
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++)
        printf("%-21s %8.1f   %9s %8s %6s\n", shares[i].name,
               100.0 * shares[i].count / counts->sizes, shares[i].gtx_680, shares[i].gtx_480,
               shares[i].k20);
    printf("%-21s %8.2f   %9s %8s %6s\n", "factor, mean", (double)counts->factors / counts->sizes,
           "4.16", "-", "-");
    printf("%-21s %8.1f   56.5 %% more on the Kepler devices than on the GTX 480\n",
           "threads a block, mean", (double)counts->threads / counts->sizes);
    printf("(%d sizes here; the others as printed by van Werkhoven et al. 2014, of 441)\n",
           counts->sizes);
}
