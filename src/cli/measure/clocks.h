/* Clock and temperature of processors and GPU while something is measured, if the system and
 * NVIDIA's library tell them. */
#ifndef GC_CLI_MEASURE_CLOCKS_H
#define GC_CLI_MEASURE_CLOCKS_H

/* Over all samples. A number is 0 if it is not known. */
typedef struct gc_clocks {
    double megahertz_low, megahertz_high; /* of the fastest processor, or of the GPU */
    double celsius_low, celsius_high;     /* of the hottest sensor, or of the GPU */
} gc_clocks;

/* Reads what Linux says below the directory `root`, "" for the system's own, and widens the
 * ranges. */
void gc_clocks_read(const char *root, gc_clocks *clocks);

/* Takes a sample of this machine, and of the device cuda:`gpu` unless `gpu` is negative. To be
 * called when timed runs end, as long as they still show. */
void gc_clocks_sample(int gpu);

/* Adds what all samples have shown to the JSON that is built. */
void gc_clocks_json(void);

#endif
