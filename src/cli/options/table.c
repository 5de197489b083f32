#include "cli/options/table.h"

#include "base/status.h"
#include "cli/options/effects.h"
#include "cli/options/values.h"

#include <float.h>
#include <stddef.h>
#include <string.h>

enum {
    EDGES = GC_COMMAND_EDGES,
    FILTER = GC_COMMAND_FILTER,
    SKETCH = GC_COMMAND_SKETCH,
    THIN = GC_COMMAND_THIN,
    CHECK = GC_COMMAND_CHECK,
    COMPARE = GC_COMMAND_COMPARE,
    BENCH = GC_COMMAND_BENCH,
    TUNE = GC_COMMAND_TUNE,
    KERNEL = GC_COMMAND_KERNEL,
    INFO = GC_COMMAND_INFO,
    IMAGES = GC_COMMANDS_OF_IMAGES,
    MEASURES = GC_COMMANDS_THAT_MEASURE,
    COMPUTES = IMAGES | MEASURES,
    WORKS = COMPUTES | CHECK | TUNE,
    ALL = 0,
};

enum {
    DECIDES = GC_OPTION_DECIDES,
    KEEPS = GC_OPTION_KEEPS,
    REPEATS = GC_OPTION_REPEATS,
    BATCH = GC_OPTION_BATCH,
    ALONE = GC_OPTION_ALONE,
    CONVOLVES = GC_OPTION_CONVOLVES,
    OFFERS_ALONE = GC_OPTION_OFFERS_ALONE,
    TELLS = GC_OPTION_TELLS,
};

/* ---- Values ---------------------------------------------------------------------------------- */

/* The offset of a field of gc_options that has the size of `type`. */
#define FIELD(name, type)                                                                          \
    (offsetof(gc_options, name) +                                                                  \
     0 * sizeof(char[sizeof(((gc_options *)NULL)->name) == sizeof(type) ? 1 : -1]))
#define VALUE(what, name, type) .value.kind = GC_VALUE_##what, .value.field = FIELD(name, type)
#define WORDS_OF(...)                                                                              \
    .value.words = (const gc_word[])                                                               \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            NULL, 0                                                                                \
        }                                                                                          \
    }
#define RANGE(from, to) .value.low = (from), .value.high = (to)

#define SET(name) VALUE(SET, name, bool)
#define CLEAR(name) VALUE(CLEAR, name, bool)
#define WORD(name, ...) VALUE(WORD, name, int), WORDS_OF(__VA_ARGS__)
#define CHOICE(name, ...) VALUE(CHOICE, name, const char *), WORDS_OF(__VA_ARGS__)
#define WHOLE(name, from, to) VALUE(WHOLE, name, int), RANGE(from, to)
#define COUNT(name) VALUE(COUNT, name, uint64_t)
#define NUMBER(name, from, to) VALUE(NUMBER, name, double), RANGE(from, to)
#define FRACTION(name, from, to) VALUE(FRACTION, name, double), RANGE(from, to)
#define ABOVE(name, from, to) VALUE(ABOVE, name, double), RANGE(from, to)
#define TEXT(name) VALUE(TEXT, name, const char *)
#define FILE_NAME(name) VALUE(FILE, name, const char *)
#define DIRECTORY_NAME(name) VALUE(DIRECTORY, name, const char *)
#define READ(function) .value.kind = GC_VALUE_READ, .value.read = (function)

#define MEANINGS (const gc_meaning[])

#define COLOURS                                                                                    \
    "white black grey gray silver red maroon yellow olive lime green aqua teal blue navy fuchsia " \
    "purple"

/* ---- Options --------------------------------------------------------------------------------- */

static const gc_option options_table[] = {
    {"kernel", 'k', "K", FILTER | MEASURES | KERNEL, READ(gc_set_kernel),
     .marks = DECIDES | REPEATS | CONVOLVES,
     .help = "filter: file, built-in name, generator or ImageMagick string; repeat for a chain",
     .offers = "FILE FILTERS box: gaussian: log:", .section = "What is computed",
     .meanings =
         MEANINGS{{COMPARE,
                   "filter, as for gconv filter; repeat for a chain (default: the chain of edges)",
                   NULL},
                  {BENCH,
                   "filter, as for gconv filter; repeat for a chain (default: the chain of edges, "
                   "and filters with sides from 3 to 43)",
                   NULL},
                  {KERNEL,
                   "filter, as for gconv filter; operands are filters, too; several are a chain "
                   "(default: the chain of edges)",
                   NULL},
                  {0}}},
    {"threshold", 't', "T", EDGES | COMPARE, READ(gc_set_threshold), .marks = DECIDES,
     .help = "a pixel is an edge if |response| > T, in 8-bit levels (default 5, gradient 100; see "
             "--rule); N%: at most N per cent of the pixels are edges; auto: found from the image",
     .offers = "auto",
     .meanings = MEANINGS{{COMPARE,
                           "a pixel is an edge if |response| > T, in 8-bit levels (default 5)", ""},
                          {0}},
     .affects = GC_MET_EDGES, .unless = "--kernel takes the place of edges"},
    {"method", 0, "M", EDGES | COMPARE,
     WORD(detector.method, {"laplace", GCONV_METHOD_LAPLACE},
          {"zero-crossing", GCONV_METHOD_ZERO_CROSSING}, {"gradient", GCONV_METHOD_GRADIENT},
          {"canny", GCONV_METHOD_CANNY}),
     .marks = DECIDES,
     .help = "how edges are found: laplace (default), zero-crossing, gradient or canny",
     .affects = GC_MET_EDGES, .unless = "--kernel takes the place of edges"},
    {"operator", 0, "OP", EDGES | COMPARE,
     WORD(detector.derivative, {"sobel", GCONV_OPERATOR_SOBEL}, {"scharr", GCONV_OPERATOR_SCHARR},
          {"prewitt", GCONV_OPERATOR_PREWITT}, {"sobel5", GCONV_OPERATOR_SOBEL5},
          {"sobel7", GCONV_OPERATOR_SOBEL7}),
     .marks = DECIDES,
     .help =
         "gradient of gradient and canny: sobel (default), scharr or prewitt; sobel5 and sobel7 "
         "with --like opencv",
     .affects = GC_MET_EDGES, .unless = "--kernel takes the place of edges"},
    {"norm", 0, "N", EDGES | COMPARE,
     WORD(detector.norm, {"l1", GCONV_NORM_L1}, {"l2", GCONV_NORM_L2}), .marks = DECIDES,
     .help = "magnitude of a gradient: l1, |gx| + |gy| (default), or l2, the root of gx^2 + gy^2",
     .affects = GC_MET_EDGES, .unless = "--kernel takes the place of edges"},
    {"low", 0, "T", EDGES | COMPARE, READ(gc_set_low), .marks = DECIDES,
     .help = "canny: magnitude above which a line goes on, in 8-bit levels (default 50); auto: 0.4 "
             "times --high",
     .offers = "auto",
     .meanings =
         MEANINGS{{COMPARE,
                   "canny: magnitude above which a line goes on, in 8-bit levels (default 50)", ""},
                  {0}},
     .affects = GC_MET_EDGES, .unless = "--kernel takes the place of edges"},
    {"high", 0, "T", EDGES | COMPARE, READ(gc_set_high), .marks = DECIDES,
     .help = "canny: magnitude above which a line begins, in 8-bit levels (default 100); auto: "
             "found from the image, and --low, too",
     .offers = "auto",
     .meanings =
         MEANINGS{{COMPARE,
                   "canny: magnitude above which a line begins, in 8-bit levels (default 100)", ""},
                  {0}},
     .affects = GC_MET_EDGES, .unless = "--kernel takes the place of edges"},
    {"like", 0, "PROGRAM", EDGES | COMPARE, WORD(detector.like, {"opencv", GCONV_LIKE_OPENCV}),
     .marks = DECIDES,
     .help =
         "canny byte for byte as a program, of grey images: opencv, cv2.Canny(image, LOW, HIGH), "
         "without a blur",
     .affects = GC_MET_EDGES, .unless = "--kernel takes the place of edges"},
    {"sigma", 0, "S", EDGES | SKETCH, READ(gc_set_sigma), .marks = DECIDES,
     .help = "standard deviation of the blur: S pixels, or with S% per cent of the longer side "
             "(default: gauss5 is the blur)",
     .meanings = MEANINGS{{SKETCH,
                           "how fine details are: S pixels, 0.3 to 10, or with S% per cent of the "
                           "longer side (default: found from the size)",
                           NULL},
                          {0}}},
    {"ink", 0, "COLOUR", SKETCH, READ(gc_set_ink), .marks = DECIDES,
     .help = "colour of the lines: a name such as black (default) or navy, a grey from 0 to 255, "
             "#RGB or #RRGGBB",
     .offers = COLOURS},
    {"paper", 0, "COLOUR", SKETCH, READ(gc_set_paper), .marks = DECIDES,
     .help = "colour behind the lines: white (default) or another one, or transparent",
     .offers = COLOURS " transparent"},
    {"lines", 0, "KIND", SKETCH, WORD(draw.lines, {"ink", GC_LINES_INK}, {"thin", GC_LINES_THIN}),
     .marks = DECIDES,
     .help = "lines of a sketch: ink (default), with shades, or thin lines alone"},
    {"thin", 0, NULL, EDGES, SET(draw.thin), .marks = DECIDES,
     .help = "thin edges to lines one pixel wide"},
    {"min-length", 0, "N", EDGES | SKETCH | THIN, COUNT(draw.least), .marks = DECIDES,
     .help = "leave out marks of fewer than N pixels that touch",
     .meanings =
         MEANINGS{{SKETCH, "leave out lines of fewer than N pixels (with --lines thin)", NULL},
                  {0}}},
    {"overlay", 0, "COLOUR", EDGES, READ(gc_set_overlay), .marks = DECIDES,
     .help =
         "draw the edges over the picture, in this colour: a name, a grey from 0 to 255, #RGB or "
         "#RRGGBB",
     .offers = COLOURS},
    {"values", 0, NULL, EDGES, SET(draw.values), .marks = DECIDES,
     .help = "write responses instead of edges: in 16 bits an eighth of them around mid-grey, in "
             "PFM as they are"},
    {"grey", 0, NULL, FILTER, SET(reader.grey), .marks = DECIDES,
     .help = "make the image grey before it is convolved"},
    {"rule", 0, "R", EDGES,
     WORD(job.rule, {"abs", GCONV_RULE_ABS}, {"positive", GCONV_RULE_POSITIVE},
          {"negative", GCONV_RULE_NEGATIVE}),
     .marks = DECIDES,
     .help = "side of the response that counts: abs (default), positive or negative"},
    {"invert", 0, NULL, EDGES | THIN, SET(job.invert), .marks = DECIDES,
     .help = "black edges on white"},
    {"border", 'b', "MODE", COMPUTES & ~(unsigned)THIN, READ(gc_set_border),
     .marks = DECIDES | CONVOLVES,
     .help = "what lies outside the image: mirror (default), mirror101, replicate, wrap, "
             "constant[:V] or "
             "zero",
     .offers = "mirror mirror101 replicate wrap constant constant: zero"},
    {"correlate", 0, NULL, FILTER | MEASURES, SET(job.correlate), .marks = DECIDES | CONVOLVES,
     .help = "correlate instead of convolving"},
    {"scale", 0, "S", FILTER, FRACTION(job.scale, -DBL_MAX, DBL_MAX), .marks = DECIDES,
     .help = "multiply the result by S (default 1)"},
    {"offset", 0, "O", FILTER, FRACTION(job.offset, -DBL_MAX, DBL_MAX), .marks = DECIDES,
     .help = "add O to the result, in 8-bit levels (default: the offset of the last filter)"},
    {"abs", 0, NULL, FILTER, SET(job.absolute), .marks = DECIDES,
     .help = "take the absolute value before scale and offset"},
    {"exact", 0, NULL, EDGES | SKETCH | FILTER, SET(job.exact), .marks = DECIDES,
     .help = "round the true result once, however long it takes; refuse what nothing rounds once"},
    {"alpha", 0, "MODE", FILTER | COMPARE,
     WORD(job.alpha, {"auto", GCONV_ALPHA_AUTO}, {"keep", GCONV_ALPHA_KEEP},
          {"filter", GCONV_ALPHA_FILTER}, {"premultiply", GCONV_ALPHA_PREMULTIPLY}),
     .marks = DECIDES,
     .help = "what happens to transparency: auto (default), keep, filter or premultiply",
     .affects = GC_MET_ALPHA, .unless = "no transparency was filtered"},
    {"background", 0, "COLOUR", IMAGES | COMPARE, READ(gc_set_background), .marks = DECIDES,
     .help = "colour behind transparent pixels if the output has no alpha: a name such as white "
             "(default) or red, a grey from 0 to 255, #RGB or #RRGGBB",
     .offers = COLOURS, .affects = GC_MET_BACKGROUND, .unless = "no output lost transparency"},

    {"depth", 0, "N", EDGES | FILTER | THIN,
     WORD(form.depth, {"1", 1}, {"8", 8}, {"16", 16}, {"32", 32}), .marks = DECIDES,
     .help = "bits of a sample of the output: 1, 8, 16, or 32 for floats (default: for edges 1 "
             "in PNG, TIFF, PBM and BMP, else 8; for filter those of the input)",
     .section = "Output files"},
    {"format", 'f', "F", IMAGES, READ(gc_set_format), .marks = DECIDES,
     .help = "output format: png, jpeg, pnm (pgm or ppm), pgm, ppm, pfm, "
             "pbm, pam, tiff, webp, npy, bmp, avif, heic, jxl or y4m",
     .offers = "FORMATS"},
    {"quality", 0, "Q", IMAGES, READ(gc_set_quality), .marks = DECIDES,
     .help =
         "quality of JPEG, 1 to 100 (default 90), and of WebP, AVIF, HEIC and JPEG XL (default: "
         "without loss); same: JPEG as the JPEG that is read",
     .offers = "same", .affects = GC_MET_QUALITY,
     .unless = "no output is of a format that has a quality"},
    {"compression", 0, "L", IMAGES, READ(gc_set_compression), .marks = DECIDES,
     .help =
         "compression without loss: 0 to 9, none or deflate for PNG and TIFF, lzw for TIFF, 0 to "
         "9 for WebP, AVIF and JPEG XL (default: PNG gconv's own, fast; TIFF "
         "as a TIFF that is read)",
     .offers = "none deflate lzw 0 1 2 3 4 5 6 7 8 9", .affects = GC_MET_COMPRESSION,
     .unless = "no output is of a format that is compressed so"},
    {"chroma", 0, "C", IMAGES,
     WORD(writer.chroma, {"420", GCONV_CHROMA_420}, {"422", GCONV_CHROMA_422},
          {"444", GCONV_CHROMA_444}, {"same", GCONV_CHROMA_SAME}),
     .marks = DECIDES,
     .help = "resolution of colour in JPEG, AVIF and HEIC: 420 (default), 422, 444, or same as the "
             "JPEG that is read",
     .affects = GC_MET_CHROMA, .unless = "no output is a JPEG, AVIF or HEIC"},
    {"progressive", 0, NULL, IMAGES, SET(writer.progressive), .marks = DECIDES,
     .help = "write progressive JPEG", .affects = GC_MET_SCANS, .unless = "no output is a JPEG"},
    {"strip", 0, NULL, IMAGES, SET(form.strip), .marks = DECIDES,
     .help = "drop colour profile, resolution, EXIF, XMP and IPTC",
     .meanings =
         MEANINGS{{EDGES,
                   "drop the resolution, and what --overlay keeps: colour profile, EXIF, XMP, "
                   "IPTC",
                   NULL},
                  {SKETCH | THIN, "drop the resolution, the only metadata kept", NULL},
                  {0}},
     .affects = GC_MET_METADATA, .unless = "the outputs hold nothing but pixels"},
    {"output", 'o', "DIR", IMAGES, DIRECTORY_NAME(batch.directory), .marks = KEEPS,
     .help = "write every output to DIR, under the name of its input"},
    {"parents", 0, NULL, IMAGES, SET(batch.parents), .marks = KEEPS | BATCH,
     .help = "keep the whole path of every input below DIR"},
    {"name", 0, "TEMPLATE", IMAGES, READ(gc_set_name), .marks = KEEPS | BATCH,
     .help = "name outputs by a template of {dir}, {stem}, {name} and {ext}"},
    {"no-clobber", 'n', NULL, IMAGES, SET(writer.no_clobber), .marks = KEEPS,
     .help = "leave existing outputs alone"},
    {"update", 0, NULL, IMAGES, SET(batch.update), .marks = KEEPS | BATCH,
     .help = "leave outputs alone that are not older than their inputs"},
    {"dry-run", 0, NULL, IMAGES, SET(batch.dry_run), .marks = KEEPS | BATCH,
     .help = "print what would be done, one line an image, and do nothing"},
    {"on-error", 0, "WHAT", IMAGES, WORD(batch.stop_on_error, {"continue", false}, {"stop", true}),
     .marks = KEEPS | BATCH, .help = "after an image that fails: continue (default) or stop"},
    {"journal", 0, "FILE", IMAGES | CHECK, READ(gc_set_journal), .marks = KEEPS | BATCH,
     .help = "record every image in FILE; skip those that it records as done", .offers = "FILE",
     .meanings =
         MEANINGS{{CHECK, "the journal whose outputs are checked; the operand FILE means the same",
                   NULL},
                  {0}}},
    {"hash", 0, "KIND", IMAGES,
     WORD(journal.digest, {"xxh3", GC_DIGEST_XXH3}, {"sha256", GC_DIGEST_SHA256}),
     .marks = KEEPS | BATCH, .help = "hashes of the journal: xxh3 (default) or sha256"},
    {"retry-failed", 0, NULL, IMAGES, SET(journal.retry_failed), .marks = KEEPS | BATCH,
     .help = "try images again that failed according to the journal"},
    {"in-place", 0, NULL, IMAGES, SET(batch.in_place), .marks = KEEPS,
     .help = "replace each input by its result; with -o: allow outputs to replace their inputs"},
    {"preserve", 0, NULL, IMAGES, SET(form.preserve), .marks = KEEPS,
     .help = "give every output the times of its input"},
    {"sync", 0, NULL, IMAGES, SET(writer.sync), .marks = KEEPS,
     .help = "flush every output to the disk before it takes its name"},

    {"recursive", 'r', NULL, IMAGES, SET(batch.recursive), .marks = KEEPS | BATCH,
     .help = "search directories with all directories below", .affects = GC_MET_DIRECTORY,
     .unless = "no directory is among the inputs", .section = "Inputs"},
    {"files-from", 0, "FILE", IMAGES, READ(gc_set_files_from), .marks = KEEPS | BATCH,
     .help = "take names of inputs from FILE too, one a line; - is stdin", .offers = "FILE"},
    {"files0-from", 0, "FILE", IMAGES, READ(gc_set_files0_from), .marks = KEEPS | BATCH,
     .help = "take names of inputs from FILE too, a NUL byte behind each", .offers = "FILE"},
    {"shard", 0, "PART", IMAGES, READ(gc_set_shard), .marks = KEEPS | BATCH | OFFERS_ALONE,
     .help = "work on part I/N of the inputs; auto or auto/N: the part that the scheduler gives "
             "this task",
     .offers = "auto auto/"},
    {"rows", 0, "ROWS", IMAGES, READ(gc_set_rows), .marks = KEEPS | ALONE,
     .help = "compute rows FIRST:COUNT of the output: COUNT rows from row FIRST on"},
    {"join", 0, NULL, IMAGES, SET(rows.join), .marks = KEEPS | ALONE,
     .help = "write PGM or PPM parts that cat joins (with --rows)"},
    {"max-pixels", 0, "N", IMAGES | COMPARE, COUNT(reader.max_pixels), .marks = KEEPS,
     .help = "refuse images of more than N pixels (default 1073741824)"},
    {"page", 0, "PAGES", IMAGES | COMPARE, READ(gc_set_page), .marks = DECIDES,
     .help =
         "images that are taken of an input that holds several: N or A-B, from 1 (default: all)",
     .affects = GC_MET_PAGES, .unless = "no input can hold several images"},
    {"planes", 0, "WHICH", FILTER,
     WORD(reader.planes, {"luma", GCONV_PLANES_LUMA}, {"all", GCONV_PLANES_ALL}), .marks = DECIDES,
     .help = "what is filtered of a Y4M: luma (default), or all planes", .affects = GC_MET_VIDEO,
     .unless = "no input is a Y4M"},
    {"nan", 0, "WHAT", FILTER,
     WORD(reader.nan, {"refuse", GCONV_NAN_REFUSE}, {"spread", GCONV_NAN_SPREAD},
          {"ignore", GCONV_NAN_IGNORE}),
     .marks = DECIDES,
     .help = "what becomes of float samples that are infinite or no numbers: refuse (default), "
             "spread or ignore",
     .affects = GC_MET_FLOATS, .unless = "no input has float samples"},
    {"no-auto-orient", 0, NULL, IMAGES | COMPARE, CLEAR(reader.auto_orient), .marks = DECIDES,
     .help = "leave pixels and EXIF orientation as they are; edges, sketch and thin keep no EXIF"},
    {"tolerant", 0, NULL, IMAGES | COMPARE, SET(reader.tolerant), .marks = DECIDES,
     .help = "accept truncated images and damaged metadata, with a warning"},
    {"white", 0, "V", IMAGES | COMPARE, ABOVE(reader.white, 0, DBL_MAX), .marks = DECIDES,
     .help = "the float sample of an input that is white (default: what the file says, else 255)",
     .offers = "1 255 65535", .affects = GC_MET_FLOATS, .unless = "no input has float samples"},

    {"impl", 'i', "NAME", WORKS, READ(gc_set_implementation), .marks = KEEPS,
     .help = "implementation: auto (default) or a name that gconv info lists",
     .offers = "auto IMPLEMENTATIONS",
     .meanings =
         MEANINGS{{COMPARE,
                   "implementations: names that gconv info lists, or auto, with commas, or all "
                   "(default)",
                   "LIST auto IMPLEMENTATIONS all"},
                  {BENCH,
                   "implementations: names that gconv info lists, or auto (default), with "
                   "commas, or "
                   "all",
                   "LIST auto IMPLEMENTATIONS all"},
                  {TUNE, "implementation: direct, separable (default: both) or adaptive:unrolled",
                   "direct separable adaptive:unrolled"},
                  {0}},
     .section = "Where it is computed"},
    {"device", 'd', "DEV", WORKS, READ(gc_set_device), .marks = KEEPS,
     .help = "device: auto (default), cpu, cuda, cuda:N, several GPUs as cuda:N,N or cuda:all",
     .offers = "auto cpu cuda cuda: cuda:all",
     .meanings =
         MEANINGS{{MEASURES,
                   "device for auto and for GPU implementations: auto (default), "
                   "cpu, cuda or cuda:N",
                   "auto cpu cuda cuda:"},
                  {TUNE, "GPU: auto (default) or cuda, the first, or cuda:N", "auto cuda cuda:"},
                  {0}}},
    {"decoder", 0, "DEC", IMAGES,
     WORD(reader.decoder, {"auto", GCONV_DECODER_AUTO}, {"cpu", GCONV_DECODER_CPU},
          {"cuda", GCONV_DECODER_CUDA}),
     .marks = KEEPS, .help = "what decodes JPEG: auto (default), cpu, or cuda (a GPU)",
     .affects = GC_MET_DECODER, .unless = "no image came as a JPEG that it decides on"},
    {"threads", 'j', "N", COMPUTES | CHECK, WHOLE(job.threads, 1, 1024), .marks = KEEPS,
     .help = "CPU threads (default: all)", .affects = GC_MET_THREADS,
     .unless = "nothing ran on several threads of the CPU"},
    {"tile", 0, "N", COMPUTES, WHOLE(tiling.tile, 1, 64), .marks = KEEPS | CONVOLVES,
     .help = "tiling factor of tiled, adaptive:unrolled and twopass:tiled", .affects = GC_MET_TILE,
     .unless = "what ran takes no tiling factor"},
    {"block", 0, "WxH", COMPUTES | INFO, READ(gc_set_block), .marks = KEEPS | CONVOLVES,
     .help = "thread block of GPU implementations", .affects = GC_MET_BLOCK,
     .unless = "what ran takes no thread block"},
    {"shared-memory", 0, "N", MEASURES | INFO, WHOLE(tiling.shared_memory, 1024, 1 << 30),
     .marks = CONVOLVES,
     .help = "shared memory of a multiprocessor, in bytes, by which adaptive chooses its factor",
     .affects = GC_MET_SHARED, .unless = "neither adaptive nor adaptive:nc ran"},

    {"images", 0, "N", CHECK, COUNT(journal.images),
     .help = "compute about N images again (with --verify; default: all)", .section = "Reports"},
    {"verify", 0, NULL, IMAGES | CHECK, SET(report.verify), .marks = KEEPS,
     .help = "compare the result with the reference; a mismatch exits with status 3",
     .meanings =
         MEANINGS{
             {CHECK, "compute the images again and compare; a mismatch exits with status 3", NULL},
             {0}}},
    {"explain", 0, NULL, IMAGES | COMPARE, SET(report.explain), .marks = KEEPS,
     .help = "say why this device and implementation were chosen"},
    {"timings", 0, NULL, IMAGES, SET(report.timings), .marks = KEEPS,
     .help = "print the time of each stage on standard error"},
    {"preset", 0, "NAME", BENCH,
     CHOICE(measure.preset, {"kth", 0}, {"lecture", 0}, {"adaptive-2011", 0}, {"adaptive-2014", 0},
            {"fft-map", 0}, {"fft-locality", 0}, {"roofline", 0}, {"ours", 0}, {"quick", 0}),
     .help =
         "experiment: kth, lecture, adaptive-2011, adaptive-2014, fft-map, fft-locality, roofline, "
         "ours or quick"},
    {"sizes", 0, "LIST", BENCH, TEXT(measure.sizes), .marks = CONVOLVES,
     .help = "sides of the image, N or WxH, with commas (default 4096)"},
    {"filters", 0, "LIST", BENCH | TUNE, TEXT(measure.filters), .marks = CONVOLVES,
     .help = "sides of filters: N, WxH, A..B, A..BxC..D, or one of these after rank1:, with commas",
     .meanings = MEANINGS{{TUNE,
                           "with --impl adaptive:unrolled: filters to search, N, WxH, A..B "
                           "or A..BxC..D, with commas",
                           NULL},
                          {0}}},
    {"sample", 0, "PART", BENCH, TEXT(measure.sample),
     .help = "measure only N cases of the sweep, or a percentage such as 10%"},
    {"samples", 0, "KIND", BENCH, TEXT(measure.samples), .marks = CONVOLVES,
     .help =
         "samples of the image: grey8 (default), rgb8, rgba8, grey16, rgb16, with commas, or all",
     .offers = "LIST grey8 rgb8 rgba8 grey16 rgb16 all"},
    {"time", 0, "SECONDS", MEASURES | TUNE, ABOVE(measure.time, 0, 86400),
     .help = "how long measuring may take",
     .meanings =
         MEANINGS{
             {COMPARE,
              "seconds for measuring each implementation, without those of the "
              "reference (default 1)",
              NULL},
             {BENCH,
              "seconds for measuring in all, without those of the reference (default "
              "20)",
              NULL},
             {TUNE, "seconds for the search (default: until it is complete, some minutes)", NULL},
             {0}}},
    {"resume", 0, "FILE", BENCH, FILE_NAME(measure.resume), .marks = TELLS,
     .help = "keep every measurement in FILE; the same command again goes on where it ended"},
    {"baseline", 0, "FILE", BENCH, FILE_NAME(measure.baseline), .marks = TELLS,
     .help = "compare with the measurements in FILE, which --resume or --json made"},
    {"with", 0, "RESULTS", BENCH, TEXT(measure.with), .marks = TELLS,
     .help = "print kept results beside these: h200 or h100, made on that GPU, or a FILE of an "
             "earlier bench",
     .offers = "FILE " GC_KEPT_DEVICES},
    {"fail-above", 0, "PCT", BENCH, NUMBER(measure.fail_above, 0, DBL_MAX), .marks = TELLS,
     .help = "exit with status 5 if something takes PCT per cent longer (with --baseline)"},
    {"response", 0, "FILE", KERNEL, READ(gc_set_response),
     .help = "write the frequency response of the chain to FILE, which ends in .png or .csv",
     .offers = "FILE"},
    {"write", 0, "FILE", KERNEL, READ(gc_set_write),
     .help = "write the filter, or the product of the chain, to FILE", .offers = "FILE"},
    {"notation", 0, "NAME", KERNEL,
     WORD(kernel.notation, {"gconv", GC_NOTATION_GCONV}, {"imagemagick", GC_NOTATION_IMAGEMAGICK},
          {"libvips", GC_NOTATION_LIBVIPS}),
     .help = "how --write writes: gconv (default), imagemagick or libvips"},
    {"json", 0, NULL, WORKS | KERNEL | INFO, SET(report.json), .marks = KEEPS | TELLS,
     .help = "machine-readable results on standard output"},
    {"csv", 0, NULL, BENCH, SET(measure.csv), .marks = TELLS,
     .help = "print a line for each result, its values separated by commas"},
    {"markdown", 0, NULL, BENCH, SET(measure.markdown), .marks = TELLS,
     .help = "print the table in Markdown"},
    {"html", 0, "FILE", MEASURES, READ(gc_set_html), .marks = TELLS,
     .help = "write a report with charts (needs matplotlib)", .offers = "FILE"},
    {"progress", 0, "WHEN", WORKS,
     WORD(report.progress, {"auto", GC_PROGRESS_AUTO}, {"always", GC_PROGRESS_ALWAYS},
          {"never", GC_PROGRESS_NEVER}),
     .marks = KEEPS | TELLS, .help = "show progress: auto (default), always or never"},
    {"quiet", 'q', NULL, ALL, SET(report.quiet), .marks = KEEPS | TELLS,
     .help = "print only errors, and what other options ask for"},
    {"verbose", 'v', NULL, ALL, SET(report.verbose), .marks = KEEPS | TELLS,
     .help = "print warnings and what is being done, too"},
    {"help", 'h', NULL, ALL, SET(help), .marks = KEEPS | TELLS,
     .help = "help on gconv or the command"},
    {"version", 'V', NULL, ALL, SET(version), .marks = KEEPS | TELLS,
     .help = "print version, build, instructions and system"},
};
enum { OPTION_COUNT = sizeof options_table / sizeof options_table[0] };
_Static_assert((int)OPTION_COUNT <= (int)GC_OPTIONS_MAX, "gc_options has an entry for each option");

/* ---- Questions about them -------------------------------------------------------------------- */

int gc_option_count(void)
{
    return OPTION_COUNT;
}

const gc_option *gc_option_at(int index)
{
    return index >= 0 && index < OPTION_COUNT ? &options_table[index] : NULL;
}

static int index_of(const char *name)
{
    int i = 0;
    while (i < OPTION_COUNT && strcmp(options_table[i].name, name) != 0)
        i++;
    return i;
}

bool gc_option_given(const gc_options *options, const char *name)
{
    int index = index_of(name);
    return index < OPTION_COUNT && options->given[index];
}

const char *gc_option_value(const gc_options *options, const char *name)
{
    int index = index_of(name);
    return index < OPTION_COUNT ? options->values[index] : NULL;
}

const char *gc_option_marked(const gc_options *options, unsigned marks)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (options->given[i] && (options_table[i].marks & marks) != 0)
            return options_table[i].name;
    return NULL;
}

gconv_status gc_blame_option(const char *name, gconv_error *error)
{
    gconv_error reason = *error;
    return gc_fail(error, reason.status, "option '--%s': %.400s", name, reason.message);
}

bool gc_option_belongs(const gc_option *option, gc_command command)
{
    return option->commands == ALL || (option->commands & command) != 0;
}

gc_meaning gc_option_meaning(const gc_option *option, gc_command command)
{
    gc_meaning meaning = {option->commands, option->help, option->offers};
    for (const gc_meaning *m = option->meanings; m != NULL && m->commands != 0; m++)
        if ((m->commands & command) != 0)
            meaning =
                (gc_meaning){m->commands, m->help, m->offers != NULL ? m->offers : option->offers};
    return meaning;
}
