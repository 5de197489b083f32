/* Stands in for src/core/registry.c at link time: a registry with implementations that misbehave on
 * purpose, so that the way this is reported can be tested. All of them compute by the reference.
 *
 *     wrong    gets one sample of every image wrong
 *     wrong:far  gets the last sample of images wrong that are wider than 300
 *     wrong:output  has right chain values, and gets one sample of the output wrong
 *     picky    refuses images wider than 8
 *     broken   fails when it is run
 *     kernels  takes JPEG whose header was checked, as kernels of a GPU, and makes it black
 *     patient  waits, as for a device, until MEETING images of a batch do
 *     late     is ready LATE_SECONDS after its plan was made, as one that compiles kernels
 *     dead     the same, as a GPU's: the first choice of `auto` for what takes the CPU long */
#include "core/device.h"
#include "core/registry.h"

#include "base/clock.h"
#include "base/status.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern const gc_operations gc_reference_operations;

/* ---- What they do ---------------------------------------------------------------------------- */

static gconv_status supports_narrow(const gc_problem *problem, const gconv_device_info *device,
                                    gconv_error *error)
{
    (void)device;
    if (problem->chain.width > 8)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED, "'picky' takes images up to 8 wide");
    return GCONV_OK;
}

/* Never chosen by `auto`. */
static double cost(const gc_problem *problem, const gconv_device_info *device)
{
    (void)problem;
    (void)device;
    return 1e9;
}

static gconv_status prepare(const gc_problem *problem, const gconv_device_info *device,
                            void **state, gconv_error *error)
{
    return gc_reference_operations.prepare(problem, device, state, error);
}

typedef struct spoiled_source {
    gconv_source source;
    bool spoiled; /* the first sample has passed */
} spoiled_source;

static gconv_status read_wrong(void *user, uint32_t count, void *rows, size_t stride,
                               gconv_error *error)
{
    spoiled_source *own = user;
    gconv_status status = own->source.read(own->source.user, count, rows, stride, error);
    if (status == GCONV_OK && !own->spoiled)
        *(unsigned char *)rows ^= 64;
    own->spoiled = true;
    return status;
}

static gconv_status run_wrong(void *state, gc_stream *stream, gconv_error *error)
{
    spoiled_source own = {.source = stream->source};
    stream->source = (gconv_source){.size = sizeof(gconv_source), .read = read_wrong, .user = &own};
    return gc_reference_operations.run(state, stream, error);
}

static gconv_status run_wrong_output(void *state, gc_stream *stream, gconv_error *error)
{
    return stream->chain_only ? gc_reference_operations.run(state, stream, error)
                              : run_wrong(state, stream, error);
}

typedef struct far_source {
    gconv_source source;
    const gconv_shape *shape;
    uint32_t rows; /* that were read */
} far_source;

static gconv_status read_far(void *user, uint32_t count, void *rows, size_t stride,
                             gconv_error *error)
{
    far_source *own = user;
    gconv_status status = own->source.read(own->source.user, count, rows, stride, error);
    own->rows += count;
    if (status == GCONV_OK && own->rows == own->shape->height && own->shape->width > 300)
        ((unsigned char *)rows)[(count - 1) * stride + gconv_shape_row_bytes(own->shape) - 1] ^= 64;
    return status;
}

static gconv_status run_far(void *state, gc_stream *stream, gconv_error *error)
{
    far_source own = {.source = stream->source, .shape = &stream->problem->conversion.input};
    stream->source = (gconv_source){.size = sizeof(gconv_source), .read = read_far, .user = &own};
    return gc_reference_operations.run(state, stream, error);
}

static gconv_status run_right(void *state, gc_stream *stream, gconv_error *error)
{
    return gc_reference_operations.run(state, stream, error);
}

static gconv_status run_broken(void *state, gc_stream *stream, gconv_error *error)
{
    (void)state;
    (void)stream;
    return gc_fail(error, GCONV_ERROR_DEVICE, "'broken' broke down");
}

static gconv_status run_dead(void *state, gc_stream *stream, gconv_error *error)
{
    (void)state;
    const gc_lent_memory memory = {.bytes =
                                       malloc(stream->problem->chain.height * stream->input_bytes)};
    gconv_status status = gc_stream_keep_in(stream, &memory, error);
    return status == GCONV_OK ? gc_fail(error, GCONV_ERROR_DEVICE, "'dead' broke down") : status;
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* Rows of zeros. `user` is the stream. */
static gconv_status read_nothing(void *user, uint32_t count, void *rows, size_t stride,
                                 gconv_error *error)
{
    const gc_stream *stream = user;
    (void)error;
    for (uint32_t i = 0; i < count; i++)
        memset((char *)rows + i * stride, 0, stream->input_bytes);
    return GCONV_OK;
}

/* The bytes up to the last EOI of a small file, which is held whole; 0 if it has none. */
static size_t find_end(const gconv_encoded *picture)
{
    size_t end = picture->held;
    while (end >= 2 && (picture->bytes[end - 2] != 0xff || picture->bytes[end - 1] != 0xd9))
        end--;
    return end >= 2 ? end : 0;
}

/* Takes what is offered, and makes black of it. Refuses what is narrower than 16 pixels or has no
 * end. */
static gconv_status run_kernels(void *state, gc_stream *stream, gconv_error *error)
{
    gconv_encoded picture;
    if (gc_stream_offer(stream, &picture) && picture.width >= 16 && find_end(&picture) > 0) {
        gc_stream_accept(stream, find_end(&picture));
        stream->rows_read = 0;
        stream->source =
            (gconv_source){.size = sizeof(gconv_source), .read = read_nothing, .user = stream};
    }
    return gc_reference_operations.run(state, stream, error);
}

/* ---- patient --------------------------------------------------------------------------------- */

enum { MEETING = 6, PATIENCE_SECONDS = 20 };

static atomic_int present;

/* Waits until MEETING runs are or were here; false where they do not come. */
static bool meet(void)
{
    double end = gc_seconds() + PATIENCE_SECONDS;
    present++;
    while (present < MEETING && gc_seconds() < end)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return present >= MEETING;
}

static gconv_status run_patient(void *state, gc_stream *stream, gconv_error *error)
{
    gc_stream_waits(stream, true);
    bool met = stream->own.waiter.function == NULL || meet();
    gc_stream_waits(stream, false);
    if (!met)
        return gc_fail(error, GCONV_ERROR_DEVICE, "'patient' waited for others");
    return gc_reference_operations.run(state, stream, error);
}

/* ---- late ------------------------------------------------------------------------------------ */

#define LATE_SECONDS 0.2

typedef struct late_state {
    void *reference;
    double ready; /* on the clock of gc_seconds */
} late_state;

static gconv_status prepare_late(const gc_problem *problem, const gconv_device_info *device,
                                 void **state, gconv_error *error)
{
    late_state *late = calloc(1, sizeof *late);
    if (late == NULL)
        return gc_fail(error, GCONV_ERROR_MEMORY, "out of memory");
    late->ready = gc_seconds() + LATE_SECONDS;
    *state = late;
    return gc_reference_operations.prepare(problem, device, &late->reference, error);
}

static gconv_status await_late(void *state, double *compile_seconds, gconv_error *error)
{
    const late_state *late = state;
    (void)error;
    while (gc_seconds() < late->ready)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    *compile_seconds = LATE_SECONDS;
    return GCONV_OK;
}

static gconv_status run_late(void *state, gc_stream *stream, gconv_error *error)
{
    const late_state *late = state;
    double ignored;
    await_late(state, &ignored, error);
    return gc_reference_operations.run(late->reference, stream, error);
}

static void release_late(void *state)
{
    free(state);
}

static double no_cost(const gc_problem *problem, const gconv_device_info *device)
{
    (void)problem;
    (void)device;
    return 0;
}

/* Less than that of the reference, as it should be. */
static double cost_of_cpu(const gc_problem *problem, const gconv_device_info *device)
{
    return 0.99 * gc_reference_operations.cost(problem, device);
}

#define OPERATIONS(supports_function, cost_function, run_function)                                 \
    {                                                                                              \
        .supports = supports_function, .cost = cost_function, .prepare = prepare,                  \
        .run = run_function                                                                        \
    }

static const gc_operations cpu = OPERATIONS(NULL, cost_of_cpu, run_right);
static const gc_operations wrong = OPERATIONS(NULL, cost, run_wrong);
static const gc_operations far = OPERATIONS(NULL, cost, run_far);
static const gc_operations wrong_output = OPERATIONS(NULL, cost, run_wrong_output);
static const gc_operations picky = OPERATIONS(supports_narrow, cost, run_right);
static const gc_operations broken = OPERATIONS(NULL, cost, run_broken);
static const gc_operations kernels = OPERATIONS(NULL, cost, run_kernels);
static const gc_operations patient = OPERATIONS(NULL, cost, run_patient);
static const gc_operations dead = OPERATIONS(NULL, no_cost, run_dead);
static const gc_operations late = {.cost = cost,
                                   .prepare = prepare_late,
                                   .run = run_late,
                                   .release = release_late,
                                   .await = await_late};

/* ---- The registry ---------------------------------------------------------------------------- */

static const gc_implementation implementations[] = {
    {"reference", "the judge", "", GCONV_DEVICE_CPU, &gc_reference_operations, 0},
    {"wrong", "the reference with an error", "", GCONV_DEVICE_CPU, &wrong, 0},
    {"wrong:far", "the reference with an error in large images", "", GCONV_DEVICE_CPU, &far, 0},
    {"wrong:output", "the reference with an error in the output", "", GCONV_DEVICE_CPU,
     &wrong_output, 0},
    {"picky", "the reference for small images", "images wider than 8", GCONV_DEVICE_CPU, &picky, 0},
    {"broken", "fails", "", GCONV_DEVICE_CPU, &broken, 0},
    {"cpu", "the reference again", "", GCONV_DEVICE_CPU, &cpu, 0},
    {"patient", "the reference, in company", "", GCONV_DEVICE_CPU, &patient, 0},
    {"late", "the reference, made to wait", "", GCONV_DEVICE_CPU, &late, 0},
    {"kernels", "decodes JPEG to black", "", GCONV_DEVICE_CUDA, &kernels, 0},
    {"dead", "fails", "", GCONV_DEVICE_CUDA, &dead, 0},
};
enum { IMPLEMENTATION_COUNT = sizeof implementations / sizeof implementations[0] };

int gconv_implementation_count(void)
{
    return IMPLEMENTATION_COUNT;
}

const gc_implementation *gc_implementation_at(int index)
{
    return index >= 0 && index < IMPLEMENTATION_COUNT ? &implementations[index] : NULL;
}

gconv_status gc_implementation_device(const gc_implementation *implementation, int cuda_index,
                                      gconv_device_info *device, gconv_error *error)
{
    (void)implementation;
    (void)cuda_index;
    return gc_device_describe(0, device, error);
}
