#include "gconv.h"

const char *gconv_version(void)
{
    return GC_VERSION;
}

const char *gconv_build_description(void)
{
#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown compiler"
#endif
#if GC_HAS_FAST
#define FAST ""
#else
#define FAST ", without fast paths"
#endif
    return GC_BUILD_TYPE ", " COMPILER FAST;
}
