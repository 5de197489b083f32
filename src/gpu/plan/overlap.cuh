/* A run from memory to memory in which upload, kernels and download overlap: the image goes band by
 * band, each in three streams. Both directions of the bus are busy at one time. */
#ifndef GC_GPU_PLAN_OVERLAP_CUH
#define GC_GPU_PLAN_OVERLAP_CUH

#include "gpu/plan/plan.cuh"

/* Whether rows lie in pinned memory. Looks at the first and the last byte: one call of
 * gconv_memory_register covers all rows. The plan's device is current. */
bool gc_rows_are_pinned(const void *rows, size_t stride, size_t row_bytes, int64_t count);

/* Whether the run goes so: the device makes what the caller wants, and the image pays for it. */
bool gc_overlap_applies(const gc_gpu_plan *plan, const gc_stream *stream);

/* Bytes of pinned host memory that such a run takes at most. */
size_t gc_overlap_host_bytes(const gc_gpu_plan *plan, const gc_stream *stream);

/* Runs in the plan's slot, which holds the whole image. */
gconv_status gc_overlap_run(gc_gpu_plan *plan, gc_stream *stream, gconv_error *error);

#endif
