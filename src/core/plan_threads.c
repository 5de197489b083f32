#include "core/plan_threads.h"

#include "base/number.h"
#include "base/processors.h"
#include "core/file_time.h"

/* Multiply-adds from which a second thread pays, for an image that goes from file to file.
 * Measured: edges of 1024x1024 pixels, 40 million, are as fast on one thread as on two. */
static const double work_for_threads = 5e7;

/* Estimated seconds of decoding a PNG from which other threads pay even so: one inflates while
 * another one makes rows, and a third has time to compute. Measured: 512x512 pixels of RGB take 5.5
 * ms on two threads for 7.0 on one, 256x256 as long on both. */
static const double decoding_for_threads = 2e-3;
enum { DECODING_THREADS = 3 };

int gc_threads_alone(const gc_problem *problem)
{
    const gconv_job *job = &problem->job;
    const gconv_shape *shape = &job->input;
    if (job->threads > 0 || !job->between_files || gc_counts_throughput(problem))
        return job->threads;
    double work = gc_chain_work(&problem->chain) * shape->width * shape->height * shape->channels;
    int processors = gc_processor_count();
    if (work >= work_for_threads)
        return processors;
    bool divides = job->source_format == GCONV_FORMAT_PNG &&
                   gc_decode_seconds(problem) >= decoding_for_threads;
    return divides ? (int)gc_smaller(processors, DECODING_THREADS) : 1;
}

int gc_threads_shared(int threads, int images)
{
    int share = gc_thread_count(threads) / images;
    return share > 1 ? share : 1;
}
