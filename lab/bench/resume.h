/* --resume FILE: points are kept in a file as they are measured, so that a command that was
 * interrupted goes on from there. The file has a line of JSON that says under what circumstances it
 * was made, then a line for each point. Lines are whole, however a program ends: what a program
 * left of a last line is cut off by the next one. */
#pragma once

#include "lab/bench/kept.h"

#include <stddef.h>

typedef struct gc_resume {
    int descriptor; /* -1: there is no file */
    gc_points kept; /* that the file held when it was opened */
} gc_resume;

/* Opens the file, or makes it with `circumstances` as its first line, and reads its points. Another
 * process that has it open is an error. So are another first line, with a message that names what
 * differs, and a file that --resume did not make: these are left as they are. */
gconv_status gc_resume_open(const char *path, const char *circumstances, size_t size,
                            const char *preset, gc_resume *resume, gconv_error *error);

/* Adds the point to the file. */
gconv_status gc_resume_add(const gc_resume *resume, const gc_point *point, gconv_error *error);

void gc_resume_close(gc_resume *resume);
