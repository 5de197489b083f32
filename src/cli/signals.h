/* Signals that end the program: nothing unfinished is left behind. */
#ifndef GC_CLI_SIGNALS_H
#define GC_CLI_SIGNALS_H

/* SIGINT, SIGTERM and SIGHUP, unless they are ignored, remove unfinished outputs and then end the
 * program as they would have. SIGPIPE and SIGXFSZ become write errors. */
void gc_signals_install(void);

#endif
