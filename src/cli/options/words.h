/* Values of options that are words or numbers, with messages that say what is legal. */
#ifndef GC_CLI_OPTIONS_WORDS_H
#define GC_CLI_OPTIONS_WORDS_H

#include "gconv.h"

/* A word and the value that it stands for. */
typedef struct gc_word {
    const char *name;
    int value;
} gc_word;

/* Reads one of `count` words, 16 at most. */
gconv_status gc_read_word(const gc_word *words, size_t count, const char *text, int *value,
                          gconv_error *error);

/* Reads a whole number from `low` to `high`. */
gconv_status gc_read_whole(const char *text, int low, int high, int *value, gconv_error *error);

/* Reads a finite number. */
gconv_status gc_read_finite(const char *text, double *value, gconv_error *error);

/* Writes "; did you mean 'NAME'?" to `buffer`, or nothing if no name is near. */
void gc_suggest(const char *text, const char *const *names, size_t count, char *buffer,
                size_t size);

/* Appends a name to the list "a, b or c"; `rest` is how many names still come. */
void gc_list_name(char *list, size_t size, const char *name, size_t rest);

#endif
