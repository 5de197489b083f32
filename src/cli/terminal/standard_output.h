/* Standard output: lines that go out whole, and failures to write them. Signals that end the
 * program let such a line go out, and leave no unfinished output behind (contract.md, rule 74). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Writes a line in one piece: a signal that comes meanwhile waits until the line is out, for a
 * second at most (see end_program). */
void gc_write_line(const char *line, size_t size);

/* Closes the outermost object of this thread, and writes the line unless it is built apart. */
void gc_json_end(void);

/* Flushes standard output. 0, or the errno of the first failure since the program began. */
int gc_flush_output(void);

/* Installs a handler for SIGINT, SIGTERM, SIGHUP and other signals that end a program. It removes
 * unfinished outputs first. Signals that the parent process ignores stay ignored. SIGPIPE and
 * SIGXFSZ become write errors. */
void gc_signals_install(void);

/* To be called before another program takes the place of this one: an alarm that does not end this
 * program does not end that one. */
void gc_signals_hand_over(void);

/* From now on SIGUSR1 ends the program softly: gc_stop_is_requested tells it. A signal that is
 * ignored stays ignored. */
void gc_signals_stop_softly(void);

/* Whether a signal asked to finish what is at work, and to begin nothing. Any thread. */
bool gc_stop_is_requested(void);

/* Dies of the signal that asked for that, if there was one. */
void gc_signals_finish(void);
