/* Turns on the GPU: of several images that a process computes at one time, one has it. Each plan takes
 * what memory is free there, and two would take it from each other. */
#ifndef GC_GPU_RUNTIME_TURN_H
#define GC_GPU_RUNTIME_TURN_H

#ifdef __cplusplus
extern "C" {
#endif

/* Waits until nobody has the turn, and takes it. */
void gc_gpu_turn_take(void);

/* Gives the turn back; any thread may. */
void gc_gpu_turn_give(void);

#ifdef __cplusplus
}
#endif

#endif
