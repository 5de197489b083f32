/* What is told of an image. */
#include "io_support.h"

#include "cli/commands/image_report.h"
#include "cli/options/options.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/progress.h"

#include <fcntl.h>

/* Bytes of text and JSON that are told of an image that failed. */
static size_t told(const gc_options *options)
{
    char input[] = "in", output[] = "out", *text;
    size_t size;
    const gc_task task = {.input = input, .output = output};
    const gc_result result = {.outcome = GC_OUTCOME_FAILED,
                              .subject = output,
                              .error = {.message = "cannot name the output"}};
    FILE *stream = open_memstream(&text, &size);
    int before = dup(STDOUT_FILENO), file = open("stdout", O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(stream != NULL && before >= 0 && dup2(file, STDOUT_FILENO) >= 0);
    gc_messages_into(stream);
    gc_report_image(options, &task, &result);
    gc_messages_into(NULL);
    fclose(stream);
    size += (size_t)lseek(file, 0, SEEK_END);
    dup2(before, STDOUT_FILENO);
    close(before);
    close(file);
    free(text);
    return size;
}

/* The handler of a signal removes unfinished outputs before the program ends. */
TEST(what_fails_after_a_signal_is_not_told)
{
    gc_options options = {.command = GC_COMMAND_FILTER};
    size_t text = told(&options);
    assert_true(text > 0);
    options.report.json = true;
    assert_true(told(&options) > text);
    gc_counts_stop();
    assert_int_equal(told(&options), 0);
    options.report.json = false;
    assert_int_equal(told(&options), 0);
}

const test_suite suite = {.setup = enter_scratch, .teardown = remove_scratch};
