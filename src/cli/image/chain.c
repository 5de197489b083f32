#include "cli/image/chain.h"

#include "base/status.h"
#include "cli/report/messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gconv_status load_builtin(const char *name, gconv_filter **filter, gconv_error *error)
{
    for (size_t i = 0; i < gconv_builtin_filter_count(); i++) {
        const gconv_builtin_filter *builtin = gconv_builtin_filter_at(i);
        if (strcmp(builtin->name, name) != 0)
            continue;
        gconv_status status =
            gconv_filter_parse(builtin->text, strlen(builtin->text), name, filter, error);
        if (status == GCONV_OK)
            (*filter)->dialect = NULL; /* as gconv_filter_load has it */
        return status;
    }
    return gc_fail(error, GCONV_ERROR_FILTER, "not among the built-in filters");
}

void gc_filter_reading(const char *name, const gconv_filter *filter, char *text, size_t size)
{
    char other[96] = "";
    const char *colon = strchr(name, ':');
    if (filter->vips_width > 0)
        snprintf(other, sizeof other, ", not as the libvips matrix of %dx%d that it could be",
                 filter->vips_width, filter->vips_height);
    if (filter->dialect != NULL)
        snprintf(text, size, "%s%s%s", filter->dialect, other,
                 filter->decimal_commas
                     ? ": each comma separates two weights (a decimal has a point)"
                     : "");
    else if (colon == NULL || strncmp(name, "box:", 4) == 0)
        snprintf(text, size, "%s", colon == NULL ? "a built-in filter" : "a box");
    else
        snprintf(text, size, "SIGMA %.*s and SIZE %d", (int)strcspn(colon + 1, ","), colon + 1,
                 filter->width);
}

/* Says how a filter was read where the text can be meant in another way: those of files, and
 * "gaussian:1,5". */
static void note_reading(const gc_options *options, const char *name, const gconv_filter *filter)
{
    char reading[256];
    if (filter->dialect == NULL && strchr(name, ',') == NULL)
        return;
    gc_filter_reading(name, filter, reading, sizeof reading);
    (options->report.explain ? gc_answer : gc_note)(name, "a filter of %dx%d, read as %s",
                                                    filter->width, filter->height, reading);
}

gconv_status gc_filter_chain_load(const gc_options *options, gc_filter_chain *chain,
                                  const char **blamed, gconv_error *error)
{
    static const char *const edges_chain[] = {"gauss5", "laplace3"};
    bool given = options->kernel_count > 0;
    const char *const *names = given ? (const char *const *)options->kernels : edges_chain;
    int count = given ? options->kernel_count : 2;
    *chain = (gc_filter_chain){.filters = calloc((size_t)count, sizeof(gconv_filter *))};
    if (chain->filters == NULL)
        return gc_fail_memory(error, (size_t)count * sizeof(gconv_filter *));
    for (int i = 0; i < count; i++) {
        *blamed = names[i];
        gconv_filter **filter = &chain->filters[i];
        /* The edges chain is the built-in one, even where files of these names exist. */
        gconv_status status = given ? gconv_filter_load(names[i], filter, error)
                                    : load_builtin(names[i], filter, error);
        if (status != GCONV_OK)
            return status;
        if (given)
            note_reading(options, names[i], *filter);
        chain->count++;
        if ((*filter)->has_offset && i + 1 < count)
            return gc_fail(error, GCONV_ERROR_FILTER,
                           "has an offset, and only the last filter of a chain may have one");
    }
    *blamed = NULL;
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
