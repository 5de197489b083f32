#include "cli/options/formats.h"

#include "cli/options/words.h"

size_t gc_format_words(const char *words[GC_FORMAT_WORDS])
{
    size_t count = 0;
    for (int i = GCONV_FORMAT_UNKNOWN + 1; i < GCONV_FORMAT_COUNT; i++) {
        const gconv_format_info *info = gconv_format_describe((gconv_format)i);
        if (i == GCONV_FORMAT_PGM)
            words[count++] = "pnm";
        if (info->writes)
            words[count++] = info->name;
    }
    return count;
}

const char *gc_list_formats(char list[GC_FORMAT_LIST_BYTES])
{
    const char *words[GC_FORMAT_WORDS];
    size_t count = gc_format_words(words);
    list[0] = '\0';
    for (size_t i = 0; i < count; i++)
        gc_list_name(list, GC_FORMAT_LIST_BYTES, words[i], count - i - 1);
    return list;
}
