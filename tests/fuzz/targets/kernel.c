/* What --kernel accepts beside files: built-in names, generators, strings of ImageMagick's. */
#include "../fuzz.h"

#include <math.h>
#include <string.h>

/* Generated filters: what their formulas promise. */
static void check_generated(const char *text, const gconv_filter *filter)
{
    double gain = gconv_filter_gain(filter);
    if (strncmp(text, "gaussian:", 9) == 0 || strncmp(text, "box:", 4) == 0)
        FUZZ_REQUIRE(fabs(gain - 1) < 1e-3, "'%s' has gain %g", text, gain);
    if (strncmp(text, "log:", 4) == 0)
        FUZZ_REQUIRE(filter->weights[filter->width * filter->height / 2] < 0, "'%s'", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gconv_filter *filter;
    gconv_error error = {.status = GCONV_OK};
    if (size > 0 && memchr(data, '/', size) != NULL)
        return 0; /* a path: the files of this machine are not the target */
    char *text = fuzz_copy_text(data, size);
    gconv_status status = gconv_filter_load(text, &filter, &error);
    if (status == GCONV_OK) {
        for (int i = 0; filter->weights != NULL && i < filter->width * filter->height; i++)
            FUZZ_REQUIRE(isfinite(filter->weights[i]), "'%s': weight %d", text, i);
        FUZZ_REQUIRE(filter->name != NULL, "'%s' has no name", text);
        check_generated(text, filter);
        gconv_filter_free(filter);
    } else {
        fuzz_require_message(status, &error);
        FUZZ_REQUIRE(filter == NULL, "'%s': a filter after a failure", text);
    }
    free(text);
    return 0;
}
