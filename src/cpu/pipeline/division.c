#include "cpu/pipeline/division.h"

#include "base/number.h"
#include "cpu/budget.h"

/* Values in a band: enough that a piece of work outweighs its scheduling, few enough to stay in
 * cache. A band that goes in strips (cpu/pass.h) need not stay there if no ring holds it. */
enum {
    BAND_VALUES = 1 << 18,
    BAND_STRIP_VALUES = 1 << 21,
    BAND_ROWS_MIN = 16,
    BAND_ROWS_MAX = 1024
};

/* Bands that each thread takes at least: with few, one thread would end long after the others. */
enum { BANDS_A_THREAD = 4 };

/* Bands of a single image that goes through rings, at least, if they have BAND_ROWS_MIN rows. Some
 * eight lie in the rings: a small image does not lie there as a whole. The first touch of memory
 * takes longer than bands repeat. In a batch the image before has touched it. */
enum { BANDS_IN_RINGS = 32 };

/* Bands are made for this number of threads if their place decides the last bits of the result.
 * Those bits must not depend on the real number. This gives enough bands for most machines, and so
 * few that they repeat little. */
enum { PLACING_THREADS = 4 };

/* Least height of a band, in multiples of the rows that the chain reaches, if the rings have
 * room. */
enum { BAND_REACHES = 4 };

/* A chain that reaches farther than this, as no single matrix does, has running sums. Its bands
 * have at least as many rows, even if the rings then exceed their memory. */
enum { BAND_HIGH_REACH = GCONV_FILTER_SIDE_MAX };

/* The most bands between reading and writing that no thread works on, if there are no panels (see
 * GC_BANDS_AHEAD_OF_PANELS): one for each thread. One thread alone needs none. */
enum { BANDS_AHEAD_MAX = 4 };

/* Bytes that one thread's windows may hold before bands are divided into panels: about a second-
 * level cache. */
enum { PANEL_BYTES = 2 << 20 };

/* Least width of a panel, in multiples of the columns that the chain reaches, so that panels repeat
 * little. */
enum { PANEL_REACHES = 4 };

/* Chains that reach farther count as long: beyond any single matrix. Their panels repeat more, for
 * the sake of memory. */
enum { PANEL_LONG_REACH = GCONV_FILTER_SIDE_MAX, PANEL_LONG_REACHES = 2 };

/* The width of a panel is a multiple of this: its rows begin on cache lines, and on bytes if output
 * is packed bits. */
enum { PANEL_GRANULE = 64 };

/* ---- Panels ---------------------------------------------------------------------------------- */

/* Bytes of a column that a workspace holds in all its windows (see create_windows in workspace.c).
 * Windows of bytes count as floats: their panels are narrow for the sake of the first-level cache.
 * Those of long filters count as they are. */
static int64_t column_bytes_of(const gc_problem *problem, const gc_stages *stages)
{
    const int64_t value = sizeof(float);
    int64_t at_once = stages->rows_at_once;
    int64_t bytes = at_once * value;
    for (int p = stages->count - 1; p >= 0; p--) {
        const gc_stage *stage = &stages->list[p];
        bytes += gc_window_capacity(&problem->chain, stage->step, at_once) *
                 (stage->takes_bytes && stage->solver->tiled ? 1 : value);
        at_once += stage->step->height;
    }
    return bytes * problem->chain.channels;
}

/* Columns beside an output column that it depends on. */
static int64_t columns_reached(const gc_problem *problem)
{
    int64_t reach = 0;
    for (int s = 0; s < problem->chain.step_count; s++)
        reach += problem->chain.steps[s].width - 1;
    return reach;
}

/* Columns of panels are multiples of this number. Panels of the last stage begin where pairs of its
 * tiles begin in a whole row, so that each transform has the same values. At depth 1 they also
 * begin on a byte of output. */
static int64_t panel_granule(const gc_problem *problem, const gc_stages *stages)
{
    const gc_stage *last = &stages->list[stages->count - 1];
    if (!last->solver->tiled)
        return PANEL_GRANULE;
    return (problem->conversion.output.depth == 1 ? 8 : 2) * last->tile_columns;
}

static int64_t round_up(int64_t value, int64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static void choose_panels(gc_division *division, const gc_stages *stages)
{
    const gc_problem *problem = division->problem;
    int64_t width = problem->chain.width, reach = columns_reached(problem);
    int64_t column_bytes = column_bytes_of(problem, stages);
    division->columns = division->columns_max = width;
    division->panels = 1;
    if (stages->pass != NULL || problem->chain.border == GCONV_BORDER_WRAP ||
        width * column_bytes <= PANEL_BYTES)
        return;
    bool is_long = reach > PANEL_LONG_REACH;
    int64_t columns = gc_larger(PANEL_BYTES / column_bytes,
                                (is_long ? PANEL_LONG_REACHES : PANEL_REACHES) * reach);
    columns = gc_larger(columns, GC_SEGMENT_VALUES / problem->chain.channels);
    /* Long filters: rather wide panels than many that repeat much. */
    int64_t panels = is_long ? gc_larger(width / columns, 1) : (width + columns - 1) / columns;
    columns = round_up((width + panels - 1) / panels, panel_granule(problem, stages));
    panels = (width + columns - 1) / columns;
    if (panels > 1 && width - (panels - 1) * columns < 2 * reach)
        panels--;
    division->columns = columns;
    division->panels = panels;
    division->columns_max = gc_larger(columns, width - (panels - 1) * columns);
    if (panels == 1)
        division->columns = division->columns_max = width;
}

/* ---- Bands ----------------------------------------------------------------------------------- */

/* How far above or below an output row of the chain its input rows lie. A border can reflect a row
 * from above to below, and the step before reaches on from there. So the larger sides of all steps
 * add up. */
static int64_t chain_reach(const gc_problem *problem)
{
    int64_t reach = problem->detector.beside + problem->detector.stencil.top;
    if (problem->detector.stencil.height > (int64_t)problem->chain.height)
        return problem->chain.height;
    for (int s = 0; s < problem->chain.step_count; s++) {
        const gc_step *step = &problem->chain.steps[s];
        if (step->height > (int64_t)problem->chain.height)
            return problem->chain.height; /* reflected back and forth, it reads any row */
        reach += gc_larger(gc_step_above(step), gc_step_below(step));
    }
    return reach;
}

/* Whether bands and panels decide which values go through a transform together, and so how these
 * round. Tiles are counted from the beginning of a band and a panel, in all steps but the last. */
static bool places_tiles(const gc_problem *problem, const gc_stages *stages)
{
    bool places = false;
    for (int p = 0; p + 1 < stages->count; p++)
        places = places || stages->list[p].solver->tiled;
    return places && !problem->chain.exact;
}

/* Bands between reading and writing: those that threads work on, and those ahead of them. */
static int64_t bands_moving(const gc_division *division, int threads)
{
    int64_t worked_on = (threads + division->panels - 1) / division->panels;
    /* With those that other images of a batch leave, in the end. */
    int64_t all = (int64_t)threads * gc_larger(division->problem->job.images_at_once, 1);
    if (all == 1)
        return 1;
    return worked_on +
           (division->panels > 1 ? GC_BANDS_AHEAD_OF_PANELS : gc_smaller(all, BANDS_AHEAD_MAX));
}

static int64_t choose_rows(const gc_division *division, const gc_stages *stages, int64_t reach,
                           int threads, bool in_place)
{
    const gc_problem *problem = division->problem;
    bool in_strips = stages->pass != NULL && stages->pass->goes_in_strips;
    int64_t values = in_strips && in_place ? BAND_STRIP_VALUES : BAND_VALUES;
    int64_t rows = values / ((int64_t)problem->chain.width * problem->chain.channels);
    int64_t share = (problem->chain.height + threads - 1) / threads;
    if (threads > 1)
        rows = gc_smaller(rows, share / BANDS_A_THREAD);
    if (!in_place && problem->job.runs <= 1 && !places_tiles(problem, stages))
        rows = gc_smaller(rows, problem->chain.height / BANDS_IN_RINGS);
    rows = gc_smaller(gc_larger(rows, BAND_ROWS_MIN), BAND_ROWS_MAX);
    rows = gc_larger(rows - rows % stages->rows_at_once, 1);
    /* The first rows of a band repeat work of the band above. Keep that a small part. */
    int64_t room = in_place ? problem->chain.height
                            : gc_budget_rows(problem, reach, bands_moving(division, threads));
    rows = gc_larger(rows, gc_smaller(BAND_REACHES * reach, room));
    rows = gc_smaller(rows, share);
    return gc_smaller(round_up(rows, stages->rows_at_once), problem->chain.height);
}

static bool keeps_sums(const gc_stages *stages)
{
    bool keeps = false;
    for (int p = 0; p < stages->count; p++)
        keeps = keeps || stages->list[p].kept > 0;
    return keeps;
}

/* Running sums begin anew in each band. In memory there is a band for each thread. Rings grow with
 * the height of a filter that is higher than any matrix. */
static int64_t rows_of_sums(const gc_division *division, const gc_stages *stages, int64_t reach,
                            int threads, bool in_place)
{
    int64_t height = division->problem->chain.height;
    int64_t rows = in_place                  ? (height + threads - 1) / threads
                   : reach > BAND_HIGH_REACH ? reach
                                             : 1;
    return gc_smaller(round_up(rows, stages->rows_at_once), height);
}

static void choose_bands(gc_division *division, const gc_stages *stages, int threads, bool in_place)
{
    const gc_problem *problem = division->problem;
    int64_t reach = chain_reach(problem), moving = bands_moving(division, threads);
    bool places = places_tiles(problem, stages);
    int64_t rows = choose_rows(division, stages, reach, places ? PLACING_THREADS : threads,
                               in_place && !places);
    if (keeps_sums(stages) && !places)
        rows = gc_larger(rows, rows_of_sums(division, stages, reach, threads, in_place));
    division->rows = rows;
    division->bands = (problem->chain.height + rows - 1) / rows;
    /* A reflected row lies as far inside as the row itself lies outside, under mirror101 one
     * further. */
    division->neighbours = (reach + 1 + rows - 1) / rows;
    division->input_ring = gc_smaller(2 * division->neighbours + moving, division->bands);
    division->output_ring = gc_smaller(moving, division->bands);
    if (problem->chain.border == GCONV_BORDER_WRAP)
        division->input_ring = division->bands;
}

void gc_division_choose(gc_division *division, const gc_problem *problem, const gc_stages *stages,
                        int threads, bool in_place)
{
    *division = (gc_division){.problem = problem};
    choose_panels(division, stages);
    choose_bands(division, stages, threads, in_place);
    gc_division_limit(division, stages, 0, problem->chain.height);
}

/* ---- A part of the image --------------------------------------------------------------------- */

/* The first row, and the row behind the last one, that output rows [top, bottom) are computed
 * from. */
static void choose_input(gc_division *division)
{
    const gc_chain *chain = &division->problem->chain;
    int64_t first = division->top, last = division->bottom - 1;
    if (gc_detects(&division->problem->detector))
        gc_detector_range(chain, &division->problem->detector, &first, &last);
    for (int s = chain->step_count - 1; s >= 0; s--)
        gc_step_range(chain, &chain->steps[s], first, last, &first, &last);
    bool wraps = chain->border == GCONV_BORDER_WRAP;
    division->from = wraps ? 0 : first;
    division->to = wraps ? chain->height : last + 1;
}

void gc_division_limit(gc_division *division, const gc_stages *stages, int64_t first, int64_t end)
{
    const gc_problem *problem = division->problem;
    /* Tiles are counted from the top of a band, and all stages take their rows in multiples of
     * rows_at_once. Tiles in earlier stages depend on the whole band. */
    int64_t granule = places_tiles(problem, stages) ? division->rows : stages->rows_at_once;
    int64_t rows = division->rows;
    division->first = first / rows;
    division->end = (end + rows - 1) / rows;
    int64_t last_top = (division->end - 1) * rows;
    division->top = first - first % rows % granule;
    division->bottom = gc_smaller(last_top + gc_smaller(round_up(end - last_top, granule), rows),
                                  problem->chain.height);
    choose_input(division);
    division->read_first = division->from / rows;
    division->read_end = (division->to + rows - 1) / rows;
}

gc_area gc_division_area(const gc_division *division, int64_t band, int64_t panel)
{
    int64_t top = band * division->rows, first = panel * division->columns;
    bool is_last = panel + 1 == division->panels;
    return (gc_area){.top = gc_larger(top, division->top),
                     .bottom = gc_smaller(top + division->rows, division->bottom),
                     .first = first,
                     .end = is_last ? division->problem->chain.width : first + division->columns};
}
