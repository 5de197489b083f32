#include "cli/image/recipe.h"

#include "base/hash.h"
#include "base/status.h"
#include "cli/options/table.h"
#include "cli/report/json_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Options that decide the pixels or the form of an output. --kernel comes in its own order. */
static const char *const deciding[] = {
    "threshold", "rule",        "invert", "border",         "correlate", "scale",
    "offset",    "abs",         "alpha",  "background",     "depth",     "format",
    "quality",   "compression", "strip",  "no-auto-orient", "tolerant",  "white"};

enum { DECIDING_COUNT = sizeof deciding / sizeof deciding[0] };

static gc_hash hash_number(gc_hash hash, double number)
{
    return gc_hash_bytes(hash, &number, sizeof number);
}

static gc_hash hash_filter(gc_hash hash, const gconv_filter *f)
{
    const double numbers[] = {f->width,   f->height, f->anchor_x,  f->anchor_y,
                              f->divisor, f->offset, f->has_offset};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        hash = hash_number(hash, numbers[i]);
    size_t count = (size_t)f->width * (size_t)f->height;
    if (f->weights != NULL)
        return gc_hash_bytes(hash, f->weights, count * sizeof f->weights[0]);
    hash = gc_hash_bytes(hash, f->column, (size_t)f->height * sizeof f->column[0]);
    return gc_hash_bytes(hash, f->row, (size_t)f->width * sizeof f->row[0]);
}

/* One argument as the command line has it: "--NAME=VALUE" or "--NAME". */
typedef struct argument {
    const char *name, *value;
} argument;

static gc_hash add_argument(FILE *line, gc_hash hash, argument given, bool *follows)
{
    size_t room = strlen(given.name) + (given.value != NULL ? strlen(given.value) : 0) + 4;
    char *text = malloc(room);
    if (text == NULL)
        return hash; /* the stream runs out of memory, too: the line is not whole */
    snprintf(text, room, "--%s%s%s", given.name, given.value != NULL ? "=" : "",
             given.value != NULL ? given.value : "");
    fputs(*follows ? ", " : "", line);
    gc_json_write_text(line, text);
    *follows = true;
    hash = gc_hash_string(hash, text);
    free(text);
    return hash;
}

static gc_hash add_arguments(FILE *line, gc_hash hash, const gc_options *options)
{
    bool follows = false;
    for (int i = 0; i < options->kernel_count; i++)
        hash = add_argument(line, hash, (argument){"kernel", options->kernels[i]}, &follows);
    for (int i = 0; i < DECIDING_COUNT; i++)
        if (gc_option_given(options, deciding[i]))
            hash = add_argument(line, hash,
                                (argument){deciding[i], gc_option_value(options, deciding[i])},
                                &follows);
    return hash;
}

/* Recipes of version 1 do not name it. */
static void write_name(char name[GC_RECIPE_BYTES], gc_hash hash, int definition)
{
    if (definition > 1)
        hash = hash_number(hash, definition);
    snprintf(name, GC_RECIPE_BYTES, "%016" PRIx64 "%016" PRIx64, hash.high, hash.low);
}

/* Puts the name before the rest of the line. */
static gconv_status finish(gc_recipe *recipe, gc_hash hash, const char *rest, gconv_error *error)
{
    write_name(recipe->name, hash, GC_DEFINITION);
    for (int i = 1; i < GC_DEFINITION; i++)
        write_name(recipe->earlier[i - 1], hash, i);
    size_t room = strlen(rest) + 120;
    recipe->line = malloc(room);
    if (recipe->line == NULL)
        return gc_fail_memory(error, room);
    recipe->size =
        (size_t)snprintf(recipe->line, room, "{\"recipe\": \"%s\", \"definition\": %d, %s}\n",
                         recipe->name, GC_DEFINITION, rest);
    return GCONV_OK;
}

gconv_status gc_recipe_create(const gc_options *options, const gc_filter_chain *chain,
                              gc_recipe *recipe, gconv_error *error)
{
    char *rest = NULL;
    size_t size = 0;
    FILE *line = open_memstream(&rest, &size);
    *recipe = (gc_recipe){.line = NULL};
    if (line == NULL)
        return gc_fail_memory(error, sizeof *recipe);
    const char *command = gc_command_of(options->command)->name;
    gc_hash hash = gc_hash_string(gc_hash_start(), command);
    fprintf(line, "\"command\": \"%s\", \"options\": [", command);
    hash = add_arguments(line, hash, options);
    fputc(']', line);
    for (int i = 0; i < chain->count; i++)
        hash = hash_filter(hash, chain->filters[i]);
    bool whole = fclose(line) == 0 && rest != NULL && size > 0 && rest[size - 1] == ']';
    gconv_status status =
        whole ? finish(recipe, hash, rest, error) : gc_fail_memory(error, sizeof *recipe);
    free(rest);
    return status;
}

bool gc_recipe_was(const void *user, const char *name)
{
    const gc_recipe *recipe = user;
    bool found = strcmp(name, recipe->name) == 0;
    for (int i = 1; i < GC_DEFINITION; i++)
        found = found || strcmp(name, recipe->earlier[i - 1]) == 0;
    return found;
}

void gc_recipe_destroy(gc_recipe *recipe)
{
    free(recipe->line);
    recipe->line = NULL;
}
