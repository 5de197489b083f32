/* Reports that Python draws too slowly. */
#include "io_support.h"

#include "lab/html.h"

unsigned __real_alarm(unsigned seconds);
unsigned __wrap_alarm(unsigned seconds);

/* A minute passes in a second. */
unsigned __wrap_alarm(unsigned seconds)
{
    return __real_alarm(seconds / 60);
}

/* A program that takes longer than a minute is killed, and the data are kept. */
TEST(a_timeout_leaves_the_data)
{
    static const char script[] = "#!/bin/sh\nexec /bin/sleep 600\n", json[] = "{\"results\": []}\n";
    const char *path = strdup("report.html");
    const gc_options options = {.measure = {.html = path}};
    gc_output *output;
    save_file("python3", script, strlen(script));
    chmod("python3", 0755);
    setenv("PATH", scratch, 1);
    assert_ok(gc_html_reporter.open(&options, &output, NULL));
    assert_ok(gc_html_reporter.close(&options, strdup(json), strlen(json), output, NULL));
    assert_int_not_equal(access(path, F_OK), 0);
    OWNED_BLOB kept = load_file("report.html.json");
    assert_int_equal(kept.size, strlen(json));
    assert_memory_equal(kept.bytes, json, kept.size);
    free((char *)path);
}

const test_suite suite = {.setup = enter_scratch, .teardown = remove_scratch};
