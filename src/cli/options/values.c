#include "cli/options/values.h"

#include "base/number.h"
#include "base/status.h"
#include "cli/options/commands.h"
#include "cli/options/formats.h"
#include "cli/options/implementations.h"
#include "cli/options/template.h"
#include "cli/options/words.h"

#include <stdio.h>
#include <string.h>

gconv_status gc_set_kernel(gc_options *options, const char *value, gconv_error *error)
{
    if (value[0] == '\0')
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "the name of the filter is empty");
    options->kernels[options->kernel_count++] = (char *)value;
    return GCONV_OK;
}

gconv_status gc_set_border(gc_options *options, const char *value, gconv_error *error)
{
    return gconv_border_parse(value, &options->job.border, &options->job.border_value, error);
}

gconv_status gc_set_alpha(gc_options *options, const char *value, gconv_error *error)
{
    static const gc_word words[] = {{"auto", GCONV_ALPHA_AUTO},
                                    {"keep", GCONV_ALPHA_KEEP},
                                    {"filter", GCONV_ALPHA_FILTER},
                                    {"premultiply", GCONV_ALPHA_PREMULTIPLY}};
    int result;
    gconv_status status = gc_read_word(words, 4, value, &result, error);
    if (status == GCONV_OK)
        options->job.alpha = (gconv_alpha)result;
    return status;
}

gconv_status gc_set_threshold(gc_options *options, const char *value, gconv_error *error)
{
    gconv_status status = gc_read_finite(value, &options->job.threshold, error);
    if (status == GCONV_OK && options->job.threshold < 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "'%s' is negative (a threshold is 0 or more, in 8-bit levels; see --rule)",
                       value);
    return status;
}

gconv_status gc_set_rule(gc_options *options, const char *value, gconv_error *error)
{
    static const gc_word words[] = {{"abs", GCONV_RULE_ABS},
                                    {"positive", GCONV_RULE_POSITIVE},
                                    {"negative", GCONV_RULE_NEGATIVE}};
    int result;
    gconv_status status = gc_read_word(words, 3, value, &result, error);
    if (status == GCONV_OK)
        options->job.rule = (gconv_rule)result;
    return status;
}

gconv_status gc_set_scale(gc_options *options, const char *value, gconv_error *error)
{
    return gc_read_finite(value, &options->job.scale, error);
}

gconv_status gc_set_offset(gc_options *options, const char *value, gconv_error *error)
{
    options->job.has_offset = true;
    return gc_read_finite(value, &options->job.offset, error);
}

gconv_status gc_set_depth(gc_options *options, const char *value, gconv_error *error)
{
    static const gc_word words[] = {{"1", 1}, {"8", 8}, {"16", 16}};
    return gc_read_word(words, 3, value, &options->form.depth, error);
}

gconv_status gc_set_format(gc_options *options, const char *value, gconv_error *error)
{
    options->form.either_pnm = strcmp(value, "pnm") == 0;
    options->writer.format =
        options->form.either_pnm ? GCONV_FORMAT_PPM : gconv_format_from_name(value);
    if (options->writer.format != GCONV_FORMAT_UNKNOWN)
        return GCONV_OK;
    const char *words[GC_FORMAT_WORDS];
    char nearest[64], list[GC_FORMAT_LIST_BYTES];
    gc_suggest(value, words, gc_format_words(words), nearest, sizeof nearest);
    return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%s' is not %s%s", value, gc_list_formats(list),
                   nearest);
}

gconv_status gc_set_quality(gc_options *options, const char *value, gconv_error *error)
{
    return gc_read_whole(value, 1, 100, &options->writer.quality, error);
}

gconv_status gc_set_compression(gc_options *options, const char *value, gconv_error *error)
{
    return gc_read_whole(value, 0, 9, &options->writer.compression, error);
}

gconv_status gc_set_output(gc_options *options, const char *value, gconv_error *error)
{
    if (value[0] == '\0')
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "the directory's name is empty");
    options->batch.directory = value;
    return GCONV_OK;
}

gconv_status gc_set_name(gc_options *options, const char *value, gconv_error *error)
{
    options->batch.name_template = value;
    return gc_template_check(value, error);
}

gconv_status gc_set_on_error(gc_options *options, const char *value, gconv_error *error)
{
    static const gc_word words[] = {{"continue", false}, {"stop", true}};
    int result;
    gconv_status status = gc_read_word(words, 2, value, &result, error);
    if (status == GCONV_OK)
        options->batch.stop_on_error = result != 0;
    return status;
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

gconv_status gc_set_images(gc_options *options, const char *value, gconv_error *error)
{
    long long number;
    if (!gc_parse_integer(value, 1, INT64_MAX, &number))
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%s' is not a whole number of at least 1",
                       value);
    options->journal.images = (uint64_t)number;
    return GCONV_OK;
}

gconv_status gc_set_hash(gc_options *options, const char *value, gconv_error *error)
{
    static const gc_word words[] = {{"xxh3", GC_DIGEST_XXH3}, {"sha256", GC_DIGEST_SHA256}};
    int result;
    gconv_status status = gc_read_word(words, 2, value, &result, error);
    if (status == GCONV_OK)
        options->journal.digest = (gc_digest_kind)result;
    return status;
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

gconv_status gc_set_shard(gc_options *options, const char *value, gconv_error *error)
{
    return gc_read_shard(value, &options->batch.shard, error);
}

gconv_status gc_set_white(gc_options *options, const char *value, gconv_error *error)
{
    gconv_status status = gc_read_finite(value, &options->reader.white, error);
    if (status == GCONV_OK && options->reader.white <= 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%s' is not above 0", value);
    return status;
}

gconv_status gc_set_max_pixels(gc_options *options, const char *value, gconv_error *error)
{
    long long number;
    if (!gc_parse_integer(value, 1, INT64_MAX, &number))
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%s' is not a whole number of at least 1",
                       value);
    options->reader.max_pixels = (uint64_t)number;
    return GCONV_OK;
}

gconv_status gc_set_implementation(gc_options *options, const char *value, gconv_error *error)
{
    options->implementations = value;
    return gc_check_names(value, error);
}

/* The devices that a command takes which uses one alone. NULL if the command takes several, or is
 * not known yet. */
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
    gconv_device_choice choice = gconv_device_choice_default();
    options->job.device = value;
    gconv_status status = gconv_device_parse(value, &choice, error);
    const char *forms = status == GCONV_OK ? NULL : forms_of_one_device(options);
    if (forms != NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%.64s' is not %s, with N up to 1023", value,
                       forms);
    return status;
}

gconv_status gc_set_decoder(gc_options *options, const char *value, gconv_error *error)
{
    static const gc_word words[] = {
        {"auto", GCONV_DECODER_AUTO}, {"cpu", GCONV_DECODER_CPU}, {"cuda", GCONV_DECODER_CUDA}};
    int result;
    /* By spelling "gpu" is nearest to "cpu", its opposite. */
    if (strcmp(value, "gpu") == 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "'%s' is not auto, cpu or cuda; did you mean 'cuda'?", value);
    gconv_status status = gc_read_word(words, 3, value, &result, error);
    if (status == GCONV_OK)
        options->reader.decoder = (gconv_decoder)result;
    return status;
}

bool gc_is_batch(const gc_options *options)
{
    return options->batch.directory != NULL || options->batch.in_place;
}

const char *gc_gpu_decoder(const gc_options *options)
{
    return options->reader.decoder == GCONV_DECODER_CUDA ? "cuda" : NULL;
}

gconv_status gc_set_threads(gc_options *options, const char *value, gconv_error *error)
{
    return gc_read_whole(value, 1, 1024, &options->job.threads, error);
}

gconv_status gc_set_tile(gc_options *options, const char *value, gconv_error *error)
{
    return gc_read_whole(value, 1, 64, &options->tiling.tile, error);
}

gconv_status gc_set_shared_memory(gc_options *options, const char *value, gconv_error *error)
{
    return gc_read_whole(value, 1024, 1 << 30, &options->tiling.shared_memory, error);
}

gconv_status gc_set_block(gc_options *options, const char *value, gconv_error *error)
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
    options->tiling.block_width = (int)columns;
    options->tiling.block_height = (int)rows;
    return GCONV_OK;
}

gconv_status gc_set_progress(gc_options *options, const char *value, gconv_error *error)
{
    static const gc_word words[] = {
        {"auto", GC_PROGRESS_AUTO}, {"always", GC_PROGRESS_ALWAYS}, {"never", GC_PROGRESS_NEVER}};
    int result;
    gconv_status status = gc_read_word(words, 3, value, &result, error);
    if (status == GCONV_OK)
        options->report.progress = (gc_progress_when)result;
    return status;
}

gconv_status gc_set_time(gc_options *options, const char *value, gconv_error *error)
{
    gconv_status status = gc_read_finite(value, &options->measure.time, error);
    if (status == GCONV_OK && !(options->measure.time > 0 && options->measure.time <= 86400))
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%s' is not a number of seconds up to 86400",
                       value);
    return status;
}

static gconv_status set_text(const char **text, const char *value)
{
    *text = value;
    return GCONV_OK;
}

gconv_status gc_set_samples(gc_options *options, const char *value, gconv_error *error)
{
    (void)error;
    return set_text(&options->measure.samples, value);
}

gconv_status gc_set_sizes(gc_options *options, const char *value, gconv_error *error)
{
    (void)error;
    return set_text(&options->measure.sizes, value);
}

gconv_status gc_set_filters(gc_options *options, const char *value, gconv_error *error)
{
    (void)error;
    return set_text(&options->measure.filters, value);
}

gconv_status gc_set_preset(gc_options *options, const char *value, gconv_error *error)
{
    (void)error;
    return set_text(&options->measure.preset, value);
}

static gconv_status set_file(const char **file, const char *value, gconv_error *error)
{
    if (value[0] == '\0')
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "the file's name is empty");
    *file = value;
    return GCONV_OK;
}

gconv_status gc_set_resume(gc_options *options, const char *value, gconv_error *error)
{
    return set_file(&options->measure.resume, value, error);
}

gconv_status gc_set_baseline(gc_options *options, const char *value, gconv_error *error)
{
    return set_file(&options->measure.baseline, value, error);
}

gconv_status gc_set_fail_above(gc_options *options, const char *value, gconv_error *error)
{
    gconv_status status = gc_read_finite(value, &options->measure.fail_above, error);
    if (status == GCONV_OK && options->measure.fail_above < 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%s' is negative (a number of per cent)",
                       value);
    return status;
}

gconv_status gc_set_sample(gc_options *options, const char *value, gconv_error *error)
{
    (void)error;
    return set_text(&options->measure.sample, value);
}

gconv_status gc_set_html(gc_options *options, const char *value, gconv_error *error)
{
    options->measure.html = value;
    if (value[0] == '\0')
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "the name of the file is empty");
    if (strcmp(value, "-") == 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "'-' is no file: the table goes to standard output");
    if (gconv_format_from_path(value) != GCONV_FORMAT_UNKNOWN ||
        gconv_foreign_from_path(value) != NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "'%.300s' has the extension of an image; the report is a web page", value);
    return GCONV_OK;
}

gconv_status gc_set_response(gc_options *options, const char *value, gconv_error *error)
{
    const char *end = strrchr(value, '.');
    options->kernel.response = value;
    if (end == NULL || (strcasecmp(end, ".png") != 0 && strcasecmp(end, ".csv") != 0))
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%.300s' does not end in .png or .csv", value);
    return GCONV_OK;
}

gconv_status gc_set_write(gc_options *options, const char *value, gconv_error *error)
{
    if (strcmp(value, "-") == 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "'-' is no file: the table goes to standard output");
    return set_file(&options->kernel.write, value, error);
}

gconv_status gc_set_notation(gc_options *options, const char *value, gconv_error *error)
{
    static const gc_word words[] = {{"gconv", GC_NOTATION_GCONV},
                                    {"imagemagick", GC_NOTATION_IMAGEMAGICK},
                                    {"libvips", GC_NOTATION_LIBVIPS}};
    int notation = 0;
    gconv_status status = gc_read_word(words, 3, value, &notation, error);
    options->kernel.notation = (gc_notation)notation;
    return status;
}
