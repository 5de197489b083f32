/* The rules of cpu/pipeline/dispatcher.h, held against a second account of what lies in each entry
 * of the rings: every piece finds there what it needs, from its beginning to its end, and nobody
 * else writes there. */
#include "cpu/pipeline/dispatcher.h"

#include "base/status.h"
#include "core_support.h"

#include <time.h>
#include <unistd.h>

enum { BANDS_MAX = 400, PANELS_MAX = 4, THREADS_MAX = 8, NOTHING = -1, MOVING = -2 };

/* A run whose pieces only keep account. */
typedef struct account {
    gc_problem problem;
    gc_division division;
    gc_dispatcher dispatcher;
    bool in_place;
    pthread_mutex_t lock; /* of all below */
    int64_t samples[BANDS_MAX],
        output[BANDS_MAX]; /* the band in each entry, or what stands above */
    bool computed[BANDS_MAX][PANELS_MAX], done[BANDS_MAX][PANELS_MAX]; /* begun, and ended */
    int64_t read, written;                                             /* bands */
    int64_t most_ahead; /* bands that were read and not written */
    int readers, writers, computing, most_computing;
    bool helped;               /* source and sink want help */
    int ahead, left;           /* what there is to help with: before reading, after writing */
    int helping, most_helping; /* threads that help */
    int ahead_done;            /* how often somebody helped to read */
    int threads;
    unsigned seed;
    int64_t failing; /* the band whose reading fails, or NOTHING */
    char wrong[128]; /* the first rule that was broken, "" if none was */
} account;

static void demand(account *a, bool holds, const char *rule, const gc_piece *piece)
{
    if (!holds && a->wrong[0] == '\0')
        snprintf(a->wrong, sizeof a->wrong, "%s: kind %d, band %lld, panel %lld", rule,
                 (int)piece->kind, (long long)piece->band, (long long)piece->panel);
}

/* Whether what computing a band reads and fills is there. */
static bool is_there(const account *a, int64_t band)
{
    const gc_division *d = &a->division;
    bool wraps = a->problem.chain.border == GCONV_BORDER_WRAP;
    for (int64_t b = d->read_first; b < d->read_end; b++)
        if ((wraps || (b >= band - d->neighbours && b <= band + d->neighbours)) &&
            a->samples[b % d->input_ring] != b)
            return false;
    return a->output[band % d->output_ring] == band;
}

static void begin_compute(account *a, const gc_piece *piece)
{
    const gc_division *d = &a->division;
    demand(a, !a->computed[piece->band][piece->panel], "computed twice", piece);
    a->computed[piece->band][piece->panel] = true;
    if (++a->computing > a->most_computing)
        a->most_computing = a->computing;
    if (a->in_place)
        return;
    int64_t *entry = &a->output[piece->band % d->output_ring];
    if (*entry == NOTHING)
        *entry = piece->band;
    demand(a, is_there(a, piece->band), "not there at the beginning", piece);
}

static bool is_help(const gc_piece *piece)
{
    return piece->kind == GC_PIECE_HELP_READ || piece->kind == GC_PIECE_HELP_WRITE;
}

static void begin(account *a, const gc_piece *piece)
{
    const gc_division *d = &a->division;
    if (piece->kind == GC_PIECE_COMPUTE) {
        begin_compute(a, piece);
        return;
    }
    demand(a, !a->in_place, "reads or writes what lies in memory", piece);
    if (is_help(piece)) {
        demand(a, a->helped && a->threads > 1, "help that nobody wants", piece);
        if (++a->helping > a->most_helping)
            a->most_helping = a->helping;
        return;
    }
    if (piece->kind == GC_PIECE_READ) {
        demand(a, ++a->readers == 1, "two readers", piece);
        demand(a, piece->band == a->read, "read out of order", piece);
        a->samples[piece->band % d->input_ring] = MOVING;
        if (a->read + 1 - a->written > a->most_ahead)
            a->most_ahead = a->read + 1 - a->written;
    } else {
        demand(a, ++a->writers == 1, "two writers", piece);
        demand(a, piece->band == a->written, "written out of order", piece);
        for (int64_t p = 0; p < d->panels; p++)
            demand(a, a->done[piece->band][p], "written before it is computed", piece);
    }
}

/* There is something to help with, or nothing. A band that is read makes room for two pieces ahead,
 * a band that is written leaves three to do. */
static void end_help(account *a, gc_piece *piece)
{
    bool reads = piece->kind == GC_PIECE_HELP_READ;
    int *things = reads ? &a->ahead : &a->left;
    piece->found = *things > 0;
    *things -= piece->found;
    a->ahead_done += reads && piece->found;
    a->helping--;
}

static void end(account *a, gc_piece *piece)
{
    const gc_division *d = &a->division;
    if (is_help(piece)) {
        end_help(a, piece);
    } else if (piece->kind == GC_PIECE_COMPUTE) {
        a->computing--;
        a->done[piece->band][piece->panel] = true;
        demand(a, a->in_place || is_there(a, piece->band), "not there in the end", piece);
    } else if (piece->kind == GC_PIECE_READ) {
        a->readers--;
        a->read++;
        a->ahead = 2;
        a->samples[piece->band % d->input_ring] = piece->band;
    } else {
        a->writers--;
        a->written++;
        a->left += 3;
        demand(a, a->output[piece->band % d->output_ring] == piece->band, "not there to be written",
               piece);
        a->output[piece->band % d->output_ring] = NOTHING;
    }
}

/* Some pieces at once, some after a while: with the lock held but for that. */
static void take_time(account *a)
{
    a->seed = a->seed * 1664525 + 1013904223;
    unsigned draw = a->seed >> 8;
    pthread_mutex_unlock(&a->lock);
    if (draw % 4 == 0)
        nanosleep(&(struct timespec){.tv_nsec = (long)(draw % 100000)}, NULL);
    else if (draw % 4 == 1)
        sched_yield();
    pthread_mutex_lock(&a->lock);
}

static void *take_pieces(void *user)
{
    account *a = user;
    gc_piece piece = {.kind = GC_PIECE_NONE};
    gconv_status status = GCONV_OK;
    gconv_error error = {.status = GCONV_OK};
    while (gc_dispatcher_next(&a->dispatcher, &piece, status, &error)) {
        pthread_mutex_lock(&a->lock);
        begin(a, &piece);
        take_time(a);
        end(a, &piece);
        if (piece.kind == GC_PIECE_READ && piece.band == a->failing)
            status = gc_fail(&error, GCONV_ERROR_READ, "band %lld", (long long)piece.band);
        pthread_mutex_unlock(&a->lock);
    }
    return NULL;
}

static void run_on(account *a, int threads)
{
    pthread_t others[THREADS_MAX];
    for (int64_t b = 0; b < BANDS_MAX; b++)
        a->samples[b] = a->output[b] = NOTHING;
    a->division.problem = &a->problem;
    pthread_mutex_init(&a->lock, NULL);
    assert_ok(gc_dispatcher_create(&a->dispatcher, &a->division, a->in_place, NULL));
    a->threads = threads;
    a->dispatcher.reader.wanted = a->dispatcher.writer.wanted = a->helped;
    for (int n = 1; n < threads; n++)
        assert_int_equal(pthread_create(&others[n], NULL, take_pieces, a), 0);
    take_pieces(a);
    for (int n = 1; n < threads; n++)
        pthread_join(others[n], NULL);
    gc_dispatcher_destroy(&a->dispatcher);
    pthread_mutex_destroy(&a->lock);
    if (a->wrong[0] != '\0')
        fail_msg("%s (%lld bands of %lld panels, rings %lld and %lld, %lld neighbours, %d threads)",
                 a->wrong, (long long)a->division.bands, (long long)a->division.panels,
                 (long long)a->division.input_ring, (long long)a->division.output_ring,
                 (long long)a->division.neighbours, threads);
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* A division as cpu/pipeline/division.c makes them: rings of 2 * neighbours + moving and of moving
 * bands. */
static account account_of(int64_t bands, int64_t panels, int64_t neighbours, int64_t moving,
                          bool wraps)
{
    account a = {.failing = NOTHING, .seed = (unsigned)rand()};
    a.problem.chain.border = wraps ? GCONV_BORDER_WRAP : GCONV_BORDER_MIRROR;
    a.division = (gc_division){.bands = bands, .panels = panels, .neighbours = neighbours};
    a.division.input_ring = wraps ? bands : smaller(2 * neighbours + moving, bands);
    a.division.output_ring = smaller(moving, bands);
    a.division.end = a.division.read_end = bands;
    return a;
}

/* Any division; `n` is the number of the try. */
static account any_account(int n)
{
    return account_of(1 + rand() % 60, 1 + rand() % PANELS_MAX, rand() % 4, 1 + rand() % 6,
                      n % 7 == 6);
}

/* Limits a run to bands [first, end). */
static void limit(account *a, int64_t first, int64_t end)
{
    gc_division *d = &a->division;
    bool wraps = a->problem.chain.border == GCONV_BORDER_WRAP;
    d->first = a->written = first;
    d->end = end;
    if (!wraps && first > d->neighbours)
        d->read_first = a->read = first - d->neighbours;
    if (!wraps)
        d->read_end = smaller(end + d->neighbours, d->bands);
}

static void run_all(account *a, int threads)
{
    run_on(a, threads);
    const gc_division *d = &a->division;
    for (int64_t b = 0; b < d->bands; b++)
        for (int64_t p = 0; p < d->panels; p++)
            assert_int_equal(a->done[b][p], b >= d->first && b < d->end);
    assert_int_equal(a->read, a->in_place ? 0 : d->read_end);
    assert_int_equal(a->written, a->in_place ? 0 : d->end);
}

/* A run of some bands reads and computes these alone. */
TEST(rules_hold_for_all_bands_and_for_some)
{
    srand(41);
    for (int n = 0; n < 300; n++) {
        int threads = 1 + rand() % THREADS_MAX;
        account a = any_account(n);
        int64_t first = rand() % a.division.bands;
        if (n % 2 == 1)
            limit(&a, first, first + 1 + rand() % (a.division.bands - first));
        run_all(&a, threads);
    }
}

TEST(many_more_bands_than_entries)
{
    srand(42);
    for (int64_t neighbours = 0; neighbours < 3; neighbours++)
        for (int64_t moving = 1; moving < 5; moving++) {
            account a = account_of(BANDS_MAX, 1 + moving % 2, neighbours, moving, false);
            run_all(&a, 4);
        }
}

/* Others help while bands move, and what is left to do after the last band is done before the run
 * ends. */
TEST(others_help)
{
    srand(46);
    int most_helping = 0, ahead_done = 0;
    for (int n = 0; n < 100; n++) {
        int threads = 1 + n % THREADS_MAX;
        account a = any_account(n);
        a.helped = true;
        run_all(&a, threads);
        if (threads > 1)
            assert_int_equal(a.left, 0);
        most_helping = a.most_helping > most_helping ? a.most_helping : most_helping;
        ahead_done += a.ahead_done;
    }
    assert_true(most_helping >= 2);
    assert_true(ahead_done >= 100);
}

TEST(in_place)
{
    srand(43);
    for (int threads = 1; threads <= THREADS_MAX; threads++) {
        account a = account_of(60, 1 + threads % PANELS_MAX, 2, 3, threads % 2 == 0);
        a.in_place = true;
        run_all(&a, threads);
    }
}

/* Nothing is held back that may be done: rings get full, and bands are computed at the same
 * time. */
TEST(rings_are_used)
{
    srand(44);
    int64_t ahead = 0;
    int computing = 0;
    for (int n = 0; n < 20; n++) {
        account a = account_of(100, 1, 1, 6, false);
        run_on(&a, 4);
        ahead = a.most_ahead > ahead ? a.most_ahead : ahead;
        computing = a.most_computing > computing ? a.most_computing : computing;
        assert_true(a.most_ahead <= a.division.input_ring + a.division.output_ring);
    }
    assert_true(ahead >= 6);
    assert_true(computing >= 3);
}

/* The first failure is what the run reports, and ends it. */
TEST(a_failure_ends_the_run)
{
    srand(45);
    for (int threads = 1; threads <= THREADS_MAX; threads++) {
        account a = account_of(200, 2, 1, 4, false);
        a.failing = 20 + threads;
        run_on(&a, threads);
        assert_int_equal(a.dispatcher.status, GCONV_ERROR_READ);
        assert_int_equal(a.dispatcher.error.status, GCONV_ERROR_READ);
        assert_contains(a.dispatcher.error.message, "band 2");
        assert_true(a.read <= a.failing + 1 && a.written < a.failing + 1);
    }
}

/* Two pieces in the hands of two threads, which fail one after the other. */
TEST(the_first_failure_counts)
{
    account a = account_of(10, 1, 0, 3, false);
    a.division.problem = &a.problem;
    gc_dispatcher *s = &a.dispatcher;
    assert_ok(gc_dispatcher_create(s, &a.division, false, NULL));
    gc_piece one = {.kind = GC_PIECE_NONE}, other = {.kind = GC_PIECE_NONE};
    gconv_error first, second;
    gc_fail(&first, GCONV_ERROR_READ, "first");
    gc_fail(&second, GCONV_ERROR_WRITE, "second");
    assert_true(gc_dispatcher_next(s, &one, GCONV_OK, NULL));
    assert_int_equal(one.kind, GC_PIECE_READ);
    assert_true(gc_dispatcher_next(s, &one, GCONV_OK, NULL));
    assert_int_equal(one.kind, GC_PIECE_COMPUTE);
    assert_true(gc_dispatcher_next(s, &other, GCONV_OK, NULL));
    assert_int_equal(other.kind, GC_PIECE_READ);
    assert_false(gc_dispatcher_next(s, &one, first.status, &first));
    assert_false(gc_dispatcher_next(s, &other, second.status, &second));
    assert_int_equal(s->status, GCONV_ERROR_READ);
    assert_string_equal(s->error.message, "first");
    gc_dispatcher_destroy(s);
}

/* With other threads, a thread that has read goes on reading as long as there is room. Alone it
 * computes first. */
TEST(who_reads_goes_on_reading)
{
    account a = account_of(10, 1, 0, 3, false);
    a.division.problem = &a.problem;
    gc_dispatcher *s = &a.dispatcher;
    assert_ok(gc_dispatcher_create(s, &a.division, false, NULL));
    gc_piece reader = {.kind = GC_PIECE_NONE}, other = {.kind = GC_PIECE_NONE};
    for (int n = 0; n < 3; n++) { /* read 0, compute 0, write 0 */
        assert_true(gc_dispatcher_next(s, &other, GCONV_OK, NULL));
        assert_int_equal(other.kind, n == 0   ? GC_PIECE_READ
                                     : n == 1 ? GC_PIECE_COMPUTE
                                              : GC_PIECE_WRITE);
    }
    for (int n = 0; n < 3; n++) { /* bands 1 to 3: the entries of 0, 1 and 2 are then full */
        assert_true(gc_dispatcher_next(s, &reader, GCONV_OK, NULL));
        assert_int_equal(reader.kind, GC_PIECE_READ);
        assert_int_equal(reader.band, 1 + n);
    }
    assert_true(gc_dispatcher_next(s, &reader, GCONV_OK, NULL));
    assert_int_equal(reader.kind, GC_PIECE_COMPUTE);
    gc_dispatcher_destroy(s);
}
