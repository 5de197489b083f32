/* A Huffman code synchronises itself: who begins to follow it at a wrong bit soon follows the true
 * codes. So in a round the first lane follows the data from the place on. The second lane begins at
 * a guess, further behind, and notes where each of its MCUs ends. The two take turns, look-up by
 * look-up, so that a processor does not wait for one of them alone. Once the first lane has ended
 * an MCU where the second lane has ended one too, all that the second lane followed from there on
 * is true:
 *
 *     place                     guess
 *       |--- first lane ----------|----->|
 *                                 |~~~~~~|--- second lane ---------->|
 *                                  wrong  both have ended an MCU here
 *
 * A block's end is no branch. The look-ups say that a code is the last one of a *phase*: of the DC
 * coefficient of a block, or of its AC coefficients. The lane then moves to the next phase. DC
 * coefficients are differences until the round ends.
 *
 * The lanes judge nothing. If a code is not one of a sound file, the round ends before its MCU,
 * and gc_jpeg_take_mcus meets the code again. */
#include "io/jpeg/fast/lanes.h"

#include <stdlib.h>
#include <string.h>

enum {
    BLOCKS_AIM = 384,    /* of the first lane */
    BLOCKS_MAX = 640,    /* of a lane */
    BLOCKS_MIN = 48,     /* fewer do not pay */
    PHASES_TOO_FAR = 16, /* that a lane may reach */
    PHASES = 2 * BLOCKS_MAX + PHASES_TOO_FAR,
    BLOCK_BITS = 48,       /* as long as nothing is known */
    BYTES_MAX = 24 * 1024, /* of both lanes */
    WINDOW_BYTES = 8,
    SYNCHRONISING_BYTES = 48 /* most often a lane is right behind so many bytes */
};

typedef struct phase {
    const gc_jpeg_pair *look;
    int16_t *block;
    uint64_t end; /* the bit at which the phase has ended, if it has */
} phase;

typedef struct lane {
    uint64_t at;              /* the next bit of lanes->bytes */
    const gc_jpeg_pair *look; /* of the phase */
    phase *phase;
    const unsigned char *last; /* in gc_jpeg_places: the coefficient before the next one */
} lane;

struct gc_jpeg_lanes {
    const gc_jpeg_frame *frame;
    uint32_t mcus_max;                   /* of a lane */
    uint64_t mcu_bits;                   /* in the last round */
    size_t kept[GC_JPEG_MCU_BLOCKS_MAX]; /* coefficients of each block of an MCU that are kept */
    unsigned char parts[PHASES];         /* component of each phase */
    phase phases[2][PHASES];             /* by lane */
    unsigned char bytes[BYTES_MAX + 4 * WINDOW_BYTES]; /* of the round, without stuffed ones */
    size_t stuffed;                                    /* how many those are, */
    uint16_t stuffed_at[BYTES_MAX];                    /* and before which of the bytes */
    int16_t *blocks; /* of the second lane: zeros before a round */
};

/* ---- Creating -------------------------------------------------------------------------------- */

static size_t phases_of(const gc_jpeg_lanes *of, uint32_t mcus)
{
    return (size_t)mcus * 2 * (size_t)of->frame->block_count;
}

/* Lets the phases of `mcus` MCUs have blocks from `block` on. What goes too far goes to the block
 * behind them. */
static void set_blocks(const gc_jpeg_lanes *of, phase *phases, int16_t *block, uint32_t mcus)
{
    const int count = of->frame->block_count;
    for (; mcus > 0; mcus--)
        for (int b = 0; b < count; b++, phases += 2) {
            phases[0].block = phases[1].block = block;
            block += of->kept[b];
        }
    for (int i = 0; i < PHASES_TOO_FAR; i++)
        phases[i].block = block;
}

static void set_phases(gc_jpeg_lanes *of)
{
    const gc_jpeg_frame *frame = of->frame;
    for (int i = 0; i < PHASES; i++) {
        int block = i / 2 % frame->block_count;
        const gc_jpeg_part *part = &frame->parts[frame->block_parts[block]];
        const gc_jpeg_pair *dc = part->kept ? part->dc->taken : part->dc->passed;
        const gc_jpeg_pair *ac = part->kept ? part->ac->taken : part->ac->passed;
        of->phases[0][i].look = of->phases[1][i].look = i % 2 == 0 ? dc : ac;
        of->parts[i] = frame->block_parts[block];
        of->kept[block] = part->kept ? GC_JPEG_COEFFICIENTS : 0;
    }
    set_blocks(of, of->phases[1], of->blocks, of->mcus_max);
}

gc_jpeg_lanes *gc_jpeg_lanes_create(const gc_jpeg_frame *frame)
{
    gc_jpeg_lanes *lanes = frame->restart_interval == 0 ? malloc(sizeof *lanes) : NULL;
    if (lanes == NULL)
        return NULL;
    lanes->frame = frame;
    lanes->mcus_max = (uint32_t)(BLOCKS_MAX / frame->block_count);
    lanes->mcu_bits = (uint64_t)(BLOCK_BITS * frame->block_count);
    lanes->blocks =
        calloc(lanes->mcus_max * frame->mcu_numbers + GC_JPEG_COEFFICIENTS, sizeof *lanes->blocks);
    if (lanes->blocks == NULL) {
        free(lanes);
        return NULL;
    }
    set_phases(lanes);
    return lanes;
}

void gc_jpeg_lanes_free(gc_jpeg_lanes *lanes)
{
    if (lanes != NULL)
        free(lanes->blocks);
    free(lanes);
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* Fills lanes->bytes with the bits in the window, which end a byte there, and up to `wanted` bytes
 * behind them. Returns how many bytes there are. Zeros follow them. */
static size_t fill_bytes(gc_jpeg_lanes *of, const gc_jpeg_bits *from, size_t wanted)
{
    const unsigned char *at = from->bytes + from->at, *end = from->bytes + from->size;
    unsigned char *to = of->bytes + WINDOW_BYTES;
    uint64_t window = from->count > 0 ? from->window >> (64 - from->count) : 0;
    of->stuffed = 0;
    for (int i = 0; i < WINDOW_BYTES; i++)
        of->bytes[i] = (unsigned char)(window >> (56 - 8 * i));
    while (wanted > 0 && at < end) {
        size_t some = (size_t)(end - at) < wanted ? (size_t)(end - at) : wanted;
        const unsigned char *ff = memchr(at, 0xff, some);
        bool marker = ff != NULL && (end - ff < 2 || ff[1] != 0);
        if (ff != NULL)
            some = (size_t)(ff - at) + !marker;
        memcpy(to, at, some);
        to += some;
        if (marker)
            break;
        if (ff != NULL)
            of->stuffed_at[of->stuffed++] = (uint16_t)(to - of->bytes);
        wanted -= some;
        at += some + (ff != NULL);
    }
    memset(to, 0, 2 * WINDOW_BYTES);
    return (size_t)(to - of->bytes);
}

/* Moves the place to a bit of lanes->bytes behind the window that the round began with. */
static void move_place(const gc_jpeg_lanes *of, gc_jpeg_place *place, uint64_t bit)
{
    const gc_jpeg_bits *bits = &place->bits;
    size_t byte = (size_t)(bit / 8), stuffed = 0;
    while (stuffed < of->stuffed && of->stuffed_at[stuffed] <= byte)
        stuffed++;
    gc_jpeg_set_place(place, bits->bytes, bits->size, bits->at + byte - WINDOW_BYTES + stuffed,
                      bit % 8);
}

/* ---- Following ------------------------------------------------------------------------------- */

/* The next 57 bits, and zeros. */
static inline uint64_t window_at(const gc_jpeg_lanes *of, uint64_t at)
{
    return gc_jpeg_eight_bytes(of->bytes + at / 8) << at % 8;
}

/* What a symbol does. */
typedef struct effect {
    int index;   /* of its coefficient, */
    bool stored; /* if it has one */
    bool last;   /* of the phase */
    bool unsound;
} effect;

static effect effect_of(int symbol, bool ac, int before)
{
    if (!ac || symbol < 0)
        return (effect){.index = 0, .stored = true, .last = true, .unsound = symbol < 0};
    if (symbol == GC_JPEG_SYMBOL_END)
        return (effect){.index = before, .last = true};
    int index = before + (symbol >> 4) + 1;
    /* A run of zeros alone never ends a block. */
    bool zeros = symbol == GC_JPEG_SYMBOL_ZEROS;
    return (effect){.index = index,
                    .stored = !zeros,
                    .last = index == GC_JPEG_LAST_INDEX,
                    .unsound = index > GC_JPEG_LAST_INDEX - zeros};
}

/* One symbol, which the look-up does not tell. `phases` are those of the lane. False if there is
 * none that a sound file has. */
static __attribute__((noinline)) bool follow_exactly(const gc_jpeg_lanes *of, lane *one,
                                                     const phase *phases)
{
    size_t number = (size_t)(one->phase - phases);
    const gc_jpeg_part *part = &of->frame->parts[of->parts[number]];
    bool ac = number % 2 == 1;
    gc_jpeg_bits bits = {.window = window_at(of, one->at), .count = GC_JPEG_WINDOW_BITS};
    int symbol = gc_jpeg_next_symbol(&bits, ac ? &part->ac->codes : &part->dc->codes);
    effect does = effect_of(symbol, ac, (int)(one->last - gc_jpeg_places));
    if (does.unsound)
        return false;
    int32_t value = does.stored ? gc_jpeg_next_value(&bits, symbol % 16) : 0;
    if (does.stored && part->kept)
        one->phase->block[gc_jpeg_places[does.index]] = (int16_t)value;
    one->at += (uint64_t)(GC_JPEG_WINDOW_BITS - bits.count);
    one->phase->end = one->at;
    one->phase += does.last;
    one->look = one->phase->look;
    one->last = gc_jpeg_places + (does.last ? 0 : does.index);
    return true;
}

static inline uint32_t turned(uint32_t bits, int by)
{
    return bits >> by | bits << (32 - by);
}

/* The symbols of a look-up. False if it tells nothing, or too much. There are no branches but this
 * one: compilers would make one of whether the phase ends. */
static inline __attribute__((always_inline)) bool take_pair(lane *one, uint64_t *window,
                                                            const gc_jpeg_pair *pair)
{
    const uint64_t now = *window;
    const uint32_t steps = pair->steps;
    const unsigned char *first = one->last + turned(steps, GC_JPEG_PAIR_STEP) % 32;
    const unsigned char *second = one->last + turned(steps, GC_JPEG_PAIR_STEP + 5) % 64;
    if (__builtin_expect(second >= gc_jpeg_places + GC_JPEG_LAST_INDEX, 0))
        return false;
    int16_t *block = one->phase->block;
    block[*first] =
        (int16_t)(uint16_t)((now >> turned(steps, GC_JPEG_PAIR_SHIFT) % 64) + pair->biases[0]);
    block[*second] =
        (int16_t)(uint16_t)((now >> turned(steps, GC_JPEG_PAIR_SHIFT + 6) % 64) + pair->biases[1]);
    *window = now << steps % 64;
    one->at += steps % 256;
    one->phase->end = one->at;
    phase *next = one->phase + 1;
    __asm__("test %3, %3\n\tcmovs %4, %0\n\tcmovs %5, %1\n\tcmovs %6, %2"
            : "+&r"(one->look), "+&r"(second), "+&r"(one->phase)
            : "r"(steps), "m"(next->look), "r"(gc_jpeg_places), "r"(next)
            : "cc");
    one->last = second;
    return true;
}

static inline __attribute__((always_inline)) bool follow(lane *one, uint64_t *window)
{
    return take_pair(one, window, &one->look[*window >> (64 - GC_JPEG_LOOK_BITS)]);
}

/* The bit at which the lanes stop, at the latest; and why they have stopped. */
typedef struct bounds {
    uint64_t bits[2];
    phase *phases[2];
} bounds;

typedef enum halt { AT_A_BOUND, FIRST_UNSOUND, SECOND_UNSOUND } halt;

/* One symbol that the look-up does not tell: a long code, or anything. The lane is copied for that,
 * so that its fields live in registers elsewhere. */
static inline __attribute__((always_inline)) bool follow_untold(const gc_jpeg_lanes *of, lane *one,
                                                                int number, const bounds *to)
{
    uint64_t window = window_at(of, one->at);
    const gc_jpeg_pair *far = gc_jpeg_far_pair(one->look, window);
    if (one->phase >= to->phases[number])
        return false;
    if (far != NULL && take_pair(one, &window, far))
        return true;
    lane copy = *one;
    bool sound = follow_exactly(of, &copy, of->phases[number]);
    *one = copy;
    return sound;
}

/* Three look-ups of each lane, in turn: they take 19 + 18 + 18 bits of a window at most. What a
 * look-up does not tell is followed apart; then windows are read anew. */
static __attribute__((target("bmi2"), noinline)) halt follow_both(const gc_jpeg_lanes *of,
                                                                  lane lanes[2], const bounds *to)
{
    lane a = lanes[0], b = lanes[1];
    halt why = AT_A_BOUND;
    while (a.at < to->bits[0] && b.at < to->bits[1] && a.phase < to->phases[0] &&
           b.phase < to->phases[1]) {
        uint64_t first = window_at(of, a.at), second = window_at(of, b.at);
        int turn;
#pragma GCC unroll 6
        for (turn = 0; turn < 6; turn++)
            if (!(turn % 2 == 0 ? follow(&a, &first) : follow(&b, &second)))
                break;
        if (turn == 6)
            continue;
        why = turn % 2 == 0 ? FIRST_UNSOUND : SECOND_UNSOUND;
        if (turn % 2 == 0 ? !follow_untold(of, &a, 0, to) : !follow_untold(of, &b, 1, to))
            break;
        why = AT_A_BOUND;
    }
    lanes[0] = a;
    lanes[1] = b;
    return why;
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

/* A round in progress. */
typedef struct round {
    uint64_t start, guess; /* the bits at which the lanes began */
    lane lanes[2];
    bounds to;
} round;

static lane lane_at(phase *phases, uint64_t bit)
{
    return (lane){.at = bit, .look = phases->look, .phase = phases, .last = gc_jpeg_places};
}

/* MCUs that a lane has ended. */
static uint32_t mcus_of(const gc_jpeg_lanes *of, const round *in, int number)
{
    size_t phases = (size_t)(in->lanes[number].phase - of->phases[number]);
    size_t most = (size_t)(in->to.phases[number] - of->phases[number]);
    return (uint32_t)((phases < most ? phases : most) / phases_of(of, 1));
}

/* The bit at which a lane has ended its first `mcus` MCUs. */
static uint64_t end_of(const gc_jpeg_lanes *of, const round *in, int number, uint32_t mcus)
{
    if (mcus == 0)
        return number == 0 ? in->start : in->guess;
    return of->phases[number][phases_of(of, mcus) - 1].end;
}

/* Whether the second lane has ended an MCU where the first lane has ended its last one. *mcus is
 * how many it had ended then. */
static bool find_meeting(const gc_jpeg_lanes *of, const round *in, uint32_t *mcus)
{
    uint64_t end = end_of(of, in, 0, mcus_of(of, in, 0));
    uint32_t most = mcus_of(of, in, 1);
    for (*mcus = 0; *mcus <= most && end_of(of, in, 1, *mcus) <= end; ++*mcus)
        if (end_of(of, in, 1, *mcus) == end)
            return true;
    return false;
}

static void clear_second(gc_jpeg_lanes *of, const round *in)
{
    size_t end = (size_t)(in->lanes[1].phase->block - of->blocks) + GC_JPEG_COEFFICIENTS;
    memset(of->blocks, 0, end * sizeof *of->blocks);
}

/* The second lane may meet anything before it is right. Then it begins anew. */
static void begin_anew(gc_jpeg_lanes *of, round *in)
{
    clear_second(of, in);
    in->guess = in->lanes[1].at + 1;
    in->lanes[1] = lane_at(of->phases[1], in->guess);
}

/* Lets the lanes run until they meet. False: they do not. */
static bool run(gc_jpeg_lanes *of, round *in, uint32_t *meeting)
{
    bounds *to = &in->to;
    for (;;) {
        halt why = follow_both(of, in->lanes, to);
        if (why == SECOND_UNSOUND && in->lanes[1].phase < to->phases[1]) {
            begin_anew(of, in);
            continue;
        }
        if (find_meeting(of, in, meeting))
            return true;
        if (why != AT_A_BOUND || in->lanes[0].at < to->bits[0] || to->bits[0] >= to->bits[1])
            return false;
        to->bits[0] += 8 * SYNCHRONISING_BYTES / 2;
        if (to->bits[0] > to->bits[1])
            to->bits[0] = to->bits[1];
    }
}

/* Prepares a round for `count` MCUs. False if the data at hand are too few. */
static bool begin(gc_jpeg_lanes *of, round *in, const gc_jpeg_place *place, uint32_t count,
                  int16_t *blocks)
{
    uint32_t aim = (uint32_t)(BLOCKS_AIM / of->frame->block_count);
    aim = aim < count / 2 ? aim : count / 2;
    if (aim * (uint32_t)of->frame->block_count < BLOCKS_MIN || place->bits.invented > 0)
        return false;
    uint32_t most = aim + aim / 2;
    size_t distance = aim * of->mcu_bits / 8, distance_max = BYTES_MAX * 2 / 5;
    distance = distance < distance_max ? distance : distance_max;
    size_t size = fill_bytes(of, &place->bits, distance * 5 / 2);
    if (size < distance + 8 * SYNCHRONISING_BYTES)
        return false;
    in->start = 8 * WINDOW_BYTES - (uint64_t)place->bits.count;
    in->guess = 8 * (in->start / 8 + distance);
    in->lanes[0] = lane_at(of->phases[0], in->start);
    in->lanes[1] = lane_at(of->phases[1], in->guess);
    in->to = (bounds){.bits = {in->guess + 8 * SYNCHRONISING_BYTES, 8 * (size - WINDOW_BYTES)},
                      .phases = {of->phases[0] + phases_of(of, most),
                                 of->phases[1] + phases_of(of, of->mcus_max)}};
    set_blocks(of, of->phases[0], blocks, most);
    memset(blocks, 0, (most * of->frame->mcu_numbers + GC_JPEG_COEFFICIENTS) * sizeof *blocks);
    return true;
}

/* Makes coefficients of the differences of a component, whose blocks begin at `block`. *dc is the
 * prediction. False if a coefficient is not sound. */
static bool sum_up(const gc_jpeg_frame *frame, const gc_jpeg_part *part, uint32_t count,
                   int16_t *block, int32_t *dc)
{
    int32_t sum = *dc;
    bool sound = true;
    for (; count > 0; count--, block += frame->mcu_numbers) {
        int16_t *first = block;
        for (int i = part->across * part->down; i > 0; i--, first += GC_JPEG_COEFFICIENTS) {
            sum += *first;
            sound &= sum <= GC_JPEG_DC_MAX && sum >= -GC_JPEG_DC_MAX;
            *first = (int16_t)sum;
        }
    }
    *dc = sum;
    return sound;
}

static bool sum_up_all(const gc_jpeg_lanes *of, gc_jpeg_place *place, uint32_t count,
                       int16_t *blocks)
{
    const gc_jpeg_frame *frame = of->frame;
    int32_t dc[GC_JPEG_PARTS_MAX];
    memcpy(dc, place->dc, sizeof dc);
    for (int c = 0; c < frame->part_count; c++) {
        const gc_jpeg_part *part = &frame->parts[c];
        if (!part->kept)
            continue;
        if (!sum_up(frame, part, count, blocks, &dc[c]))
            return false;
        blocks += part->across * part->down * GC_JPEG_COEFFICIENTS;
    }
    memcpy(place->dc, dc, sizeof dc);
    return true;
}

uint32_t gc_jpeg_lanes_take(gc_jpeg_lanes *lanes, gc_jpeg_place *place, uint32_t count,
                            int16_t *blocks)
{
    const size_t numbers = lanes->frame->mcu_numbers;
    round in;
    uint32_t meeting, more = 0;
    if (!begin(lanes, &in, place, count, blocks))
        return 0;
    bool met = run(lanes, &in, &meeting);
    uint32_t done = mcus_of(lanes, &in, 0);
    uint64_t end = end_of(lanes, &in, 0, done);
    if (met) {
        more = mcus_of(lanes, &in, 1) - meeting;
        more = more < count - done ? more : count - done;
        end = end_of(lanes, &in, 1, meeting + more);
        memcpy(blocks + done * numbers, lanes->blocks + meeting * numbers,
               more * numbers * sizeof *blocks);
    }
    clear_second(lanes, &in);
    done += more;
    if (done == 0 || end < 8 * WINDOW_BYTES || !sum_up_all(lanes, place, done, blocks))
        return 0;
    lanes->mcu_bits = (end - in.start) / done + 1;
    move_place(lanes, place, end);
    return done;
}
