/* A run of a plan. Samples are uploaded, the sections of the chain run, and the output is
 * downloaded: band by band where the device's memory is short. Values between sections never leave
 * the device. */
#include "gpu/runtime/check.cuh"
#include "gpu/runtime/plan.cuh"

extern "C" {
#include "base/clock.h"
}

#include <algorithm>

/* ---- Up -------------------------------------------------------------------------------------- */

gconv_status gc_plan_upload(gc_gpu_plan *plan, const char *image, size_t stride, int64_t first,
                            int64_t last, gconv_error *error)
{
    int64_t height = plan->problem->chain.height;
    size_t row_bytes = gconv_shape_row_bytes(&plan->problem->job.input);
    char *to = plan->samples;
    for (int64_t y = first; y <= last;) {
        int64_t from = (y % height + height) % height;
        int64_t rows = std::min(last - y + 1, height - from);
        const char *source = image + (size_t)from * stride;
        if (stride == row_bytes) /* copies in two dimensions have a largest pitch */
            GC_CUDA_TRY(error, cudaMemcpyAsync(to, source, (size_t)rows * row_bytes,
                                               cudaMemcpyHostToDevice, plan->cuda_stream));
        else
            GC_CUDA_TRY(error,
                        cudaMemcpy2DAsync(to, row_bytes, source, stride, row_bytes, (size_t)rows,
                                          cudaMemcpyHostToDevice, plan->cuda_stream));
        to += (size_t)rows * row_bytes;
        y += rows;
    }
    return GCONV_OK;
}

gconv_status gc_plan_load(gc_gpu_plan *plan, gconv_error *error)
{
    int64_t rows = plan->steps[0].input_last - plan->steps[0].input_first + 1;
    gc_gpu_planes planes = gc_plan_planes(plan, plan->planes[0], rows, plan->problem->chain.width);
    return gc_gpu_load(plan->problem, plan->samples, planes, plan->cuda_stream, error);
}

/* ---- The result ------------------------------------------------------------------------------ */

/* The rows of the result in plan->extended. */
struct result_rows {
    int64_t rows;
    size_t bytes, pitch; /* of a row, from row to row */
    bool is_chain;       /* chain values, for the CPU to convert */
};

/* Puts the result into plan->extended: converted output, or chain values. */
static gconv_status end_chain(gc_gpu_plan *plan, bool chain_only, int64_t rows, result_rows *result,
                              gconv_error *error)
{
    const gc_problem *problem = plan->problem;
    gc_gpu_planes values =
        gc_plan_planes(plan, plan->planes[plan->section_count % 2], rows, problem->chain.width);
    bool finishes = plan->finishes && !chain_only;
    *result = {rows, gc_chain_row_values(&problem->chain) * sizeof(float), 0, !finishes};
    if (finishes)
        result->bytes = gconv_shape_row_bytes(&problem->conversion.output);
    result->pitch = result->bytes;
    gc_sample_type type = gc_finish_type(problem);
    if (plan->runner->stores_output(plan, chain_only)) {
        result->pitch = (size_t)gc_plan_output_pitch(plan, type) * (type == GC_SHORT ? 2 : 1);
        return GCONV_OK;
    }
    if (finishes)
        return gc_gpu_store(plan->finish, type, values, plan->extended, plan->cuda_stream, error);
    return gc_gpu_interleave(values, plan->extended, plan->cuda_stream, error);
}

/* ---- Down ------------------------------------------------------------------------------------ */

static gconv_status begin_piece(gc_gpu_plan *plan, const result_rows &result, int64_t first,
                                int64_t rows, int which, gconv_error *error)
{
    const char *from = (const char *)plan->extended + (size_t)first * result.pitch;
    if (result.pitch == result.bytes) /* copies in two dimensions have a largest pitch */
        GC_CUDA_TRY(error, cudaMemcpyAsync(plan->pieces[which], from, (size_t)rows * result.bytes,
                                           cudaMemcpyDeviceToHost, plan->cuda_stream));
    else
        GC_CUDA_TRY(error, cudaMemcpy2DAsync(plan->pieces[which], result.bytes, from, result.pitch,
                                             result.bytes, (size_t)rows, cudaMemcpyDeviceToHost,
                                             plan->cuda_stream));
    GC_CUDA_TRY(error, cudaEventRecord(plan->arrived[which], plan->cuda_stream));
    return GCONV_OK;
}

static gconv_status write_piece(gc_stream *stream, const result_rows &result, int64_t rows,
                                const char *piece, gconv_error *error)
{
    if (!result.is_chain)
        return gc_stream_write(stream, (uint32_t)rows, piece, result.bytes, error);
    return gc_stream_write_chain(stream, (uint32_t)rows, (const float *)piece,
                                 result.bytes / sizeof(float), error);
}

/* Downloads the result piece by piece. One piece is written while the next one arrives. */
static gconv_status download(gc_gpu_plan *plan, gc_stream *stream, const result_rows &result,
                             gconv_error *error)
{
    int64_t piece_rows = (int64_t)(plan->piece_bytes / result.bytes);
    int64_t pieces = (result.rows + piece_rows - 1) / piece_rows;
    for (int64_t piece = 0; piece <= pieces; piece++) {
        int64_t first = piece * piece_rows;
        if (piece < pieces)
            GC_TRY(begin_piece(plan, result, first, std::min(piece_rows, result.rows - first),
                               (int)(piece % GC_PIECES), error));
        if (piece == 0)
            continue;
        int before = (int)((piece - 1) % GC_PIECES);
        int64_t count = std::min(piece_rows, result.rows - (first - piece_rows));
        double begin = gc_seconds();
        GC_CUDA_TRY(error, cudaEventSynchronize(plan->arrived[before]));
        stream->timings.download += gc_seconds() - begin;
        GC_TRY(write_piece(stream, result, count, plan->pieces[before], error));
    }
    return GCONV_OK;
}

/* ---- Bands ----------------------------------------------------------------------------------- */

static gconv_status run_band(gc_gpu_plan *plan, gc_stream *stream, int64_t first, int64_t last,
                             gconv_error *error)
{
    gc_band_steps(plan->problem, first, last, plan->slabs, plan->steps);
    double begin = gc_seconds();
    GC_TRY(gc_plan_upload(plan, stream->kept, stream->input_bytes, plan->steps[0].input_first,
                          plan->steps[0].input_last, error));
    GC_CUDA_TRY(error, cudaStreamSynchronize(plan->cuda_stream));
    double uploaded = gc_seconds();
    result_rows result;
    GC_TRY(plan->runner->begin(plan, error));
    GC_TRY(plan->runner->run(plan, stream->chain_only, error));
    GC_TRY(end_chain(plan, stream->chain_only, last - first + 1, &result, error));
    GC_CUDA_TRY(error, cudaStreamSynchronize(plan->cuda_stream));
    stream->timings.upload += uploaded - begin;
    stream->timings.compute += gc_seconds() - uploaded;
    return download(plan, stream, result, error);
}

gconv_status gc_gpu_run(void *state, gc_stream *stream, gconv_error *error)
{
    gc_gpu_plan *plan = (gc_gpu_plan *)state;
    GC_TRY(gc_stream_keep(stream, error));
    GC_TRY(gc_plan_await_start(plan, error));
    gc_current_device current(plan->device.index);
    int64_t height = plan->problem->chain.height;
    for (int64_t first = 0; first < height; first += plan->band_rows)
        GC_TRY(run_band(plan, stream, first, std::min(first + plan->band_rows, height) - 1, error));
    return GCONV_OK;
}
