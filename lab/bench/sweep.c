#include "lab/bench/sweep.h"

#include "base/clock.h"
#include "base/status.h"
#include "cli/image/verify.h"
#include "cli/measure/figures.h"
#include "cli/measure/traffic.h"
#include "cli/options/effects.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/progress.h"
#include "lab/bench/baseline.h"
#include "lab/bench/beside.h"
#include "lab/bench/inputs.h"
#include "lab/bench/measure.h"
#include "lab/bench/presets.h"
#include "lab/bench/theory.h"
#include "lab/bench/transforms.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The image with odd sides on which every result is checked first. */
enum { CHECKED_WIDTH = 257, CHECKED_HEIGHT = 131 };

/* ---- One point ------------------------------------------------------------------------------- */

/* Fewer runs say nothing of how they spread, and a ratio of them is rough. */
enum { RUNS_MIN = 3 };

/* The time that is left, shared by the points that are left. If none is left, a part of the share
 * that each would have, so that what is fast runs several times. */
static gc_budget next_budget(const gc_sweep *s)
{
    double left = s->seconds - (gc_seconds() - s->begin),
           least = s->seconds / (double)s->count / 10;
    return (gc_budget){.seconds = fmax(left / (double)(s->count - s->entry), least),
                       .runs_min = RUNS_MIN};
}

/* Whether one run is known to take too long. The time of the reference is in proportion to the
 * pixels. The reference gives no row before all are computed, so its run cannot be ended early. */
static bool is_hopeless(const gc_sweep *s, const gc_expectation *expectation, const char *name)
{
    const gconv_shape *shape = &s->timed.shape;
    double ratio = (double)shape->width * shape->height / (CHECKED_WIDTH * CHECKED_HEIGHT);
    return strcmp(name, "reference") == 0 && expectation->seconds * ratio > s->limit;
}

static void compare_with_baseline(const gc_sweep *s, gc_point *point)
{
    double most = s->session->options->measure.fail_above;
    const gc_point *before = gc_points_find(&s->baseline, point, true);
    if (before == NULL || point->runs == 0)
        return;
    point->has_baseline = true;
    point->change = gc_baseline_change(point, before);
    point->slower = most >= 0 && gc_baseline_is_slower(point, before, most);
}

/* The bound of De Smet 2011 for the bandwidth that the first case measures on the device. */
static double predict_transform(const gc_sweep *s, const gc_point *point)
{
    for (size_t i = 0; i < s->points.count; i++)
        if (s->points.at[i].width == 1 &&
            strcmp(s->points.at[i].implementation, point->implementation) == 0)
            return gc_locality_flops(point->width,
                                     gc_transforms_bandwidth(s->points.at[i].values_a_second));
    return 0;
}

/* What the source of the preset predicts for this device. */
static double predict(const gc_sweep *s, const gc_point *point)
{
    const char *name = s->session->options->measure.preset;
    const gc_preset *preset = name != NULL ? gc_preset_named(name, NULL) : NULL;
    if (preset == NULL || !preset->has_theory)
        return 0;
    if (preset->has_transforms)
        return predict_transform(s, point);
    double intensity = gc_kth_intensity(point->implementation, point->filter_width,
                                        point->filter_height, point->factor);
    return gc_roof_at(gc_roofs_of(&s->machine.gpu), intensity);
}

/* Adds to a point that was timed what is computed from others. */
static void compare_point(const gc_sweep *s, gc_point *point)
{
    if (point->too_long && gc_point_is_right(point))
        gc_fail(&point->reason, GCONV_ERROR_LIMIT, "one run takes longer than --time");
    if (point->runs > 0)
        point->theory = predict(s, point);
    if (point->runs > 0 && !gc_is_cuda(point->implementation))
        point->roofline = gc_roof_at(s->machine.cpu, point->intensity);
    compare_with_baseline(s, point);
}

/* Times again what seems slower than the baseline, until it does not or three measurements agree.
 * The time that this takes is not counted. */
static gconv_status measure_again(gc_sweep *s, const gc_subject *subject, gc_budget budget,
                                  gc_point *point, gconv_error *error)
{
    enum { TIMES = 2, AGAIN_MIN = 5 };
    gconv_status status = GCONV_OK;
    double begin = gc_seconds();
    budget.runs_min = AGAIN_MIN;
    compare_point(s, point);
    for (int i = 0; status == GCONV_OK && point->slower && i < TIMES; i++) {
        point->runs = 0;
        point->slower = false;
        status = s->transforms != NULL
                     ? gc_time_transforms(s->transforms, point->width, budget, point, error)
                     : gc_time(subject, &s->timed, budget, s->limit, point, error);
        compare_point(s, point);
    }
    s->begin += gc_seconds() - begin;
    return status;
}

/* Checks one implementation on the subject's chain and times it. */
static gconv_status measure_point(gc_sweep *s, gc_subject *subject, const char *name,
                                  const gc_expectation *expectation, gc_point *point,
                                  gconv_error *error)
{
    subject->entry = s->entry;
    gconv_status status =
        gc_check(subject, name, &s->checked, &s->timed, expectation, point, error);
    gc_budget budget = next_budget(s);
    point->too_long = is_hopeless(s, expectation, name);
    if (status == GCONV_OK && gc_point_is_right(point) && !point->too_long)
        status = gc_time(subject, &s->timed, budget, s->limit, point, error);
    GC_THEN(status, measure_again(s, subject, budget, point, error));
    s->begin += point->compile_seconds; /* not counted */
    return status;
}

/* Measures transforms of lines, which may be of one point, by one implementation. */
static gconv_status measure_transform(gc_sweep *s, const char *name, gc_point *point,
                                      gconv_error *error)
{
    const gc_subject subject = {.session = s->session, .entry = s->entry, .entry_count = s->count};
    gc_point_set_name(point, name);
    gc_subject_begin_progress(&subject, name);
    gc_budget budget = next_budget(s);
    GC_TRY(gc_time_transforms(s->transforms, point->width, budget, point, error));
    return measure_again(s, &subject, budget, point, error);
}

/* Whether a point is of the reference, on whichever machine. */
static bool is_reference(const gc_point *point)
{
    return strcspn(point->name, "@") == strlen("reference") &&
           strncmp(point->name, "reference", strlen("reference")) == 0;
}

/* Whether ratios of a point say little: it has few runs, or passes for border and conversion, whose
 * times are taken off with their errors, take most of its kernels' time. */
static bool is_rough(const gc_point *point)
{
    return !gc_point_is_published(point) &&
           (point->runs < RUNS_MIN || 2 * gc_point_counted_seconds(point) < point->kernel_seconds);
}

/* Fills the speed-ups of a point over the first `count` of others on the same image and filter,
 * and says to the table whether they are rough. */
static void compare_with_others(gc_sweep *s, const gc_points *others, size_t count, gc_point *point)
{
    double seconds = gc_point_counted_seconds(point);
    bool is_first = true, rough = is_rough(point);
    s->table.rough_speed_up = s->table.rough_step = false;
    point->speed_up = point->step_speed_up = 0;
    for (size_t i = count; point->runs > 0 && i > 0; i--) {
        const gc_point *other = &others->at[i - 1];
        gc_point same = *other;
        memcpy(same.name, point->name, sizeof same.name);
        if (!gc_point_is_same(&same, point))
            break;
        if (other->runs == 0)
            continue;
        if (is_first) {
            point->step_speed_up = gc_point_counted_seconds(other) / seconds;
            s->table.rough_step = rough || is_rough(other);
        }
        is_first = false;
        if (is_reference(other)) {
            point->speed_up = other->seconds / seconds;
            s->table.rough_speed_up = rough || is_rough(other);
        }
    }
}

/* Adds a point to those of this run and prints it. */
static gconv_status add_point(gc_sweep *s, gc_point *point, gconv_error *error)
{
    compare_with_others(s, &s->points, s->points.count, point);
    s->wrong = s->wrong || point->verdict == GC_VERDICT_WRONG;
    s->refused = s->refused || point->verdict == GC_VERDICT_UNUSABLE;
    s->slower = s->slower || point->slower;
    s->met |= gc_met_implementation(point->implementation);
    gc_bench_row(&s->table, point);
    return gc_points_add(&s->points, point, error);
}

/* Adds a point that was measured now. */
static gconv_status add_measured(gc_sweep *s, gc_point *point, gconv_error *error)
{
    gconv_status status = GCONV_OK;
    if (s->resume.descriptor >= 0)
        status = gc_resume_add(&s->resume, point, error);
    gc_progress_clear();
    gc_note_compilation(point);
    return status == GCONV_OK ? add_point(s, point, error) : status;
}

/* ---- One case -------------------------------------------------------------------------------- */

/* The point of the file of --resume for this implementation and the case `next`; NULL if there is
 * none. */
static const gc_point *find_kept(const gc_sweep *s, gc_point next, const char *name)
{
    snprintf(next.name, sizeof next.name, "%s", name);
    return gc_points_find(&s->resume.kept, &next, false);
}

static gconv_status add_kept(gc_sweep *s, const gc_point *kept, gconv_error *error)
{
    gc_point point = *kept;
    compare_with_baseline(s, &point);
    gc_progress_clear();
    return add_point(s, &point, error);
}

/* Whether an implementation is measured on the case of a point. */
static bool is_wanted(const gc_sweep *s, const gc_point *point, const char *name)
{
    if (s->session->options->measure.preset != NULL &&
        gc_preset_named(s->session->options->measure.preset, NULL)->has_transforms)
        return gc_transforms_wants(name, point->width);
    return gc_preset_measures(s->session->options, name, point->rank1);
}

/* How many points of the case are to be measured. */
static int count_points(const gc_sweep *s, const gc_point *next)
{
    int count = 0;
    for (int i = 0; i < s->name_count; i++)
        count += is_wanted(s, next, s->names[i]) && find_kept(s, *next, s->names[i]) == NULL;
    return count;
}

/* What the implementations are measured on. */
typedef struct trial {
    gc_subject subject;
    gc_session session; /* of the subject: each implementation has its own tiling */
    gc_expectation expectation;
    gc_spots spots;
} trial;

/* Measures one implementation on the case, which is one of transforms if `t` is NULL. */
static gconv_status measure_name(gc_sweep *s, trial *t, const char *name, gconv_error *error)
{
    gc_point point = s->next;
    gconv_status status;
    if (t != NULL) {
        gconv_tiling tiling = gc_preset_tiling(s->session->options, name);
        t->session.job.tiling = &tiling;
        status = measure_point(s, &t->subject, name, &t->expectation, &point, error);
    } else {
        status = measure_transform(s, name, &point, error);
    }
    s->entry++;
    gc_counts_add(false, false);
    return status == GCONV_OK ? add_measured(s, &point, error) : status;
}

/* Prints those of the points that are of the case, compared with each other. */
static void show_beside(gc_sweep *s, const gc_points *beside)
{
    for (size_t i = 0; i < beside->count && gc_bench_is_text(&s->table); i++) {
        gc_point other = beside->at[i], same = s->next;
        memcpy(same.name, other.name, sizeof same.name);
        if (other.runs == 0 || !gc_point_is_same(&other, &same))
            continue;
        compare_with_others(s, beside, i, &other);
        gc_progress_clear();
        gc_bench_row(&s->table, &other);
    }
}

/* Adds the points of all implementations: those that are kept, and what is measured now. */
static gconv_status measure_names(gc_sweep *s, trial *t, gconv_error *error)
{
    gconv_status status = GCONV_OK;
    for (int i = 0; status == GCONV_OK && i < s->name_count; i++) {
        const gc_point *kept = find_kept(s, s->next, s->names[i]);
        if (is_wanted(s, &s->next, s->names[i]))
            status =
                kept != NULL ? add_kept(s, kept, error) : measure_name(s, t, s->names[i], error);
    }
    if (status == GCONV_OK) {
        show_beside(s, &s->beside);
        show_beside(s, &s->published);
    }
    return status;
}

/* Measures the chain of a session. */
static gconv_status measure_chain(gc_sweep *s, const gc_session *session, gconv_error *error)
{
    trial t = {.subject = {.session = &t.session,
                           .alpha = GCONV_ALPHA_KEEP,
                           .entry = s->entry,
                           .entry_count = s->count,
                           .judge = gc_judge_spots,
                           .user = &t.spots},
               .session = *session};
    gc_spots_choose(s->timed.shape.width, s->timed.shape.height,
                    gc_filter_chain_taps(&session->chain), &t.spots);
    gconv_status status = gc_expect(&t.subject, &s->checked, &t.expectation, error);
    GC_THEN(status, measure_names(s, &t, error));
    gc_results_free(&t.expectation.of);
    return status;
}

/* Measures one filter in the place of the session's chain. */
static gconv_status measure_filter(gc_sweep *s, gc_timed_filter wanted, gconv_error *error)
{
    gconv_filter *filter;
    GC_TRY(gc_timed_filter_make(wanted, &filter, error));
    gc_session session = *s->session;
    session.chain = (gc_filter_chain){.filters = &filter, .count = 1};
    session.job.filters = (const gconv_filter *const *)session.chain.filters;
    session.job.filter_count = 1;
    session.job.output = GCONV_OUTPUT_SAMPLES;
    gconv_status status = measure_chain(s, &session, error);
    gconv_filter_free(filter);
    return status;
}

/* Makes the images of the case, unless the case before had the same. */
static gconv_status make_images(gc_sweep *s, const gc_case *one, gconv_error *error)
{
    const gconv_shape *shape = &s->timed.shape;
    bool same = s->checked.samples != NULL && shape->width == (uint32_t)one->width &&
                shape->height == (uint32_t)one->height && shape->channels == one->kind->channels &&
                shape->depth == one->kind->depth;
    if (same)
        return GCONV_OK;
    gc_picture_destroy(&s->timed);
    gc_picture_destroy(&s->checked);
    GC_TRY(gc_synthetic_picture((uint32_t)one->width, (uint32_t)one->height, one->kind, &s->timed,
                                error));
    return gc_synthetic_picture(CHECKED_WIDTH, CHECKED_HEIGHT, one->kind, &s->checked, error);
}

static void describe_case(const gc_sweep *s, const gc_case *one, gc_point *point)
{
    gc_case_describe(one, s->session->options, &s->session->chain, point);
}

static gconv_status measure_case(gc_sweep *s, const gc_case *one, gconv_error *error)
{
    gconv_status status = GCONV_OK;
    describe_case(s, one, &s->next);
    bool all_kept = count_points(s, &s->next) == 0;
    if (one->is_transform && s->transforms == NULL)
        status = gc_transforms_create(&s->session->job, &s->transforms, error);
    else if (!one->is_transform && !all_kept)
        status = make_images(s, one, error);
    GC_TRY(status);
    if (all_kept || one->is_transform)
        return measure_names(s, NULL, error);
    return one->is_chain ? measure_chain(s, s->session, error)
                         : measure_filter(s, one->filter, error);
}

size_t gc_sweep_count(const gc_sweep *sweep, const gc_points *among)
{
    size_t count = 0;
    gc_point point;
    for (size_t i = 0; i < sweep->cases.count; i++) {
        describe_case(sweep, &sweep->cases.at[i], &point);
        for (int j = 0; j < sweep->name_count; j++) {
            gc_point_set_name(&point, sweep->names[j]);
            count += is_wanted(sweep, &point, sweep->names[j]) &&
                     (among == NULL || gc_points_find(among, &point, true) != NULL);
        }
    }
    return count;
}

void gc_sweep_keep(const gc_sweep *sweep, gc_points *points)
{
    size_t kept = 0;
    for (size_t i = 0; i < points->count; i++) {
        gc_point point;
        bool met = false;
        for (size_t j = 0; j < sweep->cases.count && !met; j++) {
            describe_case(sweep, &sweep->cases.at[j], &point);
            memcpy(point.name, points->at[i].name, sizeof point.name);
            met = gc_point_is_same(&point, &points->at[i]);
        }
        if (met)
            points->at[kept++] = points->at[i];
    }
    points->count = kept;
}

void gc_sweep_plan(const gc_sweep *sweep, size_t *count, double *seconds)
{
    size_t all = gc_sweep_count(sweep, NULL);
    *count = 0;
    for (size_t i = 0; i < sweep->cases.count; i++) {
        gc_point point;
        describe_case(sweep, &sweep->cases.at[i], &point);
        *count += (size_t)count_points(sweep, &point);
    }
    *seconds = all > 0 ? sweep->seconds * (double)*count / (double)all : 0;
}

/* ---- The sweep ------------------------------------------------------------------------------- */

/* Says how many points the file of --resume has. The time for these is not spent on the others. */
static void begin(gc_sweep *s)
{
    size_t all = gc_sweep_count(s, NULL);
    double seconds;
    gc_sweep_plan(s, &s->count, &seconds);
    if (s->count < all)
        gc_say("%s: %zu of %zu measurements are there", s->session->options->measure.resume,
               all - s->count, all);
    s->limit = s->seconds;
    s->seconds = seconds;
    gc_counts_advise(s->session->options->measure.resume != NULL
                         ? "the same command measures the others"
                         : NULL);
    gc_counts_begin("measured", false, s->count);
    s->begin = gc_seconds();
}

gconv_status gc_sweep_run(gc_sweep *sweep, gconv_error *error)
{
    begin(sweep);
    for (size_t i = 0; i < sweep->cases.count; i++)
        GC_TRY(measure_case(sweep, &sweep->cases.at[i], error));
    return GCONV_OK;
}

void gc_sweep_destroy(gc_sweep *sweep)
{
    gc_points_destroy(&sweep->points);
    gc_points_destroy(&sweep->baseline);
    gc_points_destroy(&sweep->beside);
    gc_points_destroy(&sweep->published);
    gc_picture_destroy(&sweep->timed);
    gc_picture_destroy(&sweep->checked);
    gc_transforms_free(sweep->transforms);
}
