/* The sums of cpu/fast/edges.c, compiled once for every instruction set under the name that
 * GC_EDGES_LOOPS gives them. Plain loops on 16-bit integers: compilers fill the vectors. */
#include "cpu/fast/loops/loops.h"

/* The Gaussian's column 2 4 5 4 2, and the column of its second difference, 2 0 -1 -2 -1 0 2. */
static void columns(const uint8_t *const rows[7], size_t count, uint16_t *restrict smooth,
                    uint16_t *restrict curve)
{
    const uint8_t *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];
    const uint8_t *e = rows[4], *f = rows[5], *g = rows[6];
    for (size_t x = 0; x < count; x++) {
        uint16_t near = (uint16_t)(c[x] + e[x]);
        smooth[x] = (uint16_t)(2 * (b[x] + f[x]) + 4 * near + 5 * d[x]);
        curve[x] = (uint16_t)(2 * (a[x] + g[x]) - near - 2 * d[x]);
    }
}

/* |r| <= t means 0 <= r + t <= 2 t. No other r in the range of responses has the same sum modulo
 * 2^16. */
static void find(const uint16_t *smooth, const uint16_t *curve, size_t count, uint16_t threshold,
                 uint8_t invert, uint8_t *restrict flags)
{
    const uint16_t span = (uint16_t)(2 * threshold);
    for (size_t x = 0; x < count; x++) {
        const uint16_t *s = smooth + x, *c = curve + x;
        uint16_t across = (uint16_t)(2 * (s[-3] + s[3]) - (s[-1] + s[1]) - 2 * s[0]);
        uint16_t down = (uint16_t)(2 * (c[-2] + c[2]) + 4 * (c[-1] + c[1]) + 5 * c[0]);
        flags[x] = (uint8_t)((uint16_t)(across + down + threshold) > span) ^ invert;
    }
}

const gc_edges_loops GC_EDGES_LOOPS = {columns, find};
