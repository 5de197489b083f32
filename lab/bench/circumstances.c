#include "lab/bench/circumstances.h"

#include "base/hash.h"
#include "base/json.h"
#include "cli/measure/facts.h"
#include "cli/measure/figures.h"
#include "cli/options/table.h"
#include "cli/terminal/about.h"

#include <inttypes.h>
#include <stdio.h>

void gc_machine_describe(const gc_session *session, const char *const *names, int name_count,
                         gc_machine *machine)
{
    *machine =
        (gc_machine){.processor = gconv_device_info_default(), .gpu = gconv_device_info_default()};
    gc_about_system(machine->system, sizeof machine->system);
    gconv_device_describe(0, &machine->processor, NULL);
    if (gc_may_use_device(names, name_count))
        gconv_device_describe(gc_chosen_gpu(session->options), &machine->gpu, NULL);
}

static gc_hash hash_numbers(gc_hash hash, const void *numbers, size_t count, size_t size)
{
    return numbers != NULL ? gc_hash_bytes(hash, numbers, count * size) : hash;
}

/* What the filters of the chain are, however they were given. */
static void write_chain(const gc_filter_chain *chain)
{
    gc_hash hash = gc_hash_start();
    for (int i = 0; i < chain->count; i++) {
        const gconv_filter *f = chain->filters[i];
        const int sides[] = {f->width, f->height, f->anchor_x, f->anchor_y};
        size_t width = (size_t)f->width, height = (size_t)f->height;
        hash = gc_hash_bytes(hash, sides, sizeof sides);
        hash = gc_hash_bytes(hash, &f->divisor, sizeof f->divisor);
        hash = hash_numbers(hash, f->weights, width * height, sizeof f->weights[0]);
        hash = hash_numbers(hash, f->column, height, sizeof f->column[0]);
        hash = hash_numbers(hash, f->row, width, sizeof f->row[0]);
    }
    char text[40];
    snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64, hash.high, hash.low);
    gc_json_string("chain", text);
}

/* An option that takes a text or a function reads is held as it was given; "" if it was not. */
static void write_option(const gc_options *options, const gc_option *option)
{
    const void *field = (const char *)options + option->value.field;
    const char *text = gc_option_value(options, option->name);
    switch (option->value.kind) {
    case GC_VALUE_SET:
    case GC_VALUE_CLEAR:
        gc_json_bool(option->name, *(const bool *)field);
        break;
    case GC_VALUE_WORD:
    case GC_VALUE_WHOLE:
        gc_json_integer(option->name, *(const int *)field);
        break;
    case GC_VALUE_COUNT:
        gc_json_integer(option->name, (int64_t) * (const uint64_t *)field);
        break;
    case GC_VALUE_NUMBER:
    case GC_VALUE_ABOVE:
        gc_json_number(option->name, *(const double *)field);
        break;
    default:
        gc_json_string(option->name, text != NULL ? text : "");
    }
}

static void write_options(const gc_session *session)
{
    for (int i = 0; i < gc_option_count(); i++) {
        const gc_option *option = gc_option_at(i);
        bool held = gc_option_belongs(option, GC_COMMAND_BENCH) &&
                    (option->marks & (GC_OPTION_TELLS | GC_OPTION_REPEATS)) == 0;
        if (held)
            write_option(session->options, option);
    }
    if (session->options->kernel_count > 0)
        write_chain(&session->chain);
}

char *gc_circumstances_line(const gc_session *session, const gc_machine *machine, size_t *size)
{
    gc_json_begin_apart();
    gc_json_begin(GC_CIRCUMSTANCES_COMMAND);
    gc_json_string("version", gconv_version());
    gc_json_string("build", gconv_build_description());
    gc_json_string("system", machine->system);
    gc_json_string("processor", machine->processor.name);
    gc_json_integer("processors", machine->processor.processors);
    gc_json_string("instructions", gc_instructions_name());
    gc_json_string("gpu", machine->gpu.name);
    gc_json_integer("driver_version", machine->gpu.driver_version);
    gc_json_integer("runtime_version", machine->gpu.runtime_version);
    write_options(session);
    gc_json_close('}');
    return gc_json_end_apart(size);
}
