/* How an image is divided among threads: into bands of rows, and if rows are wide or filters high
 * also into panels of columns. So memory grows with the image's width and the filters' heights
 * alone. */
#pragma once

#include "cpu/pipeline/workspace.h"
#include "cpu/stages.h"

typedef struct gc_division {
    const gc_problem *problem;
    int64_t rows;        /* of a band */
    int64_t bands;       /* of the image */
    int64_t columns;     /* of a panel */
    int64_t columns_max; /* of the last one, which absorbs a remainder that is too narrow */
    int64_t panels;      /* of a band */
    int64_t neighbours;  /* bands above and below that a band's rows come from */
    /* What a run computes, all bands unless gc_division_limit says otherwise: output rows
     * [top, bottom) in bands [first, end), from input rows [from, to) in bands [read_first,
     * read_end). */
    int64_t top, bottom, first, end;
    int64_t from, to, read_first, read_end;
    int64_t input_ring;  /* bands of samples held at once */
    int64_t output_ring; /* bands of output held at once */
} gc_division;

/* Divides for at most `threads` threads; `in_place` if the image lies in memory and there are no
 * rings. The result of a run does not depend on their number:
 * if the place of bands or panels could change a bit, `rows` and `columns` do not depend on it or
 * on `in_place` either. */
void gc_division_choose(gc_division *division, const gc_problem *problem, const gc_stages *stages,
                        int threads, bool in_place);

/* Limits a run to what output rows [first, end) depend on. Rows beside them are computed if these
 * decide how they round: the result has the bits of a run of the whole image. */
void gc_division_limit(gc_division *division, const gc_stages *stages, int64_t first, int64_t end);

/* The rows that a run computes of a panel. */
gc_area gc_division_area(const gc_division *division, int64_t band, int64_t panel);
