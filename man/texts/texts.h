/* Texts that are made of the tables of commands and options when gconv is built: what completions
 * of shells offer, and the OPTIONS of gconv(1). */
#pragma once

#include "cli/options/table.h"

#include <stdio.h>

/* A program that reads command lines. */
typedef struct gc_program_of_texts {
    const char *name;
    unsigned commands; /* its commands, as bits */
    unsigned lacks;    /* marks of options that it does not take */
} gc_program_of_texts;

typedef void gc_texts_writer(FILE *out, const gc_program_of_texts *program);

/* What the completion of a shell has to know. */
gc_texts_writer gc_texts_bash, gc_texts_zsh, gc_texts_fish;

/* The options of gconv(1), section by section. `more` is what the manual says of them beyond the
 * table: lines "@--NAME", and below each the text on this option. NULL, or the first line of these
 * that names no option. */
const char *gc_texts_manual(FILE *out, char *more);
