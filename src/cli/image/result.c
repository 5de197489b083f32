#include "cli/image/result.h"

#include <stdlib.h>

void gc_result_destroy(gc_result *result)
{
    free(result->explanation);
    free(result->fallback);
    free(result->notes);
    free(result->storage);
    gc_warning_list_destroy(&result->warnings);
    result->explanation = result->fallback = result->notes = NULL;
    result->storage = NULL;
}
