/* gconv: convolution and edge detection of images, on the CPU and on NVIDIA GPUs.
 * docs/conventions.md says on one page what is computed, and docs/contract.md says it in numbered
 * rules. The first section of this header has one call for a whole file or image. docs/library.md
 * has programs. */
#ifndef GCONV_H
#define GCONV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define GCONV_API __attribute__((visibility("default")))
#else
#define GCONV_API
#endif

/* ---- In one call ----------------------------------------------------------------------------- */

typedef struct gconv_filter gconv_filter; /* weights: see below */
typedef struct gconv_job gconv_job;       /* what is computed; start one from gconv_job_default() */

typedef enum gconv_status {
    GCONV_OK = 0,
    GCONV_ERROR_MEMORY,      /* the system or the device refused memory */
    GCONV_ERROR_ARGUMENT,    /* a value outside its range, or a size that overflows */
    GCONV_ERROR_FILTER,      /* a filter or filter text that cannot be read or used */
    GCONV_ERROR_OPEN,        /* a file cannot be opened, or is not there */
    GCONV_ERROR_READ,        /* a read failed */
    GCONV_ERROR_FORMAT,      /* not an image of a known format, or a corrupt image */
    GCONV_ERROR_LIMIT,       /* refused, because it is larger than a limit */
    GCONV_ERROR_WRITE,       /* a write, sync, close or rename failed */
    GCONV_ERROR_EXISTS,      /* the output exists, and the caller forbade to replace it */
    GCONV_ERROR_UNSUPPORTED, /* the implementation refuses this job */
    GCONV_ERROR_DEVICE,      /* the device or implementation cannot be used here */
    GCONV_ERROR_CANCELLED,   /* a gconv_progress_function ended the run */
    GCONV_STATUS_COUNT
} gconv_status;

/* The message of a failure. The function that detects the failure writes it. */
typedef struct gconv_error {
    gconv_status status;
    int line;          /* of a filter file, counted from 1; 0 if no line applies */
    char message[512]; /* one line without a newline; control characters escaped */
} gconv_error;

/* Makes a filter from what --kernel accepts. `specification` is tried in this order as the path of
 * a filter file, a built-in name, a generator (gaussian:SIGMA[,SIZE], box:N, box:WxH,
 * log:SIGMA[,SIZE], identity), and an inline ImageMagick string. A directory does not count as a
 * path. GCONV_ERROR_OPEN or GCONV_ERROR_READ if a file exists but cannot be read.
 * GCONV_ERROR_FILTER if nothing fits, or the text has a mistake. */
GCONV_API gconv_status gconv_filter_load(const char *specification, gconv_filter **filter,
                                         gconv_error *error);

/* Makes a built-in filter or one of a generator, even if a file has this name.
 * GCONV_ERROR_FILTER if there is none. */
GCONV_API gconv_status gconv_filter_load_builtin(const char *name, gconv_filter **filter,
                                                 gconv_error *error);
/* Accepts NULL. A filter that a caller filled by hand stays the caller's. */
GCONV_API void gconv_filter_free(gconv_filter *filter);

/* Convolves an image file, as `gconv filter` does. The extension of `out` gives its format. "-" is
 * standard input or output. GCONV_ERROR_EXISTS if `out` is the file of `in`. The function ignores
 * the members filters, input, output and alpha of `options`. NULL stands for the defaults. If
 * the output has no alpha, pixels that are not opaque are put on white. */
GCONV_API gconv_status gconv_filter_file(const char *in, const char *out,
                                         const gconv_filter *filter, const gconv_job *options,
                                         gconv_error *error);

/* Finds the edges of an image file, as `gconv edges` does. If `options` has filters, they take the
 * place of those of `gconv edges`. The threshold is that of `options`. NULL stands for the
 * defaults. */
GCONV_API gconv_status gconv_edges_file(const char *in, const char *out, const gconv_job *options,
                                        gconv_error *error);

/* Convolves an image of 8-bit samples in memory: 1 channel is grey, 3 are RGB or BGR, without gaps
 * between rows. `output` may be `input`. For many images of one shape a plan is faster: see
 * gconv_plan_create. */
GCONV_API gconv_status gconv_filter_memory(const unsigned char *input, unsigned char *output,
                                           uint32_t width, uint32_t height, int channels,
                                           const gconv_filter *filter, const gconv_job *options,
                                           gconv_error *error);

/* ---- Plans, and how to use what follows ------------------------------------------------------ */

/* A plan reads rows of an image from a source, convolves them, and hands rows to a sink. A reader
 * of an image file is a source. A writer of an image file is a sink:
 *
 *     gconv_error error;
 *     gconv_filter *filter;
 *     gconv_filter_load("gauss5", &filter, &error);
 *     gconv_reader_open("in.png", &reader_options, &reader, &error);
 *     gconv_job job = gconv_job_default();          // then fill in shape and filters
 *     gconv_plan_create(&job, &plan, &error);
 *     gconv_writer_open("out.png", &writer_options, &writer, &error);
 *     gconv_plan_run(plan, gconv_reader_source(reader), gconv_writer_sink(writer), NULL, &error);
 *     gconv_reader_finish(reader, &error);          // a damaged end: no output then
 *     gconv_writer_finish(writer, &error);
 *
 * This sketch leaves out checks and fields that have to be filled in. docs/library.md has the whole
 * program, files.c.
 *
 * Errors. Every function that can fail returns a gconv_status. Its last argument `error` may be
 * NULL. Otherwise a failing function leaves one line of text there. The text does not name the
 * file: the caller knows the name.
 *
 * Null pointers. A null pointer is allowed where a comment says so. Elsewhere a null path, text,
 * job or member of a job is GCONV_ERROR_ARGUMENT. Pointers to objects of the library, to rows, and
 * to what the function fills must not be NULL.
 *
 * Ownership. The caller frees a filter, reader, writer or plan with its _free() function, which
 * accepts NULL. If the function that makes an object fails, it sets the caller's pointer to NULL.
 *
 * Threads. Only one thread at a time may use a given plan, reader or writer. Several threads may
 * use different ones at the same time. A plan on the CPU is run by the calling thread and by
 * helpers: threads that the library owns.
 * - Any of these threads may call the source and the sink. The calls of each one never overlap.
 * - Helpers sleep between runs. They block all signals except those of faults.
 * - Helpers end when the process exits or the library is unloaded. Do neither during a run.
 * - If the system gives fewer threads, a run uses those that exist. The result is the same.
 * - A process may fork between runs and run plans in the child.
 *
 * Structures. Those with a first member `size` may grow in later versions. Start each of them from
 * its _default() function, and then change members: a member that is 0 is not always at its
 * default. The function sets `size`. So a program that was built with an older header works with a
 * newer library, which reads and fills the members that the program knows. GCONV_ERROR_ARGUMENT for
 * a structure without a size. Until version 1.0 the minor version is part of the shared library's
 * name. */

/* Defines TYPE_default(): a structure whose `size` is set. All else is 0, false or NULL. */
#define GCONV_ZEROS(type)                                                                          \
    static inline type type##_default(void)                                                        \
    {                                                                                              \
        type made;                                                                                 \
        memset(&made, 0, sizeof made);                                                             \
        made.size = sizeof made;                                                                   \
        return made;                                                                               \
    }

/* Defines TYPE_default(): a structure with the defaults that TYPE_init() knows. */
#define GCONV_DEFAULTS(type)                                                                       \
    static inline type type##_default(void)                                                        \
    {                                                                                              \
        type made;                                                                                 \
        type##_init(&made, sizeof made);                                                           \
        return made;                                                                               \
    }

/* ---- Version and errors ---------------------------------------------------------------------- */

/* Texts that functions return as const char * belong to the library. Those of this section, and
 * names of formats, borders, statuses and implementations, stay valid until the library is
 * unloaded. */

/* "MAJOR.MINOR.PATCH" of the library in use. */
GCONV_API const char *gconv_version(void);

/* How this library was built, in one line: build type, compiler, and whether fast paths are left
 * out. */
GCONV_API const char *gconv_build_description(void);

/* The libraries that read and write image files, with their versions, in one line: "libpng 1.6.39,
 * zlib 1.2.13, libjpeg-turbo 2.1.5". If the loaded version differs from the version at build time,
 * the line names both. */
GCONV_API const char *gconv_codec_description(void);

/* A fixed English phrase for a status; never NULL. */
GCONV_API const char *gconv_status_text(gconv_status status);

/* ---- Filters --------------------------------------------------------------------------------- */

/* The longest side of a filter that is a matrix, and of one that is a column and a row. */
enum { GCONV_FILTER_SIDE_MAX = 255, GCONV_FILTER_VECTOR_MAX = 4095 };

/* Weights F[j][i] in `height` rows and `width` columns. With the default `correlate` = false of a
 * job a filter computes
 *     out(x,y) = 1/divisor * sum_j sum_i F[j][i] * in(x-(i-anchor_x), y-(j-anchor_y)).
 * A filter holds either the matrix, F[j][i] = weights[j*width+i], or two vectors, F[j][i] =
 * column[j] * row[i]. The other members are NULL. The functions below fill this structure. A caller
 * may also fill one by hand. */
struct gconv_filter {
    char *name;     /* for messages; owned by the filter; may be NULL */
    int width;      /* columns of F: 1 to GCONV_FILTER_SIDE_MAX, or to GCONV_FILTER_VECTOR_MAX */
    int height;     /* rows of F, the same */
    int anchor_x;   /* column of the weight that lies on the output pixel: 0 to width-1 */
    int anchor_y;   /* row of that weight: 0 to height-1 */
    double divisor; /* finite, not 0 */
    double offset;  /* in 8-bit levels (0 black, 255 white); added in the final conversion */
    double offset_denominator; /* as in gconv_job */
    bool has_offset;           /* `offset` counts; only the last filter of a chain may have one */
    float *weights;            /* width*height finite values, row by row; owned by the filter */
    /* Two vectors: `height` and `width` values of magnitudes that float32 holds. The filter owns
     * both. */
    double *column;
    double *row;
    /* How the text of a file or a string was read: "rows of weights", "a column and a row", "a
     * libvips matrix" or "an ImageMagick string". Not owned. NULL for built-in, generated and
     * hand-made filters. */
    const char *dialect;
    /* Some texts can be read as rows of weights and as a libvips matrix. They are read as rows of
     * weights. These are then the sides of the libvips matrix, else 0. */
    int vips_width;
    int vips_height;
    /* The text was read as rows or vectors, and each group of characters between blanks has one
     * comma, as in "0,5 0,5". These are four weights; the author may have meant two. */
    bool decimal_commas;
    /* Set by the library. If the weights as written have a common denominator, this filter has
     * whole weights and is computed instead, without the rounding of the weights to float32. It
     * counts as long as weights and divisor have this hash. */
    gconv_filter *whole;
    uint64_t whole_hash;
    /* Set by the library, and counted as long as `whole`. The weights as written, or the column and
     * then the row, are these numbers over this divisor. */
    double *terms;
    double terms_divisor;
};

/* Makes a filter whose weights are all 0: anchor (width/2, height/2), divisor 1, no offset.
 * GCONV_ERROR_ARGUMENT for a side outside 1 to GCONV_FILTER_SIDE_MAX. */
GCONV_API gconv_status gconv_filter_create(int width, int height, gconv_filter **filter,
                                           gconv_error *error);

/* Makes a filter of two vectors: `column` and `row` are all 0, and `weights` is NULL. Anchor,
 * divisor and offset are as for gconv_filter_create. Sides are 1 to GCONV_FILTER_VECTOR_MAX. Only
 * some implementations take such a filter: `reference`, `cpu` and `separable`. */
GCONV_API gconv_status gconv_filter_create_vectors(int width, int height, gconv_filter **filter,
                                                   gconv_error *error);

/* Makes a filter from the text of a filter file, or from an inline ImageMagick string.
 * gconv-filter(5) describes both. `text` has `length` bytes and needs no NUL. `name` may be NULL.
 * It becomes the filter's name unless the text gives a name. On failure error->line is the line at
 * fault. */
GCONV_API gconv_status gconv_filter_parse(const char *text, size_t length, const char *name,
                                          gconv_filter **filter, gconv_error *error);

/* The sum of the weights over the divisor. A constant image is multiplied by this number. */
GCONV_API double gconv_filter_gain(const gconv_filter *filter);

/* *rank becomes the rank of the weights: the weights are a sum of this many products of a column
 * and a row. If a weight is not a whole number, they are so within rounding to float32. A filter of
 * two vectors has rank 1, or 0. The first `most` products, at least 1, go to `columns` and `rows`,
 * which have room for most * height and most * width numbers. If the rank is at most `most`,
 * F[j][i] is the sum over p below the rank of columns[p*height+j] * rows[p*width+i].
 * GCONV_ERROR_MEMORY if memory is short. */
GCONV_API gconv_status gconv_filter_rank(const gconv_filter *filter, int most, double *columns,
                                         double *rows, int *rank, gconv_error *error);

/* *product becomes one filter that does what `first` and then `second` do, away from the border.
 * Its weights are computed in double and rounded to float32. The product is a matrix, and has no
 * name. GCONV_ERROR_ARGUMENT if a side would exceed GCONV_FILTER_SIDE_MAX. GCONV_ERROR_FILTER if
 * `first` has an offset, or a weight or the divisor leaves its range. */
GCONV_API gconv_status gconv_filter_compose(const gconv_filter *first, const gconv_filter *second,
                                            gconv_filter **product, gconv_error *error);

/* A filter compiled into the library. */
typedef struct gconv_builtin_filter {
    const char *name;    /* "gauss5" */
    const char *summary; /* the first comment line of its file */
    const char *text;    /* the whole file, NUL-terminated */
} gconv_builtin_filter;

/* The built-in filters, sorted by name. _at() gives NULL if `index` is not below the count. */
GCONV_API size_t gconv_builtin_filter_count(void);
GCONV_API const gconv_builtin_filter *gconv_builtin_filter_at(size_t index);

/* A generator: a formula that makes filters of any size. */
typedef struct gconv_generator {
    const char *name;    /* "gaussian" */
    const char *usage;   /* "gaussian:SIGMA[,SIZE]" */
    const char *summary; /* one line for people */
} gconv_generator;

/* The generators. _at() gives NULL if `index` is not below the count. */
GCONV_API size_t gconv_generator_count(void);
GCONV_API const gconv_generator *gconv_generator_at(size_t index);

/* ---- Borders --------------------------------------------------------------------------------- */

/* What lies outside the image. Each drawing shows two samples beyond the left edge of a row that
 * begins with a b c d. V is the value of a constant border. */
typedef enum gconv_border {
    GCONV_BORDER_MIRROR,    /* b a | a b c d */
    GCONV_BORDER_MIRROR101, /* c b | a b c d */
    GCONV_BORDER_REPLICATE, /* a a | a b c d */
    GCONV_BORDER_WRAP,      /* c d | a b c d */
    GCONV_BORDER_CONSTANT,  /* V V | a b c d */
    GCONV_BORDER_COUNT
} gconv_border;

/* "mirror", "constant", ...; "unknown" for other values. */
GCONV_API const char *gconv_border_name(gconv_border border);

/* Reads the name of a border or one of its aliases. `constant:V` and `zero` are allowed too. *value
 * becomes V, in 8-bit levels, or 0 if there is no V. *denominator becomes that of V, for the
 * border_denominator of a job. */
GCONV_API gconv_status gconv_border_parse(const char *text, gconv_border *border, double *value,
                                          double *denominator, gconv_error *error);

/* ---- Rows in, rows out ----------------------------------------------------------------------- */

/* The shape of an image, and so the layout of its rows in memory. The samples of a pixel lie side
 * by side: R G B R G B. A sample is
 * - at depth 8: 1 byte;
 * - at depth 16: 2 bytes in the byte order of this machine;
 * - at depth 1 (output only): 1 bit, 1 is white; the leftmost is the most significant bit of a
 *   byte;
 * - at depth 32: a float32 in the byte order of this machine. An input has 8-bit levels: 0 is
 *   black, 255 is white or opaque. Any finite number up to 2^32 is allowed (contract.md, rule 82).
 * The address of rows and their stride must be multiples of the sample's bytes. */
typedef struct gconv_shape {
    uint32_t width;  /* pixels: 1 to INT32_MAX */
    uint32_t height; /* pixels: 1 to INT32_MAX */
    int channels;    /* 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha */
    int depth;       /* bits of a sample: 8, 16 or 32; of an output also 1 */
} gconv_shape;

/* Bytes of one row of this shape, without padding. 0 if the shape is not valid or is too large. */
GCONV_API size_t gconv_shape_row_bytes(const gconv_shape *shape);

/* Whether every pixel of `count` rows is opaque: its alpha is 255, at depth 16 65535. The rows are
 * `stride` bytes apart. True for a shape without alpha. */
GCONV_API bool gconv_shape_is_opaque(const gconv_shape *shape, const void *rows, uint32_t count,
                                     size_t stride);

/* A JPEG file as it is stored, for a device that decodes it. The library has checked its header:
 * baseline, samples of 8 bits, one scan, grey or YCbCr, sound tables. */
typedef struct gconv_encoded {
    const unsigned char *bytes; /* from the first byte of the file on; valid until the source is
                                 * called again or its reader is freed */
    size_t held;                /* bytes at `bytes`: the header at least */
    size_t size;                /* of the file */
    uint32_t width, height;     /* pixels as stored, before `orientation` */
    int components;             /* 1: Y; 3: Y, Cb and Cr */
    /* Samples of Y for one of Cb or Cr, across and down: 1x1, 2x1 or 2x2. 1x1 for one component. */
    int sampling_x, sampling_y;
    int orientation; /* 1 to 8 as in EXIF: how the stored pixels become the rows of the source */
    const struct gc_jpeg_layout *layout; /* the library's own */
} gconv_encoded;

/* Gives the rows of an image, from top to bottom. `read` writes the next `count` rows to `rows`,
 * `stride` bytes apart. `user` is the member below.
 *
 * Only one thread at a time calls `read`, but not always the same thread. A source and a sink may
 * be called at the same time.
 *
 * A status other than GCONV_OK ends the run, and the run returns it. `read` should then write a
 * message to `error`, which is never NULL; without one the caller knows only the status. Neither
 * C++ exceptions nor longjmp may leave `read`. A run copies the structure. */
typedef struct gconv_source {
    size_t size; /* set by gconv_source_default() */
    gconv_status (*read)(void *user, uint32_t count, void *rows, size_t stride, gconv_error *error);
    void *user;
    /* Readers of JPEG set the next three. Other sources leave them NULL. A plan on a device
     * that decodes JPEG calls `offer` once, before the first `read`. True: *picture is filled, and
     * the device may decode it; it has to find damage itself. If the device has decoded the
     * picture, the plan calls `accept` with the bytes from the first of the file to the end of the
     * image: all rows then count as read, and `read` is not called. Without `accept` the plan reads
     * rows as if it had never asked.
     * `more` sets *bytes and *count to the next part of the file, of any length, behind what the
     * offer held; *count is 0 at its end. The bytes are valid until the source is called again.
     * False: the file cannot be read. */
    bool (*offer)(void *user, gconv_encoded *picture);
    bool (*more)(void *user, const unsigned char **bytes, size_t *count);
    void (*accept)(void *user, size_t size);
    /* Readers of PNG and JPEG set it; other sources may leave it NULL. A thread of the run that has
     * time calls it, also while another thread is in `read` or in `help`. It does a part of what
     * later calls of `read` need. False: there is nothing to do until the next `read`. */
    bool (*help)(void *user);
    /* A run of several threads calls it before the first `read`, with their number, so that the
     * source can divide its work. NULL if `help` needs no such thing. */
    void (*spread)(void *user, int threads);
    /* A run that needs rows `first` to `first + count - 1` alone calls `select` once, before the
     * first `read`, which then gives row `first`. NULL: the run reads the rows before these, and
     * drops them. */
    gconv_status (*select)(void *user, uint32_t first, uint32_t count, gconv_error *error);
} gconv_source;
GCONV_ZEROS(gconv_source)

struct gc_compressed_rows;

/* Takes the rows of an image, from top to bottom. `write` reads the next `count` rows, `stride`
 * bytes apart, and must not keep the pointer. Threads and failures are as for gconv_source. */
typedef struct gconv_sink {
    size_t size; /* set by gconv_sink_default() */
    gconv_status (*write)(void *user, uint32_t count, const void *rows, size_t stride,
                          gconv_error *error);
    void *user;
    /* Writers of PNG, TIFF and JPEG set it; other sinks may leave it NULL. A thread of the run that
     * has time calls it, also while another thread is in `write` or in `help`. It does a part of
     * what earlier calls of `write` left to do. False: there is nothing to do until the next
     * `write`. */
    bool (*help)(void *user);
    /* Writers of PNG set the next two; other sinks leave them NULL. A plan on a device that
     * compresses may ask `takes_compressed` before the first `write`, also several times: whether
     * the sink waits for all rows of an image of this shape. True: the plan may call
     * `write_compressed` once, in the place of `write` for all of them. *rows is gconv's own
     * (gc_compressed_rows) and must not be kept; `white` is the number of its white pixels. The
     * file does not depend on who compresses. */
    bool (*takes_compressed)(void *user, const gconv_shape *shape);
    gconv_status (*write_compressed)(void *user, const struct gc_compressed_rows *rows,
                                     uint64_t white, gconv_error *error);
    /* A run of several threads calls it with their number, before the first `write`. Writers of
     * JPEG set it; other sinks may leave it NULL. */
    void (*spread)(void *user, int threads);
} gconv_sink;
GCONV_ZEROS(gconv_sink)

/* ---- Image files ----------------------------------------------------------------------------- */

typedef enum gconv_format {
    GCONV_FORMAT_UNKNOWN = 0,
    GCONV_FORMAT_PNG,
    GCONV_FORMAT_JPEG,
    GCONV_FORMAT_PGM,
    GCONV_FORMAT_PPM,
    GCONV_FORMAT_PFM,
    GCONV_FORMAT_TIFF,
    GCONV_FORMAT_WEBP,
    GCONV_FORMAT_PBM,
    GCONV_FORMAT_PAM,
    GCONV_FORMAT_NPY,
    GCONV_FORMAT_BMP,
    GCONV_FORMAT_AVIF,
    GCONV_FORMAT_HEIC,
    GCONV_FORMAT_JXL,
    GCONV_FORMAT_Y4M,
    GCONV_FORMAT_COUNT
} gconv_format;

/* "png", "jpeg", ...; "unknown" for other values. */
GCONV_API const char *gconv_format_name(gconv_format format);

/* The format of a name or extension, in capital or small letters: "png", "jpg", "jpeg".
 * GCONV_FORMAT_UNKNOWN for other names and for NULL. */
GCONV_API gconv_format gconv_format_from_name(const char *name);

/* The format that the extension of a path stands for. GCONV_FORMAT_UNKNOWN for other extensions and
 * for NULL. Opens no file. */
GCONV_API gconv_format gconv_format_from_path(const char *path);

/* The format of a file that begins with these bytes. 18 bytes are enough. GCONV_FORMAT_UNKNOWN if
 * gconv cannot read the file. */
GCONV_API gconv_format gconv_format_from_content(const void *bytes, size_t count);

/* What files of a format are called and can hold. */
typedef struct gconv_format_info {
    const char *name;      /* "jpeg" */
    const char *extension; /* of file names, without the dot: "jpg" */
    bool reads;            /* gconv_reader_open can read the format */
    bool writes;           /* gconv_writer_open can write the format */
    /* The members below describe what gconv can write. */
    int depths;        /* bits of a sample: the sum of those of 1, 8, 16 and 32 that are possible */
    int channels;      /* 1: grey only; 3: RGB only; 0: both */
    bool alpha;        /* the format holds alpha; the writer drops alpha if this is false */
    bool several;      /* a file may hold several images, one behind the other */
    int edge_depth;    /* of edges, unless the caller says otherwise */
    const char *title; /* "JPEG" */
    const char *missing; /* "this build lacks libtiff": why it has no such format; else NULL */
} gconv_format_info;

/* NULL for GCONV_FORMAT_UNKNOWN and other values that are no format. */
GCONV_API const gconv_format_info *gconv_format_describe(gconv_format format);

/* A format that this build of gconv recognises, but neither reads nor writes. */
typedef struct gconv_foreign_format {
    const char *name;    /* "GIF" */
    const char *about;   /* "which gconv does not read; 'vips copy' converts it" */
    bool image;          /* false for video, and for what stands in for an image, as a page does */
    const char *missing; /* "this build lacks libtiff": other builds have the format; else NULL */
} gconv_foreign_format;

/* The format of a file that begins with these bytes. 1024 bytes are enough. NULL if
 * gconv_format_from_content knows the file, or the format is not known. */
GCONV_API const gconv_foreign_format *gconv_foreign_from_content(const void *bytes, size_t count);

/* The format that the extension of a path stands for. NULL for other extensions and for NULL. Opens
 * no file. */
GCONV_API const gconv_foreign_format *gconv_foreign_from_path(const char *path);

/* What an image file carries beside its pixels: ICC profile, EXIF, XMP, IPTC, resolution, colour
 * chunks. A reader owns its metadata. Callers only pass the pointer to a writer. */
typedef struct gconv_metadata gconv_metadata;

/* How much metadata a reader is asked for, and a writer writes. */
typedef enum gconv_keep {
    GCONV_KEEP_NOTHING = 0,    /* pixels only */
    GCONV_KEEP_RESOLUTION = 1, /* pixels and resolution */
    GCONV_KEEP_ALL = 2         /* ICC profile, EXIF, XMP, IPTC and colour chunks, too */
} gconv_keep;

/* Reads one image file, row by row. After a failure other than GCONV_ERROR_ARGUMENT every later
 * call returns that failure. */
typedef struct gconv_reader gconv_reader;

/* What may decode a JPEG. Pixels, warnings and failures are the same in each case. */
typedef enum gconv_decoder {
    GCONV_DECODER_AUTO = 0, /* the plan decides: its device, or the CPU by any code */
    GCONV_DECODER_CPU,      /* libjpeg-turbo */
    GCONV_DECODER_CUDA      /* kernels of a GPU; gconv_decoder_check tells whether there is one */
} gconv_decoder;

/* A callback that gets `size` bytes of a file, which begin at `offset` in the file. Only one thread
 * at a time calls it. It may get the same bytes again. gconv_reader_options and
 * gconv_writer_options say which bytes it never gets. */
typedef void gconv_bytes_function(void *user, uint64_t offset, const void *bytes, size_t size);

/* What an image of a Y4M is. */
typedef enum gconv_planes {
    GCONV_PLANES_LUMA = 0, /* the luma of a frame; a writer adds its chroma */
    GCONV_PLANES_ALL       /* a plane; those of a frame come one behind the other, luma first */
} gconv_planes;

/* What becomes of float samples that are infinite or not a number (contract.md, rule 126). */
typedef enum gconv_nan {
    GCONV_NAN_REFUSE = 0, /* GCONV_ERROR_FORMAT, which names the first one */
    GCONV_NAN_SPREAD,     /* rows have them */
    /* Of images without alpha. Rows end with a channel of alpha, which is 0 for pixels with such a
     * sample, else 255. All samples of these pixels are 0. See least_alpha of
     * gconv_writer_options. */
    GCONV_NAN_IGNORE
} gconv_nan;

typedef struct gconv_reader_options {
    size_t size; /* set by gconv_reader_options_default() */
    bool grey;   /* give one grey channel: Rec. 601 luma, or the Y of a JPEG in YCbCr */
    /* Give no alpha: put pixels that are not opaque on `background`. With `grey` the reader does
     * so, too. */
    bool opaque;
    uint8_t background[3]; /* red, green and blue in 8-bit levels; of grey images its luma counts */
    bool auto_orient; /* apply the EXIF orientation to the pixels, and reset it in the metadata */
    bool tolerant;    /* data missing at the end are a warning; the missing samples become 0 */
    uint64_t max_pixels; /* refuse an image whose header says more: GCONV_ERROR_LIMIT */
    /* Takes a warning: one line for people. May be NULL. */
    void (*warn)(void *user, const char *message);
    void *warn_user; /* passed to `warn` and `warn_damage` */
    /* Takes warnings of what readers of the pixels have to know: damage that `tolerant` accepts;
     * damage that loses metadata which `keep` asks for; bytes behind the image of a pipe; float
     * samples that were rounded or do not fit a white of 255. NULL: `warn` takes them. */
    void (*warn_damage)(void *user, const char *message);
    gconv_decoder decoder; /* what may decode a JPEG; other formats are decoded on the CPU */
    /* Gets the descriptor of the file before the file is read. The descriptor stays open until
     * gconv_reader_free. The function must not move its offset. Not called for standard input. May
     * be NULL. */
    void (*opened)(void *user, int descriptor);
    /* Gets the bytes that are read from that file. The reader skips bytes that it does not need,
     * and bytes behind the image. May be NULL. */
    gconv_bytes_function *read;
    void *opened_user; /* passed to `opened` and `read` */
    gconv_keep keep; /* metadata that the caller goes on to use; the reader reads all in any case */
    bool whole; /* damage that costs some of these, and what a file has beyond them, is a failure */
    /* Float samples: the one that is white, above 0. Samples are multiplied by 255 / white. 0: the
     * white that the file says, else 255. */
    double white;
    /* Of an input that may hold several images: the first and the last one that are read, from 1.
     * 0: all; a page_last of 0: `page` alone. */
    uint32_t page, page_last;
    gconv_planes planes; /* of Y4M */
    gconv_nan nan;
    bool any_white; /* of float samples: the caller does not ask what is white; no warning of it */
    bool any_precision; /* numbers of 64 bits may be rounded under `whole`, too, with a warning */
} gconv_reader_options;

/* Sets the defaults of options for which the caller's header has `size` bytes: auto_orient, 2^30
 * pixels at most, a white background, GCONV_DECODER_AUTO, all else 0 or NULL. */
GCONV_API void gconv_reader_options_init(gconv_reader_options *options, size_t size);
GCONV_DEFAULTS(gconv_reader_options)

/* Opens a file, finds its format by its content, and reads the header. The path "-" is standard
 * input. NULL `options` are the default. Among the failures are GCONV_ERROR_OPEN, GCONV_ERROR_READ,
 * GCONV_ERROR_FORMAT and GCONV_ERROR_LIMIT. */
GCONV_API gconv_status gconv_reader_open(const char *path, const gconv_reader_options *options,
                                         gconv_reader **reader, gconv_error *error);

/* The shape of the rows that the reader gives: after `auto_orient`, `opaque` and `grey`. The
 * pointer is valid while the reader lives; gconv_reader_next changes what it points to. */
GCONV_API const gconv_shape *gconv_reader_shape(const gconv_reader *reader);

/* The channels of the image in the file, before `opaque` and `grey`: 1 to 4, as in gconv_shape. */
GCONV_API int gconv_reader_channels(const gconv_reader *reader);

/* The format of the input. */
GCONV_API gconv_format gconv_reader_format(const gconv_reader *reader);

/* The metadata of the image. Valid until gconv_reader_next or gconv_reader_free. */
GCONV_API const gconv_metadata *gconv_reader_metadata(const gconv_reader *reader);

/* Reads the next `count` rows into `rows`, `stride` bytes apart. GCONV_ERROR_ARGUMENT if fewer rows
 * are left. */
GCONV_API gconv_status gconv_reader_read(gconv_reader *reader, uint32_t count, void *rows,
                                         size_t stride, gconv_error *error);

/* Call it after the last row, and before the output is finished. Reads to the end of the image and
 * reports what is missing or corrupt there. GCONV_ERROR_ARGUMENT if rows are not read yet. */
GCONV_API gconv_status gconv_reader_finish(gconv_reader *reader, gconv_error *error);

/* Call it after gconv_reader_finish. Goes on to the next image of a netpbm or PFM input, the
 * next page of a TIFF or frame of a Y4M, and says in *more whether there is one. Blanks between
 * images are skipped.
 *
 * - *more is true: shape, format, metadata and rows are now those of the next image. Sources of
 *   this reader stay valid.
 * - *more is false: the input has ended; or other bytes follow, which is a warning; or the format
 *   holds one image. The warning comes once, here or in gconv_reader_finish.
 * - On failure *more is true if another image follows but could not be opened. It is false if the
 *   input failed before that was known.
 *
 * The call waits while a pipe is open and has not sent the next bytes. */
GCONV_API gconv_status gconv_reader_next(gconv_reader *reader, bool *more, gconv_error *error);

/* The reader as a source. Valid while the reader lives. After the source's `select` the reader
 * gives the selected rows alone, gconv_reader_finish looks at nothing behind them, and
 * gconv_reader_next finds no image. `select` seeks in binary files of netpbm, PFM, NPY and BMP,
 * and passes over strips and tiles of a TIFF. Other inputs are decoded up to the last row that is
 * selected. */
GCONV_API const gconv_source *gconv_reader_source(gconv_reader *reader);

/* The name of the decoder: "libpng", "libjpeg-turbo", "gconv", or "cuda" once kernels of a GPU have
 * decoded the image. It is "libpng with ISA-L" once ISA-L has begun to inflate the image data.
 * "gconv" is the library's own code, which decodes netpbm, PFM, NPY, BMP, Y4M, TIFF without
 * compression, and most baseline JPEGs. */
GCONV_API const char *gconv_reader_decoder(const gconv_reader *reader);

/* Whether the rows that were read so far have a pixel that was not opaque and was put on the
 * background. If so, gconv_reader_finish gives a warning. */
GCONV_API bool gconv_reader_composited(const gconv_reader *reader);

/* Whether float samples of the image, which is read, are those that a TIFF says are missing
 * (GDAL_NODATA), or whole samples may be. If so, gconv_reader_finish gives a warning. */
GCONV_API bool gconv_reader_missing(const gconv_reader *reader);

/* Why the device of a plan did not decode this JPEG: a phrase about the file. "" if the device
 * decoded it or was not asked to, and for other formats. */
GCONV_API const char *gconv_reader_fallback(const gconv_reader *reader);

GCONV_API void gconv_reader_free(gconv_reader *reader);

/* Writes one image file, row by row. After a failure other than GCONV_ERROR_ARGUMENT every later
 * call returns that failure. */
typedef struct gconv_writer gconv_writer;

/* A callback that gets a complete file, as a descriptor that can be read, before the file takes its
 * name. If it fails, the file does not appear. It must not close the descriptor. */
typedef gconv_status gconv_complete_function(void *user, int descriptor, gconv_error *error);

enum { GCONV_COMPRESSION_LZW = 10, GCONV_QUALITY_SAME = 0 };

/* For how many pixels a JPEG holds one sample of each colour difference. */
typedef enum gconv_chroma {
    GCONV_CHROMA_420 = 0, /* for 2 x 2 */
    GCONV_CHROMA_422,     /* for 2 side by side */
    GCONV_CHROMA_444,     /* for each */
    GCONV_CHROMA_SAME     /* as the JPEG that `metadata` is of; 420 if it is of none */
} gconv_chroma;

typedef struct gconv_writer_options {
    size_t size;         /* set by gconv_writer_options_default() */
    gconv_format format; /* one that gconv writes */
    /* Of the rows that the caller will write. The format must hold the depth. Depth 1 has 1
     * channel. */
    gconv_shape shape;
    /* With loss: 1 to 100. GCONV_QUALITY_SAME: a JPEG gets the tables of quantisation of the JPEG
     * that `metadata` is of, whatever `keep` is, and 90 if it is of none. */
    int quality;
    /* PNG: 0 to 9, by zlib; -1 is gconv's own, the fastest. TIFF: 1 to 9, deflate;
     * GCONV_COMPRESSION_LZW; 0 is none; -1 is none, too, unless `metadata` is of a TIFF: then what
     * that has, or 6 if gconv does not write it. WebP, AVIF and JPEG XL: the effort, 0 to 9; -1
     * is 1 without loss and 6 with loss for WebP, 3 for AVIF, 1 and 5 for JPEG XL. */
    int compression;
    const gconv_metadata *metadata; /* used only during open or next; may be NULL */
    gconv_keep keep;                /* how much of `metadata` is written */
    bool no_clobber;                /* an output that exists is GCONV_ERROR_EXISTS */
    /* PGM and PPM: the rows are a part of an image of `part_of` rows, from row `part_first` on.
     * Files of all parts, joined in their order, are the file of this image: the part with row 0
     * begins with its header, and the other parts are rows alone. 0: the file is an image. */
    uint32_t part_of;
    uint32_t part_first;
    bool sync; /* flush the file to the disk before it takes its name */
    /* Takes a warning: one line for people. May be NULL. */
    void (*warn)(void *user, const char *message);
    void *warn_user; /* passed to `warn` and `warn_damage` */
    /* gconv_writer_finish calls it. Not called for pipes, devices and standard output. May be
     * NULL. */
    gconv_complete_function *complete;
    /* Gets the bytes that are written to that file, before `complete` is called. It does not get
     * rows of PFM. May be NULL. */
    gconv_bytes_function *written;
    void *complete_user; /* passed to `complete` and `written` */
    double white;        /* float samples: the one that is white, for the header; above 0 */
    bool lossy;          /* WebP, AVIF, HEIC, JPEG XL: compressed by `quality`, with loss */
    gconv_chroma chroma; /* JPEG in colour; AVIF and HEIC with loss */
    bool progressive;    /* JPEG: the coefficients of the image are held until it is complete */
    /* Above 0: rows of floats end with alpha, which is not written. Samples of pixels where it is
     * not above this become not a number. */
    double least_alpha;
    /* Takes a warning that metadata are lost which the format could hold, instead of `warn`; may be
     * NULL. */
    void (*warn_damage)(void *user, const char *message);
} gconv_writer_options;

/* Sets the defaults of options for which the caller's header has `size` bytes: quality 90,
 * compression -1, GCONV_KEEP_ALL, white 255. The caller must set format and shape. */
GCONV_API void gconv_writer_options_init(gconv_writer_options *options, size_t size);
GCONV_DEFAULTS(gconv_writer_options)

/* Opens an output. The path "-" is standard output. A regular file is written beside its final
 * place under a temporary name. gconv_writer_finish gives it its name. So the file appears whole or
 * not at all. A FIFO or device is written directly. If the path is a symbolic link, the writer
 * replaces the file that it leads to. NULL `options` are the default, which fails: it has no format
 * and no shape. GCONV_ERROR_ARGUMENT: an option is outside its range, or the format cannot hold the
 * shape. GCONV_ERROR_EXISTS: see `no_clobber`. GCONV_ERROR_OPEN or GCONV_ERROR_WRITE: the output
 * cannot be created. GCONV_ERROR_LIMIT: the image is too large for the format. */
GCONV_API gconv_status gconv_writer_open(const char *path, const gconv_writer_options *options,
                                         gconv_writer **writer, gconv_error *error);

/* Writes the next `count` rows, `stride` bytes apart. The writer converts channels that the format
 * cannot hold. It makes grey from colour for PGM, and repeats grey for PPM. It drops alpha and puts
 * the image on no background; a reader does that with `opaque` of gconv_reader_options.
 * GCONV_ERROR_ARGUMENT if the image would get too many rows. */
GCONV_API gconv_status gconv_writer_write(gconv_writer *writer, uint32_t count, const void *rows,
                                          size_t stride, gconv_error *error);

/* Call it after the last row. Begins another image behind the first in the same output. Format
 * and shape come from `options`; set its other members as for gconv_writer_open. Both images must
 * be of netpbm or PFM, or both TIFF, which gets pages, or both Y4M, with the metadata of the reader
 * that gives the frames. A pipe or device gets each image of netpbm, PFM and Y4M as soon as its
 * last row is written. */
GCONV_API gconv_status gconv_writer_next(gconv_writer *writer, const gconv_writer_options *options,
                                         gconv_error *error);

/* Call it after the last row. Completes the file and gives it its name. GCONV_ERROR_ARGUMENT if
 * rows are missing. After a failure the file does not appear. */
GCONV_API gconv_status gconv_writer_finish(gconv_writer *writer, gconv_error *error);

/* The writer as a sink. Valid while the writer lives. */
GCONV_API const gconv_sink *gconv_writer_sink(gconv_writer *writer);

/* Frees the writer, and removes a file that is not finished. */
GCONV_API void gconv_writer_free(gconv_writer *writer);

/* Removes the temporary files that writers of killed processes left in a directory, and adds their
 * number to *removed, which may be NULL. It removes files that this user made on this machine since
 * it was started, and that no living process has locked (flock(2)). All others stay.
 * GCONV_ERROR_READ if the directory cannot be listed. */
GCONV_API gconv_status gconv_remove_leftovers(const char *directory, size_t *removed,
                                              gconv_error *error);

/* Removes every unfinished output of this process. Later calls of gconv_writer_open fail. A signal
 * handler that ends the process may call it: the function is async-signal-safe. */
GCONV_API void gconv_abandon_outputs(void);

/* ---- Devices and implementations ------------------------------------------------------------- */

typedef enum gconv_device_kind { GCONV_DEVICE_CPU, GCONV_DEVICE_CUDA } gconv_device_kind;

/* A device and its figures. A figure that is not known is 0. For the CPU all figures except
 * `processors` and `memory_bytes` are 0. "Processor" in a name below is a streaming
 * multiprocessor. */
typedef struct gconv_device_info {
    size_t size; /* set by gconv_device_info_default() */
    gconv_device_kind kind;
    int index; /* N of cuda:N; 0 for the CPU */
    char name[128];
    bool usable;
    char reason[256];                 /* why the device is not usable; empty if it is */
    int compute_major, compute_minor; /* compute capability */
    int processors; /* streaming multiprocessors; for the CPU logical processors */
    int clock_khz;
    int memory_clock_khz;
    int memory_bus_bits;
    double memory_bandwidth; /* bytes a second, computed from memory clock and bus */
    uint64_t memory_bytes;
    uint64_t l2_bytes;
    uint64_t constant_bytes;
    uint64_t shared_per_block;       /* bytes without opting in */
    uint64_t shared_per_block_optin; /* bytes that a kernel may opt in to */
    uint64_t shared_per_processor;   /* bytes */
    int registers_per_block;
    int registers_per_processor;
    int threads_per_processor;
    int threads_per_block;
    int blocks_per_processor;
    int warp_size;
    int driver_version;  /* of CUDA, in CUDA's numbering: 13000 is 13.0 */
    int runtime_version; /* likewise */
    /* What `auto` expects of copies and memory was measured on this machine, at the device's first
     * use. Else `auto` reckons with the figures of an NVIDIA H200. */
    bool measured;
} gconv_device_info;
GCONV_ZEROS(gconv_device_info)

/* The number of devices: the CPU and the CUDA devices. Device 0 is the CPU, device 1 + N is
 * cuda:N. The first call starts the CUDA driver. */
GCONV_API int gconv_device_count(void);

/* Fills *info for device `index`. Fails if there is no such device. A device that is not usable is
 * no failure: see `usable`. */
GCONV_API gconv_status gconv_device_describe(int index, gconv_device_info *info,
                                             gconv_error *error);

/* One line of text, for people, about a device that this process no longer uses because nothing
 * works there any more. `index` counts these devices from 0 in the order of their failures. The
 * text stays valid. NULL if there is no such device. Never starts the CUDA driver. */
GCONV_API const char *gconv_device_loss(int index);

/* The peak rate of a CUDA device in float32 operations a second; a multiply-add is two. 0 for the
 * CPU. */
GCONV_API double gconv_device_peak(const gconv_device_info *info);

/* All of this library that needs CUDA is in a module of its own, libgconv-cuda.so. The library
 * loads it when a GPU is first asked for: by a device "cuda", by functions that say so here, and
 * under "auto" for jobs that take the CPU longer than a GPU takes to start. Only a module of the
 * same build is used. docs/library.md says where it is looked for.
 *
 * Returns the file of the module and how it was built, in one line; "" if it is not loaded. Loads
 * nothing. */
GCONV_API const char *gconv_cuda_module(void);

/* Why there is no CUDA device: there is no module, no driver or no device. "" if there is one. */
GCONV_API const char *gconv_cuda_reason(void);

/* The version of NVRTC in CUDA's numbering: 12040 is 12.4. NVRTC compiles kernels for one filter. 0
 * if NVRTC cannot be loaded. The first call loads it: milliseconds, or half a second from a cold
 * disk. */
GCONV_API int gconv_nvrtc_version(void);

/* gconv uses at most this many CUDA devices. */
enum { GCONV_DEVICES_MAX = 64 };

/* What the `device` of a job stands for. */
typedef struct gconv_device_choice {
    size_t size;            /* set by gconv_device_choice_default() */
    bool any;               /* "auto": the library chooses, and the other members mean nothing */
    gconv_device_kind kind; /* of the devices that are named */
    int index;              /* the first N of "cuda:N,..."; 0 for "cuda", "cuda:all" and "cpu" */
    bool all;               /* "cuda:all" */
    int count;              /* how many CUDA devices are named; 0 for "cuda:all" and "cpu" */
    int indices[GCONV_DEVICES_MAX]; /* their numbers, each once, in the order of the text */
} gconv_device_choice;
GCONV_ZEROS(gconv_device_choice)

/* Reads "auto", "cpu", "cuda", "cuda:all", "cuda:N" or a list such as "cuda:0,2". NULL is "auto".
 * GCONV_ERROR_ARGUMENT for other texts, and for a list with a number twice. Does not check that the
 * devices exist. */
GCONV_API gconv_status gconv_device_parse(const char *text, gconv_device_choice *choice,
                                          gconv_error *error);

/* Whether one of the GPUs that `device` stands for decodes JPEG. gconv_device_parse says which
 * texts `device` may be. GCONV_ERROR_DEVICE if no GPU does; the message is the reason alone. */
GCONV_API gconv_status gconv_decoder_check(const char *device, gconv_error *error);

/* Begins to start the CUDA devices that the `device` of a job stands for, and returns at once. The
 * driver takes a tenth of a second to start, and a device as long again. Functions that need them
 * wait. Only the first call has an effect. Does nothing for "cpu" and for texts that
 * gconv_device_parse refuses. Call gconv_device_await before the process ends. */
GCONV_API void gconv_device_start(const char *text);

/* True while the devices start that gconv_device_start, or a plan under "auto", has begun to start,
 * and none of them is ready. Starting takes longer if no processor is free. */
GCONV_API bool gconv_device_is_starting(void);

/* Waits until all devices are ready that gconv_device_start, or a plan under "auto", has begun to
 * start. Without this call the process might end while CUDA starts, which CUDA does not allow. */
GCONV_API void gconv_device_await(void);

/* A set of vector instructions for which the code for the CPU was compiled. */
typedef struct gconv_instructions_info {
    size_t size;      /* set by gconv_instructions_info_default() */
    const char *name; /* "avx512", "avx2", "neon", "portable" */
    bool usable;      /* this processor has the instructions */
    bool chosen;      /* plans use this set: the best usable one, or that of GCONV_INSTRUCTIONS */
} gconv_instructions_info;
GCONV_ZEROS(gconv_instructions_info)

/* The instruction sets of this build, the best first. The last one is usable everywhere. */
GCONV_API int gconv_instructions_count(void);

/* Fills *info for set `index`. GCONV_ERROR_ARGUMENT if `index` is not below the count. */
GCONV_API gconv_status gconv_instructions_describe(int index, gconv_instructions_info *info,
                                                   gconv_error *error);

/* One way to compute whole jobs. */
typedef struct gconv_implementation_info {
    size_t size;            /* set by gconv_implementation_info_default() */
    const char *name;       /* what the `implementation` of a job may be */
    const char *summary;    /* one line for people */
    const char *limits;     /* the jobs that it refuses, in words; "" if it refuses none */
    gconv_device_kind kind; /* the kind of device that it runs on */
    bool usable;            /* it can run on this machine */
    char reason[256];       /* why it is not usable; empty if it is */
    bool follows_threads;   /* the job's `threads` have an effect on it */
    bool follows_block;     /* `block_width` and `block_height` of its `tiling` have */
    bool follows_tile;      /* `tile` has */
    bool follows_shared;    /* `shared_memory` has */
    /* The outputs that it rounds once, in words; "" if there are none but those of exact chains.
     * gconv_plan_promise tells what holds for a job. */
    const char *rounded_once;
} gconv_implementation_info;
GCONV_ZEROS(gconv_implementation_info)

/* The number of implementations. */
GCONV_API int gconv_implementation_count(void);

/* The name of implementation `index`. NULL if `index` is not below the count. A name with a colon,
 * as "naive:const", is a variant of the implementation before the colon, to study it; "auto" never
 * takes a variant. Never starts the CUDA driver. */
GCONV_API const char *gconv_implementation_name(int index);

/* The index of the implementation that the `implementation` of a job stands for: a name of
 * gconv_implementation_name, or such a name with a thread block, a tiling factor or both behind a
 * colon, if the implementation follows them: "const:32x32", "tiled:32x32x4", "twopass:tiled:x8". -1
 * if there is none. Never starts the CUDA driver. */
GCONV_API int gconv_implementation_find(const char *name);

/* The kind of device that implementation `index` runs on; that of the CPU if `index` is not below
 * the count. Never starts the CUDA driver. */
GCONV_API gconv_device_kind gconv_implementation_kind(int index);

/* Fills *info for implementation `index`. GCONV_ERROR_ARGUMENT if `index` is not below the count.
 * May start the CUDA driver. */
GCONV_API gconv_status gconv_implementation_describe(int index, gconv_implementation_info *info,
                                                     gconv_error *error);

/* ---- Jobs and plans -------------------------------------------------------------------------- */

/* What happens to alpha. A pixel that is transparent should not colour its neighbours: that is
 * PREMULTIPLY. */
typedef enum gconv_alpha {
    GCONV_ALPHA_KEEP,        /* alpha is not convolved; it passes through */
    GCONV_ALPHA_FILTER,      /* alpha is convolved like a colour */
    GCONV_ALPHA_PREMULTIPLY, /* colour times alpha is convolved, then divided by convolved alpha */
    GCONV_ALPHA_AUTO         /* PREMULTIPLY or KEEP, as gconv_alpha_resolve says */
} gconv_alpha;

/* Which pixels are edges. ABS: the absolute value of the response exceeds the threshold. POSITIVE:
 * the response does. NEGATIVE: the response with its sign changed does. */
typedef enum gconv_rule { GCONV_RULE_ABS, GCONV_RULE_POSITIVE, GCONV_RULE_NEGATIVE } gconv_rule;

typedef enum gconv_output {
    GCONV_OUTPUT_SAMPLES, /* scale * value + offset, clamped, rounded (contract.md, rule 5) */
    /* A pixel is white if its response passes the threshold (contract.md, rule 6). Edges are found
     * in one grey channel. The library puts an input with alpha on white, and takes the luma of
     * colours (rule 7). */
    GCONV_OUTPUT_EDGES
} gconv_output;

/* Which colour of a pixel comes first in memory. */
typedef enum gconv_order { GCONV_ORDER_RGB, GCONV_ORDER_BGR } gconv_order;

/* How edges are found in the values of the chain (contract.md, rules 100 to 103). */
typedef enum gconv_method {
    GCONV_METHOD_LAPLACE,       /* values that pass the threshold by the rule of the job */
    GCONV_METHOD_ZERO_CROSSING, /* lines at which values change their sign steeply */
    GCONV_METHOD_GRADIENT,      /* gradients above the threshold */
    GCONV_METHOD_CANNY          /* lines of the largest gradients */
} gconv_method;

/* Differences that make a gradient: a column of weights times a row of differences. */
typedef enum gconv_operator {
    GCONV_OPERATOR_SOBEL,   /* 1 2 1 */
    GCONV_OPERATOR_SCHARR,  /* 3 10 3 */
    GCONV_OPERATOR_PREWITT, /* 1 1 1 */
    GCONV_OPERATOR_SOBEL5,  /* OpenCV's of 5x5 and 7x7, for GCONV_LIKE_OPENCV alone */
    GCONV_OPERATOR_SOBEL7
} gconv_operator;

/* The magnitude of a gradient: |gx| + |gy|, or the root of gx^2 + gy^2. */
typedef enum gconv_norm { GCONV_NORM_L1, GCONV_NORM_L2 } gconv_norm;

/* GCONV_LIKE_OPENCV: byte for byte what cv2.Canny gives, for 8-bit samples, the border replicate
 * and the filter `identity` (contract.md, rule 104). */
typedef enum gconv_likeness { GCONV_LIKE_NONE, GCONV_LIKE_OPENCV } gconv_likeness;

/* For GCONV_OUTPUT_EDGES, and GCONV_METHOD_GRADIENT for GCONV_OUTPUT_SAMPLES, too: these are
 * magnitudes then, in the place of chain values. All methods but LAPLACE take samples of 8 and 16
 * bits, and compute in whole numbers: their result is the same on every device. */
typedef struct gconv_detector {
    size_t size; /* set by gconv_detector_default() */
    gconv_method method;
    gconv_operator derivative; /* of GRADIENT and CANNY, as the two members below */
    gconv_norm norm;
    gconv_likeness like; /* counts for CANNY, and for its gradients */
    double low, high; /* thresholds of CANNY, in 8-bit levels of the magnitude: 0 <= low <= high */
} gconv_detector;

/* Sets LAPLACE, SOBEL, L1, low 50 and high 100. `size` is that of the caller's header. */
GCONV_API void gconv_detector_init(gconv_detector *detector, size_t size);
GCONV_DEFAULTS(gconv_detector)

/* How implementations from `naive` to `twopass` spread an image over the threads of a GPU. 0: the
 * implementation's own. */
typedef struct gconv_tiling {
    size_t size; /* set by gconv_tiling_default() */
    int tile;    /* tiling factor */
    /* Bytes of shared memory of a multiprocessor that the rule of `adaptive` reckons with, to
     * repeat what it chose on a smaller device. More than the device has: the device's own. */
    int shared_memory;
    int block_width; /* sides of a thread block: 1 to 1024 threads in all */
    int block_height;
} gconv_tiling;
GCONV_ZEROS(gconv_tiling)

/* Everything that decides what is computed, and on what. "8-bit levels" below are a scale for
 * samples of any depth: 0 is black, 255 is white.
 *
 * A number with a denominator D behind it stands for the fraction n/D whose nearest double it is:
 * 0.1 with the denominator 10 is 1/10, which no double is. n is a whole number below 2^51, D one up
 * to 2^53. Without such a fraction, as for D = 0, the double counts as it is. */
struct gconv_job {
    size_t size; /* set by gconv_job_default() */
    /* The chain: `filter_count` filters, at least 1, in the order in which they are applied. Each
     * meets the border of its own input. A plan copies them: the caller may free array and filters
     * as soon as a function returns. */
    const gconv_filter *const *filters;
    int filter_count;
    bool correlate; /* correlate instead of convolving: filters are not turned by half a turn */
    gconv_border border;
    double border_value; /* of a constant border, in 8-bit levels */
    double border_denominator;

    gconv_shape input; /* depth 8, 16 or 32 */
    /* Counts for 2 and 4 channels. If gconv_alpha_needs_pixels is true, gconv_plan_create refuses
     * GCONV_ALPHA_AUTO: call gconv_alpha_resolve first. */
    gconv_alpha alpha;

    gconv_output output;
    /* 1, 8, 16, or 32: float32 on the scale of the input's samples. 0: that of the input. */
    int output_depth;

    /* For GCONV_OUTPUT_SAMPLES. */
    double scale; /* the result is multiplied by this */
    double scale_denominator;
    double offset; /* added to the result, in 8-bit levels; counts if has_offset */
    double offset_denominator;
    bool has_offset; /* false: the offset of the last filter counts, if it has one */
    bool absolute;   /* take the absolute value before scale and offset */

    /* For GCONV_OUTPUT_EDGES. */
    double threshold; /* in 8-bit levels */
    double threshold_denominator;
    gconv_rule rule;
    bool invert; /* black edges on white */

    const char *implementation; /* a name that gconv_implementation_find knows, or "auto" */
    /* "auto", "cpu", "cuda", "cuda:N", a list such as "cuda:0,2", or "cuda:all". All devices of a
     * list must be usable. Of several devices, and under "auto" of all GPUs, a plan takes the one
     * that should be fastest. Among equal ones it takes the one with the fewest plans of this
     * process. */
    const char *device;
    int threads; /* CPU threads at most; 0: all that affinity and quota allow */
    /* For implementations from `naive` to `twopass`; NULL: their own. A plan copies it. */
    const gconv_tiling *tiling;
    /* How often the plan will probably run; 0 is once. For more runs `auto` may choose an
     * implementation that takes longer to prepare. */
    uint64_t runs;

    /* The rows are decoded from a file and encoded into a file during the run. If `threads` is 0,
     * one thread then computes a small image, or a few threads a small image from a PNG: more
     * threads would wait for the decoder. */
    bool between_files;
    /* The format of the file that the source decodes, and what may decode it. They help `auto` and
     * plans on a GPU to find the fastest way; outputs do not depend on them. GCONV_FORMAT_UNKNOWN:
     * there is no such file, or its rows must be decoded on the CPU. GCONV_DECODER_CUDA: a run
     * waits for its GPU to start and has it decode; under AUTO the CPU decodes until then. */
    gconv_format source_format;
    gconv_decoder source_decoder;
    /* How many images this process computes at one time, each by its own plan in its own thread. 0
     * and 1 mean one. With more than one:
     * - Between files `auto` compares throughputs: the expected time of all `runs` images, with
     *   decoding and encoding, divided by their number. Elsewhere it chooses as if one image had
     *   all `threads`.
     * - A plan on the CPU gets its share of `threads`, at least one thread.
     * - A plan on a GPU gets its share of the device's memory. The runs of these plans overlap:
     *   while one decodes, others upload, compute, download and encode.
     * Example: four threads that work on one image each set images_at_once = 4 and threads = 8.
     * Each plan on the CPU then has two threads. */
    int images_at_once;
    gconv_order order; /* of `input`; counts for GCONV_OUTPUT_EDGES of 3 and 4 channels */
    /* Only implementations may compute that promise the output exact or rounded once
     * (gconv_plan_promise), however long it takes. GCONV_ERROR_UNSUPPORTED if there is none. */
    bool exact;
    /* How edges are found; NULL: by GCONV_METHOD_LAPLACE. A plan copies it. Chains of the methods:
     * see gconv_method_filters. */
    const gconv_detector *detector;
};

/* The names of the built-in filters that `gconv edges` convolves with before this method finds
 * edges. *count becomes their number. */
GCONV_API const char *const *gconv_method_filters(const gconv_detector *detector, int *count);

/* Sets the defaults of a job for which the caller's header has `size` bytes. No filters and no
 * shape: the caller sets them. Border mirror, GCONV_ALPHA_KEEP, samples of the input's depth, scale
 * 1, threshold 5, implementation and device "auto". All else is 0, false or NULL. */
GCONV_API void gconv_job_init(gconv_job *job, size_t size);
GCONV_DEFAULTS(gconv_job)

/* For a job under "auto" that is one of several images at one time. If a plan of this job would ask
 * GPUs, the function begins to start them as gconv_device_start("auto") does. It returns at once,
 * and says whether a plan that is made now would wait for GPUs. The caller may read the image
 * meanwhile. */
GCONV_API bool gconv_device_foresee(const gconv_job *job);

/* Checks a job as gconv_plan_create does, with the same failures, but prepares nothing: it takes no
 * memory of a device and compiles no kernel. A failure of the preparation itself shows only in
 * gconv_plan_create or a run. */
GCONV_API gconv_status gconv_job_check(const gconv_job *job, gconv_error *error);

/* Whether GCONV_ALPHA_AUTO depends on the pixels of this job's image. It does if the job has
 * GCONV_ALPHA_AUTO, the image has alpha, and the gain of the chain is 1 within 1e-6. */
GCONV_API bool gconv_alpha_needs_pixels(const gconv_job *job);

/* What the job's alpha stands for. `opaque` says whether all pixels of the image are opaque; it
 * counts only if gconv_alpha_needs_pixels is true. GCONV_ALPHA_AUTO is PREMULTIPLY if
 * gconv_alpha_needs_pixels is true and a pixel is not opaque, else KEEP. Every other value stands
 * for itself. */
GCONV_API gconv_alpha gconv_alpha_resolve(const gconv_job *job, bool opaque);

/* A job that is ready to run, any number of times. */
typedef struct gconv_plan gconv_plan;

/* Seconds spent. Functions add to what is there: begin with gconv_timings_default(). Parts overlap,
 * so their sum may exceed the total. If an image goes to a GPU in bands that overlap, a part lasts
 * from its beginning in the first band to its end in the last one. */
typedef struct gconv_timings {
    size_t size;     /* set by gconv_timings_default() */
    double decode;   /* in the source; the sum over all threads */
    double upload;   /* to the device */
    double compute;  /* conversion of samples included; on the CPU the sum over all threads */
    double download; /* from the device */
    double encode;   /* in the sink; the sum over all threads */
    double total;    /* from start to end */
} gconv_timings;
GCONV_ZEROS(gconv_timings)

/* Checks the job, chooses device and implementation if the job says "auto", and prepares the run.
 * - GCONV_ERROR_ARGUMENT: a member of the job is outside its range.
 * - GCONV_ERROR_FILTER: a filter cannot be used, or values of the chain can exceed float32.
 * - GCONV_ERROR_UNSUPPORTED: the implementation that the job names refuses the job.
 * - GCONV_ERROR_DEVICE: the device or implementation that the job names cannot run here.
 * With "auto" for both, an implementation is always found. */
GCONV_API gconv_status gconv_plan_create(const gconv_job *job, gconv_plan **plan,
                                         gconv_error *error);
GCONV_API void gconv_plan_free(gconv_plan *plan);

/* The name of the implementation that runs, and the device that it runs on. Both change if another
 * device takes over (see gconv_plan_fallback). The pointers are valid as long as the plan lives. */
GCONV_API const char *gconv_plan_implementation(const gconv_plan *plan);
GCONV_API const gconv_device_info *gconv_plan_device(const gconv_plan *plan);

/* The shape of the rows that the plan hands to a sink. Valid as long as the plan lives. */
GCONV_API const gconv_shape *gconv_plan_output_shape(const gconv_plan *plan);

/* The seconds that one run should take, transfers included. `auto` compares these estimates. */
GCONV_API double gconv_plan_expected_seconds(const gconv_plan *plan);

/* Why this device and implementation were chosen: one line of text for each candidate, with
 * estimated times. Valid until the plan's next run, which may add a line. */
GCONV_API const char *gconv_plan_explanation(gconv_plan *plan);

/* Why another device has taken over; "" if none has. If a GPU fails before the first output row,
 * the library chooses again among the other devices that the job allows: other GPUs, and the CPU if
 * the job says "auto" for implementation and device. A run fails if none is left. Later runs of the
 * plan stay on the device that took over. */
GCONV_API const char *gconv_plan_fallback(const gconv_plan *plan);

/* Whether gconv_plan_create would choose anew for the plan's job: the plan's device is dropped, or
 * the plan is on the CPU because the GPUs were still starting and now are there. That happens if
 * the job says "auto", several images are computed at one time, and the chain is exact: images need
 * not wait for the start, since every device gives the same bits. The plan can still be run. */
GCONV_API bool gconv_plan_is_outdated(const gconv_plan *plan);

/* Whether the chain is exact: weights are whole numbers, samples integers, and all sums stay below
 * 2^24. Then every implementation gives the same bits. */
GCONV_API bool gconv_plan_is_exact(const gconv_plan *plan);

/* What is promised of the output of a plan (contract.md, rule 99). */
typedef enum gconv_promise {
    GCONV_PROMISE_BOUNDED,      /* it differs from the reference's by rounding errors, which have a
                                 * bound: rule 4 */
    GCONV_PROMISE_ROUNDED_ONCE, /* every sample is the true result, rounded once: the same on every
                                 * device that promises this */
    GCONV_PROMISE_EXACT         /* the same, and the chain is exact: every implementation gives the
                                 * same bits */
} gconv_promise;

GCONV_API gconv_promise gconv_plan_promise(const gconv_plan *plan);

/* "bounded", "rounded once" or "exact"; "unknown" for other values. */
GCONV_API const char *gconv_promise_name(gconv_promise promise);

/* Waits until the device has started and its kernels are compiled. Without this call the first run
 * waits for that. *compile_seconds becomes the time that compiling took, 0 if nothing was compiled.
 * It may be NULL. Fails as a run would, unless another device takes over (see
 * gconv_plan_fallback). */
GCONV_API gconv_status gconv_plan_prepare(gconv_plan *plan, double *compile_seconds,
                                          gconv_error *error);

/* A callback that gets the part of a run that is done: from 0 to 1, never less than before. `user`
 * is that of gconv_plan_watch. Return true to go on. Return false to end the run, which then
 * returns GCONV_ERROR_CANCELLED. Only one thread at a time calls the function, but not always the
 * same thread. The function must not use the plan. */
typedef bool gconv_progress_function(void *user, double done);

/* Makes `function` follow the plan's later runs and conversions. NULL ends that. The function is
 * called whenever rows have gone to the sink or into the output. The reference calls it while it
 * computes, too. Other implementations give their first rows early on a CPU, and late on a GPU. */
GCONV_API void gconv_plan_watch(gconv_plan *plan, gconv_progress_function *function, void *user);

/* A callback. `waits` is true if a run begins to wait for a device or for memory that other runs
 * hold, and false if the run goes on. The thread that runs the plan calls it. `user` is that of
 * gconv_plan_on_wait. While a run waits, another thread may use the processor: a program that
 * computes many images at one time may have more threads than processors. */
typedef void gconv_wait_function(void *user, bool waits);

/* Makes `function` follow the plan's later runs. NULL ends that. */
GCONV_API void gconv_plan_on_wait(gconv_plan *plan, gconv_wait_function *function, void *user);

/* Convolves one image: takes all rows of the job's input shape from `source`, and hands all rows of
 * gconv_plan_output_shape to `sink`. `timings` may be NULL. A failure is that of source or sink, or
 * GCONV_ERROR_MEMORY, GCONV_ERROR_DEVICE or GCONV_ERROR_CANCELLED. */
GCONV_API gconv_status gconv_plan_run(gconv_plan *plan, const gconv_source *source,
                                      const gconv_sink *sink, gconv_timings *timings,
                                      gconv_error *error);

/* Computes rows `first` to `first + count - 1` of the output alone, and hands these to `sink`. They
 * have the bits that gconv_plan_run gives them. `source` gives the whole image: the run selects the
 * rows that it needs. It needs all rows if the border wraps, and for the implementation
 * `reference`. GCONV_ERROR_ARGUMENT if `count` is 0 or a row is outside the image.
 * GCONV_ERROR_UNSUPPORTED if the plan is on a GPU. */
GCONV_API gconv_status gconv_plan_run_rows(gconv_plan *plan, uint32_t first, uint32_t count,
                                           const gconv_source *source, const gconv_sink *sink,
                                           gconv_timings *timings, gconv_error *error);

/* Convolves one image from memory to memory. A GPU reads and writes this memory in place; pinned
 * memory is the fastest (gconv_memory_allocate). `input` has the job's input shape, `output` has
 * room for gconv_plan_output_shape. Strides are bytes from row to row. A row of the output may
 * overlap the same row of the input and rows above that. So `output` may be `input`, with the same
 * stride. GCONV_ERROR_ARGUMENT if a row of the output overlaps a lower row of the input, or a
 * stride is less than a row. `timings` may be NULL. */
GCONV_API gconv_status gconv_plan_run_memory(gconv_plan *plan, const void *input,
                                             size_t input_stride, void *output,
                                             size_t output_stride, gconv_timings *timings,
                                             gconv_error *error);

/* Convolves one image from memory of a GPU to memory of this GPU, without the CPU. `input` and
 * `output` are addresses in memory of the plan's device (gconv_plan_device), or in managed memory.
 * Shapes, strides and overlaps are those of gconv_plan_run_memory. Any address and any stride is
 * allowed. An image without gaps is read and written in place if it begins at a multiple of 16
 * bytes and its rows are multiples of 32 samples (of 128 at depth 1). Other images are copied on
 * the device, and so is an input that overlaps the output. No byte outside the output's rows is
 * written.
 *
 * `stream` is a cudaStream_t of this device, NULL for the default stream. The function enqueues
 * work and returns. The work begins when all earlier work in the stream is done. Later work in the
 * stream finds the output complete. The caller keeps both images until then. Errors of the work
 * itself show in later calls of CUDA. The plan can be used again at once, in any stream: its runs
 * wait for each other on the device. The stream must not be capturing a graph.
 *
 * The calling thread waits in these cases:
 * - The plan's first run waits for what gconv_plan_prepare waits for, and allocates memory of the
 *   device.
 * - A run whose images lie otherwise than before may need larger buffers. It then may wait for all
 *   work on the device, and so may a first run if the device is short of memory.
 * - A run that fails waits for the work in the stream.
 * - gconv_plan_free waits for the plan's runs.
 *
 * The plan keeps its buffers until it is freed. No other device takes over.
 * - GCONV_ERROR_UNSUPPORTED: the plan is on the CPU, or the CPU makes a part of this job: grey of
 *   colours for edges, output of depth 1 with alpha, and divisors beyond 2^500 or below 2^-500.
 * - GCONV_ERROR_ARGUMENT: an address is not memory of this device, a stride is less than a row, or
 *   the images overlap otherwise.
 * - GCONV_ERROR_MEMORY: the device has no memory for the buffers that the whole image needs.
 * - GCONV_ERROR_DEVICE: a call of CUDA failed. */
GCONV_API gconv_status gconv_plan_run_device(gconv_plan *plan, const void *input,
                                             size_t input_stride, void *output,
                                             size_t output_stride, void *stream,
                                             gconv_error *error);

/* ---- Memory for images ----------------------------------------------------------------------- */

/* Pinned memory is memory that the system never moves: a GPU copies from it and to it by itself, at
 * the full speed of the bus. gconv_plan_run_memory takes pinned memory, other memory, and any part
 * of either. */

/* *memory becomes `bytes` bytes of zeros: pinned for all GPUs if a GPU can be used and the system
 * allows that, else ordinary memory. They begin at a multiple of 4096, from 2 MiB on at a multiple
 * of 2 MiB. Starts the CUDA driver. The caller frees them with gconv_memory_free.
 * GCONV_ERROR_ARGUMENT for 0 bytes, GCONV_ERROR_MEMORY if memory is short. */
GCONV_API gconv_status gconv_memory_allocate(size_t bytes, void **memory, gconv_error *error);

/* Frees what gconv_memory_allocate gave. No run may use it any more. Accepts NULL. */
GCONV_API void gconv_memory_free(void *memory);

/* Pins memory of the caller's for all GPUs; the memory must be writable. Starts the CUDA driver. If
 * no GPU can be used, the function does nothing and is GCONV_OK. One call must cover all rows of an
 * image. The caller calls gconv_memory_unregister before the memory is freed.
 * - GCONV_ERROR_ARGUMENT: `memory` is NULL, `bytes` is 0, or a part of the memory is registered.
 * - GCONV_ERROR_MEMORY, GCONV_ERROR_DEVICE: the system or CUDA refuses. The memory stays as it
 *   was. */
GCONV_API gconv_status gconv_memory_register(void *memory, size_t bytes, gconv_error *error);

/* Takes gconv_memory_register back. `memory` is the address that was registered. No run may use the
 * memory while this function runs. Accepts NULL. */
GCONV_API void gconv_memory_unregister(void *memory);

#ifdef __cplusplus
}
#endif

#endif
