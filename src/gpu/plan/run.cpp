/* A run of a plan. The image is read into host memory: its samples, or a JPEG as it is in the file.
 * Then the run takes a slot of the device. The image is uploaded and a JPEG decoded, the sections
 * of the chain run, and the output is downloaded, compressed if the sink takes it so. All this goes
 * band by band if the device's memory is short. Values between sections never leave it. */
#include "gpu/device/check.cuh"
#include "gpu/device/device.cuh"
#include "gpu/device/wait.cuh"
#include "gpu/jpeg/jpeg.h"
#include "gpu/plan/plan.cuh"
#include "gpu/png/encode.h"

extern "C" {
#include "base/clock.h"
}

#include <algorithm>
#include <cstdint>

/* ---- Host memory ----------------------------------------------------------------------------- */

/* Output is downloaded in pieces: one is written while the next one arrives. */
enum { PIECES = 2, PIECE_BYTES = 8 << 20 };

/* If several images are computed at one time, all output up to so many bytes is one piece: the run
 * then gives its slot back before it writes. */
enum { WHOLE_BYTES = 256 << 20 };

struct gpu_run {
    gc_gpu_plan *plan;
    gc_stream *stream;
    int64_t band_rows;     /* of output */
    const char *image;     /* rows of samples on the host; null if the device decodes them */
    size_t image_stride;   /* bytes */
    gconv_encoded picture; /* what the device decodes, and its planes */
    gc_decoded decoded;
    size_t packed_bytes;    /* not 0: kernels decode, from so many bytes at most */
    gc_host_buffer *packed; /* a gc_packed */
    size_t picture_end;     /* offset in the file of what follows the picture */
    bool waits;             /* the stream was told so */
    bool needs_rows;        /* the device cannot decode the picture: rows have to be read */
    size_t reserved;        /* bytes of host memory */
    size_t image_bytes;     /* of them for the rows of the image, or what is packed of it */
    size_t piece_bytes;
    gc_host_buffer *pieces[PIECES];
    bool lands;      /* output is downloaded to the caller's memory */
    bool compresses; /* a kernel compresses the output */
};

static bool several_at_once(const gpu_run *run)
{
    return run->plan->problem->job.images_at_once > 1;
}

static const gconv_shape *output_of(const gpu_run *run)
{
    return &run->plan->problem->conversion.output;
}

/* Bytes of the result of the kernel that compresses output. 0: the CPU has to do that. */
static size_t compressed_result_bytes(const gpu_run *run)
{
    const gconv_shape *shape = output_of(run);
    if (!run->plan->finishes || !gc_stream_takes_compressed(run->stream))
        return 0;
    size_t bytes = gc_encode_result_bytes(shape->width, shape->height);
    return bytes <= WHOLE_BYTES ? bytes : 0;
}

static size_t choose_piece_bytes(const gpu_run *run)
{
    size_t row = gc_plan_result_bytes(run->plan, run->stream->chain_only);
    size_t all = row * run->plan->problem->chain.height;
    size_t most = (size_t)(several_at_once(run) ? (int)WHOLE_BYTES : (int)PIECE_BYTES);
    size_t piece = all <= most ? all : std::max((size_t)PIECE_BYTES, row);
    return std::max(piece, compressed_result_bytes(run));
}

/* Says that the run needs no processor, or needs one again. */
static void say_waiting(gpu_run *run, bool waits)
{
    if (waits != run->waits)
        gc_stream_waits(run->stream, waits);
    run->waits = waits;
}

/* Whether samples are read from the caller's memory. If the CPU makes the output, it needs the
 * alpha that is kept while rows are read. */
static bool reads_memory(const gpu_run *run)
{
    const gc_stream *stream = run->stream;
    return stream->image.next != nullptr &&
           (stream->alpha.blocks == nullptr || run->plan->finishes);
}

/* Reserves host memory for the whole run, so that it does not wait for more while it holds some. */
static void reserve_host(gpu_run *run)
{
    const gc_stream *stream = run->stream;
    size_t all =
        gc_plan_result_bytes(run->plan, run->stream->chain_only) * run->plan->problem->chain.height;
    run->piece_bytes = choose_piece_bytes(run);
    run->reserved = run->piece_bytes * (run->piece_bytes < all ? PIECES : 1);
    if (run->packed_bytes > 0)
        run->image_bytes = run->packed_bytes;
    else if (!reads_memory(run))
        run->image_bytes = stream->input_bytes * run->plan->problem->chain.height;
    run->reserved += run->image_bytes;
    if (gc_overlap_applies(run->plan, stream))
        run->reserved = std::max(run->reserved, gc_overlap_host_bytes(run->plan, stream));
    if (gc_host_try_reserve(run->reserved))
        return;
    say_waiting(run, true);
    gc_host_reserve(run->reserved);
    say_waiting(run, false);
}

/* Gives back the rows of the image, once the device has done its work and cannot fail any more. */
static void give_image(gpu_run *run)
{
    if (run->image_bytes == 0)
        return;
    gc_stream_give_kept(run->stream);
    gc_host_give(run->packed);
    run->packed = nullptr;
    gc_host_unreserve(run->image_bytes);
    run->reserved -= run->image_bytes;
    run->image_bytes = 0;
}

static void give_host(gpu_run *run)
{
    for (gc_host_buffer *piece : run->pieces)
        gc_host_give(piece);
    gc_host_give(run->packed);
    gc_host_unreserve(run->reserved);
}

static gconv_status take_host(gpu_run *run, size_t bytes, gc_host_buffer **buffer,
                              gconv_error *error)
{
    int device = run->plan->device.index;
    /* Pinning memory takes as long as some copies to and from memory that is not pinned. */
    bool pins = several_at_once(run) || run->plan->problem->job.runs > 1;
    *buffer = gc_host_take(bytes, pins && gc_device_has_started(device) ? device : -1);
    return *buffer != nullptr ? GCONV_OK : gc_fail_memory(error, bytes);
}

static void give_buffer(void *buffer)
{
    gc_host_give((gc_host_buffer *)buffer);
}

static bool is_decoded(const gpu_run *run)
{
    return run->packed_bytes > 0;
}

static gc_packed *packed_of(const gpu_run *run)
{
    return (gc_packed *)run->packed->bytes;
}

/* Packs the picture for the kernels that decode it, unless its markers speak against it. */
static gconv_status pack_picture(gpu_run *run, gconv_error *error)
{
    double begin = gc_seconds();
    GC_TRY(take_host(run, run->packed_bytes, &run->packed, error));
    run->needs_rows =
        !gc_pack(&run->picture, &run->stream->source, packed_of(run), &run->picture_end);
    run->stream->timings.decode += gc_seconds() - begin;
    return GCONV_OK;
}

/* Sets run->image: the caller's memory, rows that a run has kept which failed on another device, or
 * rows that are read here. Null if the device decodes the image. */
static gconv_status get_image(gpu_run *run, gconv_error *error)
{
    if (run->packed_bytes > 0)
        return pack_picture(run, error);
    gc_stream *stream = run->stream;
    if (reads_memory(run)) {
        run->image = stream->image.next;
        run->image_stride = stream->image.stride;
    }
    if (run->image != nullptr)
        return GCONV_OK;
    run->image = stream->kept;
    run->image_stride = stream->input_bytes;
    if (run->image != nullptr)
        return GCONV_OK;
    gc_host_buffer *buffer;
    GC_TRY(take_host(run, run->image_bytes, &buffer, error));
    gc_lent_memory memory = {buffer->bytes, give_buffer, buffer};
    GC_TRY(gc_stream_keep_in(stream, &memory, error));
    run->image = stream->kept;
    run->image_stride = stream->input_bytes;
    return GCONV_OK;
}

/* ---- Decoding by the device ------------------------------------------------------------------ */

/* Whether the device holds the whole image at once. Waits for the start of the plan, which takes
 * less time than decoding. A start that has failed is reported by run_image. */
static bool holds_whole_image(gpu_run *run)
{
    gc_gpu_plan *plan = run->plan;
    say_waiting(run, plan->start.runs);
    gconv_status status = gc_plan_await_start(plan, nullptr);
    say_waiting(run, false);
    return status == GCONV_OK && plan->memory.band_rows == plan->problem->chain.height;
}

/* Whether the device may decode the image: no row is read twice. */
static bool may_decode(const gpu_run *run)
{
    const gconv_job *job = &run->plan->problem->job;
    return run->stream->source.offer != nullptr && job->input.depth == 8 &&
           (job->input.channels == 1 || job->input.channels == 3) &&
           job->border != GCONV_BORDER_WRAP;
}

/* Whether a picture has the shape that the plan was made for. */
static bool has_shape(const gconv_encoded &picture, const gconv_shape &shape)
{
    bool turned = picture.orientation > 4; /* by a quarter */
    return (turned ? picture.height : picture.width) == shape.width &&
           (turned ? picture.width : picture.height) == shape.height &&
           (picture.components == 3 || shape.channels == 1);
}

/* Whether Y alone is wanted. */
static bool is_luma(const gpu_run *run)
{
    return run->plan->problem->job.input.channels == 1;
}

/* Leaves the image to the kernels that decode, if they may. While the plan starts the CPU may
 * decode as well: it has nothing else to do. */
static void plan_decoding(gpu_run *run)
{
    bool waits = run->plan->problem->job.source_decoder == GCONV_DECODER_CUDA;
    if (may_decode(run) && (waits || gc_plan_start_has_ended(run->plan)) &&
        holds_whole_image(run) && gc_stream_offer(run->stream, &run->picture) &&
        has_shape(run->picture, run->plan->problem->job.input))
        run->packed_bytes = gc_pack_bound(&run->picture);
}

/* The slot's memory in which kernels decode. */
static void *memory_of(const gpu_run *run)
{
    return run->plan->work.slot->buffers[GC_BUFFER_DECODING];
}

/* Whether the first pass reads the decoded plane of Y as it is. */
static bool reads_plane(const gpu_run *run)
{
    const gc_gpu_plan *plan = run->plan;
    return is_luma(run) && !plan->by_steps && plan->sections[0].scope.input == GC_BYTE &&
           run->picture.orientation == 1 &&
           (int64_t)run->decoded.pitches[0] == gc_device_pitch(plan->problem->chain.width);
}

/* Brings samples from decoded planes to the place at which `begin` expects them. */
static gconv_status take_decoded(gpu_run *run, gconv_error *error)
{
    gc_gpu_plan *plan = run->plan;
    const gconv_shape *shape = &plan->problem->job.input;
    if (!reads_plane(run))
        return gc_decode_unpack(&run->decoded, &run->picture, shape->channels,
                                (unsigned char *)plan->work.samples, gconv_shape_row_bytes(shape),
                                plan->work.stream, error);
    plan->work.samples = (char *)run->decoded.planes[0];
    plan->work.samples_pitch = (int64_t)run->decoded.pitches[0]; /* of one channel */
    plan->work.samples_padded = true;
    return GCONV_OK;
}

/* ---- Marks ----------------------------------------------------------------------------------- */

/* Marks the end of a part of the work. Each mark delays the device and locks the driver: with 8
 * queues a batch of small images takes 0.72 of the time without them. */
static gconv_status mark(const gpu_run *run, int which, gconv_error *error)
{
    const gc_gpu_plan *plan = run->plan;
    if (run->stream->timed)
        GC_CUDA_TRY(error, cudaEventRecord(plan->work.slot->marks[which], plan->work.stream));
    return GCONV_OK;
}

/* Marks the end of a piece for which await_piece waits. */
static gconv_status mark_arrival(const gpu_run *run, int which, gconv_error *error)
{
    const gc_gpu_plan *plan = run->plan;
    GC_CUDA_TRY(
        error, cudaEventRecord(plan->work.slot->marks[GC_MARK_ARRIVED + which], plan->work.stream));
    return GCONV_OK;
}

/* ---- Down ------------------------------------------------------------------------------------ */

static gconv_status begin_piece(gpu_run *run, const gc_plan_result &result, int64_t first,
                                int64_t rows, int which, gconv_error *error)
{
    gc_gpu_plan *plan = run->plan;
    const char *from = plan->work.result + (size_t)first * result.pitch;
    if (run->pieces[which] == nullptr)
        GC_TRY(take_host(run, run->piece_bytes, &run->pieces[which], error));
    char *to = run->pieces[which]->bytes;
    GC_TRY(gc_copy_rows({to, result.bytes, from, result.pitch, result.bytes, rows},
                        cudaMemcpyDeviceToHost, plan->work.stream, error));
    return mark_arrival(run, which, error);
}

/* Microseconds between questions whether a piece has arrived: a run takes 0.1 to some ms. Each
 * question locks the driver, which many runs share. */
enum { PIECE_PAUSE = 20, SHARED_PIECE_PAUSE = 150 };

/* Adds the times of the parts that are done. The first piece has arrived. */
static gconv_status add_parts(gpu_run *run, gconv_error *error)
{
    const gc_slot *slot = run->plan->work.slot;
    gconv_timings *timings = &run->stream->timings;
    GC_TRY(gc_slot_seconds(slot, GC_MARK_BEGIN, GC_MARK_UPLOADED, &timings->upload, error));
    GC_TRY(gc_slot_seconds(slot, GC_MARK_UPLOADED, GC_MARK_DECODED, &timings->decode, error));
    GC_TRY(gc_slot_seconds(slot, GC_MARK_DECODED, GC_MARK_COMPUTED, &timings->compute, error));
    if (run->compresses)
        GC_TRY(
            gc_slot_seconds(slot, GC_MARK_COMPUTED, GC_MARK_COMPRESSED, &timings->encode, error));
    return gc_slot_seconds(slot, run->compresses ? GC_MARK_COMPRESSED : GC_MARK_COMPUTED,
                           GC_MARK_ARRIVED, &timings->download, error);
}

/* Waits for a piece, and adds the time of what is done. */
static gconv_status await_piece(gpu_run *run, int64_t piece, gconv_error *error)
{
    int which = (int)(piece % PIECES);
    double begin = gc_seconds();
    long pause = several_at_once(run) ? SHARED_PIECE_PAUSE : PIECE_PAUSE;
    GC_TRY(gc_await_event(run->plan->work.slot->marks[GC_MARK_ARRIVED + which], pause, error));
    if (piece == 0)
        return run->stream->timed ? add_parts(run, error) : GCONV_OK;
    run->stream->timings.download += gc_seconds() - begin;
    return GCONV_OK;
}

/* The device has done its work: it does not need the source any more. */
static void accept_picture(gpu_run *run)
{
    gc_stream *stream = run->stream;
    if (is_decoded(run) && stream->rows_read == 0)
        gc_stream_accept(stream, run->picture_end);
}

static gconv_status write_piece(gpu_run *run, const gc_plan_result &result, int64_t rows,
                                const char *piece, gconv_error *error)
{
    gc_stream *stream = run->stream;
    accept_picture(run);
    if (!result.is_chain)
        return gc_stream_write(stream, (uint32_t)rows, piece, result.bytes, error);
    return gc_stream_write_chain(stream, (uint32_t)rows, (const float *)piece,
                                 result.bytes / sizeof(float), error);
}

/* Whether the kernels have rejected the picture. The first piece of output has arrived. */
static bool is_rejected(const gpu_run *run)
{
    return run->packed != nullptr && packed_of(run)->rejected != 0;
}

/* All output has arrived: another run may have the slot. */
static void leave_device(gpu_run *run)
{
    gc_plan_give_slot(run->plan);
    give_image(run);
    say_waiting(run, false);
}

/* Downloads and writes the result of a band. After the last band's last piece has arrived, another
 * run may have the slot. Nothing is written of a picture that is rejected. */
static gconv_status download(gpu_run *run, const gc_plan_result &result, bool last_band,
                             gconv_error *error)
{
    int64_t piece_rows = (int64_t)(run->piece_bytes / result.bytes);
    int64_t pieces = (result.rows + piece_rows - 1) / piece_rows;
    for (int64_t piece = 0; piece <= pieces; piece++) {
        int64_t first = piece * piece_rows;
        if (piece < pieces)
            GC_TRY(begin_piece(run, result, first, std::min(piece_rows, result.rows - first),
                               (int)(piece % PIECES), error));
        if (piece == 0)
            continue;
        int64_t count = std::min(piece_rows, result.rows - (first - piece_rows));
        GC_TRY(await_piece(run, piece - 1, error));
        run->needs_rows = is_rejected(run);
        if (run->needs_rows)
            return GCONV_OK;
        if (last_band && piece == pieces)
            leave_device(run);
        GC_TRY(write_piece(run, result, count, run->pieces[(piece - 1) % PIECES]->bytes, error));
    }
    return GCONV_OK;
}

/* Whether the result can be downloaded to the caller's memory. If several images are computed at
 * one time, a copy to memory that is not pinned would hold a processor. */
static bool may_land(const gpu_run *run)
{
    const gc_memory_sink *to = &run->stream->result;
    return reads_memory(run) && (run->plan->finishes || run->stream->chain_only) &&
           (!several_at_once(run) ||
            gc_rows_are_pinned(to->next, to->stride,
                               gc_plan_result_bytes(run->plan, run->stream->chain_only),
                               run->plan->problem->chain.height));
}

/* Downloads the result of a band from row `first` on. Rows count as written in the end, so that
 * another device can begin again. */
static gconv_status land(gpu_run *run, const gc_plan_result &result, int64_t first,
                         gconv_error *error)
{
    const gc_gpu_plan *plan = run->plan;
    const gc_memory_sink *to = &run->stream->result;
    GC_TRY(gc_copy_rows({to->next + (size_t)first * to->stride, to->stride, plan->work.result,
                         result.pitch, result.bytes, result.rows},
                        cudaMemcpyDeviceToHost, plan->work.stream, error));
    GC_TRY(mark_arrival(run, 0, error));
    GC_TRY(await_piece(run, 0, error));
    if (first + result.rows == (int64_t)plan->problem->chain.height)
        run->stream->rows_written = plan->problem->chain.height;
    return GCONV_OK;
}

/* Bytes of each compressed block that are downloaded at first. Edges of photographs take some 24
 * KiB. */
enum { LIKELY_BYTES = 48 << 10 };

static bool has_longer_block(const gc_compressed_rows &rows)
{
    for (uint32_t i = 0; i < rows.count; i++)
        if (rows.blocks[i].size > LIKELY_BYTES)
            return true;
    return false;
}

static gconv_status download_all(gpu_run *run, const void *from, size_t bytes, char *to, int which,
                                 gconv_error *error)
{
    GC_CUDA_TRY(error,
                cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, run->plan->work.stream));
    GC_TRY(mark_arrival(run, which, error));
    return await_piece(run, which, error);
}

/* Downloads a compressed result: what stands before its blocks, and the beginning of each. If a
 * block is longer, everything. A kernel that writes blocks to the host itself was slower: it takes
 * longer, and holds its queue up. */
static gconv_status download_blocks(gpu_run *run, const void *from, size_t bytes, char *to,
                                    const gc_compressed_rows &rows, gconv_error *error)
{
    size_t likely = (size_t)((const char *)rows.bytes - to) + LIKELY_BYTES;
    if (likely >= rows.stride)
        return download_all(run, from, bytes, to, 0, error);
    GC_TRY(gc_copy_rows({to, rows.stride, from, rows.stride, likely, rows.count},
                        cudaMemcpyDeviceToHost, run->plan->work.stream, error));
    GC_TRY(mark_arrival(run, 0, error));
    GC_TRY(await_piece(run, 0, error));
    if (is_rejected(run) || !has_longer_block(rows))
        return GCONV_OK;
    return download_all(run, from, bytes, to, 1, error); /* as another piece: parts are timed */
}

/* Compresses the result, which is the whole image, downloads that and has it written. */
static gconv_status download_compressed(gpu_run *run, const gc_plan_result &result,
                                        gconv_error *error)
{
    const gc_gpu_plan *plan = run->plan;
    uint32_t width = output_of(run)->width, height = output_of(run)->height;
    void *memory = plan->work.slot->buffers[GC_BUFFER_COMPRESSING];
    GC_TRY(gc_encode_bits(plan->work.result, result.pitch, width, height, memory, plan->work.stream,
                          error));
    GC_TRY(mark(run, GC_MARK_COMPRESSED, error));
    GC_TRY(take_host(run, run->piece_bytes, &run->pieces[0], error));
    char *bytes = run->pieces[0]->bytes;
    gc_compressed_rows rows = gc_encode_result(bytes, width, height);
    GC_TRY(download_blocks(run, memory, gc_encode_result_bytes(width, height), bytes, rows, error));
    run->needs_rows = is_rejected(run);
    if (run->needs_rows)
        return GCONV_OK;
    leave_device(run);
    accept_picture(run);
    GC_TRY(gc_stream_tell(run->stream, 0.5, error)); /* the run may be cancelled here */
    uint64_t white = 0;
    for (uint32_t i = 0; i < rows.count; i++)
        white += rows.blocks[i].white;
    return gc_stream_write_compressed(run->stream, &rows, white, error);
}

/* ---- Bands ----------------------------------------------------------------------------------- */

static gconv_status run_band(gpu_run *run, int64_t first, int64_t last, gconv_error *error)
{
    gc_gpu_plan *plan = run->plan;
    bool chain_only = run->stream->chain_only;
    gc_plan_result result = gc_plan_result_of(plan, chain_only, last - first + 1);
    gc_band_steps(plan->problem, first, last, plan->slabs, plan->work.steps);
    GC_TRY(mark(run, GC_MARK_BEGIN, error));
    if (!is_decoded(run))
        GC_TRY(gc_plan_upload(plan, run->image, run->image_stride, plan->work.steps[0].input_first,
                              plan->work.steps[0].input_last, cudaMemcpyHostToDevice, error));
    if (run->packed_bytes > 0)
        GC_TRY(gc_packed_upload(packed_of(run), memory_of(run), plan->work.stream, error));
    GC_TRY(mark(run, GC_MARK_UPLOADED, error));
    if (run->packed_bytes > 0)
        GC_TRY(gc_packed_decode(packed_of(run), gc_host_is_mapped(run->packed, plan->device.index),
                                is_luma(run), memory_of(run), &run->decoded, plan->work.stream,
                                error));
    if (is_decoded(run))
        GC_TRY(take_decoded(run, error));
    GC_TRY(mark(run, GC_MARK_DECODED, error));
    GC_TRY(gc_plan_compute(plan, chain_only, result.rows, error));
    GC_TRY(mark(run, GC_MARK_COMPUTED, error));
    if (run->lands)
        return land(run, result, first, error);
    if (run->compresses)
        return download_compressed(run, result, error);
    return download(run, result, last + 1 == plan->problem->chain.height, error);
}

static gconv_status run_bands(gpu_run *run, gconv_error *error)
{
    int64_t height = run->plan->problem->chain.height;
    for (int64_t first = 0; first < height; first += run->band_rows)
        GC_TRY(run_band(run, first, std::min(first + run->band_rows, height) - 1, error));
    return GCONV_OK;
}

/* Bytes of the device for the kernel that compresses output; 0 if none does. */
static size_t choose_compressing_bytes(const gpu_run *run)
{
    const gconv_shape *shape = output_of(run);
    bool compresses = run->plan->memory.band_rows == (int64_t)run->plan->problem->chain.height &&
                      compressed_result_bytes(run) > 0;
    return compresses ? gc_encode_device_bytes(shape->width, shape->height) : 0;
}

/* Runs in a slot. While it waits for one and for the device, other images may have the processor: a
 * run enqueues its work in some 0.05 ms. A picture that the device decodes needs a slot for the
 * whole image: if the device is short of memory for that, run->needs_rows is set. */
static gconv_status run_in_slot(gpu_run *run, gconv_error *error)
{
    gc_gpu_plan *plan = run->plan;
    size_t decoding = 0, compressing = choose_compressing_bytes(run);
    if (run->packed_bytes > 0)
        decoding = gc_packed_device_bytes(packed_of(run), is_luma(run));
    run->needs_rows = decoding > plan->memory.spare_bytes;
    if (run->needs_rows)
        return GCONV_OK;
    if (decoding + compressing > plan->memory.spare_bytes)
        compressing = 0;
    say_waiting(run, true);
    GC_TRY(gc_plan_take_slot(plan, run->stream->chain_only, decoding, &compressing, &run->band_rows,
                             error));
    bool whole = run->band_rows == (int64_t)plan->problem->chain.height;
    run->compresses = compressing > 0 && whole;
    run->needs_rows = is_decoded(run) && !whole;
    if (run->needs_rows)
        return GCONV_OK;
    if (!whole || !gc_overlap_applies(plan, run->stream)) {
        run->lands = may_land(run);
        return run_bands(run, error);
    }
    GC_TRY(gc_overlap_run(plan, run->stream, error));
    run->stream->rows_written = plan->problem->chain.height;
    return GCONV_OK;
}

static gconv_status run_image(gpu_run *run, gconv_error *error)
{
    reserve_host(run);
    GC_TRY(get_image(run, error));
    GC_TRY(gc_plan_await_start(run->plan, error));
    gc_current_device current(run->plan->device.index);
    return run->needs_rows ? GCONV_OK : run_in_slot(run, error);
}

static void end_run(gpu_run *run)
{
    gc_plan_give_slot(run->plan);
    give_host(run);
    say_waiting(run, false);
}

gconv_status gc_gpu_run(void *state, gc_stream *stream, gconv_error *error)
{
    gpu_run run = {}, again = {};
    run.plan = again.plan = (gc_gpu_plan *)state;
    run.stream = again.stream = stream;
    plan_decoding(&run);
    gconv_status status = run_image(&run, error);
    end_run(&run);
    if (run.needs_rows) {
        status = run_image(&again, error);
        end_run(&again);
    }
    return status;
}
