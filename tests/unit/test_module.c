/* Libraries of formats that are not there, or too old. */
#include "unit.h"

#include "base/module.h"

static gconv_status load(const char *files, const char *name, gconv_error *error)
{
    const char *const names[] = {name, NULL};
    void *functions[1];
    gc_module module = {files, names, functions, sizeof functions, PTHREAD_MUTEX_INITIALIZER,
                        false};
    gconv_status status = gc_module_load(&module, error);
    assert_int_equal(module.loaded, status == GCONV_OK);
    return status;
}

TEST(a_library_that_lacks_is_named_by_its_package)
{
    assert_int_equal(load("libgconvnone.so.0.7", "x", &error), GCONV_ERROR_OPEN);
    assert_non_null(strstr(error.message, "libgconvnone.so.0.7: "));
    assert_non_null(strstr(error.message, "; install it (Debian: libgconvnone0.7)"));
}

#ifdef __GLIBC__ /* which has a library of this name */
TEST(a_library_without_a_function_is_too_old)
{
    assert_int_equal(load("libm.so.6", "gconv_none", &error), GCONV_ERROR_OPEN);
    assert_string_equal(error.message, "libm.so.6 has no function gconv_none: it is too old");
    assert_int_equal(load("libm.so.6", "cos", &error), GCONV_OK);
}
#endif
