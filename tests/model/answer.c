/* Answers jobs for model.py. Standard input has a job a line, its parts separated by tabs: numbers,
 * filters (";" in the place of a line's end; "=NAME" for a generator) and samples as hexadecimal
 * digits. For each job standard output has the lines
 *     filter WIDTH HEIGHT ANCHOR_X ANCHOR_Y DIVISOR WEIGHT...    of each generator
 *     result IMPLEMENTATION PROMISE SAMPLES                      of each that promises the result
 *     bounded IMPLEMENTATION                                     of each that does not
 * where `cpu` comes twice, the second time for a job that asks for exact results,
 * or `failed` with a message, and then `end`. The first line of all has the usable sets of
 * instructions. */
#include "gconv.h"
#include "owned.h"

#include <stdio.h>
#include <string.h>

enum { STEPS_MAX = 3 };

static void print_filter(const gconv_filter *f)
{
    printf("filter %d %d %d %d %a", f->width, f->height, f->anchor_x, f->anchor_y, f->divisor);
    for (int i = 0; i < f->width * f->height; i++)
        printf(" %a", (double)f->weights[i]);
    printf("\n");
}

static gconv_status load(char *text, gconv_filter **filter, gconv_error *error)
{
    if (text[0] != '=') {
        for (char *end = text; (end = strchr(end, ';')) != NULL;)
            *end = '\n';
        return gconv_filter_parse(text, strlen(text), NULL, filter, error);
    }
    gconv_status status = gconv_filter_load(text + 1, filter, error);
    if (status == GCONV_OK)
        print_filter(*filter);
    return status;
}

/* The numbers of a line. */
static bool read_numbers(const char *line, gconv_job *job)
{
    int output, border, alpha, rule, correlate, has_offset, absolute, invert;
    gconv_shape *in = &job->input;
    int count = sscanf(
        line, "%d %u %u %d %d %d %d %d %d %d %d %d %d %d %la %la %la %la %la %la %la %la", &output,
        &in->width, &in->height, &in->channels, &in->depth, &job->output_depth, &border, &alpha,
        &correlate, &has_offset, &absolute, &rule, &invert, &job->threads, &job->border_value,
        &job->border_denominator, &job->scale, &job->scale_denominator, &job->offset,
        &job->offset_denominator, &job->threshold, &job->threshold_denominator);
    job->output = (gconv_output)output;
    job->border = (gconv_border)border;
    job->alpha = (gconv_alpha)alpha;
    job->rule = (gconv_rule)rule;
    job->correlate = correlate != 0;
    job->has_offset = has_offset != 0;
    job->absolute = absolute != 0;
    job->invert = invert != 0;
    return count == 22;
}

static gconv_status answer(const gconv_job *job, const void *input, gconv_error *error)
{
    OWNED_PLAN plan = NULL;
    gconv_status status = gconv_plan_create(job, &plan, error);
    if (status == GCONV_ERROR_UNSUPPORTED || status == GCONV_ERROR_DEVICE)
        return GCONV_OK;
    if (status == GCONV_OK && gconv_plan_promise(plan) == GCONV_PROMISE_BOUNDED) {
        printf("bounded %s\n", job->implementation);
        return GCONV_OK;
    }
    if (status != GCONV_OK)
        return status;
    size_t stride = gconv_shape_row_bytes(gconv_plan_output_shape(plan));
    size_t size = stride * job->input.height;
    OWNED unsigned char *output = malloc(size);
    if (output == NULL)
        abort();
    memset(output, 0xa5, size);
    status = gconv_plan_run_memory(plan, input, gconv_shape_row_bytes(&job->input), output, stride,
                                   NULL, error);
    printf("result %s %s ", job->implementation,
           gconv_plan_promise(plan) == GCONV_PROMISE_EXACT ? "exact" : "once");
    for (size_t i = 0; i < size; i++)
        printf("%02x", output[i]);
    printf("\n");
    return status;
}

static gconv_status answer_all(gconv_job *job, const char *digits, gconv_error *error)
{
    OWNED unsigned char *input = calloc(strlen(digits) / 2 + 1, 1);
    gconv_status status = GCONV_OK;
    for (size_t i = 0; input != NULL && digits[2 * i] != '\0'; i++)
        sscanf(digits + 2 * i, "%2hhx", &input[i]);
    for (int i = 0; status == GCONV_OK && i < gconv_implementation_count(); i++) {
        job->implementation = gconv_implementation_name(i);
        job->exact = false;
        status = answer(job, input, error);
        job->exact = strcmp(job->implementation, "cpu") == 0;
        if (status == GCONV_OK && job->exact)
            status = answer(job, input, error);
    }
    return status;
}

/* Reads a job and answers it. */
static gconv_status take(char *line, gconv_error *error)
{
    gconv_job job = gconv_job_default();
    gconv_filter *filters[STEPS_MAX + 1] = {NULL};
    char *rest = line, *digits = NULL;
    gconv_status status = GCONV_OK;
    line[strcspn(line, "\n")] = '\0';
    char *numbers = strtok_r(rest, "\t", &rest);
    for (char *part; status == GCONV_OK && (part = strtok_r(rest, "\t", &rest)) != NULL;) {
        if (digits != NULL)
            status = load(digits, &filters[job.filter_count++], error);
        digits = part;
    }
    job.filters = (const gconv_filter *const *)filters;
    if (status == GCONV_OK && (digits == NULL || !read_numbers(numbers, &job)))
        abort();
    if (status == GCONV_OK)
        status = answer_all(&job, digits, error);
    for (int i = 0; i < job.filter_count; i++)
        gconv_filter_free(filters[i]);
    return status;
}

int main(void)
{
    OWNED char *line = NULL;
    size_t room = 0;
    gconv_error error;
    gconv_instructions_info set = gconv_instructions_info_default();
    printf("instructions");
    for (int i = 0; gconv_instructions_describe(i, &set, NULL) == GCONV_OK; i++)
        if (set.usable)
            printf(" %s", set.name);
    printf("\n");
    while (getline(&line, &room, stdin) > 0) {
        if (take(line, &error) != GCONV_OK)
            printf("failed %s\n", error.message);
        printf("end\n");
    }
    return EXIT_SUCCESS;
}
