/* What the parts of the tuner share: planes on a device, one search over them, and its
 * contenders. */
#pragma once

#include "gpu/methods/ladder/compiled_tile.cuh"
#include "gpu/methods/passes.cuh"
#include "gpu/tune/tune.h"

enum {
    GC_TUNER_SIDE_MAX = 4096,
    GC_TUNER_SIDE_MIN = 512,
    /* A crop of the plane is checked, too. Its sides are no multiples of a tile's. */
    GC_TUNER_CROP_WIDTH = 517,
    GC_TUNER_CROP_HEIGHT = 261,
    GC_TUNER_RUNS = 30,
    GC_TUNER_RUNS_OF_FINALISTS = 90
};
static_assert(GC_TUNER_SIDE_MIN * GC_TUNER_SIDE_MIN >=
                  (GC_TUNER_CROP_WIDTH + 3) * GC_TUNER_CROP_HEIGHT,
              "the crop lies in a plane");

struct gc_tuner {
    gconv_device_info device;
    int side;
    int sets; /* planes of float32 in `inputs`, and in `outputs` */
    gc_owned_memory<char> inputs, outputs;
    gc_owned_memory<double> expected; /* of the crop, then of the plane */
    gc_owned_memory<double> taps;
    gc_owned_memory<float> weights; /* of a search of GC_FORM_TILES */
    gc_owned_memory<unsigned> wrong;
    gc_owned_stream stream;
    gc_owned_event events[GC_TUNER_RUNS_OF_FINALISTS + 1];
};

/* The image that is checked: the first samples of the first input plane. */
struct gc_tuner_view {
    int width, height;
    long long pitch;
    double *expected;
};

gc_tuner_view gc_tuner_crop(const gc_tuner *tuner);
gc_tuner_view gc_tuner_plane(const gc_tuner *tuner);

size_t gc_tuner_sample_bytes(gc_sample_type type);

/* ---- One search ------------------------------------------------------------------------------ */

/* A tuning that is tried. Its kernel is `tiles` for GC_FORM_TILES, else `kernel`. */
struct gc_contender {
    gc_pass_kernel kernel;
    gc_compiled_tile tiles;
    gconv_status compiled;
    gconv_error why;     /* if that failed */
    double microseconds; /* 0: left out */
};

struct gc_search {
    gc_tuner *tuner;
    gc_layout layout;
    gconv_tuning_goes_on *goes_on;
    void *user;
    gconv_tuning_result *result;
    gc_tuned *best;
    float *weights; /* of the kernels: a matrix, or rows and columns */
    double *taps;   /* the matrix */
    int weight_count;
    double divisor, tolerance;
    gc_finish finish;
    int count; /* contenders */
    gc_contender contenders[GC_CANDIDATES_MAX];
    gc_tuning tunings[GC_CANDIDATES_MAX];
};

/* Makes inputs and weights, and computes what the kernels should give (check.cu). */
gconv_status gc_search_begin(gc_search *s, gconv_error *error);

/* Compares all outputs of a kernel, of the crop and of the plane, with what is expected. */
gconv_status gc_search_check(const gc_search *s, const gc_contender &contender, bool *right,
                             gconv_error *error);

/* ---- Kernels of contenders (contender.cpp) --------------------------------------------------- */

/* Compiles the kernel of a tuning, and keeps status and message. */
void gc_contender_compile(const gc_search *s, const gc_tuning &tuning, gc_contender *contender);
void gc_contender_release(gc_contender *contender);

/* Columns and rows of `image` that contenders compute: without border those whose surroundings lie
 * inside. */
int gc_search_columns(const gc_search *s, const gc_tuner_view &image);
int gc_search_rows(const gc_search *s, const gc_tuner_view &image);

/* Launches it from one input plane to the output plane of the same number. */
gconv_status gc_contender_launch(const gc_search *s, const gc_contender &contender,
                                 const gc_tuner_view &image, int set, gconv_error *error);

void *gc_search_output(const gc_search *s, int set);
