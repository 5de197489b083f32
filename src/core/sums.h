/* The sums of a chain as its definition has them (contract.md, rule 5): without an error. */
#ifndef GC_CORE_SUMS_H
#define GC_CORE_SUMS_H

#include "core/chain.h"

/* Sets what a chain knows of its exact sums: divisor, terms_border and sums_fit. */
void gc_chain_set_sums(const gconv_job *job, const gc_conversion *conversion, gc_chain *chain);

#endif
