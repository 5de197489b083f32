/* gconv's own environment variables (contract.md, rule 76). */
#ifndef GC_CLI_OPTIONS_ENVIRONMENT_H
#define GC_CLI_OPTIONS_ENVIRONMENT_H

#include "gconv.h"

/* Refuses values that the library would ignore without a word: values that mean nothing, and
 * instructions that this processor lacks. An empty variable counts as not set. */
gconv_status gc_environment_check(gconv_error *error);

#endif
