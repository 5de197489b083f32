#include "core/share.h"

#include "base/processors.h"
#include "core/file_time.h"

/* Multiply-adds from which a second thread pays, where images go from file to file. Measured: edges
 * of 1024x1024 pixels, 40 million, are as fast on one thread as on two. */
static const double work_for_threads = 5e7;

int gc_threads_alone(const gc_problem *problem)
{
    const gconv_job *job = &problem->job;
    const gconv_shape *shape = &job->input;
    if (job->threads > 0 || !job->between_files || gc_counts_throughput(problem))
        return job->threads;
    double work = gc_chain_work(&problem->chain) * shape->width * shape->height * shape->channels;
    return work < work_for_threads ? 1 : gc_processor_count();
}

int gc_threads_shared(int threads, int images)
{
    int share = gc_thread_count(threads) / images;
    return share > 1 ? share : 1;
}
