/* --journal FILE: what became of every image, one line of JSON each. A line is written whole with
 * one call; what a killed program left of a last line is cut off by the next one. One process
 * writes at one time. */
#pragma once

#include "base/digest.h"
#include "base/map.h"
#include "cli/journal/record.h"
#include "gconv.h"

typedef struct gc_journal gc_journal;

/* Whether a recipe of this name made results that count. */
typedef bool gc_recipe_function(const void *user, const char *name);

typedef struct gc_journal_opening {
    bool writes; /* locks the file, which is made if there is none; false: changes nothing */
    gc_digest_kind digest; /* is named in the first line of a new file */
    bool sync;             /* each line is flushed to the disk */
    /* NULL: results that replaced their inputs are not asked for. Else they take 32 bytes of memory
     * for each that counts. */
    gc_recipe_function *counts;
    const void *user; /* of `counts` */
} gc_journal_opening;

/* Opens a journal and reads which images it has: 16 bytes of memory for each. */
gconv_status gc_journal_open(const char *path, const gc_journal_opening *how, gc_journal **journal,
                             gconv_error *error);

/* The last record of an image. *found is false if there is none; else the caller destroys the
 * record. Records of this process are not found. Any thread. */
gconv_status gc_journal_find(const gc_journal *journal, const char *input, const char *output,
                             gc_record *record, bool *found, gconv_error *error);

/* Adds a record. One of the status GC_RECORD_INTENT is always flushed to the disk. Any thread. */
gconv_status gc_journal_append(gc_journal *journal, const gc_record *record, gconv_error *error);

/* Adds the line of a recipe unless the journal has it. The line ends in a newline. */
gconv_status gc_journal_note_recipe(gc_journal *journal, const char *recipe, const char *line,
                                    gconv_error *error);

/* Whether a line could not be added. Any thread. */
bool gc_journal_has_failed(gc_journal *journal);

/* ---- For processes that share a journal ------------------------------------------------------ */

/* The last line of an image, in a process that has the file; free releases it. NULL if there is
 * none. Any thread. */
gconv_status gc_journal_find_line(const gc_journal *journal, const char *input, const char *output,
                                  char **line, gconv_error *error);

/* Adds a line that another process made, as gc_journal_append does. Any thread. */
gconv_status gc_journal_append_line(gc_journal *journal, const char *line, bool sync,
                                    gconv_error *error);

/* How a process without the file has its lines found and added. Any thread calls the functions. */
typedef struct gc_journal_relay {
    /* The last line of an image, valid until its next line is added; NULL if there is none. */
    const char *(*find)(void *user, const char *input);
    /* `sync`: the line must be on the disk when the function returns. */
    gconv_status (*append)(void *user, const gc_record *record, const char *line, bool sync,
                           gconv_error *error);
    void *user;
} gc_journal_relay;

/* A journal for gc_journal_find and gc_journal_append. */
gconv_status gc_journal_open_relay(gc_journal_relay relay, gc_journal **journal,
                                   gconv_error *error);

/* How many images it had when it was opened. */
size_t gc_journal_count(const gc_journal *journal);

typedef gconv_status gc_journal_function(void *user, const gc_record *record, gconv_error *error);

/* Calls `take` with the last record of each image, in the order of the lines. */
gconv_status gc_journal_each(const gc_journal *journal, gc_journal_function *take, void *user,
                             gconv_error *error);

/* The line of a recipe; free releases it. GCONV_ERROR_FORMAT if the journal has none. */
gconv_status gc_journal_recipe(const gc_journal *journal, const char *recipe, char **line,
                               gconv_error *error);

/* NULL is allowed. */
void gc_journal_close(gc_journal *journal);

/* ---- Results that replaced their inputs ------------------------------------------------------ */

/* A file of this content is done already, whatever its name. */

/* Whether the content of a regular file is one of the results. False if it cannot be read. Any
 * thread. */
bool gc_journal_has_result(const gc_journal *journal, const char *path);

/* The results themselves, for processes that share a journal: hashes of their sizes and digests. */
gc_map *gc_journal_results(gc_journal *journal);
