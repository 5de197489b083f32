/* Signals that end the program leave no unfinished output behind (contract.md, rule 74). */
#ifndef GC_CLI_REPORT_SIGNALS_H
#define GC_CLI_REPORT_SIGNALS_H

/* Installs a handler for SIGINT, SIGTERM, SIGHUP and other signals that end a program. It removes
 * unfinished outputs first. Signals that the parent process ignores stay ignored. SIGPIPE and
 * SIGXFSZ become write errors. */
void gc_signals_install(void);

#endif
