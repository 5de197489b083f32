/* What the NPP entries share. */
#pragma once

#include "groups.cuh"

#include <npp.h>

static inline bool npp_ok(NppStatus status, const char *call, const char *file, int line)
{
    return status == NPP_SUCCESS ||
           peers_fail("%s:%d: %s: NPP status %d", file, line, call, (int)status);
}

#define NPP(call)                                                                                  \
    do {                                                                                           \
        if (!npp_ok((call), #call, __FILE__, __LINE__))                                            \
            return false;                                                                          \
    } while (0)

/* What NPP would ask the runtime for itself; its reserved field is zero. */
bool peers_npp_context(cudaStream_t stream, NppStreamContext *context);
