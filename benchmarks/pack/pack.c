/* What compression of PNG takes by each instruction set: filters, blocks and the CRC, as the writer has
 * them.
 *
 *     benchmark_pack [-1] [-r RUNS] IMAGE...
 *
 * An IMAGE is PGM or PPM of 8 bits. -1: samples become 1 bit, which is whether they are not 0. For each
 * image and each set, the best one first, it prints the least processor time of RUNS (60 unless given) in ms, the bytes of
 * the blocks, and their CRC. */
#include "io/png/fast/block.h"
#include "io/png/fast/filters.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct image {
    gconv_shape shape;
    size_t row_bytes;
    uint8_t *rows;
} image;

static void die(const char *what, const char *name)
{
    fprintf(stderr, "benchmark_pack: %s %s\n", what, name);
    exit(1);
}

static void *allocate(size_t bytes)
{
    void *memory = calloc(bytes, 1);
    if (memory == NULL)
        die("out of memory", "");
    return memory;
}

static double milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

/* ---- Images ---------------------------------------------------------------------------------- */

static image read_image(const char *name)
{
    FILE *file = fopen(name, "rb");
    int kind, levels;
    unsigned width, height;
    if (file == NULL || fscanf(file, "P%d %u %u %d", &kind, &width, &height, &levels) != 4 ||
        !isspace(fgetc(file)) || (kind != 5 && kind != 6) || levels != 255)
        die("cannot read", name);
    image picture = {
        .shape = {.width = width, .height = height, .channels = kind == 5 ? 1 : 3, .depth = 8}};
    picture.row_bytes = (size_t)width * (size_t)picture.shape.channels;
    picture.rows = allocate(picture.row_bytes * height);
    if (fread(picture.rows, picture.row_bytes, height, file) != height)
        die("too short:", name);
    fclose(file);
    return picture;
}

static void make_bits(image *picture)
{
    size_t samples = picture->row_bytes, packed = (samples + 7) / 8;
    for (size_t y = 0; y < picture->shape.height; y++) {
        const uint8_t *from = picture->rows + y * samples;
        uint8_t *to = picture->rows + y * packed; /* never beyond what was read */
        for (size_t i = 0; i < packed; i++) {
            uint8_t byte = 0;
            for (size_t bit = 0; bit < 8 && 8 * i + bit < samples; bit++)
                byte |= (uint8_t)((from[8 * i + bit] != 0) << (7 - bit));
            to[i] = byte;
        }
    }
    picture->shape.depth = 1;
    picture->row_bytes = packed;
}

/* ---- Compression ----------------------------------------------------------------------------- */

typedef struct result {
    size_t bytes;
    uint32_t crc;
} result;

static void end_block(gc_pack_block *block, const gc_pack_loops *loops, bool last, result *all)
{
    block->first = all->bytes == 0;
    block->last = last;
    gc_pack_compress(block, loops);
    all->crc = loops->crc32(all->crc, block->output, block->size);
    all->bytes += block->size;
    gc_pack_begin(block);
}

static result compress_image(const image *picture, const gc_pack_loops *loops)
{
    static gc_pack_block block;
    gc_filters filters;
    gconv_error error;
    result all = {0, 0};
    if (gc_filters_create(&filters, &picture->shape, loops, &error) != GCONV_OK)
        die(error.message, "");
    uint8_t *filtered = allocate(picture->row_bytes + 1);
    gc_pack_begin(&block);
    for (uint32_t y = 0; y < picture->shape.height; y++) {
        size_t left = picture->row_bytes + 1;
        gc_filters_apply(&filters, picture->rows + y * picture->row_bytes, filtered);
        for (const uint8_t *from = filtered; left > 0;) {
            if (gc_pack_full(&block))
                end_block(&block, loops, false, &all);
            size_t taken = gc_pack_take(&block, from, left);
            from += taken;
            left -= taken;
        }
    }
    end_block(&block, loops, true, &all);
    free(filtered);
    gc_filters_free(&filters);
    return all;
}

static void measure(const char *name, const image *picture, int runs)
{
    const char *slash = strrchr(name, '/');
    for (int set = 0; gc_pack_loops_at(set) != NULL; set++) {
        result all = {0, 0};
        double least = 0;
        for (int run = 0; run < runs; run++) {
            double before = milliseconds();
            all = compress_image(picture, gc_pack_loops_at(set));
            double time = milliseconds() - before;
            least = run == 0 || time < least ? time : least;
        }
        printf("%-28s set %d %8.3f ms %9zu bytes, CRC %08x\n", slash != NULL ? slash + 1 : name,
               set, least, all.bytes, (unsigned)all.crc);
    }
}

int main(int argc, char **argv)
{
    bool bits = false;
    int runs = 60;
    for (int option; (option = getopt(argc, argv, "1r:")) != -1;) {
        if (option == '1')
            bits = true;
        else if (option != 'r' || (runs = atoi(optarg)) < 1)
            die("usage: benchmark_pack [-1] [-r RUNS] IMAGE...", "");
    }
    for (int i = optind; i < argc; i++) {
        image picture = read_image(argv[i]);
        if (bits)
            make_bits(&picture);
        measure(argv[i], &picture, runs);
        free(picture.rows);
    }
    return 0;
}
