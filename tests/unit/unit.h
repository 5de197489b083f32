/* What every unit test includes: tests that register themselves, and assertions. main.c runs them
 * in the order of their file. */
#pragma once

#include "gconv.h"
#include "owned.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* How the tests of a file run. A file that needs any of this defines `suite`. */
typedef struct test_suite {
    CMFixtureFunction setup, teardown; /* around all tests */
    CMFixtureFunction before, after;   /* around each test */
    const char *(*missing)(void);      /* what the tests lack on this machine, or NULL */
} test_suite;

extern const test_suite suite;

typedef struct unit_test {
    const char *name;
    CMUnitTestFunction run;
    int line;
    struct unit_test *next;
} unit_test;

void add_test(unit_test *added);

/* Runs the tests of this program; returns its exit code. Files with a main function call it. */
int run_unit_tests(void);

/* TEST(what_holds) { ... } is a test. It has an empty `error` for the calls that it makes. */
#define TEST(name)                                                                                 \
    static void name(gconv_error error);                                                           \
    static void run_##name(void **unused_state __attribute__((unused)))                            \
    {                                                                                              \
        name((gconv_error){.status = GCONV_OK});                                                   \
    }                                                                                              \
    __attribute__((constructor)) static void register_##name(void)                                 \
    {                                                                                              \
        static unit_test registered = {#name, run_##name, __LINE__, NULL};                         \
        add_test(&registered);                                                                     \
    }                                                                                              \
    static void name(gconv_error error __attribute__((unused)))

/* ---- Assertions on what the library returns ------------------------------------------------ */

static inline gconv_filter *load_filter(const char *text)
{
    gconv_filter *filter;
    gconv_error error;
    if (gconv_filter_load(text, &filter, &error) != GCONV_OK)
        fail_msg("%s: %s", text, error.message);
    return filter;
}

/* A source or a sink of these functions, for a call. */
#define SOURCE(function, data)                                                                     \
    (&(gconv_source){.size = sizeof(gconv_source), .read = (function), .user = (data)})
#define SINK(function, data)                                                                       \
    (&(gconv_sink){.size = sizeof(gconv_sink), .write = (function), .user = (data)})

/* A copy of a structure with changes, which name it `it`: WITH(usual_job(), it.scale = 2). */
#define WITH(base, ...)                                                                            \
    ({                                                                                             \
        __typeof__(base) it = (base);                                                              \
        (void)(__VA_ARGS__);                                                                       \
        it;                                                                                        \
    })

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

#define assert_ok(call) assert_int_equal(call, GCONV_OK)
#define assert_invalid(call) assert_int_equal(call, GCONV_ERROR_ARGUMENT)

/* The same of a call that leaves its error in `why`, whose message is shown if the call fails. */
#define assert_succeeds(call)                                                                      \
    do {                                                                                           \
        gconv_error why;                                                                           \
        if ((call) != GCONV_OK)                                                                    \
            fail_msg("%s", why.message);                                                           \
    } while (0)

/* A call fails with this status, and `text` is in the message of its error. */
#define assert_fails(call, wanted, error, text)                                                    \
    do {                                                                                           \
        assert_int_equal(call, wanted);                                                            \
        assert_contains((error)->message, text);                                                   \
    } while (0)

#define assert_contains(whole, part)                                                               \
    do {                                                                                           \
        const char *whole_text = (whole), *part_text = (part);                                     \
        if (strstr(whole_text, part_text) == NULL)                                                 \
            fail_msg("'%s' does not contain '%s'", whole_text, part_text);                         \
    } while (0)
