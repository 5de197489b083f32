/* Signals that end the program: nothing unfinished is left behind (contract.md, rule 74). */
#ifndef GC_CLI_SIGNALS_H
#define GC_CLI_SIGNALS_H

/* SIGINT, SIGTERM, SIGHUP and the others that would end the program remove unfinished outputs
 * first, unless they are ignored. SIGPIPE and SIGXFSZ become write errors. */
void gc_signals_install(void);

#endif
