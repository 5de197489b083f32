#include "cli/options/values.h"

#include "base/number.h"
#include "base/status.h"
#include "cli/options/commands.h"
#include "cli/options/implementations.h"
#include "cli/options/template.h"
#include "cli/options/words.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

/* ---- Kinds of values ------------------------------------------------------------------------- */

static gconv_status read_whole(const gc_value *value, const char *text, int *field,
                               gconv_error *error)
{
    long long number;
    if (!gc_parse_integer(text, (long long)value->low, (long long)value->high, &number))
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%s' is not a whole number from %.0f to %.0f",
                       text, value->low, value->high);
    *field = (int)number;
    return GCONV_OK;
}

static gconv_status read_count(const char *text, uint64_t *field, gconv_error *error)
{
    long long number;
    if (!gc_parse_integer(text, 1, INT64_MAX, &number))
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%s' is not a whole number of at least 1",
                       text);
    *field = (uint64_t)number;
    return GCONV_OK;
}

static gconv_status read_number(const gc_value *value, const char *text, double *field,
                                gconv_error *error)
{
    bool above = value->kind == GC_VALUE_ABOVE;
    char most[40] = "";
    bool is_fraction = value->kind == GC_VALUE_FRACTION;
    if (!(is_fraction ? gc_parse_quotient(text, &field[0], &field[1])
                      : gc_parse_number(text, field)))
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%s' is not a finite number%s", text,
                       is_fraction ? " or a fraction p/q, q above 0" : "");
    if ((above ? *field > value->low : *field >= value->low) && *field <= value->high)
        return GCONV_OK;
    if (value->high < DBL_MAX)
        snprintf(most, sizeof most, " and at most %g", value->high);
    return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%s' is not a number %s %g%s", text,
                   above ? "above" : "of at least", value->low, most);
}

static gconv_status read_name(const gc_value *value, const char *text, const char **field,
                              gconv_error *error)
{
    if (text[0] == '\0')
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "the %s's name is empty",
                       value->kind == GC_VALUE_FILE ? "file" : "directory");
    *field = text;
    return GCONV_OK;
}

gconv_status gc_value_read(const gc_value *value, const char *text, gc_options *options,
                           gconv_error *error)
{
    void *field = (char *)options + value->field;
    int number;
    switch (value->kind) {
    case GC_VALUE_WORD:
        return gc_read_word(value->words, text, field, error);
    case GC_VALUE_TEXT:
        *(const char **)field = text;
        return GCONV_OK;
    case GC_VALUE_CHOICE:
        *(const char **)field = text;
        return gc_read_word(value->words, text, &number, error);
    case GC_VALUE_WHOLE:
        return read_whole(value, text, field, error);
    case GC_VALUE_COUNT:
        return read_count(text, field, error);
    case GC_VALUE_NUMBER:
    case GC_VALUE_FRACTION:
    case GC_VALUE_ABOVE:
        return read_number(value, text, field, error);
    case GC_VALUE_FILE:
    case GC_VALUE_DIRECTORY:
        return read_name(value, text, field, error);
    case GC_VALUE_READ:
        return value->read(options, text, error);
    default:
        *(bool *)field = value->kind == GC_VALUE_SET;
        return GCONV_OK;
    }
}

/* ---- What several options are together ------------------------------------------------------- */

bool gc_is_batch(const gc_options *options)
{
    return options->batch.directory != NULL || options->batch.in_place;
}

const char *gc_gpu_decoder(const gc_options *options)
{
    return options->reader.decoder == GCONV_DECODER_CUDA ? "cuda" : NULL;
}

bool gc_names_gpu(const gc_options *options)
{
    return gc_gpu_decoder(options) != NULL ||
           (!options->device.any && options->device.kind == GCONV_DEVICE_CUDA);
}

/* ---- Values that have a form of their own ---------------------------------------------------- */

gconv_status gc_set_kernel(gc_options *options, const char *value, gconv_error *error)
{
    if (value[0] == '\0')
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "the name of the filter is empty");
    options->kernels[options->kernel_count++] = (char *)value;
    return GCONV_OK;
}

/* Reads a number, or a number before "%". */
static bool read_part(const char *text, double *number, bool *is_part)
{
    char digits[64];
    size_t length = strlen(text);
    *is_part = length > 0 && text[length - 1] == '%';
    if (!*is_part)
        return gc_parse_number(text, number);
    snprintf(digits, sizeof digits, "%.*s", (int)(length - 1), text);
    return length <= sizeof digits && gc_parse_number(digits, number);
}

gconv_status gc_set_threshold(gc_options *options, const char *value, gconv_error *error)
{
    double number, denominator;
    bool is_part = false;
    options->draw.cut = GC_CUT_AUTO;
    if (strcmp(value, "auto") == 0)
        return GCONV_OK;
    if (!gc_parse_quotient(value, &number, &denominator) &&
        !(read_part(value, &number, &is_part) && is_part))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "'%s' is not a finite number or a fraction p/q, q above 0, nor auto, nor "
                       "per cent of the pixels as in 10%%",
                       value);
    if (number < 0 || (is_part && number > 100))
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%s' is not %s", value,
                       is_part ? "0% to 100% of the pixels" : "a number of at least 0");
    options->draw.cut = is_part ? GC_CUT_SHARE : GC_CUT_GIVEN;
    if (is_part) {
        options->draw.share = number;
        return GCONV_OK;
    }
    options->job.threshold = number;
    options->job.threshold_denominator = denominator;
    return GCONV_OK;
}

static gconv_status read_limit(const char *text, double *limit, bool *is_found, gconv_error *error)
{
    *is_found = strcmp(text, "auto") == 0;
    if (*is_found || (gc_parse_number(text, limit) && *limit >= 0))
        return GCONV_OK;
    return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%s' is not a number of at least 0, nor auto",
                   text);
}

gconv_status gc_set_low(gc_options *options, const char *value, gconv_error *error)
{
    return read_limit(value, &options->detector.low, &options->draw.finds_low, error);
}

gconv_status gc_set_high(gc_options *options, const char *value, gconv_error *error)
{
    return read_limit(value, &options->detector.high, &options->draw.finds_high, error);
}

gconv_status gc_set_sigma(gc_options *options, const char *value, gconv_error *error)
{
    enum { PIXELS_MOST = 600, PART_MOST = 100 };
    gc_draw_options *draw = &options->draw;
    if (read_part(value, &draw->sigma, &draw->sigma_is_part) && draw->sigma > 0 &&
        draw->sigma <= (draw->sigma_is_part ? PART_MOST : PIXELS_MOST))
        return GCONV_OK;
    return gc_fail(error, GCONV_ERROR_ARGUMENT,
                   "'%s' is neither pixels, above 0 and at most %d, nor per cent of the longer "
                   "side as in 0.1%%",
                   value, PIXELS_MOST);
}

gconv_status gc_set_border(gc_options *options, const char *value, gconv_error *error)
{
    return gconv_border_parse(value, &options->job.border, &options->job.border_value,
                              &options->job.border_denominator, error);
}

gconv_status gc_set_format(gc_options *options, const char *value, gconv_error *error)
{
    options->form.either_pnm = strcmp(value, "pnm") == 0;
    options->writer.format =
        options->form.either_pnm ? GCONV_FORMAT_PPM : gconv_format_from_name(value);
    if (options->writer.format != GCONV_FORMAT_UNKNOWN)
        return GCONV_OK;
    const char *words[GC_FORMAT_WORDS];
    char nearest[64], list[GC_FORMAT_LIST_BYTES], named[64];
    snprintf(named, sizeof named, "x.%s", value);
    const gconv_foreign_format *foreign = gconv_foreign_from_path(named);
    if (foreign != NULL && foreign->missing != NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "no %s: %s", foreign->name, foreign->missing);
    gc_suggest(value, words, gc_format_words(words), nearest, sizeof nearest);
    return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%s' is not %s%s", value, gc_list_formats(list),
                   nearest);
}

gconv_status gc_set_quality(gc_options *options, const char *value, gconv_error *error)
{
    long long number = GCONV_QUALITY_SAME;
    if (strcmp(value, "same") != 0 && !gc_parse_integer(value, 1, 100, &number))
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%.300s' is not 1 to 100, or same", value);
    options->writer.quality = (int)number;
    return GCONV_OK;
}

gconv_status gc_set_compression(gc_options *options, const char *value, gconv_error *error)
{
    static const gc_word words[] = {
        {"none", 0}, {"deflate", 6}, {"lzw", GCONV_COMPRESSION_LZW}, {NULL, 0}};
    if (value[0] >= '0' && value[0] <= '9' && value[1] == '\0') {
        options->writer.compression = value[0] - '0';
        return GCONV_OK;
    }
    if (gc_read_word(words, value, &options->writer.compression, error) == GCONV_OK)
        return GCONV_OK;
    return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%.300s' is not 0 to 9, none, deflate or lzw",
                   value);
}

gconv_status gc_set_name(gc_options *options, const char *value, gconv_error *error)
{
    options->batch.name_template = value;
    options->batch.named = gc_format_named(value);
    return gc_template_check(value, error);
}

gconv_status gc_set_journal(gc_options *options, const char *value, gconv_error *error)
{
    if (value[0] == '\0')
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "the name of a file is empty");
    if (strcmp(value, "-") == 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "a journal is a file, which is read, too; './-' is one of this name");
    if (options->journal.file != NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "given twice; a command has one journal, and cat joins several");
    options->journal.file = value;
    return GCONV_OK;
}

static gconv_status set_list(gc_options *options, const char *value, bool nul, gconv_error *error)
{
    if (options->batch.files_from != NULL && options->batch.files_end_in_nul != nul)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "--files-from and --files0-from name one list; give one");
    options->batch.files_from = value;
    options->batch.files_end_in_nul = nul;
    return value[0] != '\0' ? GCONV_OK
                            : gc_fail(error, GCONV_ERROR_ARGUMENT, "the name of a file is empty");
}

gconv_status gc_set_files_from(gc_options *options, const char *value, gconv_error *error)
{
    return set_list(options, value, false, error);
}

gconv_status gc_set_files0_from(gc_options *options, const char *value, gconv_error *error)
{
    return set_list(options, value, true, error);
}

gconv_status gc_set_implementation(gc_options *options, const char *value, gconv_error *error)
{
    options->implementations = value;
    return gc_check_names(value, error);
}

/* The values of --device for a command that uses one device. NULL if the command takes several
 * devices, or is not known yet. */
static const char *forms_of_one_device(const gc_options *options)
{
    const gc_command_row *row;
    if (options->operand_count == 0 ||
        gc_command_find(options->operands[0], &row, NULL) != GCONV_OK)
        return NULL;
    if (row->command == GC_COMMAND_TUNE)
        return "auto, cuda or cuda:N";
    return (row->command & GC_COMMANDS_THAT_MEASURE) != 0 ? "auto, cpu, cuda or cuda:N" : NULL;
}

gconv_status gc_set_device(gc_options *options, const char *value, gconv_error *error)
{
    options->job.device = value;
    options->device = gconv_device_choice_default();
    gconv_status status = gconv_device_parse(value, &options->device, error);
    const char *forms = status == GCONV_OK ? NULL : forms_of_one_device(options);
    if (forms != NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%.64s' is not %s, with N up to 1023", value,
                       forms);
    return status;
}

/* Reads two whole numbers, the first one from `low` and the second one from 1. */
static bool read_pair(const char *text, char separator, long long low, long long *first,
                      long long *second)
{
    const char *middle = strchr(text, separator);
    return middle != NULL &&
           gc_parse_integer_part(text, (size_t)(middle - text), low, INT32_MAX, first) &&
           gc_parse_integer(middle + 1, 1, INT32_MAX, second);
}

gconv_status gc_set_block(gc_options *options, const char *value, gconv_error *error)
{
    long long columns, rows;
    if (!read_pair(value, 'x', 1, &columns, &rows))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "'%s' is not WxH, a thread block of at most 1024 threads", value);
    if (columns * rows > 1024)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "'%s' is too large: %lld threads, and a block has at most 1024", value,
                       columns * rows);
    options->tiling.block_width = (int)columns;
    options->tiling.block_height = (int)rows;
    return GCONV_OK;
}

/* A file that is written, and not standard output. */
static gconv_status set_report(const char **file, const char *value, gconv_error *error)
{
    *file = value;
    if (value[0] == '\0')
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "the file's name is empty");
    if (strcmp(value, "-") == 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "'-' is no file: the table goes to standard output");
    return GCONV_OK;
}

gconv_status gc_set_write(gc_options *options, const char *value, gconv_error *error)
{
    return set_report(&options->kernel.write, value, error);
}

gconv_status gc_set_html(gc_options *options, const char *value, gconv_error *error)
{
    const gc_named_format named = gc_format_named(value);
    if (named.format != GCONV_FORMAT_UNKNOWN || named.foreign != NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "'%.300s' has the extension of an image; the report is a web page", value);
    return set_report(&options->measure.html, value, error);
}

gconv_status gc_set_response(gc_options *options, const char *value, gconv_error *error)
{
    const char *end = strrchr(value, '.');
    options->kernel.response = value;
    if (end == NULL || (strcasecmp(end, ".png") != 0 && strcasecmp(end, ".csv") != 0))
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%.300s' does not end in .png or .csv", value);
    return GCONV_OK;
}

/* ---- Colours --------------------------------------------------------------------------------- */

/* The basic colours of CSS. */
static const struct {
    const char *name;
    uint32_t rgb;
} colours[] = {
    {"white", 0xFFFFFF},  {"black", 0x000000}, {"grey", 0x808080},   {"gray", 0x808080},
    {"silver", 0xC0C0C0}, {"red", 0xFF0000},   {"maroon", 0x800000}, {"yellow", 0xFFFF00},
    {"olive", 0x808000},  {"lime", 0x00FF00},  {"green", 0x008000},  {"aqua", 0x00FFFF},
    {"teal", 0x008080},   {"blue", 0x0000FF},  {"navy", 0x000080},   {"fuchsia", 0xFF00FF},
    {"purple", 0x800080},
};
enum { COLOUR_COUNT = sizeof colours / sizeof colours[0] };

/* Reads RGB or RRGGBB, in hexadecimal digits. */
static bool read_digits(const char *text, uint8_t colour[3])
{
    size_t digits = strlen(text) / 3;
    if (strlen(text) != 3 && strlen(text) != 6)
        return false;
    for (size_t i = 0; i < 3; i++) {
        int high = gc_hex_digit(text[i * digits]), low = gc_hex_digit(text[(i + 1) * digits - 1]);
        if (high < 0 || low < 0)
            return false;
        colour[i] = (uint8_t)(16 * high + low);
    }
    return true;
}

/* Reads the name of a colour, or the number of a grey. */
static bool read_named(const char *text, uint8_t colour[3])
{
    long long level;
    for (int i = 0; i < COLOUR_COUNT; i++)
        if (strcasecmp(text, colours[i].name) == 0) {
            for (int c = 0; c < 3; c++)
                colour[c] = (uint8_t)(colours[i].rgb >> (16 - 8 * c));
            return true;
        }
    if (!gc_parse_integer(text, 0, UINT8_MAX, &level))
        return false;
    memset(colour, (int)level, 3);
    return true;
}

/* `also` names what the option takes beside colours; "" for nothing. */
static gconv_status read_colour(const char *value, const char *also, uint8_t colour[3],
                                gconv_error *error)
{
    if (value[0] == '#' ? read_digits(value + 1, colour) : read_named(value, colour))
        return GCONV_OK;
    const char *names[COLOUR_COUNT];
    char nearest[64], list[200] = "";
    for (int i = 0; i < COLOUR_COUNT; i++) {
        names[i] = colours[i].name;
        gc_list_name(list, sizeof list, names[i], (size_t)(COLOUR_COUNT - i - 1));
    }
    gc_suggest(value, names, COLOUR_COUNT, nearest, sizeof nearest);
    return gc_fail(error, GCONV_ERROR_ARGUMENT,
                   "'%.64s' is not %sa grey from 0 to 255, #RGB or #RRGGBB (in quotes), or a name: "
                   "%s%s",
                   value, also, list, nearest);
}

gconv_status gc_set_background(gc_options *options, const char *value, gconv_error *error)
{
    return read_colour(value, "", options->reader.background, error);
}

gconv_status gc_set_ink(gc_options *options, const char *value, gconv_error *error)
{
    return read_colour(value, "", options->draw.ink, error);
}

gconv_status gc_set_overlay(gc_options *options, const char *value, gconv_error *error)
{
    options->draw.overlays = true;
    return gc_set_ink(options, value, error);
}

gconv_status gc_set_paper(gc_options *options, const char *value, gconv_error *error)
{
    options->draw.transparent = strcmp(value, "transparent") == 0;
    return options->draw.transparent
               ? GCONV_OK
               : read_colour(value, "transparent, ", options->draw.paper, error);
}

/* ---- Some images, and some rows -------------------------------------------------------------- */

gconv_status gc_set_page(gc_options *options, const char *value, gconv_error *error)
{
    long long from, to;
    if (gc_parse_integer(value, 1, INT32_MAX, &from))
        to = from;
    else if (!read_pair(value, '-', 1, &from, &to) || to < from)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "'%.64s' is not N or A-B, numbers of images from 1 to 2147483647", value);
    options->reader.page = (uint32_t)from;
    options->reader.page_last = (uint32_t)to;
    return GCONV_OK;
}

gconv_status gc_set_rows(gc_options *options, const char *value, gconv_error *error)
{
    long long from, count;
    if (!read_pair(value, ':', 0, &from, &count))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "'%.64s' is not FIRST:COUNT, a row from 0 at the top and a number of rows",
                       value);
    options->rows.first = (uint32_t)from;
    options->rows.count = (uint32_t)count;
    return GCONV_OK;
}

/* The option that asks for a GPU. NULL: none does. */
static const char *names_gpu(const gc_options *options)
{
    if (gc_gpu_decoder(options) != NULL)
        return "decoder";
    if (options->implementations != NULL && gc_is_cuda(options->implementations))
        return "impl";
    return gc_names_gpu(options) ? "device" : NULL;
}

bool gc_finds_edges(const gc_options *options)
{
    return options->command == GC_COMMAND_EDGES || options->draw.lines == GC_LINES_THIN;
}

bool gc_keeps_responses(const gc_options *options)
{
    const gc_draw_options *draw = &options->draw;
    return options->command == GC_COMMAND_SKETCH || options->command == GC_COMMAND_THIN ||
           draw->cut != GC_CUT_GIVEN || draw->thin || draw->least > 0 || draw->overlays;
}

gconv_status gc_check_rows(const gc_options *options, gconv_error *error)
{
    const char *gpu = names_gpu(options);
    if (options->rows.count == 0 && options->rows.join)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "--join needs --rows");
    if (options->rows.count == 0)
        return GCONV_OK;
    if (gc_is_batch(options))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "--rows computes rows of one image; give IN OUT in the place of -o DIR and "
                       "--in-place");
    if (gc_keeps_responses(options))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "--rows reads a part of the image, and the whole image decides what is "
                       "drawn");
    if (options->report.verify)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "--rows reads a part of the image, and --verify needs all of it");
    if (gpu != NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "--rows is computed on the CPU, and --%s asks for a GPU", gpu);
    return GCONV_OK;
}
