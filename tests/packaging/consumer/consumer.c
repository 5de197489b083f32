/* A program of somebody else's: an edge image in memory, through the installed library. */
#include <gconv.h>

#include <stdio.h>

enum { SIDE = 16 };

/* A bright square on a dark ground has edges, but not in its middle. */
static int check_edges(const gconv_filter *filter)
{
    unsigned char input[SIDE * SIDE];
    unsigned char output[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++) {
        int x = i % SIDE;
        int y = i / SIDE;
        input[i] = x >= 4 && x < 12 && y >= 4 && y < 12 ? 200 : 20;
    }

    gconv_error error;
    gconv_plan *plan = NULL;
    gconv_job job = gconv_job_default();
    job.filters = &filter;
    job.filter_count = 1;
    job.input = (gconv_shape){.width = SIDE, .height = SIDE, .channels = 1, .depth = 8};
    job.output = GCONV_OUTPUT_EDGES;
    job.output_depth = 8;
    job.threshold = 5;
    gconv_status status = gconv_plan_create(&job, &plan, &error);
    if (status == GCONV_OK)
        status = gconv_plan_run_memory(plan, input, SIDE, output, SIDE, NULL, &error);
    gconv_plan_free(plan);
    if (status != GCONV_OK) {
        fprintf(stderr, "consumer: %s\n", error.message);
        return 1;
    }
    return output[4 * SIDE + 8] == 255 && output[8 * SIDE + 8] == 0 ? 0 : 1;
}

int main(void)
{
    gconv_error error;
    gconv_filter *filter = NULL;
    if (gconv_filter_load("laplace3", &filter, &error) != GCONV_OK) {
        fprintf(stderr, "consumer: %s\n", error.message);
        return 1;
    }
    int result = check_edges(filter);
    gconv_filter_free(filter);
    printf("gconv %s: %s\n", gconv_version(), result == 0 ? "as expected" : "wrong edges");
    return result;
}
