/* Which piece of a run comes next, for threads that take pieces until none is left.
 *
 * A streamed image goes through rings: a ring of samples holds `input_ring` bands, a ring of output
 * `output_ring`; band b lies in slot b % ring. There are three kinds of pieces:
 *
 *   read b        fills the slot of samples of band b
 *   compute b, p  reads the samples of bands b - neighbours to b + neighbours (of all where the
 *                 border wraps), fills panel p of the slot of output of band b
 *   write b       empties that slot
 *
 * Each kind is begun in the order of bands, and of panels in a band. What has been done is
 *
 *   written <= computed <= begun <= read
 *
 * bands: all before `written` are written, all before `computed` computed in every panel, all before
 * `read` read; `begun` is where the next panel to compute lies. And these are the rules:
 *
 *   read b     one at a time; not before bands up to b - input_ring + neighbours are computed, the last
 *              that read what the slot holds
 *   compute b  not before bands up to b + neighbours are read (all where the border wraps), and band
 *              b - output_ring is written, whose slot it fills
 *   write b    one at a time; not before band b is computed
 *
 * An image in memory is computed in place: there each panel can be computed at any time.
 *
 * A thread waits only where no piece can be begun, and then for threads that do one: none of them
 * waits for another. So the run ends whatever the threads' number and pace. */
#ifndef GC_CPU_PIPELINE_SCHEDULE_H
#define GC_CPU_PIPELINE_SCHEDULE_H

#include "cpu/pipeline/division.h"

#include <pthread.h>

typedef enum gc_piece_kind {
    GC_PIECE_NONE,
    GC_PIECE_READ,
    GC_PIECE_COMPUTE,
    GC_PIECE_WRITE
} gc_piece_kind;

typedef struct gc_piece {
    gc_piece_kind kind;
    int64_t band;
    int64_t panel;  /* of one that computes */
    double seconds; /* that it took, once it is done */
} gc_piece;

typedef struct gc_schedule {
    const gc_division *division;
    bool in_place;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    int threads; /* that take pieces */
    int waiting; /* those of them that wait for one */
    int64_t read, begun, computed, written;
    int64_t panel; /* of band `begun`, the next to compute */
    int64_t *left; /* left[b % output_ring]: panels of band b, begun, that are not yet computed */
    bool reading, writing;
    double seconds;      /* of all that computes */
    gconv_status status; /* the first failure: after it no piece is begun */
    gconv_error error;
} gc_schedule;

gconv_status gc_schedule_create(gc_schedule *schedule, const gc_division *division, bool in_place,
                                gconv_error *error);
void gc_schedule_destroy(gc_schedule *schedule);

/* Says that `piece` is done, with this status and, where it failed, error; at first it is one of no
 * kind. Then puts the next one there, waiting for it where need be. False when there is none left. */
bool gc_schedule_next(gc_schedule *schedule, gc_piece *piece, gconv_status status,
                      const gconv_error *error);

/* For tests: is called with each piece before it is done, by the thread that does it. NULL in a
 * program. */
extern void (*gc_schedule_hook)(const gc_piece *piece);

#endif
