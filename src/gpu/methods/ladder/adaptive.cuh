/* The method of adaptive. twopass gives it the steps whose filters are not of rank 1. */
#pragma once

#include "gpu/plan/method.cuh"

extern const gc_step_method gc_adaptive_method;
