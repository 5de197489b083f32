/* What a plan chose, in lines of text. */
#include "gpu/plan/plan.cuh"

#include <cstdio>

void gc_gpu_describe_plan(void *state, char *text, size_t size)
{
    gc_gpu_plan *plan = (gc_gpu_plan *)state;
    text[0] = '\0';
    if (gc_plan_await_start(plan, nullptr) != GCONV_OK)
        return;
    size_t used = 0;
    for (int i = 0; i < plan->section_count && used + 1 < size; i++) {
        const gc_plan_section *section = &plan->sections[i];
        const gc_step *step = &plan->problem->chain.steps[section->scope.first];
        char line[160];
        plan->method->describe(section->state, line, sizeof line);
        int length = snprintf(text + used, size - used, "step %d (%dx%d): %s\n",
                              section->scope.first + 1, step->width, step->height, line);
        used += length > 0 ? (size_t)length : 0;
    }
}
