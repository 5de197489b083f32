/* Rows of one bit compressed by a GPU against gc_pack_compress: blocks have to be the same bytes.
 *
 *     gpu_encode [--quick] [SEED]   pictures made here
 *     double_encode --failing       passes where a result is right, or a call has failed
 *
 * The exit status is 77 if there is no GPU. */
#include "../jpeg/random.h"

#include "gpu/png/encode.h"
#include "io/png/fast/block.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MARGIN = 40 }; /* bytes from row to row beyond those of a row */

static unsigned long checked, failed;
static bool may_fail;

/* ---- Pictures -------------------------------------------------------------------------------- */

typedef enum pattern {
    BLANK,
    FULL,
    NOISE,        /* every bit by chance */
    SPARSE,       /* few bytes are not 0 */
    RUNS,         /* runs of any length up to 600, of few values */
    LONGEST,      /* runs whose lengths lie around multiples of 258 */
    SHORT,        /* runs of 1 to 5 bytes */
    SKEWED,       /* small numbers are frequent: literals are chosen */
    HALVES,       /* noise, then blank */
    OTHER_HALVES, /* blank, then noise */
    STRIPES,
    PATTERNS
} pattern;

static const char *const names[PATTERNS] = {"blank",  "full",         "noise",  "sparse",
                                            "runs",   "longest",      "short",  "skewed",
                                            "halves", "other halves", "stripes"};

static unsigned pick(jpeg_random *random, unsigned below)
{
    return (unsigned)jpeg_random_below(random, below);
}

static size_t run_of(pattern of, jpeg_random *random)
{
    static const unsigned longest[] = {255, 256, 257, 258, 259, 260, 261,
                                       262, 515, 516, 517, 519, 4};
    switch (of) {
    case SPARSE:
        return 1 + pick(random, 40);
    case RUNS:
        return 1 + pick(random, pick(random, 2) != 0 ? 8 : 600);
    case LONGEST:
        return longest[pick(random, sizeof longest / sizeof longest[0])];
    case SHORT:
        return 1 + pick(random, 5);
    default:
        return 1;
    }
}

static unsigned char byte_of(pattern of, size_t at, size_t count, jpeg_random *random)
{
    bool first_half = at < count / 2;
    switch (of) {
    case FULL:
        return 0xff;
    case NOISE:
    case RUNS:
    case LONGEST:
        return (unsigned char)pick(random, of == NOISE ? 256 : 6);
    case SPARSE:
        return (unsigned char)(pick(random, 2) != 0 ? pick(random, 256) : 0);
    case SHORT:
        return (unsigned char)(1 << pick(random, 8));
    case SKEWED:
        return (unsigned char)(pick(random, 1 + pick(random, 64)) - pick(random, 20));
    case HALVES:
    case OTHER_HALVES:
        return (unsigned char)(first_half == (of == HALVES) ? pick(random, 256) : 0);
    case STRIPES:
        return at % 7 < 3 ? 0x0f : 0xf0;
    default:
        return 0;
    }
}

static void fill(unsigned char *bytes, size_t count, pattern of, jpeg_random *random)
{
    for (size_t at = 0; at < count;) {
        size_t run = run_of(of, random);
        unsigned char byte = byte_of(of, at, count, random);
        for (; run > 0 && at < count; run--)
            bytes[at++] = byte;
    }
}

/* ---- Comparing ------------------------------------------------------------------------------- */

typedef struct picture {
    pattern of;
    uint32_t width, height;
    size_t row_bytes, pitch;
    unsigned char *rows;
} picture;

static void complain(const picture *p, const char *what, unsigned long block)
{
    failed++;
    if (failed < 40)
        printf("%s, %lux%lu: %s, block %lu\n", names[p->of], (unsigned long)p->width,
               (unsigned long)p->height, what, block);
}

/* The next bytes of the stream: rows with a filter before each. Returns how many. */
static size_t next_block(const picture *p, uint64_t first, uint8_t *bytes)
{
    size_t line = p->row_bytes + 1, count = 0;
    unsigned char mask = (unsigned char)(0xff << (7 - (p->width + 7) % 8));
    for (uint64_t at = first; at < (uint64_t)line * p->height && count < GC_PACK_BLOCK; at++) {
        size_t column = (size_t)(at % line);
        unsigned char byte = column == 0 ? 0 : p->rows[at / line * p->pitch + column - 1];
        bytes[count++] = column == p->row_bytes ? byte & mask : byte;
    }
    return count;
}

static void compare(const picture *p, const gc_compressed_rows *found)
{
    static gc_pack_block expected;
    uint64_t all = (uint64_t)(p->row_bytes + 1) * p->height;
    unsigned long blocks = (unsigned long)((all + GC_PACK_BLOCK - 1) / GC_PACK_BLOCK);
    if (found->count != blocks || found->stream_bytes != all) {
        complain(p, "the number of blocks", found->count);
        return;
    }
    for (unsigned long i = 0; i < blocks; i++) {
        gc_pack_begin(&expected);
        expected.filled = next_block(p, (uint64_t)i * GC_PACK_BLOCK, expected.bytes);
        expected.first = i == 0;
        expected.last = i + 1 == blocks;
        gc_pack_compress(&expected, gc_pack_loops_chosen());
        uint32_t white = 0;
        for (size_t bit = 0; bit < 8 * expected.filled; bit++)
            white += expected.bytes[bit / 8] >> bit % 8 & 1;
        if (found->blocks[i].white != white)
            complain(p, "white pixels", i);
        if (found->blocks[i].check != expected.check)
            complain(p, "Adler-32", i);
        if (found->blocks[i].size != expected.size)
            complain(p, "the size", i);
        else if (memcmp(found->bytes + i * found->stride, expected.output, expected.size) != 0)
            complain(p, "bytes", i);
        checked++;
    }
}

/* Compresses on the device. False if a call fails. */
static bool compress(const picture *p, unsigned char *result, size_t result_bytes)
{
    gconv_error error;
    void *rows = NULL, *memory = NULL;
    size_t row_bytes = p->pitch * p->height;
    bool done =
        cudaMalloc(&rows, row_bytes) == cudaSuccess &&
        cudaMalloc(&memory, gc_encode_device_bytes(p->width, p->height)) == cudaSuccess &&
        cudaMemcpy(rows, p->rows, row_bytes, cudaMemcpyHostToDevice) == cudaSuccess &&
        gc_encode_bits(rows, p->pitch, p->width, p->height, memory, NULL, &error) == GCONV_OK &&
        cudaMemcpy(result, memory, result_bytes, cudaMemcpyDeviceToHost) == cudaSuccess;
    cudaFree(rows);
    cudaFree(memory);
    return done;
}

static void check(pattern of, uint32_t width, uint32_t height, jpeg_random *random)
{
    picture p = {of, width, height, (width + 7) / 8, (width + 7) / 8 + MARGIN, NULL};
    size_t result_bytes = gc_encode_result_bytes(width, height);
    p.rows = malloc(p.pitch * height);
    unsigned char *result = malloc(result_bytes);
    if (p.rows == NULL || result == NULL) {
        complain(&p, "out of memory", 0);
    } else {
        for (uint32_t y = 0; y < height; y++) {
            fill(p.rows + y * p.pitch, p.row_bytes, of, random);
            memset(p.rows + y * p.pitch + p.row_bytes, 0xa5, MARGIN);
        }
        if (compress(&p, result, result_bytes)) {
            gc_compressed_rows found = gc_encode_result(result, width, height);
            compare(&p, &found);
        } else if (!may_fail) {
            complain(&p, "a call fails", 0);
        }
    }
    free(p.rows);
    free(result);
}

/* ---- All pictures ---------------------------------------------------------------------------- */

/* One row is a stream of any bytes. Its first byte is the filter's. */
static void check_streams(bool quick, jpeg_random *random)
{
    static const uint32_t sizes[] = {1,     2,     3,     63,    64,     65,     1022,   1023,
                                     1024,  2046,  2047,  2048,  8190,   8191,   8192,   65534,
                                     65535, 65536, 67000, 68000, 131070, 131071, 131072, 140000};
    size_t count = sizeof sizes / sizeof sizes[0];
    for (pattern of = 0; of < PATTERNS; of++)
        for (size_t i = 0; i < count; i++)
            if (!quick || i < 12 || (!may_fail && (i + of) % 4 == 0))
                check(of, 8 * sizes[i], 1, random);
}

static void check_pictures(bool quick, jpeg_random *random)
{
    int count = quick ? 20 : 1000;
    for (int i = 0; i < count; i++) {
        uint32_t width = 1 + pick(random, i % 4 == 0 ? 4000 : 70);
        uint32_t height = 1 + pick(random, quick ? 300 : 3000);
        check((pattern)pick(random, PATTERNS), width, height, random);
    }
    for (uint32_t width = 1; width <= (quick ? 17u : 64u); width++)
        check(NOISE, width, 100, random);
}

int main(int count, char **words)
{
    bool quick = false;
    jpeg_random random = {20261125};
    for (int i = 1; i < count; i++) {
        may_fail = may_fail || strcmp(words[i], "--failing") == 0;
        quick = quick || may_fail || strcmp(words[i], "--quick") == 0;
        if (words[i][0] != '-')
            random = (jpeg_random){strtoull(words[i], NULL, 10)};
    }
    int devices = 0;
    if (!may_fail && (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)) {
        puts("no GPU");
        return 77;
    }
    check_streams(quick, &random);
    if (!may_fail) /* the first calls fail: pictures of one block are enough */
        check_pictures(quick, &random);
    printf("%lu blocks, %lu failed\n", checked, failed);
    return failed > 0;
}
