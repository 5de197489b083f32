/* Traces that are joined give what one reader gives that follows code by code: the place of every
 * MCU, whatever the spans are into which the data are cut. */
#include "io_support.h"

#include "io/jpeg/fast/traces.h"
#include "jpeg_subject.h"
#include "sanitized.h"

/* ---- One reader ------------------------------------------------------------------------------ */

/* The place before each MCU, as far as they are sound. */
static gc_jpeg_place *follow_alone(const subject *of, uint32_t *mcus)
{
    gc_jpeg_place *places = calloc(of->mcus + 1, sizeof *places);
    gc_jpeg_place place = gc_jpeg_first_place(&of->frame, of->data, of->size);
    assert_non_null(places);
    places[0] = place;
    for (*mcus = 0; *mcus < of->mcus && gc_jpeg_pass_mcus(&of->frame, &place, 1);)
        places[++*mcus] = place;
    return places;
}

/* The bit of the data where a place is; bytes[0] of its reader is byte `begin` of the data. */
static uint64_t bit_of(const gc_jpeg_place *place, size_t begin)
{
    uint32_t bit;
    const unsigned char *byte = gc_jpeg_place_byte(place, &bit);
    return 8 * (begin + (uint64_t)(byte - place->bits.bytes)) + bit;
}

/* ---- Traces ---------------------------------------------------------------------------------- */

/* The data in spans: two traces take turns. */
typedef struct spans {
    const subject *of;
    gc_jpeg_trace traces[2];
    size_t count, at; /* bytes that they have */
    gc_jpeg_join join;
    size_t met; /* spans that were, before the next one was entered */
} spans;

static void begin_spans(spans *p, const subject *of, size_t bytes)
{
    gc_jpeg_trace_bytes = bytes;
    *p = (spans){.of = of};
    for (int i = 0; i < 2; i++)
        assert_true(gc_jpeg_trace_create(&p->traces[i], &of->frame));
}

static void end_spans(spans *p)
{
    for (int i = 0; i < 2; i++)
        gc_jpeg_trace_destroy(&p->traces[i]);
    gc_jpeg_trace_bytes = 16 * 1024;
}

static void enter_next(spans *p)
{
    gc_jpeg_trace *trace = &p->traces[p->count++ % 2];
    size_t left = p->of->size - p->at;
    p->met += p->join.met;
    trace->size = left < gc_jpeg_trace_bytes ? left : gc_jpeg_trace_bytes;
    trace->ended = trace->size == left;
    memcpy(trace->bytes, p->of->data + p->at, trace->size);
    trace->size -= !trace->ended && trace->bytes[trace->size - 1] == 0xff;
    p->at += trace->size;
    gc_jpeg_trace_follow(trace, &p->of->frame);
    gc_jpeg_join_enter(&p->join, trace);
}

/* Of the span that was entered last, or of what is left before it. */
static uint64_t joined_bit(const spans *p)
{
    const gc_jpeg_trace *trace = p->join.trace;
    ptrdiff_t before = trace->bytes - p->join.place.bits.bytes;
    return bit_of(&p->join.place, p->at - trace->size - (size_t)before);
}

/* Joins `step` MCUs at a time, in spans of `bytes`. Returns how many spans were met, and sets
 * *count to how many there were. */
static size_t compare(const subject *of, uint32_t step, size_t bytes, size_t *count)
{
    spans p;
    uint32_t sound, done = 0;
    OWNED gc_jpeg_place *alone = follow_alone(of, &sound);
    begin_spans(&p, of, bytes);
    enter_next(&p);
    while (done < of->mcus) {
        uint64_t left = of->mcus - done < step ? of->mcus - done : step, wanted = left;
        gc_jpeg_joined joined;
        while ((joined = gc_jpeg_join_pass(&p.join, &of->frame, &left, 16)) == GC_JPEG_JOIN_LACKS)
            enter_next(&p);
        done += (uint32_t)(wanted - left);
        /* DC coefficients are not judged, so that the join may get further. */
        if (done > sound || joined == GC_JPEG_JOIN_REJECTED)
            break;
        assert_int_equal(joined_bit(&p), bit_of(&alone[done], 0));
        for (int c = 0; c < of->frame.part_count; c++)
            if (of->frame.parts[c].kept)
                assert_int_equal(p.join.place.dc[c], alone[done].dc[c]);
    }
    assert_true(done >= sound);
    *count = p.count;
    end_spans(&p);
    return p.met;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static jpeg_recipe recipe_of(size_t i)
{
    return (jpeg_recipe){150 + 13 * (uint32_t)(i % 9),
                         120 + 7 * (uint32_t)(i % 11),
                         i % 5 == 0 ? JCS_GRAYSCALE : JCS_YCbCr,
                         40 + (int)(i * 17 % 61),
                         1 + (i % 3 > 0),
                         1 + (i % 3 > 1),
                         .optimised = i % 2 == 0,
                         .pattern = (jpeg_pattern)(i % JPEG_PATTERNS)};
}

static void open_one(subject *of, size_t i)
{
    const jpeg_recipe recipe = recipe_of(i);
    open_subject(of, &recipe, i % 4 == 1 && recipe.stored == JCS_YCbCr);
}

TEST(every_size_of_spans)
{
    static const size_t sizes[] = {2, 3, 16, 61, 200, 1000, 3000, 16384};
    for (size_t i = 0; i < 60; i++) {
        OWNED_SUBJECT of;
        size_t count;
        open_one(&of, i);
        compare(&of, 1 + (uint32_t)(i * 7 % 50), sizes[i % 8], &count);
        compare(&of, of.frame.mcus_across, sizes[(i + 3) % 8], &count);
    }
}

/* Else one thread alone would follow all codes. */
TEST(usual_spans_are_met)
{
    for (int quality = 50; quality <= 95; quality += 15)
        for (int colour = 0; colour < 2; colour++) {
            jpeg_recipe recipe = jpeg_recipe_of(1500, 1100, JCS_YCbCr, quality, 2, 2);
            recipe.pattern = JPEG_SLOPES;
            OWNED_SUBJECT of;
            size_t count;
            open_subject(&of, &recipe, colour != 0);
            size_t met = compare(&of, of.frame.mcus_across, 4096, &count);
            assert_true(count > 10);
            assert_true(met >= (count - 1) * 9 / 10);
        }
}

TEST(damaged_files)
{
    static const size_t sizes[] = {2, 40, 500, 4096};
    jpeg_random random = {11};
    for (size_t i = 0; i < (SANITIZED ? 300 : 1500); i++) {
        OWNED_SUBJECT of;
        size_t count;
        open_one(&of, i % 30);
        damage_subject(&of, &random, i);
        compare(&of, 1 + (uint32_t)(i % 40), sizes[i % 4], &count);
    }
}

static const char *missing(void)
{
    return gc_jpeg_can_decode() ? NULL : "libjpeg decodes everything on this processor";
}

const test_suite suite = {.missing = missing};
