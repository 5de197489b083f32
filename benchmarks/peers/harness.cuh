/* Measures entries of one table side by side: a copy, a library's filter, a kernel of ours. Knows
 * nothing of convolution; buffers and references are in data.cuh. */
#pragma once

#include "data.cuh"

#include <vector>

enum peers_group {
    PEERS_FLOORS,
    PEERS_GROUP_FLOAT,
    PEERS_GROUP_SEPARABLE,
    PEERS_GROUP_CHAIN,
    PEERS_GROUP_8BIT,
    PEERS_GROUP_EDGES
};

/* Something that can be launched again and again. */
struct peers_work {
    void *state;
    /* Enqueues the work on one buffer set and returns without waiting; it may be captured in a
     * graph. False after peers_fail. */
    bool (*launch)(void *state, int set, cudaStream_t stream);
};

/* A row of the table. Adding an entry is all it takes to measure another implementation. The state
 * belongs to the entry: an add function makes it with its parameters, release ends it. */
struct peers_entry {
    peers_group group;
    const char *name;                /* without commas */
    int filter_width, filter_height; /* 0 if there is no filter: then no GFLOP/s */
    peers_pool_id pool;              /* buffers to rotate; its copies are the unit of "x copy" */
    bool is_copy;
    double tolerance; /* greatest max_error of a right result */
    peers_work work;
    /* Takes what the work needs on the device; not timed. NULL if there is nothing to take. */
    bool (*prepare)(void *state);
    /* Set 0 was launched on a poisoned output and has finished: how far off is the result? */
    bool (*verify)(void *state, double *max_error);
    void (*release)(void *state); /* also after a prepare that failed; NULL for nothing */
};

/* Median microseconds of a launch that lies between two events. Launches rotate among the sets and
 * are queued behind a kernel that holds the stream, so that the host's time to queue does not
 * count. Measures for `seconds` or longer. */
bool peers_time_events(const peers_work &work, int sets, double seconds, cudaStream_t stream,
                       double *microseconds);

/* Median over replays of a graph of many launches, per launch; near_microseconds is what a launch
 * is known to take. Work that cannot be captured gives NAN and true. */
bool peers_time_graph(const peers_work &work, int sets, double seconds, double near_microseconds,
                      cudaStream_t stream, double *microseconds);

/* Checks, measures and prints every entry in order and releases it; entries that fail are reported
 * and passed over. Copies must come before what is compared with them. CSV rows go to csv, if any.
 * False if an entry failed or was wrong. */
bool peers_run(const peers_data &data, const std::vector<peers_entry> &entries, double seconds,
               FILE *csv);
