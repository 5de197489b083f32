/* Whole jobs on one thread and on several, from rows and from memory. */
#include "../check_job.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const fuzz_job_limits limits = {
        .width = 700, .height = 500, .side = 40, .filters = 2, .work = 4e7};
    fuzz_bytes from = {data, size};
    fuzz_job made;
    int threads = 2 + fuzz_below(&from, 7);
    fuzz_job_make(&made, &from, &limits);
    fuzz_check_threads(&made, threads);
    fuzz_job_free(&made);
    return 0;
}
