#include "cli/options/options.h"

#include "base/nearest.h"
#include "base/status.h"
#include "cli/options/implementations.h"
#include "cli/options/table.h"
#include "cli/options/values.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Tables for getopt_long, made from the table of options. getopt_long returns LONG_BASE + i for
 * option i and OPERAND for an operand. Operands are returned so that options may follow them even
 * if POSIXLY_CORRECT is set. */
enum { OPERAND = 1, LONG_BASE = 256, OPTIONS_MAX = GC_OPTIONS_MAX };

typedef struct getopt_tables {
    struct option long_options[OPTIONS_MAX + 1];
    char letters[3 * OPTIONS_MAX + 3];
} getopt_tables;

static void make_tables(getopt_tables *tables)
{
    memset(tables, 0, sizeof *tables);
    char *letter = tables->letters;
    *letter++ = '-';
    *letter++ = ':';
    for (int i = 0; i < gc_option_count(); i++) {
        const gc_option *option = gc_option_at(i);
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
    for (int i = 0; i < gc_option_count(); i++)
        if (gc_option_at(i)->letter == code)
            return i;
    return -1;
}

/* What options are called in other programs, and what does that here. */
static const char *const guesses[][2] = {
    {"canny", "method canny"}, {"cpu", "device cpu"},     {"cuda", "device cuda"},
    {"gpu", "device cuda"},    {"jobs", "threads"},       {"opencv", "like opencv"},
    {"outdir", "output"},      {"overwrite", "in-place"}, {"style", "lines"},
};

/* Refuses a long option that does not exist, or that is the beginning of several names. */
static gconv_status refuse_long_option(const char *argument, gconv_error *error)
{
    char name[64], candidates[256] = "";
    snprintf(name, sizeof name, "%.*s", (int)strcspn(argument + 2, "="), argument + 2);
    const char *names[OPTIONS_MAX];
    for (int i = 0; i < gc_option_count(); i++) {
        names[i] = gc_option_at(i)->name;
        size_t used = strlen(candidates);
        if (strncmp(names[i], name, strlen(name)) == 0)
            snprintf(candidates + used, sizeof candidates - used, "%s --%s", used > 0 ? "," : "",
                     names[i]);
    }
    if (candidates[0] != '\0')
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "option '--%s' is ambiguous:%s", name,
                       candidates);
    const char *nearest = gc_nearest_name(name, names, gc_option_count());
    for (size_t i = 0; i < sizeof guesses / sizeof guesses[0]; i++)
        nearest = strcmp(name, guesses[i][0]) == 0 ? guesses[i][1] : nearest;
    if (nearest != NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "unknown option '--%s'; did you mean '--%s'?",
                       name, nearest);
    return gc_fail(error, GCONV_ERROR_ARGUMENT, "unknown option '--%s'; see gconv help", name);
}

static gconv_status take_option(int code, char **argv, gc_options *options, gconv_error *error)
{
    if (code == '?' && optopt == 0)
        return refuse_long_option(argv[optind - 1], error);
    if (code == '?' && optopt < LONG_BASE)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "unknown option '-%c'; see gconv help", optopt);
    int index = option_index(code == '?' || code == ':' ? optopt : code);
    const gc_option *option = gc_option_at(index);
    if (code == '?')
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "option '--%s' takes no value", option->name);
    if (code == ':')
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "option '--%s' needs a value (%s)%s",
                       option->name, option->argument,
                       strcmp(option->argument, "COLOUR") == 0 ? "; in a shell # takes quotes"
                                                               : "");
    options->given[index] = true;
    options->values[index] = option->argument != NULL ? optarg : NULL;
    if (gc_value_read(&option->value, optarg, options, error) != GCONV_OK)
        return gc_blame_option(option->name, error);
    return GCONV_OK;
}

/* Whether a word that looks like options is a file, as a glob may give it. If it could be read as
 * options `without_fault`, only the name of an image counts. */
static bool is_file_name(const char *word, bool without_fault)
{
    bool is_image = word[1] != '-' && gconv_format_from_path(word) != GCONV_FORMAT_UNKNOWN;
    return access(word, F_OK) == 0 && (is_image || !without_fault);
}

static gconv_status read_arguments(int argc, char **argv, gc_options *options, gconv_error *error)
{
    getopt_tables tables;
    make_tables(&tables);
    opterr = 0;
    optind = 0; /* makes getopt begin anew, for the recorded options of gconv check */
    int code;
    for (int at = 1;
         (code = getopt_long(argc, argv, tables.letters, tables.long_options, NULL)) != -1;
         at = optind) {
        const char *word = argv[at];
        gconv_status status = GCONV_OK;
        if (code == OPERAND)
            options->operands[options->operand_count++] = optarg;
        else
            status = take_option(code, argv, options, error);
        if (code != OPERAND && is_file_name(word, status == GCONV_OK))
            return gc_fail(error, GCONV_ERROR_ARGUMENT,
                           "'%.150s' is a file, and is read as options; write './%.150s', or '--' "
                           "before the names",
                           word, word);
        GC_TRY(status);
    }
    while (optind < argc)
        options->operands[options->operand_count++] = argv[optind++];
    return GCONV_OK;
}

/* ---- What belongs together ------------------------------------------------------------------- */

/* Refuses a first operand in front of which the command was forgotten. GCONV_OK if nothing says
 * which one: the operand names no file, or no command takes the options with it, and no option
 * belongs to one command alone. */
static gconv_status refuse_operand(const gc_options *options, gconv_error *error)
{
    const char *name = options->operands[0];
    unsigned meant = ~0U, own = 0;
    for (int i = 0; i < gc_option_count(); i++) {
        unsigned commands = gc_option_at(i)->commands;
        if (!options->given[i] || commands == 0)
            continue;
        meant &= commands;
        own |= gc_command_of(commands) != NULL ? commands : 0;
    }
    bool is_file = strcmp(name, "-") == 0 || strpbrk(name, "./") != NULL || access(name, F_OK) == 0;
    if (is_file && (meant & GC_COMMANDS_OF_IMAGES) != 0)
        meant &= GC_COMMANDS_OF_IMAGES;
    else if (is_file && (meant & GC_COMMAND_COMPARE) != 0 && options->operand_count == 1)
        meant = GC_COMMAND_COMPARE;
    else
        meant &= own;
    const gc_command_row *row = gc_command_of(meant);
    if (meant == 0)
        return GCONV_OK;
    if (row == NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "no command before '%.300s'; did you mean 'gconv edges', 'gconv sketch', "
                       "or 'gconv filter' with --kernel?",
                       name);
    return gc_fail(error, GCONV_ERROR_ARGUMENT,
                   "no command before '%.300s'; did you mean 'gconv %s'?", name, row->name);
}

/* The first operand is the command. */
static gconv_status take_command(gc_options *options, gconv_error *error)
{
    if (options->operand_count == 0 || options->version)
        return GCONV_OK;
    const gc_command_row *row;
    gconv_status status = gc_command_find(options->operands[0], &row, error);
    if (status != GCONV_OK)
        return row == NULL && refuse_operand(options, error) != GCONV_OK ? error->status : status;
    options->command = row->command;
    options->operand_count--;
    memmove(options->operands, options->operands + 1,
            (size_t)options->operand_count * sizeof options->operands[0]);
    if (options->command == GC_COMMAND_KERNEL) { /* operands are filters */
        for (int i = 0; i < options->operand_count; i++)
            options->kernels[options->kernel_count++] = options->operands[i];
        options->operand_count = 0;
    }
    return GCONV_OK;
}

/* Takes operands that stand for options: the journal of `check`, and a last name that ends in a
 * slash, the directory of the outputs. */
static gconv_status take_operands(gc_options *options, gconv_error *error)
{
    int last = options->operand_count - 1, inputs = options->batch.files_from == NULL;
    if (options->command == GC_COMMAND_CHECK && options->operand_count == 1) {
        options->operand_count = 0;
        return gc_set_journal(options, options->operands[0], error);
    }
    if ((options->command & GC_COMMANDS_OF_IMAGES) == 0 || gc_is_batch(options) || last < inputs)
        return GCONV_OK;
    const char *name = options->operands[last];
    if (name[0] == '\0' || name[strlen(name) - 1] != '/')
        return GCONV_OK;
    options->operand_count = last;
    options->batch.directory = name;
    return GCONV_OK;
}

/* A list of implementations is for commands that measure. These take one device. */
static gconv_status check_lists(const gc_options *options, const char *command, gconv_error *error)
{
    bool measures = (options->command & GC_COMMANDS_THAT_MEASURE) != 0;
    const char *names = options->implementations;
    if ((options->device.all || options->device.count > 1) &&
        (measures || options->command == GC_COMMAND_TUNE))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "option '--device': '%s' names several; 'gconv %s' measures on one",
                       options->job.device, command);
    if (names != NULL && gc_names_several(names) && !measures)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "option '--impl': '%s' names several; a list and all are for compare and "
                       "bench",
                       names);
    return GCONV_OK;
}

/* Options of methods other than the one that finds edges. */
static gconv_status check_method(const gc_options *options, gconv_error *error)
{
    enum {
        LAPLACE = 1 << GCONV_METHOD_LAPLACE,
        CROSSING = 1 << GCONV_METHOD_ZERO_CROSSING,
        GRADIENT = 1 << GCONV_METHOD_GRADIENT,
        CANNY = 1 << GCONV_METHOD_CANNY
    };
    static const struct {
        const char *option;
        unsigned methods;
        const char *needs;
    } belongings[] = {
        {"like", CANNY, "canny"},
        {"threshold", LAPLACE | CROSSING | GRADIENT, "laplace, zero-crossing or gradient"},
        {"rule", LAPLACE, "laplace"},
        {"values", LAPLACE | GRADIENT, "laplace or gradient"},
        {"operator", GRADIENT | CANNY, "gradient or canny"},
        {"norm", GRADIENT | CANNY, "gradient or canny"},
        {"low", CANNY, "canny"},
        {"high", CANNY, "canny"},
    };
    unsigned method = 1U << options->detector.method;
    for (size_t i = 0; i < sizeof belongings / sizeof *belongings; i++)
        if (gc_option_given(options, belongings[i].option) && (belongings[i].methods & method) == 0)
            return gc_fail(error, GCONV_ERROR_ARGUMENT, "option '--%s' needs --method %s%s",
                           belongings[i].option, belongings[i].needs,
                           method == CANNY && options->draw.cut == GC_CUT_AUTO
                               ? "; --high auto finds thresholds of canny"
                               : "");
    if (options->detector.like == GCONV_LIKE_OPENCV && gc_option_given(options, "border") &&
        options->job.border != GCONV_BORDER_REPLICATE)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "option '--border': with --like opencv the border is replicate");
    if (options->detector.like == GCONV_LIKE_OPENCV && options->draw.sigma > 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "option '--sigma': with --like opencv there is no blur");
    if (method == CANNY && options->rows.count > 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "option '--rows': a line of Canny may begin anywhere in the image, so its "
                       "rows cannot be computed alone");
    return GCONV_OK;
}

static gconv_status check_options(const gc_options *options, const char *command,
                                  gconv_error *error)
{
    for (int i = 0; i < gc_option_count(); i++) {
        const gc_option *option = gc_option_at(i);
        if (options->given[i] && !gc_option_belongs(option, options->command))
            return gc_fail(error, GCONV_ERROR_ARGUMENT,
                           "option '--%s' does not belong to 'gconv %s'", option->name, command);
    }
    bool finds = options->draw.finds_low || options->draw.finds_high;
    if (options->draw.cut != GC_CUT_GIVEN &&
        (options->command != GC_COMMAND_EDGES ||
         options->detector.method == GCONV_METHOD_ZERO_CROSSING))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "option '--threshold': auto and per cent are for 'gconv edges' by --method "
                       "laplace or gradient");
    if (finds && !gc_finds_edges(options))
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "option '--%s': auto is for 'gconv edges'",
                       gc_option_given(options, "high") ? "high" : "low");
    const gc_draw_options *draw = &options->draw;
    if (options->command == GC_COMMAND_SKETCH && !draw->transparent &&
        memcmp(draw->ink, draw->paper, sizeof draw->ink) == 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "--ink and --paper are the same colour: nothing would be seen");
    if (options->command == GC_COMMAND_SKETCH && draw->least > 0 && draw->lines != GC_LINES_THIN)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "--min-length of a sketch is about thin lines; add --lines thin");
    if (options->draw.overlays && (options->form.depth == 1 || options->job.invert))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "--overlay draws in one colour over the picture; leave out --depth 1 and "
                       "--invert");
    if (options->draw.values &&
        (gc_keeps_responses(options) || gc_option_given(options, "threshold") ||
         gc_option_given(options, "rule") || options->job.invert || options->form.depth == 1))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "--values writes responses, and no edges; leave out --threshold, --rule, "
                       "--invert, --thin, --min-length, --overlay and --depth 1");
    const char *decoder = gc_gpu_decoder(options);
    if (decoder != NULL && strcmp(options->job.device, "cpu") == 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "option '--decoder': '%s' needs a GPU, and --device is cpu", decoder);
    GC_TRY(gc_check_rows(options, error));
    GC_TRY(check_method(options, error));
    return check_lists(options, command, error);
}

static gconv_status check_operands(const gc_options *options, const gc_command_row *row,
                                   gconv_error *error)
{
    for (int i = 0; i < options->operand_count; i++)
        if (options->operands[i][0] == '\0')
            return gc_fail(error, GCONV_ERROR_ARGUMENT, "the name of a file is empty");
    if (options->operand_count < row->operands_min)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "'gconv %s' needs an operand: %s", row->name,
                       row->synopsis);
    if (options->operand_count > row->operands_max)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%s' is one operand too many: %s",
                       options->operands[row->operands_max], row->synopsis);
    return GCONV_OK;
}

static gconv_status check_belonging(const gc_options *options, gconv_error *error)
{
    const gc_command_row *row = gc_command_of(options->command);
    if (row == NULL || options->help || options->version)
        return GCONV_OK;
    GC_TRY(check_options(options, row->name, error));
    return check_operands(options, row, error);
}

gconv_status gc_options_parse(int argc, char **argv, gc_options *options, gconv_error *error)
{
    *options = (gc_options){
        .job = gconv_job_default(),
        .device.any = true,
        .tiling = gconv_tiling_default(),
        .detector = gconv_detector_default(),
        .words = argv + (argc > 0),
        .word_count = argc > 0 ? argc - 1 : 0,
        .reader = gconv_reader_options_default(),
        .writer = gconv_writer_options_default(),
        .draw.paper = {UINT8_MAX, UINT8_MAX, UINT8_MAX},
        .measure.fail_above = -1,
    };
    options->job.alpha = GCONV_ALPHA_AUTO;
    /* There cannot be more kernels or operands than arguments. */
    options->kernels = calloc((size_t)argc + 1, sizeof(char *));
    options->operands = calloc((size_t)argc + 1, sizeof(char *));
    GC_TRY_MEMORY(options->kernels != NULL && options->operands != NULL, error,
                  (size_t)argc * sizeof(char *));
    gconv_status status = read_arguments(argc, argv, options, error);
    options->job.has_offset = gc_option_given(options, "offset");
    if (options->detector.like == GCONV_LIKE_OPENCV && !gc_option_given(options, "method"))
        options->detector.method = GCONV_METHOD_CANNY;
    gc_draw_options *draw = &options->draw;
    if (draw->lines == GC_LINES_THIN) {
        options->detector.method = GCONV_METHOD_CANNY;
        draw->finds_high = true;
    }
    draw->finds_high |= draw->finds_low && !gc_option_given(options, "high");
    draw->finds_low |= draw->finds_high && !gc_option_given(options, "low");
    if (draw->finds_high) /* until it is found */
        options->detector.high = fmax(options->detector.high, options->detector.low);
    if (options->detector.method == GCONV_METHOD_GRADIENT && !gc_option_given(options, "threshold"))
        options->job.threshold = options->detector.high;
    GC_THEN(status, take_command(options, error));
    GC_THEN(status, take_operands(options, error));
    return status == GCONV_OK ? check_belonging(options, error) : status;
}

void gc_options_free(gc_options *options)
{
    free(options->kernels);
    free(options->operands);
    options->kernels = NULL;
    options->operands = NULL;
}
