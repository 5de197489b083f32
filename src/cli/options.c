#include "cli/options.h"

#include "base/nearest.h"
#include "base/number.h"
#include "base/status.h"

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Setters --------------------------------------------------------------------------------- */

/* A name and the value it stands for, in the tables of words that options take. */
typedef struct word {
    const char *name;
    int value;
} word;

/* "; did you mean 'x'?" or nothing. */
static void suggestion(const char *text, const char *const *names, size_t count, char *buffer,
                       size_t size)
{
    const char *nearest = gc_nearest_name(text, names, count);
    buffer[0] = '\0';
    if (nearest != NULL)
        snprintf(buffer, size, "; did you mean '%s'?", nearest);
}

enum { WORDS_MAX = 16 };

static gconv_status set_word(const word *words, size_t count, const char *value, int *result,
                             gconv_error *error)
{
    const char *names[WORDS_MAX];
    char legal[256] = "";
    for (size_t i = 0; i < count; i++) {
        names[i] = words[i].name;
        if (strcmp(words[i].name, value) == 0) {
            *result = words[i].value;
            return GCONV_OK;
        }
        size_t used = strlen(legal);
        snprintf(legal + used, sizeof legal - used, "%s%s",
                 i == 0           ? ""
                 : i + 1 == count ? " or "
                                  : ", ",
                 names[i]);
    }
    char nearest[64];
    suggestion(value, names, count, nearest, sizeof nearest);
    return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%s' is not %s%s", value, legal, nearest);
}

static gconv_status set_integer(const char *value, int low, int high, int *result,
                                gconv_error *error)
{
    long long number;
    if (!gc_parse_integer(value, low, high, &number))
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%s' is not a whole number from %d to %d",
                       value, low, high);
    *result = (int)number;
    return GCONV_OK;
}

static gconv_status set_number(const char *value, double *result, gconv_error *error)
{
    if (!gc_parse_number(value, result))
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%s' is not a finite number", value);
    return GCONV_OK;
}

static gconv_status set_kernel(gc_options *options, const char *value, gconv_error *error)
{
    if (value[0] == '\0')
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "the name of the filter is empty");
    options->kernels[options->kernel_count++] = (char *)value;
    return GCONV_OK;
}

static gconv_status set_border(gc_options *options, const char *value, gconv_error *error)
{
    return gconv_border_parse(value, &options->border, &options->border_value, error);
}

static gconv_status set_alpha(gc_options *options, const char *value, gconv_error *error)
{
    static const word words[] = {{"auto", GCONV_ALPHA_AUTO},
                                 {"keep", GCONV_ALPHA_KEEP},
                                 {"filter", GCONV_ALPHA_FILTER},
                                 {"premultiply", GCONV_ALPHA_PREMULTIPLY}};
    int result;
    gconv_status status = set_word(words, 4, value, &result, error);
    if (status == GCONV_OK)
        options->alpha = (gconv_alpha)result;
    return status;
}

static gconv_status set_threshold(gc_options *options, const char *value, gconv_error *error)
{
    gconv_status status = set_number(value, &options->threshold, error);
    if (status == GCONV_OK && options->threshold < 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "'%s' is negative (a threshold is 0 or more, in 8-bit levels; see --rule)",
                       value);
    return status;
}

static gconv_status set_rule(gc_options *options, const char *value, gconv_error *error)
{
    static const word words[] = {{"abs", GCONV_RULE_ABS},
                                 {"positive", GCONV_RULE_POSITIVE},
                                 {"negative", GCONV_RULE_NEGATIVE}};
    int result;
    gconv_status status = set_word(words, 3, value, &result, error);
    if (status == GCONV_OK)
        options->rule = (gconv_rule)result;
    return status;
}

static gconv_status set_scale(gc_options *options, const char *value, gconv_error *error)
{
    return set_number(value, &options->scale, error);
}

static gconv_status set_offset(gc_options *options, const char *value, gconv_error *error)
{
    options->has_offset = true;
    return set_number(value, &options->offset, error);
}

static gconv_status set_depth(gc_options *options, const char *value, gconv_error *error)
{
    static const word words[] = {{"1", 1}, {"8", 8}, {"16", 16}};
    return set_word(words, 3, value, &options->depth, error);
}

static gconv_status set_format(gc_options *options, const char *value, gconv_error *error)
{
    options->either_pnm = strcmp(value, "pnm") == 0;
    options->format = options->either_pnm ? GCONV_FORMAT_PPM : gconv_format_from_name(value);
    if (options->format != GCONV_FORMAT_UNKNOWN)
        return GCONV_OK;
    static const char *const names[] = {"png", "jpeg", "pnm", "pgm", "ppm", "pfm"};
    char nearest[64];
    suggestion(value, names, 6, nearest, sizeof nearest);
    return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%s' is not png, jpeg, pnm, pgm, ppm or pfm%s",
                   value, nearest);
}

static gconv_status set_quality(gc_options *options, const char *value, gconv_error *error)
{
    return set_integer(value, 1, 100, &options->quality, error);
}

static gconv_status set_compression(gc_options *options, const char *value, gconv_error *error)
{
    return set_integer(value, 0, 9, &options->compression, error);
}

static gconv_status set_output(gc_options *options, const char *value, gconv_error *error)
{
    if (value[0] == '\0')
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "the directory's name is empty");
    options->output_directory = value;
    return GCONV_OK;
}

static gconv_status set_max_pixels(gc_options *options, const char *value, gconv_error *error)
{
    long long number;
    if (!gc_parse_integer(value, 1, INT64_MAX, &number))
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%s' is not a whole number of at least 1",
                       value);
    options->max_pixels = (uint64_t)number;
    return GCONV_OK;
}

/* One name of the registry, "auto" where that has a meaning, or "all" for several. */
static gconv_status check_implementation(const char *name, size_t length, gconv_error *error)
{
    const char *names[64] = {"auto", "all"};
    size_t count = 2;
    gconv_implementation_info info;
    for (int i = 0; i < gconv_implementation_count() && count < 64; i++)
        if (gconv_implementation_describe(i, &info, NULL) == GCONV_OK)
            names[count++] = info.name;
    for (size_t i = 0; i < count; i++)
        if (strlen(names[i]) == length && strncmp(names[i], name, length) == 0)
            return GCONV_OK;
    char text[64], nearest[64], legal[256] = "auto";
    snprintf(text, sizeof text, "%.*s", (int)length, name);
    suggestion(text, names, count, nearest, sizeof nearest);
    for (size_t i = 2; i < count; i++) {
        size_t used = strlen(legal);
        snprintf(legal + used, sizeof legal - used, "%s%s", i + 1 == count ? " or " : ", ",
                 names[i]);
    }
    return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%s' is not %s%s", text, legal, nearest);
}

static gconv_status set_implementation(gc_options *options, const char *value, gconv_error *error)
{
    for (const char *name = value;; name++) {
        size_t length = strcspn(name, ",");
        gconv_status status = check_implementation(name, length, error);
        if (status != GCONV_OK)
            return status;
        name += length;
        if (*name == '\0')
            break;
    }
    options->implementation = value;
    return GCONV_OK;
}

static gconv_status set_device(gc_options *options, const char *value, gconv_error *error)
{
    gconv_device_choice choice;
    gconv_status status = gconv_device_parse(value, &choice, error);
    if (status != GCONV_OK)
        return status;
    options->device = value;
    return GCONV_OK;
}

static gconv_status set_threads(gc_options *options, const char *value, gconv_error *error)
{
    return set_integer(value, 1, 1024, &options->threads, error);
}

static gconv_status set_tile(gc_options *options, const char *value, gconv_error *error)
{
    return set_integer(value, 1, 64, &options->tile, error);
}

static gconv_status set_block(gc_options *options, const char *value, gconv_error *error)
{
    const char *cross = strchr(value, 'x');
    char width[16] = "";
    long long columns = 0, rows = 0;
    if (cross != NULL && (size_t)(cross - value) < sizeof width)
        memcpy(width, value, (size_t)(cross - value));
    if (cross == NULL || !gc_parse_integer(width, 1, INT32_MAX, &columns) ||
        !gc_parse_integer(cross + 1, 1, INT32_MAX, &rows))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "'%s' is not WxH, a thread block of at most 1024 threads", value);
    if (columns * rows > 1024)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "'%s' is too large: %lld threads, and a block has at most 1024", value,
                       columns * rows);
    options->block_width = (int)columns;
    options->block_height = (int)rows;
    return GCONV_OK;
}

static gconv_status set_progress(gc_options *options, const char *value, gconv_error *error)
{
    static const word words[] = {
        {"auto", GC_PROGRESS_AUTO}, {"always", GC_PROGRESS_ALWAYS}, {"never", GC_PROGRESS_NEVER}};
    int result;
    gconv_status status = set_word(words, 3, value, &result, error);
    if (status == GCONV_OK)
        options->progress = (gc_progress)result;
    return status;
}

static gconv_status set_time(gc_options *options, const char *value, gconv_error *error)
{
    gconv_status status = set_number(value, &options->time, error);
    if (status == GCONV_OK && !(options->time > 0 && options->time <= 86400))
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%s' is not a number of seconds up to 86400",
                       value);
    return status;
}

/* ---- The table ------------------------------------------------------------------------------- */

enum {
    IMAGES = GC_COMMAND_EDGES | GC_COMMAND_FILTER,
    MEASURES = GC_COMMAND_COMPARE | GC_COMMAND_BENCH,
    COMPUTES = IMAGES | MEASURES,
};

#define FLAG(field) NULL, offsetof(gc_options, field)

static const gc_option options_table[] = {
    {"kernel", 'k', "K", GC_COMMAND_FILTER | MEASURES,
     "filter: file, built-in name, generator or ImageMagick string; repeat for a chain", set_kernel,
     0},
    {"threshold", 't', "T", GC_COMMAND_EDGES | GC_COMMAND_COMPARE,
     "edge where |response| > T, in 8-bit levels (default 5)", set_threshold, 0},
    {"rule", 0, "R", GC_COMMAND_EDGES, "side of the response: abs (default), positive, negative",
     set_rule, 0},
    {"invert", 0, NULL, GC_COMMAND_EDGES, "black edges on white", FLAG(invert)},
    {"border", 'b', "MODE", COMPUTES,
     "mirror (default), mirror101, replicate, wrap, constant[:V] or zero", set_border, 0},
    {"correlate", 0, NULL, GC_COMMAND_FILTER | MEASURES, "correlate instead of convolving",
     FLAG(correlate)},
    {"scale", 0, "S", GC_COMMAND_FILTER, "multiply the result (default 1)", set_scale, 0},
    {"offset", 0, "O", GC_COMMAND_FILTER,
     "add to the result, in 8-bit levels (default the filter's)", set_offset, 0},
    {"abs", 0, NULL, GC_COMMAND_FILTER, "take the absolute value before scale and offset",
     FLAG(absolute)},
    {"alpha", 0, "MODE", GC_COMMAND_FILTER | GC_COMMAND_COMPARE,
     "transparency: auto (default), keep, filter or premultiply", set_alpha, 0},
    {"depth", 0, "N", IMAGES, "bits a sample of the output: 1, 8 or 16", set_depth, 0},
    {"format", 'f', "F", IMAGES, "output format: png, jpeg, pnm (pgm or ppm), pgm, ppm or pfm",
     set_format, 0},
    {"quality", 0, "Q", IMAGES, "JPEG quality, 1 to 100 (default 90)", set_quality, 0},
    {"compression", 0, "L", IMAGES, "PNG compression, 0 to 9 (default: fast)", set_compression, 0},
    {"strip", 0, NULL, IMAGES, "drop colour profile, resolution and EXIF", FLAG(strip)},
    {"no-auto-orient", 0, NULL, IMAGES | GC_COMMAND_COMPARE, "leave EXIF orientation as it is",
     FLAG(no_auto_orient)},
    {"output", 'o', "DIR", IMAGES, "write to DIR, under the inputs' names", set_output, 0},
    {"recursive", 'r', NULL, IMAGES, "take directories with all below them", FLAG(recursive)},
    {"no-clobber", 'n', NULL, IMAGES, "leave existing outputs alone", FLAG(no_clobber)},
    {"in-place", 0, NULL, IMAGES, "let outputs replace their inputs; without -o every one does",
     FLAG(in_place)},
    {"sync", 0, NULL, IMAGES, "flush every output to the disk before it takes its name",
     FLAG(sync)},
    {"max-pixels", 0, "N", IMAGES | GC_COMMAND_COMPARE, "refuse larger images (default 1073741824)",
     set_max_pixels, 0},
    {"tolerant", 0, NULL, IMAGES | GC_COMMAND_COMPARE,
     "take truncated images; what is missing is a warning", FLAG(tolerant)},
    {"impl", 'i', "NAME", COMPUTES | GC_COMMAND_TUNE,
     "implementation: auto (default) or a name of gconv info", set_implementation, 0},
    {"device", 'd', "DEV", COMPUTES | GC_COMMAND_TUNE, "auto (default), cpu, cuda or cuda:N",
     set_device, 0},
    {"threads", 'j', "N", COMPUTES, "CPU threads (default: all)", set_threads, 0},
    {"tile", 0, "N", COMPUTES, "tiling factor of tiled GPU implementations", set_tile, 0},
    {"block", 0, "WxH", COMPUTES, "thread block of GPU implementations", set_block, 0},
    {"verify", 0, NULL, IMAGES, "compare with the reference; a mismatch is exit 3", FLAG(verify)},
    {"explain", 0, NULL, IMAGES | GC_COMMAND_COMPARE,
     "say why this device and implementation were chosen", FLAG(explain)},
    {"timings", 0, NULL, IMAGES, "time of each stage, on standard error", FLAG(timings)},
    {"time", 0, "SECONDS", MEASURES | GC_COMMAND_TUNE, "how long measuring may take", set_time, 0},
    {"json", 0, NULL, COMPUTES | GC_COMMAND_TUNE | GC_COMMAND_INFO,
     "machine-readable results on standard output", FLAG(json)},
    {"progress", 0, "WHEN", COMPUTES | GC_COMMAND_TUNE, "auto (default), always or never",
     set_progress, 0},
    {"quiet", 'q', NULL, 0, "errors only", FLAG(quiet)},
    {"verbose", 'v', NULL, 0, "also warnings and what is being done", FLAG(verbose)},
    {"help", 'h', NULL, 0, "help on gconv or the command", FLAG(help)},
    {"version", 'V', NULL, 0, "version, build, libraries, instructions, system", FLAG(version)},
};
enum { OPTION_COUNT = sizeof options_table / sizeof options_table[0] };
_Static_assert(OPTION_COUNT <= 64, "options given are kept as bits of a uint64_t");

/* Where a command takes an option that means something else there. */
static const struct {
    const char *option;
    unsigned commands;
    const char *help;
} particular_help[] = {
    {"kernel", GC_COMMAND_COMPARE,
     "filter, as of gconv filter; repeat for a chain (default: the chain of edges)"},
    {"kernel", GC_COMMAND_BENCH,
     "filter, as of gconv filter; repeat for a chain (default: edges, and sides 3 to 43)"},
    {"strip", GC_COMMAND_EDGES, "drop the resolution, which is all that edges keeps"},
    {"impl", GC_COMMAND_COMPARE,
     "implementations: names of gconv info or auto, with commas, or all (default)"},
    {"impl", GC_COMMAND_BENCH,
     "implementations: names of gconv info or auto (default), with commas, or all"},
    {"impl", GC_COMMAND_TUNE, "implementation: direct or separable (default: both)"},
    {"device", MEASURES,
     "for auto and implementations of GPUs: auto (default), cpu, cuda or cuda:N"},
    {"device", GC_COMMAND_TUNE, "GPU: cuda, the first (default), or cuda:N"},
    {"time", GC_COMMAND_COMPARE,
     "how long measuring each implementation may take, the reference aside (default 1)"},
    {"time", GC_COMMAND_BENCH,
     "how long measuring may take in all, the reference aside (default 20)"},
    {"time", GC_COMMAND_TUNE, "how long the search may take (default: to its end, some minutes)"},
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

/* ---- The parser ------------------------------------------------------------------------------ */

/* getopt_long's tables, made from ours. Option i returns LONG_BASE + i, an operand OPERAND: so
 * options may follow operands even where POSIXLY_CORRECT is set. */
enum { OPERAND = 1, LONG_BASE = 256 };

typedef struct getopt_tables {
    struct option long_options[OPTION_COUNT + 1];
    char letters[3 * OPTION_COUNT + 3];
} getopt_tables;

static void make_tables(getopt_tables *tables)
{
    memset(tables, 0, sizeof *tables);
    char *letter = tables->letters;
    *letter++ = '-';
    *letter++ = ':';
    for (int i = 0; i < OPTION_COUNT; i++) {
        const gc_option *option = &options_table[i];
        int has_argument = option->argument != NULL ? required_argument : no_argument;
        tables->long_options[i] = (struct option){option->name, has_argument, NULL, LONG_BASE + i};
        if (option->letter == 0)
            continue;
        *letter++ = option->letter;
        if (option->argument != NULL)
            *letter++ = ':';
    }
}

static int option_index(int code)
{
    if (code >= LONG_BASE)
        return code - LONG_BASE;
    for (int i = 0; i < OPTION_COUNT; i++)
        if (options_table[i].letter == code)
            return i;
    return -1;
}

/* A long option that is none, or begins several. */
static gconv_status refuse_long_option(const char *argument, gconv_error *error)
{
    char name[64], candidates[256] = "";
    snprintf(name, sizeof name, "%.*s", (int)strcspn(argument + 2, "="), argument + 2);
    const char *names[OPTION_COUNT];
    for (int i = 0; i < OPTION_COUNT; i++) {
        names[i] = options_table[i].name;
        size_t used = strlen(candidates);
        if (strncmp(names[i], name, strlen(name)) == 0)
            snprintf(candidates + used, sizeof candidates - used, "%s --%s", used > 0 ? "," : "",
                     names[i]);
    }
    if (candidates[0] != '\0')
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "option '--%s' is ambiguous:%s", name,
                       candidates);
    const char *nearest = gc_nearest_name(name, names, OPTION_COUNT);
    if (nearest != NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "unknown option '--%s'; did you mean '--%s'?",
                       name, nearest);
    return gc_fail(error, GCONV_ERROR_ARGUMENT, "unknown option '--%s'; see gconv --help", name);
}

/* Puts "option '--name': " before a setter's message. */
static gconv_status blame_option(const gc_option *option, gconv_error *error)
{
    char message[sizeof error->message];
    memcpy(message, error->message, sizeof message);
    return gc_fail(error, error->status, "option '--%s': %.400s", option->name, message);
}

static gconv_status take_option(int code, char **argv, gc_options *options, gconv_error *error)
{
    if (code == '?' && optopt == 0)
        return refuse_long_option(argv[optind - 1], error);
    if (code == '?' && optopt < LONG_BASE)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "unknown option '-%c'; see gconv --help",
                       optopt);
    int index = option_index(code == '?' || code == ':' ? optopt : code);
    const gc_option *option = &options_table[index];
    if (code == '?')
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "option '--%s' takes no value", option->name);
    if (code == ':')
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "option '--%s' needs a value (%s)",
                       option->name, option->argument);
    options->given |= UINT64_C(1) << index;
    if (option->set == NULL)
        *(bool *)((char *)options + option->flag) = true;
    else if (option->set(options, optarg, error) != GCONV_OK)
        return blame_option(option, error);
    return GCONV_OK;
}

static gconv_status read_arguments(int argc, char **argv, gc_options *options, gconv_error *error)
{
    getopt_tables tables;
    make_tables(&tables);
    opterr = 0;
    int code;
    while ((code = getopt_long(argc, argv, tables.letters, tables.long_options, NULL)) != -1) {
        if (code == OPERAND)
            options->operands[options->operand_count++] = optarg;
        else if (take_option(code, argv, options, error) != GCONV_OK)
            return error->status;
    }
    while (optind < argc)
        options->operands[options->operand_count++] = argv[optind++];
    return GCONV_OK;
}

/* ---- What belongs together ------------------------------------------------------------------- */

/* The first operand is the command. */
static gconv_status take_command(gc_options *options, gconv_error *error)
{
    if (options->operand_count == 0 || options->version)
        return GCONV_OK;
    const gc_command_row *row;
    gconv_status status = gc_command_find(options->operands[0], &row, error);
    if (status != GCONV_OK)
        return status;
    options->command = row->command;
    options->operand_count--;
    memmove(options->operands, options->operands + 1,
            (size_t)options->operand_count * sizeof options->operands[0]);
    return GCONV_OK;
}

static gconv_status check_options(const gc_options *options, const char *command,
                                  gconv_error *error)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        const gc_option *option = &options_table[i];
        bool given = (options->given >> i & 1) != 0;
        if (given && option->commands != 0 && (option->commands & options->command) == 0)
            return gc_fail(error, GCONV_ERROR_ARGUMENT,
                           "option '--%s' does not belong to 'gconv %s'", option->name, command);
    }
    const char *names = options->implementation;
    bool several = names != NULL && (strchr(names, ',') != NULL || strcmp(names, "all") == 0);
    if (several && (options->command & MEASURES) == 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "option '--impl': '%s' names several; a list and all are for compare and "
                       "bench",
                       names);
    return GCONV_OK;
}

static gconv_status check_operands(const gc_options *options, const gc_command_row *row,
                                   gconv_error *error)
{
    for (int i = 0; i < options->operand_count; i++)
        if (options->operands[i][0] == '\0')
            return gc_fail(error, GCONV_ERROR_ARGUMENT, "the name of a file is empty");
    if (options->operand_count < row->operands_min)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "'gconv %s' needs an operand: %s", row->name,
                       row->synopsis[0]);
    if (options->operand_count > row->operands_max)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%s' is one operand too many: %s",
                       options->operands[row->operands_max], row->synopsis[0]);
    return GCONV_OK;
}

static gconv_status check_belonging(const gc_options *options, gconv_error *error)
{
    const gc_command_row *row = gc_command_of(options->command);
    if (row == NULL || options->help || options->version)
        return GCONV_OK;
    gconv_status status = check_options(options, row->name, error);
    return status == GCONV_OK ? check_operands(options, row, error) : status;
}

gconv_status gc_options_parse(int argc, char **argv, gc_options *options, gconv_error *error)
{
    *options = (gc_options){
        .border = GCONV_BORDER_MIRROR,
        .alpha = GCONV_ALPHA_AUTO,
        .threshold = 5,
        .scale = 1,
        .quality = 90,
        .compression = -1,
        .max_pixels = UINT64_C(1) << 30,
        .device = "auto",
    };
    /* Neither can have more than there are arguments. */
    options->kernels = calloc((size_t)argc + 1, sizeof(char *));
    options->operands = calloc((size_t)argc + 1, sizeof(char *));
    if (options->kernels == NULL || options->operands == NULL)
        return gc_fail_memory(error, (size_t)argc * sizeof(char *));
    gconv_status status = read_arguments(argc, argv, options, error);
    if (status == GCONV_OK)
        status = take_command(options, error);
    return status == GCONV_OK ? check_belonging(options, error) : status;
}

void gc_options_free(gc_options *options)
{
    free(options->kernels);
    free(options->operands);
    options->kernels = NULL;
    options->operands = NULL;
}
