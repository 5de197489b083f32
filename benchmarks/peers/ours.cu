/* gconv's own kernels beside the others: replicate border, handled in the measured time. */
#include "groups.cuh"

#include "gpu/methods/methods.cuh"

extern "C" {
#include "core/gpu.h"
#include "core/problem.h"
#include "gpu/pass/finish.h"
#include "gpu/tunings/layout.h"
}

struct ours_state {
    const peers_data *data;
    const gc_pass_method *method;
    int sides[2]; /* of the filters, the second 0 if there is one; both 0: the edges chain */
    int rank;     /* of the filters; 0: full */
    peers_pool_id pool;
    gc_sample_type output;
    peers_filter random[2];
    gconv_filter *filters[2];
    gc_problem problem;
    gc_finish finish;
    int pass_count;
    gc_pass_scope passes[2];
    void *kernels[2];
};

static bool failed(const gconv_error &error)
{
    return peers_fail("gconv: %s", error.message);
}

/* ---- Making the problem ---------------------------------------------------------------------- */

/* A random filter on the host, as gconv takes it. */
static bool make_random(ours_state *state, int which, gconv_error *error)
{
    bool whole = state->pool == PEERS_GRAY;
    int side = state->sides[which];
    size_t count = (size_t)side * (size_t)side;
    peers_filter *random = &state->random[which];
    if (!peers_filter_make(random, side, side, whole, state->rank))
        return false;
    if (gconv_filter_create(side, side, &state->filters[which], error) != GCONV_OK)
        return failed(*error);
    gconv_filter *filter = state->filters[which];
    if (!whole) {
        PEERS_CUDA(cudaMemcpy(filter->weights, random->single, count * sizeof(float),
                              cudaMemcpyDeviceToHost));
        return true;
    }
    std::vector<int> weights(count);
    PEERS_CUDA(
        cudaMemcpy(weights.data(), random->whole, count * sizeof(int), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; ++i)
        filter->weights[i] = (float)weights[i];
    filter->divisor = random->divisor;
    return true;
}

static bool make_filters(ours_state *state, gconv_error *error)
{
    if (state->sides[0] > 0)
        return make_random(state, 0, error) &&
               (state->sides[1] == 0 || make_random(state, 1, error));
    return (gconv_filter_load("gauss5", &state->filters[0], error) == GCONV_OK &&
            gconv_filter_load("laplace3", &state->filters[1], error) == GCONV_OK) ||
           failed(*error);
}

static gconv_job make_job(const ours_state *state)
{
    gconv_job job = gconv_job_default();
    job.filters = (const gconv_filter *const *)state->filters;
    job.filter_count = state->sides[0] > 0 && state->sides[1] == 0 ? 1 : 2;
    job.border = GCONV_BORDER_REPLICATE; /* the margins of the sources repeat what is there */
    job.runs = 1000000;
    uint32_t size = (uint32_t)state->data->size;
    bool values = state->pool == PEERS_FLOAT;
    job.input = {size, size, 1, values ? 32 : 8};
    job.output_depth = values ? 32 : 8;
    if (state->sides[0] == 0) {
        job.output = GCONV_OUTPUT_EDGES;
        job.output_depth = state->output == GC_BIT ? 1 : 8;
        job.threshold = peers_edges_threshold;
    }
    return job;
}

/* The passes that the method takes the chain in; only the last one stores the output. */
static bool prepare_passes(ours_state *state, const gconv_device_info &device)
{
    gconv_error error;
    const gc_problem *problem = &state->problem;
    bool bytes = state->pool == PEERS_GRAY;
    for (int first = 0; first < problem->chain.step_count;) {
        if (state->method->supports(problem, &problem->chain.steps[first], &device, &error) !=
            GCONV_OK)
            return failed(error);
        int p = state->pass_count++, count = state->method->pass_steps(problem, first, &device);
        bool is_last = first + count == problem->chain.step_count;
        state->passes[p] = {first,
                            count,
                            first == 0 && bytes ? GC_BYTE : GC_FLOAT,
                            is_last ? state->output : GC_FLOAT,
                            is_last && bytes ? state->finish.kind : GC_FINISH_NONE,
                            1,
                            GC_PASS_NO_ALPHA};
        if (state->method->prepare(problem, &device, &state->passes[p], &state->kernels[p],
                                   &error) != GCONV_OK)
            return failed(error);
        first += count;
    }
    return state->passes[state->pass_count - 1].output == state->output ||
           peers_fail("gconv: no kernel for this output");
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
    return prepare_passes(state, device);
}

/* ---- Running --------------------------------------------------------------------------------- */

/* Values between two passes are in a buffer that all sets share. */
static bool launch_pass(const ours_state *state, int p, int set, cudaStream_t stream)
{
    const peers_pool &pool = state->data->pools[state->pool];
    bool is_last = p + 1 == state->pass_count;
    gc_pass pass = {};
    pass.input = p == 0 ? (const void *)pool.plane[(size_t)set] : state->data->scratch[0];
    pass.output = is_last ? (void *)pool.output[(size_t)set] : state->data->scratch[0];
    pass.width = pass.height = pass.rows = pass.input_rows = state->data->size;
    pass.input_pitch = state->data->size;
    pass.output_pitch = state->output == GC_BIT ? state->data->size / 8 : state->data->size;
    pass.input_type = state->passes[p].input;
    pass.output_type = state->passes[p].output;
    pass.border = GC_PASS_REPLICATE;
    pass.finish = state->finish;
    gconv_error error;
    return state->method->run(state->kernels[p], pass, 1, stream, &error) == GCONV_OK ||
           failed(error);
}

static bool launch(void *opaque, int set, cudaStream_t stream)
{
    const ours_state *state = (const ours_state *)opaque;
    for (int p = 0; p < state->pass_count; ++p)
        if (!launch_pass(state, p, set, stream))
            return false;
    return true;
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
    const peers_filter &filter = state->random[0];
    if (state->sides[0] == 0)
        return compare_edges(state, pool, max_error);
    if (state->sides[1] > 0)
        return peers_compare_chain(*state->data, (const float *)pool.output[0], pool.pitch,
                                   state->random, max_error);
    if (state->pool == PEERS_GRAY)
        return peers_compare_gray(*state->data, pool.output[0], pool.pitch, filter.weights,
                                  filter.width, filter.height, max_error);
    return peers_compare_float(*state->data, (const float *)pool.output[0], pool.pitch,
                               filter.weights, filter.width, filter.height, max_error);
}

static void release(void *opaque)
{
    ours_state *state = (ours_state *)opaque;
    for (void *kernel : state->kernels)
        if (kernel != nullptr)
            state->method->release(kernel);
    gc_problem_destroy(&state->problem);
    for (int i = 0; i < 2; ++i) {
        gconv_filter_free(state->filters[i]);
        peers_filter_free(&state->random[i]);
    }
    delete state;
}

/* ---- The entries ----------------------------------------------------------------------------- */

static void add(std::vector<peers_entry> *entries, const peers_data &data, peers_group group,
                const char *name, const gc_pass_method &method, int side, int rank,
                peers_pool_id pool, gc_sample_type output, double tolerance)
{
    ours_state *state = new ours_state{};
    state->data = &data;
    state->method = &method;
    state->sides[0] = side;
    state->rank = rank;
    state->pool = pool;
    state->output = output;
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

/* Filters that separable takes as sums of products. */
static void add_sums(std::vector<peers_entry> *entries, const peers_data &data, int side)
{
    const char *const names[] = {"gconv separable rank 2", "gconv separable rank 3"};
    for (int rank = 2; rank <= 3; ++rank)
        if (side <= 21 && gc_form_pays(gc_form_of_products(rank), side, side))
            add(entries, data, PEERS_GROUP_SEPARABLE, names[rank - 2], gc_separable_method, side,
                rank, PEERS_FLOAT, GC_FLOAT, peers_float_tolerance(side * side));
}

void peers_add_ours(std::vector<peers_entry> *entries, const peers_data &data, int side)
{
    double tolerance = peers_float_tolerance(side * side);
    if (side <= 31)
        add(entries, data, PEERS_GROUP_FLOAT, "gconv direct", gc_direct_method, side, 0,
            PEERS_FLOAT, GC_FLOAT, tolerance);
    add(entries, data, PEERS_GROUP_FLOAT, "gconv tilefft", gc_tilefft_method, side, 0, PEERS_FLOAT,
        GC_FLOAT, peers_float_tolerance(side * side + 32 * 20));
    if (side <= 127)
        add(entries, data, PEERS_GROUP_SEPARABLE, "gconv separable", gc_separable_method, side, 1,
            PEERS_FLOAT, GC_FLOAT, tolerance);
    add_sums(entries, data, side);
    if (side <= 17)
        add(entries, data, PEERS_GROUP_8BIT, "gconv fused", gc_fused_method, side, 0, PEERS_GRAY,
            GC_BYTE, bytes_tolerance);
    if (side <= 21) {
        add(entries, data, PEERS_GROUP_8BIT, "gconv tensor", gc_tensor_method, side, 0, PEERS_GRAY,
            GC_BYTE, bytes_tolerance);
        add(entries, data, PEERS_GROUP_8BIT, "gconv direct", gc_direct_method, side, 0, PEERS_GRAY,
            GC_BYTE, bytes_tolerance);
        add(entries, data, PEERS_GROUP_8BIT, "gconv separable", gc_separable_method, side, 1,
            PEERS_GRAY, GC_BYTE, bytes_tolerance);
    }
}

void peers_add_our_edges(std::vector<peers_entry> *entries, const peers_data &data)
{
    add(entries, data, PEERS_GROUP_EDGES, "gconv fused to 1 bit (exact)", gc_fused_method, 0, 0,
        PEERS_GRAY, GC_BIT, 0);
    add(entries, data, PEERS_GROUP_EDGES, "gconv fused to 8 bits (exact)", gc_fused_method, 0, 0,
        PEERS_GRAY, GC_BYTE, 0);
}

/* Two filters, one after the other; the name has their sizes. */
static void add_chain(std::vector<peers_entry> *entries, const peers_data &data, const char *name,
                      const gc_pass_method &method, int first, int second)
{
    add(entries, data, PEERS_GROUP_CHAIN, name, method, first, 0, PEERS_FLOAT, GC_FLOAT,
        peers_float_tolerance(first * first + second * second));
    peers_entry *entry = &entries->back();
    ((ours_state *)entry->work.state)->sides[1] = second;
    entry->filter_width = entry->filter_height = 0;
}

void peers_add_our_chains(std::vector<peers_entry> *entries, const peers_data &data)
{
    add_chain(entries, data, "gconv fused chain 3x3 + 3x3", gc_fused_method, 3, 3);
    add_chain(entries, data, "gconv direct chain 3x3 + 3x3", gc_direct_method, 3, 3);
    add_chain(entries, data, "gconv fused chain 5x5 + 3x3", gc_fused_method, 5, 3);
    add_chain(entries, data, "gconv direct chain 5x5 + 3x3", gc_direct_method, 5, 3);
    add_chain(entries, data, "gconv fused chain 5x5 + 5x5", gc_fused_method, 5, 5);
    add_chain(entries, data, "gconv direct chain 5x5 + 5x5", gc_direct_method, 5, 5);
    add_chain(entries, data, "gconv fused chain 7x7 + 5x5", gc_fused_method, 7, 5);
    add_chain(entries, data, "gconv direct chain 7x7 + 5x5", gc_direct_method, 7, 5);
}
