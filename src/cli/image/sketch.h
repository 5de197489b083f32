/* The tones of a sketch (contract.md, rule 106). */
#pragma once

#include "cli/image/marks.h"

/* Makes tones of the blurred grey that `marks` keeps. `side`: of a cell, in pixels; at least 1. */
gconv_status gc_sketch_draw(gc_marks *marks, uint32_t side, gconv_error *error);
