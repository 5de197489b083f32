/* A sketch: lines where a pixel is darker than its surroundings, and shades where it is dark. The
 * surroundings are known for square cells, and interpolated. Whole numbers throughout. */
#include "cli/image/sketch.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdlib.h>

enum {
    TONE = 255,
    WHITE_LEAST = 110 * 257, /* a darker image stays dark */
    SHADE_MOST = 224,
    FIRM = 16 * 257,    /* is added to the surroundings, so that grain in the dark is no line */
    CONTRAST = 1 << 14, /* units of contrast: one means black in white surroundings */
    PLAIN = 900,        /* contrast, and busy, times the usual contrast around, that make a line */
    BUSY = 5,           /* black */
    CELLS = 8,          /* in a row: those that the usual contrast is averaged over */
    FAINT = 64,         /* thin lines are where lines have at least this tone */
};
/* Parts of the pixels that are white, and black unless the whole image is bright. */
static const double brighter = 0.03, darker = 0.02;

/* ---- Cells ----------------------------------------------------------------------------------- */

/* A number for each cell of an image, row by row. Cells at the right and at the bottom may be
 * smaller. */
typedef struct grid {
    uint32_t side, columns, rows, width, height; /* of a cell, of the grid, and of the image */
    uint32_t *cells;                             /* owned */
    uint64_t *sums;                              /* of the cells of one row; owned */
    uint32_t *line; /* `width` numbers between those of the cells, and `columns` + 2; owned */
} grid;

static gconv_status grid_create(const gc_marks *marks, uint32_t side, grid *g, gconv_error *error)
{
    *g = (grid){.side = side, .width = marks->width, .height = marks->height};
    g->columns = (g->width - 1) / side + 1;
    g->rows = (g->height - 1) / side + 1;
    size_t cells = (size_t)g->columns * g->rows;
    g->cells = gc_allocate_array(cells, sizeof g->cells[0]);
    g->sums = calloc(g->columns, sizeof g->sums[0]);
    g->line = gc_allocate_array((size_t)g->width + g->columns + 2, sizeof g->line[0]);
    return g->cells != NULL && g->sums != NULL && g->line != NULL
               ? GCONV_OK
               : gc_fail_memory(error, cells * sizeof g->cells[0]);
}

static void grid_destroy(grid *g)
{
    free(g->cells);
    free(g->sums);
    free(g->line);
}

/* Takes the line as the numbers of row y. The last row of cells gives them their means. */
static void take_line(grid *g, uint32_t y)
{
    uint32_t row = y / g->side, rows = y % g->side + 1;
    bool ends = rows == g->side || y + 1 == g->height;
    for (uint32_t i = 0; i < g->columns; i++) {
        uint32_t x = i * g->side, left = g->width - x, width = left < g->side ? left : g->side;
        for (uint32_t k = 0; k < width; k++)
            g->sums[i] += g->line[x + k];
        if (!ends)
            continue;
        uint64_t count = (uint64_t)rows * width;
        g->cells[(size_t)row * g->columns + i] = (uint32_t)((g->sums[i] + count / 2) / count);
        g->sums[i] = 0;
    }
}

/* The number of the cell, or of the nearest one if it is outside. */
static uint32_t cell_at(const grid *g, int64_t column, int64_t row)
{
    column = column < 0 ? 0 : column < g->columns ? column : g->columns - 1;
    row = row < 0 ? 0 : row < g->rows ? row : g->rows - 1;
    return g->cells[(size_t)row * g->columns + (size_t)column];
}

static uint32_t between(uint32_t first, uint32_t next, uint32_t weight)
{
    return (first * (256 - weight) + next * weight + 128) / 256;
}

/* Interpolates the numbers of row y from the cells, first down and then across. A cell's number is
 * that of its centre. */
static void fill_line(grid *g, uint32_t y)
{
    uint64_t twice = 2 * (uint64_t)y + 1 + g->side, span = 2 * (uint64_t)g->side;
    int64_t first = (int64_t)(twice / span) - 1;
    uint32_t *cells = g->line + g->width, weight = (uint32_t)(256 * (twice % span) / span);
    for (uint32_t i = 0; i < g->columns + 2; i++)
        cells[i] = between(cell_at(g, (int64_t)i - 1, first), cell_at(g, (int64_t)i - 1, first + 1),
                           weight);
    uint32_t along = g->side + 1;
    for (uint32_t x = 0; x < g->width; x++, along += 2) {
        if (along >= span) {
            along -= (uint32_t)span;
            cells++;
        }
        g->line[x] = between(cells[0], cells[1], 128 * along / g->side);
    }
}

/* ---- Surroundings ---------------------------------------------------------------------------- */

/* Puts a function of each cell and the eight around it, row by row, in the place of its number. */
static gconv_status change(grid *g, uint32_t function(uint32_t around[9]), gconv_error *error)
{
    size_t count = (size_t)g->columns * g->rows;
    uint32_t *cells = gc_allocate_array(count, sizeof *cells);
    if (cells == NULL)
        return gc_fail_memory(error, count * sizeof *cells);
    for (size_t k = 0; k < count; k++) {
        uint32_t around[9];
        for (int i = 0; i < 9; i++)
            around[i] = cell_at(g, (int64_t)(k % g->columns) + i % 3 - 1,
                                (int64_t)(k / g->columns) + i / 3 - 1);
        cells[k] = function(around);
    }
    free(g->cells);
    g->cells = cells;
    return GCONV_OK;
}

static uint32_t mean_of(uint32_t around[9])
{
    uint64_t sum = 4;
    for (int i = 0; i < 9; i++)
        sum += around[i];
    return (uint32_t)(sum / 9);
}

static int compare(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* Something small in a cell, such as a star or a letter, makes it hardly brighter than the median
 * of the cells around it, and not darker. */
static uint32_t without_details(uint32_t around[9])
{
    uint32_t own = around[4];
    qsort(around, 9, sizeof around[0], compare);
    uint32_t least = around[4], most = least + least / 8;
    return own < least ? least : own < most ? own : most;
}

/* Finds how bright the surroundings of pixels are. */
static gconv_status find_ground(const gc_marks *marks, grid *ground, gconv_error *error)
{
    const uint16_t *samples = marks->samples;
    for (uint32_t y = 0; y < marks->height; y++, samples += marks->width) {
        for (uint32_t x = 0; x < marks->width; x++)
            ground->line[x] = samples[x];
        take_line(ground, y);
    }
    gconv_status status = change(ground, without_details, error);
    return status == GCONV_OK ? change(ground, mean_of, error) : status;
}

/* How much a pixel differs from its surroundings. */
static uint32_t contrast_of(uint32_t sample, uint32_t ground)
{
    return (sample < ground ? ground - sample : sample - ground) * CONTRAST / (ground + FIRM);
}

/* Finds how much contrast is usual around pixels. */
static gconv_status find_usual(const gc_marks *marks, grid *ground, grid *usual, gconv_error *error)
{
    const uint16_t *samples = marks->samples;
    gconv_status status = GCONV_OK;
    for (uint32_t y = 0; y < marks->height; y++, samples += marks->width) {
        fill_line(ground, y);
        for (uint32_t x = 0; x < marks->width; x++)
            usual->line[x] = contrast_of(samples[x], ground->line[x]);
        take_line(usual, y);
    }
    for (int i = 0; i < 3 && status == GCONV_OK; i++)
        status = change(usual, mean_of, error);
    return status;
}

/* ---- Tones ----------------------------------------------------------------------------------- */

/* Of a line. */
static uint32_t line_tone(uint32_t sample, uint32_t ground, uint32_t usual)
{
    uint32_t part = 0;
    if (sample < ground)
        part = TONE * contrast_of(sample, ground) / (PLAIN + BUSY * usual);
    part = part < TONE ? part : TONE;
    return part * part * (3 * TONE - 2 * part) / (TONE * TONE);
}

static void make_shades(const gc_marks *marks, uint8_t shades[GC_RESPONSE_MOST + 1])
{
    double pixels = (double)marks->width * marks->height;
    uint32_t white = gc_marks_cut(marks, brighter * pixels);
    uint32_t black = gc_marks_cut(marks, (1 - darker) * pixels);
    white = white < WHITE_LEAST ? WHITE_LEAST : white;
    black = black < white / 4 ? black : white / 4;
    for (uint32_t k = 0; k <= GC_RESPONSE_MOST; k++) {
        uint32_t part = k < white ? TONE * (white - k) / (white - black) : 0;
        part = part < TONE ? part : TONE;
        shades[k] = (uint8_t)(SHADE_MOST * part * part * part / (TONE * TONE * TONE));
    }
}

static void draw(gc_marks *marks, grid *ground, grid *usual, bool thin)
{
    uint8_t shades[GC_RESPONSE_MOST + 1];
    uint16_t *samples = marks->samples;
    make_shades(marks, shades);
    for (uint32_t y = 0; y < marks->height; y++, samples += marks->width) {
        fill_line(ground, y);
        fill_line(usual, y);
        for (uint32_t x = 0; x < marks->width; x++) {
            uint32_t tone = line_tone(samples[x], ground->line[x], usual->line[x]);
            uint32_t light = (TONE - tone) * (TONE - shades[samples[x]]) + TONE / 2;
            samples[x] = (uint16_t)(!thin ? TONE - light / TONE : tone < FAINT ? 0 : TONE);
        }
    }
}

gconv_status gc_sketch_draw(gc_marks *marks, uint32_t side, bool thin, gconv_error *error)
{
    grid ground = {.cells = NULL}, usual = {.cells = NULL};
    gconv_status status = grid_create(marks, side, &ground, error);
    if (status == GCONV_OK)
        status = grid_create(marks, CELLS * side, &usual, error);
    if (status == GCONV_OK)
        status = find_ground(marks, &ground, error);
    if (status == GCONV_OK)
        status = find_usual(marks, &ground, &usual, error);
    if (status == GCONV_OK)
        draw(marks, &ground, &usual, thin);
    grid_destroy(&ground);
    grid_destroy(&usual);
    return status;
}
