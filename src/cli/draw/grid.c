#include "cli/draw/grid.h"

#include <stdbool.h>
#include <string.h>

void gc_numbers_add(gc_numbers *numbers, int number)
{
    int place = 0;
    while (place < numbers->count && numbers->at[place] < number)
        place++;
    bool there = place < numbers->count && numbers->at[place] == number;
    if (there || numbers->count == GC_NUMBERS_MAX)
        return;
    memmove(&numbers->at[place + 1], &numbers->at[place],
            (size_t)(numbers->count - place) * sizeof numbers->at[0]);
    numbers->at[place] = number;
    numbers->count++;
}

int gc_numbers_find(const gc_numbers *numbers, int number)
{
    for (int i = 0; i < numbers->count; i++)
        if (numbers->at[i] == number)
            return i;
    return -1;
}
