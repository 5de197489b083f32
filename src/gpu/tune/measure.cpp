/* Timing a kernel of a search. */
#include "gpu/device/check.cuh"
#include "gpu/tune/tuner.cuh"

extern "C" {
#include "base/clock.h"
}

#include <algorithm>

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
        GC_TRY(launch_all(s, contender, GC_TUNER_RUNS, false, error));
        GC_CUDA_TRY(error, cudaStreamSynchronize(s->tuner->stream));
    } while (gc_seconds() < end);
    return GCONV_OK;
}

gconv_status gc_search_measure(const gc_search *s, const gc_contender &contender, int runs,
                               double *microseconds, gconv_error *error)
{
    const gc_tuner *tuner = s->tuner;
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
