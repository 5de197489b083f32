/* Ways to compute one step of a chain, each a solver in the sense of FFTW: it says whether it
 * applies to a step and how long that would take, makes what it needs, and computes rows. Every
 * solver is a file of this folder, or of cpu/fast: those of this folder compute any step. solvers.c
 * has the table of them and takes the cheapest.
 *
 * cpu/pass.h has what computes a whole job in one pass, without stages. */
#pragma once

#include "core/problem.h"
#include "core/products.h"
#include "cpu/instructions/instructions.h"
#include "cpu/solver/error.h"

/* Values of a row that go from one part of the work to the next: few enough that six rows of them
 * stay in a first-level cache of 32 KiB. 512 and 2048 were measured to be no better. */
enum { GC_SEGMENT_VALUES = 1024 };

typedef struct gc_solver gc_solver;

/* What a solver is asked about. */
typedef struct gc_question {
    const gc_instructions *instructions;
    const gc_problem *problem;
    const gc_step *step; /* of the problem's chain */
    bool once;           /* the error must have a bound: see cpu/once.h */
    gc_extent input;     /* if `once`: of what enters the step */
} gc_question;

/* How a solver would compute a step. */
typedef struct gc_estimate {
    const gc_solver *solver;
    double seconds;       /* a value takes on one thread */
    double error;         /* if the question says `once`: of a sum */
    int side;             /* tiles: of a tile */
    gc_products products; /* products: what the filter is the sum of */
    int column_side;      /* long vectors: values of a transform of columns; 0: taps are summed */
    int row_side;         /* and of a transform of rows */
} gc_estimate;

/* One step of a chain as the cpu implementation computes it. */
typedef struct gc_stage {
    const gc_solver *solver;
    const gc_instructions *instructions;
    const gc_step *step;
    int channels;
    bool takes_bytes;         /* reads samples of 8 bits instead of chain values */
    bool takes_bare;          /* can read rows to which no border was added */
    int rows_at_once;         /* output rows that are cheapest together */
    int tile_columns;         /* output columns of a tile, if the solver is `tiled` */
    size_t scratch;           /* floats that `run` needs to work in */
    size_t scratch_of_column; /* and as many more for each column of its output */
    size_t kept;              /* floats that stay from call to call in an area */
    size_t kept_of_column;    /* and as many more for each column of its output */
    void *own;                /* what the solver made for the step; NULL if own_bytes is 0 */
} gc_stage;

/* The input of some output rows. Input row r is what the first row of taps reads for output row r.
 * There are height + GC_ROWS_TOGETHER - 1 readable rows at least, however few output rows are
 * wanted, and as many more as output rows need. A tiled solver gets GC_ROWS_TOGETHER - 1 more than
 * its output rows need. Up to GC_ROW_SLACK samples beyond a row are readable. But if `beside` is
 * not NULL, rows begin and end at the sides of the image. It has the columns that the border takes
 * for those beyond the left side, then for those beyond the right side. */
typedef struct gc_stage_input {
    const float *const *rows;    /* of chain values; NULL if the stage takes bytes */
    const uint8_t *const *bytes; /* of samples; NULL if it does not */
    const int64_t *beside;       /* if the stage takes bare rows; else NULL */
    float *scratch;              /* 64-byte aligned */
    float *kept;                 /* 64-byte aligned */
    bool begins;                 /* the call before this one was for another area */
} gc_stage_input;

struct gc_solver {
    const char *name; /* of the variant of `cpu` that computes by this solver alone: cpu:NAME */
    /* Whether the solver can compute the step at all. Cheap. NULL: it computes any step. */
    bool (*applies)(const gc_question *question);
    /* Seconds that a value takes, and in *estimate what `create` has to know. Before,
     * estimate->seconds is the least time of the solvers asked before. A solver that sees that it
     * takes longer may return HUGE_VAL. */
    double (*seconds)(const gc_question *question, gc_estimate *estimate);
    size_t own_bytes; /* of stage->own: zeros before `create`, freed after `release` */
    /* Completes a stage. Solver, instructions, step and channels are set; rows_at_once is
     * GC_ROWS_TOGETHER unless this function changes it. On failure `release` is called, too. NULL:
     * the stage needs nothing more. */
    gconv_status (*create)(gc_stage *stage, const gc_question *question,
                           const gc_estimate *estimate, gconv_error *error);
    /* out[o][i] = value i of output row o, for i in [0, values), o in [0, row_count). `row_count`
     * is at most rows_at_once. */
    void (*run)(const gc_stage *stage, const gc_stage_input *input, size_t values, int row_count,
                float *const *out);
    const char *words; /* for people: "every tap"; NULL: `describe` tells them */
    const char *(*describe)(const gc_stage *stage);
    void (*release)(void *own); /* what `own` holds; NULL: nothing */
    /* Terms that the summation adds to n in the bound of rule 4; NULL is none. */
    double (*extra_terms)(const gc_estimate *estimate);
    /* How far a sum may be from the true one, if the chain is not exact. NULL: that has no bound
     * which is small enough. */
    double (*error)(const gc_question *question, const gc_estimate *estimate);
    /* Computes tiles, which are counted from the beginning of a band and a panel. So bands and
     * panels decide which values go through a transform together, and how they round. `run`
     * computes all columns at once. */
    bool tiled;
};

/* The cheapest solver for a step, of those that gc_solver_wanted allows. If there is none, the
 * estimate's solver is NULL, and its seconds are infinite. */
void gc_solver_choose(const gc_question *question, gc_estimate *best);

/* The solver that the job names by the implementation cpu:NAME; NULL if any may be taken. */
const char *gc_solver_wanted(const gc_problem *problem);

/* Whether a constant border of the step has samples of 8 bits. */
bool gc_border_is_bytes(const gc_problem *problem, const gc_step *step);

/* Whether the step reads samples of 8 bits as they are: it is the first one, alpha is not treated
 * apart, and a constant border fits a byte. */
bool gc_question_of_bytes(const gc_question *question);

/* Whether the step is a matrix, and how far the sum of its taps may be from the true one. */
bool gc_question_of_matrix(const gc_question *question);
double gc_matrix_error(const gc_question *question, const gc_estimate *estimate);

/* Seconds that a value takes with so many products that are as fast as the fastest. Rows of few
 * values take as long as a block of them. */
double gc_products_seconds(const gc_question *question, double products);

/* Seconds that a value takes with every tap of a filter of `height` rows. */
double gc_taps_seconds(const gc_question *question, double taps, int height);
