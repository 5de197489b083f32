/* gconv kernel: shows filters as they were read, and the chain that they make. */
#include "cli/commands/commands.h"

#include "base/buffer.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/output.h"
#include "base/status.h"
#include "cli/image/session.h"
#include "cli/options/table.h"
#include "cli/tasks/names.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/standard_output.h"
#include "cli/terminal/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRODUCTS = 3, DEPTHS = 2, LINES_MAX = 15 };
static const int depths[DEPTHS] = {8, 16};

/* A filter, or the product of a chain. */
typedef struct properties {
    const gconv_filter *filter; /* NULL: there is none */
    double gain, sum;
    int rank;
    double *columns, *rows; /* the first PRODUCTS products of gconv_filter_rank; one allocation */
} properties;

/* What is known of a filter, and of the chain up to it. */
typedef struct facts {
    const char *kernel; /* as it was named */
    char reading[256];  /* how its text was read */
    properties own, product;
    gconv_filter *composed;      /* the product; NULL for the first filter, and if there is none */
    gconv_error no_product;      /* says why there is none */
    bool exact[DEPTHS];          /* the chain, on samples of this depth */
    gconv_error refusal[DEPTHS]; /* why the chain cannot be computed; GCONV_OK: it can be */
} facts;

/* ---- Finding out ----------------------------------------------------------------------------- */

static gconv_status describe(const gconv_filter *filter, properties *p, gconv_error *error)
{
    size_t height = (size_t)filter->height, count = height + (size_t)filter->width;
    double *numbers = gc_allocate_array(PRODUCTS * count, sizeof *numbers);
    GC_TRY_MEMORY(numbers != NULL, error, PRODUCTS * count * sizeof *numbers);
    double gain = gconv_filter_gain(filter->whole != NULL ? filter->whole : filter);
    *p =
        (properties){filter, gain, gain * filter->divisor, 0, numbers, numbers + PRODUCTS * height};
    return gconv_filter_rank(filter, PRODUCTS, p->columns, p->rows, &p->rank, error);
}

/* Makes the product of the filters up to number `i`, which is above 0. */
static gconv_status compose(const gc_filter_chain *chain, facts *all, int i, gconv_error *error)
{
    facts *f = &all[i];
    const gconv_filter *before = i > 1 ? f[-1].composed : chain->filters[0];
    f->no_product = f[-1].no_product;
    if (before == NULL ||
        gconv_filter_compose(before, chain->filters[i], &f->composed, &f->no_product) != GCONV_OK)
        return GCONV_OK;
    return describe(f->composed, &f->product, error);
}

/* Plans a pixel of each depth: whether the chain of the first `count` filters is exact there. */
static void judge(const gc_options *options, const gc_filter_chain *chain, int count, facts *f)
{
    for (int d = 0; d < DEPTHS; d++) {
        gconv_job job = options->job;
        gconv_plan *plan;
        job.filters = (const gconv_filter *const *)chain->filters;
        job.filter_count = count;
        job.input = (gconv_shape){.width = 1, .height = 1, .channels = 1, .depth = depths[d]};
        job.output_depth = depths[d];
        job.implementation = "reference";
        job.device = "cpu";
        if (gconv_plan_create(&job, &plan, &f->refusal[d]) == GCONV_OK) {
            f->refusal[d] = (gconv_error){.status = GCONV_OK};
            f->exact[d] = gconv_plan_is_exact(plan);
        }
        gconv_plan_free(plan);
    }
}

static gconv_status find_out(const gc_options *options, const gc_filter_chain *chain, facts *all,
                             gconv_error *error)
{
    gconv_status status = GCONV_OK;
    for (int i = 0; status == GCONV_OK && i < chain->count; i++) {
        facts *f = &all[i];
        f->kernel = options->kernel_count > 0 ? options->kernels[i] : chain->filters[i]->name;
        gc_filter_reading(f->kernel, chain->filters[i], f->reading, sizeof f->reading);
        judge(options, chain, i + 1, f);
        status = describe(chain->filters[i], &f->own, error);
        if (status == GCONV_OK && i > 0)
            status = compose(chain, all, i, error);
    }
    return status;
}

/* ---- As a table ------------------------------------------------------------------------------ */

/* Of `count` numbers those before `first` and from `last` on are shown. */
typedef struct extent {
    int first, last;
} extent;

static extent fit(int count, int most)
{
    int shown = most > 3 ? most - 1 : 2; /* one place says that others are left out */
    return count <= most ? (extent){count, count} : (extent){(shown + 1) / 2, count - shown / 2};
}

static int cell_width(const double *numbers, int count)
{
    int width = 3;
    for (int i = 0; i < count; i++) {
        int length = snprintf(NULL, 0, "%.5g", numbers[i]);
        width = length > width ? length : width;
    }
    return width;
}

static void print_numbers(const char *label, const double *numbers, int count, int width)
{
    extent shown = fit(count, (gc_line_width() - 11) / (width + 1));
    printf("  %-8s", label);
    for (int i = 0; i < count; i++) {
        if (i == shown.first) {
            printf(" %*s", width, "...");
            i = shown.last;
        }
        printf(" %*.5g", width, numbers[i]);
    }
    if (shown.first < count && label[0] != '\0')
        printf("  (%d in all)", count);
    putchar('\n');
}

static const double *row_of(const gconv_filter *filter, int j)
{
    static double row[GCONV_FILTER_SIDE_MAX];
    for (int i = 0; i < filter->width; i++)
        row[i] = (double)filter->weights[j * filter->width + i];
    return row;
}

static void print_weights(const gconv_filter *filter)
{
    int width = 0, height = filter->height;
    extent shown = fit(height, LINES_MAX);
    for (int j = 0; j < height; j++) {
        int needed = cell_width(row_of(filter, j), filter->width);
        width = needed > width ? needed : width;
    }
    for (int j = 0; j < height; j++) {
        if (j == shown.first) {
            printf("  ... (%d rows in all)\n", height);
            j = shown.last;
        }
        print_numbers(j == 0 ? "weights" : "", row_of(filter, j), filter->width, width);
    }
}

static void print_properties(const properties *p)
{
    const gconv_filter *filter = p->filter;
    if (filter->weights != NULL)
        print_weights(filter);
    printf("  size     %d x %d\n  anchor   %d, %d\n", filter->width, filter->height,
           filter->anchor_x, filter->anchor_y);
    printf("  divisor  %.9g\n", filter->divisor);
    if (filter->has_offset)
        printf("  offset   %.9g\n", filter->offset);
    printf("  sum      %.9g\n  gain     %.9g\n  rank     %d\n", p->sum, p->gain, p->rank);
    for (int i = 0; i < p->rank && p->rank <= PRODUCTS; i++) {
        const double *column = p->columns + i * filter->height, *row = p->rows + i * filter->width;
        print_numbers("column", column, filter->height, cell_width(column, filter->height));
        print_numbers("row", row, filter->width, cell_width(row, filter->width));
    }
}

static void print_text(const facts *f, bool follows)
{
    printf("%s%s: %s\n", follows ? "\n" : "", f->kernel, f->reading);
    print_properties(&f->own);
    if (f->composed != NULL) {
        printf("with the filters before it:\n");
        print_properties(&f->product);
    } else if (follows)
        printf("with the filters before it: no single filter: %s\n", f->no_product.message);
    for (int d = 0; d < DEPTHS; d++)
        printf("  chain    %s on %d bits%s%s\n",
               f->refusal[d].status != GCONV_OK ? "refused"
               : f->exact[d]                    ? "exact"
                                                : "not exact",
               depths[d], f->refusal[d].status != GCONV_OK ? ": " : "", f->refusal[d].message);
}

/* ---- As JSON --------------------------------------------------------------------------------- */

static void json_numbers(const char *key, const double *numbers, int count)
{
    gc_json_open(key, '[');
    for (int i = 0; i < count; i++)
        gc_json_number(NULL, numbers[i]);
    gc_json_close(']');
}

static void json_vectors(const char *key, const properties *p, const double *numbers, int count)
{
    gc_json_open(key, '[');
    for (int i = 0; i < p->rank && p->rank <= PRODUCTS; i++)
        json_numbers(NULL, numbers + i * count, count);
    gc_json_close(']');
}

static void json_properties(const properties *p)
{
    const gconv_filter *filter = p->filter;
    gc_json_integer("width", filter->width);
    gc_json_integer("height", filter->height);
    gc_json_integer("anchor_x", filter->anchor_x);
    gc_json_integer("anchor_y", filter->anchor_y);
    gc_json_number("divisor", filter->divisor);
    gc_json_number("offset", filter->has_offset ? filter->offset : (double)NAN);
    gc_json_number("sum", p->sum);
    gc_json_number("gain", p->gain);
    gc_json_integer("rank", p->rank);
    json_vectors("columns", p, p->columns, filter->height);
    json_vectors("rows", p, p->rows, filter->width);
    gc_json_open("weights", '[');
    for (int j = 0; filter->weights != NULL && j < filter->height; j++)
        json_numbers(NULL, row_of(filter, j), filter->width);
    gc_json_close(']');
}

static void print_json(const facts *f, bool follows)
{
    gc_json_begin("kernel");
    gc_json_name("kernel", f->kernel);
    gc_json_string("reading", f->reading);
    json_properties(&f->own);
    if (follows) {
        gc_json_open("product", '{');
        if (f->composed != NULL)
            json_properties(&f->product);
        else
            gc_json_string("reason", f->no_product.message);
        gc_json_close('}');
    }
    gc_json_open("chain", '[');
    for (int d = 0; d < DEPTHS; d++) {
        gc_json_open(NULL, '{');
        gc_json_integer("depth", depths[d]);
        gc_json_bool("exact", f->exact[d]);
        gc_json_string("reason", f->refusal[d].message);
        gc_json_close('}');
    }
    gc_json_close(']');
    gc_json_end();
}

/* ---- As a file that gconv reads -------------------------------------------------------------- */

gconv_status gc_write_text(const char *path, gc_buffer *text, gconv_error *error)
{
    gc_output *output = NULL;
    gconv_status status = text->failed ? gc_fail_memory(error, text->size) : GCONV_OK;
    if (status == GCONV_OK)
        status = gc_output_open(path, &(gc_output_options){.sync = false}, &output, error);
    GC_THEN(status, gc_output_write(output, text->bytes, text->size, error));
    GC_THEN(status, gc_output_commit(output, error));
    gc_output_free(output);
    gc_buffer_free(text);
    return status;
}

/* Prints a number with as few digits as give it back, as float32 or as double. */
static void print_number(gc_buffer *text, double value, bool as_float, char end)
{
    char digits[32];
    double again = 0;
    for (int count = 6; count <= 17; count++) {
        snprintf(digits, sizeof digits, "%.*g", count, value);
        gc_read_number(digits, strlen(digits), &again);
        if (as_float ? (float)again == (float)value : again == value)
            break;
    }
    gc_buffer_print(text, "%s%c", digits, end);
}

static void print_line(gc_buffer *text, const char *word, const double *values, int count)
{
    gc_buffer_put(text, word);
    for (int i = 0; i < count; i++)
        print_number(text, values[i], false, i + 1 < count ? ' ' : '\n');
}

/* Whether a `name` line gives the name back. */
static bool is_name(const char *name)
{
    char escaped[256];
    size_t length = name != NULL ? strlen(name) : 0;
    return length > 0 && length < sizeof escaped && strchr(name, '#') == NULL && name[0] != ' ' &&
           name[length - 1] != ' ' && strcmp(gc_escape(name, escaped, sizeof escaped), name) == 0;
}

static void print_header(gc_buffer *text, const gconv_filter *filter)
{
    if (is_name(filter->name))
        gc_buffer_print(text, "name %s\n", filter->name);
    print_line(text, "divisor ", &filter->divisor, 1);
    if (filter->has_offset)
        print_line(text, "offset ", &filter->offset, 1);
    gc_buffer_print(text, "anchor %d %d\n", filter->anchor_x, filter->anchor_y);
}

/* How many numbers the first line of a libvips matrix has. It must not be as long as the others:
 * gconv would read it as a row of weights. */
static int libvips_count(const gconv_filter *filter)
{
    int needed = filter->offset != 0 ? 4 : filter->divisor != 1 ? 3 : 2;
    return needed + (needed == filter->width);
}

/* Why the notation cannot hold the filter; NULL: it can. */
static const char *refusal(const gconv_filter *filter, gc_notation notation)
{
    bool centred = filter->anchor_x == filter->width / 2 && filter->anchor_y == filter->height / 2;
    if (notation == GC_NOTATION_GCONV)
        return NULL;
    if (filter->weights == NULL)
        return "a column and a row";
    if (notation == GC_NOTATION_IMAGEMAGICK)
        return filter->offset != 0 ? "an offset" : filter->divisor != 1 ? "a divisor" : NULL;
    return !centred                    ? "an anchor beside the centre"
           : libvips_count(filter) > 4 ? "an offset beside 4 columns (gconv reads that as rows)"
                                       : NULL;
}

static void print_filter(gc_buffer *text, const gconv_filter *f, gc_notation notation)
{
    const double matrix[4] = {f->width, f->height, f->divisor, f->offset};
    if (notation == GC_NOTATION_GCONV)
        print_header(text, f);
    else if (notation == GC_NOTATION_LIBVIPS)
        print_line(text, "", matrix, libvips_count(f));
    else
        gc_buffer_print(text, "%dx%d+%d+%d:\n", f->width, f->height, f->anchor_x, f->anchor_y);
    char separator = notation == GC_NOTATION_IMAGEMAGICK ? ',' : ' ';
    for (int i = 0; f->weights != NULL && i < f->width * f->height; i++)
        print_number(text, (double)f->weights[i], true, (i + 1) % f->width == 0 ? '\n' : separator);
    if (f->weights == NULL) {
        print_line(text, "column ", f->column, f->height);
        print_line(text, "row ", f->row, f->width);
    }
}

gconv_status gc_kernel_write(const char *path, const gconv_filter *filter, gc_notation notation,
                             gconv_error *error)
{
    const char *refused = refusal(filter, notation);
    gc_buffer text = {.bytes = NULL};
    if (refused != NULL)
        return gc_fail(error, GCONV_ERROR_FILTER,
                       "%s cannot hold %s: leave --notation out, and it is written in gconv's",
                       notation == GC_NOTATION_LIBVIPS ? "a libvips matrix"
                                                       : "an ImageMagick string",
                       refused);
    print_filter(&text, filter, notation);
    return gc_write_text(path, &text, error);
}

/* ---- The command ----------------------------------------------------------------------------- */

/* Refuses options that contradict each other. */
static gconv_status check_files(const gc_options *options, gconv_error *error)
{
    if (gc_option_given(options, "notation") && options->kernel.write == NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "--notation needs --write");
    for (int i = 0; i < options->kernel_count; i++)
        if (gc_is_one_path(options->kernel.write, options->kernels[i]) ||
            gc_is_one_path(options->kernel.response, options->kernels[i]))
            return gc_fail(error, GCONV_ERROR_ARGUMENT,
                           "the output would replace the filter '%.300s'; name another file",
                           options->kernels[i]);
    return GCONV_OK;
}

/* Writes the filter, or the product of the chain, and the response. */
static gconv_status write_files(const gc_options *options, gc_response_function *respond,
                                const gc_filter_chain *chain, const facts *last,
                                const char **subject, gconv_error *error)
{
    const gconv_filter *filter = chain->count > 1 ? last->composed : chain->filters[0];
    gconv_status status = GCONV_OK;
    *subject = options->kernel.write;
    if (options->kernel.write != NULL && filter == NULL) {
        *error = last->no_product;
        return error->status;
    }
    if (options->kernel.write != NULL)
        status = gc_kernel_write(options->kernel.write, filter, options->kernel.notation, error);
    if (status != GCONV_OK || options->kernel.response == NULL)
        return status;
    *subject = options->kernel.response;
    return respond(options->kernel.response, chain->filters, chain->count, error);
}

static void free_facts(facts *all, int count)
{
    for (int i = 0; all != NULL && i < count; i++) {
        free(all[i].own.columns);
        free(all[i].product.columns);
        gconv_filter_free(all[i].composed);
    }
    free(all);
}

int gc_run_kernel(const gc_options *options, gc_response_function *respond)
{
    gc_filter_chain chain = {.filters = NULL};
    gconv_error error;
    facts *all = NULL;
    const char *subject = NULL;
    gconv_status status = check_files(options, &error);
    GC_THEN(status, gc_filter_chain_load(options, &chain, &subject, &error));
    if (status == GCONV_OK && (all = calloc((size_t)chain.count, sizeof *all)) == NULL)
        status = gc_fail_memory(&error, (size_t)chain.count * sizeof *all);
    GC_THEN(status, find_out(options, &chain, all, &error));
    int code = gc_start_code(status);
    if (status == GCONV_OK) {
        status = write_files(options, respond, &chain, &all[chain.count - 1], &subject, &error);
        bool is_usage = status == GCONV_ERROR_FILTER || status == GCONV_ERROR_ARGUMENT;
        code = is_usage ? GC_EXIT_USAGE : gc_exit_code(status);
    }
    for (int i = 0; status == GCONV_OK && i < chain.count; i++)
        (options->report.json ? print_json : print_text)(&all[i], i > 0);
    if (status != GCONV_OK)
        gc_report(subject, &error);
    free_facts(all, chain.count);
    gc_filter_chain_free(&chain);
    return code;
}
