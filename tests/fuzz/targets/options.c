/* Command lines, an argument a line. Only parsed: nothing is run. */
#include "../fuzz.h"

#include "cli/options/options.h"
#include "cli/options/table.h"

#include <getopt.h>
#include <math.h>
#include <string.h>

enum { ARGUMENTS_MAX = 40 };

static int split(char *text, char **arguments)
{
    int count = 0;
    arguments[count++] = (char[]){"gconv"};
    for (char *next = text; next != NULL && count < ARGUMENTS_MAX;) {
        char *end = strchr(next, '\n');
        if (end != NULL)
            *end++ = '\0';
        arguments[count++] = next;
        next = end;
    }
    arguments[count] = NULL;
    return count;
}

static void check_values(const gc_options *options)
{
    FUZZ_REQUIRE(isfinite(options->job.border_value) && isfinite(options->job.scale) &&
                     isfinite(options->job.offset) && isfinite(options->job.threshold),
                 "a number that is not finite");
    FUZZ_REQUIRE(options->detector.low >= 0 && isfinite(options->detector.high), "thresholds %g %g",
                 options->detector.low, options->detector.high);
    FUZZ_REQUIRE(options->job.threshold >= 0, "threshold %g", options->job.threshold);
    FUZZ_REQUIRE(options->draw.share >= 0 && options->draw.share <= 100, "%g %%",
                 options->draw.share);
    FUZZ_REQUIRE(options->draw.sigma >= 0 && options->draw.sigma <= 600, "sigma %g",
                 options->draw.sigma);
    FUZZ_REQUIRE(options->writer.quality >= 0 && options->writer.quality <= 100, "%d",
                 options->writer.quality);
    FUZZ_REQUIRE(options->writer.compression >= -1 && options->writer.compression <= 9, "%d",
                 options->writer.compression);
    FUZZ_REQUIRE(options->form.depth == 0 || options->form.depth == 1 || options->form.depth == 8 ||
                     options->form.depth == 16,
                 "depth %d", options->form.depth);
    FUZZ_REQUIRE(options->reader.max_pixels >= 1, "no pixels");
    FUZZ_REQUIRE(options->job.threads >= 0 && options->job.threads <= 1024, "%d",
                 options->job.threads);
    FUZZ_REQUIRE(options->tiling.block_width * options->tiling.block_height <= 1024, "%d x %d",
                 options->tiling.block_width, options->tiling.block_height);
    FUZZ_REQUIRE(options->measure.time >= 0 && options->measure.time <= 86400, "%g seconds",
                 options->measure.time);
}

static void check_belonging(const gc_options *options)
{
    const gc_command_row *row = gc_command_of(options->command);
    for (int i = 0; i < options->operand_count; i++)
        FUZZ_REQUIRE(options->operands[i] != NULL, "operand %d", i);
    if (row == NULL || options->help || options->version)
        return;
    FUZZ_REQUIRE(options->operand_count >= row->operands_min &&
                     options->operand_count <= row->operands_max,
                 "%d operands of %s", options->operand_count, row->name);
    for (int i = 0; i < gc_option_count(); i++) {
        const gc_option *option = gc_option_at(i);
        FUZZ_REQUIRE(!options->given[i] || gc_option_belongs(option, options->command),
                     "--%s of %s", option->name, row->name);
        FUZZ_REQUIRE(gc_option_meaning(option, options->command).help != NULL, "--%s",
                     option->name);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_copy_text(data, size), *arguments[ARGUMENTS_MAX + 1];
    gc_options options;
    gconv_error error = {.status = GCONV_OK};
    int count = split(text, arguments);
    optind = 0; /* glibc: getopt begins anew */
    gconv_status status = gc_options_parse(count, arguments, &options, &error);
    if (status == GCONV_OK) {
        check_values(&options);
        check_belonging(&options);
    } else {
        fuzz_require_message(status, &error);
    }
    gc_options_free(&options);
    free(text);
    return 0;
}
