/* Properties that every convolution has, whatever any reference says. */
#pragma once

#include "verdict.h"

int check_property_count(void);
const char *check_property_name(int index);

/* Tries property `index` in several variations; skipped when the implementation refused all. */
check_verdict check_property_run(int index, check_subject *subject);
