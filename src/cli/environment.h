/* Environment variables of gconv's own (contract.md, rule 76). */
#ifndef GC_CLI_ENVIRONMENT_H
#define GC_CLI_ENVIRONMENT_H

#include "gconv.h"

/* Refuses values that would be passed over in silence: unknown ones, and instructions that this
 * processor lacks. A variable that is empty counts as not set. */
gconv_status gc_environment_check(gconv_error *error);

/* "avx512, avx2, portable": the vector instructions that this build knows, the best first, or those of
 * them that this processor has. */
void gc_instructions_list(bool only_usable, char *text, size_t size);

#endif
