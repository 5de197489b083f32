/* What every unit test includes: tests that register themselves, and assertions. main.c runs them
 * in the order of their file. */
#ifndef GC_TESTS_UNIT_H
#define GC_TESTS_UNIT_H

#include "gconv.h"

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

/* TEST(what_holds) { ... } is a test. */
#define TEST(name)                                                                                 \
    static void name(void **);                                                                     \
    __attribute__((constructor)) static void register_##name(void)                                 \
    {                                                                                              \
        static unit_test registered = {#name, name, __LINE__, NULL};                               \
        add_test(&registered);                                                                     \
    }                                                                                              \
    static void name(void **unused_state __attribute__((unused)))

/* ---- What is released at the end of the block that declares it ----------------------------- */

#define RELEASED_BY(release) __attribute__((cleanup(release)))
#define OWNED RELEASED_BY(release_memory) /* of malloc */
#define OWNED_PLAN RELEASED_BY(release_plan) gconv_plan *
#define OWNED_FILTER RELEASED_BY(release_filter) gconv_filter *
#define OWNED_READER RELEASED_BY(release_reader) gconv_reader *
#define OWNED_WRITER RELEASED_BY(release_writer) gconv_writer *

static inline void release_memory(void *pointer)
{
    free(*(void **)pointer);
}

static inline void release_plan(gconv_plan **plan)
{
    gconv_plan_free(*plan);
}

static inline void release_filter(gconv_filter **filter)
{
    gconv_filter_free(*filter);
}

static inline void release_reader(gconv_reader **reader)
{
    gconv_reader_free(*reader);
}

static inline void release_writer(gconv_writer **writer)
{
    gconv_writer_free(*writer);
}

/* ---- Assertions on what the library returns ------------------------------------------------ */

static inline gconv_filter *load_filter(const char *text)
{
    gconv_filter *filter;
    gconv_error error;
    if (gconv_filter_load(text, &filter, &error) != GCONV_OK)
        fail_msg("%s: %s", text, error.message);
    return filter;
}

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

#define assert_ok(call) assert_int_equal(call, GCONV_OK)

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

#endif
