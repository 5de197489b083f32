/* The turn: the right of one image of a process to use the GPU. A plan takes most of the device's
 * free memory. Two plans at one time would take it from each other. */
#ifndef GC_CORE_TURN_H
#define GC_CORE_TURN_H

/* Waits until nobody has the turn, and takes it. */
void gc_gpu_turn_take(void);

/* Gives the turn back; any thread may. */
void gc_gpu_turn_give(void);

#endif
