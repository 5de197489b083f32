/* Runs lab/report.py, the program that draws reports. */
#ifndef GC_LAB_HTML_PYTHON_H
#define GC_LAB_HTML_PYTHON_H

#include "gconv.h"

#include <stddef.h>

/* The path of report.py: beside this program, else in the directory `lab` there. GCONV_ERROR_OPEN
 * if it is in neither. */
gconv_status gc_python_find(char *path, size_t size, gconv_error *error);

/* Runs the program at `path` with `input`, `size` bytes. *text becomes what it writes, *length
 * bytes, which free releases. An error says in a few words why there is none: Python or matplotlib
 * is missing, the program failed, or it took longer than a minute and was killed. */
gconv_status gc_python_run(const char *path, const char *input, size_t size, char **text,
                           size_t *length, gconv_error *error);

#endif
