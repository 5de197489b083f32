/* The memory of a run: how many bytes the rings of samples and output may hold. With these a run
 * takes 40 MB for an image of 8192 columns, and 120 MB for one of 30000. */
#pragma once

#include "core/problem.h"

/* Bands between reading and writing that no thread works on, if bands are divided into panels. Few
 * are needed: threads share a band, and a band is large. */
enum { GC_BANDS_AHEAD_OF_PANELS = 2 };

/* The most rows of a band that the rings have room for. The ring of samples holds `moving` bands,
 * and those that `reach` rows on either side lie in. The ring of output holds `moving` bands. */
int64_t gc_budget_rows(const gc_problem *problem, int64_t reach, int64_t moving);

/* Whether the rings can hold bands of `rows` rows. */
bool gc_budget_holds(const gc_problem *problem, int64_t rows);
