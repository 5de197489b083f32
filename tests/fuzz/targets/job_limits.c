/* Whole jobs whose numbers go to the limits of float32 and among its denormals. */
#include "../check_job.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const fuzz_job_limits limits = {.width = 40,
                                           .height = 20,
                                           .side = 40,
                                           .filters = FUZZ_FILTERS_MAX,
                                           .work = 5e4,
                                           .extreme = true};
    fuzz_check_values(data, size, &limits);
    return 0;
}
