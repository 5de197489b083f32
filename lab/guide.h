/* What is known of an implementation, in words: gconv info IMPLEMENTATION. */
#pragma once

#include "base/buffer.h"
#include "gconv.h"

/* Adds what an implementation does, from which source, what it needs and when it loses, in lines of
 * at most `width` columns, and a drawing. The words are the comment at the head of its source file;
 * a variant without any has its summary and those of what it varies. False if there are none. */
bool gc_guide_describe(const char *name, const char *summary, int width, gc_buffer *text);

/* Adds a head and words in lines of at most `width` columns. */
void gc_guide_line(const char *head, const char *words, int width, gc_buffer *text);

/* Adds the factors that the rule of `adaptive` gives on devices of the papers and later ones, by
 * their limits alone: a table, one line a device. If a block or shared memory is asked for, a last
 * line has them in place of those of the last device. */
void gc_guide_factors(const gconv_tiling *asked, gc_buffer *text);
