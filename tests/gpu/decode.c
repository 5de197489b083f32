/* JPEG decoded by kernels against libjpeg-turbo: planes and rows have to be the same bits.
 *
 *     gpu_decode [--quick]             files made here, one after the other, and by many threads
 *     double_decode --failing          passes if each is right, or not decoded, on the double alone
 *     gpu_decode --files NAME...       files, sound or damaged: what the judge finds sound, and no
 *                                      other file, is decoded
 *
 * The exit status is 77 if there is no GPU. */
#include "jpeg/turbo.h"

#include "base/clock.h"
#include "gpu/jpeg/jpeg.h"
#include "io/orient.h"
#include "jpeg/sound.h"

#include <cuda_runtime_api.h>
#include <pthread.h>

enum { FILES_MAX = 4096, THREADS_MAX = 64 };

static unsigned long checked, failed;
static bool may_fail; /* calls of CUDA: the double's memory is then read without them */

/* ---- The decoder ----------------------------------------------------------------------------- */

/* What a thread decodes in; grows. */
typedef struct room {
    void *packed, *memory; /* pinned host memory, device memory */
    size_t packed_bytes, bytes;
    cudaStream_t stream;
    unsigned turn; /* pictures so far: kernels write the flag of two of three to the host */
} room;

static _Thread_local room mine;

static bool grow_packed(size_t bytes)
{
    if (mine.packed_bytes >= bytes)
        return true;
    cudaFreeHost(mine.packed);
    mine.packed = NULL;
    mine.packed_bytes = cudaMallocHost(&mine.packed, bytes) == cudaSuccess ? bytes : 0;
    return mine.packed_bytes == bytes;
}

static bool grow_memory(size_t bytes)
{
    if (mine.stream == NULL &&
        cudaStreamCreateWithFlags(&mine.stream, cudaStreamNonBlocking) != cudaSuccess)
        return false;
    if (mine.bytes >= bytes)
        return true;
    cudaFree(mine.memory);
    mine.memory = NULL;
    mine.bytes = cudaMalloc(&mine.memory, bytes) == cudaSuccess ? bytes : 0;
    return mine.bytes == bytes;
}

static void end_room(void)
{
    cudaFreeHost(mine.packed);
    cudaFree(mine.memory);
    if (mine.stream != NULL)
        cudaStreamDestroy(mine.stream);
    mine = (room){0};
}

static gconv_status fail_with(gconv_error *error, gconv_status status, const char *text)
{
    snprintf(error->message, sizeof error->message, "%s", text);
    return status;
}

/* Decodes a picture whose header was read. */
static gconv_status run_kernels(const gconv_encoded *picture, bool luma_only, gc_decoded *decoded,
                                gconv_error *error)
{
    size_t bound = gc_pack_bound(picture), end;
    if (bound == 0 || !grow_packed(bound) || !gc_pack(picture, NULL, mine.packed, &end))
        return fail_with(error, GCONV_ERROR_UNSUPPORTED, "is not packed");
    gc_packed *packed = mine.packed;
    if (!grow_memory(gc_packed_device_bytes(packed, luma_only)))
        return fail_with(error, GCONV_ERROR_MEMORY, "no memory");
    gconv_status status = gc_packed_upload(packed, mine.memory, mine.stream, error);
    if (status == GCONV_OK)
        status = gc_packed_decode(packed, mine.turn++ % 3 > 0, luma_only, mine.memory, decoded,
                                  mine.stream, error);
    bool waited = cudaStreamSynchronize(mine.stream) == cudaSuccess; /* after failures, too */
    if (status == GCONV_OK && !waited)
        status = fail_with(error, GCONV_ERROR_DEVICE, "the kernels fail");
    if (status == GCONV_OK && packed->rejected != 0)
        status = fail_with(error, GCONV_ERROR_UNSUPPORTED, "the kernels reject it");
    return status;
}

/* GCONV_ERROR_UNSUPPORTED: the header is not one that kernels take, or they reject the data. Planes
 * stay until the thread decodes the next picture. */
static gconv_status decode(const gconv_encoded *picture, bool luma_only, gc_decoded *decoded,
                           gconv_error *error)
{
    gconv_encoded copy = *picture;
    gc_jpeg_layout layout;
    *decoded = (gc_decoded){.planes = {NULL}};
    const char *reason = jpeg_read_layout(picture->bytes, picture->size, &copy, &layout);
    if (reason != NULL)
        return fail_with(error, GCONV_ERROR_UNSUPPORTED, reason);
    return run_kernels(&copy, luma_only, decoded, error);
}

/* ---- Comparing ------------------------------------------------------------------------------- */

static void complain(const char *name, const char *what)
{
    failed++;
    if (failed < 40)
        printf("%s: %s\n", name, what);
}

static bool equal_rows(const unsigned char *a, size_t a_pitch, const unsigned char *b,
                       size_t b_pitch, size_t row_bytes, size_t count)
{
    for (size_t y = 0; y < count; y++)
        if (memcmp(a + y * a_pitch, b + y * b_pitch, row_bytes) != 0)
            return false;
    return true;
}

/* Copies the samples of a plane, and not what lies between its rows: nobody may have written it. */
static bool copy_plane(unsigned char *host, const void *plane, size_t pitch, size_t row_bytes,
                       size_t count)
{
    if (!may_fail)
        return cudaMemcpy2DAsync(host, pitch, plane, pitch, row_bytes, count,
                                 cudaMemcpyDeviceToHost, NULL) == cudaSuccess &&
               cudaStreamSynchronize(NULL) == cudaSuccess;
    memcpy(host, plane, pitch * count);
    return true;
}

static bool planes_are(const gc_decoded *decoded, const turbo_image *expected)
{
    bool equal = true;
    for (int c = 0; c < 3 && decoded->planes[c] != NULL; c++) {
        unsigned char *host = malloc(decoded->pitches[c] * expected->plane_heights[c]);
        equal = equal &&
                copy_plane(host, decoded->planes[c], decoded->pitches[c], expected->plane_widths[c],
                           expected->plane_heights[c]) &&
                equal_rows(host, decoded->pitches[c], expected->planes[c], expected->pitches[c],
                           expected->plane_widths[c], expected->plane_heights[c]);
        free(host);
    }
    return equal;
}

/* Rows in an orientation, made on the device `skew` bytes behind an aligned address, and with gaps
 * of as many bytes. What lies around them has to stay. */
static bool rows_are(const gc_decoded *decoded, const turbo_image *expected, int channels,
                     int orientation, size_t skew)
{
    enum { UNTOUCHED = 0x3c };
    gconv_encoded picture = expected->about;
    picture.orientation = orientation;
    gconv_shape stored = {
        .width = picture.width, .height = picture.height, .channels = channels, .depth = 8};
    bool swaps = gc_orientation_swaps(orientation);
    size_t width = swaps ? picture.height : picture.width;
    size_t height = swaps ? picture.width : picture.height;
    size_t pitch = width * (size_t)channels + skew, bytes = skew + pitch * height;
    unsigned char *host = malloc(bytes), *wanted = malloc(bytes);
    void *device = NULL;
    memset(wanted, UNTOUCHED, bytes);
    const unsigned char *source = channels == 3 ? expected->rows : expected->planes[0];
    size_t stride = channels == 3 ? (size_t)picture.width * 3 : expected->pitches[0];
    gc_orient_rows(&(gc_stored_image){source, stored, stride, orientation}, 0, (uint32_t)height,
                   wanted + skew, pitch);
    gconv_error error = {.message = ""};
    bool equal = cudaMalloc(&device, bytes) == cudaSuccess &&
                 cudaMemset(device, UNTOUCHED, bytes) == cudaSuccess &&
                 cudaDeviceSynchronize() == cudaSuccess &&
                 gc_decode_unpack(decoded, &picture, channels, (unsigned char *)device + skew,
                                  pitch, NULL, &error) == GCONV_OK &&
                 cudaDeviceSynchronize() == cudaSuccess &&
                 cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost) == cudaSuccess &&
                 memcmp(host, wanted, bytes) == 0;
    if (error.message[0] != '\0')
        printf("%s\n", error.message);
    cudaFree(device);
    free(host);
    free(wanted);
    return equal;
}

/* ---- Files that are made here ---------------------------------------------------------------- */

typedef struct file {
    char name[96];
    turbo_image image;
} file;

static file files[FILES_MAX];
static int file_count;

static void add_file(const turbo_settings *set)
{
    file *one = &files[file_count++];
    gconv_encoded made = {0};
    unsigned long size;
    made.bytes = turbo_make(set, &size);
    made.held = made.size = size;
    snprintf(one->name, sizeof one->name, "%ux%u, %d components %dx%d, quality %d, restart %d%s%s",
             set->width, set->height, set->components, set->sampling_x, set->sampling_y,
             set->quality, set->restart, set->optimized ? ", optimised" : "",
             set->content == TURBO_NOISE      ? ", noise"
             : set->content == TURBO_CHECKERS ? ", checkers"
                                              : "");
    if (!turbo_decode(&made, &one->image))
        complain(one->name, "libjpeg fails");
}

/* Every sampling, and qualities, contents, tables and restart intervals in turn. */
static void make_files(const uint32_t (*sizes)[2], int count)
{
    static const int shapes[][3] = {{1, 1, 1}, {3, 1, 1}, {3, 2, 1}, {3, 2, 2}};
    static const int qualities[] = {20, 50, 75, 90, 97, 100, 5};
    static const int restarts[] = {0, 0, 1, 7, 0, 3};
    for (int i = 0; i < count * 4; i++) {
        turbo_settings set = {.width = sizes[i / 4][0],
                              .height = sizes[i / 4][1],
                              .components = shapes[i % 4][0],
                              .sampling_x = shapes[i % 4][1],
                              .sampling_y = shapes[i % 4][2],
                              .quality = qualities[(i + i / 4) % 7],
                              .restart = restarts[(i + i / 4) % 6],
                              .optimized = (i / 2) % 3 == 0,
                              .content = (turbo_content)((i + i / 4) % TURBO_CONTENTS),
                              .seed = (unsigned)i};
        add_file(&set);
    }
}

static void free_files(void)
{
    for (int i = 0; i < file_count; i++) {
        free((void *)files[i].image.about.bytes);
        turbo_free(&files[i].image);
    }
    file_count = 0;
}

static void check_rows(const file *one, const gc_decoded *decoded, bool luma_only, int turn)
{
    for (int orientation = 1; orientation <= 8; orientation++) {
        size_t skew = (size_t)(orientation + turn) % 5;
        checked++;
        if (!rows_are(decoded, &one->image, 1, orientation, skew))
            complain(one->name, "other grey rows");
        if (luma_only || one->image.channels == 1)
            continue;
        checked++;
        if (!rows_are(decoded, &one->image, 3, orientation, skew))
            complain(one->name, "other RGB rows");
    }
}

static void check_file(const file *one, bool luma_only, int turn)
{
    gc_decoded decoded;
    gconv_error error;
    checked++;
    if (decode(&one->image.about, luma_only, &decoded, &error) != GCONV_OK) {
        complain(one->name, error.message);
        return;
    }
    if (!planes_are(&decoded, &one->image))
        complain(one->name, "other planes");
    else
        check_rows(one, &decoded, luma_only, turn);
}

/* ---- Many threads ---------------------------------------------------------------------------- */

static struct {
    pthread_mutex_t mutex;
    int next, count;
} work = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static int next_work(void)
{
    pthread_mutex_lock(&work.mutex);
    int next = work.next < work.count ? work.next++ : -1;
    pthread_mutex_unlock(&work.mutex);
    return next;
}

static void *decode_some(void *unused)
{
    for (int i; (i = next_work()) >= 0;) {
        const file *one = &files[i % file_count];
        gc_decoded decoded;
        gconv_error error;
        gconv_status status = decode(&one->image.about, i % 3 == 0, &decoded, &error);
        bool refused = status == GCONV_ERROR_UNSUPPORTED || status == GCONV_ERROR_DEVICE ||
                       status == GCONV_ERROR_MEMORY;
        bool right = status == GCONV_OK && planes_are(&decoded, &one->image);
        pthread_mutex_lock(&work.mutex);
        checked++;
        if (!right && !(may_fail && refused))
            complain(one->name, status == GCONV_OK ? "other planes, beside others" : error.message);
        pthread_mutex_unlock(&work.mutex);
    }
    end_room();
    return unused;
}

/* Calls `function` on so many threads; `count` pieces of work are there. */
static void run_threads(int threads, int count, void *(*function)(void *))
{
    pthread_t running[THREADS_MAX];
    int started = 0;
    work.next = 0;
    work.count = count;
    for (; started < threads && started < THREADS_MAX; started++)
        if (pthread_create(&running[started], NULL, function, NULL) != 0)
            break;
    for (int i = 0; i < started; i++)
        pthread_join(running[i], NULL);
}

/* ---- Modes ----------------------------------------------------------------------------------- */

static const uint32_t small_sizes[][2] = {{1, 1},   {7, 5},   {8, 8},    {5, 1},  {1, 40},
                                          {17, 33}, {63, 64}, {100, 70}, {16, 3}, {33, 129}};
static const uint32_t large_sizes[][2] = {{333, 217}, {1023, 511}, {1025, 40},  {2048, 30},
                                          {40, 2049}, {1600, 900}, {4096, 3072}};

static void check_made(bool quick)
{
    make_files(small_sizes, sizeof small_sizes / sizeof *small_sizes);
    if (!quick)
        make_files(large_sizes, sizeof large_sizes / sizeof *large_sizes);
    for (int i = 0; i < file_count; i++)
        for (int luma_only = 0; luma_only < 2; luma_only++)
            check_file(&files[i], luma_only != 0, i);
    run_threads(quick ? 12 : 32, quick ? 300 : 3000, decode_some);
    free_files();
}

static void check_failing(void)
{
    may_fail = true;
    make_files(small_sizes, 2);
    run_threads(6, 40, decode_some);
    free_files();
}

static unsigned char *read_file(const char *name, size_t *size)
{
    FILE *stream = fopen(name, "rb");
    unsigned char *bytes = NULL;
    *size = 0;
    if (stream == NULL)
        return NULL;
    if (fseek(stream, 0, SEEK_END) == 0 && ftell(stream) > 0) {
        *size = (size_t)ftell(stream);
        bytes = malloc(*size);
        rewind(stream);
        *size = fread(bytes, 1, *size, stream);
    }
    fclose(stream);
    return bytes;
}

/* What the judge finds sound libjpeg-turbo decodes without a warning, and the device to the same
 * bits. Planes of Y alone are the same, too. */
static void check_sound(const char *name, const gconv_encoded *picture,
                        unsigned long *decoded_count)
{
    turbo_image expected;
    checked++;
    if (!turbo_decode(picture, &expected)) {
        complain(name, "the judge calls it sound, and libjpeg fails or warns");
        turbo_free(&expected);
        return;
    }
    for (int luma_only = 0; luma_only < 2; luma_only++) {
        gc_decoded decoded;
        gconv_error error;
        gconv_status status = decode(picture, luma_only != 0, &decoded, &error);
        int channels = luma_only ? 1 : expected.channels;
        if (status == GCONV_OK) {
            *decoded_count += luma_only == 0;
            if (!planes_are(&decoded, &expected) || !rows_are(&decoded, &expected, channels, 1, 0))
                complain(name, "other pixels");
        } else {
            complain(name, error.message);
        }
    }
    turbo_free(&expected);
}

/* What the judge rejects the kernels reject, too. */
static void check_rejected(const char *name, const jpeg_verdict *verdict)
{
    gc_decoded decoded;
    gconv_error error;
    if (verdict->layout.data == 0) /* the header is rejected */
        return;
    gconv_encoded picture = verdict->picture;
    checked++;
    gconv_status status = decode(&picture, false, &decoded, &error);
    if (status == GCONV_OK)
        complain(name, "the judge rejects it, and the kernels do not");
    else if (status != GCONV_ERROR_UNSUPPORTED)
        complain(name, error.message);
}

static void check_files(char **names, int count)
{
    unsigned long sound = 0, decoded = 0;
    for (int i = 0; i < count; i++) {
        size_t size;
        unsigned char *bytes = read_file(names[i], &size);
        jpeg_verdict verdict;
        if (bytes != NULL && jpeg_is_sound(bytes, size, &verdict)) {
            gconv_encoded picture = verdict.picture;
            picture.size = picture.held = verdict.bytes;
            sound++;
            check_sound(names[i], &picture, &decoded);
        } else if (bytes != NULL) {
            check_rejected(names[i], &verdict);
        }
        free(bytes);
    }
    printf("%d files, %lu sound, %lu decoded by the device\n", count, sound, decoded);
}

int main(int count, char **arguments)
{
    const char *mode = count > 1 ? arguments[1] : "";
    double begin = gc_seconds();
    if (strcmp(mode, "--failing") == 0) {
        check_failing();
    } else if (cudaFree(NULL) != cudaSuccess) {
        printf("no GPU\n");
        return 77;
    } else {
        printf("started in %.3f s\n", gc_seconds() - begin);
        if (strcmp(mode, "--files") == 0)
            check_files(arguments + 2, count - 2);
        else
            check_made(strcmp(mode, "--quick") == 0);
    }
    end_room();
    printf("%lu checks, %lu failed\n", checked, failed);
    return failed != 0;
}
