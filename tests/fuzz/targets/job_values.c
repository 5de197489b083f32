/* Whole jobs: definition, reference and cpu. */
#include "../check_job.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const fuzz_job_limits limits = {
        .width = 70, .height = 40, .side = 40, .filters = 3, .work = 1e5};
    fuzz_check_values(data, size, &limits);
    return 0;
}
