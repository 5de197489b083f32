#include "verdict.h"

#include <inttypes.h>
#include <stdarg.h>

/* Failures told in full; more of them say the same. */
enum { FULL_FAILURES = 8 };

check_verdict check_fail(const check_subject *subject, const compare_map *map, const char *format,
                         ...)
{
    static int failures;
    printf("FAILED %s: ", subject->implementation);
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n  replay: ");
    if (subject->instructions != NULL)
        printf("GCONV_INSTRUCTIONS=%s ", subject->instructions);
    printf("gconv_check --seed %" PRIu64 " %s --impl %s\n", subject->seed, subject->replay,
           subject->implementation);
    if (failures++ >= FULL_FAILURES)
        return CHECK_FAILED;
    if (subject->made != NULL)
        check_case_print(subject->made, stdout);
    if (map != NULL)
        compare_print(map, stdout);
    fflush(stdout);
    return CHECK_FAILED;
}
