/* The edges chain (Gauss 5x5, Laplace 3x3, threshold) on 8-bit pictures by NPP's calls, from the
 * picture to a byte a pixel. The intermediate images stay in two buffers that all launches share,
 * as they would in a program. */
#include "npp.cuh"

constexpr int gauss_side = 5, laplace_side = 3, chain_side = gauss_side + laplace_side - 1;
static const int gauss_line[gauss_side] = {2, 4, 5, 4, 2};
constexpr int gauss_divisor = 17 * 17;
static const int laplace4[] = {0, 1, 0, 1, -4, 1, 0, 1, 0};
static const int laplace8[] = {-1, -1, -1, -1, 8, -1, -1, -1, -1}; /* nppiFilterLaplace's */

struct edges_state {
    const peers_data *data;
    const int *laplace;
    double divisor;      /* of the responses: they are compared with threshold * divisor */
    float *gauss, *line; /* gauss: whole numbers; line: its profile, of sum 1 */
    int *gauss_whole;
    float *laplace_single;
    double *chain; /* both filters as one, over `divisor` of the responses */
    NppStreamContext context;
};

static bool prepare_edges(void *state)
{
    edges_state *edges = (edges_state *)state;
    std::vector<int> gauss;
    std::vector<float> line;
    std::vector<double> chain(chain_side * chain_side);
    for (int j = 0; j < gauss_side; ++j) {
        line.push_back((float)gauss_line[j] / 17.0f);
        for (int i = 0; i < gauss_side; ++i)
            gauss.push_back(gauss_line[j] * gauss_line[i]);
    }
    for (int j = 0; j < gauss_side * laplace_side; ++j)
        for (int i = 0; i < gauss_side * laplace_side; ++i)
            chain[(size_t)(j / 3 + j % 3) * chain_side + (size_t)(i / 3 + i % 3)] +=
                gauss[(size_t)(j / 3 * gauss_side + i / 3)] *
                edges->laplace[j % 3 * laplace_side + i % 3] * edges->divisor / gauss_divisor;
    std::vector<float> laplace(edges->laplace, edges->laplace + laplace_side * laplace_side);
    return peers_npp_context(edges->data->stream, &edges->context) &&
           peers_upload(gauss, &edges->gauss_whole) && peers_upload(line, &edges->line) &&
           peers_upload(std::vector<float>(gauss.begin(), gauss.end()), &edges->gauss) &&
           peers_upload(laplace, &edges->laplace_single) && peers_upload(chain, &edges->chain);
}

static void release_edges(void *state)
{
    edges_state *edges = (edges_state *)state;
    cudaFree(edges->gauss);
    cudaFree(edges->line);
    cudaFree(edges->gauss_whole);
    cudaFree(edges->laplace_single);
    cudaFree(edges->chain);
    delete edges;
}

/* ---- One launch ------------------------------------------------------------------------------ */

/* Images of the chain: the first step is made with a margin of 1, which the second reads. */
struct edges_call {
    const edges_state *edges;
    const Npp8u *source; /* a margin of 1 around the picture begins here */
    Npp8u *output;
    int source_step, output_step;
    int scratch_pitch; /* in pixels */
    NppiSize roi, wide;
    NppStreamContext context;
};

static edges_call edges_on(void *state, int set, cudaStream_t stream)
{
    edges_call call = {};
    call.edges = (const edges_state *)state;
    const peers_data *data = call.edges->data;
    const peers_pool &pool = data->pools[PEERS_GRAY];
    call.source = pool.source[(size_t)set] - pool.source_pitch - 1;
    call.output = pool.output[(size_t)set];
    call.source_step = (int)pool.source_pitch;
    call.output_step = (int)pool.pitch;
    call.scratch_pitch = data->size + 2 * peers_margin;
    call.roi = {data->size, data->size};
    call.wide = {data->size + 2, data->size + 2};
    call.context = call.edges->context;
    call.context.hStream = stream;
    return call;
}

/* The smoothed picture's first pixel inside its margin of 1. */
template <typename T> static T *inside(T *image, int pitch)
{
    return image + pitch + 1;
}

/* |response| > threshold of 16-bit responses in the second buffer. */
static bool threshold_16s(const edges_call &c)
{
    Npp16s *response = (Npp16s *)c.edges->data->scratch[1];
    int step = c.scratch_pitch * (int)sizeof(Npp16s);
    NPP(nppiAbs_16s_C1IR_Ctx(response, step, c.roi, c.context));
    NPP(nppiCompareC_16s_C1R_Ctx(response, step, (Npp16s)peers_edges_threshold, c.output,
                                 c.output_step, c.roi, NPP_CMP_GREATER, c.context));
    return true;
}

static bool laplace_8u16s(const edges_call &c)
{
    const Npp8u *smooth = inside((const Npp8u *)c.edges->data->scratch[0], c.scratch_pitch);
    Npp16s *response = (Npp16s *)c.edges->data->scratch[1];
    int step = c.scratch_pitch * (int)sizeof(Npp16s);
    NPP(nppiFilterLaplace_8u16s_C1R_Ctx(smooth, c.scratch_pitch, response, step, c.roi,
                                        NPP_MASK_SIZE_3_X_3, c.context));
    return true;
}

static bool fixed_chain(void *state, int set, cudaStream_t stream)
{
    edges_call c = edges_on(state, set, stream);
    Npp8u *smooth = (Npp8u *)c.edges->data->scratch[0];
    NPP(nppiFilterGaussAdvanced_8u_C1R_Ctx(c.source, c.source_step, smooth, c.scratch_pitch, c.wide,
                                           gauss_side, c.edges->line, c.context));
    return laplace_8u16s(c) && threshold_16s(c);
}

static bool general_chain(void *state, int set, cudaStream_t stream)
{
    edges_call c = edges_on(state, set, stream);
    Npp8u *smooth = (Npp8u *)c.edges->data->scratch[0];
    Npp16s *response = (Npp16s *)c.edges->data->scratch[1];
    NPP(nppiFilter_8u_C1R_Ctx(c.source, c.source_step, smooth, c.scratch_pitch, c.wide,
                              c.edges->gauss_whole, {gauss_side, gauss_side}, {2, 2}, gauss_divisor,
                              c.context));
    NPP(nppiFilter32f_8u16s_C1R_Ctx(inside((const Npp8u *)smooth, c.scratch_pitch), c.scratch_pitch,
                                    response, c.scratch_pitch * (int)sizeof(Npp16s), c.roi,
                                    c.edges->laplace_single, {laplace_side, laplace_side}, {1, 1},
                                    c.context));
    return threshold_16s(c);
}

static bool mixed_chain(void *state, int set, cudaStream_t stream)
{
    edges_call c = edges_on(state, set, stream);
    NPP(nppiFilter_8u_C1R_Ctx(c.source, c.source_step, (Npp8u *)c.edges->data->scratch[0],
                              c.scratch_pitch, c.wide, c.edges->gauss_whole,
                              {gauss_side, gauss_side}, {2, 2}, gauss_divisor, c.context));
    return laplace_8u16s(c) && threshold_16s(c);
}

/* Undivided weights in float32 throughout: the only chain here that gives every pixel right. */
static bool exact_chain(void *state, int set, cudaStream_t stream)
{
    edges_call c = edges_on(state, set, stream);
    const edges_state *edges = c.edges;
    int pitch = c.scratch_pitch, step = pitch * (int)sizeof(Npp32f);
    Npp32f *a = edges->data->scratch[0], *b = edges->data->scratch[1];
    NppiSize widest = {c.wide.width + 4, c.wide.height + 4};
    NPP(nppiConvert_8u32f_C1R_Ctx(c.source - 2 * c.source_step - 2, c.source_step, a, step, widest,
                                  c.context));
    NPP(nppiFilter_32f_C1R_Ctx(a + 2 * pitch + 2, step, b, step, c.wide, edges->gauss,
                               {gauss_side, gauss_side}, {2, 2}, c.context));
    NPP(nppiFilter_32f_C1R_Ctx(inside((const Npp32f *)b, pitch), step, a, step, c.roi,
                               edges->laplace_single, {laplace_side, laplace_side}, {1, 1},
                               c.context));
    NPP(nppiAbs_32f_C1IR_Ctx(a, step, c.roi, c.context));
    NPP(nppiCompareC_32f_C1R_Ctx(a, step, (Npp32f)(peers_edges_threshold * gauss_divisor), c.output,
                                 c.output_step, c.roi, NPP_CMP_GREATER, c.context));
    return true;
}

/* ---- The entries ----------------------------------------------------------------------------- */

static bool verify_edges(void *state, double *max_error)
{
    const edges_state *edges = (const edges_state *)state;
    const peers_data &data = *edges->data;
    if (!peers_compare_edges(data, data.pools[PEERS_GRAY].output[0], edges->chain, chain_side,
                             chain_side, peers_edges_threshold * edges->divisor, max_error))
        return false;
    *max_error /= edges->divisor;
    return true;
}

void peers_add_npp_edges(std::vector<peers_entry> *entries, const peers_data &data)
{
    /* A smoothed picture in 8 bits is off by up to a level, each of which a Laplacian
     * multiplies. */
    static const struct {
        const char *name;
        const int *laplace;
        double divisor, tolerance;
        bool (*launch)(void *, int, cudaStream_t);
    } chains[] = {
        {"NPP GaussAdvanced Laplace Abs CompareC", laplace8, 1.0, 16.01, fixed_chain},
        {"NPP Filter_8u Laplace Abs CompareC", laplace8, 1.0, 16.01, mixed_chain},
        {"NPP Filter_8u Filter32f Abs CompareC", laplace4, 1.0, 8.01, general_chain},
        {"NPP in float32 by 5 calls (exact)", laplace4, gauss_divisor, 0.0, exact_chain},
    };
    for (const auto &chain : chains) {
        edges_state *state = new edges_state{};
        state->data = &data;
        state->laplace = chain.laplace;
        state->divisor = chain.divisor;
        entries->push_back({PEERS_GROUP_EDGES,
                            chain.name,
                            0,
                            0,
                            PEERS_GRAY,
                            false,
                            chain.tolerance,
                            {state, chain.launch},
                            prepare_edges,
                            verify_edges,
                            release_edges});
    }
}
