/* A loop over the library alone, which a batch of the program is compared with: it smooths DIR/N.pgm to
 * OUT/N.pgm for N from 0 to COUNT - 1, in two threads that share nothing.
 *
 *     loop DIR OUT COUNT */
#include <gconv.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 2 };

typedef struct loop {
    const char *from, *to;
    int first, count;
    gconv_filter *filter;
    gconv_plan *plan; /* of the first image: all have one shape */
    gconv_status status;
    gconv_error error;
} loop;

static gconv_status make_plan(loop *l, const gconv_shape *shape)
{
    const gconv_filter *chain[] = {l->filter};
    gconv_job job = gconv_job_default();
    job.filters = chain;
    job.filter_count = 1;
    job.input = *shape;
    job.device = "cpu";
    job.threads = 1;
    return gconv_plan_create(&job, &l->plan, &l->error);
}

static gconv_status write_image(loop *l, gconv_reader *reader, const char *output)
{
    gconv_writer_options options = gconv_writer_options_default();
    gconv_writer *writer = NULL;
    options.format = GCONV_FORMAT_PGM;
    options.shape = *gconv_plan_output_shape(l->plan);
    gconv_status status = gconv_writer_open(output, &options, &writer, &l->error);
    if (status == GCONV_OK)
        status = gconv_plan_run(l->plan, gconv_reader_source(reader), gconv_writer_sink(writer),
                                NULL, &l->error);
    if (status == GCONV_OK)
        status = gconv_reader_finish(reader, &l->error);
    if (status == GCONV_OK)
        status = gconv_writer_finish(writer, &l->error);
    gconv_writer_free(writer);
    return status;
}

static gconv_status process(loop *l, int number)
{
    char input[4096], output[4096];
    gconv_reader *reader = NULL;
    snprintf(input, sizeof input, "%s/%d.pgm", l->from, number);
    snprintf(output, sizeof output, "%s/%d.pgm", l->to, number);
    gconv_status status = gconv_reader_open(input, NULL, &reader, &l->error);
    if (status == GCONV_OK && l->plan == NULL)
        status = make_plan(l, gconv_reader_shape(reader));
    if (status == GCONV_OK)
        status = write_image(l, reader, output);
    gconv_reader_free(reader);
    return status;
}

static void *run(void *user)
{
    loop *l = user;
    l->status = gconv_filter_load("gauss3", &l->filter, &l->error);
    for (int i = l->first; l->status == GCONV_OK && i < l->count; i += THREADS)
        l->status = process(l, i);
    gconv_plan_free(l->plan);
    gconv_filter_free(l->filter);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    loop loops[THREADS];
    if (argc != 4)
        return EXIT_FAILURE;
    for (int i = 0; i < THREADS; i++) {
        loops[i] = (loop){.from = argv[1], .to = argv[2], .first = i, .count = atoi(argv[3])};
        if (pthread_create(&threads[i], NULL, run, &loops[i]) != 0)
            return EXIT_FAILURE;
    }
    int failed = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        failed += loops[i].status != GCONV_OK;
        if (loops[i].status != GCONV_OK)
            fprintf(stderr, "loop: %s\n", loops[i].error.message);
    }
    return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
