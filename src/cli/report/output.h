/* Standard output: lines that go out whole, and failures to write them. */
#ifndef GC_CLI_REPORT_OUTPUT_H
#define GC_CLI_REPORT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/* Writes a line in one piece: a signal that comes meanwhile waits until the line is out, for a
 * second at most (see signals.h). */
void gc_write_line(const char *line, size_t size);

/* Whether gc_write_line is writing a line. Then it notes `signal_number`, and gc_write_line raises
 * the signal when the line is out. Async-signal-safe. */
bool gc_line_postpones(int signal_number);

/* The signal that was noted, 0 where none was. Async-signal-safe. */
int gc_postponed_signal(void);

/* Notes that standard output could not be written; `error_number` is an errno. */
void gc_fail_output(int error_number);

/* Flushes standard output. 0, or the errno of the first failure since the program began. */
int gc_flush_output(void);

#endif
