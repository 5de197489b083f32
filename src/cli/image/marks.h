/* The responses of a whole image, and what is drawn of them: a tone for each pixel, from 0, paper,
 * to 255, ink (contract.md, rules 105 to 108). A mark is a largest set of pixels with tones above 0
 * that touch by sides or corners. */
#pragma once

#include "gconv.h"

enum { GC_RESPONSE_MOST = 65535 };

typedef struct gc_marks {
    uint32_t width, height;
    uint16_t *samples; /* width * height responses; tones after gc_marks_set; owned; or NULL */
    uint64_t *counts;  /* how often each response occurs; owned */
    size_t taken;      /* samples that the sink has taken */
} gc_marks;

/* Makes room for the responses of an image: 512 KiB, and if it keeps them 2 bytes for each pixel.
 * Else they are counted, and `samples` is NULL. */
gconv_status gc_marks_create(gc_marks *marks, uint32_t width, uint32_t height, bool keeps,
                             gconv_error *error);
void gc_marks_destroy(gc_marks *marks);

/* A sink that takes the responses: rows of one channel of 16 bits. */
gconv_sink gc_marks_sink(gc_marks *marks);

/* The least response that at most `most` pixels exceed. */
uint32_t gc_marks_cut(const gc_marks *marks, double most);

/* Makes tones of responses: 0 up to `cut`, 255 above. */
void gc_marks_set(gc_marks *marks, uint32_t cut);

/* Sets marks of fewer than `least` pixels to 0. */
gconv_status gc_marks_drop(gc_marks *marks, uint64_t least, gconv_error *error);

/* Thins marks to lines one pixel wide: the algorithm of Guo and Hall (1989) with two
 * subiterations. Pixels outside the image are paper. */
gconv_status gc_marks_thin(gc_marks *marks, gconv_error *error);

/* Makes a square of `width` pixels a side, to the right and down, of each marked pixel, in the tone
 * 255. */
void gc_marks_widen(gc_marks *marks, uint32_t width);

/* The pixels with tones above 0. */
uint64_t gc_marks_count(const gc_marks *marks);
