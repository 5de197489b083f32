#include "cli/image/session.h"

#include "base/status.h"
#include "cli/options/effects.h"
#include "cli/options/implementations.h"
#include "cli/options/values.h"
#include "cli/terminal/messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Filters --------------------------------------------------------------------------------- */

void gc_filter_reading(const char *name, const gconv_filter *filter, char *text, size_t size)
{
    char other[96] = "";
    char whole[64] = "";
    const char *colon = strchr(name, ':');
    if (filter->whole != NULL)
        snprintf(whole, sizeof whole, ", computed in whole numbers over %.9g",
                 filter->whole->divisor);
    if (filter->vips_width > 0)
        snprintf(other, sizeof other, ", not as the libvips matrix of %dx%d that it could be",
                 filter->vips_width, filter->vips_height);
    if (filter->dialect != NULL)
        snprintf(text, size, "%s%s%s%s", filter->dialect, other, whole,
                 filter->decimal_commas
                     ? ": each comma separates two weights (a decimal has a point)"
                     : "");
    else if (colon == NULL || strncmp(name, "box:", 4) == 0)
        snprintf(text, size, "%s", colon == NULL ? "a built-in filter" : "a box");
    else
        snprintf(text, size, "SIGMA %.*s and SIZE %d", (int)strcspn(colon + 1, ","), colon + 1,
                 filter->width);
}

/* Says how a filter was read if the text can be meant in another way: those of files, and
 * "gaussian:1,5". Decimal commas are told to everybody. */
static void note_reading(const gc_options *options, const char *name, const gconv_filter *filter)
{
    char reading[256];
    if (filter->dialect == NULL && strchr(name, ',') == NULL)
        return;
    gc_filter_reading(name, filter, reading, sizeof reading);
    if (filter->decimal_commas && !options->report.explain && !options->report.verbose)
        gc_say("%s: a filter of %dx%d, read as %s", name, filter->width, filter->height, reading);
    else
        (options->report.explain ? gc_answer : gc_note)(name, "a filter of %dx%d, read as %s",
                                                        filter->width, filter->height, reading);
}

gconv_status gc_filter_chain_load(const gc_options *options, gc_filter_chain *chain,
                                  const char **subject, gconv_error *error)
{
    static const char *const no_chain[] = {"identity"};
    bool given = options->kernel_count > 0, thins = options->command == GC_COMMAND_THIN;
    int count = thins ? 1 : options->kernel_count;
    const char *const *names = given   ? (const char *const *)options->kernels
                               : thins ? no_chain
                                       : gconv_method_filters(&options->detector, &count);
    *chain = (gc_filter_chain){.filters = calloc((size_t)count, sizeof(gconv_filter *))};
    GC_TRY_MEMORY(chain->filters != NULL, error, (size_t)count * sizeof(gconv_filter *));
    for (int i = 0; i < count; i++) {
        *subject = names[i];
        gconv_filter **filter = &chain->filters[i];
        /* A command's own chain is built in, even if files of these names exist. */
        GC_TRY(given ? gconv_filter_load(names[i], filter, error)
                     : gconv_filter_load_builtin(names[i], filter, error));
        if (given)
            note_reading(options, names[i], *filter);
        chain->count++;
        if ((*filter)->has_offset && i + 1 < count)
            return gc_fail(error, GCONV_ERROR_FILTER,
                           "has an offset, and only the last filter of a chain may have one");
    }
    *subject = NULL;
    return GCONV_OK;
}

void gc_filter_chain_free(gc_filter_chain *chain)
{
    for (int i = 0; i < chain->count; i++)
        gconv_filter_free(chain->filters[i]);
    free(chain->filters);
    *chain = (gc_filter_chain){.filters = NULL};
}

double gc_filter_chain_taps(const gc_filter_chain *chain)
{
    double taps = 0;
    for (int i = 0; i < chain->count; i++) {
        double width = chain->filters[i]->width, height = chain->filters[i]->height;
        taps += chain->filters[i]->weights == NULL ? width + height : width * height;
    }
    return taps;
}

/* ---- The job --------------------------------------------------------------------------------- */

static void fill_job(gc_session *session)
{
    const gc_options *options = session->options;
    gconv_job *job = &session->job;
    *job = options->job;
    job->tiling = &options->tiling;
    if (options->kernel_count == 0)
        job->detector = &options->detector;
    if (options->detector.like == GCONV_LIKE_OPENCV)
        job->border = GCONV_BORDER_REPLICATE;
    job->filters = (const gconv_filter *const *)session->chain.filters;
    job->filter_count = session->chain.count;
    bool samples = options->kernel_count > 0 || options->draw.values;
    job->output = samples ? GCONV_OUTPUT_SAMPLES : GCONV_OUTPUT_EDGES;
    job->between_files = (options->command & GC_COMMANDS_OF_IMAGES) != 0;
    if (options->implementations != NULL)
        job->implementation = options->implementations; /* a list if the command measures */
    if (gc_gpu_decoder(options) != NULL && strcmp(job->device, "auto") == 0)
        job->device = "cuda:all"; /* the GPUs that may decode */
    if (options->rows.count > 0)
        job->device = "cpu"; /* GPUs cannot compute some rows alone */
}

/* --decoder cuda needs an implementation that runs on a GPU. */
static gconv_status check_decoder(const gc_session *session, gconv_error *error)
{
    const char *name = session->job.implementation, *decoder = gc_gpu_decoder(session->options);
    if (decoder != NULL && strcmp(name, "auto") != 0 && !gc_is_cuda(name))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "option '--decoder': '%s' needs a GPU, and '%s' runs on the CPU", decoder,
                       name);
    return GCONV_OK;
}

const char *gc_device_for(const gc_session *session, const char *implementation)
{
    bool measures = (session->options->command & GC_COMMANDS_THAT_MEASURE) != 0;
    bool on_cpu = strcmp(implementation, "auto") != 0 && !gc_is_cuda(implementation);
    return measures && on_cpu ? "auto" : session->job.device;
}

/* A job of one pixel shows every error that does not depend on the image. */
gconv_status gc_session_check(const gc_session *session, const char *implementation,
                              gconv_error *error)
{
    gconv_job job = session->job;
    job.input = (gconv_shape){.width = 1, .height = 1, .channels = 1, .depth = 8};
    job.output_depth = 8;
    job.implementation = implementation;
    job.device = gc_device_for(session, implementation);
    gconv_status status = gconv_job_check(&job, error);
    /* A refusal may depend on the shape. Then the image shows it. */
    return status == GCONV_ERROR_UNSUPPORTED ? GCONV_OK : status;
}

/* At least one of the named implementations must be usable. The others get a row that says why
 * not. */
static gconv_status check_jobs(const gc_session *session, gconv_error *error)
{
    const char *next = session->job.implementation;
    char name[GC_NAME_BYTES];
    gconv_error reason, first = {.status = GCONV_OK};
    int usable = 0;
    while (gc_next_name(&next, name)) {
        gconv_status status =
            gc_session_check(session, strcmp(name, "all") == 0 ? "auto" : name, &reason);
        usable += status == GCONV_OK;
        if (status != GCONV_OK && first.status == GCONV_OK)
            first = reason;
        if (status != GCONV_OK && status != GCONV_ERROR_DEVICE) {
            *error = reason;
            return status;
        }
    }
    if (usable > 0)
        return GCONV_OK;
    *error = first;
    return first.status;
}

/* Whether one of the implementations in a list follows an option: `met` is a bit of effects.h. */
static bool any_takes(const char *list, unsigned met)
{
    char name[GC_NAME_BYTES];
    while (gc_next_name(&list, name))
        if ((gc_met_implementation(name) & met) != 0)
            return true;
    return false;
}

/* An implementation that is named has to follow --block, --tile and --shared-memory. */
static gconv_status check_tiling(const gc_session *session, gconv_error *error)
{
    const char *list = session->options->implementations;
    const gconv_tiling *tiling = &session->options->tiling;
    if (!gc_names_each(list) || strcmp(list, "auto") == 0)
        return GCONV_OK;
    if (tiling->block_width > 0 && !any_takes(list, GC_MET_BLOCK))
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "option '--block': '%s' takes no thread block",
                       list);
    if (tiling->tile > 0 && !any_takes(list, GC_MET_TILE))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "option '--tile': '%s' takes no tiling factor; 'tiled' does", list);
    if (tiling->shared_memory > 0 && !any_takes(list, GC_MET_SHARED))
        return gc_fail(
            error, GCONV_ERROR_ARGUMENT,
            "option '--shared-memory': '%s' has no rule that follows it; 'adaptive' does", list);
    return GCONV_OK;
}

/* A constant image is multiplied by this number. */
static double gain_of(const gc_session *session)
{
    double gain = 1;
    for (int i = 0; i < session->chain.count; i++)
        gain *= gconv_filter_gain(session->chain.filters[i]);
    return gain;
}

bool gc_masks(const gc_options *options, const gconv_shape *shape)
{
    return options->reader.nan == GCONV_NAN_IGNORE && shape->depth == 32;
}

double gc_least_alpha(const gc_session *session, const gconv_shape *shape)
{
    const double least = 0x1p-12; /* of the weights (contract.md, rule 126) */
    return gc_masks(session->options, shape) ? UINT8_MAX * gain_of(session) * least : 0;
}

/* What cannot be computed around samples that are missing, or with them. */
static gconv_status check_nan(const gc_session *session, gconv_error *error)
{
    const gc_options *options = session->options;
    if (options->reader.nan == GCONV_NAN_IGNORE && !(gain_of(session) > 0))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "option '--nan': ignore divides by the sum of the weights that are left, "
                       "and those of the filter have none above 0");
    const char *name = session->job.implementation;
    bool is_other = strcmp(name, "auto") != 0 && strcmp(name, "reference") != 0;
    if (options->reader.nan == GCONV_NAN_SPREAD && (options->report.verify || is_other))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "option '--nan': spread is computed by 'reference', and --verify judges "
                       "numbers alone");
    return GCONV_OK;
}

gconv_status gc_session_create(const gc_options *options, gc_session *session, const char **subject,
                               gconv_error *error)
{
    *session = (gc_session){.options = options};
    *subject = NULL;
    GC_TRY(gc_filter_chain_load(options, &session->chain, subject, error));
    fill_job(session);
    GC_TRY(check_decoder(session, error));
    GC_TRY(check_tiling(session, error));
    GC_TRY(check_nan(session, error));
    if (options->journal.file != NULL)
        GC_TRY(gc_recipe_create(options, session->chain.filters, session->chain.count,
                                &session->recipe, error));
    return GCONV_OK;
}

/* Whether a GPU that the command line allows decodes JPEG. The message names the option: the user
 * need not have named a device. */
static gconv_status check_gpu_decodes(const gc_session *session, gconv_error *error)
{
    gconv_error reason;
    gconv_status status = gconv_decoder_check(session->job.device, &reason);
    if (status == GCONV_OK)
        return status;
    return gc_fail(error, status, "option '--decoder': '%s' needs a GPU: %.400s",
                   gc_gpu_decoder(session->options), reason.message);
}

gconv_status gc_session_check_all(const gc_session *session, gconv_error *error)
{
    if (gc_gpu_decoder(session->options) != NULL)
        GC_TRY(check_gpu_decodes(session, error));
    return check_jobs(session, error);
}

void gc_session_destroy(gc_session *session)
{
    gc_recipe_destroy(&session->recipe);
    gc_filter_chain_free(&session->chain);
    *session = (gc_session){.options = NULL};
}

gconv_job gc_job_for(const gc_session *session, const gconv_shape *shape)
{
    gconv_job job = session->job;
    job.input = *shape;
    if (gc_masks(session->options, shape)) {
        job.alpha = GCONV_ALPHA_PREMULTIPLY;
        job.scale *= gain_of(session);
    }
    if (session->options->reader.nan == GCONV_NAN_SPREAD && shape->depth == 32)
        job.implementation = "reference"; /* it alone multiplies every sample by its weight */
    return job;
}

gconv_reader_options gc_reader_options(const gc_options *options)
{
    gconv_reader_options reader = options->reader;
    bool filters = options->command == GC_COMMAND_FILTER || options->kernel_count > 0;
    reader.grey = reader.grey || !filters;
    return reader;
}
