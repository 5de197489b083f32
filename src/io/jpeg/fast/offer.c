/* Files for devices that decode them: those whose header devices take (header.h), if libjpeg is one
 * that decodes as they do: some versions of libjpeg do not. */
#include "io/jpeg/fast/header.h"

#include "base/hash.h"
#include "base/memory.h"
#include "io/fast.h"
#include "io/jpeg/fast/trials.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdio.h> /* jpeglib.h needs it before */
#include <stdlib.h>

#include <jpeglib.h>

/* ---- The check ------------------------------------------------------------------------------- */

/* A decompression of a file in memory. */
typedef struct check {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    jmp_buf trap;
    unsigned char *row;
} check;

static _Noreturn void spring(j_common_ptr jpeg)
{
    check *of = jpeg->client_data;
    longjmp(of->trap, 1);
}

/* A warning (level -1) means that a sound file was misread. */
static void take_message(j_common_ptr jpeg, int level)
{
    if (level < 0)
        spring(jpeg);
}

static void connect(check *of, const gconv_encoded *picture)
{
    of->jpeg.err = jpeg_std_error(&of->errors);
    of->errors.error_exit = spring;
    of->errors.emit_message = take_message;
    of->jpeg.client_data = of;
    jpeg_create_decompress(&of->jpeg);
    jpeg_mem_src(&of->jpeg, picture->bytes, (unsigned long)picture->size);
}

/* Adds the rows of the picture to the hash. */
static gc_hash hash_rows(check *of, int channels, gc_hash hash)
{
    struct jpeg_decompress_struct *jpeg = &of->jpeg;
    jpeg_read_header(jpeg, TRUE);
    jpeg->out_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_start_decompress(jpeg);
    while (jpeg->output_scanline < jpeg->output_height) {
        jpeg_read_scanlines(jpeg, &of->row, 1);
        hash = gc_hash_bytes(hash, of->row, (size_t)jpeg->output_width * (size_t)channels);
    }
    jpeg_finish_decompress(jpeg);
    return hash;
}

/* False if libjpeg does not decode the picture. */
static bool decode(check *of, const gconv_encoded *picture, int channels, gc_hash *hash)
{
    volatile bool decoded = false;
    /* Covers every libjpeg call of the check. */
    if (setjmp(of->trap) == 0) {
        connect(of, picture);
        *hash = hash_rows(of, channels, *hash);
        decoded = true;
    }
    jpeg_destroy_decompress(&of->jpeg);
    return decoded;
}

static bool check_file(check *of, int index)
{
    gconv_encoded picture;
    gc_hash hash = gc_hash_start(), wanted = gc_jpeg_trial(index, &picture);
    of->row = gc_allocate_array(picture.width, 3);
    bool decoded = of->row != NULL && decode(of, &picture, 1, &hash) &&
                   decode(of, &picture, picture.components, &hash);
    free(of->row);
    return decoded && gc_hash_is_same(hash, wanted);
}

static bool is_same;

static void check_all(void)
{
    check *of = calloc(1, sizeof *of);
    is_same = of != NULL;
    for (int i = 0; i < GC_JPEG_TRIALS && is_same; i++)
        is_same = check_file(of, i);
    free(of);
}

bool gc_jpeg_check(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, check_all);
    return is_same;
}

/* ---- Offers ---------------------------------------------------------------------------------- */

extern gc_jpeg_offer gc_jpeg_offer_file;

gc_offer gc_jpeg_offer_file(const struct jpeg_decompress_struct *jpeg, uint64_t data,
                            gconv_encoded *picture, void **memory, const char **reason)
{
    gc_jpeg_layout *layout = *memory = *memory != NULL ? *memory : malloc(sizeof *layout);
    *reason = "";
    if (picture->held < data)
        return picture->held < picture->size ? GC_OFFER_NEEDS_MORE : GC_OFFER_REFUSED;
    if (layout == NULL)
        return GC_OFFER_REFUSED;
    const char *wrong = gc_jpeg_read_layout(jpeg, data, picture, layout);
    if (wrong == NULL && !gc_jpeg_check())
        wrong = "a libjpeg that decodes in another way than libjpeg-turbo";
    *reason = wrong != NULL ? wrong : "";
    return wrong == NULL ? GC_OFFER_MADE : GC_OFFER_REFUSED;
}
