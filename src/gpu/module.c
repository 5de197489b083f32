/* The CUDA module's side of module.h. */
#include "gpu/module.h"

#include "interface.h"

extern const gc_cuda_table gc_cuda_module;

static gc_cuda_host host;

/* The library has one pool of threads, and the module takes part in it. */
void gc_team_run(int threads, bool counted, gc_team_function *work, void *user)
{
    host.team_run(threads, counted, work, user);
}

static void enter(const gc_cuda_host *given)
{
    host = *given;
}

#define FUNCTION(name) .name = name,

__attribute__((visibility("default"))) const gc_cuda_table gc_cuda_module = {
    .version = GC_VERSION,
    .interface = GC_INTERFACE,
    .built = "CUDA " GC_CUDA_VERSION " for " GC_CUDA_ARCHITECTURES,
    .enter = enter,
    GC_CUDA_FUNCTIONS(FUNCTION)};
