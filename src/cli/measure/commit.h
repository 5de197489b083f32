/* The commit that the program was built from. */
#ifndef GC_CLI_MEASURE_COMMIT_H
#define GC_CLI_MEASURE_COMMIT_H

/* "1a2b3c4", or "1a2b3c4 with changes"; "" if the sources were no working tree of git. The build
 * writes it: cmake/Commit.cmake. */
extern const char gc_commit[];

#endif
