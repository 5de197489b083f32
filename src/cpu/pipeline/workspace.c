/* Rows of samples enter the window of the first stage, and results of a stage the window of the
 * next, a few rows at a time. So a chain's intermediate results stay in cache. The first rows of an
 * area repeat some work of the area above, as far as later filters reach. So do the columns at its
 * sides. */
#include "cpu/pipeline/workspace.h"

#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "core/border.h"
#include "core/conversion.h"

#include <stdlib.h>
#include <string.h>

/* Columns [first, end) of the output of stage p: those that the next stage reads. */
static int64_t first_column(const gc_workspace *workspace, int p)
{
    return p + 1 < workspace->stages->count ? workspace->windows[p + 1].first : workspace->first;
}

static int64_t end_column(const gc_workspace *workspace, int p)
{
    return p + 1 < workspace->stages->count ? workspace->windows[p + 1].end : workspace->end;
}

static size_t values_of_stage(const gc_workspace *workspace, int p)
{
    return (size_t)(end_column(workspace, p) - first_column(workspace, p)) *
           (size_t)workspace->problem->chain.channels;
}

/* Columns that any stage computes at once, at most. */
static size_t columns_of_stages(const gc_problem *problem, int64_t columns)
{
    for (int s = 0; s < problem->chain.step_count; s++)
        columns += problem->chain.steps[s].width - 1;
    return (size_t)gc_smaller(columns, problem->chain.width);
}

/* Rows that a stage reads for its output rows, and as many again as loops read beside them. */
static size_t row_pointers(const gc_problem *problem, const gc_stages *stages)
{
    int64_t height = 0;
    for (int s = 0; s < problem->chain.step_count; s++)
        height = gc_larger(height, problem->chain.steps[s].height);
    return (size_t)(height + stages->rows_at_once + GC_ROWS_TOGETHER);
}

/* A window serves as many rows as later stages ask for at once: rows_at_once, and all that they
 * reach. */
static gconv_status create_windows(gc_workspace *workspace, int64_t columns, gconv_error *error)
{
    int64_t at_once = workspace->stages->rows_at_once;
    gconv_status status = GCONV_OK;
    for (int p = workspace->stages->count - 1; status == GCONV_OK && p >= 0; p--) {
        const gc_step *step = workspace->stages->list[p].step;
        columns = gc_smaller(columns + step->width - 1, workspace->problem->chain.width);
        bool bytes = workspace->stages->list[p].takes_bytes;
        status = gc_window_create(&workspace->windows[p], &workspace->problem->chain, step, bytes,
                                  at_once, columns, error);
        at_once += step->height;
    }
    return status;
}

static gconv_status create_kept(gc_workspace *workspace, int64_t columns, gconv_error *error)
{
    size_t count = (size_t)workspace->stages->count;
    workspace->kept = calloc(count, sizeof *workspace->kept);
    workspace->begins = calloc(count, sizeof *workspace->begins);
    GC_TRY_MEMORY(workspace->kept != NULL && workspace->begins != NULL, error,
                  count * sizeof *workspace->kept);
    for (size_t p = 0; p < count; p++) {
        const gc_stage *stage = &workspace->stages->list[p];
        size_t floats =
            stage->kept + stage->kept_of_column * columns_of_stages(workspace->problem, columns);
        workspace->kept[p] = gc_allocate_aligned(floats, sizeof(float));
        GC_TRY_MEMORY(workspace->kept[p] != NULL, error, floats * sizeof(float));
    }
    return GCONV_OK;
}

gconv_status gc_workspace_create(gc_workspace *workspace, const gc_problem *problem,
                                 const gc_stages *stages, int64_t columns, gconv_error *error)
{
    const size_t align = GC_ALIGNMENT / sizeof(float);
    size_t count = (size_t)stages->count;
    size_t rows = (size_t)stages->rows_at_once;
    *workspace = (gc_workspace){.problem = problem, .stages = stages};
    size_t values = (size_t)columns * (size_t)problem->chain.channels;
    workspace->stride = (values + align - 1) / align * align;
    size_t row_bytes = workspace->stride * sizeof *workspace->result;
    workspace->windows = calloc(count, sizeof *workspace->windows);
    workspace->ready = calloc(count, sizeof *workspace->ready);
    workspace->needed = calloc(count, sizeof *workspace->needed);
    workspace->result = gc_allocate_aligned(rows, row_bytes);
    size_t scratch =
        stages->scratch + stages->scratch_of_column * columns_of_stages(problem, columns);
    workspace->scratch = gc_allocate_aligned(scratch, sizeof *workspace->scratch);
    workspace->rows = calloc(row_pointers(problem, stages), sizeof *workspace->rows);
    workspace->bytes = calloc(row_pointers(problem, stages), sizeof *workspace->bytes);
    workspace->out = calloc(rows, sizeof *workspace->out);
    GC_TRY_MEMORY(workspace->windows != NULL && workspace->ready != NULL &&
                      workspace->needed != NULL && workspace->result != NULL &&
                      workspace->scratch != NULL && workspace->rows != NULL &&
                      workspace->bytes != NULL && workspace->out != NULL,
                  error, rows * row_bytes);
    gconv_status status = create_kept(workspace, columns, error);
    if (status == GCONV_OK && stages->pass != NULL)
        status = stages->pass->open(stages->shared, &workspace->pass, error);
    else if (status == GCONV_OK && (stages->once || stages->in_double))
        status = gc_settler_create(&workspace->settler, problem, stages->instructions->taps,
                                   stages->once ? &stages->levels : NULL, error);
    return status == GCONV_OK ? create_windows(workspace, columns, error) : status;
}

void gc_workspace_destroy(gc_workspace *workspace)
{
    for (int p = 0; workspace->windows != NULL && p < workspace->stages->count; p++)
        gc_window_destroy(&workspace->windows[p]);
    for (int p = 0; workspace->kept != NULL && p < workspace->stages->count; p++)
        free(workspace->kept[p]);
    free(workspace->kept);
    free(workspace->begins);
    free(workspace->windows);
    free(workspace->ready);
    free(workspace->needed);
    free(workspace->result);
    free(workspace->scratch);
    if (workspace->pass != NULL)
        workspace->stages->pass->close(workspace->pass);
    gc_settler_destroy(&workspace->settler);
    free(workspace->rows);
    free(workspace->bytes);
    free(workspace->out);
}

/* ---- Samples in, output out ------------------------------------------------------------------ */

/* Loads the columns of the first window from a row of samples. */
static void load_row(const gc_workspace *workspace, const char *samples, void *row)
{
    const gc_problem *problem = workspace->problem;
    const gc_samples_loops *loops = workspace->stages->instructions->samples;
    const gc_window *window = &workspace->windows[0];
    const gconv_shape *shape = &problem->conversion.input;
    bool has_alpha = problem->conversion.keeps_alpha || problem->conversion.premultiplies;
    size_t pixels = (size_t)(window->end - window->first);
    size_t count = pixels * (size_t)problem->chain.channels;
    samples += (size_t)window->first * (size_t)shape->channels * (size_t)shape->depth / 8;
    if (workspace->stages->list[0].takes_bytes)
        memcpy(row, samples, count);
    else if (loops == NULL || shape->depth == 32 || (has_alpha && shape->depth == 16))
        gc_load_pixels(&problem->conversion, samples, pixels, row);
    else if (has_alpha)
        loops->load8_alpha(&problem->conversion, (const uint8_t *)samples, pixels, row);
    else if (shape->depth == 8)
        loops->load8((const uint8_t *)samples, count, row);
    else
        loops->load16((const uint16_t *)(const void *)samples, count, row);
}

/* How chain values become output. */
typedef enum storing {
    STORE_CHAIN,  /* unchanged */
    STORE_LEVELS, /* not black and white, without alpha: in segments */
    STORE_FLAGS,  /* black and white that is rounded once, without alpha: in segments */
    STORE_ALPHA,  /* 8 bits from 8, with alpha: whole rows */
    STORE_ROW     /* all else, by core/conversion.c */
} storing;

static storing choose_storing(const gc_workspace *workspace, const gc_stream *stream)
{
    const gc_conversion *conversion = &workspace->problem->conversion;
    if (stream->chain_only)
        return STORE_CHAIN;
    if (conversion->bilevel && workspace->stages->once && !conversion->keeps_alpha)
        return STORE_FLAGS;
    if (conversion->bilevel || workspace->stages->instructions->samples == NULL)
        return STORE_ROW;
    if (conversion->keeps_alpha || conversion->premultiplies)
        return conversion->output.depth == 8 && conversion->input.depth == 8 ? STORE_ALPHA
                                                                             : STORE_ROW;
    bool unscaled = conversion->divisor == 1 && conversion->scale == 1 && conversion->offset == 0 &&
                    !conversion->absolute;
    return conversion->output.depth == 32 && unscaled ? STORE_CHAIN : STORE_LEVELS;
}

/* ---- Rows through the stages ----------------------------------------------------------------- */

/* Whether the first stage reads rows where the caller has them: chain values of all columns, and at
 * least as many as loops take together, which read nothing beyond then. */
static bool reads_bare_rows(const gc_workspace *workspace)
{
    const gc_problem *problem = workspace->problem;
    const gc_conversion *conversion = &problem->conversion;
    size_t values = (size_t)problem->chain.width * (size_t)problem->chain.channels;
    return workspace->stages->list[0].takes_bare && conversion->input.depth == 32 &&
           !conversion->keeps_alpha && !conversion->premultiplies &&
           problem->chain.border != GCONV_BORDER_CONSTANT &&
           values == values_of_stage(workspace, 0) &&
           values >= (size_t)workspace->stages->instructions->taps->block;
}

/* Row y of the image, which the border extends. */
static const char *samples_at(const gc_workspace *workspace, const gc_sample_rows *input, int64_t y)
{
    y = gc_border_index(workspace->windows->border, y, workspace->windows->height);
    return gc_sample_row(input, y);
}

/* Loads rows into the first window until it holds every row that is needed. */
static void load_rows(gc_workspace *workspace, const gc_sample_rows *input)
{
    const gc_window *window = &workspace->windows[0];
    for (; workspace->ready[0] <= workspace->needed[0]; workspace->ready[0]++) {
        load_row(workspace, samples_at(workspace, input, workspace->ready[0]),
                 gc_window_row(window, workspace->ready[0]));
        gc_window_extend(window, workspace->ready[0]);
    }
}

/* The first value that the taps of filter row r of stage `p` read for value `first` of output row
 * y: a float, or a byte. */
static const void *taps_at(const gc_workspace *workspace, int p, int64_t y, int r, size_t first)
{
    const gc_window *window = &workspace->windows[p];
    y += r - window->step->top;
    if (p == 0 && workspace->bare != NULL)
        return samples_at(workspace, workspace->bare, y);
    const char *row = gc_window_taps(window, first_column(workspace, p), y);
    return row + first * window->sample;
}

/* The input of rows y to y + count - 1 of what stage `p` computes, from value `first` on. If loops
 * read more rows than these, the last row stands for the others. */
static gc_stage_input input_of(const gc_workspace *workspace, int p, int64_t y, int count,
                               size_t first)
{
    const gc_stage *stage = &workspace->stages->list[p];
    int needed = stage->step->height + count - 1;
    int readable = (stage->solver->tiled ? needed : stage->step->height) + GC_ROWS_TOGETHER - 1;
    for (int r = 0; r < needed || r < readable; r++) {
        const void *row = taps_at(workspace, p, y, r < needed ? r : needed - 1, first);
        if (stage->takes_bytes)
            workspace->bytes[r] = row;
        else
            workspace->rows[r] = row;
    }
    return (gc_stage_input){
        .rows = workspace->rows,
        .bytes = workspace->bytes,
        .beside = p == 0 && workspace->bare != NULL ? workspace->windows[0].sources : NULL,
        .scratch = workspace->scratch,
        .kept = workspace->kept[p],
        .begins = workspace->begins[p]};
}

/* Computes rows y to y + count - 1 of stage `p`, at most its rows_at_once: values `first` to `first
 * + values - 1` of the area's columns. A tiled stage computes all columns. */
static void convolve(const gc_workspace *workspace, int p, int64_t y, int count, size_t first,
                     size_t values, float *const *out)
{
    const gc_stage *stage = &workspace->stages->list[p];
    gc_stage_input input = input_of(workspace, p, y, count, first);
    stage->solver->run(stage, &input, values, count, out);
    workspace->begins[p] = false;
}

/* Fills window p until it holds every row that is needed. */
static void fill_window(gc_workspace *workspace, int p)
{
    while (workspace->ready[p] <= workspace->needed[p]) {
        int64_t y = workspace->ready[p];
        int count = (int)gc_smaller(workspace->needed[p] - y + 1,
                                    workspace->stages->list[p - 1].rows_at_once);
        for (int o = 0; o < count; o++)
            workspace->out[o] = gc_window_row(&workspace->windows[p], y + o);
        convolve(workspace, p - 1, y, count, 0, values_of_stage(workspace, p - 1), workspace->out);
        for (int o = 0; o < count; o++)
            gc_window_extend(&workspace->windows[p], y + o);
        workspace->ready[p] += count;
    }
}

/* Fills every window until the last stage can compute output rows up to `last`. */
static void advance(gc_workspace *workspace, const gc_sample_rows *input, int64_t first,
                    int64_t last)
{
    int64_t ignored;
    for (int p = workspace->stages->count - 1; p >= 0; p--) {
        gc_step_range(&workspace->problem->chain, workspace->stages->list[p].step, first, last,
                      &ignored, &workspace->needed[p]);
        first = workspace->ready[p];
        last = workspace->needed[p];
    }
    if (workspace->bare == NULL)
        load_rows(workspace, input);
    for (int p = 1; p < workspace->stages->count; p++)
        fill_window(workspace, p);
}

/* Sets the beginning of the windows: the first rows and the columns that the area depends on. */
static void begin(gc_workspace *workspace, gc_area area)
{
    int64_t first = area.top, last = area.bottom - 1;
    workspace->first = area.first;
    workspace->end = area.end;
    for (int p = workspace->stages->count - 1; p >= 0; p--) {
        gc_step_range(&workspace->problem->chain, workspace->stages->list[p].step, first, last,
                      &workspace->ready[p], &last);
        first = workspace->ready[p];
        workspace->begins[p] = true;
        gc_window_hold(&workspace->windows[p], first_column(workspace, p),
                       end_column(workspace, p));
    }
}

/* Stores pixels of output row y from pixel `first` on, from chain values `row`. If `near` is not
 * NULL, it gets bits of the values that are doubtful. */
static void store_pixels(const gc_workspace *workspace, const gc_stream *stream, storing how,
                         int64_t y, size_t first, size_t pixels, const float *row, char *output,
                         uint64_t *near)
{
    const gc_conversion *conversion = &workspace->problem->conversion;
    if (how == STORE_ALPHA) {
        const gc_kept_samples kept = {gc_kept_alpha_at(&stream->alpha, (uint32_t)y, first),
                                      (float)workspace->stages->levels.error, near};
        workspace->stages->instructions->samples->store8_alpha(
            conversion, row, pixels, &kept,
            (uint8_t *)output + first * (size_t)conversion->output.channels);
        return;
    }
    gc_stream_store_pixels(stream, (uint32_t)y, first, pixels, row, output);
    uint8_t ignored[GC_SETTLE_VALUES];
    if (near != NULL)
        gc_find_doubtful(&workspace->settler, row, pixels * (size_t)conversion->chain_channels,
                         near, ignored);
}

/* As below, rounded once. Parts of a row end with a word of bits, a pixel and a byte. */
static void store_once(gc_workspace *workspace, const gc_stream *stream, storing how, int64_t y,
                       size_t first, size_t count, const float *row, char *output)
{
    const gc_stages *stages = workspace->stages;
    const gc_conversion *conversion = &workspace->problem->conversion;
    size_t channels = (size_t)workspace->problem->chain.channels;
    size_t most = GC_SETTLE_VALUES / (64 * channels) * 64 * channels;
    for (size_t part; count > 0; first += part, count -= part, row += part) {
        uint64_t near[GC_SETTLE_VALUES / 64];
        uint8_t flags[GC_SETTLE_VALUES];
        part = count < most ? count : most;
        if (stages->rounds_values) {
            if (conversion->keeps_alpha)
                store_pixels(workspace, stream, how, y, first / channels, part / channels, row,
                             output, NULL);
            memset(near, -1, sizeof near);
            if (part % 64 != 0)
                near[part / 64] = ((uint64_t)1 << part % 64) - 1;
        } else if (how == STORE_LEVELS) {
            stages->instructions->samples->store8_near(conversion, (float)stages->levels.error, row,
                                                       part, (uint8_t *)output + first, near);
        } else if (how == STORE_FLAGS) {
            gc_find_doubtful(&workspace->settler, row, part, near, flags);
            gc_store_flags(conversion, flags, first, part, output);
        } else {
            store_pixels(workspace, stream, how, y, first / channels, part / channels, row, output,
                         near);
        }
        gc_settle(&workspace->settler, y, first, part, row, near, output);
    }
}

/* Stores `count` values of output row y from value `first` on. */
static void store_values(gc_workspace *workspace, const gc_stream *stream, storing how, int64_t y,
                         size_t first, size_t count, const float *row, char *output)
{
    size_t channels = (size_t)workspace->problem->chain.channels;
    const gc_conversion *conversion = &workspace->problem->conversion;
    if (workspace->stages->once)
        store_once(workspace, stream, how, y, first, count, row, output);
    else if (how == STORE_LEVELS)
        workspace->stages->instructions->samples->store(
            conversion, row, count, output + first * (size_t)conversion->output.depth / 8);
    else
        store_pixels(workspace, stream, how, y, first / channels, count / channels, row, output,
                     NULL);
}

/* Computes rows y to y + count - 1 of output, at most the last stage's rows_at_once. Levels are
 * computed segment by segment, so that each is converted while it is in the first-level cache. */
static void finish_rows(gc_workspace *workspace, const gc_stream *stream, int64_t y, int count,
                        char *output, size_t stride)
{
    storing how = choose_storing(workspace, stream);
    int last = workspace->stages->count - 1;
    size_t values = values_of_stage(workspace, last);
    size_t before = (size_t)workspace->first * (size_t)workspace->problem->chain.channels;
    bool in_segments =
        (how == STORE_LEVELS || how == STORE_FLAGS) && !workspace->stages->list[last].solver->tiled;
    size_t segment = in_segments ? GC_SEGMENT_VALUES : values;
    for (int o = 0; o < count; o++)
        workspace->out[o] = how == STORE_CHAIN
                                ? (float *)(void *)(output + (size_t)o * stride) + before
                                : workspace->result + (size_t)o * workspace->stride;
    for (size_t first = 0; first < values; first += segment) {
        size_t width = values - first < segment ? values - first : segment;
        convolve(workspace, last, y, count, first, width, workspace->out);
        for (int o = 0; o < count && how != STORE_CHAIN; o++)
            store_values(workspace, stream, how, y + o, before + first, width, workspace->out[o],
                         output + (size_t)o * stride);
    }
}

/* Computes output rows `first` to `last`: as many as all stages together find cheapest. The last
 * stage may take them in several parts. */
static void finish_together(gc_workspace *workspace, const gc_stream *stream, int64_t first,
                            int64_t last, char *output, size_t stride)
{
    int rows = workspace->stages->list[workspace->stages->count - 1].rows_at_once;
    for (int64_t y = first; y <= last; y += rows)
        finish_rows(workspace, stream, y, (int)gc_smaller(last - y + 1, rows),
                    output + (size_t)(y - first) * stride, stride);
}

static void compute_stages(gc_workspace *workspace, const gc_stream *stream,
                           const gc_sample_rows *input, gc_area area, char *output, size_t stride)
{
    begin(workspace, area);
    workspace->bare = reads_bare_rows(workspace) ? input : NULL;
    for (int64_t y = area.top; y < area.bottom; y += workspace->stages->rows_at_once) {
        int64_t last = gc_smaller(y + workspace->stages->rows_at_once, area.bottom) - 1;
        advance(workspace, input, y, last);
        finish_together(workspace, stream, y, last, output + (size_t)(y - area.top) * stride,
                        stride);
    }
}

static void compute_chain(void *workspace, const gc_sample_rows *input, gc_area area, float *out,
                          size_t stride)
{
    const gc_stream stream = {.chain_only = true};
    compute_stages(workspace, &stream, input, area, (char *)out, stride);
}

/* Output of this size goes past the caches. */
enum { LARGE_BYTES = 8 << 20 };

void gc_workspace_compute(gc_workspace *workspace, const gc_stream *stream,
                          const gc_sample_rows *input, gc_area area, char *output, size_t stride)
{
    size_t bytes = stream->output_bytes * workspace->problem->chain.height;
    const gc_pass_job job = {.input = *input,
                             .area = area,
                             .output = output,
                             .stride = stride,
                             .chain_only = stream->chain_only,
                             .is_large = stream->result.next != NULL && bytes > LARGE_BYTES,
                             .chain = compute_chain,
                             .workspace = workspace};
    if (workspace->pass != NULL && workspace->stages->pass->run(workspace->pass, &job))
        return;
    workspace->settler.input = input;
    if (workspace->stages->in_double && !stream->chain_only) {
        gc_settle_area(&workspace->settler, area, output, stride);
        return;
    }
    compute_stages(workspace, stream, input, area, output, stride);
}
