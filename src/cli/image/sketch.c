/* A sketch: lines where a pixel is darker than its surroundings, and shades where it is dark. The
 * surroundings are known for square cells, and interpolated. Whole numbers throughout. */
#include "cli/image/sketch.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

enum {
    TONE = 255,
    WHITE_LEAST = 110 * 257, /* a darker image stays dark */
    FIRM = 48 * 257,         /* is added to samples, so that grain in the dark is no line */
    WHOLE = 1 << 27,         /* over a sample */
    CONTRAST = 1 << 14,      /* units of contrast: one means black in white surroundings */
    PLAIN = 500, /* contrast, and BUSY times the usual contrast around, that make black */
    BUSY = 4,
    CELLS = 4, /* in a row: those that the usual contrast is averaged over */
};
/* Parts of the pixels that are white, and black unless the whole image is bright. */
static const double brighter = 0.03, darker = 0.02;

/* ---- Cells ----------------------------------------------------------------------------------- */

/* A number for each cell of an image, row by row. Cells at the right and at the bottom may be
 * smaller. */
typedef struct grid {
    uint32_t side, columns, rows, width, height; /* of a cell, of the grid, and of the image */
    uint64_t *sums;                              /* of the cells of one row; owned */
    uint32_t *cells; /* twice columns * rows; the second half is for `smooth`; owned */
    uint32_t *line;  /* `width` numbers between those of the cells, and `columns` + 2; owned */
} grid;

static bool grid_create(const gc_marks *marks, uint32_t side, grid *g)
{
    *g = (grid){.side = side, .width = marks->width, .height = marks->height};
    g->columns = (g->width - 1) / side + 1;
    g->rows = (g->height - 1) / side + 1;
    g->sums = calloc(g->columns, sizeof g->sums[0]);
    g->cells = gc_allocate_array((size_t)g->columns * g->rows, 2 * sizeof g->cells[0]);
    g->line = gc_allocate_array((size_t)g->width + g->columns + 2, sizeof g->line[0]);
    return g->sums != NULL && g->cells != NULL && g->line != NULL;
}

static void grid_destroy(grid *g)
{
    free(g->sums);
    free(g->cells);
    free(g->line);
}

/* Takes the line as the numbers of row y. The last row of cells gives them their means. */
static void take_line(grid *g, uint32_t y)
{
    uint32_t row = y / g->side, rows = y % g->side + 1;
    for (uint32_t i = 0; i < g->columns; i++) {
        uint32_t x = i * g->side, left = g->width - x, width = left < g->side ? left : g->side;
        for (uint32_t k = 0; k < width; k++)
            g->sums[i] += g->line[x + k];
        if (rows < g->side && y + 1 < g->height)
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
    uint32_t span = 2 * g->side, along = g->side + 1, *cells = g->line + g->width;
    uint64_t down = 2 * (uint64_t)y + along;
    int64_t row = (int64_t)(down / span);
    for (int64_t i = -1; i <= g->columns; i++)
        cells[i + 1] = between(cell_at(g, i, row - 1), cell_at(g, i, row),
                               (uint32_t)(256 * (down % span) / span));
    for (uint32_t x = 0; x < g->width; x++, along += 2) {
        if (along >= span) {
            along -= span;
            cells++;
        }
        g->line[x] = between(cells[0], cells[1], 256 * along / span);
    }
}

/* Puts the mean of each cell and the eight around it in the place of its number. */
static void smooth(grid *g)
{
    size_t count = (size_t)g->columns * g->rows;
    for (size_t k = 0; k < count; k++) {
        uint32_t sum = 4;
        for (int i = 0; i < 9; i++)
            sum += cell_at(g, (int64_t)(k % g->columns) + i % 3 - 1,
                           (int64_t)(k / g->columns) + i / 3 - 1);
        g->cells[count + k] = sum / 9;
    }
    memcpy(g->cells, g->cells + count, count * sizeof g->cells[0]);
}

/* ---- Tones ----------------------------------------------------------------------------------- */

/* How much darker a pixel is than its surroundings; below 0: brighter. Their brightness is the
 * harmonic mean: small bright things, such as stars and letters, hardly change it. */
static int32_t darkness_of(uint32_t sample, uint32_t ground)
{
    return (int32_t)(WHOLE - (int64_t)(sample + FIRM) * ground) / (WHOLE / CONTRAST);
}

/* Finds how dark the surroundings of pixels are, and how much contrast is usual there. */
static void look_around(const gc_marks *marks, grid *ground, grid *usual)
{
    const uint16_t *samples = marks->samples;
    for (uint32_t y = 0; y < marks->height; y++) {
        for (uint32_t x = 0; x < marks->width; x++)
            ground->line[x] = WHOLE / (*samples++ + FIRM);
        take_line(ground, y);
    }
    for (int i = 0; i < 2; i++)
        smooth(ground);
    samples = marks->samples;
    for (uint32_t y = 0; y < marks->height; y++) {
        fill_line(ground, y);
        for (uint32_t x = 0; x < marks->width; x++)
            usual->line[x] = (uint32_t)abs(darkness_of(*samples++, ground->line[x]));
        take_line(usual, y);
    }
    for (int i = 0; i < 3; i++)
        smooth(usual);
}

/* From 0 to TONE, flat at both ends. */
static uint32_t steep(uint32_t part)
{
    part = part < TONE ? part : TONE;
    return part * part * (3 * TONE - 2 * part) / (TONE * TONE);
}

static uint32_t line_tone(uint32_t sample, uint32_t ground, uint32_t usual)
{
    int32_t darkness = darkness_of(sample, ground);
    return darkness > 0 ? steep(TONE * (uint32_t)darkness / (PLAIN + BUSY * usual)) : 0;
}

static void make_shades(const gc_marks *marks, uint8_t shades[GC_RESPONSE_MOST + 1])
{
    double pixels = (double)marks->width * marks->height;
    uint32_t white = gc_marks_cut(marks, brighter * pixels);
    uint32_t black = gc_marks_cut(marks, (1 - darker) * pixels);
    white = 2 * (white < WHITE_LEAST ? WHITE_LEAST : white) / 5; /* brighter areas are paper */
    black = black < white / 4 ? black : white / 4;
    for (uint32_t k = 0; k <= GC_RESPONSE_MOST; k++)
        shades[k] = (uint8_t)(k < white ? steep(TONE * (white - k) / (white - black)) : 0);
}

static void draw(gc_marks *marks, grid *ground, grid *usual)
{
    uint8_t shades[GC_RESPONSE_MOST + 1];
    uint16_t *sample = marks->samples;
    make_shades(marks, shades);
    for (uint32_t y = 0; y < marks->height; y++) {
        fill_line(ground, y);
        fill_line(usual, y);
        for (uint32_t x = 0; x < marks->width; x++, sample++) {
            uint32_t tone = line_tone(*sample, ground->line[x], usual->line[x]);
            uint32_t light = (TONE - tone) * (TONE - shades[*sample]) + TONE / 2;
            *sample = (uint16_t)(TONE - light / TONE);
        }
    }
}

gconv_status gc_sketch_draw(gc_marks *marks, uint32_t side, gconv_error *error)
{
    grid ground, usual;
    bool fits = grid_create(marks, side, &ground), both = grid_create(marks, CELLS * side, &usual);
    if (fits && both) {
        look_around(marks, &ground, &usual);
        draw(marks, &ground, &usual);
    }
    grid_destroy(&ground);
    grid_destroy(&usual);
    return fits && both ? GCONV_OK : gc_fail(error, GCONV_ERROR_MEMORY, "out of memory to draw");
}
