#include "cli/journal/recipe.h"

#include "base/buffer.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/status.h"
#include "cli/options/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    if (f->whole != NULL)
        hash = hash_filter(hash, f->whole);
    if (f->weights != NULL)
        return gc_hash_bytes(hash, f->weights, count * sizeof f->weights[0]);
    hash = gc_hash_bytes(hash, f->column, (size_t)f->height * sizeof f->column[0]);
    return gc_hash_bytes(hash, f->row, (size_t)f->width * sizeof f->row[0]);
}

/* Adds the numbers of a filter as they are written. */
static gc_hash hash_written(gc_hash hash, const gconv_filter *f)
{
    size_t width = (size_t)f->width, height = (size_t)f->height;
    size_t count = f->weights != NULL ? width * height : height + width;
    const double numbers[] = {f->offset_denominator, f->terms != NULL ? f->terms_divisor : 0};
    hash = gc_hash_bytes(hash, numbers, sizeof numbers);
    return f->terms != NULL ? gc_hash_bytes(hash, f->terms, count * sizeof *f->terms) : hash;
}

/* Adds an argument as the command line has it: "--NAME=VALUE" or "--NAME". */
static gc_hash add_argument(gc_hash hash, const char *name, const char *value)
{
    gc_buffer text = {.bytes = NULL};
    gc_buffer_print(&text, "--%s%s%s", name, value != NULL ? "=" : "", value != NULL ? value : "");
    if (text.failed) /* the line runs out of memory, too */
        return hash;
    gc_json_string(NULL, text.bytes);
    hash = gc_hash_string(hash, text.bytes);
    gc_buffer_free(&text);
    return hash;
}

static gc_hash add_arguments(gc_hash hash, const gc_options *options)
{
    for (int i = 0; i < options->kernel_count; i++)
        hash = add_argument(hash, "kernel", options->kernels[i]);
    for (int i = 0; i < gc_option_count(); i++) {
        const gc_option *option = gc_option_at(i);
        bool deciding = (option->marks & GC_OPTION_DECIDES) != 0;
        if (options->given[i] && deciding && (option->marks & GC_OPTION_REPEATS) == 0)
            hash = add_argument(hash, option->name, options->values[i]);
    }
    return hash;
}

/* The hash of version 1 does not contain the version. */
static void write_name(char name[GC_RECIPE_BYTES], gc_hash hash, int definition)
{
    if (definition > 1)
        hash = hash_number(hash, definition);
    snprintf(name, GC_RECIPE_BYTES, "%016" PRIx64 "%016" PRIx64, hash.high, hash.low);
}

gconv_status gc_recipe_create(const gc_options *options, gconv_filter *const *filters, int count,
                              gc_recipe *recipe, gconv_error *error)
{
    const char *command = gc_command_of(options->command)->name;
    gc_hash hash = gc_hash_string(gc_hash_start(), command);
    gc_buffer line = {.bytes = NULL};
    gc_json_begin_apart();
    gc_json_open(NULL, '{');
    gc_json_string("command", command);
    gc_json_open("options", '[');
    hash = add_arguments(hash, options);
    gc_json_close(']');
    gc_json_close('}');
    char *rest = gc_json_end_apart(NULL);
    for (int i = 0; i < count; i++)
        hash = hash_filter(hash, filters[i]);
    for (int i = 1; i < GC_DEFINITION; i++)
        write_name(recipe->earlier[i - 1], hash, i);
    for (int i = 0; i < count; i++)
        hash = hash_written(hash, filters[i]);
    write_name(recipe->name, hash, GC_DEFINITION);
    if (rest != NULL) /* the name goes before it */
        gc_buffer_print(&line, "{\"recipe\": \"%s\", \"definition\": %d, %s", recipe->name,
                        GC_DEFINITION, rest + 1);
    recipe->line = rest != NULL ? gc_buffer_take(&line, NULL) : NULL;
    free(rest);
    return recipe->line != NULL ? GCONV_OK : gc_fail_memory(error, sizeof *recipe);
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
