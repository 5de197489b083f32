/* A clock for measuring how long things take. */
#ifndef GC_BASE_CLOCK_H
#define GC_BASE_CLOCK_H

/* Seconds of a clock that never steps back. */
double gc_seconds(void);

#endif
