#include "core/turn.h"

#include <pthread.h>
#include <stdbool.h>

/* A flag with a condition. A mutex has to be unlocked by the thread that locked it. But one thread
 * may make a plan, and another one may free it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t given = PTHREAD_COND_INITIALIZER;
static bool taken;

void gc_gpu_turn_take(void)
{
    pthread_mutex_lock(&lock);
    while (taken)
        pthread_cond_wait(&given, &lock);
    taken = true;
    pthread_mutex_unlock(&lock);
}

void gc_gpu_turn_give(void)
{
    pthread_mutex_lock(&lock);
    taken = false;
    pthread_cond_signal(&given);
    pthread_mutex_unlock(&lock);
}
