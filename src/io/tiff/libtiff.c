#include "io/tiff/libtiff.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Memory that libtiff may take at one time, for tables and for compressed strips. */
#define ALLOCATION_BYTES_MAX ((tmsize_t)1 << 30)

enum {
    WARNINGS_MAX = 20, /* of libtiff, for one file */
    TAG_BYTES_MAX = 8 << 20
};

GC_MODULE_DEFINE(gc_tiff, gc_libtiff_load, GC_TIFF_FILES, GC_LIBTIFF_FUNCTIONS)

/* ---- What libtiff calls ---------------------------------------------------------------------- */

static int take_error(TIFF *tiff, void *user, const char *module, const char *format,
                      va_list arguments)
{
    gc_tiff_file *file = user;
    char text[200];
    (void)tiff;
    (void)module;
    vsnprintf(text, sizeof text, format, arguments);
    if (file->output != NULL && strstr(text, "file size exceeded") != NULL)
        gc_fail(&file->failure, GCONV_ERROR_WRITE,
                "the pages exceed 4 GiB, which was not to be foreseen; write fewer of them "
                "(--page A-B), or compress them (--compression lzw)");
    if (file->failure.status == GCONV_OK)
        gc_fail(&file->failure, file->output != NULL ? GCONV_ERROR_WRITE : GCONV_ERROR_FORMAT,
                file->output != NULL ? "libtiff: %s" : "corrupt TIFF: %s", text);
    return 1;
}

/* Tags that libtiff does not know are no reason to worry: people have their own. */
static int take_warning(TIFF *tiff, void *user, const char *module, const char *format,
                        va_list arguments)
{
    gc_tiff_file *file = user;
    char text[200];
    (void)tiff;
    (void)module;
    vsnprintf(text, sizeof text, format, arguments);
    if (strncmp(text, "Unknown field", 13) == 0 || file->warned > WARNINGS_MAX)
        return 1;
    if (file->warned++ < WARNINGS_MAX)
        gc_warn(file->warnings, "TIFF: %s", text);
    else
        gc_warn(file->warnings, "TIFF: further warnings of libtiff left out");
    return 1;
}

gconv_status gc_tiff_read_at(gc_tiff_file *file, void *bytes, size_t size, uint64_t offset,
                             size_t *got, gconv_error *error)
{
    *got = 0;
    if (file->input == NULL) {
        if (offset < file->size)
            *got = size < file->size - offset ? size : (size_t)(file->size - offset);
        if (*got > 0)
            memcpy(bytes, file->held.bytes + offset, *got);
        return GCONV_OK;
    }
    while (*got < size) {
        if (file->guard != NULL)
            pthread_mutex_lock(file->guard);
        ssize_t count = gc_input_read_at(file->input, (unsigned char *)bytes + *got, size - *got,
                                         offset + *got);
        if (file->guard != NULL)
            pthread_mutex_unlock(file->guard);
        if (count < 0)
            return gc_fail(error, GCONV_ERROR_READ, "cannot read");
        if (count == 0)
            break;
        *got += (size_t)count;
    }
    return GCONV_OK;
}

static tmsize_t read_bytes(thandle_t handle, void *bytes, tmsize_t size)
{
    gc_tiff_file *file = handle;
    size_t got;
    if (gc_tiff_read_at(file, bytes, (size_t)size, file->position, &got, &file->failure) !=
        GCONV_OK)
        return 0;
    file->position += got;
    return (tmsize_t)got;
}

/* Writes at the end, or over bytes that lie before it: libtiff writes a directory so. */
static gconv_status put(gc_tiff_file *file, const void *bytes, size_t size)
{
    uint64_t end = file->position < sizeof file->head ? sizeof file->head : file->size;
    if (file->position < file->size && size > end - file->position)
        return gc_fail(&file->failure, GCONV_ERROR_WRITE, "libtiff writes across an end");
    if (file->position < sizeof file->head) {
        memcpy(file->head + file->position, bytes, size);
        return GCONV_OK;
    }
    if (file->holds) {
        if (file->position < file->size)
            memcpy(file->held.bytes + file->position, bytes, size);
        else
            gc_buffer_add(&file->held, bytes, size);
        return file->held.failed ? gc_fail_memory(&file->failure, file->held.size) : GCONV_OK;
    }
    if (file->position >= file->size)
        return gc_output_write(file->output, bytes, size, &file->failure);
    GC_TRY(gc_output_flush(file->output, &file->failure));
    return gc_output_write_at(file->output, file->position, bytes, size, &file->failure);
}

static tmsize_t write_bytes(thandle_t handle, void *bytes, tmsize_t size)
{
    gc_tiff_file *file = handle;
    static const unsigned char none[16];
    /* What libtiff writes out of order leaves a gap, which it fills later. */
    while (file->failure.status == GCONV_OK && file->position > file->size) {
        uint64_t wanted = file->position;
        uint64_t gap = wanted - file->size < sizeof none ? wanted - file->size : sizeof none;
        file->position = file->size;
        put(file, none, (size_t)gap);
        file->size += gap;
        file->position = wanted;
    }
    if (file->failure.status != GCONV_OK || put(file, bytes, (size_t)size) != GCONV_OK)
        return 0;
    if (file->position >= sizeof file->head)
        file->last = file->position + (uint64_t)size;
    file->position += (uint64_t)size;
    file->size = file->position > file->size ? file->position : file->size;
    return size;
}

static toff_t seek(thandle_t handle, toff_t offset, int whence)
{
    gc_tiff_file *file = handle;
    file->position = offset;
    if (whence == SEEK_CUR)
        return (toff_t)-1;
    if (whence == SEEK_END)
        file->position += file->size;
    return file->position;
}

static toff_t get_size(thandle_t handle)
{
    return ((gc_tiff_file *)handle)->size;
}

static int close_nothing(thandle_t handle)
{
    (void)handle;
    return 0;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static gconv_status open_file(gc_tiff_file *file, gconv_error *error)
{
    const char *mode = file->output == NULL ? "rmO" : file->big ? "w8" : "w4";
    TIFFOpenOptions *options = gc_tiff.TIFFOpenOptionsAlloc();
    if (options == NULL)
        return gc_fail(error, GCONV_ERROR_MEMORY, "out of memory: libtiff cannot start");
    gc_tiff.TIFFOpenOptionsSetMaxSingleMemAlloc(options, ALLOCATION_BYTES_MAX);
    gc_tiff.TIFFOpenOptionsSetErrorHandlerExtR(options, take_error, file);
    gc_tiff.TIFFOpenOptionsSetWarningHandlerExtR(options, take_warning, file);
    file->tiff = gc_tiff.TIFFClientOpenExt("TIFF", mode, file, read_bytes, write_bytes, seek,
                                           close_nothing, get_size, NULL, NULL, options);
    gc_tiff.TIFFOpenOptionsFree(options);
    return file->tiff != NULL ? GCONV_OK : gc_tiff_fail(file, "no directory can be read", error);
}

static const gc_warnings nobody = {0};

gconv_status gc_tiff_open_input(gc_tiff_file *file, gc_input *input, gconv_error *error)
{
    size_t size;
    const char *reason;
    GC_TRY(gc_libtiff_load(error));
    if (gc_input_measure(input, GC_INPUT_BYTES_MAX, &size, &reason)) {
        file->input = input;
        file->size = size;
    } else {
        bool more;
        GC_TRY(gc_input_collect(input, UINT64_MAX, &file->held, &more, error));
        file->size = file->held.size;
    }
    return open_file(file, error);
}

gconv_status gc_tiff_open_again(gc_tiff_file *file, const gc_tiff_file *first, uint64_t directory)
{
    *file = (gc_tiff_file){.input = first->input,
                           .held = first->held,
                           .size = first->size,
                           .warnings = &nobody,
                           .guard = first->guard};
    gconv_status status = open_file(file, NULL);
    return status == GCONV_OK && !gc_tiff.TIFFSetSubDirectory(file->tiff, directory)
               ? GCONV_ERROR_FORMAT
               : status;
}

bool gc_tiff_decode(gc_tiff_file *file, uint32_t number, void *bytes, size_t size)
{
    const tmsize_t room = (tmsize_t)size;
    return room <= (gc_tiff.TIFFIsTiled(file->tiff)
                        ? gc_tiff.TIFFReadEncodedTile(file->tiff, number, bytes, room)
                        : gc_tiff.TIFFReadEncodedStrip(file->tiff, number, bytes, room));
}

gconv_status gc_tiff_open_output(gc_tiff_file *file, gc_output *output, bool big,
                                 gconv_error *error)
{
    GC_TRY(gc_libtiff_load(error));
    file->output = output;
    file->big = big;
    file->size = sizeof file->head; /* libtiff puts image data behind these bytes */
    file->holds = !gc_output_seeks(output);
    if (file->holds)
        gc_buffer_add(&file->held, file->head, sizeof file->head);
    else
        GC_TRY(gc_output_skip(output, sizeof file->head, error));
    return open_file(file, error);
}

gconv_status gc_tiff_open_part(gc_tiff_file *part, const gc_tiff_file *whole, gconv_error *error)
{
    *part = (gc_tiff_file){.output = whole->output,
                           .holds = true,
                           .big = whole->big,
                           .size = sizeof part->head,
                           .warnings = &nobody};
    gc_buffer_add(&part->held, part->head, sizeof part->head);
    return open_file(part, error);
}

const void *gc_tiff_encode(gc_tiff_file *part, void *strip, size_t size, size_t *encoded)
{
    part->size = part->held.size = sizeof part->head;
    if (gc_tiff.TIFFWriteEncodedStrip(part->tiff, 0, strip, (tmsize_t)size) < 0 ||
        part->failure.status != GCONV_OK)
        return NULL;
    *encoded = part->held.size - sizeof part->head;
    return part->held.bytes + sizeof part->head;
}

gconv_status gc_tiff_fail(const gc_tiff_file *file, const char *what, gconv_error *error)
{
    if (file->failure.status != GCONV_OK)
        return gc_fail(error, file->failure.status, "%s", file->failure.message);
    return gc_fail(error, GCONV_ERROR_FORMAT, "corrupt TIFF: %s", what);
}

/* Directories of several images: each image has a handle of its own, so that libtiff takes its
 * directory for the first one, and need not read what was written. */
gconv_status gc_tiff_end_image(gc_tiff_file *file, gconv_error *error)
{
    const size_t width = file->big ? 8 : 4; /* of an offset; the first directory's ends the head */
    if (!gc_tiff.TIFFWriteDirectory(file->tiff) || file->failure.status != GCONV_OK)
        return gc_tiff_fail(file, "no directory was written", error);
    uint64_t end = file->last; /* a directory is written last, and ends with the link */
    if (file->link == 0)
        memcpy(file->first, file->head, sizeof file->first);
    file->position = file->link;
    if (file->link != 0 && put(file, file->head + width, width) != GCONV_OK)
        return gc_tiff_fail(file, "", error);
    file->link = end - width;
    return GCONV_OK;
}

gconv_status gc_tiff_next_image(gc_tiff_file *file, gconv_error *error)
{
    gc_tiff.TIFFClose(file->tiff);
    file->tiff = NULL;
    return open_file(file, error);
}

gconv_status gc_tiff_end_output(gc_tiff_file *file, gconv_error *error)
{
    if (!file->holds)
        return gc_output_write_at(file->output, 0, file->first, sizeof file->first, error);
    memcpy(file->held.bytes, file->first, sizeof file->first);
    return gc_output_write(file->output, file->held.bytes, file->held.size, error);
}

/* ---- Tags ------------------------------------------------------------------------------------ */

static const struct {
    uint32_t tag;
    TIFFDataType type;
    size_t width;
} kept[GC_TIFF_TAGS] = {
    {34735, TIFF_SHORT, 2}, /* GeoKeyDirectory, which a GeoTIFF has */
    {33922, TIFF_DOUBLE, 8},
    {34264, TIFF_DOUBLE, 8},
    {33550, TIFF_DOUBLE, 8},
    {34736, TIFF_DOUBLE, 8},
    {34737, TIFF_ASCII, 1},
    {42112, TIFF_ASCII, 1}, /* GDAL's */
    {42113, TIFF_ASCII, 1},
    {TIFFTAG_IMAGEDESCRIPTION, TIFF_ASCII, 1},
    {TIFFTAG_MAKE, TIFF_ASCII, 1},
    {TIFFTAG_MODEL, TIFF_ASCII, 1},
    {TIFFTAG_SOFTWARE, TIFF_ASCII, 1},
    {TIFFTAG_DATETIME, TIFF_ASCII, 1},
    {TIFFTAG_ARTIST, TIFF_ASCII, 1},
    {TIFFTAG_HOSTCOMPUTER, TIFF_ASCII, 1},
    {TIFFTAG_COPYRIGHT, TIFF_ASCII, 1},
};

/* What tifffile writes as a description: the array's shape, which the output need not have. */
static const char shape_of_tifffile[] = "{\"shape\":";

/* The values of a tag, in libtiff's memory; *count is 0 if there are none. */
static const void *find_values(TIFF *tiff, int which, uint32_t *count)
{
    const TIFFField *field = gc_tiff.TIFFFindField(tiff, kept[which].tag, TIFF_ANY);
    const void *values = NULL;
    *count = 0;
    if (which >= GC_TIFF_DESCRIPTION && gc_tiff.TIFFGetField(tiff, kept[which].tag, &values) &&
        strncmp(values, shape_of_tifffile, sizeof shape_of_tifffile - 1) != 0)
        *count = (uint32_t)strlen(values) + 1;
    if (field != NULL && gc_tiff.TIFFFieldDataType(field) == kept[which].type &&
        gc_tiff.TIFFFieldReadCount(field) == TIFF_VARIABLE2)
        gc_tiff.TIFFGetField(tiff, kept[which].tag, count, &values);
    return values;
}

/* Counts private tags that are neither copied nor read otherwise. */
static void count_private_tags(TIFF *tiff, gconv_metadata *metadata)
{
    enum { FIRST = 32768 };
    for (int i = 0; i < gc_tiff.TIFFGetTagListCount(tiff); i++) {
        uint32_t tag = gc_tiff.TIFFGetTagListEntry(tiff, i);
        bool known = tag < FIRST || tag == TIFFTAG_ICCPROFILE || tag == TIFFTAG_EXIFIFD ||
                     tag == TIFFTAG_GPSIFD;
        for (int k = 0; k < GC_TIFF_TAGS; k++)
            known = known || tag == kept[k].tag;
        if (!known && metadata->private_tags++ == 0)
            metadata->private_tag = tag;
    }
}

gconv_status gc_tiff_get_tags(gc_tiff_file *file, bool whole, gconv_metadata *metadata,
                              gconv_error *error)
{
    gconv_status status = GCONV_OK;
    count_private_tags(file->tiff, metadata);
    for (int i = 0; status == GCONV_OK && i < GC_TIFF_TAGS; i++) {
        gc_tiff_tag *tag = &metadata->tags[i];
        const void *values = find_values(file->tiff, i, &tag->count);
        if (i == GC_TIFF_DESCRIPTION) {
            metadata->has_comment = tag->count > 0;
            tag->count = whole ? tag->count : 0;
        }
        if (tag->count > TAG_BYTES_MAX / kept[i].width) {
            tag->count = 0;
            status = gc_metadata_lose(file->warnings,
                                      i < GC_TIFF_GEO_TAGS ? GCONV_KEEP_RESOLUTION : GCONV_KEEP_ALL,
                                      "a tag of more than 8 MiB is not kept", error);
        }
        if (tag->count == 0)
            continue;
        tag->values = malloc(tag->count * kept[i].width);
        GC_TRY_MEMORY(tag->values != NULL, error, tag->count * kept[i].width);
        memcpy(tag->values, values, tag->count * kept[i].width);
    }
    return status;
}

void gc_tiff_set_tags(gc_tiff_file *file, const gconv_metadata *metadata)
{
    static char name[] = "a copied tag";
    for (int i = 0; i < GC_TIFF_TAGS; i++) {
        const gc_tiff_tag *tag = &metadata->tags[i];
        const TIFFFieldInfo field = {kept[i].tag,  TIFF_VARIABLE2, TIFF_VARIABLE2, kept[i].type,
                                     FIELD_CUSTOM, true,           true,           name};
        if (tag->values != NULL && i >= GC_TIFF_DESCRIPTION)
            gc_tiff.TIFFSetField(file->tiff, kept[i].tag, tag->values);
        else if (tag->values != NULL && gc_tiff.TIFFMergeFieldInfo(file->tiff, &field, 1) == 0)
            gc_tiff.TIFFSetField(file->tiff, kept[i].tag, tag->count, tag->values);
    }
}

void gc_tiff_close(gc_tiff_file *file)
{
    if (file->tiff != NULL) {
        gc_tiff.TIFFSetMode(file->tiff, O_RDONLY); /* no directory: it may lack memory for that */
        gc_tiff.TIFFClose(file->tiff);
    }
    if (file->guard == NULL)
        gc_buffer_free(&file->held);
    file->tiff = NULL;
}
