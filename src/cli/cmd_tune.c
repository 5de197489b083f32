/* gconv tune: searches the configurations of the GPU implementations present. */
#include "cli/cli.h"
#include "cli/messages.h"

int gc_run_tune(const gc_options *options)
{
    (void)options;
    gconv_error error;
    const char *reason = gconv_cuda_reason();
    gc_fail(&error, GCONV_ERROR_DEVICE, "there is nothing to tune: %s",
            reason[0] != '\0' ? reason : "no implementation of this version has configurations");
    gc_report(NULL, &error);
    return GC_EXIT_DEVICE;
}
