/* Where two images differ, and how to show it. */
#pragma once

#include "cases.h"
#include "judge.h"

enum { COMPARE_MAP_COLUMNS = 64, COMPARE_MAP_ROWS = 20 };

/* The samples of an image that are wrong. */
typedef struct compare_map {
    uint32_t width, height;
    uint64_t wrong;
    uint32_t x, y; /* the first one from the top */
    int channel;
    double got;
    judge_range wanted;
    bool cells[COMPARE_MAP_ROWS][COMPARE_MAP_COLUMNS];
} compare_map;

compare_map compare_begin(uint32_t width, uint32_t height);

/* Notes a sample that is not in `wanted`; one that is leaves no trace. */
void compare_sample(compare_map *map, uint32_t x, uint32_t y, int channel, double got,
                    judge_range wanted);

/* First wrong sample in words, and a map of the image with '#' where something is wrong. */
void compare_print(const compare_map *map, FILE *file);

/* Two sets of chain values, without padding. */
compare_map compare_chains(const gconv_shape *shape, int channels, const float *got,
                           const float *wanted, double bound);

/* An output image against the final conversion of chain values that are up to `bound` off. `once`:
 * the values are exact, and samples are rounded once; else in double as rule 5 says. */
compare_map compare_output(const gconv_job *job, const check_image *input, const float *chain,
                           double bound, bool once, const check_image *output);
