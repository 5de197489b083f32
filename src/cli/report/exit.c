#include "cli/report/exit.h"

int gc_start_code(gconv_status status)
{
    switch (status) {
    case GCONV_ERROR_DEVICE:
    case GCONV_ERROR_UNSUPPORTED:
        return GC_EXIT_DEVICE;
    case GCONV_ERROR_MEMORY:
    case GCONV_ERROR_OPEN:
    case GCONV_ERROR_READ:
        return GC_EXIT_FAILED;
    default:
        return GC_EXIT_USAGE;
    }
}

int gc_exit_code(gconv_status status)
{
    if (status == GCONV_OK)
        return GC_EXIT_DONE;
    bool device = status == GCONV_ERROR_DEVICE || status == GCONV_ERROR_UNSUPPORTED;
    return device ? GC_EXIT_DEVICE : GC_EXIT_FAILED;
}
