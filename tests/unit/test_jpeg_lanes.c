/* The two lanes that follow a JPEG's data give what one reader gives that follows code by code: the
 * same coefficients, and the same place behind them. They take no MCU that this reader refuses. */
#define _GNU_SOURCE /* memmem */
#include "io_support.h"

#include "io/jpeg/fast/frame.h"
#include "io/jpeg/fast/lanes.h"
#include "jpeg_subject.h"

/* ---- Numbers --------------------------------------------------------------------------------- */

/* Behind the last MCU there is room for a block, and numbers that nobody may change. */
enum { GUARD = 77, GUARDS = 64 };

static size_t numbers_of(const subject *of)
{
    return of->mcus * of->frame.mcu_numbers;
}

static int16_t *make_numbers(const subject *of)
{
    size_t count = numbers_of(of) + GC_JPEG_COEFFICIENTS;
    int16_t *numbers = malloc((count + GUARDS) * sizeof *numbers);
    assert_non_null(numbers);
    for (size_t i = 0; i < count + GUARDS; i++)
        numbers[i] = GUARD;
    return numbers;
}

static void check_guards(const subject *of, const int16_t *numbers)
{
    for (size_t i = 0; i < GUARDS; i++)
        assert_int_equal(numbers[numbers_of(of) + GC_JPEG_COEFFICIENTS + i], GUARD);
}

/* ---- One reader ------------------------------------------------------------------------------ */

/* The place before each MCU, as far as they are sound. */
typedef struct course {
    gc_jpeg_place *places;
    uint32_t mcus; /* sound */
    int16_t *numbers;
} course;

static course follow_alone(const subject *of)
{
    course made = {.places = calloc(of->mcus + 1, sizeof *made.places),
                   .numbers = calloc(numbers_of(of) + 1, sizeof *made.numbers)};
    assert_non_null(made.places);
    assert_non_null(made.numbers);
    gc_jpeg_place place = gc_jpeg_first_place(&of->frame, of->data, of->size);
    made.places[0] = place;
    while (
        made.mcus < of->mcus &&
        gc_jpeg_take_mcus(&of->frame, &place, 1, made.numbers + made.mcus * of->frame.mcu_numbers))
        made.places[++made.mcus] = place;
    return made;
}

static void free_course(course *of)
{
    free(of->places);
    free(of->numbers);
}

#define OWNED_COURSE RELEASED_BY(free_course) course

/* Bits of the data between two places: windows hold more bytes or fewer. */
static int64_t bits_between(const subject *of, const gc_jpeg_place *from, const gc_jpeg_place *to)
{
    if (from->bits.at > to->bits.at)
        return -bits_between(of, to, from);
    int64_t bytes = 0;
    for (size_t i = from->bits.at; i < to->bits.at; i++, bytes++)
        i += of->data[i] == 0xff;
    return 8 * bytes + (to->bits.invented - to->bits.count) -
           (from->bits.invented - from->bits.count);
}

static void expect_same_place(const subject *of, const gc_jpeg_place *got,
                              const gc_jpeg_place *wanted)
{
    assert_int_equal(bits_between(of, got, wanted), 0);
    for (int c = 0; c < of->frame.part_count; c++)
        if (of->frame.parts[c].kept)
            assert_int_equal(got->dc[c], wanted->dc[c]);
}

/* ---- Both ------------------------------------------------------------------------------------ */

/* Has lanes take what they take, at most `most` MCUs at a time, and one reader the rest. Returns
 * how many MCUs the lanes took. */
static uint32_t compare(const subject *of, uint32_t most)
{
    OWNED_COURSE alone = follow_alone(of);
    gc_jpeg_lanes *lanes = gc_jpeg_lanes_create(&of->frame);
    OWNED int16_t *numbers = make_numbers(of);
    gc_jpeg_place place = alone.places[0];
    const size_t mcu = of->frame.mcu_numbers;
    uint32_t done = 0, by_lanes = 0;
    assert_non_null(lanes);
    while (done < of->mcus) {
        uint32_t left = of->mcus - done, count = left < most ? left : most;
        uint32_t taken = gc_jpeg_lanes_take(lanes, &place, count, numbers + done * mcu);
        assert_true(taken <= count);
        by_lanes += taken;
        if (taken == 0) {
            memset(numbers + done * mcu, 0, mcu * sizeof *numbers);
            if (!gc_jpeg_take_mcus(&of->frame, &place, 1, numbers + done * mcu))
                break;
            taken = 1;
        }
        done += taken;
        assert_true(done <= alone.mcus);
        expect_same_place(of, &place, &alone.places[done]);
    }
    assert_int_equal(done, alone.mcus);
    assert_memory_equal(numbers, alone.numbers, done * mcu * sizeof *numbers);
    check_guards(of, numbers);
    gc_jpeg_lanes_free(lanes);
    return by_lanes;
}

static const int samplings[][2] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}};

static jpeg_recipe recipe_of(size_t index)
{
    return (jpeg_recipe){300 + (uint32_t)(index * 13 % 50),
                         280 + (uint32_t)(index * 7 % 40),
                         index % 6 == 5 ? JCS_GRAYSCALE : JCS_YCbCr,
                         20 + (int)(index * 27 % 81),
                         samplings[index % 5][0],
                         samplings[index % 5][1],
                         .optimised = index % 3 == 0,
                         .pattern = (jpeg_pattern)(index / 5 % 4)};
}

/* Colours can be wanted if samplings are usual. */
static bool wants_colour(size_t index)
{
    return index % 2 == 1 && index % 5 < 3 && index % 6 != 5;
}

TEST(sound_files)
{
    enum { COUNT = 180 };
    uint64_t mcus = 0, by_lanes = 0;
    for (size_t i = 0; i < COUNT; i++) {
        const jpeg_recipe recipe = recipe_of(i);
        OWNED_SUBJECT of;
        open_subject(&of, &recipe, wants_colour(i));
        mcus += of.mcus;
        by_lanes += compare(&of, i % 2 == 0 ? 512 : 100 + (uint32_t)(i % 90));
    }
    assert_true(by_lanes > mcus / 4 * 3);
}

/* The first lane is wrong from some byte on, or the second one is. */
TEST(damaged_data)
{
    const char *wanted = getenv("GCONV_JPEG_FILES"); /* for campaigns */
    const size_t count = wanted != NULL ? strtoul(wanted, NULL, 10) : 600;
    jpeg_random random = {5};
    uint64_t by_lanes = 0;
    for (size_t i = 0; i < count; i++) {
        const jpeg_recipe recipe = recipe_of(i % 30);
        OWNED_SUBJECT of;
        open_subject(&of, &recipe, wants_colour(i % 30));
        damage_subject(&of, &random, i);
        by_lanes += compare(&of, 512);
    }
    assert_true(by_lanes > 0);
}

/* ---- Data that no encoder writes ------------------------------------------------------------- */

typedef struct writer {
    unsigned char *bytes;
    size_t size, room;
    uint64_t bits; /* not written yet, */
    int count;     /* and how many they are */
} writer;

static void put_bits(writer *to, uint32_t bits, int count)
{
    to->bits = to->bits << count | bits;
    for (to->count += count; to->count >= 8; to->count -= 8) {
        unsigned char byte = (unsigned char)(to->bits >> (to->count - 8));
        assert_true(to->size + 2 < to->room);
        to->bytes[to->size++] = byte;
        if (byte == 0xff)
            to->bytes[to->size++] = 0;
    }
}

static void put_symbol(writer *to, const gc_jpeg_table *codes, int symbol)
{
    int index = 0;
    while (codes->symbols[index] != symbol)
        index++;
    int length = codes->lengths[index];
    put_bits(to, (uint32_t)(index - codes->offset[length]), length);
}

/* A symbol and a value of 1 in each of its bits. */
static void put_value(writer *to, const gc_jpeg_table *codes, int symbol)
{
    int size = symbol & 15;
    put_symbol(to, codes, symbol);
    put_bits(to, ((uint32_t)1 << size) - 1, size);
}

/* `count` blocks of a few values, of which the DC coefficient is that of the block before. */
static void put_usual_blocks(writer *to, const gc_jpeg_part *part, uint32_t count)
{
    for (; count > 0; count--) {
        put_value(to, &part->dc->codes, 0);
        for (int i = 0; i < 5; i++)
            put_value(to, &part->ac->codes, 0x05);
        put_symbol(to, &part->ac->codes, GC_JPEG_SYMBOL_END);
    }
}

typedef void odd_block(writer *to, const gc_jpeg_part *part);

/* A DC coefficient of 4094 or 2047, in one more block. */
static void dc_beyond(writer *to, const gc_jpeg_part *part)
{
    for (int i = 0; i < 2; i++) {
        put_value(to, &part->dc->codes, 11);
        put_symbol(to, &part->ac->codes, GC_JPEG_SYMBOL_END);
    }
}

/* Coefficients 16, 32 and 47, and zeros up to the last one. */
static void zeros_to_the_end(writer *to, const gc_jpeg_part *part)
{
    put_value(to, &part->dc->codes, 0);
    put_value(to, &part->ac->codes, 0xf1);
    put_value(to, &part->ac->codes, 0xf1);
    put_value(to, &part->ac->codes, 0xe1);
    put_symbol(to, &part->ac->codes, GC_JPEG_SYMBOL_ZEROS);
}

/* The same, but the last coefficient is not zero. There is no EOB. */
static void value_at_the_end(writer *to, const gc_jpeg_part *part)
{
    put_value(to, &part->dc->codes, 0);
    for (int i = 0; i < 3; i++)
        put_value(to, &part->ac->codes, 0xf1);
    put_value(to, &part->ac->codes, 0xe1);
}

/* A block behind `before` others, and others behind it. Returns how many one reader takes. */
static uint32_t take_odd(odd_block *put, uint32_t before)
{
    jpeg_recipe recipe = jpeg_recipe_of(400, 320, JCS_GRAYSCALE, 100, 1, 1);
    OWNED_SUBJECT of;
    recipe.pattern = JPEG_NOISE; /* room for the data */
    open_subject(&of, &recipe, false);
    const gc_jpeg_part *part = &of.frame.parts[0];
    writer to = {.bytes = of.file.bytes + (of.data - of.file.bytes), .room = of.size};
    put_usual_blocks(&to, part, before);
    put(&to, part);
    put_usual_blocks(&to, part, of.mcus - before);
    of.size = to.size;
    OWNED_COURSE alone = follow_alone(&of);
    assert_true(compare(&of, 512) > 700);
    return alone.mcus;
}

TEST(odd_blocks)
{
    for (uint32_t before = 900; before < 1000; before += 3) {
        assert_int_equal(take_odd(dc_beyond, before), before + 1);
        assert_int_equal(take_odd(zeros_to_the_end, before), before);
        assert_int_equal(take_odd(value_at_the_end, before), 2000);
    }
}

/* ---- What lanes leave to others -------------------------------------------------------------- */

TEST(few_mcus)
{
    const jpeg_recipe recipe = recipe_of(2);
    OWNED_SUBJECT of;
    open_subject(&of, &recipe, false);
    gc_jpeg_lanes *lanes = gc_jpeg_lanes_create(&of.frame);
    OWNED int16_t *numbers = make_numbers(&of);
    gc_jpeg_place place = gc_jpeg_first_place(&of.frame, of.data, of.size), before = place;
    assert_int_equal(gc_jpeg_lanes_take(lanes, &place, 15, numbers), 0);
    assert_memory_equal(&place, &before, sizeof place);
    place.bits.size = before.bits.size = 300; /* bytes at hand */
    assert_int_equal(gc_jpeg_lanes_take(lanes, &place, 300, numbers), 0);
    assert_memory_equal(&place, &before, sizeof place);
    gc_jpeg_lanes_free(lanes);
}

TEST(restart_markers)
{
    jpeg_recipe recipe = recipe_of(2);
    recipe.restart = 50;
    OWNED_SUBJECT of;
    open_subject(&of, &recipe, false);
    assert_null(gc_jpeg_lanes_create(&of.frame));
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Files with the same tables share them; what is not kept has no look-ups of values. */
TEST(tables_are_kept)
{
    jpeg_recipe recipe = recipe_of(2);
    recipe.optimised = false;
    subject first, second;
    open_subject(&first, &recipe, false);
    recipe.quality = 55;
    recipe.width = 200;
    open_subject(&second, &recipe, false);
    assert_ptr_equal(first.frame.codings, second.frame.codings);
    close_subject(&second);
    open_subject(&second, &recipe, true); /* Cb and Cr are kept */
    assert_ptr_not_equal(first.frame.codings, second.frame.codings);
    close_subject(&second);
    recipe.optimised = true;
    open_subject(&second, &recipe, false);
    assert_ptr_not_equal(first.frame.codings, second.frame.codings);
    assert_true(compare(&second, 512) > 0);
    assert_true(compare(&first, 512) > 0);
    close_subject(&second);
    close_subject(&first);
}

/* Tables that one component takes and another one passes over. */
TEST(tables_in_common)
{
    static const unsigned char own[] = {3, 1, 0x00, 2, 0x11, 3, 0x11};
    static const unsigned char common[] = {3, 1, 0x00, 2, 0x00, 3, 0x00};
    jpeg_recipe recipe = recipe_of(2);
    recipe.stored = JCS_YCbCr;
    jpeg_file file = jpeg_sample(&recipe);
    unsigned char *found = memmem(file.bytes, file.size, own, sizeof own);
    assert_non_null(found);
    memcpy(found, common, sizeof common);
    OWNED_SUBJECT of;
    open_file(&of, file, false);
    assert_true(of.frame.codings->listings[0][0].taken);
    assert_true(of.frame.codings->listings[1][0].taken);
    assert_false(of.frame.codings->listings[1][1].used);
    compare(&of, 512);
}

static const char *missing(void)
{
    return gc_jpeg_can_decode() ? NULL : "libjpeg decodes everything on this processor";
}

const test_suite suite = {.missing = missing};
