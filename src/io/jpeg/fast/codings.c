#include "io/jpeg/fast/codings.h"

#include <pthread.h>
#include <stdio.h> /* jpeglib.h needs it before */
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

/* ---- Making ---------------------------------------------------------------------------------- */

bool gc_jpeg_copy_code(const void *table, gc_jpeg_code *to)
{
    const JHUFF_TBL *from = table;
    int count = 0;
    for (int length = 1; from != NULL && length <= GC_JPEG_CODE_BITS_MAX; length++)
        count += from->bits[length];
    if (count == 0 || count > 256)
        return false;
    memcpy(to->counts, from->bits + 1, sizeof to->counts);
    memcpy(to->symbols, from->huffval, (size_t)count);
    return true;
}

static bool list_table(const JHUFF_TBL *from, gc_jpeg_listing *to)
{
    to->used = true;
    return gc_jpeg_copy_code(from, &to->code);
}

/* The tables of the scan; all else is 0. */
static bool list_tables(const struct jpeg_decompress_struct *jpeg,
                        gc_jpeg_listing to[2][GC_JPEG_CODINGS_MAX])
{
    memset(to, 0, 2 * sizeof to[0]);
    for (int c = 0; c < jpeg->num_components; c++) {
        int dc = jpeg->cur_comp_info[c]->dc_tbl_no, ac = jpeg->cur_comp_info[c]->ac_tbl_no;
        if (dc < 0 || dc >= GC_JPEG_CODINGS_MAX || ac < 0 || ac >= GC_JPEG_CODINGS_MAX ||
            !list_table(jpeg->dc_huff_tbl_ptrs[dc], &to[0][dc]) ||
            !list_table(jpeg->ac_huff_tbl_ptrs[ac], &to[1][ac]))
            return false;
        bool kept = c == 0 || jpeg->out_color_space == JCS_RGB;
        to[0][dc].taken |= kept;
        to[1][ac].taken |= kept;
    }
    return true;
}

bool gc_jpeg_build_codes(const gc_jpeg_code *from, bool ac, gc_jpeg_table *to)
{
    to->count = 0;
    for (int i = 0; i < GC_JPEG_CODE_BITS_MAX; i++)
        to->count += from->counts[i];
    memcpy(to->symbols, from->symbols, sizeof to->symbols);
    return gc_jpeg_assign_codes(to, from->counts) && gc_jpeg_symbols_are_sound(to, ac);
}

static bool build_look_up(const gc_jpeg_listing *from, bool ac, gc_jpeg_table *to)
{
    if (!gc_jpeg_build_codes(&from->code, ac, to))
        return false;
    gc_jpeg_build_look_up(to, ac);
    to->defined = true;
    return true;
}

static bool build_dc(const gc_jpeg_listing *from, gc_jpeg_dc *to)
{
    if (!build_look_up(from, false, &to->codes))
        return false;
    gc_jpeg_pair_passed_dc(&to->codes, to->passed);
    if (from->taken)
        gc_jpeg_pair_taken_dc(&to->codes, to->taken);
    return true;
}

static bool build_ac(const gc_jpeg_listing *from, gc_jpeg_ac *to)
{
    if (!build_look_up(from, true, &to->codes))
        return false;
    gc_jpeg_pair_passed_ac(&to->codes, to->passed);
    if (from->taken) {
        to->end_bits = gc_jpeg_list_values(&to->codes, to->look);
        gc_jpeg_pair_taken_ac(&to->codes, to->look, to->end_bits, to->taken);
    }
    return true;
}

static bool build_all(gc_jpeg_codings *of)
{
    bool sound = true;
    for (int i = 0; sound && i < GC_JPEG_CODINGS_MAX; i++) {
        if (of->listings[0][i].used)
            sound = build_dc(&of->listings[0][i], &of->dc[i]);
        if (sound && of->listings[1][i].used)
            sound = build_ac(&of->listings[1][i], &of->ac[i]);
    }
    return sound;
}

/* ---- Keeping --------------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static gc_jpeg_codings *latest; /* which holds itself */

/* Those of the file before, if the tables are the same. */
static gc_jpeg_codings *hold_latest(gc_jpeg_listing listings[2][GC_JPEG_CODINGS_MAX])
{
    gc_jpeg_codings *found = NULL;
    pthread_mutex_lock(&lock);
    if (latest != NULL && memcmp(latest->listings, listings, sizeof latest->listings) == 0) {
        found = latest;
        found->holders++;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static void keep(gc_jpeg_codings *codings)
{
    codings->holders++;
    pthread_mutex_lock(&lock);
    gc_jpeg_codings *before = latest;
    latest = codings;
    pthread_mutex_unlock(&lock);
    gc_jpeg_codings_release(before);
}

gc_jpeg_codings *gc_jpeg_codings_hold(const struct jpeg_decompress_struct *jpeg)
{
    gc_jpeg_listing listings[2][GC_JPEG_CODINGS_MAX];
    if (!list_tables(jpeg, listings))
        return NULL;
    gc_jpeg_codings *codings = hold_latest(listings);
    if (codings != NULL)
        return codings;
    codings = calloc(1, sizeof *codings);
    if (codings == NULL)
        return NULL;
    codings->holders = 1;
    memcpy(codings->listings, listings, sizeof listings);
    if (build_all(codings)) {
        keep(codings);
        return codings;
    }
    gc_jpeg_codings_release(codings);
    return NULL;
}

void gc_jpeg_codings_release(gc_jpeg_codings *codings)
{
    if (codings != NULL && --codings->holders == 0)
        free(codings);
}
