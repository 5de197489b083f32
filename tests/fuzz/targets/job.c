/* Whole jobs, made of bytes as gconv_check makes random ones: the reference against the independent
 * formula, and cpu against the reference, in memory and by rows. */
#include "../fuzz.h"
#include "run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_trial trial;
    check_subject subject = {.implementation = "cpu", .device = "cpu", .made = &trial.made};
    check_verdict verdict = check_trial_of(&trial, 0, check_case_of_bytes(data, size));
    FUZZ_REQUIRE(verdict == CHECK_PASSED, "the reference");
    FUZZ_REQUIRE(check_trial_run(&trial, &subject) == CHECK_PASSED, "cpu");
    check_trial_free(&trial);
    return 0;
}
