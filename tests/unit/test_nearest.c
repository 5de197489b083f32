/* Did-you-mean. */
#include "unit.h"

#include "base/nearest.h"

static const char *const names[] = {"gauss3", "gauss5", "laplace3", "sobel-x", "sobel-y", "log"};
enum { COUNT = COUNT(names) };

TEST(finds_the_nearest)
{
    static const struct {
        const char *text, *nearest;
    } cases[] = {
        {"gauss5", "gauss5"},     /* itself */
        {"guass5", "gauss5"},     /* a swap is one edit */
        {"gaus5", "gauss5"},      /* an insertion */
        {"gausss5", "gauss5"},    /* a deletion */
        {"gauss9", "gauss3"},     /* the first of equals */
        {"Laplace3", "laplace3"}, /* a replacement */
        {"lapalce", "laplace3"},  /* two edits of seven letters */
        {"sobely", "sobel-y"},    /* nearer than sobel-x */
        {"lg", "log"},            /* one edit is always allowed */
        {"lap", "laplace3"},      /* its beginning */
        {"sobel", "sobel-x"},     /* the first of those */
        {"la", NULL},             /* too short for one */
        {"12", NULL},             /* numbers are near nothing */
        {"-1.5", NULL},
        {"entirely different", NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *nearest = gc_nearest_name(cases[i].text, names, COUNT);
        if (cases[i].nearest == NULL)
            assert_null(nearest);
        else {
            assert_non_null(nearest);
            assert_string_equal(nearest, cases[i].nearest);
        }
    }
}

TEST(survives_odd_texts)
{
    char text[4096];
    memset(text, 'g', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_null(gc_nearest_name(text, names, COUNT));
    text[63] = '\0';
    assert_null(gc_nearest_name(text, names, COUNT));
    const char *const long_name[] = {text};
    assert_ptr_equal(gc_nearest_name(text, long_name, 1), text);
    assert_null(gc_nearest_name("", names, COUNT));
    assert_null(gc_nearest_name("gauss5", names, 0));
}
