/* gconv: convolution and edge detection of images, exact on every device. docs/contract.md says in
 * numbered rules what is computed.
 *
 * The library reads rows from a source, convolves them by a plan, and hands rows to a sink.
 * Readers and writers of image files are ready-made sources and sinks:
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
 * Every function that can fail returns a gconv_status and, when `error` is not NULL, leaves one
 * line of text there. The text does not name the file: the caller knows it. A null pointer among the
 * arguments or the members of a job is GCONV_ERROR_ARGUMENT where it is not said to be allowed; only
 * objects, and what is filled for the caller, must be there. Objects are freed by the function named
 * after them, which accepts NULL. Plans, readers and writers may be used by one thread at a time;
 * different objects by different threads.
 *
 * A plan on the CPU is run by the calling thread and by helpers, threads of the library's own. Any of
 * them may call source and sink, each of which is called by one at a time. Helpers sleep between
 * runs, block all signals but those of faults, and end when the process exits or the library is
 * unloaded, which must not happen during a run. Where the system gives no thread, or no memory for
 * one, a run makes do with those there are; the result is the same. A process may fork between runs and run
 * plans in the child.
 *
 * A gconv_job and the options of readers and writers start as their _default() says, and are then
 * changed: structures may grow, and a member that is 0 need not mean its default. Until 1.0 the
 * minor version is part of the shared library's name.
 */
#ifndef GCONV_H
#define GCONV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define GCONV_API __attribute__((visibility("default")))
#else
#define GCONV_API
#endif

/* ---- Version and errors ---------------------------------------------------------------------- */

/* "MAJOR.MINOR.PATCH" of the library in use. */
GCONV_API const char *gconv_version(void);

/* How this library was built: compiler, CUDA or not, codec libraries; one line. */
GCONV_API const char *gconv_build_description(void);

/* The libraries that read and write image files, with their versions; one line:
 * "libpng 1.6.39, zlib 1.2.13, libjpeg-turbo 2.1.5". Where another version is loaded than the library
 * was built with, the line names both. */
GCONV_API const char *gconv_codec_description(void);

typedef enum gconv_status {
    GCONV_OK = 0,
    GCONV_ERROR_MEMORY,      /* memory could not be had */
    GCONV_ERROR_ARGUMENT,    /* a value outside its range; a size that overflows */
    GCONV_ERROR_FILTER,      /* a filter text that cannot be read or used */
    GCONV_ERROR_OPEN,        /* a file that cannot be opened or is not there */
    GCONV_ERROR_READ,        /* a read failed */
    GCONV_ERROR_FORMAT,      /* not an image of a known format, or a corrupt one */
    GCONV_ERROR_LIMIT,       /* refused: larger than a limit */
    GCONV_ERROR_WRITE,       /* a write, sync, close or rename failed */
    GCONV_ERROR_EXISTS,      /* the output exists and must not be replaced */
    GCONV_ERROR_UNSUPPORTED, /* the implementation refuses this job */
    GCONV_ERROR_DEVICE,      /* the device or implementation is not usable here */
    GCONV_ERROR_CANCELLED,   /* a gconv_progress_function ended the run */
    GCONV_STATUS_COUNT
} gconv_status;

/* A fixed English phrase for a status; never NULL. */
GCONV_API const char *gconv_status_text(gconv_status status);

/* The one message of a failure. Set by whoever detects it, passed up unchanged. */
typedef struct gconv_error {
    gconv_status status;
    int line;          /* of a filter file, counted from 1; 0 where no line applies */
    char message[512]; /* one line without a newline; control characters escaped */
} gconv_error;

/* ---- Filters --------------------------------------------------------------------------------- */

enum { GCONV_FILTER_SIDE_MAX = 255 };

/* A matrix of weights. out(x,y) = 1/divisor * sum_j sum_i weights[j*width+i] * in(x-(i-anchor_x),
 * y-(j-anchor_y)). Filled by the functions below; a caller may also fill one by hand. */
typedef struct gconv_filter {
    char *name;     /* what people call it; owned; may be NULL */
    int width;      /* 1 to GCONV_FILTER_SIDE_MAX */
    int height;     /* 1 to GCONV_FILTER_SIDE_MAX */
    int anchor_x;   /* 0 to width-1 */
    int anchor_y;   /* 0 to height-1 */
    double divisor; /* finite, not 0 */
    double offset;  /* in 8-bit levels, added in the final conversion */
    bool has_offset;
    float *weights; /* row-major, width*height finite values; owned */
    /* How the text of a file or a string was read: "rows of weights", "a libvips matrix" or "an
     * ImageMagick string". Not owned; NULL for built-in, generated and hand-made filters. */
    const char *dialect;
    /* Rows of weights can also have the form of a libvips matrix: the size of that matrix, else 0. */
    int vips_width;
    int vips_height;
} gconv_filter;

/* A filter of zero weights: centre anchor (width/2, height/2), divisor 1, no offset. */
GCONV_API gconv_status gconv_filter_create(int width, int height, gconv_filter **filter,
                                           gconv_error *error);

/* Parses the text of a filter file, or an inline ImageMagick string (see gconv-filter(5)).
 * `name` (may be NULL) becomes the filter's name unless the text gives one. On error, error->line
 * is the line at fault. */
GCONV_API gconv_status gconv_filter_parse(const char *text, size_t length, const char *name,
                                          gconv_filter **filter, gconv_error *error);

/* Resolves what --kernel accepts: a path, a built-in name, a generator (gaussian:SIGMA[,SIZE],
 * box:N, box:WxH, log:SIGMA[,SIZE], identity) or an inline ImageMagick string, in that order. A
 * directory counts as no path. GCONV_ERROR_OPEN and GCONV_ERROR_READ: a file that is there cannot be
 * read. */
GCONV_API gconv_status gconv_filter_load(const char *specification, gconv_filter **filter,
                                         gconv_error *error);

GCONV_API void gconv_filter_free(gconv_filter *filter);

/* Sum of the weights over the divisor: what a constant image is multiplied by. */
GCONV_API double gconv_filter_gain(const gconv_filter *filter);

/* The filters compiled into the library, sorted by name. */
typedef struct gconv_builtin_filter {
    const char *name;    /* "gauss5" */
    const char *summary; /* the first comment line of its file */
    const char *text;    /* the whole file, NUL-terminated */
} gconv_builtin_filter;

GCONV_API size_t gconv_builtin_filter_count(void);
GCONV_API const gconv_builtin_filter *gconv_builtin_filter_at(size_t index); /* NULL beyond */

/* The generators: what makes filters of any size from parameters. */
typedef struct gconv_generator {
    const char *name;    /* "gaussian" */
    const char *usage;   /* "gaussian:SIGMA[,SIZE]" */
    const char *summary; /* one line for people */
} gconv_generator;

GCONV_API size_t gconv_generator_count(void);
GCONV_API const gconv_generator *gconv_generator_at(size_t index); /* NULL beyond */

/* ---- Borders --------------------------------------------------------------------------------- */

typedef enum gconv_border {
    GCONV_BORDER_MIRROR,    /* b a | a b c d */
    GCONV_BORDER_MIRROR101, /* c b | a b c d */
    GCONV_BORDER_REPLICATE, /* a a | a b c d */
    GCONV_BORDER_WRAP,      /* c d | a b c d */
    GCONV_BORDER_CONSTANT,  /* V V | a b c d */
    GCONV_BORDER_COUNT
} gconv_border;

GCONV_API const char *gconv_border_name(gconv_border border);

/* Reads a border name or alias, `constant:V` and `zero` included; *value is V (0 where none). */
GCONV_API gconv_status gconv_border_parse(const char *text, gconv_border *border, double *value,
                                          gconv_error *error);

/* ---- Rows in, rows out ----------------------------------------------------------------------- */

/* Rows of an image in memory: samples interleaved by channel, 1 byte (depth 8) or 2 bytes in host
 * order (depth 16) each. Depth 1 output: packed bits, most significant first, 1 is white. Depth 32
 * output: host-order float32. Samples are accessed as what they are: where rows are given with a
 * stride, both are multiples of the sample's size. */
typedef struct gconv_shape {
    uint32_t width;
    uint32_t height;
    int channels; /* 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha */
    int depth;    /* bits a sample: 8 or 16 (input); 1, 8, 16 or 32 (output) */
} gconv_shape;

/* Bytes of one row of this shape without padding; 0 if the shape is not valid or too large. */
GCONV_API size_t gconv_shape_row_bytes(const gconv_shape *shape);

/* Whether every pixel of `count` rows, `stride` bytes apart, is opaque: its alpha is 255 of 8 bits or
 * 65535 of 16. True for a shape without alpha. */
GCONV_API bool gconv_shape_is_opaque(const gconv_shape *shape, const void *rows, uint32_t count,
                                     size_t stride);

/* A producer of rows: fills `count` rows, `stride` bytes apart, the next ones from the top. A plan
 * calls it from one thread at a time, but not always from the same one; a source and a sink may be
 * called at the same time. Any status but GCONV_OK ends the run, and is what the run returns;
 * `error`, never NULL, should say why, else the status alone does. Neither exceptions nor longjmp
 * may pass through. */
typedef struct gconv_source {
    gconv_status (*read)(void *user, uint32_t count, void *rows, size_t stride, gconv_error *error);
    void *user;
} gconv_source;

/* A consumer of rows: takes the next `count` rows, `stride` bytes apart. Threads and failures as
 * above. */
typedef struct gconv_sink {
    gconv_status (*write)(void *user, uint32_t count, const void *rows, size_t stride,
                          gconv_error *error);
    void *user;
} gconv_sink;

/* ---- Image files ----------------------------------------------------------------------------- */

typedef enum gconv_format {
    GCONV_FORMAT_UNKNOWN = 0,
    GCONV_FORMAT_PNG,
    GCONV_FORMAT_JPEG,
    GCONV_FORMAT_PGM,
    GCONV_FORMAT_PPM,
    GCONV_FORMAT_PFM,
    GCONV_FORMAT_COUNT
} gconv_format;

GCONV_API const char *gconv_format_name(gconv_format format);    /* "png", "jpeg", ... */
GCONV_API gconv_format gconv_format_from_name(const char *name); /* "png", "jpg", "jpeg" */
GCONV_API gconv_format gconv_format_from_path(const char *path); /* by the extension */

/* By the first bytes of a file (16 are enough); GCONV_FORMAT_UNKNOWN where nothing readable. */
GCONV_API gconv_format gconv_format_from_content(const void *bytes, size_t count);

/* What files of a format are called and can hold. */
typedef struct gconv_format_info {
    const char *name;      /* "jpeg" */
    const char *extension; /* of file names, without the dot: "jpg" */
    bool reads;            /* gconv_reader_open takes it */
    bool writes;           /* gconv_writer_open takes it, and then: */
    int depths;            /* bits a sample: the sum of those of 1, 8, 16 and 32 that it can hold */
    int channels;          /* 1 or 3 where it holds nothing else; 0: both */
    bool alpha;            /* it can hold alpha, else that is dropped */
    bool several;          /* a file may hold several images, one behind the other */
} gconv_format_info;

/* NULL for GCONV_FORMAT_UNKNOWN. */
GCONV_API const gconv_format_info *gconv_format_describe(gconv_format format);

/* What an image file carries beside its pixels: ICC profile, resolution, EXIF, colour chunks. */
typedef struct gconv_metadata gconv_metadata;

typedef struct gconv_reader gconv_reader;

typedef struct gconv_reader_options {
    bool grey;           /* deliver one grey channel (Rec. 601 luma, or the JPEG's own Y) */
    bool auto_orient;    /* apply EXIF orientation to the pixels and reset it in the metadata */
    bool tolerant;       /* missing data at the end is a warning; what is missing reads as 0 */
    uint64_t max_pixels; /* refuse images of more than this, from the header */
    void (*warn)(void *user, const char *message); /* may be NULL */
    void *warn_user;
    /* Takes the damage that `tolerant` lets pass, with the same user; NULL: `warn` takes it. */
    void (*warn_damage)(void *user, const char *message);
} gconv_reader_options;

GCONV_API gconv_reader_options gconv_reader_options_default(void);

/* Opens `path` ("-" is standard input), finds the format by content and reads the header. `options`
 * may be NULL, for the default. */
GCONV_API gconv_status gconv_reader_open(const char *path, const gconv_reader_options *options,
                                         gconv_reader **reader, gconv_error *error);

/* Shape of the rows delivered (upright, grey if asked for); valid while the reader lives. */
GCONV_API const gconv_shape *gconv_reader_shape(const gconv_reader *reader);
GCONV_API gconv_format gconv_reader_format(const gconv_reader *reader);
GCONV_API const gconv_metadata *gconv_reader_metadata(const gconv_reader *reader);

/* The next `count` rows. */
GCONV_API gconv_status gconv_reader_read(gconv_reader *reader, uint32_t count, void *rows,
                                         size_t stride, gconv_error *error);

/* After the last row: reads to the end of the image and reports what is missing or corrupt. */
GCONV_API gconv_status gconv_reader_finish(gconv_reader *reader, gconv_error *error);

/* After gconv_reader_finish: goes on to the next image where another PNM image follows, blanks between
 * them passed over, and sets *more. Shape, format, metadata and rows are then those of that image,
 * and sources stay valid. Where a pipe is open and nothing has come yet it waits. *more is false at
 * the end of the input, before other bytes (with a warning, unless gconv_reader_finish gave it), and
 * after images of other formats. On failure *more tells whether an image follows that could not be
 * opened; else the input failed before it was known. */
GCONV_API gconv_status gconv_reader_next(gconv_reader *reader, bool *more, gconv_error *error);

GCONV_API gconv_source gconv_reader_source(gconv_reader *reader);
GCONV_API void gconv_reader_free(gconv_reader *reader);

typedef struct gconv_writer gconv_writer;

typedef enum gconv_keep {
    GCONV_KEEP_NOTHING = 0,    /* pixels only */
    GCONV_KEEP_RESOLUTION = 1, /* resolution only */
    GCONV_KEEP_ALL = 2         /* ICC profile, resolution, EXIF, colour chunks */
} gconv_keep;

typedef struct gconv_writer_options {
    gconv_format format;
    gconv_shape shape; /* of the rows that will be written; depth 1, 8, 16, or 32 for PFM only */
    int quality;       /* JPEG, 1 to 100 */
    int compression;   /* PNG, 0 to 9; -1 is the fast default */
    const gconv_metadata *metadata;                /* copied at open; may be NULL */
    gconv_keep keep;                               /* how much of `metadata` is written */
    bool no_clobber;                               /* GCONV_ERROR_EXISTS where the output exists */
    bool sync;                                     /* flush to the disk before the rename */
    void (*warn)(void *user, const char *message); /* may be NULL */
    void *warn_user;
} gconv_writer_options;

GCONV_API gconv_writer_options gconv_writer_options_default(void);

/* Opens an output ("-" is standard output). A regular file is written beside its final place under
 * a temporary name and takes its name in gconv_writer_finish, whole; a FIFO or device is written
 * to directly. A symbolic link is kept and its target replaced. `options` NULL is the default, which
 * is refused: it has neither format nor shape. */
GCONV_API gconv_status gconv_writer_open(const char *path, const gconv_writer_options *options,
                                         gconv_writer **writer, gconv_error *error);
GCONV_API gconv_status gconv_writer_write(gconv_writer *writer, uint32_t count, const void *rows,
                                          size_t stride, gconv_error *error);

/* After the last row: begins another image in the same output, behind the one before. Format (PGM,
 * PPM or PFM, as that of the image before) and shape are those of `options`, which say nothing
 * else. To a pipe or a device each image goes out with its last row. */
GCONV_API gconv_status gconv_writer_next(gconv_writer *writer, const gconv_writer_options *options,
                                         gconv_error *error);

/* Completes the file and gives it its name. Fails when fewer rows came than the shape says. */
GCONV_API gconv_status gconv_writer_finish(gconv_writer *writer, gconv_error *error);

GCONV_API gconv_sink gconv_writer_sink(gconv_writer *writer);

/* Frees the writer; an unfinished file is removed. */
GCONV_API void gconv_writer_free(gconv_writer *writer);

/* Removes every unfinished output of this process and lets no new one begin. Async-signal-safe:
 * made for signal handlers that end the process. */
GCONV_API void gconv_abandon_outputs(void);

/* ---- Devices and implementations ------------------------------------------------------------- */

typedef enum gconv_device_kind { GCONV_DEVICE_CPU, GCONV_DEVICE_CUDA } gconv_device_kind;

/* What the published tables say of a device; a figure that is not known is 0. */
typedef struct gconv_device_info {
    gconv_device_kind kind;
    int index; /* N of cuda:N; 0 for the CPU */
    char name[128];
    bool usable;
    char reason[256]; /* why it is not usable; empty if it is */
    int compute_major, compute_minor;
    int processors; /* streaming multiprocessors, or logical CPUs */
    int clock_khz;
    int memory_clock_khz;
    int memory_bus_bits;
    double memory_bandwidth; /* bytes a second, from clock and bus */
    uint64_t memory_bytes;
    uint64_t l2_bytes;
    uint64_t constant_bytes;
    uint64_t shared_per_block;       /* bytes without opting in */
    uint64_t shared_per_block_optin; /* bytes a kernel may opt in to */
    uint64_t shared_per_processor;
    int registers_per_block;
    int registers_per_processor;
    int threads_per_processor;
    int threads_per_block;
    int blocks_per_processor;
    int warp_size;
    int driver_version; /* CUDA's numbering, 13000 is 13.0 */
    int runtime_version;
} gconv_device_info;

/* Number of devices: the CPU first, then the CUDA devices found (starting the driver). */
GCONV_API int gconv_device_count(void);
GCONV_API gconv_status gconv_device_describe(int index, gconv_device_info *info,
                                             gconv_error *error);

/* Peak of a CUDA device in float32 operations a second, a multiply-add being two; 0 for the CPU. */
GCONV_API double gconv_device_peak(const gconv_device_info *info);

/* Why there is no CUDA device, or "" where there is one. */
GCONV_API const char *gconv_cuda_reason(void);

/* Version of NVRTC, which compiles kernels for one filter, in CUDA's numbering: 12040 is 12.4. 0 where
 * it cannot be loaded. The first call loads it, which takes milliseconds, from a cold disk half a
 * second. */
GCONV_API int gconv_nvrtc_version(void);

/* What the `device` of a job says. */
typedef struct gconv_device_choice {
    bool any;               /* "auto": the library chooses */
    gconv_device_kind kind; /* where not any */
    int index;              /* N of "cuda:N"; 0 for "cuda" and "cpu" */
} gconv_device_choice;

/* Reads "auto", "cpu", "cuda" or "cuda:N"; NULL is "auto". GCONV_ERROR_ARGUMENT for other texts. The
 * device need not be there. */
GCONV_API gconv_status gconv_device_parse(const char *text, gconv_device_choice *choice,
                                          gconv_error *error);

/* A set of vector instructions that code for the CPU was compiled for. */
typedef struct gconv_instructions_info {
    const char *name; /* "avx512", "avx2", "portable" */
    bool usable;      /* this processor has it */
    bool chosen;      /* plans use it: the best usable one, or that of GCONV_INSTRUCTIONS */
} gconv_instructions_info;

/* The sets of this build, the best first; the last one is usable everywhere. */
GCONV_API int gconv_instructions_count(void);
GCONV_API gconv_status gconv_instructions_describe(int index, gconv_instructions_info *info,
                                                   gconv_error *error);

typedef struct gconv_implementation_info {
    const char *name;
    const char *summary;
    const char *limits;     /* what it refuses, in words; "" when nothing */
    gconv_device_kind kind; /* what it runs on */
    bool usable;
    char reason[256];     /* why it is not usable here; empty if it is */
    bool follows_threads; /* what it does depends on the job's `threads`, */
    bool follows_block;   /* `block_width` and `block_height`, */
    bool follows_tile;    /* or `tile`; else these have no effect on it */
} gconv_implementation_info;

GCONV_API int gconv_implementation_count(void);

/* The name of implementation `index`; NULL beyond the last one. Unlike the description below it
 * never starts the CUDA driver. */
GCONV_API const char *gconv_implementation_name(int index);
GCONV_API gconv_status gconv_implementation_describe(int index, gconv_implementation_info *info,
                                                     gconv_error *error);

/* ---- Jobs and plans -------------------------------------------------------------------------- */

typedef enum gconv_alpha {
    GCONV_ALPHA_KEEP,        /* alpha passes through unchanged */
    GCONV_ALPHA_FILTER,      /* alpha is a channel like the others */
    GCONV_ALPHA_PREMULTIPLY, /* colour weighted by alpha is convolved and divided again */
    GCONV_ALPHA_AUTO         /* PREMULTIPLY or KEEP, as gconv_alpha_resolve says */
} gconv_alpha;

typedef enum gconv_rule { GCONV_RULE_ABS, GCONV_RULE_POSITIVE, GCONV_RULE_NEGATIVE } gconv_rule;

typedef enum gconv_output {
    GCONV_OUTPUT_SAMPLES, /* filter: scale * value + offset, clamped, rounded */
    GCONV_OUTPUT_EDGES    /* edges: white where the response passes the threshold */
} gconv_output;

/* Everything that decides what is computed, and on what. */
typedef struct gconv_job {
    /* The chain: applied in order, each meeting the border of its own input. Not owned; must live
     * as long as the plan. */
    const gconv_filter *const *filters;
    int filter_count;
    bool correlate;
    gconv_border border;
    double border_value; /* of a constant border, in 8-bit levels */

    gconv_shape input; /* depth 8 or 16 */
    /* For 2 and 4 channels. AUTO is GCONV_ERROR_ARGUMENT where gconv_alpha_needs_pixels. */
    gconv_alpha alpha;

    gconv_output output;
    int output_depth; /* 1, 8, 16 or 32 (float32, in samples of the input's depth) */
    double scale;     /* samples: v = scale * value + offset */
    double offset;    /* samples: in 8-bit levels; the chain's own offset where !has_offset */
    bool has_offset;
    bool absolute;    /* samples: |value| instead of value */
    double threshold; /* edges: in 8-bit levels */
    gconv_rule rule;  /* edges */
    bool invert;      /* edges: black edges on white */

    const char *implementation; /* a registry name or "auto" */
    const char *device;         /* "auto", "cpu", "cuda" or "cuda:N" */
    int threads;                /* CPU threads at most; 0 is what affinity and quota allow */
    int tile;                   /* tiling factor; 0 is the implementation's own */
    int block_width;            /* thread block of 1 to 1024 threads; both sides 0 */
    int block_height;           /* are the implementation's own */
    uint64_t runs; /* how often the plan will be run, as far as is known; 0 is once. What is
                    * worth its preparation depends on it */

    /* Rows are decoded from a file and encoded into one while they are computed. Where `threads` is 0
     * a small image then is computed by one thread, since more would wait for its decoder. */
    bool between_files;
    /* Images that this process computes at one time, each by a plan and in a thread of its own. 0 and
     * 1: one. With more, `auto` chooses as for an image that has all `threads`, since all images
     * together are as fast as that; a plan on the CPU then gets its share of them, at least one
     * thread; and a plan on a GPU waits in gconv_plan_create until no other such plan has a GPU, and
     * keeps it until it is freed. A thread must therefore free such a plan before it makes another. */
    int images_at_once;
} gconv_job;

GCONV_API gconv_job gconv_job_default(void);

/* Checks a job as gconv_plan_create does, and prepares nothing: no memory of a device is taken, no
 * kernel compiled. What an implementation finds out only when it prepares shows later. */
GCONV_API gconv_status gconv_job_check(const gconv_job *job, gconv_error *error);

/* Whether GCONV_ALPHA_AUTO depends on the pixels of this job's image: the job has AUTO, the image has
 * alpha, and the gain of the chain is 1 within 1e-6. */
GCONV_API bool gconv_alpha_needs_pixels(const gconv_job *job);

/* What the job's alpha stands for: itself unless it is GCONV_ALPHA_AUTO. AUTO is PREMULTIPLY where
 * gconv_alpha_needs_pixels and `opaque`, which says so of all pixels, is false; else KEEP. */
GCONV_API gconv_alpha gconv_alpha_resolve(const gconv_job *job, bool opaque);

typedef struct gconv_plan gconv_plan;

/* Seconds spent, added to what is there. Stages overlap: their sum may exceed the total. */
typedef struct gconv_timings {
    double decode;   /* in the source */
    double upload;   /* to the device */
    double compute;  /* conversion of samples included; on the CPU the sum over threads */
    double download; /* from the device */
    double encode;   /* in the sink */
    double total;    /* from start to end */
} gconv_timings;

/* Checks the job, chooses an implementation where the job leaves it open, and prepares it. A named
 * implementation that cannot do the job is GCONV_ERROR_UNSUPPORTED, one that cannot run here
 * GCONV_ERROR_DEVICE; `auto` always finds one. A chain whose values can exceed float32 is
 * GCONV_ERROR_FILTER. */
GCONV_API gconv_status gconv_plan_create(const gconv_job *job, gconv_plan **plan,
                                         gconv_error *error);
GCONV_API void gconv_plan_free(gconv_plan *plan);

/* The implementation that runs, the device that it runs on, and the shape of the rows that come out.
 * Implementation and device change in a run where the CPU takes over (see gconv_plan_fallback). What
 * the pointers lead to lives as long as the plan. */
GCONV_API const char *gconv_plan_implementation(const gconv_plan *plan);
GCONV_API const gconv_device_info *gconv_plan_device(const gconv_plan *plan);
GCONV_API const gconv_shape *gconv_plan_output_shape(const gconv_plan *plan);

/* Seconds that one run is expected to take, transfers included: the estimate that `auto` compares. */
GCONV_API double gconv_plan_expected_seconds(const gconv_plan *plan);

/* Why this device and implementation: lines of text, one a candidate, with estimated times. Valid
 * until the plan's next run, which may add a line. */
GCONV_API const char *gconv_plan_explanation(gconv_plan *plan);

/* Why the CPU took over from the device that `auto` had chosen, in the latest run or an earlier one:
 * the plan has run on the CPU since. "" where it did not. */
GCONV_API const char *gconv_plan_fallback(const gconv_plan *plan);

/* True when the arithmetic is exact (integer weights and samples, magnitudes under 2^24), so that
 * every implementation gives the same bits. */
GCONV_API bool gconv_plan_is_exact(const gconv_plan *plan);

/* Waits until the plan can run at once: a device is started, its kernels are compiled. The first run
 * waits for that too. `compile_seconds` gets the seconds that compiling took, 0 where nothing was
 * compiled, and may be NULL. A failure is the one that a run would report; under `auto` the CPU takes
 * over (see gconv_plan_fallback). */
GCONV_API gconv_status gconv_plan_prepare(gconv_plan *plan, double *compile_seconds,
                                          gconv_error *error);

/* Is told how much of a run is done, from 0 to 1, never less than the time before. False ends the run,
 * which then returns GCONV_ERROR_CANCELLED. It is called by one thread at a time, but not always by
 * the same one, and must not use the plan. */
typedef bool gconv_progress_function(void *user, double done);

/* Has `function` told of the plan's later runs and conversions; NULL: nobody. It is called whenever
 * rows have gone to the sink or into the output, and by the reference while it computes; other
 * implementations give their first rows early on a CPU, and late on a GPU. */
GCONV_API void gconv_plan_watch(gconv_plan *plan, gconv_progress_function *function, void *user);

/* Convolves one image. A plan may be run any number of times. `timings` may be NULL. */
GCONV_API gconv_status gconv_plan_run(gconv_plan *plan, gconv_source source, gconv_sink sink,
                                      gconv_timings *timings, gconv_error *error);

/* The same on images in memory, which must not overlap. Strides are in bytes and at least a row. */
GCONV_API gconv_status gconv_plan_run_memory(gconv_plan *plan, const void *input,
                                             size_t input_stride, void *output,
                                             size_t output_stride, gconv_timings *timings,
                                             gconv_error *error);

/* Channels that are convolved: the colours, and alpha unless it is kept. */
GCONV_API int gconv_plan_chain_channels(const gconv_plan *plan);

/* Runs the chain without the final conversion: undivided float32 values, chain_channels
 * interleaved, rows `chain_stride` bytes apart, not overlapping the input. What verification
 * compares. */
GCONV_API gconv_status gconv_plan_run_chain(gconv_plan *plan, const void *input,
                                            size_t input_stride, float *chain, size_t chain_stride,
                                            gconv_timings *timings, gconv_error *error);

/* The final conversion of chain values to output rows. `input` is needed where alpha is kept, else it
 * may be NULL. */
GCONV_API gconv_status gconv_plan_convert(const gconv_plan *plan, const float *chain,
                                          size_t chain_stride, const void *input,
                                          size_t input_stride, gconv_sink sink, gconv_error *error);

/* Median seconds of the chain on a device alone: values in its memory to values in its memory,
 * without transfers or conversion of samples, caches emptied before each of the many runs that fit
 * in `seconds`. GCONV_ERROR_UNSUPPORTED for implementations on the CPU. */
GCONV_API gconv_status gconv_plan_time_device(gconv_plan *plan, const void *input,
                                              size_t input_stride, double seconds, double *median,
                                              gconv_error *error);

/* Floating-point operations a byte of device memory by the published model of the implementation
 * (van Werkhoven et al. 2014, equations 1 and 2; KTH 2018, equations 9 to 14); 0 where there is
 * none. */
GCONV_API double gconv_plan_intensity(gconv_plan *plan);

/* The roofline: floating-point operations a second that intensity and device allow at most; 0 where
 * there is no model. */
GCONV_API double gconv_plan_roofline(gconv_plan *plan);

/* ---- Verification ---------------------------------------------------------------------------- */

typedef struct gconv_difference {
    bool within;    /* no value differs by more than the bound */
    double bound;   /* 0 where the chain is exact */
    double largest; /* largest |a - b|, in chain values over the product of the divisors */
    uint32_t x, y;  /* where it is */
    int channel;
    uint64_t mismatches; /* values beyond the bound */
} gconv_difference;

/* Compares chain values with those of the reference under the plan's bound: bit equality where the
 * chain is exact, else the float32 summation error of every step, propagated through the chain.
 * `chain` and `reference` are as gconv_plan_run_chain leaves them: chain_channels interleaved, rows
 * `chain_stride` bytes apart. `input` is the image that both were computed from. */
GCONV_API gconv_status gconv_plan_compare(const gconv_plan *plan, const void *input,
                                          size_t input_stride, const float *chain,
                                          const float *reference, size_t chain_stride,
                                          gconv_difference *difference, gconv_error *error);

#ifdef __cplusplus
}
#endif

#endif
