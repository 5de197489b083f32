/* gconv's own kernels beside the others: replicate border, handled in the measured time. */
#include "groups.cuh"

#include "gpu/methods.cuh"

extern "C" {
#include "core/problem.h"
#include "gpu/finish.h"
#include "gpu/gpu.h"
}

struct ours_state {
    const peers_data *data;
    const gc_gpu_method *method;
    int side; /* of the filter; 0: the edges chain */
    peers_pool_id pool;
    gc_sample_type output;
    peers_filter filter;
    gconv_filter *filters[2];
    gc_problem problem;
    gc_gpu_pass pass;
    gc_finish finish;
    void *kernel;
};

static bool failed(const gconv_error &error)
{
    return peers_fail("gconv: %s", error.message);
}

/* ---- Making the problem ---------------------------------------------------------------------- */

/* The random filter on the host, as gconv takes it. */
static bool make_random(ours_state *state, gconv_error *error)
{
    bool whole = state->pool == PEERS_GRAY;
    size_t count = (size_t)state->side * (size_t)state->side;
    if (!peers_filter_make(&state->filter, state->side, state->side, whole,
                           state->method == &gc_separable_method))
        return false;
    if (gconv_filter_create(state->side, state->side, &state->filters[0], error) != GCONV_OK)
        return failed(*error);
    if (!whole) {
        PEERS_CUDA(cudaMemcpy(state->filters[0]->weights, state->filter.single,
                              count * sizeof(float), cudaMemcpyDeviceToHost));
        return true;
    }
    std::vector<int> weights(count);
    PEERS_CUDA(cudaMemcpy(weights.data(), state->filter.whole, count * sizeof(int),
                          cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; ++i)
        state->filters[0]->weights[i] = (float)weights[i];
    state->filters[0]->divisor = state->filter.divisor;
    return true;
}

static bool make_filters(ours_state *state, gconv_error *error)
{
    if (state->side > 0)
        return make_random(state, error);
    return (gconv_filter_load("gauss5", &state->filters[0], error) == GCONV_OK &&
            gconv_filter_load("laplace3", &state->filters[1], error) == GCONV_OK) ||
           failed(*error);
}

static gconv_job make_job(const ours_state *state)
{
    gconv_job job = gconv_job_default();
    job.filters = (const gconv_filter *const *)state->filters;
    job.filter_count = state->side > 0 ? 1 : 2;
    job.border = GCONV_BORDER_REPLICATE; /* the margins of the sources repeat what is there */
    job.runs = 1000000;
    uint32_t size = (uint32_t)state->data->size;
    job.input = {size, size, 1, 8};
    if (state->side == 0) {
        job.output = GCONV_OUTPUT_EDGES;
        job.output_depth = state->output == GC_BIT ? 1 : 8;
        job.threshold = peers_edges_threshold;
    }
    return job;
}

static bool prepare(void *opaque)
{
    ours_state *state = (ours_state *)opaque;
    gconv_error error;
    gconv_device_info device;
    if (gc_gpu_describe(0, &device, &error) != GCONV_OK)
        return failed(error);
    if (!make_filters(state, &error))
        return false;
    gconv_job job = make_job(state);
    if (gc_problem_create(&job, &state->problem, &error) != GCONV_OK)
        return failed(error);
    gc_finish_of(&state->problem, &state->finish);
    bool bytes = state->pool == PEERS_GRAY;
    state->pass = {0, state->problem.step_count, bytes ? GC_BYTE : GC_FLOAT, state->output,
                   bytes ? state->finish.kind : GC_FINISH_NONE};
    if (state->method->supports(&state->problem, &state->problem.steps[0], &device, &error) !=
            GCONV_OK ||
        state->method->prepare_pass(&state->problem, &device, &state->pass, &state->kernel,
                                    &error) != GCONV_OK)
        return failed(error);
    return state->pass.output == state->output || peers_fail("gconv: no kernel for this output");
}

/* ---- Running --------------------------------------------------------------------------------- */

static bool launch(void *opaque, int set, cudaStream_t stream)
{
    ours_state *state = (ours_state *)opaque;
    const peers_pool &pool = state->data->pools[state->pool];
    gc_pass pass = {};
    pass.input = pool.plane[(size_t)set];
    pass.output = pool.output[(size_t)set];
    pass.width = pass.height = pass.rows = pass.input_rows = state->data->size;
    pass.input_pitch = state->data->size;
    pass.output_pitch = state->output == GC_BIT ? state->data->size / 8 : state->data->size;
    pass.input_type = state->pass.input;
    pass.output_type = state->output;
    pass.border = GC_PASS_REPLICATE;
    pass.finish = state->finish;
    gconv_error error;
    return state->method->run_pass(state->kernel, pass, 1, stream, &error) == GCONV_OK ||
           failed(error);
}

/* Bytes of the output that differ from the serial reference's. */
static bool compare_edges(const ours_state *state, const peers_pool &pool, double *different)
{
    size_t size = (size_t)state->data->size, row = state->output == GC_BIT ? size / 8 : size;
    std::vector<uint8_t> input(size * size), expected(row * size), got(row * size);
    PEERS_CUDA(cudaMemcpy(input.data(), pool.plane[0], input.size(), cudaMemcpyDeviceToHost));
    PEERS_CUDA(cudaMemcpy(got.data(), pool.output[0], got.size(), cudaMemcpyDeviceToHost));
    gconv_error error;
    gconv_job job = make_job(state);
    job.implementation = "reference";
    gconv_plan *plan;
    if (gconv_plan_create(&job, &plan, &error) != GCONV_OK)
        return failed(error);
    gconv_status status =
        gconv_plan_run_memory(plan, input.data(), size, expected.data(), row, nullptr, &error);
    gconv_plan_free(plan);
    *different = 0;
    for (size_t i = 0; i < got.size(); ++i)
        *different += got[i] != expected[i];
    return status == GCONV_OK || failed(error);
}

static bool verify(void *opaque, double *max_error)
{
    const ours_state *state = (const ours_state *)opaque;
    const peers_pool &pool = state->data->pools[state->pool];
    if (state->side == 0)
        return compare_edges(state, pool, max_error);
    if (state->pool == PEERS_GRAY)
        return peers_compare_gray(*state->data, pool.output[0], pool.pitch, state->filter.weights,
                                  state->side, state->side, max_error);
    return peers_compare_float(*state->data, (const float *)pool.output[0], pool.pitch,
                               state->filter.weights, state->side, state->side, max_error);
}

static void release(void *opaque)
{
    ours_state *state = (ours_state *)opaque;
    if (state->kernel != nullptr)
        state->method->release(state->kernel);
    gc_problem_destroy(&state->problem);
    gconv_filter_free(state->filters[0]);
    gconv_filter_free(state->filters[1]);
    peers_filter_free(&state->filter);
    delete state;
}

/* ---- The entries ----------------------------------------------------------------------------- */

static void add(std::vector<peers_entry> *entries, const peers_data &data, peers_group group,
                const char *name, const gc_gpu_method &method, int side, peers_pool_id pool,
                gc_sample_type output, double tolerance)
{
    ours_state *state = new ours_state{&data, &method, side, pool, output, {}, {}, {}, {}, {}, {}};
    entries->push_back({group,
                        name,
                        side,
                        side,
                        pool,
                        false,
                        tolerance,
                        {state, launch},
                        prepare,
                        verify,
                        release});
}

/* A half, for rounding, and what the reference's float32 weights differ from the whole ones'
 * quotient. */
constexpr double bytes_tolerance = 0.5001;

void peers_add_ours(std::vector<peers_entry> *entries, const peers_data &data, int side)
{
    double tolerance = peers_float_tolerance(side * side);
    if (side <= 31)
        add(entries, data, PEERS_GROUP_FLOAT, "gconv direct", gc_direct_method, side, PEERS_FLOAT,
            GC_FLOAT, tolerance);
    add(entries, data, PEERS_GROUP_FLOAT, "gconv tensor", gc_tensor_method, side, PEERS_FLOAT,
        GC_FLOAT, tolerance);
    add(entries, data, PEERS_GROUP_SEPARABLE, "gconv separable", gc_separable_method, side,
        PEERS_FLOAT, GC_FLOAT, tolerance);
    if (side <= 17)
        add(entries, data, PEERS_GROUP_8BIT, "gconv fused", gc_fused_method, side, PEERS_GRAY,
            GC_BYTE, bytes_tolerance);
    if (side <= 21) {
        add(entries, data, PEERS_GROUP_8BIT, "gconv tensor", gc_tensor_method, side, PEERS_GRAY,
            GC_BYTE, bytes_tolerance);
        add(entries, data, PEERS_GROUP_8BIT, "gconv direct", gc_direct_method, side, PEERS_GRAY,
            GC_BYTE, bytes_tolerance);
        add(entries, data, PEERS_GROUP_8BIT, "gconv separable", gc_separable_method, side,
            PEERS_GRAY, GC_BYTE, bytes_tolerance);
    }
}

void peers_add_our_edges(std::vector<peers_entry> *entries, const peers_data &data)
{
    add(entries, data, PEERS_GROUP_EDGES, "gconv fused to 1 bit (exact)", gc_fused_method, 0,
        PEERS_GRAY, GC_BIT, 0);
    add(entries, data, PEERS_GROUP_EDGES, "gconv fused to 8 bits (exact)", gc_fused_method, 0,
        PEERS_GRAY, GC_BYTE, 0);
}
