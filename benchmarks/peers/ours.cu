/* gconv's own kernels beside the others: replicate border, handled in the measured time. */
#include "groups.cuh"

#include "gpu/passes.cuh"

extern "C" {
#include "core/problem.h"
#include "core/separate.h"
#include "gpu/finish.h"
#include "gpu/gpu.h"
#include "gpu/tuning.h"
}

enum ours_kind { OURS_DIRECT, OURS_SEPARABLE };

struct ours_state {
    const peers_data *data;
    int side;
    ours_kind kind;
    bool bytes; /* 8-bit samples in and out, whole weights over their sum */
    peers_filter filter;
    gc_pass_kernel kernel;
    gc_finish finish;
};

static bool failed(const gconv_error &error)
{
    return peers_fail("gconv: %s", error.message);
}

/* The filter on the host, as gconv takes it. */
static bool make_filter(const ours_state *state, gconv_filter **filter, gconv_error *error)
{
    int side = state->side;
    size_t count = (size_t)side * (size_t)side;
    if (gconv_filter_create(side, side, filter, error) != GCONV_OK)
        return failed(*error);
    if (!state->bytes) {
        PEERS_CUDA(cudaMemcpy((*filter)->weights, state->filter.single, count * sizeof(float),
                              cudaMemcpyDeviceToHost));
        return true;
    }
    std::vector<int> whole(count);
    PEERS_CUDA(cudaMemcpy(whole.data(), state->filter.whole, count * sizeof(int),
                          cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; ++i)
        (*filter)->weights[i] = (float)whole[i];
    (*filter)->divisor = state->filter.divisor;
    return true;
}

static bool make_kernel(ours_state *state, const gc_problem &problem, gconv_error *error)
{
    const gc_step *step = &problem.steps[0];
    gconv_device_info device;
    if (gc_gpu_describe(0, &device, error) != GCONV_OK)
        return failed(*error);
    gc_layout layout = gc_layout_of(&problem, step);
    std::vector<float> weights(step->taps, step->taps + step->width * step->height);
    if (state->kind == OURS_SEPARABLE) {
        float row[GCONV_FILTER_SIDE_MAX], column[GCONV_FILTER_SIDE_MAX];
        if (!gc_step_separate(step, row, column))
            return peers_fail("gconv: not of rank 1");
        weights.assign(row, row + step->width);
        weights.insert(weights.end(), column, column + step->height);
        layout.tuning.form = GC_FORM_RANK1;
    }
    if (state->bytes) {
        gc_finish_of(&problem, &state->finish);
        layout.input = layout.output = GC_BYTE;
        layout.finish = state->finish.kind;
    }
    layout.tuning = gc_tuning_of(&device, &layout);
    if (gc_pass_specialise(layout, weights.data(), (int)weights.size(), &device, GC_JIT_COMPILE,
                           &state->kernel, error) != GCONV_OK)
        return failed(*error);
    return true;
}

static bool prepare(void *opaque)
{
    ours_state *state = (ours_state *)opaque;
    gconv_error error;
    gconv_filter *filter = nullptr;
    if (!peers_filter_make(&state->filter, state->side, state->side, state->bytes,
                           state->kind == OURS_SEPARABLE) ||
        !make_filter(state, &filter, &error))
        return false;
    gconv_job job = gconv_job_default();
    job.filters = &filter;
    job.filter_count = 1;
    job.border = GCONV_BORDER_REPLICATE;
    uint32_t size = (uint32_t)state->data->size;
    job.input = {size, size, 1, 8};
    gc_problem problem;
    bool made = gc_problem_create(&job, &problem, &error) == GCONV_OK
                    ? make_kernel(state, problem, &error)
                    : failed(error);
    gc_problem_destroy(&problem);
    gconv_filter_free(filter);
    return made;
}

static bool launch(void *opaque, int set, cudaStream_t stream)
{
    ours_state *state = (ours_state *)opaque;
    const peers_pool &pool = state->data->pools[state->bytes ? PEERS_GRAY : PEERS_FLOAT];
    gc_pass pass = {};
    pass.input = pool.plane[(size_t)set];
    pass.output = pool.output[(size_t)set];
    pass.width = pass.height = pass.rows = state->data->size;
    pass.input_pitch = pass.output_pitch = state->data->size;
    pass.input_type = pass.output_type = state->bytes ? GC_BYTE : GC_FLOAT;
    pass.border = GC_PASS_REPLICATE;
    pass.finish = state->finish;
    gconv_error error;
    return gc_pass_launch(state->kernel, pass, 1, stream, &error) == GCONV_OK || failed(error);
}

static bool verify(void *opaque, double *max_error)
{
    const ours_state *state = (const ours_state *)opaque;
    const peers_pool &pool = state->data->pools[state->bytes ? PEERS_GRAY : PEERS_FLOAT];
    if (state->bytes)
        return peers_compare_gray(*state->data, pool.output[0], pool.pitch, state->filter.weights,
                                  state->side, state->side, max_error);
    return peers_compare_float(*state->data, (const float *)pool.output[0], pool.pitch,
                               state->filter.weights, state->side, state->side, max_error);
}

static void release(void *opaque)
{
    ours_state *state = (ours_state *)opaque;
    gc_pass_release(&state->kernel);
    peers_filter_free(&state->filter);
    delete state;
}

static void add(std::vector<peers_entry> *entries, const peers_data &data, int side,
                ours_kind kind, bool bytes)
{
    ours_state *state = new ours_state{&data, side, kind, bytes, {}, {}, {}};
    bool separable = kind == OURS_SEPARABLE;
    entries->push_back({bytes       ? PEERS_GROUP_8BIT
                        : separable ? PEERS_GROUP_SEPARABLE
                                    : PEERS_GROUP_FLOAT,
                        separable ? "gconv separable" : "gconv direct",
                        side,
                        side,
                        bytes ? PEERS_GRAY : PEERS_FLOAT,
                        false,
                        bytes ? 0.500001 : peers_float_tolerance(side * side),
                        {state, launch},
                        prepare,
                        verify,
                        release});
}

void peers_add_ours(std::vector<peers_entry> *entries, const peers_data &data, int side)
{
    if (side * side <= 1024)
        add(entries, data, side, OURS_DIRECT, false);
    add(entries, data, side, OURS_SEPARABLE, false);
    if (side <= 21) {
        add(entries, data, side, OURS_DIRECT, true);
        add(entries, data, side, OURS_SEPARABLE, true);
    }
}
