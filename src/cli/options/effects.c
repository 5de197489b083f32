#include "cli/options/effects.h"

#include "cli/options/implementations.h"
#include "cli/options/table.h"
#include "cli/report/messages.h"

#include <string.h>

static const struct {
    const char *option;
    unsigned needs;
    const char *reason;
} effects[] = {
    {"quality", GC_MET_JPEG, "no output is a JPEG"},
    {"compression", GC_MET_PNG, "no output is a PNG"},
    {"strip", GC_MET_METADATA, "the outputs hold nothing but pixels"},
    {"alpha", GC_MET_ALPHA, "no transparency was filtered"},
    {"threshold", GC_MET_EDGES, "--kernel takes the place of edges"},
    {"recursive", GC_MET_DIRECTORY, "no directory is among the inputs"},
    {"decoder", GC_MET_DECODER, "no image came as a JPEG that it decides on"},
    {"threads", GC_MET_THREADS, "nothing ran on several threads of the CPU"},
    {"block", GC_MET_BLOCK, "what ran takes no thread block"},
    {"tile", GC_MET_TILE, "what ran takes no tiling factor"},
    {"shared-memory", GC_MET_SHARED, "neither adaptive nor adaptive:nc ran"},
};

unsigned gc_met_implementation(const char *name)
{
    gconv_implementation_info info;
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
        return GC_MET_JPEG | GC_MET_METADATA;
    case GCONV_FORMAT_PNG:
        return GC_MET_PNG | GC_MET_METADATA;
    default:
        return 0;
    }
}

/* A value that asks for nothing has no effect to miss. */
static bool asks_for_nothing(const gc_options *options, const char *name)
{
    return strcmp(name, "decoder") == 0 && options->reader.decoder == GCONV_DECODER_AUTO;
}

void gc_note_effects(const gc_options *options, unsigned met)
{
    for (size_t i = 0; i < sizeof effects / sizeof effects[0]; i++)
        if ((met & effects[i].needs) == 0 && gc_option_given(options, effects[i].option) &&
            !asks_for_nothing(options, effects[i].option))
            gc_note(NULL, "option '--%s' had no effect: %s", effects[i].option, effects[i].reason);
}
