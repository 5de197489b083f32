/* Clock and temperature of the processors while something is measured, where the system tells them. */
#ifndef GC_CLI_MEASURE_CLOCKS_H
#define GC_CLI_MEASURE_CLOCKS_H

#include <stddef.h>

/* A number is 0 where it is not known. */
typedef struct gc_clocks {
    double megahertz_low, megahertz_high; /* of the fastest processor, over all samples */
    double celsius_low, celsius_high;     /* of the hottest sensor, over all samples */
} gc_clocks;

/* Reads what Linux says below the directory `root`, "" for the system's own, and widens the ranges. */
void gc_clocks_read(const char *root, gc_clocks *clocks);

/* Takes a sample of this machine. To be called when timed runs end, as long as they still show. */
void gc_clocks_sample(void);

/* "2600 to 3700 MHz, 45 to 61 degrees C"; "" where nothing is known. Returns `text`. */
const char *gc_clocks_text(const gc_clocks *clocks, char *text, size_t size);

/* What all samples have shown. */
const gc_clocks *gc_clocks_seen(void);

/* Adds what all samples have shown to the JSON that is built. */
void gc_clocks_json(void);

#endif
