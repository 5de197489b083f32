#include "damage.h"

#include "sound.h"

#include <stdlib.h>
#include <string.h>

static void insert(jpeg_file *file, size_t at, const unsigned char *bytes, size_t count)
{
    unsigned char *made = must_have(malloc(file->size + count + 1));
    memcpy(made, file->bytes, at);
    memcpy(made + at, bytes, count); /* `bytes` may lie in the file */
    memcpy(made + at + count, file->bytes + at, file->size - at);
    free(file->bytes);
    file->bytes = made;
    file->size += count;
}

static void cut_out(jpeg_file *file, size_t at, size_t count)
{
    memmove(file->bytes + at, file->bytes + at + count, file->size - at - count);
    file->size -= count;
}

/* Bytes of the file: most often few. */
typedef struct stretch {
    size_t at, count;
} stretch;

static stretch choose_stretch(const jpeg_file *file, jpeg_random *random)
{
    static const size_t most[] = {1, 4, 30, 200, 2000};
    stretch chosen = {.at = jpeg_random_below(random, file->size)};
    chosen.count = 1 + jpeg_random_below(random, most[jpeg_random_below(random, 5)]);
    if (chosen.count > file->size - chosen.at)
        chosen.count = file->size - chosen.at;
    return chosen;
}

static size_t find_data(const jpeg_file *file)
{
    for (size_t at = 2; at + 1 < file->size; at++)
        if (file->bytes[at] == 0xff && file->bytes[at + 1] == 0xda)
            return at;
    return 0;
}

static void overwrite(jpeg_file *file, jpeg_random *random)
{
    stretch chosen = choose_stretch(file, random);
    size_t kind = jpeg_random_below(random, 4);
    for (size_t i = chosen.at; i < chosen.at + chosen.count; i++)
        switch (kind) {
        case 0:
            file->bytes[i] = 0;
            break;
        case 1:
            file->bytes[i] = 0xff;
            break;
        case 2:
            file->bytes[i] = (unsigned char)jpeg_random_next(random);
            break;
        default: /* noise without markers */
            file->bytes[i] = (unsigned char)jpeg_random_below(random, 255);
            break;
        }
}

static void flip_bits(jpeg_file *file, jpeg_random *random)
{
    /* Behind the header more often than not. */
    size_t first = jpeg_random_chance(random, 4) ? 0 : find_data(file);
    for (size_t count = 1 + jpeg_random_below(random, 3); count > 0; count--)
        file->bytes[first + jpeg_random_below(random, file->size - first)] ^=
            (unsigned char)(1 << jpeg_random_below(random, 8));
}

static void cut(jpeg_file *file, jpeg_random *random)
{
    static const unsigned char end[] = {0xff, 0xd9};
    file->size = 1 + jpeg_random_below(random, file->size);
    if (jpeg_random_chance(random, 2))
        insert(file, file->size, end, sizeof end);
}

static void swap(jpeg_file *file, jpeg_random *random)
{
    stretch one = choose_stretch(file, random), two = choose_stretch(file, random);
    size_t count = one.count < two.count ? one.count : two.count;
    for (size_t i = 0; i < count; i++) {
        unsigned char byte = file->bytes[one.at + i];
        file->bytes[one.at + i] = file->bytes[two.at + i];
        file->bytes[two.at + i] = byte;
    }
}

/* A stretch once more: behind itself, or anywhere. */
static void repeat(jpeg_file *file, jpeg_random *random)
{
    stretch chosen = choose_stretch(file, random);
    size_t at = jpeg_random_chance(random, 2) ? chosen.at : jpeg_random_below(random, file->size);
    insert(file, at, file->bytes + chosen.at, chosen.count);
}

/* Finds the segment that begins at or behind a random place of the header; 0 if none does. */
static size_t choose_segment(const jpeg_file *file, jpeg_random *random)
{
    size_t data = find_data(file);
    for (size_t at = jpeg_random_below(random, data + 1); at < data; at++)
        if (file->bytes[at] == 0xff && file->bytes[at + 1] >= 0xc0)
            return at;
    return 0;
}

static size_t segment_bytes(const jpeg_file *file, size_t at)
{
    if (file->size - at < 4)
        return 0;
    size_t count = 2u + (size_t)(file->bytes[at + 2] << 8 | file->bytes[at + 3]);
    return count < file->size - at ? count : file->size - at;
}

static void change_segment(jpeg_file *file, jpeg_random *random)
{
    size_t at = choose_segment(file, random), count = segment_bytes(file, at);
    if (at == 0 || count == 0)
        return;
    if (jpeg_random_chance(random, 4))
        insert(file, at, file->bytes + at, count);
    else if (jpeg_random_chance(random, 4))
        cut_out(file, at, count);
    else
        file->bytes[at + jpeg_random_below(random, count)] =
            (unsigned char)jpeg_random_next(random);
}

/* A marker that may stand in the data or between segments. */
static void insert_marker(jpeg_file *file, jpeg_random *random)
{
    static const unsigned char codes[] = {0x00, 0x01, 0xd0, 0xd1, 0xd7, 0xd8,
                                          0xd9, 0xdc, 0xfe, 0xff, 0xc0, 0xda};
    unsigned char marker[] = {0xff, codes[jpeg_random_below(random, sizeof codes)]};
    insert(file, jpeg_random_below(random, file->size), marker, sizeof marker);
}

/* A marker becomes another one, or a byte of the data becomes one. */
static void change_marker(jpeg_file *file, jpeg_random *random)
{
    for (size_t at = jpeg_random_below(random, file->size); at + 1 < file->size; at++)
        if (file->bytes[at] == 0xff) {
            file->bytes[at + 1] =
                (unsigned char)(jpeg_random_chance(random, 2) ? 0xd0 + jpeg_random_below(random, 16)
                                                              : jpeg_random_next(random));
            return;
        }
}

/* The rest of another file, or its data behind this header. */
static void graft(jpeg_file *file, const jpeg_file *other, jpeg_random *random)
{
    size_t from = find_data(other), to = find_data(file);
    if (jpeg_random_chance(random, 2)) {
        to = jpeg_random_below(random, file->size);
        from = to < other->size ? to : 0;
    }
    file->size = to;
    insert(file, to, other->bytes + from, other->size - from);
}

static void damage_once(jpeg_file *file, const jpeg_file *other, jpeg_random *random)
{
    stretch chosen = choose_stretch(file, random);
    switch (jpeg_random_below(random, 16)) {
    case 0:
    case 1:
        overwrite(file, random);
        break;
    case 2:
        cut(file, random);
        break;
    case 3:
        swap(file, random);
        break;
    case 4:
        repeat(file, random);
        break;
    case 5:
    case 6:
    case 7:
        change_segment(file, random);
        break;
    case 8:
        insert_marker(file, random);
        break;
    case 9:
        change_marker(file, random);
        break;
    case 10:
        graft(file, other, random);
        break;
    case 11:
        cut_out(file, chosen.at, chosen.count);
        break;
    default:
        flip_bits(file, random);
        break;
    }
}

/* Flips bits of the data one by one, and takes back what the judge notices. */
static void damage_silently(jpeg_file *file, jpeg_random *random)
{
    enum { TRIALS = 60 };
    jpeg_verdict verdict;
    size_t first = find_data(file);
    if (!jpeg_is_sound(file->bytes, file->size, &verdict))
        return;
    for (int i = 0; i < TRIALS; i++) {
        unsigned char *byte = file->bytes + first + jpeg_random_below(random, file->size - first);
        unsigned char bit = (unsigned char)(1 << jpeg_random_below(random, 8));
        *byte ^= bit;
        if (!jpeg_is_sound(file->bytes, file->size, &verdict))
            *byte ^= bit;
    }
}

void jpeg_damage(jpeg_file *file, const jpeg_file *other, jpeg_random *random)
{
    if (jpeg_random_chance(random, 8)) {
        damage_silently(file, random);
        return;
    }
    size_t times = jpeg_random_chance(random, 4) ? 1 + jpeg_random_below(random, 4) : 1;
    for (; times > 0 && file->size > 0; times--)
        damage_once(file, other, random);
}

jpeg_file jpeg_base(int index)
{
    static const int qualities[] = {85, 30, 100, 60, 95, 5};
    static const int factors[][2] = {{2, 2}, {1, 1}, {2, 1}, {1, 1}};
    jpeg_recipe recipe =
        jpeg_recipe_of(40 + 13 * (uint32_t)(index % 5), 30 + 11 * (uint32_t)(index % 7),
                       index % 4 == 3 ? JCS_GRAYSCALE : JCS_YCbCr, qualities[index % 6],
                       factors[index % 4][0], factors[index % 4][1]);
    recipe.restart = index % 3 == 1 ? 1 + index / 3 : 0;
    recipe.optimised = index % 5 == 0;
    recipe.progressive = index == 22;
    recipe.arithmetic = index == 23;
    recipe.pattern = (jpeg_pattern)(index / 2 % JPEG_PATTERNS);
    return jpeg_sample(&recipe);
}

jpeg_file jpeg_damaged(uint64_t seed, size_t index, const jpeg_file *files, size_t count)
{
    jpeg_random random = {seed};
    random.state = jpeg_random_next(&random) + index;
    if (jpeg_random_chance(&random, 4)) {
        jpeg_file made = jpeg_craft(&random), other = jpeg_base(0);
        if (jpeg_random_chance(&random, 4))
            jpeg_damage(&made, &other, &random);
        free(other.bytes);
        return made;
    }
    jpeg_file base = jpeg_base((int)jpeg_random_below(&random, JPEG_BASES));
    jpeg_file other = jpeg_base((int)jpeg_random_below(&random, JPEG_BASES));
    if (count > 0 && jpeg_random_chance(&random, 2)) {
        const jpeg_file *given = &files[jpeg_random_below(&random, count)];
        free(base.bytes);
        base.bytes = must_have(malloc(given->size + 1));
        memcpy(base.bytes, given->bytes, given->size);
        base.size = given->size;
    }
    jpeg_damage(&base, &other, &random);
    free(other.bytes);
    return base;
}
