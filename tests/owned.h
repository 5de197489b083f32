/* What is released at the end of the block that declares it. */
#pragma once

#include "gconv.h"

#include <stdlib.h>

#define RELEASED_BY(release) __attribute__((cleanup(release)))
#define OWNED RELEASED_BY(release_memory) /* of malloc */
#define OWNED_PLAN RELEASED_BY(release_plan) gconv_plan *
#define OWNED_FILTER RELEASED_BY(release_filter) gconv_filter *
#define OWNED_READER RELEASED_BY(release_reader) gconv_reader *
#define OWNED_WRITER RELEASED_BY(release_writer) gconv_writer *

static inline void release_memory(void *pointer)
{
    free(*(void **)pointer);
}

static inline void release_plan(gconv_plan **plan)
{
    gconv_plan_free(*plan);
}

static inline void release_filter(gconv_filter **filter)
{
    gconv_filter_free(*filter);
}

static inline void release_reader(gconv_reader **reader)
{
    gconv_reader_free(*reader);
}

static inline void release_writer(gconv_writer **writer)
{
    gconv_writer_free(*writer);
}
