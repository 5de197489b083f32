/* Images in the caller's memory: gconv_plan_run_device in the caller's streams, and
 * gconv_plan_run_memory from and to memory of every kind. Results have to be those of the
 * reference, and no byte outside the rows of an output may change.
 *
 *     gpu_caller [--impl NAME] [--seed N] [--cases N] [--only PART]
 *     double_caller --lacking ...    on the double: runs whose kernels it lacks are left out
 *     double_caller --failing ...    the same, and calls of CUDA may fail: a run may then fail, too
 *
 * The parts are device, memory, bands, order, refusals and other. It takes all implementations on
 * GPUs unless one is named. The exit status is 77 if there is no
 * GPU. */
#include "../draw.h"

#include "gconv.h"

#include <cuda_runtime_api.h>
#include <string.h>

enum { GUARD = 64, FILLED = 0x5a, STEPS_MAX = 2 };

static unsigned long checked, failed, skipped;
static bool may_fail, may_lack;

/* ---- Jobs ------------------------------------------------------------------------------------ */

/* A job, its image and what the reference makes of it, both without gaps. */
typedef struct problem {
    gconv_job job;
    gconv_filter *filters[STEPS_MAX];
    gconv_shape output;
    size_t input_bytes, output_bytes; /* of a row */
    unsigned char *input, *expected;
    bool exact;
} problem;

static void choose_filters(problem *p)
{
    static const char *const names[] = {
        "gauss3",      "box3",     "gauss5",     "laplace3",
        "3x1: -1,0,1", "identity", "1x3: 1,2,1", "4x2: 1 -2 3 4 5 -6 7 1"};
    p->job.filter_count = 1 + (int)draw(STEPS_MAX);
    for (int i = 0; i < p->job.filter_count; i++)
        if (gconv_filter_load(names[draw(sizeof names / sizeof names[0])], &p->filters[i], NULL) !=
            GCONV_OK)
            exit(1);
    p->job.filters = (const gconv_filter *const *)p->filters;
}

static void choose_job(problem *p, unsigned width, unsigned height)
{
    static const int depths[] = {1, 8, 8, 16, 32};
    gconv_job *job = &p->job;
    *job = gconv_job_default();
    choose_filters(p);
    job->input.width = width;
    job->input.height = height;
    job->input.depth = draw(3) > 0 ? 8 : draw(2) == 0 ? 16 : 32;
    job->output = draw(4) == 0 ? GCONV_OUTPUT_EDGES : GCONV_OUTPUT_SAMPLES;
    job->input.channels = job->output == GCONV_OUTPUT_EDGES ? 1 : 1 + (int)draw(4);
    job->output_depth = depths[draw(5)];
    job->border = (gconv_border)draw(GCONV_BORDER_COUNT);
    job->border_value = 9;
    job->alpha = (gconv_alpha)draw(GCONV_ALPHA_AUTO);
    job->absolute = draw(4) == 0;
    job->scale = draw(4) == 0 ? 0.75 : 1;
}

static void free_problem(problem *p)
{
    for (int i = 0; i < STEPS_MAX; i++)
        gconv_filter_free(p->filters[i]);
    free(p->input);
    free(p->expected);
}

/* Bytes or words of 16 bits may be anything, floats not. */
static void fill_input(problem *p)
{
    size_t bytes = p->input_bytes * p->job.input.height;
    for (size_t i = 0; i < bytes && p->job.input.depth < 32; i++)
        p->input[i] = (unsigned char)draw(256);
    for (size_t i = 0; i + sizeof(float) <= bytes && p->job.input.depth == 32; i += sizeof(float)) {
        float value = (float)draw(3 << 16) / 256 - 100;
        memcpy(p->input + i, &value, sizeof value);
    }
}

/* Computes the image of the job by the reference. */
static void compute(problem *p)
{
    gconv_job job = p->job;
    gconv_plan *plan;
    gconv_error error;
    job.implementation = "reference";
    job.device = "cpu";
    if (gconv_plan_create(&job, &plan, &error) != GCONV_OK) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    p->output = *gconv_plan_output_shape(plan);
    p->exact = gconv_plan_is_exact(plan);
    p->input_bytes = gconv_shape_row_bytes(&job.input);
    p->output_bytes = gconv_shape_row_bytes(&p->output);
    p->input = must_have(malloc(p->input_bytes * job.input.height));
    p->expected = must_have(malloc(p->output_bytes * job.input.height));
    fill_input(p);
    if (gconv_plan_run_memory(plan, p->input, p->input_bytes, p->expected, p->output_bytes, NULL,
                              &error) != GCONV_OK)
        exit(1);
    gconv_plan_free(plan);
}

/* Whether a run has failed as it may: this is no mistake. */
static bool is_allowed(const gconv_error *error)
{
    bool lacks = may_lack && strstr(error->message, "invalid device function") != NULL;
    if (!may_fail && !lacks)
        printf("%s\n", error->message);
    if (lacks)
        skipped++;
    return error->message[0] != '\0' && (may_fail || lacks);
}

/* Of an inexact chain each implementation has bits of its own, wherever images lie: those of a run
 * from ordinary memory without gaps. */
static bool expect_own_bits(const problem *p, gconv_plan *plan)
{
    gconv_error error;
    if (p->exact || gconv_plan_run_memory(plan, p->input, p->input_bytes, p->expected,
                                          p->output_bytes, NULL, &error) == GCONV_OK)
        return true;
    if (!is_allowed(&error))
        failed++;
    return false;
}

/* A plan of the problem by an implementation on a GPU; NULL if it refuses. */
static gconv_plan *plan_for(const problem *p, const char *implementation)
{
    gconv_job job = p->job;
    gconv_plan *plan;
    gconv_error error;
    job.implementation = implementation;
    job.device = "cuda:0";
    gconv_status status = gconv_plan_create(&job, &plan, &error);
    if (status == GCONV_OK)
        status = gconv_plan_prepare(plan, NULL, &error);
    if (status == GCONV_OK && expect_own_bits(p, plan))
        return plan;
    gconv_plan_free(plan);
    if (status != GCONV_OK && status != GCONV_ERROR_UNSUPPORTED && !may_fail) {
        printf("FAILED: %s: %s\n", implementation, error.message);
        failed++;
    }
    skipped++;
    return NULL;
}

/* ---- Images in memory with guards ------------------------------------------------------------ */

/* Rows somewhere in a block of memory. */
typedef struct image {
    size_t row_bytes, stride, before; /* bytes; `before` the first row */
    size_t size;                      /* of the block; of an input it ends with the last row */
    unsigned rows;
    unsigned char *block; /* of the host: what the block has or should have */
    unsigned char *place; /* the block in memory that the library gets */
} image;

/* Without gaps, at an odd place with odd gaps, or with the gaps of pitched memory. `unit` divides
 * addresses and strides. */
static void lay_out(image *im, size_t row_bytes, unsigned rows, unsigned kind, size_t unit,
                    size_t after)
{
    static const unsigned gaps[] = {0, 41, 0};
    *im = (image){.row_bytes = row_bytes, .stride = row_bytes, .rows = rows};
    im->before = kind == 1 ? unit * draw(35) : after > 0 ? 256 : 0;
    im->stride += gaps[kind] > 0 ? unit * draw(gaps[kind]) : 0;
    if (kind == 2)
        im->stride = (row_bytes + 511) / 512 * 512;
    im->size = im->before + im->stride * (rows - 1) + row_bytes + after;
    im->block = must_have(malloc(im->size));
    memset(im->block, FILLED, im->size);
}

static void put_rows(image *im, const unsigned char *rows)
{
    for (unsigned y = 0; y < im->rows; y++)
        memcpy(im->block + im->before + y * im->stride, rows + y * im->row_bytes, im->row_bytes);
}

/* Compares a block with rows and guards; `unset` where the rows may be anything. */
static bool is_right(const image *im, const unsigned char *rows, bool unset)
{
    for (size_t i = 0; i < im->size; i++) {
        size_t at = i - im->before, y = at / im->stride, x = at % im->stride;
        bool inside = i >= im->before && y < im->rows && x < im->row_bytes;
        if (inside && unset)
            continue;
        unsigned expected = inside ? rows[y * im->row_bytes + x] : FILLED;
        if (im->block[i] != expected) {
            printf("%s: row %zu, byte %zu is %u, not %u\n", inside ? "output" : "guard", y, x,
                   im->block[i], expected);
            return false;
        }
    }
    return true;
}

static void describe(const problem *p, const char *implementation, const char *what)
{
    printf("%s: %ux%u, %d channels of %d bits to %d, %s, border %s, alpha %d, %d steps: %s\n",
           implementation, p->job.input.width, p->job.input.height, p->job.input.channels,
           p->job.input.depth, p->job.output_depth,
           p->job.output == GCONV_OUTPUT_EDGES ? "edges" : "samples",
           gconv_border_name(p->job.border), (int)p->job.alpha, p->job.filter_count, what);
}

static void note(bool right, const problem *p, const char *implementation, const char *what)
{
    checked++;
    if (right)
        return;
    failed++;
    printf("FAILED ");
    describe(p, implementation, what);
}

/* ---- Device memory --------------------------------------------------------------------------- */

/* Calls of CUDA that this program makes: where they may fail, the case is given up. */
static bool works(cudaError_t code)
{
    if (code != cudaSuccess && !may_fail) {
        printf("FAILED: CUDA: %s\n", cudaGetErrorString(code));
        failed++;
    }
    return code == cudaSuccess;
}

static bool to_device(image *im, cudaStream_t stream)
{
    return works(cudaMalloc((void **)&im->place, im->size)) &&
           works(cudaMemcpyAsync(im->place, im->block, im->size, cudaMemcpyHostToDevice, stream));
}

static bool from_device(image *im, cudaStream_t stream)
{
    return works(cudaMemcpyAsync(im->block, im->place, im->size, cudaMemcpyDeviceToHost, stream)) &&
           works(cudaStreamSynchronize(stream));
}

static void free_device(image *im)
{
    cudaFree(im->place);
    free(im->block);
}

/* Whether the CPU makes the output of the job. */
static bool is_made_by_cpu(const problem *p)
{
    return p->job.output == GCONV_OUTPUT_SAMPLES && p->job.output_depth == 1 &&
           p->output.channels % 2 == 0;
}

static bool run_on_device(gconv_plan *plan, const problem *p, image *in, image *out,
                          cudaStream_t stream)
{
    gconv_error error;
    if (!to_device(in, stream) || !to_device(out, stream))
        return may_fail;
    gconv_status status =
        gconv_plan_run_device(plan, in->place + in->before, in->stride, out->place + out->before,
                              out->stride, stream, &error);
    if (is_made_by_cpu(p) && !may_fail)
        return status == GCONV_ERROR_UNSUPPORTED;
    if (status != GCONV_OK)
        return is_allowed(&error);
    return from_device(out, stream) ? is_right(out, p->expected, false) : may_fail;
}

static void check_device(const problem *p, const char *implementation)
{
    gconv_plan *plan = plan_for(p, implementation);
    cudaStream_t stream = NULL;
    if (plan == NULL || !works(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking))) {
        gconv_plan_free(plan);
        return;
    }
    for (unsigned kind = 0; kind < 9; kind++) { /* of input and output; two in the default stream */
        image in, out;
        lay_out(&in, p->input_bytes, p->job.input.height, kind % 3, 1, 0);
        lay_out(&out, p->output_bytes, p->job.input.height, kind / 3, 1, GUARD);
        put_rows(&in, p->input);
        bool right = run_on_device(plan, p, &in, &out, kind % 5 == 4 ? NULL : stream);
        note(right, p, implementation, "from device memory to device memory");
        free_device(&in);
        free_device(&out);
    }
    works(cudaStreamDestroy(stream));
    gconv_plan_free(plan);
}

/* ---- The order of runs ----------------------------------------------------------------------- */

enum { FRAMES = 12, STREAMS = 3 };

/* Frames in streams in turn: nothing waits on the CPU between upload, run and download. The images
 * of a stream are used again and again. */
typedef struct frames {
    image in[STREAMS], out[STREAMS];
    cudaStream_t streams[STREAMS];
    unsigned char *pinned; /* FRAMES outputs */
    bool allowed;          /* a run has failed as it may */
} frames;

static bool open_frames(frames *f, const problem *p)
{
    bool right = true;
    for (int s = 0; s < STREAMS; s++) {
        lay_out(&f->in[s], p->input_bytes, p->job.input.height, (unsigned)s, 1, 0);
        lay_out(&f->out[s], p->output_bytes, p->job.input.height, (unsigned)s, 1, GUARD);
        put_rows(&f->in[s], p->input);
        right = right && works(cudaStreamCreateWithFlags(&f->streams[s], cudaStreamNonBlocking)) &&
                to_device(&f->in[s], f->streams[s]) && to_device(&f->out[s], f->streams[s]);
    }
    return right && works(cudaMallocHost((void **)&f->pinned, FRAMES * f->out[1].size));
}

static void close_frames(frames *f)
{
    for (int s = 0; s < STREAMS; s++) {
        if (f->streams[s] != NULL)
            cudaStreamDestroy(f->streams[s]);
        free_device(&f->in[s]);
        free_device(&f->out[s]);
    }
    cudaFreeHost(f->pinned);
}

/* Enqueues frame `i`; its output goes to `pinned`, as long as stream 1 has it. */
static bool enqueue_frame(frames *f, gconv_plan *plan, int i)
{
    int s = i % STREAMS;
    image *in = &f->in[s], *out = &f->out[s];
    size_t most = f->out[1].size < out->size ? f->out[1].size : out->size;
    gconv_error error;
    if (!works(cudaMemsetAsync(out->place, FILLED, out->size, f->streams[s])))
        return false;
    if (gconv_plan_run_device(plan, in->place + in->before, in->stride, out->place + out->before,
                              out->stride, f->streams[s], &error) != GCONV_OK) {
        f->allowed = is_allowed(&error);
        return false;
    }
    return works(cudaMemcpyAsync(f->pinned + (size_t)i * f->out[1].size, out->place, most,
                                 cudaMemcpyDeviceToHost, f->streams[s]));
}

/* A run from memory in the middle meets the plan's kernels in another stream. */
static bool run_frames(frames *f, gconv_plan *plan, const problem *p)
{
    unsigned char *result = must_have(malloc(p->output_bytes * p->job.input.height));
    bool right = true;
    for (int i = 0; right && i < FRAMES; i++)
        right = enqueue_frame(f, plan, i);
    right = right && gconv_plan_run_memory(plan, p->input, p->input_bytes, result, p->output_bytes,
                                           NULL, NULL) == GCONV_OK;
    right = right && memcmp(result, p->expected, p->output_bytes * p->job.input.height) == 0;
    free(result);
    for (int s = 0; s < STREAMS; s++)
        right = works(cudaStreamSynchronize(f->streams[s])) && right;
    for (int i = 1; right && i < FRAMES; i += STREAMS) {
        memcpy(f->out[1].block, f->pinned + (size_t)i * f->out[1].size, f->out[1].size);
        right = is_right(&f->out[1], p->expected, false);
    }
    for (int s = 0; right && s < STREAMS; s++)
        right = from_device(&f->out[s], f->streams[s]) && is_right(&f->out[s], p->expected, false);
    return right;
}

static void check_order(const problem *p, const char *implementation)
{
    frames f = {.pinned = NULL};
    gconv_plan *plan = is_made_by_cpu(p) ? NULL : plan_for(p, implementation);
    if (plan == NULL)
        return;
    bool right = open_frames(&f, p) && run_frames(&f, plan, p);
    note(right || may_fail || f.allowed, p, implementation, "frames in streams");
    gconv_plan_free(plan); /* waits for its runs */
    close_frames(&f);
}

/* ---- Memory of the host ---------------------------------------------------------------------- */

enum { PAGEABLE, ALLOCATED, REGISTERED, KINDS };

static const char *const kind_names[KINDS] = {"pageable", "allocated", "registered"};

static bool take_place(image *im, unsigned kind)
{
    void *memory = NULL;
    if (kind == ALLOCATED) {
        if (gconv_memory_allocate(im->size, &memory, NULL) != GCONV_OK)
            return false;
    } else {
        memory = must_have(malloc(im->size));
    }
    im->place = memory;
    memcpy(memory, im->block, im->size);
    return kind != REGISTERED || gconv_memory_register(memory, im->size, NULL) == GCONV_OK ||
           may_fail;
}

static void free_place(image *im, unsigned kind)
{
    if (kind == REGISTERED)
        gconv_memory_unregister(im->place);
    if (kind == ALLOCATED)
        gconv_memory_free(im->place);
    else
        free(im->place);
    free(im->block);
}

static bool run_in_memory(gconv_plan *plan, const problem *p, const image *in, image *out)
{
    gconv_error error;
    gconv_timings timings = gconv_timings_default();
    gconv_status status =
        gconv_plan_run_memory(plan, in->place + in->before, in->stride, out->place + out->before,
                              out->stride, &timings, &error);
    memcpy(out->block, out->place, out->size);
    if (status == GCONV_OK)
        return is_right(out, p->expected, false) && timings.total > 0;
    return is_allowed(&error) && is_right(out, p->expected, true);
}

static void check_memory(const problem *p, const char *implementation)
{
    gconv_plan *plan = plan_for(p, implementation);
    bool large = p->output_bytes * p->job.input.height > 1 << 20;
    unsigned step = !large ? 1 : may_fail ? KINDS * KINDS : 2; /* one of all is pageable twice */
    for (unsigned kinds = 0; plan != NULL && kinds < KINDS * KINDS; kinds += step) {
        unsigned from = kinds % KINDS, to = kinds / KINDS;
        image in, out;
        lay_out(&in, p->input_bytes, p->job.input.height, kinds % 2, (size_t)p->job.input.depth / 8,
                0);
        lay_out(&out, p->output_bytes, p->job.input.height, kinds / 2 % 2,
                p->output.depth > 8 ? (size_t)p->output.depth / 8 : 1, GUARD);
        put_rows(&in, p->input);
        bool taken = take_place(&in, from), placed = take_place(&out, to);
        char text[64];
        snprintf(text, sizeof text, "from %s to %s memory", kind_names[from], kind_names[to]);
        note(taken && placed && run_in_memory(plan, p, &in, &out), p, implementation, text);
        free_place(&in, from);
        free_place(&out, to);
    }
    gconv_plan_free(plan);
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void refuse(const problem *p, gconv_status got, gconv_status wanted, const char *what)
{
    if (got != wanted)
        printf("status %d, not %d\n", (int)got, (int)wanted);
    note(got == wanted, p, "refusals", what);
}

static void check_refusals(const problem *p, const char *implementation)
{
    gconv_plan *plan = plan_for(p, implementation), *on_cpu;
    size_t in = p->input_bytes, out = p->output_bytes;
    void *device = NULL;
    if (plan == NULL || is_made_by_cpu(p) ||
        !works(cudaMalloc(&device, (in + out) * p->job.input.height))) {
        gconv_plan_free(plan);
        return;
    }
    char *other = (char *)device + in * p->job.input.height;
    refuse(p, gconv_plan_run_device(plan, p->input, in, other, out, NULL, NULL),
           GCONV_ERROR_ARGUMENT, "an input of the host");
    refuse(p, gconv_plan_run_device(plan, device, in, p->expected, out, NULL, NULL),
           GCONV_ERROR_ARGUMENT, "an output of the host");
    refuse(p, gconv_plan_run_device(plan, NULL, in, other, out, NULL, NULL), GCONV_ERROR_ARGUMENT,
           "no input");
    refuse(p, gconv_plan_run_device(plan, device, in - 1, other, out, NULL, NULL),
           GCONV_ERROR_ARGUMENT, "a short stride of the input");
    refuse(p, gconv_plan_run_device(plan, device, in, other, out - 1, NULL, NULL),
           GCONV_ERROR_ARGUMENT, "a short stride of the output");
    gconv_plan_free(plan);
    gconv_job job = p->job;
    job.device = "cpu";
    if (gconv_plan_create(&job, &on_cpu, NULL) == GCONV_OK)
        refuse(p, gconv_plan_run_device(on_cpu, device, in, other, out, NULL, NULL),
               GCONV_ERROR_UNSUPPORTED, "a plan on the CPU");
    gconv_plan_free(on_cpu);
    cudaFree(device);
}

/* Memory of another device, if there are two. */
static void check_other(const problem *p, const char *implementation)
{
    gconv_plan *plan = is_made_by_cpu(p) ? NULL : plan_for(p, implementation);
    void *other = NULL;
    int devices = 0;
    if (plan != NULL && works(cudaGetDeviceCount(&devices)) && devices > 1 &&
        works(cudaSetDevice(1)) &&
        works(cudaMalloc(&other, (p->input_bytes + p->output_bytes) * p->job.input.height))) {
        char *output = (char *)other + p->input_bytes * p->job.input.height;
        refuse(
            p,
            gconv_plan_run_device(plan, other, p->input_bytes, output, p->output_bytes, NULL, NULL),
            GCONV_ERROR_ARGUMENT, "memory of another device");
        cudaFree(other);
    }
    works(cudaSetDevice(0));
    gconv_plan_free(plan);
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* What the command line says. */
typedef struct options {
    const char *implementation, *only; /* NULL: all */
    unsigned cases;
    uint64_t seed;
} options;

typedef void check_function(const problem *p, const char *implementation);

static void check_everywhere(const options *o, const problem *p, check_function *check)
{
    for (int i = 0; i < gconv_implementation_count(); i++) {
        const char *name = gconv_implementation_name(i);
        if (gconv_implementation_kind(i) == GCONV_DEVICE_CUDA &&
            (o->implementation == NULL || strcmp(o->implementation, name) == 0))
            check(p, name);
    }
}

/* Makes pixels and image large: the image goes in more bands than there are pieces to stage them.
 * Where calls fail, in three. */
static void make_large(gconv_job *job)
{
    job->output = GCONV_OUTPUT_SAMPLES;
    job->input.width = draw(2) == 0 ? 256 : 150 + draw(200);
    job->input.depth = draw(2) == 0 ? 8 : 16;
    job->input.channels = 3 + (int)draw(2);
    job->output_depth = draw(2) == 0 ? 32 : 16;
    unsigned row = job->input.width * (unsigned)(job->input.channels * job->output_depth) / 8;
    job->input.height = ((may_fail ? 5 << 19 : 10 << 20) + draw(1 << 20)) / row;
}

/* `cases` problems of small images, or of images that go band by band. */
static void check_cases(const options *o, const char *name, unsigned cases, bool large,
                        check_function *check)
{
    static const unsigned widths[] = {32, 64, 128, 256};
    if (o->only != NULL && strcmp(o->only, name) != 0)
        return;
    for (unsigned i = 0; i < cases; i++) {
        problem p = {.input = NULL};
        unsigned width = draw(2) == 0 ? widths[draw(4)] : 1 + draw(150);
        choose_job(&p, width, 1 + draw(70));
        if (large)
            make_large(&p.job);
        compute(&p);
        check_everywhere(o, &p, check);
        free_problem(&p);
    }
}

static void read_options(options *o, int count, char **arguments)
{
    for (int i = 1; i < count; i++) {
        const char *name = arguments[i];
        if (strcmp(name, "--failing") == 0) {
            may_fail = true;
            continue;
        }
        if (strcmp(name, "--lacking") == 0) {
            may_lack = true;
            continue;
        }
        const char *value = i + 1 < count ? arguments[++i] : "";
        if (strcmp(name, "--impl") == 0)
            o->implementation = value;
        else if (strcmp(name, "--only") == 0)
            o->only = value;
        else if (strcmp(name, "--cases") == 0)
            o->cases = (unsigned)strtoul(value, NULL, 10);
        else if (strcmp(name, "--seed") == 0)
            o->seed = strtoull(value, NULL, 10);
        else
            exit(2);
    }
}

int main(int count, char **arguments)
{
    options o = {.cases = 60, .seed = 1};
    int devices = 0;
    read_options(&o, count, arguments);
    if ((cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) && !may_fail) {
        printf("no GPU\n");
        return 77;
    }
    draw_state = o.seed;
    check_cases(&o, "device", o.cases, false, check_device);
    check_cases(&o, "memory", o.cases / 2, false, check_memory);
    check_cases(&o, "bands", o.cases / 6, true, check_memory);
    check_cases(&o, "order", o.cases / 4, false, check_order);
    check_cases(&o, "refusals", 3, false, check_refusals);
    check_cases(&o, "other", 3, false, check_other);
    printf("%lu checked, %lu failed, %lu not supported\n", checked, failed, skipped);
    return failed > 0 || (checked == 0 && !may_fail);
}
