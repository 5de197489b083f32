#include "cli/image/marks.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

/* ---- Responses ------------------------------------------------------------------------------- */

gconv_status gc_marks_create(gc_marks *marks, uint32_t width, uint32_t height, bool keeps,
                             gconv_error *error)
{
    size_t pixels = 0;
    *marks = (gc_marks){.width = width, .height = height};
    if (keeps && gc_multiply(width, height, &pixels))
        marks->samples = gc_allocate_array(pixels, sizeof marks->samples[0]);
    marks->counts = calloc(GC_RESPONSE_MOST + 1, sizeof marks->counts[0]);
    if ((marks->samples != NULL || !keeps) && marks->counts != NULL)
        return GCONV_OK;
    gc_marks_destroy(marks);
    return gc_fail(error, GCONV_ERROR_MEMORY, "out of memory for the responses of %ux%u pixels",
                   width, height);
}

void gc_marks_destroy(gc_marks *marks)
{
    free(marks->samples);
    free(marks->counts);
    *marks = (gc_marks){.samples = NULL};
}

static size_t pixels_of(const gc_marks *marks)
{
    return (size_t)marks->width * marks->height;
}

static gconv_status take(void *user, uint32_t count, const void *rows, size_t stride,
                         gconv_error *error)
{
    gc_marks *marks = user;
    (void)error;
    for (uint32_t y = 0; y < count; y++, marks->taken += marks->width) {
        const uint16_t *row = (const void *)((const char *)rows + y * stride);
        if (marks->samples != NULL)
            memcpy(marks->samples + marks->taken, row, marks->width * sizeof *row);
        for (uint32_t x = 0; x < marks->width; x++)
            marks->counts[row[x]]++;
    }
    return GCONV_OK;
}

gconv_sink gc_marks_sink(gc_marks *marks)
{
    gconv_sink sink = gconv_sink_default();
    sink.write = take;
    sink.user = marks;
    return sink;
}

uint32_t gc_marks_cut(const gc_marks *marks, double most)
{
    uint32_t cut = GC_RESPONSE_MOST;
    for (uint64_t above = 0; cut > 0; cut--) {
        above += marks->counts[cut];
        if ((double)above > most)
            break;
    }
    return cut;
}

/* ---- Tones ----------------------------------------------------------------------------------- */

/* A sample is a tone, with one of the others while marks are looked at. */
enum { TONE = 0xFF, SEEN = 0x100, GOES = 0x200 };

void gc_marks_set(gc_marks *marks, uint32_t cut)
{
    size_t pixels = pixels_of(marks);
    for (size_t i = 0; i < pixels; i++)
        marks->samples[i] = marks->samples[i] > cut ? TONE : 0;
}

uint64_t gc_marks_count(const gc_marks *marks)
{
    size_t pixels = pixels_of(marks);
    uint64_t count = 0;
    for (size_t i = 0; i < pixels; i++)
        count += marks->samples[i] != 0;
    return count;
}

/* ---- Marks ----------------------------------------------------------------------------------- */

/* Indices of pixels. */
typedef struct list {
    size_t *pixels; /* owned */
    size_t count, capacity;
} list;

static gconv_status append(list *l, size_t pixel, gconv_error *error)
{
    if (l->count == l->capacity) {
        size_t *pixels = gc_make_room(l->pixels, l->count, &l->capacity, sizeof *pixels);
        GC_TRY_MEMORY(pixels != NULL, error, l->capacity * sizeof *pixels);
        l->pixels = pixels;
    }
    l->pixels[l->count++] = pixel;
    return GCONV_OK;
}

static gconv_status append_neighbours(gc_marks *marks, list *mark, size_t pixel, gconv_error *error)
{
    size_t x = pixel % marks->width, y = pixel / marks->width;
    size_t left = x > 0 ? x - 1 : 0, right = x + 1 < marks->width ? x + 1 : x;
    size_t last = y + 1 < marks->height ? y + 1 : y;
    gconv_status status = GCONV_OK;
    for (size_t j = y > 0 ? y - 1 : 0; j <= last; j++)
        for (size_t i = left; i <= right && status == GCONV_OK; i++) {
            size_t at = j * marks->width + i;
            if (marks->samples[at] == 0 || (marks->samples[at] & SEEN) != 0)
                continue;
            marks->samples[at] |= SEEN;
            status = append(mark, at, error);
        }
    return status;
}

/* Collects the mark of a pixel that is not seen yet. */
static gconv_status collect(gc_marks *marks, size_t pixel, list *mark, gconv_error *error)
{
    mark->count = 0;
    marks->samples[pixel] |= SEEN;
    GC_TRY(append(mark, pixel, error));
    for (size_t i = 0; i < mark->count; i++)
        GC_TRY(append_neighbours(marks, mark, mark->pixels[i], error));
    return GCONV_OK;
}

gconv_status gc_marks_drop(gc_marks *marks, uint64_t least, gconv_error *error)
{
    list mark = {.pixels = NULL};
    size_t pixels = pixels_of(marks);
    gconv_status status = GCONV_OK;
    for (size_t p = 0; p < pixels && status == GCONV_OK; p++) {
        if (marks->samples[p] == 0 || (marks->samples[p] & SEEN) != 0)
            continue;
        status = collect(marks, p, &mark, error);
        if (mark.count < least)
            for (size_t i = 0; i < mark.count; i++)
                marks->samples[mark.pixels[i]] = 0;
    }
    for (size_t p = 0; p < pixels; p++)
        marks->samples[p] &= TONE;
    free(mark.pixels);
    return status;
}

/* ---- Thinning -------------------------------------------------------------------------------- */

/* Whether a subiteration, 0 or 1, takes a pixel away. p[0] to p[7] say whether the pixels around it
 * are marked: the one above, and on clockwise. Guo and Hall call them P2 to P9. */
static bool is_taken(const bool p[8], int subiteration)
{
    int changes = 0, odd = 0, even = 0;
    for (int i = 0; i < 8; i += 2) {
        int next = (i + 2) % 8;
        changes += !p[i] && (p[i + 1] || p[next]);
        odd += p[(i + 7) % 8] || p[i];
        even += p[i] || p[i + 1];
    }
    int fewer = odd < even ? odd : even;
    bool stays =
        subiteration == 0 ? (p[0] || p[1] || !p[3]) && p[2] : (p[4] || p[5] || !p[7]) && p[6];
    return changes == 1 && fewer >= 2 && fewer <= 3 && !stays;
}

static void look_around(const gc_marks *marks, size_t pixel, bool p[8])
{
    static const int across[8] = {0, 1, 1, 1, 0, -1, -1, -1}, down[8] = {-1, -1, 0, 1, 1, 1, 0, -1};
    int64_t x = (int64_t)(pixel % marks->width), y = (int64_t)(pixel / marks->width);
    for (int i = 0; i < 8; i++) {
        int64_t u = x + across[i], v = y + down[i];
        p[i] = u >= 0 && v >= 0 && u < marks->width && v < marks->height &&
               marks->samples[(size_t)v * marks->width + (size_t)u] != 0;
    }
}

/* Takes pixels away, and leaves the others in the list. Returns whether there were any. */
static bool thin_once(gc_marks *marks, list *marked, int subiteration)
{
    size_t kept = 0;
    for (size_t i = 0; i < marked->count; i++) {
        bool p[8];
        look_around(marks, marked->pixels[i], p);
        if (is_taken(p, subiteration))
            marks->samples[marked->pixels[i]] |= GOES;
    }
    for (size_t i = 0; i < marked->count; i++) {
        size_t pixel = marked->pixels[i];
        bool goes = (marks->samples[pixel] & GOES) != 0;
        if (goes)
            marks->samples[pixel] = 0;
        else
            marked->pixels[kept++] = pixel;
    }
    bool changed = kept < marked->count;
    marked->count = kept;
    return changed;
}

gconv_status gc_marks_thin(gc_marks *marks, gconv_error *error)
{
    list marked = {.pixels = NULL};
    size_t pixels = pixels_of(marks);
    gconv_status status = GCONV_OK;
    for (size_t p = 0; p < pixels && status == GCONV_OK; p++)
        if (marks->samples[p] != 0)
            status = append(&marked, p, error);
    for (bool more = status == GCONV_OK; more;) {
        bool first = thin_once(marks, &marked, 0);
        more = thin_once(marks, &marked, 1) || first;
    }
    free(marked.pixels);
    return status;
}

/* ---- Widening -------------------------------------------------------------------------------- */

void gc_marks_widen(gc_marks *marks, uint32_t width)
{
    for (size_t p = pixels_of(marks); p-- > 0;) { /* pixels right of p and below were looked at */
        size_t x = p % marks->width, y = p / marks->width;
        if (marks->samples[p] != 0)
            for (size_t j = y; j < y + width && j < marks->height; j++)
                for (size_t i = x; i < x + width && i < marks->width; i++)
                    marks->samples[j * marks->width + i] = TONE;
    }
}
