/* A clock for measuring how long things take. */
#pragma once

/* Seconds of a clock that never steps back. */
double gc_seconds(void);
