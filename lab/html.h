/* The report of --html: report.py, a program in Python, draws it from JSON. If nothing can draw,
 * the JSON goes to FILE.json, and a warning says what is missing: that is no failure. */
#pragma once

#include "cli/commands/commands.h"

/* It refuses --html if FILE or FILE.json would replace a file that the command reads or writes
 * otherwise: an operand, a file of --kernel, --resume or --baseline. */
extern const gc_reporter gc_html_reporter;

/* Finds a file of the laboratory: beside this program, else in the directory `lab` there. */
bool gc_find_lab_file(const char *name, char *path, size_t size);
