/* The report of --html: lab/report.py, a program in Python, draws it from JSON. */
#ifndef GC_LAB_HTML_HTML_H
#define GC_LAB_HTML_HTML_H

#include "base/output.h"
#include "cli/options/options.h"

/* Refuses --html where FILE or FILE.json would replace a file that the command reads or writes
 * otherwise: an operand, a file of --kernel, --resume or --baseline. Changes nothing. */
gconv_status gc_html_check(const gc_options *options, gconv_error *error);

/* Opens the file of --html before anything is measured. *output is NULL without --html. */
gconv_status gc_html_open(const gc_options *options, gc_output **output, gconv_error *error);

/* Draws the report and completes it. `json` is what the command prints with --json, `size` bytes;
 * NULL: memory was short. It is freed, and so is `output`. If nothing can draw, the JSON goes to
 * FILE.json, and a warning says what is missing: that is no failure. */
gconv_status gc_html_close(const gc_options *options, char *json, size_t size, gc_output *output,
                           gconv_error *error);

#endif
