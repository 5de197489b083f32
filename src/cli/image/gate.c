#include "cli/image/gate.h"

void gc_gate_create(gc_gate *gate, gc_gate_function *check, void *user)
{
    *gate = (gc_gate){.check = check, .user = user};
    atomic_init(&gate->passed, false);
    pthread_mutex_init(&gate->lock, NULL);
}

void gc_gate_destroy(gc_gate *gate)
{
    pthread_mutex_destroy(&gate->lock);
}

gconv_status gc_gate_pass(gc_gate *gate, gconv_error *error)
{
    if (!gc_gate_is_passed(gate)) {
        pthread_mutex_lock(&gate->lock);
        if (!gate->passed)
            gate->status = gate->check(gate->user, &gate->error);
        gate->passed = true;
        pthread_mutex_unlock(&gate->lock);
    }
    if (gate->status != GCONV_OK)
        *error = gate->error;
    return gate->status;
}

bool gc_gate_is_passed(gc_gate *gate)
{
    return atomic_load(&gate->passed);
}
