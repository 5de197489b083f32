/* Answers jobs of edges.py. Standard input has jobs: a line of numbers, and then the samples of one
 * grey image, as many bytes as the numbers say. Standard output has for each job a line
 *     ok BYTES
 * and the output in so many bytes, or a line `failed MESSAGE`. */
#include "gconv.h"
#include "owned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILTERS_MAX = 3, NAME_BYTES = 64 };

/* A job as a line has it: names of filters are separated by ';'. */
typedef struct question {
    gconv_job job;
    gconv_detector detector;
    char implementation[NAME_BYTES], filters[4 * NAME_BYTES];
    int by_rows; /* whether source and sink are functions, not memory */
} question;

static bool read_question(const char *line, question *q)
{
    gconv_job *job = &q->job;
    gconv_detector *d = &q->detector;
    int border, method, derivative, norm, like, invert;
    int count =
        sscanf(line, "%63s %d %d %u %u %d %d %d %la %d %d %d %d %la %la %la %d %255s",
               q->implementation, &job->threads, &q->by_rows, &job->input.width, &job->input.height,
               &job->input.depth, &job->output_depth, &border, &job->border_value, &method,
               &derivative, &norm, &like, &job->threshold, &d->low, &d->high, &invert, q->filters);
    job->border = (gconv_border)border;
    d->method = (gconv_method)method;
    d->derivative = (gconv_operator)derivative;
    d->norm = (gconv_norm)norm;
    d->like = (gconv_likeness)like;
    job->invert = invert != 0;
    job->input.channels = 1;
    job->implementation = q->implementation;
    job->output = GCONV_OUTPUT_EDGES;
    job->detector = d;
    return count == 18;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

typedef struct rows {
    char *next;
    size_t bytes;
} rows;

static gconv_status read_rows(void *user, uint32_t count, void *to, size_t stride,
                              gconv_error *error)
{
    rows *from = user;
    (void)error;
    for (uint32_t y = 0; y < count; y++, from->next += from->bytes)
        memcpy((char *)to + y * stride, from->next, from->bytes);
    return GCONV_OK;
}

static gconv_status write_rows(void *user, uint32_t count, const void *from, size_t stride,
                               gconv_error *error)
{
    rows *to = user;
    (void)error;
    for (uint32_t y = 0; y < count; y++, to->next += to->bytes)
        memcpy(to->next, (const char *)from + y * stride, to->bytes);
    return GCONV_OK;
}

static gconv_status run(const question *q, gconv_plan *plan, char *input, size_t in_bytes,
                        char *output, size_t out_bytes, gconv_error *error)
{
    if (!q->by_rows)
        return gconv_plan_run_memory(plan, input, in_bytes, output, out_bytes, NULL, error);
    rows from = {input, in_bytes}, to = {output, out_bytes};
    gconv_source source = gconv_source_default();
    gconv_sink sink = gconv_sink_default();
    source.read = read_rows;
    source.user = &from;
    sink.write = write_rows;
    sink.user = &to;
    return gconv_plan_run(plan, &source, &sink, NULL, error);
}

static gconv_status answer(question *q, char *input, size_t in_bytes, gconv_error *error)
{
    gconv_filter *filters[FILTERS_MAX] = {NULL};
    OWNED_PLAN plan = NULL;
    gconv_status status = GCONV_OK;
    for (char *name = strtok(q->filters, ";"); status == GCONV_OK && name != NULL;
         name = strtok(NULL, ";"))
        status = gconv_filter_load(name, &filters[q->job.filter_count++], error);
    q->job.filters = (const gconv_filter *const *)filters;
    if (status == GCONV_OK)
        status = gconv_plan_create(&q->job, &plan, error);
    for (int i = 0; i < q->job.filter_count; i++)
        gconv_filter_free(filters[i]);
    if (status != GCONV_OK)
        return status;
    const gconv_shape *shape = gconv_plan_output_shape(plan);
    size_t out_bytes = gconv_shape_row_bytes(shape);
    OWNED char *output = calloc(shape->height, out_bytes);
    if (output == NULL)
        return GCONV_ERROR_MEMORY;
    status = run(q, plan, input, in_bytes, output, out_bytes, error);
    if (status != GCONV_OK)
        return status;
    printf("ok %zu\n", shape->height * out_bytes);
    fwrite(output, out_bytes, shape->height, stdout);
    return GCONV_OK;
}

int main(void)
{
    char line[1024];
    while (fgets(line, sizeof line, stdin) != NULL) {
        question q = {.job = gconv_job_default(), .detector = gconv_detector_default()};
        gconv_error error = {.status = GCONV_OK};
        if (!read_question(line, &q))
            return 2;
        size_t bytes = gconv_shape_row_bytes(&q.job.input);
        OWNED char *input = malloc(q.job.input.height * bytes);
        if (input == NULL || fread(input, bytes, q.job.input.height, stdin) != q.job.input.height)
            return 2;
        if (answer(&q, input, bytes, &error) != GCONV_OK)
            printf("failed %s\n", error.message);
        fflush(stdout);
    }
    return 0;
}
