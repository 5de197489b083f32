/* Directories of outputs: what killed processes left there is removed before anything is
 * written. */
#include "io_support.h"

#include "base/output.h"
#include "cli/tasks/directories.h"
#include "cli/terminal/messages.h"

#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <sys/file.h>

struct dirent *__real_readdir(DIR *directory);
struct dirent *__wrap_readdir(DIR *directory);
int __real_flock(int descriptor, int operation);
int __wrap_flock(int descriptor, int operation);

static _Thread_local bool is_writing;

/* Looking for leftovers takes long, and a file that is written is locked late: what is looked for
 * while others write would be found. */
struct dirent *__wrap_readdir(DIR *directory)
{
    poll(NULL, 0, 20);
    return __real_readdir(directory);
}

int __wrap_flock(int descriptor, int operation)
{
    if (is_writing)
        poll(NULL, 0, 200);
    return __real_flock(descriptor, operation);
}

typedef struct writer {
    gc_directories *made;
    FILE *notes;
    char path[PATH_MAX];
    pthread_t thread;
    gconv_status status;
} writer;

static void *write_output(void *argument)
{
    static const gc_output_options plain = {0};
    writer *w = argument;
    gc_output *output = NULL;
    w->status = gc_prepare_parent(w->made, w->path, w->notes, NULL);
    is_writing = true;
    if (w->status == GCONV_OK)
        w->status = gc_output_open(w->path, &plain, &output, NULL);
    if (w->status == GCONV_OK)
        w->status = gc_output_commit(output, NULL);
    gc_output_free(output);
    return NULL;
}

TEST(threads_take_no_file_of_each_other_for_a_leftover)
{
    enum { WRITERS = 4 };
    gc_directories made = GC_DIRECTORIES_NONE;
    writer writers[WRITERS];
    char *notes = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&notes, &size);
    gc_messages_set(false, true);
    for (int i = 0; i < WRITERS; i++) {
        char name[16];
        snprintf(name, sizeof name, "out-%d", i);
        writers[i] = (writer){.made = &made, .notes = stream};
        snprintf(writers[i].path, sizeof writers[i].path, "%s", name);
    }
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&writers[i].thread, NULL, write_output, &writers[i]), 0);
    for (int i = 0; i < WRITERS; i++) {
        pthread_join(writers[i].thread, NULL);
        assert_int_equal(writers[i].status, GCONV_OK);
        assert_int_equal(access(writers[i].path, F_OK), 0);
    }
    fclose(stream);
    assert_string_equal(notes, "");
    free(notes);
    gc_remove_empty_directories(&made);
}

const test_suite suite = {.setup = enter_scratch, .teardown = remove_scratch};
