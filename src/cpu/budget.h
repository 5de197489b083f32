/* The memory of a run: how much the rings of samples and output may hold, so that a run takes 40 MB
 * of an image 8192 wide and 120 MB of one 30000 wide. */
#ifndef GC_CPU_BUDGET_H
#define GC_CPU_BUDGET_H

#include "core/problem.h"

/* Bands between reading and writing, beside those that the threads work on, where bands are divided
 * into panels: threads share a band, which is large, and need few of them. */
enum { GC_BANDS_AHEAD_OF_PANELS = 2 };

/* Rows that a band can have: the ring of samples holds the bands that `reach` rows on either side
 * lie in and `moving` others, the ring of output `moving` ones. */
int64_t gc_budget_rows(const gc_problem *problem, int64_t reach, int64_t moving);

/* Whether the rings can hold bands of `rows` rows. */
bool gc_budget_holds(const gc_problem *problem, int64_t rows);

#endif
