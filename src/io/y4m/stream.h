/* Y4M: what the decoder of a stream hands to the encoder beside rows of samples. */
#pragma once

#include "gconv.h"

enum { GC_Y4M_LINE_BYTES = 4096 /* of a line, with its line feed */ };

/* The decoder and each encoder that writes its frames count as users. */
typedef struct gc_y4m {
    int users;
    char stream_line[GC_Y4M_LINE_BYTES + 1], frame_line[GC_Y4M_LINE_BYTES + 1];
    int bits; /* of a sample */
    gconv_shape planes[3];
    int plane_count;       /* 1 or 3 */
    int plane;             /* the one that is read and written */
    bool all;              /* each plane is an image; else luma alone */
    size_t chroma_bytes;   /* of a frame that go past the filters */
    unsigned char *chroma; /* complete with the last row of luma */
} gc_y4m;

/* One user less. The last one frees it. NULL is allowed. */
void gc_y4m_release(gc_y4m *stream);
