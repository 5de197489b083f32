#include "npp.cuh"

bool peers_npp_context(cudaStream_t stream, NppStreamContext *context)
{
    int device;
    cudaDeviceProp properties;
    *context = {};
    PEERS_CUDA(cudaGetDevice(&device));
    PEERS_CUDA(cudaGetDeviceProperties(&properties, device));
    PEERS_CUDA(cudaStreamGetFlags(stream, &context->nStreamFlags));
    context->hStream = stream;
    context->nCudaDeviceId = device;
    context->nMultiProcessorCount = properties.multiProcessorCount;
    context->nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
    context->nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
    context->nSharedMemPerBlock = properties.sharedMemPerBlock;
    context->nCudaDevAttrComputeCapabilityMajor = properties.major;
    context->nCudaDevAttrComputeCapabilityMinor = properties.minor;
    return true;
}

struct npp_state {
    const peers_data *data;
    const peers_pool *pool;
    int side;
    bool whole, separable; /* kind of filter */
    peers_filter filter;
    NppStreamContext context;
};

/* A call's arguments for one buffer set. */
template <typename T> struct npp_call {
    const T *source, *plane;
    T *output;
    int source_step, step; /* in bytes; plane and output have the same */
    NppiSize roi, mask;
    NppiPoint anchor;
    const npp_state *npp;
    NppStreamContext context;
};

template <typename T> static npp_call<T> call_on(void *state, int set, cudaStream_t stream)
{
    const npp_state *npp = (const npp_state *)state;
    const peers_pool *pool = npp->pool;
    npp_call<T> call = {};
    call.source = (const T *)pool->source[(size_t)set];
    call.plane = (const T *)pool->plane[(size_t)set];
    call.output = (T *)pool->output[(size_t)set];
    call.source_step = (int)pool->source_pitch;
    call.step = (int)pool->pitch;
    call.roi = {npp->data->size, npp->data->size};
    call.mask = {npp->side, npp->side};
    call.anchor = {npp->side / 2, npp->side / 2};
    call.npp = npp;
    call.context = npp->context;
    call.context.hStream = stream;
    return call;
}

/* ---- float32 --------------------------------------------------------------------------------- */

static bool filter_32f(void *state, int set, cudaStream_t stream)
{
    npp_call<Npp32f> c = call_on<Npp32f>(state, set, stream);
    NPP(nppiFilter_32f_C1R_Ctx(c.source, c.source_step, c.output, c.step, c.roi,
                               c.npp->filter.single, c.mask, c.anchor, c.context));
    return true;
}

static bool filter_border_32f(void *state, int set, cudaStream_t stream)
{
    npp_call<Npp32f> c = call_on<Npp32f>(state, set, stream);
    NPP(nppiFilterBorder_32f_C1R_Ctx(c.plane, c.step, c.roi, {0, 0}, c.output, c.step, c.roi,
                                     c.npp->filter.single, c.mask, c.anchor, NPP_BORDER_REPLICATE,
                                     c.context));
    return true;
}

/* The row pass makes the rows above and below that the column pass reads. */
template <typename T> static const T *row_source(const npp_call<T> &c)
{
    return (const T *)((const uint8_t *)c.source - (ptrdiff_t)c.anchor.y * c.source_step);
}

static bool row_column_32f(void *state, int set, cudaStream_t stream)
{
    npp_call<Npp32f> c = call_on<Npp32f>(state, set, stream);
    Npp32f *rows = c.npp->data->scratch[0];
    NppiSize tall = {c.roi.width, c.roi.height + c.mask.height - 1};
    NPP(nppiFilterRow_32f_C1R_Ctx(row_source(c), c.source_step, rows, c.step, tall,
                                  c.npp->filter.row, c.mask.width, c.anchor.x, c.context));
    rows += (ptrdiff_t)c.anchor.y * c.roi.width;
    NPP(nppiFilterColumn_32f_C1R_Ctx(rows, c.step, c.output, c.step, c.roi, c.npp->filter.column,
                                     c.mask.height, c.anchor.y, c.context));
    return true;
}

/* ---- 8 bits ---------------------------------------------------------------------------------- */

static bool filter_8u(void *state, int set, cudaStream_t stream)
{
    npp_call<Npp8u> c = call_on<Npp8u>(state, set, stream);
    NPP(nppiFilter_8u_C1R_Ctx(c.source, c.source_step, c.output, c.step, c.roi, c.npp->filter.whole,
                              c.mask, c.anchor, c.npp->filter.divisor, c.context));
    return true;
}

static bool filter_32f_8u(void *state, int set, cudaStream_t stream)
{
    npp_call<Npp8u> c = call_on<Npp8u>(state, set, stream);
    NPP(nppiFilter32f_8u_C1R_Ctx(c.source, c.source_step, c.output, c.step, c.roi,
                                 c.npp->filter.single, c.mask, c.anchor, c.context));
    return true;
}

static bool filter_border_8u(void *state, int set, cudaStream_t stream)
{
    npp_call<Npp8u> c = call_on<Npp8u>(state, set, stream);
    NPP(nppiFilterBorder_8u_C1R_Ctx(c.plane, c.step, c.roi, {0, 0}, c.output, c.step, c.roi,
                                    c.npp->filter.whole, c.mask, c.anchor, c.npp->filter.divisor,
                                    NPP_BORDER_REPLICATE, c.context));
    return true;
}

static bool row_column_8u(void *state, int set, cudaStream_t stream)
{
    npp_call<Npp8u> c = call_on<Npp8u>(state, set, stream);
    const peers_filter &filter = c.npp->filter;
    Npp8u *rows = (Npp8u *)c.npp->data->scratch[0];
    NppiSize tall = {c.roi.width, c.roi.height + c.mask.height - 1};
    NPP(nppiFilterRow_8u_C1R_Ctx(row_source(c), c.source_step, rows, c.step, tall, filter.row_whole,
                                 c.mask.width, c.anchor.x, filter.row_divisor, c.context));
    rows += (ptrdiff_t)c.anchor.y * c.roi.width;
    NPP(nppiFilterColumn_8u_C1R_Ctx(rows, c.step, c.output, c.step, c.roi, filter.column_whole,
                                    c.mask.height, c.anchor.y, filter.column_divisor, c.context));
    return true;
}

/* ---- The entries ----------------------------------------------------------------------------- */

static bool prepare_npp(void *state)
{
    npp_state *npp = (npp_state *)state;
    return peers_npp_context(npp->data->stream, &npp->context) &&
           peers_filter_make(&npp->filter, npp->side, npp->side, npp->whole,
                             npp->separable ? 1 : 0);
}

/* Which way round NPP reads the weights is its convention and no error. */
static bool verify_npp(void *state, double *max_error)
{
    const npp_state *npp = (const npp_state *)state;
    const peers_pool *pool = npp->pool;
    double errors[2];
    for (int i = 0; i < 2; ++i) {
        const double *weights = i == 0 ? npp->filter.weights : npp->filter.reversed;
        bool done =
            pool->pixel_bytes == 1
                ? peers_compare_gray(*npp->data, pool->output[0], pool->pitch, weights, npp->side,
                                     npp->side, &errors[i])
                : peers_compare_float(*npp->data, (const float *)pool->output[0], pool->pitch,
                                      weights, npp->side, npp->side, &errors[i]);
        if (!done)
            return false;
    }
    *max_error = errors[0] < errors[1] ? errors[0] : errors[1];
    return true;
}

static void release_npp(void *state)
{
    peers_filter_free(&((npp_state *)state)->filter);
    delete (npp_state *)state;
}

void peers_add_npp(std::vector<peers_entry> *entries, const peers_data &data, int side)
{
    /* A result in 8 bits may be cut or rounded, once a pass; the weights' own rounding is small. */
    constexpr double once = 1.01, twice = 2.02;
    const double exact = peers_float_tolerance(side * side);
    const struct {
        peers_group group;
        const char *name;
        peers_pool_id pool;
        bool whole, separable;
        double tolerance;
        bool (*launch)(void *, int, cudaStream_t);
    } functions[] = {
        {PEERS_GROUP_FLOAT, "NPP Filter_32f", PEERS_FLOAT, false, false, exact, filter_32f},
        {PEERS_GROUP_FLOAT, "NPP FilterBorder_32f replicate", PEERS_FLOAT, false, false, exact,
         filter_border_32f},
        {PEERS_GROUP_SEPARABLE, "NPP FilterRow_32f + FilterColumn_32f", PEERS_FLOAT, false, true,
         exact, row_column_32f},
        {PEERS_GROUP_8BIT, "NPP Filter_8u", PEERS_GRAY, true, false, once, filter_8u},
        {PEERS_GROUP_8BIT, "NPP Filter32f_8u", PEERS_GRAY, true, false, once, filter_32f_8u},
        {PEERS_GROUP_8BIT, "NPP FilterBorder_8u replicate", PEERS_GRAY, true, false, once,
         filter_border_8u},
        {PEERS_GROUP_8BIT, "NPP FilterRow_8u + FilterColumn_8u", PEERS_GRAY, true, true, twice,
         row_column_8u},
    };
    for (const auto &function : functions) {
        npp_state *state = new npp_state{
            &data, &data.pools[function.pool], side, function.whole, function.separable, {}, {}};
        entries->push_back({function.group,
                            function.name,
                            side,
                            side,
                            function.pool,
                            false,
                            function.tolerance,
                            {state, function.launch},
                            prepare_npp,
                            verify_npp,
                            release_npp});
    }
}
