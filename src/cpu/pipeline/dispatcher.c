#include "cpu/pipeline/dispatcher.h"

#include "base/number.h"
#include "base/status.h"

#include <stdlib.h>

void (*gc_dispatcher_hook)(const gc_piece *piece);

gconv_status gc_dispatcher_create(gc_dispatcher *dispatcher, const gc_division *division,
                                  bool in_place, gconv_error *error)
{
    size_t entries = (size_t)division->output_ring;
    *dispatcher = (gc_dispatcher){.division = division,
                                  .in_place = in_place,
                                  .read = division->read_first,
                                  .begun = division->first,
                                  .computed = division->first,
                                  .written = division->first,
                                  .reader.news = 1,
                                  .writer.news = 1};
    dispatcher->left = calloc(entries, sizeof *dispatcher->left);
    GC_TRY_MEMORY(dispatcher->left != NULL, error, entries * sizeof *dispatcher->left);
    pthread_mutex_init(&dispatcher->lock, NULL);
    pthread_cond_init(&dispatcher->changed, NULL);
    return GCONV_OK;
}

void gc_dispatcher_destroy(gc_dispatcher *dispatcher)
{
    if (dispatcher->left == NULL)
        return;
    pthread_cond_destroy(&dispatcher->changed);
    pthread_mutex_destroy(&dispatcher->lock);
    free(dispatcher->left);
}

/* ---- The rules ------------------------------------------------------------------------------- */

static bool may_read(const gc_dispatcher *s)
{
    const gc_division *d = s->division;
    if (s->in_place || s->reading || s->read == d->read_end)
        return false;
    return s->read - d->read_first < d->input_ring ||
           s->read - d->input_ring + d->neighbours < s->computed;
}

static bool may_compute(const gc_dispatcher *s)
{
    const gc_division *d = s->division;
    if (s->begun == d->end || s->in_place)
        return s->begun < d->end;
    bool wraps = d->problem->chain.border == GCONV_BORDER_WRAP;
    int64_t last = wraps ? d->bands - 1 : gc_smaller(s->begun + d->neighbours, d->read_end - 1);
    return last < s->read && s->begun - d->output_ring < s->written;
}

static bool may_help(const gc_dispatcher *s, const gc_help *help)
{
    return help->wanted && s->threads > 1 && help->barren < help->news;
}

static bool may_help_write(const gc_dispatcher *s)
{
    return may_help(s, &s->writer);
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

/* Whether no piece begins any more: all have begun, or one has failed. While the last band is
 * written, there may be something to help with after it. */
static bool is_over(const gc_dispatcher *s)
{
    int64_t end = s->division->end;
    if (s->status != GCONV_OK || s->in_place)
        return s->status != GCONV_OK || s->begun == end;
    if (s->writer.wanted && s->threads > 1)
        return s->written == end && !may_help_write(s);
    return s->written + (s->writing ? 1 : 0) == end;
}

/* The next piece of a thread whose last piece was of kind `last`: the piece that empties the rings
 * most. But a thread that reads goes on reading if there are other threads, and another one helps
 * it first. A decoder often takes longest, and is slower if it moves from processor to
 * processor. */
static gc_piece choose(const gc_dispatcher *s, gc_piece_kind last)
{
    if (last == GC_PIECE_READ && s->threads > 1 && may_read(s))
        return (gc_piece){.kind = GC_PIECE_READ, .band = s->read};
    if (may_help(s, &s->reader) && s->read < s->division->read_end)
        return (gc_piece){.kind = GC_PIECE_HELP_READ, .news = s->reader.news};
    if (!s->in_place && !s->writing && s->written < s->computed)
        return (gc_piece){.kind = GC_PIECE_WRITE, .band = s->written};
    if (may_compute(s))
        return (gc_piece){.kind = GC_PIECE_COMPUTE, .band = s->begun, .panel = s->panel};
    if (may_read(s))
        return (gc_piece){.kind = GC_PIECE_READ, .band = s->read};
    if (may_help_write(s))
        return (gc_piece){.kind = GC_PIECE_HELP_WRITE, .news = s->writer.news};
    return (gc_piece){.kind = GC_PIECE_NONE};
}

/* The help that a piece gives; NULL for pieces that give none. */
static gc_help *help_of(gc_dispatcher *s, const gc_piece *piece)
{
    return piece->kind == GC_PIECE_HELP_READ    ? &s->reader
           : piece->kind == GC_PIECE_HELP_WRITE ? &s->writer
                                                : NULL;
}

static void begin(gc_dispatcher *s, const gc_piece *piece)
{
    const gc_division *d = s->division;
    if (piece->kind == GC_PIECE_READ)
        s->reading = true;
    if (piece->kind == GC_PIECE_WRITE)
        s->writing = true;
    if (piece->kind != GC_PIECE_COMPUTE)
        return;
    if (s->panel == 0)
        s->left[s->begun % d->output_ring] = d->panels;
    if (++s->panel == d->panels) {
        s->panel = 0;
        s->begun++;
    }
}

/* Counts the bands that are whole now. Another thread may still compute an earlier one. */
static void count_computed(gc_dispatcher *s, int64_t band)
{
    int64_t entries = s->division->output_ring;
    s->left[band % entries]--;
    while (s->computed < s->begun && s->left[s->computed % entries] == 0)
        s->computed++;
}

static void finish_help(gc_help *help, const gc_piece *piece)
{
    help->seconds += piece->seconds;
    if (piece->found)
        help->news++;
    else if (help->barren < piece->news)
        help->barren = piece->news;
}

static void finish(gc_dispatcher *s, const gc_piece *piece)
{
    gc_help *help = help_of(s, piece);
    if (help != NULL) {
        finish_help(help, piece);
    } else if (piece->kind == GC_PIECE_READ) {
        s->reading = false;
        s->read++;
        s->reader.news++;
    } else if (piece->kind == GC_PIECE_WRITE) {
        s->writing = false;
        s->written++;
        s->writer.news++;
    } else if (piece->kind == GC_PIECE_COMPUTE) {
        s->seconds += piece->seconds;
        if (!s->in_place)
            count_computed(s, piece->band);
    }
}

bool gc_dispatcher_next(gc_dispatcher *s, gc_piece *piece, gconv_status status,
                        const gconv_error *error)
{
    pthread_mutex_lock(&s->lock);
    finish(s, piece);
    if (piece->kind == GC_PIECE_NONE)
        s->threads++;
    if (status != GCONV_OK && s->status == GCONV_OK) {
        s->status = status;
        s->error = *error;
    }
    *piece = choose(s, piece->kind);
    while (piece->kind == GC_PIECE_NONE && !is_over(s)) {
        s->waiting++;
        pthread_cond_wait(&s->changed, &s->lock);
        s->waiting--;
        *piece = choose(s, GC_PIECE_NONE);
    }
    bool goes_on = s->status == GCONV_OK && piece->kind != GC_PIECE_NONE;
    if (goes_on)
        begin(s, piece);
    /* A thread that wakes passes here too, and wakes the next one. */
    if (s->waiting > 0 && (is_over(s) || choose(s, GC_PIECE_NONE).kind != GC_PIECE_NONE))
        pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
    if (goes_on && gc_dispatcher_hook != NULL)
        gc_dispatcher_hook(piece);
    return goes_on;
}
