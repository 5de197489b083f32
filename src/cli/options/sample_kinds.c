#include "cli/options/sample_kinds.h"

#include "cli/options/implementations.h"
#include "cli/options/words.h"

static const gc_sample_kind table[] = {
    {"grey8", 1, 8}, {"rgb8", 3, 8}, {"rgba8", 4, 8}, {"grey16", 1, 16}, {"rgb16", 3, 16},
};
enum { KIND_COUNT = sizeof table / sizeof table[0] };

const gc_sample_kind *gc_sample_kind_at(int index)
{
    return index >= 0 && index < KIND_COUNT ? &table[index] : NULL;
}

gconv_status gc_read_sample_kinds(const char *list, unsigned *kinds, gconv_error *error)
{
    gc_word words[KIND_COUNT + 1];
    for (int i = 0; i < KIND_COUNT; i++)
        words[i] = (gc_word){table[i].name, 1 << i};
    words[KIND_COUNT] = (gc_word){"all", (1 << KIND_COUNT) - 1};
    char name[GC_NAME_BYTES];
    for (*kinds = 0; gc_next_name(&list, name);) {
        int bits;
        gconv_status status = gc_read_word(words, KIND_COUNT + 1, name, &bits, error);
        if (status != GCONV_OK)
            return status;
        *kinds |= (unsigned)bits;
    }
    return GCONV_OK;
}
