#include "cli/options/effects.h"

#include "cli/options/implementations.h"
#include "cli/options/table.h"
#include "cli/options/words.h"
#include "cli/terminal/messages.h"

#include <string.h>

unsigned gc_met_implementation(const char *name)
{
    gconv_implementation_info info = gconv_implementation_info_default();
    if (!gc_describe_name(name, &info))
        return 0;
    return (info.follows_threads ? (unsigned)GC_MET_THREADS : 0) |
           (info.follows_block ? (unsigned)GC_MET_BLOCK : 0) |
           (info.follows_tile ? (unsigned)GC_MET_TILE : 0) |
           (info.follows_shared ? (unsigned)GC_MET_SHARED : 0);
}

unsigned gc_met_format(gconv_format format)
{
    switch (format) {
    case GCONV_FORMAT_JPEG:
        return GC_MET_QUALITY | GC_MET_METADATA | GC_MET_CHROMA | GC_MET_SCANS;
    case GCONV_FORMAT_BMP:
        return GC_MET_METADATA;
    case GCONV_FORMAT_PNG:
    case GCONV_FORMAT_TIFF:
        return GC_MET_COMPRESSION | GC_MET_METADATA;
    case GCONV_FORMAT_HEIC:
        return GC_MET_QUALITY | GC_MET_METADATA | GC_MET_CHROMA;
    case GCONV_FORMAT_AVIF:
        return GC_MET_QUALITY | GC_MET_COMPRESSION | GC_MET_METADATA | GC_MET_CHROMA;
    case GCONV_FORMAT_JXL:
    case GCONV_FORMAT_WEBP:
        return GC_MET_QUALITY | GC_MET_COMPRESSION | GC_MET_METADATA;
    default:
        return 0;
    }
}

void gc_note_effects(const gc_options *options, unsigned met)
{
    for (int i = 0; i < gc_option_count(); i++) {
        const gc_option *option = gc_option_at(i);
        /* A value that asks for nothing has no effect to miss. */
        bool idle =
            option->affects == GC_MET_DECODER && options->reader.decoder == GCONV_DECODER_AUTO;
        if (options->given[i] && option->affects != 0 && (met & option->affects) == 0 && !idle)
            gc_note(NULL, "option '--%s' had no effect: %s", option->name, option->unless);
    }
}

static const struct {
    const char *option;
    unsigned needs;
    const char *what;
} reaches[] = {
    {"block", GC_MET_BLOCK, "thread block"},
    {"tile", GC_MET_TILE, "tiling factor"},
    {"shared-memory", GC_MET_SHARED, "rule that reckons with shared memory"},
};

/* Whether a name says the thread block or the tiling factor that the bit is about, as
 * "tiled:32x32x4" does. */
static bool says_itself(const char *name, unsigned bit)
{
    int index = gconv_implementation_find(name);
    const char *said = index >= 0 ? name + strlen(gconv_implementation_name(index)) : "";
    if (said[0] == '\0')
        return false;
    bool has_block = said[1] != 'x';
    bool has_factor = !has_block || strchr(said, 'x') != strrchr(said, 'x');
    return (bit == GC_MET_BLOCK && has_block) || (bit == GC_MET_TILE && has_factor);
}

static void say_reached(const char *option, unsigned bit, const char *what,
                        const char *const *names, int count)
{
    char list[512] = "";
    int reached = 0;
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], "auto") == 0 ||
            ((gc_met_implementation(names[i]) & bit) != 0 && !says_itself(names[i], bit))) {
            gc_list_name(list, sizeof list, names[i], 1);
            reached++;
        }
    if (reached > 0 && reached < count)
        gc_say("--%s is for %s; the others take no %s, or have one in their name", option, list,
               what);
}

void gc_say_whom_options_reach(const gc_options *options, const char *const *names, int count)
{
    for (size_t i = 0; i < sizeof reaches / sizeof reaches[0]; i++)
        if (gc_option_given(options, reaches[i].option))
            say_reached(reaches[i].option, reaches[i].needs, reaches[i].what, names, count);
}
