#include "compare.h"

#include <math.h>
#include <string.h>

compare_map compare_begin(uint32_t width, uint32_t height)
{
    return (compare_map){.width = width, .height = height};
}

static uint32_t cell_of(uint32_t at, uint32_t size, uint32_t cells)
{
    return size <= cells ? at : (uint32_t)((uint64_t)at * cells / size);
}

void compare_sample(compare_map *map, uint32_t x, uint32_t y, int channel, double got,
                    judge_range wanted)
{
    if (got >= wanted.low && got <= wanted.high)
        return;
    if (map->wrong++ == 0) {
        map->x = x;
        map->y = y;
        map->channel = channel;
        map->got = got;
        map->wanted = wanted;
    }
    uint32_t row = cell_of(y, map->height, COMPARE_MAP_ROWS);
    map->cells[row][cell_of(x, map->width, COMPARE_MAP_COLUMNS)] = true;
}

void compare_print(const compare_map *map, FILE *file)
{
    fprintf(file, "  %llu wrong, first at x %u, y %u, channel %d: %.9g instead of %.9g",
            (unsigned long long)map->wrong, map->x, map->y, map->channel, map->got,
            map->wanted.low);
    if (map->wanted.low != map->wanted.high)
        fprintf(file, " to %.9g", map->wanted.high);
    fputc('\n', file);
    uint32_t rows = map->height < COMPARE_MAP_ROWS ? map->height : COMPARE_MAP_ROWS;
    uint32_t columns = map->width < COMPARE_MAP_COLUMNS ? map->width : COMPARE_MAP_COLUMNS;
    for (uint32_t y = 0; y < rows; y++) {
        fputs("    ", file);
        for (uint32_t x = 0; x < columns; x++)
            fputc(map->cells[y][x] ? '#' : '.', file);
        fputc('\n', file);
    }
}

compare_map compare_chains(const gconv_shape *shape, int channels, const float *got,
                           const float *wanted, double bound)
{
    compare_map map = compare_begin(shape->width, shape->height);
    for (uint32_t y = 0; y < shape->height; y++)
        for (uint32_t x = 0; x < shape->width; x++)
            for (int c = 0; c < channels; c++) {
                double middle = (double)*wanted++;
                compare_sample(&map, x, y, c, (double)*got++,
                               (judge_range){middle - bound, middle + bound});
            }
    return map;
}

/* Sample `i` of an output row at any depth. */
static double output_sample(const unsigned char *row, int depth, size_t i)
{
    if (depth == 1)
        return row[i / 8] >> (7 - i % 8) & 1;
    if (depth == 32) {
        float value;
        memcpy(&value, row + i * sizeof value, sizeof value);
        return (double)value;
    }
    return check_sample(row, depth, i);
}

/* Bits that fill up the last byte of a row are 0. */
static bool padding_is_clear(const unsigned char *row, uint32_t width)
{
    return width % 8 == 0 || (row[width / 8] & (0xff >> width % 8)) == 0;
}

compare_map compare_output(const gconv_job *job, const check_image *input, const float *chain,
                           double bound, bool once, const check_image *output)
{
    uint32_t width = job->input.width, height = job->input.height;
    int channels = job->input.channels;
    int depth = job->output_depth == 1 && channels > 1 ? 8 : job->output_depth;
    compare_map map = compare_begin(width, height);
    for (uint32_t y = 0; y < height; y++) {
        const unsigned char *row = check_image_row(output, y);
        const unsigned char *from = check_image_row(input, y);
        for (uint32_t x = 0; x < width; x++) {
            size_t last = (size_t)x * (size_t)channels + (size_t)channels - 1;
            double alpha = check_sample(from, job->input.depth, last);
            for (int c = 0; c < channels; c++) {
                judge_range wanted = judge_output(job, chain, bound, alpha, c);
                if (once && c < judge_channels(job))
                    wanted.low = wanted.high = judge_once(job, chain[c]);
                compare_sample(&map, x, y, c,
                               output_sample(row, depth, (size_t)x * (size_t)channels + (size_t)c),
                               wanted);
            }
            chain += judge_channels(job);
        }
        if (depth == 1 && !padding_is_clear(row, width))
            compare_sample(&map, width - 1, y, 0, NAN, (judge_range){0, 0});
    }
    return map;
}
