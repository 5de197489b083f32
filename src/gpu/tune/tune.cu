/* Candidates compiled, checked and timed: filters of random weights that are not 0, planes of random
 * samples, which a cache does not hold from one launch to the next. */
#include "gpu/tune/tune.h"

#include "gpu/fast/passes.cuh"
#include "gpu/runtime/check.cuh"

extern "C" {
#include "base/clock.h"
#include "gpu/runtime/finish.h"
}

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <pthread.h>
#include <unistd.h>

enum {
    SIDE_MAX = 4096,
    SIDE_MIN = 512,
    /* Beside the whole plane, a part of it is checked whose sides are multiples of nothing. */
    PART_WIDTH = 517,
    PART_HEIGHT = 261,
    RUNS = 30,
    RUNS_OF_FINALISTS = 90,
    FINALISTS = 3,
    /* Of 8-bit samples; less for sums of products, so that gc_finish_divide serves the sum of weights. */
    WEIGHT_MAX = 7
};
static_assert(SIDE_MIN * SIDE_MIN >= (PART_WIDTH + 3) * PART_HEIGHT, "the part lies in a plane");

/* Idle devices clock down; seconds of work before a measurement. */
static const double warm_up_seconds = 0.02;

struct gc_tuner {
    gconv_device_info device;
    int side;
    int sets; /* planes of float32 in `inputs`, and in `outputs` */
    char *inputs, *outputs;
    double *expected; /* of the part, then of the plane */
    double *taps;
    unsigned *wrong;
    cudaStream_t stream;
    cudaEvent_t events[RUNS_OF_FINALISTS + 1];
};

/* What is checked: the first samples of the first input, seen as an image. */
struct view {
    int width, height;
    long long pitch;
    double *expected;
};

static view part_of(const gc_tuner *tuner)
{
    return {PART_WIDTH, PART_HEIGHT, PART_WIDTH + 3, tuner->expected};
}

static view plane_of(const gc_tuner *tuner)
{
    return {tuner->side, tuner->side, tuner->side, tuner->expected + PART_WIDTH * PART_HEIGHT};
}

static size_t bytes_of(gc_sample_type type)
{
    return type == GC_FLOAT ? sizeof(float) : 1;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

/* The finalizer of MurmurHash3 (Appleby, public domain): consecutive numbers become random ones. */
static __host__ __device__ inline unsigned scramble(unsigned n)
{
    n = (n ^ n >> 16) * 0x85ebca6bu;
    n = (n ^ n >> 13) * 0xc2b2ae35u;
    return n ^ n >> 16;
}

/* Random words: floats from 0 to 1, or four bytes each. */
static __global__ void fill(unsigned *words, size_t count, bool floats)
{
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        unsigned random = scramble((unsigned)i + 1);
        words[i] = floats ? __float_as_uint((float)(random >> 8) * 0x1p-24f) : random;
    }
}

/* The row or column that a mirror border shows at `index`. */
static __device__ inline int reflected(int index, int size)
{
    while (index < 0 || index >= size)
        index = index < 0 ? -1 - index : 2 * size - 1 - index;
    return index;
}

/* One output by the definition; a divisor of 0 leaves the sum, any other makes an 8-bit sample. */
template <typename sample>
static __global__ void expect(const sample *input, view image, gc_layout layout, const double *taps,
                              double divisor)
{
    int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= image.width || y >= image.height)
        return;
    double sum = 0;
    for (int j = 0; j < layout.height; j++) {
        const sample *row = input + reflected(y + j - layout.top, image.height) * image.pitch;
        for (int i = 0; i < layout.width; i++)
            sum += taps[j * layout.width + i] *
                   (double)row[reflected(x + i - layout.left, image.width)];
    }
    if (divisor != 0)
        sum = fmin(fmax(rint(sum / divisor), 0.0), 255.0);
    image.expected[(size_t)y * image.width + x] = sum;
}

template <typename sample>
static __global__ void compare(const sample *output, view image, double tolerance, unsigned *wrong)
{
    int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= image.width || y >= image.height)
        return;
    double difference =
        (double)output[y * image.pitch + x] - image.expected[(size_t)y * image.width + x];
    if (!(fabs(difference) <= tolerance))
        atomicAdd(wrong, 1u);
}

static const dim3 threads_of_a_check(32, 8);

static dim3 blocks_of_a_check(const view &image)
{
    return dim3((unsigned)(image.width + 31) / 32, (unsigned)(image.height + 7) / 8);
}

/* ---- The tuner ------------------------------------------------------------------------------- */

/* Sets of planes that exceed twice the cache, the one in use not counted. */
static int sets_for(const gconv_device_info *device, int side)
{
    uint64_t set = 2ull * (uint64_t)side * (uint64_t)side * sizeof(float);
    return (int)(2 * device->l2_bytes / set) + 2;
}

/* The largest planes that leave the device half its free memory. */
static gconv_status choose_planes(gc_tuner *tuner, gconv_error *error)
{
    size_t available = 0, total = 0;
    GC_CUDA_TRY(error, cudaMemGetInfo(&available, &total));
    for (tuner->side = SIDE_MAX; tuner->side >= SIDE_MIN; tuner->side /= 2) {
        size_t plane = (size_t)tuner->side * (size_t)tuner->side * sizeof(float);
        tuner->sets = sets_for(&tuner->device, tuner->side);
        if ((size_t)(2 * tuner->sets + 2) * plane <= available / 2)
            return GCONV_OK;
    }
    return gc_fail(error, GCONV_ERROR_MEMORY, "%.0f MiB of free memory on %s are not enough",
                   (double)available / (1 << 20), tuner->device.name);
}

static gconv_status allocate(gc_tuner *tuner, gconv_error *error)
{
    GC_CUDA_TRY(error, cudaSetDevice(tuner->device.index));
    GC_TRY(choose_planes(tuner, error));
    size_t samples = (size_t)tuner->side * (size_t)tuner->side;
    size_t bytes = (size_t)tuner->sets * samples * sizeof(float);
    GC_CUDA_TRY(error, cudaMalloc(&tuner->inputs, bytes));
    GC_CUDA_TRY(error, cudaMalloc(&tuner->outputs, bytes));
    GC_CUDA_TRY(
        error, cudaMalloc(&tuner->expected, (samples + PART_WIDTH * PART_HEIGHT) * sizeof(double)));
    GC_CUDA_TRY(error, cudaMalloc(&tuner->taps,
                                  GCONV_FILTER_SIDE_MAX * GCONV_FILTER_SIDE_MAX * sizeof(double)));
    GC_CUDA_TRY(error, cudaMalloc(&tuner->wrong, sizeof *tuner->wrong));
    GC_CUDA_TRY(error, cudaStreamCreateWithFlags(&tuner->stream, cudaStreamNonBlocking));
    for (cudaEvent_t &event : tuner->events)
        GC_CUDA_TRY(error, cudaEventCreate(&event));
    return GCONV_OK;
}

gconv_status gc_tuner_create(const gconv_device_info *device, gc_tuner **tuner, gconv_error *error)
{
    *tuner = (gc_tuner *)calloc(1, sizeof **tuner);
    if (*tuner == nullptr)
        return gc_fail_memory(error, sizeof **tuner);
    (*tuner)->device = *device;
    gconv_status status = allocate(*tuner, error);
    if (status != GCONV_OK) {
        gc_tuner_destroy(*tuner);
        *tuner = nullptr;
    }
    return status;
}

int gc_tuner_side(const gc_tuner *tuner)
{
    return tuner->side;
}

void gc_tuner_destroy(gc_tuner *tuner)
{
    if (tuner == nullptr)
        return;
    for (cudaEvent_t event : tuner->events)
        if (event != nullptr)
            cudaEventDestroy(event);
    if (tuner->stream != nullptr)
        cudaStreamDestroy(tuner->stream);
    cudaFree(tuner->inputs);
    cudaFree(tuner->outputs);
    cudaFree(tuner->expected);
    cudaFree(tuner->taps);
    cudaFree(tuner->wrong);
    cudaGetLastError();
    free(tuner);
}

/* ---- One search ------------------------------------------------------------------------------ */

struct contender {
    gc_pass_kernel kernel;
    gconv_status compiled;
    gconv_error why;     /* where it is not */
    double microseconds; /* 0: left out */
};

struct search {
    gc_tuner *tuner;
    gc_layout layout;
    float *weights; /* of the kernels: a matrix, or rows and columns */
    double *taps;   /* the matrix */
    int weight_count;
    double divisor, tolerance;
    gc_finish finish;
    int count; /* contenders */
    contender contenders[GC_CANDIDATES_MAX];
    gc_tuning tunings[GC_CANDIDATES_MAX];
};

/* Never 0. Of 8-bit samples whole, so that sums are exact; else of both signs. */
static float random_weight(const gc_layout &layout, int index)
{
    unsigned random = scramble(0x9e3779b9u + (unsigned)index);
    unsigned products = (unsigned)gc_form_products(layout.tuning.form);
    if (layout.input == GC_BYTE)
        return (float)(1 + random % (WEIGHT_MAX / std::max(1u, products)));
    float magnitude = (float)(1 + (random >> 8)) * 0x1p-24f;
    return random & 1 ? magnitude : -magnitude;
}

/* The weight in row j and column i of the filter that the kernels' weights stand for. */
static double tap_at(const search *s, int j, int i)
{
    const gc_layout &layout = s->layout;
    int products = gc_form_products(layout.tuning.form), lines = layout.width + layout.height;
    double tap = products == 0 ? s->weights[j * layout.width + i] : 0;
    for (int p = 0; p < products; p++)
        tap += (double)s->weights[p * lines + i] * s->weights[p * lines + layout.width + j];
    return tap;
}

static void make_weights(search *s)
{
    const gc_layout &layout = s->layout;
    int width = layout.width, size = width * layout.height;
    s->weight_count = gc_form_weights(layout.tuning.form, width, layout.height);
    for (int i = 0; i < s->weight_count; i++)
        s->weights[i] = random_weight(layout, i);
    double sum = 0;
    for (int k = 0; k < size; k++) {
        s->taps[k] = tap_at(s, k / width, k % width);
        sum += fabs(s->taps[k]);
    }
    if (layout.input == GC_FLOAT) {
        /* contract.md, rule 4, for inputs up to 1. */
        s->tolerance = 4 * size * 0x1p-24 * sum;
        return;
    }
    s->divisor = sum;
    s->finish = {};
    s->finish.kind = GC_FINISH_QUOTIENT;
    gc_finish_divide(sum, &s->finish);
    s->finish.scale = s->finish.factor = 1;
    s->finish.sample_max = s->finish.largest = 255;
}

static void enqueue_expectation(const search *s, const view &image)
{
    const gc_tuner *tuner = s->tuner;
    dim3 blocks = blocks_of_a_check(image);
    if (s->layout.input == GC_FLOAT)
        expect<<<blocks, threads_of_a_check, 0, tuner->stream>>>(
            (const float *)tuner->inputs, image, s->layout, tuner->taps, s->divisor);
    else
        expect<<<blocks, threads_of_a_check, 0, tuner->stream>>>(
            (const unsigned char *)tuner->inputs, image, s->layout, tuner->taps, s->divisor);
}

/* Inputs, weights, and what comes of them. */
static gconv_status begin(search *s, gconv_error *error)
{
    gc_tuner *tuner = s->tuner;
    int size = s->layout.width * s->layout.height;
    GC_CUDA_TRY(error, cudaSetDevice(tuner->device.index));
    make_weights(s);
    GC_CUDA_TRY(error, cudaMemcpyAsync(tuner->taps, s->taps, (size_t)size * sizeof *s->taps,
                                       cudaMemcpyHostToDevice, tuner->stream));
    size_t words = (size_t)tuner->sets * (size_t)tuner->side * (size_t)tuner->side;
    fill<<<8 * (unsigned)tuner->device.processors, 256, 0, tuner->stream>>>(
        (unsigned *)tuner->inputs, words, s->layout.input == GC_FLOAT);
    GC_CUDA_TRY_LAUNCH(error);
    enqueue_expectation(s, part_of(tuner));
    GC_CUDA_TRY_LAUNCH(error);
    enqueue_expectation(s, plane_of(tuner));
    GC_CUDA_TRY_LAUNCH(error);
    GC_CUDA_TRY(error, cudaStreamSynchronize(tuner->stream));
    return GCONV_OK;
}

/* The pass from one input plane to the output plane of the same number. */
static gc_pass pass_over(const search *s, const view &image, int set)
{
    size_t plane = (size_t)s->tuner->side * (size_t)s->tuner->side * bytes_of(s->layout.input);
    gc_pass pass = {};
    pass.input = s->tuner->inputs + (size_t)set * plane;
    pass.output = s->tuner->outputs + (size_t)set * plane;
    pass.input_pitch = pass.output_pitch = image.pitch;
    pass.width = image.width;
    pass.height = pass.rows = pass.input_rows = image.height;
    pass.input_type = s->layout.input;
    pass.output_type = s->layout.output;
    pass.border = s->layout.border;
    pass.finish = s->finish;
    return pass;
}

/* ---- Checking -------------------------------------------------------------------------------- */

/* Adds to what is wrong already. */
static gconv_status check(const search *s, const gc_pass_kernel &kernel, const view &image,
                          gconv_error *error)
{
    const gc_tuner *tuner = s->tuner;
    gc_pass pass = pass_over(s, image, 0);
    size_t bytes = (size_t)image.pitch * (size_t)image.height * bytes_of(s->layout.output);
    /* NaNs, and white: no sum of this filter is. */
    GC_CUDA_TRY(error, cudaMemsetAsync(pass.output, 0xff, bytes, tuner->stream));
    GC_TRY(gc_pass_launch(kernel, pass, 1, tuner->stream, error));
    dim3 blocks = blocks_of_a_check(image);
    if (s->layout.output == GC_FLOAT)
        compare<<<blocks, threads_of_a_check, 0, tuner->stream>>>((const float *)pass.output, image,
                                                                  s->tolerance, tuner->wrong);
    else
        compare<<<blocks, threads_of_a_check, 0, tuner->stream>>>(
            (const unsigned char *)pass.output, image, s->tolerance, tuner->wrong);
    GC_CUDA_TRY_LAUNCH(error);
    return GCONV_OK;
}

static gconv_status is_right(const search *s, const gc_pass_kernel &kernel, bool *right,
                             gconv_error *error)
{
    const gc_tuner *tuner = s->tuner;
    unsigned wrong = 0;
    GC_CUDA_TRY(error, cudaMemsetAsync(tuner->wrong, 0, sizeof wrong, tuner->stream));
    GC_TRY(check(s, kernel, part_of(tuner), error));
    GC_TRY(check(s, kernel, plane_of(tuner), error));
    GC_CUDA_TRY(error, cudaMemcpyAsync(&wrong, tuner->wrong, sizeof wrong, cudaMemcpyDeviceToHost,
                                       tuner->stream));
    GC_CUDA_TRY(error, cudaStreamSynchronize(tuner->stream));
    *right = wrong == 0;
    return GCONV_OK;
}

/* ---- Timing ---------------------------------------------------------------------------------- */

/* One launch for each of `runs`, over one set of planes after the other. */
static gconv_status launch_all(const search *s, const gc_pass_kernel &kernel, int runs,
                               bool records, gconv_error *error)
{
    const gc_tuner *tuner = s->tuner;
    int sets = tuner->sets * (int)(sizeof(float) / bytes_of(s->layout.input));
    view plane = plane_of(tuner);
    for (int i = 0; i < runs; i++) {
        gc_pass pass = pass_over(s, plane, i % sets);
        GC_TRY(gc_pass_launch(kernel, pass, 1, tuner->stream, error));
        if (records)
            GC_CUDA_TRY(error, cudaEventRecord(tuner->events[i + 1], tuner->stream));
    }
    return GCONV_OK;
}

static gconv_status warm_up(const search *s, const gc_pass_kernel &kernel, gconv_error *error)
{
    double end = gc_seconds() + warm_up_seconds;
    do {
        GC_TRY(launch_all(s, kernel, RUNS, false, error));
        GC_CUDA_TRY(error, cudaStreamSynchronize(s->tuner->stream));
    } while (gc_seconds() < end);
    return GCONV_OK;
}

/* The median of `runs`, from the end of one launch to the end of the next. */
static gconv_status measure(const search *s, const gc_pass_kernel &kernel, int runs,
                            double *microseconds, gconv_error *error)
{
    const gc_tuner *tuner = s->tuner;
    GC_TRY(warm_up(s, kernel, error));
    GC_CUDA_TRY(error, cudaEventRecord(tuner->events[0], tuner->stream));
    GC_TRY(launch_all(s, kernel, runs, true, error));
    GC_CUDA_TRY(error, cudaStreamSynchronize(tuner->stream));
    float milliseconds[RUNS_OF_FINALISTS];
    for (int i = 0; i < runs; i++)
        GC_CUDA_TRY(error,
                    cudaEventElapsedTime(&milliseconds[i], tuner->events[i], tuner->events[i + 1]));
    std::nth_element(milliseconds, milliseconds + runs / 2, milliseconds + runs);
    *microseconds = 1e3 * (double)milliseconds[runs / 2];
    return GCONV_OK;
}

/* ---- Candidates ------------------------------------------------------------------------------ */

struct compilation {
    search *of;
    int next, end; /* contenders; threads draw the next one */
};

static void *compile_some(void *opaque)
{
    compilation *work = (compilation *)opaque;
    search *s = work->of;
    cudaSetDevice(s->tuner->device.index);
    for (;;) {
        int i = __atomic_fetch_add(&work->next, 1, __ATOMIC_RELAXED);
        if (i >= work->end)
            return nullptr;
        gc_layout layout = s->layout;
        layout.tuning = s->tunings[i];
        contender *c = &s->contenders[i];
        c->compiled = gc_pass_specialise(layout, s->weights, s->weight_count, &s->tuner->device,
                                         GC_JIT_UNKEPT, &c->kernel, &c->why);
    }
}

/* Compiles the tunings from `first` on, one a processor and none from `end` on: that takes longer than
 * all else. Returns the first that is not compiled. */
static int compile_next(search *s, int first, int end)
{
    int processors = std::max(1, (int)sysconf(_SC_NPROCESSORS_ONLN));
    end = std::min(end, first + processors);
    compilation work = {s, first, end};
    pthread_t threads[GC_CANDIDATES_MAX];
    int count = 0;
    while (count < end - first - 1 &&
           pthread_create(&threads[count], nullptr, compile_some, &work) == 0)
        count++;
    compile_some(&work);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], nullptr);
    return end;
}

static gconv_status try_contender(const search *s, contender *c, gconv_error *error)
{
    bool right = false;
    if (c->compiled != GCONV_OK) {
        *error = c->why;
        return c->compiled;
    }
    GC_TRY(is_right(s, c->kernel, &right, error));
    return right ? measure(s, c->kernel, RUNS, &c->microseconds, error) : GCONV_OK;
}

/* A kernel that does not compile or cannot be launched leaves the device as it was; one that broke down
 * leaves it unusable. */
static bool can_go_on(gconv_status status)
{
    return status == GCONV_ERROR_DEVICE && cudaDeviceSynchronize() == cudaSuccess;
}

/* Tries the tunings that were not tried. */
static gconv_status try_all(search *s, int tuning_count, gc_tune_goes_on *goes_on, void *user,
                            gc_tune_result *result, gconv_error *error)
{
    int compiled = s->count;
    for (; s->count < tuning_count; s->count++) {
        gc_tune_progress progress = {s->count, tuning_count};
        result->finished = goes_on(user, &progress);
        if (!result->finished)
            return GCONV_OK;
        if (s->count == compiled)
            compiled = compile_next(s, compiled, tuning_count);
        contender *c = &s->contenders[s->count];
        gconv_status status = try_contender(s, c, error);
        if (status != GCONV_OK && !can_go_on(status))
            return status;
        if (status != GCONV_OK)
            c->microseconds = 0;
        result->tried++;
        result->left_out += c->microseconds == 0;
    }
    return GCONV_OK;
}

/* Null where all were left out. */
static contender *fastest_of(search *s, bool warps_too)
{
    contender *fastest = nullptr;
    for (int i = 0; i < s->count; i++) {
        contender *c = &s->contenders[i];
        if (c->microseconds > 0 && (warps_too || s->tunings[i].form != GC_FORM_WARP) &&
            (fastest == nullptr || c->microseconds < fastest->microseconds))
            fastest = c;
    }
    return fastest;
}

/* The fastest, and what would be taken untuned, are timed again, right after each other: the fastest of
 * these is the result. */
static gconv_status decide(search *s, gc_tune_result *result, gconv_error *error)
{
    contender *winner = nullptr;
    contender *untuned = &s->contenders[0];
    if (untuned->microseconds > 0)
        GC_TRY(
            measure(s, untuned->kernel, RUNS_OF_FINALISTS, &result->untuned_microseconds, error));
    double least = 0;
    for (int i = 0; i < FINALISTS; i++) {
        contender *next = fastest_of(s, true);
        if (next == nullptr)
            break;
        double microseconds = result->untuned_microseconds;
        if (next != untuned)
            GC_TRY(measure(s, next->kernel, RUNS_OF_FINALISTS, &microseconds, error));
        next->microseconds = 0;
        if (winner == nullptr || microseconds < least) {
            winner = next;
            least = microseconds;
        }
    }
    if (winner == nullptr)
        return gc_fail(error, GCONV_ERROR_DEVICE, "no kernel for filters of %dx%d works",
                       s->layout.width, s->layout.height);
    if (untuned->microseconds > 0 && result->untuned_microseconds <= least) {
        winner = untuned;
        least = result->untuned_microseconds;
    }
    result->best = {s->layout.width,
                    s->layout.height,
                    s->layout.input,
                    s->layout.output,
                    winner->kernel.layout.tuning,
                    least,
                    ""};
    return GCONV_OK;
}

static gconv_status run(search *s, gc_tune_goes_on *goes_on, void *user, gc_tune_result *result,
                        gconv_error *error)
{
    const gconv_device_info *device = &s->tuner->device;
    GC_TRY(begin(s, error));
    int count = gc_candidates(device, &s->layout, s->tunings);
    GC_TRY(try_all(s, count, goes_on, user, result, error));
    const contender *fastest = fastest_of(s, false);
    if (result->finished && fastest != nullptr) {
        count = gc_candidates_like(device, &s->layout, &fastest->kernel.layout.tuning, s->tunings,
                                   count);
        GC_TRY(try_all(s, count, goes_on, user, result, error));
    }
    return result->finished ? decide(s, result, error) : GCONV_OK;
}

static void set_date(gc_tuned *tuned)
{
    time_t now = time(nullptr);
    struct tm today;
    gmtime_r(&now, &today);
    strftime(tuned->date, sizeof tuned->date, "%Y-%m-%d", &today);
}

gconv_status gc_tuner_search(gc_tuner *tuner, const gc_layout *layout, gc_tune_goes_on *goes_on,
                             void *user, gc_tune_result *result, gconv_error *error)
{
    *result = {};
    size_t size = (size_t)layout->width * (size_t)layout->height;
    search *s = (search *)calloc(1, sizeof *s);
    size_t count = (size_t)gc_form_weights(layout->tuning.form, layout->width, layout->height);
    float *weights = (float *)calloc(count, sizeof *weights);
    double *taps = (double *)calloc(size, sizeof *taps);
    gconv_status status = GCONV_OK;
    if (s == nullptr || weights == nullptr || taps == nullptr) {
        status = gc_fail_memory(error, sizeof *s + count * sizeof *weights + size * sizeof *taps);
    } else {
        s->tuner = tuner;
        s->layout = *layout;
        s->weights = weights;
        s->taps = taps;
        status = run(s, goes_on, user, result, error);
        set_date(&result->best);
        for (contender &c : s->contenders)
            gc_pass_release(&c.kernel);
    }
    free(s);
    free(weights);
    free(taps);
    return status;
}
