#include "cli/options/rows.h"

#include "base/number.h"
#include "base/status.h"
#include "cli/options/implementations.h"
#include "cli/options/options.h"
#include "cli/options/values.h"

#include <string.h>

gconv_status gc_set_rows(gc_options *options, const char *value, gconv_error *error)
{
    const char *colon = strchr(value, ':');
    char first[16] = "";
    long long from = 0, count = 0;
    if (colon != NULL && (size_t)(colon - value) < sizeof first)
        memcpy(first, value, (size_t)(colon - value));
    if (colon == NULL || !gc_parse_integer(first, 0, INT32_MAX, &from) ||
        !gc_parse_integer(colon + 1, 1, INT32_MAX, &count))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "'%.64s' is not FIRST:COUNT, a row from 0 at the top and a number of rows",
                       value);
    options->rows.first = (uint32_t)from;
    options->rows.count = (uint32_t)count;
    return GCONV_OK;
}

/* What the command line says that stands for GPUs. NULL: nothing. */
static const char *names_gpu(const gc_options *options)
{
    gconv_device_choice device = gconv_device_choice_default();
    if (gc_gpu_decoder(options) != NULL)
        return "decoder";
    if (options->implementations != NULL && gc_is_cuda(options->implementations))
        return "impl";
    bool named = gconv_device_parse(options->job.device, &device, NULL) == GCONV_OK &&
                 !device.any && device.kind == GCONV_DEVICE_CUDA;
    return named ? "device" : NULL;
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
    if (options->report.verify)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "--rows reads a part of the image, and --verify needs all of it");
    if (gpu != NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "--rows is computed on the CPU, and --%s asks for a GPU", gpu);
    return GCONV_OK;
}
