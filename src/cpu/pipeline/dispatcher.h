/* Which piece of work comes next in a run, for threads that take pieces until none is left.
 *
 * A streamed image goes through rings: a ring of samples holds `input_ring` bands, a ring of output
 * `output_ring`. Band b has entry b % ring. There are five kinds of pieces:
 *
 *   read b        fills the entry of band b in the ring of samples
 *   compute b, p  reads the samples of bands b - neighbours to b + neighbours, or of all bands
 *                 if the border wraps; fills panel p of band b's entry in the ring of output
 *   write b       empties that entry
 *   help read     does a part of what later bands need to be read, such as inflating
 *   help write    does a part of what earlier bands left to do, such as compressing
 *
 * Each of the first three begins in the order of bands, and of panels in a band. Four counts say
 * how far a run is:
 *
 *   written <= computed <= begun <= read
 *
 * All bands before `written` are written, all before `computed` are computed in every panel, all
 * before `read` are read. `begun` is the band of the next panel to compute. The rules are:
 *
 *   read b     one at a time, and not before the last bands that need the entry's old samples are
 *              computed: those up to b - input_ring + neighbours
 *   compute b  not before bands up to b + neighbours are read, or all bands if the border wraps;
 *              and not before band b - output_ring is written, whose entry it fills
 *   write b    one at a time, and not before band b is computed
 *   help       if there are other threads; and not again after a piece that found nothing to do,
 *              before another band is read or written, or a piece of the kind has found something
 *
 * A run may be limited to some bands (gc_division_limit). The counts then begin and end with these.
 *
 * An image in memory is computed in place: there each panel can be computed at any time.
 *
 * A thread waits only if no piece can begin. It then waits for threads that have a piece, and
 * these do not wait. So the run ends, whatever the number and pace of the threads. */
#pragma once

#include "cpu/pipeline/division.h"

#include <pthread.h>

typedef enum gc_piece_kind {
    GC_PIECE_NONE,
    GC_PIECE_READ,
    GC_PIECE_COMPUTE,
    GC_PIECE_WRITE,
    GC_PIECE_HELP_READ,
    GC_PIECE_HELP_WRITE
} gc_piece_kind;

typedef struct gc_piece {
    gc_piece_kind kind;
    int64_t band;
    int64_t panel;  /* of a piece that computes */
    double seconds; /* that the piece took, once it is done */
    bool found;     /* a piece that helped, once it is done, had something to do */
    int64_t news;   /* of a piece that helps: those it began with (gc_help) */
} gc_piece;

/* Help for the source or the sink. */
typedef struct gc_help {
    bool wanted;    /* by the source or sink */
    int64_t news;   /* pieces that may have made something to do */
    int64_t barren; /* the news after which there was nothing to do */
    double seconds; /* of all that helped */
} gc_help;

typedef struct gc_dispatcher {
    const gc_division *division;
    bool in_place;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    int threads; /* that take pieces */
    int waiting; /* those that wait for a piece */
    int64_t read, begun, computed, written;
    int64_t panel; /* the next panel to compute, of band `begun` */
    int64_t *left; /* left[b % output_ring]: panels not yet computed of band b, which has begun */
    bool reading, writing;
    gc_help reader, writer; /* the caller sets `wanted` once the dispatcher is created */
    double seconds;         /* of all that computes */
    gconv_status status;    /* the first failure: after it no piece is begun */
    gconv_error error;
} gc_dispatcher;

gconv_status gc_dispatcher_create(gc_dispatcher *dispatcher, const gc_division *division,
                                  bool in_place, gconv_error *error);
void gc_dispatcher_destroy(gc_dispatcher *dispatcher);

/* Reports that `piece` is done, with this status and, if it failed, this error. In a thread's
 * first call the piece is of kind GC_PIECE_NONE. Then puts the next piece there, waiting for one
 * if needed. False when none is left. */
bool gc_dispatcher_next(gc_dispatcher *dispatcher, gc_piece *piece, gconv_status status,
                        const gconv_error *error);

/* For tests: called with each piece before it is done, by the thread that does it. NULL in a
 * program. */
extern void (*gc_dispatcher_hook)(const gc_piece *piece);
