/* One search: candidates are compiled, checked and timed, and the fastest is the result. */
#include "gpu/device/check.cuh"
#include "gpu/tune/tuner.cuh"

extern "C" {
#include "base/cache.h"
#include "base/clock.h"
#include "base/processors.h"
#include "base/threads.h"
}

#include <algorithm>
#include <cstdlib>
#include <pthread.h>

enum { FINALISTS = 3, RUNS_OF_SLOW = 5 };

/* A contender that takes so many times as long as the fastest one is slow. */
static const double slow = 1.3;

/* ---- Timing ---------------------------------------------------------------------------------- */

/* Seconds of work before a measurement, because idle devices clock down. */
static const double warm_up_seconds = 0.02;

/* Launches the kernel `runs` times, each time on another set of planes. */
static gconv_status launch_all(const gc_search *s, const gc_contender &contender, int runs,
                               bool records, gconv_error *error)
{
    const gc_tuner *tuner = s->tuner;
    int sets = tuner->sets * (int)(sizeof(float) / gc_tuner_sample_bytes(s->layout.input));
    gc_tuner_view plane = gc_tuner_plane(tuner);
    for (int i = 0; i < runs; i++) {
        GC_TRY(gc_contender_launch(s, contender, plane, i % sets, error));
        if (records)
            GC_CUDA_TRY(error, cudaEventRecord(tuner->events[i + 1], tuner->stream));
    }
    return GCONV_OK;
}

static gconv_status warm_up(const gc_search *s, const gc_contender &contender, gconv_error *error)
{
    double end = gc_seconds() + warm_up_seconds;
    do {
        GC_TRY(launch_all(s, contender, RUNS_OF_SLOW, false, error));
        GC_CUDA_TRY(error, cudaStreamSynchronize(s->tuner->stream));
    } while (gc_seconds() < end);
    return GCONV_OK;
}

/* Sets *microseconds to the median time of `runs` launches, from the end of one to the end of the
 * next. */
static gconv_status time_alone(const gc_search *s, const gc_contender &contender, int runs,
                               double *microseconds, gconv_error *error)
{
    const gc_tuner *tuner = s->tuner;
    if (runs > RUNS_OF_SLOW) /* before so few, the check has just run the kernel */
        GC_TRY(warm_up(s, contender, error));
    GC_CUDA_TRY(error, cudaEventRecord(tuner->events[0], tuner->stream));
    GC_TRY(launch_all(s, contender, runs, true, error));
    GC_CUDA_TRY(error, cudaStreamSynchronize(tuner->stream));
    float milliseconds[GC_TUNER_RUNS_OF_FINALISTS];
    for (int i = 0; i < runs; i++)
        GC_CUDA_TRY(error,
                    cudaEventElapsedTime(&milliseconds[i], tuner->events[i], tuner->events[i + 1]));
    std::nth_element(milliseconds, milliseconds + runs / 2, milliseconds + runs);
    *microseconds = 1e3 * (double)milliseconds[runs / 2];
    return GCONV_OK;
}

/* The same. Meanwhile no kernel is loaded, for which a launch might wait. */
static gconv_status measure(const gc_search *s, const gc_contender &contender, int runs,
                            double *microseconds, gconv_error *error)
{
    gc_jit_hold_loads(true);
    gconv_status status = time_alone(s, contender, runs, microseconds, error);
    gc_jit_hold_loads(false);
    return status;
}

/* Searches of several processes take turns on the device while they check and time. (So does
 * whoever keeps what was found: the cache has only one lock.) */
struct turn {
    int lock = -1;

    turn()
    {
        gconv_error ignored;
        if (gc_cache_lock(&lock, &ignored) != GCONV_OK)
            lock = -1;
    }
    ~turn()
    {
        if (lock >= 0)
            gc_cache_unlock(lock);
    }
    turn(const turn &) = delete;
    turn &operator=(const turn &) = delete;
};

/* ---- Candidates ------------------------------------------------------------------------------ */

/* Contenders that helpers compile in order, while those before them are timed: compiling takes
 * longer than everything else. */
struct compilation {
    gc_search *of;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t one_more = PTHREAD_COND_INITIALIZER;
    int next, end; /* contenders: a thread takes `next` */
    bool compiled[GC_CANDIDATES_MAX] = {};
    gconv_status status = GCONV_OK; /* of the trials */
    gconv_error *error;

    compilation(gc_search *of, int first, int end, gconv_error *error)
        : of(of), next(first), end(end), error(error)
    {
    }
};

/* Takes the next contender, if there is one, and compiles it: true. */
static bool compile_one(compilation *work)
{
    gc_search *s = work->of;
    pthread_mutex_lock(&work->lock);
    int i = work->next < work->end ? work->next++ : -1;
    pthread_mutex_unlock(&work->lock);
    if (i < 0)
        return false;
    gc_contender_compile(s, s->tunings[i], &s->contenders[i]);
    pthread_mutex_lock(&work->lock);
    work->compiled[i] = true;
    pthread_cond_broadcast(&work->one_more);
    pthread_mutex_unlock(&work->lock);
    return true;
}

static bool is_compiled(compilation *work, int i)
{
    pthread_mutex_lock(&work->lock);
    bool compiled = work->compiled[i];
    pthread_mutex_unlock(&work->lock);
    return compiled;
}

/* Returns when contender i is compiled. Until then the caller compiles, too. */
static void await_compiled(compilation *work, int i)
{
    while (!is_compiled(work, i) && compile_one(work))
        continue;
    pthread_mutex_lock(&work->lock);
    while (!work->compiled[i])
        pthread_cond_wait(&work->one_more, &work->lock);
    pthread_mutex_unlock(&work->lock);
}

/* Null if all were left out. */
static gc_contender *fastest_of(gc_search *s, bool warps_too)
{
    gc_contender *fastest = nullptr;
    for (int i = 0; i < s->count; i++) {
        gc_contender *c = &s->contenders[i];
        if (c->microseconds > 0 && (warps_too || s->tunings[i].form != GC_FORM_WARP) &&
            (fastest == nullptr || c->microseconds < fastest->microseconds))
            fastest = c;
    }
    return fastest;
}

/* A few runs are enough for a contender that is slow. */
static gconv_status time_contender(gc_search *s, gc_contender *c, gconv_error *error)
{
    GC_TRY(measure(s, *c, RUNS_OF_SLOW, &c->microseconds, error));
    const gc_contender *fastest = fastest_of(s, true);
    if (fastest != nullptr && c->microseconds > slow * fastest->microseconds)
        return GCONV_OK;
    return measure(s, *c, GC_TUNER_RUNS, &c->microseconds, error);
}

static gconv_status try_contender(gc_search *s, gc_contender *c, gconv_error *error)
{
    bool right = false;
    if (c->compiled != GCONV_OK) {
        *error = c->why;
        return c->compiled;
    }
    turn own;
    GC_TRY(gc_search_check(s, *c, &right, error));
    return right ? time_contender(s, c, error) : GCONV_OK;
}

static gconv_status try_compiled(compilation *work, int tuning_count, gconv_error *error)
{
    gc_search *s = work->of;
    gconv_tuning_result *result = s->result;
    for (; s->count < tuning_count; s->count++) {
        result->finished = s->goes_on(s->user, s->count, tuning_count);
        if (!result->finished)
            return GCONV_OK;
        await_compiled(work, s->count);
        gc_contender *c = &s->contenders[s->count];
        gconv_status status = try_contender(s, c, error);
        /* A kernel that does not compile or cannot be launched does no harm. A kernel that broke
         * down makes the device unusable. */
        if (status != GCONV_OK &&
            (status != GCONV_ERROR_DEVICE || cudaDeviceSynchronize() != cudaSuccess))
            return status;
        if (status != GCONV_OK)
            c->microseconds = 0;
        result->tried++;
        result->left_out += c->microseconds == 0;
    }
    return GCONV_OK;
}

/* The thread that searches tries what helpers compile. What none has begun to compile at its end is
 * left. */
static void take_part(void *opaque, int member)
{
    compilation *work = (compilation *)opaque;
    if (member > 0) {
        cudaSetDevice(work->of->tuner->device.index);
        while (compile_one(work))
            continue;
        return;
    }
    work->status = try_compiled(work, work->end, work->error);
    pthread_mutex_lock(&work->lock);
    work->end = work->next;
    pthread_mutex_unlock(&work->lock);
}

/* One processor is left to the thread that times. */
static gconv_status try_all(gc_search *s, int tuning_count, gconv_error *error)
{
    compilation work(s, s->count, tuning_count, error);
    int threads = std::min(gc_processor_count(), tuning_count - s->count + 1);
    gc_team_run(threads, true, take_part, &work);
    return work.status;
}

static void set_result(gc_search *s, const gc_tuning &best, double microseconds,
                       double untuned_microseconds)
{
    const gc_layout &layout = s->layout;
    *s->best = {layout.width, layout.height, layout.input, layout.output, best, microseconds, ""};
    s->result->form = gc_form_name(best.form);
    s->result->schedule = gc_schedule_name(best.schedule);
    s->result->rows = best.rows;
    s->result->warps = best.warps;
    s->result->tiles = best.tiles;
    s->result->seconds = 1e-6 * microseconds;
    s->result->untuned_seconds = 1e-6 * untuned_microseconds;
}

/* Times the fastest contenders again, and the tuning that is used untuned, right after each other.
 * The fastest of these is the result. */
static gconv_status decide(gc_search *s, gconv_error *error)
{
    gc_contender *winner = nullptr;
    gc_contender *untuned = &s->contenders[0];
    double untuned_microseconds = 0, least = 0;
    turn own;
    if (untuned->microseconds > 0)
        GC_TRY(measure(s, *untuned, GC_TUNER_RUNS_OF_FINALISTS, &untuned_microseconds, error));
    for (int i = 0; i < FINALISTS; i++) {
        gc_contender *next = fastest_of(s, true);
        if (next == nullptr)
            break;
        double microseconds = untuned_microseconds;
        if (next != untuned)
            GC_TRY(measure(s, *next, GC_TUNER_RUNS_OF_FINALISTS, &microseconds, error));
        next->microseconds = 0;
        if (winner == nullptr || microseconds < least) {
            winner = next;
            least = microseconds;
        }
    }
    if (winner == nullptr)
        return gc_fail(error, GCONV_ERROR_DEVICE, "no kernel for filters of %dx%d works",
                       s->layout.width, s->layout.height);
    if (untuned_microseconds > 0 && untuned_microseconds <= least) {
        winner = untuned;
        least = untuned_microseconds;
    }
    set_result(s, s->tunings[winner - s->contenders], least, untuned_microseconds);
    return GCONV_OK;
}

static gconv_status begin(gc_search *s, gconv_error *error)
{
    turn own;
    return gc_search_begin(s, error);
}

static gconv_status run(gc_search *s, gconv_error *error)
{
    const gconv_device_info *device = &s->tuner->device;
    GC_TRY(begin(s, error));
    int count = gc_candidates(device, &s->layout, s->tunings);
    GC_TRY(try_all(s, count, error));
    const gc_contender *fastest = fastest_of(s, false);
    if (s->result->finished && fastest != nullptr) {
        count = gc_candidates_like(device, &s->layout, &s->tunings[fastest - s->contenders],
                                   s->tunings, count);
        GC_TRY(try_all(s, count, error));
    }
    return s->result->finished ? decide(s, error) : GCONV_OK;
}

gconv_status gc_tuner_search(gc_tuner *tuner, const gc_layout *layout,
                             gconv_tuning_goes_on *goes_on, void *user, gconv_tuning_result *result,
                             gc_tuned *best, gconv_error *error)
{
    *result = {};
    size_t size = (size_t)layout->width * (size_t)layout->height;
    gc_owned_array<gc_search> search((gc_search *)calloc(1, sizeof(gc_search)));
    gc_search *s = search;
    size_t count = (size_t)gc_form_weights(layout->tuning.form, layout->width, layout->height);
    gc_owned_array<float> weights((float *)calloc(count, sizeof(float)));
    gc_owned_array<double> taps((double *)calloc(size, sizeof(double)));
    GC_TRY_MEMORY(search != nullptr && weights != nullptr && taps != nullptr, error,
                  sizeof *s + count * sizeof *weights + size * sizeof *taps);
    s->tuner = tuner;
    s->layout = *layout;
    s->goes_on = goes_on;
    s->user = user;
    s->result = result;
    s->best = best;
    s->weights = weights;
    s->taps = taps;
    gconv_status status = run(s, error);
    for (gc_contender &c : s->contenders)
        gc_contender_release(&c);
    return status;
}
