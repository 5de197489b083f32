#include "cli/options/table.h"

#include <stddef.h>
#include <string.h>

enum {
    IMAGES = GC_COMMANDS_OF_IMAGES,
    MEASURES = GC_COMMANDS_THAT_MEASURE,
    COMPUTES = IMAGES | MEASURES,
    WORKS = COMPUTES | GC_COMMAND_CHECK | GC_COMMAND_TUNE,
};

#define FLAG(field) NULL, offsetof(gc_options, field)

static const gc_option options_table[] = {
    {"kernel", 'k', "K", GC_COMMAND_FILTER | MEASURES | GC_COMMAND_KERNEL,
     "filter: file, built-in name, generator or ImageMagick string; repeat for a chain",
     gc_set_kernel, 0},
    {"threshold", 't', "T", GC_COMMAND_EDGES | GC_COMMAND_COMPARE,
     "a pixel is an edge if |response| > T, in 8-bit levels (default 5; see --rule)",
     gc_set_threshold, 0},
    {"rule", 0, "R", GC_COMMAND_EDGES,
     "side of the response that counts: abs (default), positive or negative", gc_set_rule, 0},
    {"invert", 0, NULL, GC_COMMAND_EDGES, "black edges on white", FLAG(job.invert)},
    {"border", 'b', "MODE", COMPUTES,
     "what lies outside the image: mirror (default), mirror101, replicate, wrap, constant[:V] or "
     "zero",
     gc_set_border, 0},
    {"correlate", 0, NULL, GC_COMMAND_FILTER | MEASURES, "correlate instead of convolving",
     FLAG(job.correlate)},
    {"scale", 0, "S", GC_COMMAND_FILTER, "multiply the result by S (default 1)", gc_set_scale, 0},
    {"offset", 0, "O", GC_COMMAND_FILTER,
     "add O to the result, in 8-bit levels (default: the offset of the last filter)", gc_set_offset,
     0},
    {"abs", 0, NULL, GC_COMMAND_FILTER, "take the absolute value before scale and offset",
     FLAG(job.absolute)},
    {"alpha", 0, "MODE", GC_COMMAND_FILTER | GC_COMMAND_COMPARE,
     "what happens to transparency: auto (default), keep, filter or premultiply", gc_set_alpha, 0},
    {"background", 0, "COLOUR", IMAGES | GC_COMMAND_COMPARE,
     "colour behind transparent pixels if the output has no alpha: white (default), black, grey, "
     "0 to 255, #RGB or #RRGGBB",
     gc_set_background, 0},
    {"depth", 0, "N", IMAGES,
     "bits of a sample of the output: 1, 8 or 16 (default: for edges 1 in PNG, else 8; for filter "
     "those of the input)",
     gc_set_depth, 0},
    {"format", 'f', "F", IMAGES, "output format: png, jpeg, pnm (pgm or ppm), pgm, ppm or pfm",
     gc_set_format, 0},
    {"quality", 0, "Q", IMAGES, "JPEG quality, 1 to 100 (default 90)", gc_set_quality, 0},
    {"compression", 0, "L", IMAGES, "PNG compression by zlib, 0 to 9 (default: gconv's own, fast)",
     gc_set_compression, 0},
    {"strip", 0, NULL, IMAGES, "drop colour profile, resolution and EXIF", FLAG(form.strip)},
    {"no-auto-orient", 0, NULL, IMAGES | GC_COMMAND_COMPARE,
     "leave pixels and EXIF orientation as they are", FLAG(no_auto_orient)},
    {"output", 'o', "DIR", IMAGES, "write every output to DIR, under the name of its input",
     gc_set_output, 0},
    {"parents", 0, NULL, IMAGES, "keep the whole path of every input below DIR",
     FLAG(batch.parents)},
    {"name", 0, "TEMPLATE", IMAGES, "name outputs by a template of {dir}, {stem}, {name} and {ext}",
     gc_set_name, 0},
    {"recursive", 'r', NULL, IMAGES, "search directories with all directories below",
     FLAG(batch.recursive)},
    {"files-from", 0, "FILE", IMAGES, "take names of inputs from FILE too, one a line; - is stdin",
     gc_set_files_from, 0},
    {"files0-from", 0, "FILE", IMAGES, "take names of inputs from FILE too, a NUL byte behind each",
     gc_set_files0_from, 0},
    {"shard", 0, "PART", IMAGES,
     "work on part I/N of the inputs; auto or auto/N: the part that the scheduler gives this task",
     gc_set_shard, 0},
    {"rows", 0, "ROWS", IMAGES, "FIRST:COUNT: compute COUNT rows of the output from row FIRST on",
     gc_set_rows, 0},
    {"join", 0, NULL, IMAGES, "with --rows: write PGM or PPM parts that cat joins",
     FLAG(rows.join)},
    {"no-clobber", 'n', NULL, IMAGES, "leave existing outputs alone", FLAG(writer.no_clobber)},
    {"update", 0, NULL, IMAGES, "leave outputs alone that are not older than their inputs",
     FLAG(batch.update)},
    {"dry-run", 0, NULL, IMAGES, "print what would be done, one line an image, and do nothing",
     FLAG(batch.dry_run)},
    {"on-error", 0, "WHAT", IMAGES, "after an image that fails: continue (default) or stop",
     gc_set_on_error, 0},
    {"journal", 0, "FILE", IMAGES | GC_COMMAND_CHECK,
     "record every image in FILE; skip those that it records as done", gc_set_journal, 0},
    {"hash", 0, "KIND", IMAGES, "hashes of the journal: xxh3 (default) or sha256", gc_set_hash, 0},
    {"retry-failed", 0, NULL, IMAGES, "try images again that failed according to the journal",
     FLAG(journal.retry_failed)},
    {"in-place", 0, NULL, IMAGES,
     "replace each input by its result; with -o: allow outputs to replace their inputs",
     FLAG(batch.in_place)},
    {"preserve", 0, NULL, IMAGES, "give every output the times of its input", FLAG(form.preserve)},
    {"sync", 0, NULL, IMAGES, "flush every output to the disk before it takes its name",
     FLAG(writer.sync)},
    {"max-pixels", 0, "N", IMAGES | GC_COMMAND_COMPARE,
     "refuse images of more pixels (default 1073741824)", gc_set_max_pixels, 0},
    {"white", 0, "V", IMAGES | GC_COMMAND_COMPARE,
     "the sample of a PFM input that is white (default: what its header says, else 255)",
     gc_set_white, 0},
    {"tolerant", 0, NULL, IMAGES | GC_COMMAND_COMPARE,
     "accept truncated images and damaged metadata, with a warning", FLAG(reader.tolerant)},
    {"impl", 'i', "NAME", COMPUTES | GC_COMMAND_CHECK | GC_COMMAND_TUNE,
     "implementation: auto (default) or a name that gconv info lists", gc_set_implementation, 0},
    {"device", 'd', "DEV", COMPUTES | GC_COMMAND_CHECK | GC_COMMAND_TUNE,
     "device: auto (default), cpu, cuda, cuda:N, several GPUs as cuda:N,N or cuda:all",
     gc_set_device, 0},
    {"decoder", 0, "DEC", IMAGES, "what decodes JPEG: auto (default), cpu, or cuda (a GPU)",
     gc_set_decoder, 0},
    {"threads", 'j', "N", COMPUTES | GC_COMMAND_CHECK, "CPU threads (default: all)", gc_set_threads,
     0},
    {"tile", 0, "N", COMPUTES, "tiling factor of tiled, adaptive:unrolled and twopass:tiled",
     gc_set_tile, 0},
    {"block", 0, "WxH", COMPUTES, "thread block of GPU implementations", gc_set_block, 0},
    {"shared-memory", 0, "N", MEASURES,
     "shared memory of a multiprocessor, in bytes, by which adaptive chooses its factor",
     gc_set_shared_memory, 0},
    {"images", 0, "N", GC_COMMAND_CHECK,
     "with --verify: compute about N images again (default: all)", gc_set_images, 0},
    {"verify", 0, NULL, IMAGES | GC_COMMAND_CHECK,
     "compare the result with the reference; a mismatch exits with status 3", FLAG(report.verify)},
    {"explain", 0, NULL, IMAGES | GC_COMMAND_COMPARE,
     "say why this device and implementation were chosen", FLAG(report.explain)},
    {"timings", 0, NULL, IMAGES, "print the time of each stage on standard error",
     FLAG(report.timings)},
    {"preset", 0, "NAME", GC_COMMAND_BENCH,
     "experiment: kth, lecture, adaptive-2011, adaptive-2014, fft-map, fft-locality, roofline, "
     "ours or quick",
     gc_set_preset, 0},
    {"sizes", 0, "LIST", GC_COMMAND_BENCH,
     "sides of the image, N or WxH, with commas (default 4096)", gc_set_sizes, 0},
    {"filters", 0, "LIST", GC_COMMAND_BENCH | GC_COMMAND_TUNE,
     "sides of filters: N, WxH, A..B, A..BxC..D, or one of these after rank1:, with commas",
     gc_set_filters, 0},
    {"sample", 0, "PART", GC_COMMAND_BENCH,
     "measure only N cases of the sweep, or a percentage such as 10%", gc_set_sample, 0},
    {"samples", 0, "KIND", GC_COMMAND_BENCH,
     "samples of the image: grey8 (default), rgb8, rgba8, grey16, rgb16, with commas, or all",
     gc_set_samples, 0},
    {"time", 0, "SECONDS", MEASURES | GC_COMMAND_TUNE, "how long measuring may take", gc_set_time,
     0},
    {"resume", 0, "FILE", GC_COMMAND_BENCH,
     "keep every measurement in FILE; the same command again goes on where it ended", gc_set_resume,
     0},
    {"baseline", 0, "FILE", GC_COMMAND_BENCH,
     "compare with the measurements in FILE, which --resume or --json made", gc_set_baseline, 0},
    {"fail-above", 0, "PCT", GC_COMMAND_BENCH,
     "with --baseline: exit with status 5 if something takes PCT per cent longer",
     gc_set_fail_above, 0},
    {"response", 0, "FILE", GC_COMMAND_KERNEL,
     "write the frequency response of the chain to FILE, which ends in .png or .csv",
     gc_set_response, 0},
    {"write", 0, "FILE", GC_COMMAND_KERNEL,
     "write the filter, or the product of the chain, to FILE", gc_set_write, 0},
    {"notation", 0, "NAME", GC_COMMAND_KERNEL,
     "how --write writes: gconv (default), imagemagick or libvips", gc_set_notation, 0},
    {"json", 0, NULL, WORKS | GC_COMMAND_KERNEL | GC_COMMAND_INFO,
     "machine-readable results on standard output", FLAG(report.json)},
    {"csv", 0, NULL, GC_COMMAND_BENCH,
     "print a line for each result, its values separated by commas", FLAG(measure.csv)},
    {"markdown", 0, NULL, GC_COMMAND_BENCH, "print the table in Markdown", FLAG(measure.markdown)},
    {"html", 0, "FILE", MEASURES, "write a report with charts (needs matplotlib)", gc_set_html, 0},
    {"progress", 0, "WHEN", WORKS, "show progress: auto (default), always or never",
     gc_set_progress, 0},
    {"quiet", 'q', NULL, 0, "print only errors, and what other options ask for",
     FLAG(report.quiet)},
    {"verbose", 'v', NULL, 0, "print warnings and what is being done, too", FLAG(report.verbose)},
    {"help", 'h', NULL, 0, "help on gconv or the command", FLAG(help)},
    {"version", 'V', NULL, 0, "print version, build, libraries, instructions and system",
     FLAG(version)},
};
enum { OPTION_COUNT = sizeof options_table / sizeof options_table[0] };
_Static_assert((int)OPTION_COUNT <= (int)GC_OPTIONS_MAX, "gc_options has an entry for each option");

/* Help on options that mean something else in some commands. */
static const struct {
    const char *option;
    unsigned commands;
    const char *help;
} particular_help[] = {
    {"kernel", GC_COMMAND_COMPARE,
     "filter, as for gconv filter; repeat for a chain (default: the chain of edges)"},
    {"kernel", GC_COMMAND_BENCH,
     "filter, as for gconv filter; repeat for a chain (default: the chain of edges, and filters "
     "with sides from 3 to 43)"},
    {"strip", GC_COMMAND_EDGES, "drop the resolution, the only metadata that edges keeps"},
    {"kernel", GC_COMMAND_KERNEL,
     "filter, as for gconv filter; operands are filters, too; several are a chain (default: the "
     "chain of edges)"},
    {"impl", GC_COMMAND_COMPARE,
     "implementations: names that gconv info lists, or auto, with commas, or all (default)"},
    {"impl", GC_COMMAND_BENCH,
     "implementations: names that gconv info lists, or auto (default), with commas, or all"},
    {"impl", GC_COMMAND_TUNE,
     "implementation: direct, separable (default: both) or adaptive:unrolled"},
    {"journal", GC_COMMAND_CHECK,
     "the journal whose outputs are checked; the operand FILE means the same"},
    {"verify", GC_COMMAND_CHECK,
     "compute the images again and compare; a mismatch exits with status 3"},
    {"device", MEASURES,
     "device for auto and for GPU implementations: auto (default), cpu, cuda or cuda:N"},
    {"filters", GC_COMMAND_TUNE,
     "with --impl adaptive:unrolled: filters to search, N, WxH, A..B or A..BxC..D, with commas"},
    {"device", GC_COMMAND_TUNE, "GPU: auto (default) or cuda, the first, or cuda:N"},
    {"time", GC_COMMAND_COMPARE,
     "seconds for measuring each implementation, without those of the reference (default 1)"},
    {"time", GC_COMMAND_BENCH,
     "seconds for measuring in all, without those of the reference (default 20)"},
    {"time", GC_COMMAND_TUNE,
     "seconds for the search (default: until it is complete, some minutes)"},
};
enum { PARTICULAR_COUNT = sizeof particular_help / sizeof particular_help[0] };

const char *gc_option_help(const gc_option *option, gc_command command)
{
    for (int i = 0; i < PARTICULAR_COUNT; i++)
        if ((particular_help[i].commands & command) != 0 &&
            strcmp(particular_help[i].option, option->name) == 0)
            return particular_help[i].help;
    return option->help;
}

int gc_option_count(void)
{
    return OPTION_COUNT;
}

const gc_option *gc_option_at(int index)
{
    return index >= 0 && index < OPTION_COUNT ? &options_table[index] : NULL;
}

bool gc_option_given(const gc_options *options, const char *name)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (strcmp(options_table[i].name, name) == 0)
            return options->given[i];
    return false;
}

const char *gc_option_value(const gc_options *options, const char *name)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (strcmp(options_table[i].name, name) == 0)
            return options->values[i];
    return NULL;
}
