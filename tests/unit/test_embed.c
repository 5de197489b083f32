/* gconv_embed_text puts whole texts into the program, but for what NVRTC cannot include. */
#include "io_support.h"

extern const char gc_text_long[], gc_text_axpy[];

/* The text that the build wrote: it contains what a C string literal has to escape. */
TEST(every_byte_is_there)
{
    const char line[] = "int a[2]; // \\ \"?\?/\" ;;\n";
    const char *next = gc_text_long + strlen("#line 1 \"long.cuh\"\n");
    assert_memory_equal(gc_text_long, "#line 1 \"long.cuh\"\n", (size_t)(next - gc_text_long));
    for (int i = 0; i < 4000; i++, next += strlen(line))
        assert_memory_equal(next, line, strlen(line));
    assert_string_equal(next, "");
}

/* A file's text behind its #line, at `embedded`, but for lines that are left empty. Returns what
 * follows. */
static const char *assert_file(const char *embedded, const char *path)
{
    char first[256];
    snprintf(first, sizeof first, "#line 1 \"%s\"\n", strrchr(path, '/') + 1);
    assert_memory_equal(embedded, first, strlen(first));
    embedded += strlen(first);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char line[256];
    while (fgets(line, sizeof line, file) != NULL) {
        bool left_out = strstr(line, "include \"") != NULL || strstr(line, "#pragma once") != NULL;
        const char *expected = left_out ? "\n" : line;
        assert_memory_equal(embedded, expected, strlen(expected));
        embedded += strlen(expected);
    }
    fclose(file);
    return embedded;
}

TEST(includes_are_left_out)
{
    const char *next = assert_file(gc_text_axpy, "tests/gpu/multiply_add.cuh");
    next = assert_file(next, "tests/gpu/axpy.cuh");
    assert_string_equal(next, "");
    assert_null(strstr(gc_text_axpy, "include \""));
    assert_null(strstr(gc_text_axpy, "#pragma once"));
}
