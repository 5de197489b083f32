/* What a journal says of an image, and what it is told. */
#ifndef GC_CLI_IMAGE_JOURNALED_H
#define GC_CLI_IMAGE_JOURNALED_H

#include "cli/image/session.h"
#include "cli/image/work.h"
#include "gconv.h"

typedef enum gc_journal_verdict {
    GC_JOURNAL_UNKNOWN, /* there is no journal, or it does not have the image */
    GC_JOURNAL_AGAIN,   /* input, recipe or output are not as recorded */
    GC_JOURNAL_DONE,
    GC_JOURNAL_FAILED,    /* failed before; `error` says how */
    GC_JOURNAL_UNREADABLE /* the journal cannot be read; `error` says why */
} gc_journal_verdict;

/* Judges an image by its last record, the times and sizes of its files and, where these differ, by
 * hashes. */
gc_journal_verdict gc_journaled_judge(const gc_session *session, const gc_task *task,
                                      gconv_error *error);

/* Whether --in-place lets the output replace the input: their names lead to one file. */
bool gc_replaces_input(const gc_options *options, const gc_task *task);

/* Begins the record of an image. */
void gc_journaled_begin(gc_work *work);

/* `opened` of gconv_reader_options, whose `user` is a gc_work: notes the input before it is
 * read. */
void gc_journaled_opened(void *work, int descriptor);

/* gconv_bytes_functions, whose `user` is a gc_work: hash what is read and what is written. */
void gc_journaled_read(void *work, uint64_t offset, const void *bytes, size_t size);
void gc_journaled_written(void *work, uint64_t offset, const void *bytes, size_t size);

/* A gconv_complete_function, whose `user` is a gc_work: notes both files while the output has its
 * temporary name. */
gconv_status gc_journaled_complete(void *work, int descriptor, gconv_error *error);

/* Records what became of the image. Where that cannot be written, the image has failed. */
void gc_journaled_end(gc_work *work);

#endif
