/* Y4M: frames of luma as grey images. Chroma goes past the filters, or its planes are images. */
#include "base/status.h"
#include "io/raw.h"
#include "io/y4m/stream.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct y4m_decoder {
    gc_decoder common;
    gc_y4m *stream;
    uint16_t *levels; /* what samples of 9 to 15 bits become; NULL at 8 and 16 bits */
    uint32_t left;    /* rows of this plane */
} y4m_decoder;

static const char no_frame[] = "corrupt: a frame does not begin with FRAME";

void gc_y4m_release(gc_y4m *stream)
{
    if (stream == NULL || --stream->users > 0)
        return;
    free(stream->chroma);
    free(stream);
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* Reads a line with its line feed. */
static gconv_status read_line(gc_input *input, char *line, gconv_error *error)
{
    const unsigned char *bytes, *end = NULL;
    size_t size = GC_Y4M_LINE_BYTES;
    for (size_t wanted = 64; end == NULL && wanted <= GC_Y4M_LINE_BYTES && size >= wanted / 2;
         wanted *= 2) {
        GC_TRY(gc_input_peek(input, wanted, &bytes, &size, error));
        end = memchr(bytes, '\n', size < wanted ? size : wanted);
    }
    size_t length = end != NULL ? (size_t)(end - bytes) + 1 : 0;
    if (end == NULL && size < GC_Y4M_LINE_BYTES)
        return gc_fail(error, GCONV_ERROR_FORMAT, "truncated: the file ends in a header");
    if (end == NULL || memchr(bytes, '\0', length) != NULL)
        return gc_fail(error, GCONV_ERROR_FORMAT, "a header is no line of text of up to 4 KiB");
    memcpy(line, bytes, length);
    line[length] = '\0';
    gc_input_skip(input, length);
    return GCONV_OK;
}

/* A whole number that is a word, or ends one. 0 if it is none. */
static uint64_t number_of(const char *word)
{
    char *end;
    uint64_t value = strtoull(word, &end, 10); /* the largest number stands for those above */
    return *word >= '0' && *word <= '9' && (*end == ' ' || *end == '\n') ? value : 0;
}

/* Reads a word such as "420p10": bits, and how many samples of luma a sample of chroma covers. */
static bool read_colours(gc_y4m *stream, const char *word, uint32_t covers[2])
{
    static const struct {
        const char *name, *deep; /* what stands before a number of bits; NULL: 8 bits */
        uint8_t across, down;    /* 0: no chroma */
    } kinds[] = {{"420jpeg", NULL, 2, 2}, {"420mpeg2", NULL, 2, 2}, {"420paldv", NULL, 2, 2},
                 {"420", "p", 2, 2},      {"422", "p", 2, 1},       {"444", "p", 1, 1},
                 {"411", NULL, 4, 1},     {"mono", "", 0, 0}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const char *deep = kinds[i].deep, *rest = word + strlen(kinds[i].name);
        if (strncasecmp(word, kinds[i].name, strlen(kinds[i].name)) != 0)
            continue;
        bool is_deep = deep != NULL && strncasecmp(rest, deep, strlen(deep)) == 0;
        uint64_t bits = *rest == ' ' || *rest == '\n' ? 8
                        : is_deep                     ? number_of(rest + strlen(deep))
                                                      : 0;
        if (bits < 8 || bits > 16)
            continue;
        stream->bits = (int)bits;
        stream->plane_count = kinds[i].down > 0 ? 3 : 1;
        covers[0] = kinds[i].across;
        covers[1] = kinds[i].down;
        return true;
    }
    return false;
}

/* What the first line says of size, colours and fields. */
static gconv_status parse(y4m_decoder *decoder, gconv_error *error)
{
    gc_y4m *stream = decoder->stream;
    const char *colours = NULL, *older = "420 ", *fields = "p";
    uint64_t sides[2] = {0, 0};
    uint32_t covers[2];
    for (const char *word = strchr(stream->stream_line, ' '); word != NULL;
         word = strchr(word, ' ')) {
        word++;
        if (*word == 'W' || *word == 'H')
            sides[*word == 'H'] = number_of(word + 1);
        colours = *word == 'C' ? word + 1 : colours;
        fields = *word == 'I' ? word + 1 : fields;
        older = strncmp(word, "XYSCSS=", 7) == 0 ? word + 7 : older;
    }
    if (colours == NULL)
        colours = older;
    if (!read_colours(stream, colours, covers))
        return gc_fail(error, GCONV_ERROR_FORMAT,
                       "Y4M with the colours '%.*s'; 420, 422, 444 and mono of 8 to 16 bits are "
                       "read, and 411",
                       (int)strcspn(colours, " \n"), colours);
    if (strchr("tbm", *fields) != NULL)
        gc_warn(&decoder->common.warnings, "interlaced: both fields are filtered as one picture");
    decoder->common.shape = (gconv_shape){.channels = 1, .depth = stream->bits > 8 ? 16 : 8};
    gconv_status status = gc_raw_check_sides(&decoder->common, sides[0], sides[1], error);
    for (int p = 0; status == GCONV_OK && p < stream->plane_count; p++) {
        stream->planes[p] = decoder->common.shape;
        if (p > 0) {
            stream->planes[p].width = ((uint32_t)sides[0] + covers[0] - 1) / covers[0];
            stream->planes[p].height = ((uint32_t)sides[1] + covers[1] - 1) / covers[1];
        }
    }
    return status;
}

/* ---- Frames ---------------------------------------------------------------------------------- */

/* Begins a plane; with the first one, its frame. */
static gconv_status begin(y4m_decoder *decoder, int plane, gconv_error *error)
{
    gc_y4m *stream = decoder->stream;
    stream->plane = plane;
    decoder->common.shape = stream->planes[plane];
    decoder->left = decoder->common.shape.height;
    if (plane > 0)
        return GCONV_OK;
    const char *line = stream->frame_line;
    gconv_status status = read_line(decoder->common.input, stream->frame_line, error);
    if (status == GCONV_OK && strncmp(line, "FRAME ", 6) != 0 && strcmp(line, "FRAME\n") != 0)
        return gc_fail(error, GCONV_ERROR_FORMAT, "%s", no_frame);
    return status;
}

static gconv_status allocate(y4m_decoder *decoder, gconv_error *error)
{
    gc_y4m *stream = decoder->stream;
    const gconv_shape *chroma = &stream->planes[1];
    if (!stream->all && stream->plane_count > 1)
        stream->chroma_bytes = 2 * gconv_shape_row_bytes(chroma) * chroma->height;
    if (stream->chroma_bytes > 0 && (stream->chroma = malloc(stream->chroma_bytes)) == NULL)
        return gc_fail_memory(error, stream->chroma_bytes);
    if (stream->bits == 8 || stream->bits == 16)
        return GCONV_OK;
    decoder->levels = gc_raw_levels((1u << stream->bits) - 1, UINT16_MAX, error);
    return decoder->levels != NULL ? GCONV_OK : GCONV_ERROR_MEMORY;
}

static gconv_status open_decoder(gc_decoder *common, gconv_error *error)
{
    y4m_decoder *opened = (y4m_decoder *)common;
    gc_y4m *stream = opened->stream = calloc(1, sizeof *stream);
    GC_TRY_MEMORY(stream != NULL, error, sizeof *stream);
    stream->users = 1;
    stream->all = common->all_planes;
    if (stream->all && common->grey_wanted)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "grey has no chroma to filter: leave out all_planes (--planes all) or grey "
                       "(--grey)");
    if (stream->all && common->page > 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "pages are frames, and not the planes of all_planes (--planes all)");
    common->metadata.y4m = stream;
    GC_TRY(read_line(common->input, stream->stream_line, error));
    GC_TRY(parse(opened, error));
    GC_TRY(allocate(opened, error));
    return begin(opened, 0, error);
}

static void free_decoder(gc_decoder *common)
{
    y4m_decoder *decoder = (y4m_decoder *)common;
    gc_y4m_release(decoder->stream);
    free(decoder->levels);
    free(decoder);
}

static gconv_status convert(const y4m_decoder *decoder, uint16_t *row, gconv_error *error)
{
    size_t count = decoder->common.shape.width;
    uint16_t largest = 0;
    if (GC_HOST_IS_BIG_ENDIAN)
        gc_raw_swap(row, count, sizeof *row);
    for (size_t i = 0; i < count; i++)
        largest = row[i] > largest ? row[i] : largest;
    if (largest >> decoder->stream->bits != 0)
        return gc_fail(error, GCONV_ERROR_FORMAT, "corrupt: a sample of %u in frames of %d bits",
                       largest, decoder->stream->bits);
    for (size_t i = 0; decoder->levels != NULL && i < count; i++)
        row[i] = decoder->levels[row[i]];
    return GCONV_OK;
}

/* Behind the last row of luma comes the chroma of the frame. Grey has 128, or the like. */
static gconv_status read_chroma(y4m_decoder *decoder, gconv_error *error)
{
    gc_y4m *stream = decoder->stream;
    unsigned neutral = 1u << (stream->bits - 1);
    gconv_status status =
        gc_raw_read(&decoder->common, stream->chroma, stream->chroma_bytes, error);
    for (size_t i = 0; decoder->common.grey_wanted && i < stream->chroma_bytes; i++)
        stream->chroma[i] = (unsigned char)(stream->bits == 8 ? neutral : neutral >> 8 * (i % 2));
    return status;
}

static gconv_status read_rows(gc_decoder *common, uint32_t count, unsigned char *rows,
                              size_t stride, gconv_error *error)
{
    y4m_decoder *decoder = (y4m_decoder *)common;
    size_t bytes = gconv_shape_row_bytes(&common->shape);
    uint32_t some = stride == bytes ? count : 1; /* at one time */
    gconv_status status = GCONV_OK;
    for (uint32_t i = 0; status == GCONV_OK && i < count; i += some)
        status = gc_raw_read(common, rows + i * stride, some * bytes, error);
    for (uint32_t i = 0; status == GCONV_OK && common->shape.depth == 16 && i < count; i++)
        status = convert(decoder, (uint16_t *)(void *)(rows + i * stride), error);
    decoder->left -= count;
    return status == GCONV_OK && decoder->left == 0 ? read_chroma(decoder, error) : status;
}

/* The plane behind this one that is an image; 0: that of another frame. */
static int next_plane(const gc_y4m *stream)
{
    return stream->all ? (stream->plane + 1) % stream->plane_count : 0;
}

static gconv_status look_behind(gc_decoder *common, bool wait, bool *alone, gconv_error *error)
{
    const unsigned char *bytes;
    size_t size;
    if (next_plane(((y4m_decoder *)common)->stream) > 0 ||
        (!wait && !gc_input_has_more(common->input, 0)))
        return GCONV_OK;
    GC_TRY(gc_input_peek(common->input, wait ? 5 : 1, &bytes, &size, error));
    bool is_frame = memcmp(bytes, "FRAME", size < 5 ? size : 5) == 0;
    if (!is_frame && !common->tolerant)
        return gc_fail(error, GCONV_ERROR_FORMAT, "%s", no_frame);
    if (!is_frame)
        gc_warn_damage(&common->warnings, "%s", no_frame);
    *alone = size == 0 || !is_frame;
    return GCONV_OK;
}

static gconv_status next(gc_decoder *common, gconv_error *error)
{
    y4m_decoder *decoder = (y4m_decoder *)common;
    return begin(decoder, next_plane(decoder->stream), error);
}

const gc_decoder_type gc_y4m_decoder = {
    .name = "gconv",
    .size = sizeof(y4m_decoder),
    .open = open_decoder,
    .read = read_rows,
    .look_behind = look_behind,
    .next = next,
    .free = free_decoder,
};
