/* The main function of unit tests. */
#include "unit.h"

__attribute__((weak)) const test_suite suite = {0};

static unit_test *first;

void add_test(unit_test *added)
{
    unit_test **place = &first;
    while (*place != NULL && (*place)->line < added->line)
        place = &(*place)->next;
    added->next = *place;
    *place = added;
}

int run_unit_tests(void)
{
    enum { TESTS_MAX = 64 };
    struct CMUnitTest tests[TESTS_MAX] = {0};
    size_t count = 0;
    const char *missing = suite.missing != NULL ? suite.missing() : NULL;
    if (missing != NULL) {
        printf("skipped: %s\n", missing);
        return 77;
    }
    for (const unit_test *test = first; test != NULL; test = test->next) {
        if (count == TESTS_MAX)
            abort();
        tests[count++] =
            (struct CMUnitTest){test->name, test->run, suite.before, suite.after, NULL};
    }
    return cmocka_run_group_tests_name("tests", tests, suite.setup, suite.teardown);
}

__attribute__((weak)) int main(void)
{
    return run_unit_tests();
}
