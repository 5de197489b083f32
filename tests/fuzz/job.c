#include "job.h"

#include "judge.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- Filters --------------------------------------------------------------------------------- */

/* Whole numbers where types and sums end. */
static const float edges_of_types[] = {
    -129, -128, -127, -1,    0,     1,      2,     127,   128,    200,     255,      256,
    257,  1023, 4095, 32767, 32768, -32768, 65535, 65536, 262143, 8388607, 16777215, 16777216};

static float signed_unit(check_random *random)
{
    return (float)(2 * check_unit(random) - 1);
}

/* A magnitude anywhere in float32, its ends and denormals more often. */
static float any_magnitude(check_random *random)
{
    static const int exponents[] = {-149, -148, -140, -127, -126, -125, 120, 126, 127};
    int exponent = check_once_in(random, 2) ? exponents[check_below(random, 9)]
                                            : check_between(random, -149, 127);
    float value = ldexpf(1 + (float)check_unit(random), exponent);
    value = isfinite(value) ? value : FLT_MAX;
    return check_once_in(random, 2) ? value : -value;
}

typedef enum weights_kind {
    SMALL_WHOLE,
    LARGE_WHOLE,
    FRACTIONS,
    SEPARABLE,
    SPARSE,
    CONSTANT,
    BYTES,
    ONE_SCALE,
    ANY_FLOAT,
    WEIGHTS_KINDS
} weights_kind;

static void fill_separable(gconv_filter *filter, check_random *random)
{
    float column[GCONV_FILTER_SIDE_MAX];
    for (int j = 0; j < filter->height; j++)
        column[j] = (float)check_between(random, -3, 5);
    for (int i = 0; i < filter->width; i++) {
        float row = (float)check_between(random, -3, 5);
        for (int j = 0; j < filter->height; j++)
            filter->weights[j * filter->width + i] = row * column[j];
    }
}

static float draw_weight(weights_kind kind, float scale, fuzz_bytes *from, check_random *random)
{
    enum { EDGES = sizeof edges_of_types / sizeof edges_of_types[0] };
    switch (kind) {
    case SMALL_WHOLE:
        return (float)check_between(random, -4, 5);
    case LARGE_WHOLE:
        return edges_of_types[check_below(random, EDGES)];
    case FRACTIONS:
        return signed_unit(random);
    case SPARSE:
        return check_once_in(random, 6) ? (float)check_between(random, -9, 9) : 0;
    case CONSTANT:
        return scale;
    case BYTES:
        return (float)(int8_t)fuzz_byte(from);
    case ONE_SCALE:
        return scale * (float)check_unit(random);
    default:
        return any_magnitude(random);
    }
}

/* Ordinary scales, or one anywhere in float32. */
static float draw_scale(fuzz_bytes *from, bool extreme)
{
    static const float scales[] = {1, 0.5F, 3, 0.1F, 255, 1e-3F};
    int8_t exponent = (int8_t)fuzz_byte(from);
    if (!extreme)
        return scales[(uint8_t)exponent % (sizeof scales / sizeof scales[0])];
    return ldexpf(1 + (float)fuzz_byte(from) / 256, exponent == -128 ? -149 : exponent);
}

static double draw_divisor(fuzz_bytes *from, const gconv_filter *filter, bool extreme)
{
    static const double divisors[] = {1, 1, 2, 16, 3, -1, 0.5, 289, 0.1, -7};
    enum { DIVISORS = sizeof divisors / sizeof divisors[0] };
    int which = fuzz_below(from, DIVISORS + 3);
    double sum = gconv_filter_gain(filter) * filter->divisor;
    if (which < DIVISORS)
        return divisors[which];
    if (which == DIVISORS || !extreme)
        return sum != 0 ? sum : 1;
    return ldexp(1, which == DIVISORS + 1 ? (int8_t)fuzz_byte(from) : 8 * (int8_t)fuzz_byte(from));
}

static gconv_filter *make_filter(fuzz_bytes *from, const fuzz_job_limits *limits,
                                 check_random *random)
{
    gconv_filter *filter;
    gconv_error error;
    uint8_t kinds = fuzz_byte(from);
    /* Small ones more often: those are where methods are many. */
    int side = (kinds & 3) == 0 ? limits->side : limits->side < 9 ? limits->side : 9;
    int width = 1 + fuzz_below(from, side), height = 1 + fuzz_below(from, side);
    if ((kinds & 4) != 0)
        height = width;
    FUZZ_REQUIRE(gconv_filter_create(width, height, &filter, &error) == GCONV_OK, "%s",
                 error.message);
    weights_kind kind =
        (weights_kind)((kinds >> 3) % (limits->extreme ? WEIGHTS_KINDS : ONE_SCALE));
    float scale = draw_scale(from, limits->extreme);
    if (kind == SEPARABLE)
        fill_separable(filter, random);
    else
        for (int i = 0; i < width * height; i++)
            filter->weights[i] = draw_weight(kind, scale, from, random);
    if (limits->extreme && fuzz_below(from, 2) == 1)
        for (int i = 0; i < width * height; i++) {
            float scaled = filter->weights[i] * scale;
            filter->weights[i] = isfinite(scaled) ? scaled : filter->weights[i];
        }
    filter->divisor = draw_divisor(from, filter, limits->extreme);
    if (fuzz_below(from, 4) == 3) {
        filter->anchor_x = fuzz_below(from, width);
        filter->anchor_y = fuzz_below(from, height);
    }
    return filter;
}

/* ---- The job --------------------------------------------------------------------------------- */

static double draw_number(fuzz_bytes *from, bool extreme)
{
    static const double numbers[] = {0, 1, -1, 2, 0.5, 128, 255, -255, 5, 1e-3, 100.25, 65535};
    enum { NUMBERS = sizeof numbers / sizeof numbers[0] };
    int which = fuzz_below(from, NUMBERS + 2);
    if (which < NUMBERS)
        return numbers[which];
    double value = (int8_t)fuzz_byte(from) + fuzz_byte(from) / 256.0;
    return extreme ? ldexp(value, 4 * (int8_t)fuzz_byte(from)) : value;
}

static void choose_shape(gconv_job *job, fuzz_bytes *from, const fuzz_job_limits *limits)
{
    job->input.channels = 1 + fuzz_below(from, 4);
    static const int depths[] = {8, 16, 32};
    job->input.depth = depths[fuzz_below(from, 3)];
    uint32_t sizes = fuzz_word(from);
    job->input.width = 1 + (sizes & 0xffff) % (uint32_t)limits->width;
    job->input.height = 1 + (sizes >> 16) % (uint32_t)limits->height;
}

static void choose_computation(gconv_job *job, fuzz_bytes *from, bool extreme)
{
    job->border = (gconv_border)fuzz_below(from, GCONV_BORDER_COUNT);
    job->alpha = (gconv_alpha)fuzz_below(from, 3);
    uint8_t flags = fuzz_byte(from);
    job->correlate = (flags & 1) != 0;
    job->absolute = (flags & 2) != 0;
    job->invert = (flags & 4) != 0;
    job->has_offset = (flags & 8) != 0;
    if (job->border == GCONV_BORDER_CONSTANT)
        job->border_value = draw_number(from, extreme);
    job->scale = draw_number(from, false);
    job->offset = job->has_offset ? draw_number(from, false) : 0;
    job->rule = (gconv_rule)fuzz_below(from, 3);
    job->threshold = fabs(draw_number(from, extreme));
    bool edges = (flags & 48) == 48 && job->input.channels == 1;
    job->output = edges ? GCONV_OUTPUT_EDGES : GCONV_OUTPUT_SAMPLES;
    static const int depths[] = {8, 16, 32, 1};
    job->output_depth = depths[flags >> 6];
}

/* Cuts the image until the definition takes no more than `limits->work`. */
static void limit_work(gconv_job *job, const fuzz_job_limits *limits)
{
    double taps = 0;
    for (int s = 0; s < job->filter_count; s++)
        taps += (double)job->filters[s]->width * job->filters[s]->height;
    gconv_shape *shape = &job->input;
    while (taps * shape->width * shape->height * shape->channels > limits->work &&
           (shape->width > 1 || shape->height > 1)) {
        shape->width = (shape->width + 1) / 2;
        shape->height = (shape->height + 1) / 2;
    }
}

/* Beyond 2^32 and for what is no number nothing is promised (rule 82). */
static void limit_floats(check_image *image)
{
    for (uint32_t y = 0; y < image->rows; y++)
        for (size_t i = 0; i < image->row_bytes / sizeof(float); i++)
            if (!(fabs(check_sample(check_image_row(image, y), 32, i)) <= 0x1p32))
                check_set_sample(check_image_row(image, y), 32, i, 255);
}

static void fill_image(fuzz_job *made, fuzz_bytes *from)
{
    const gconv_shape *shape = &made->job.input;
    int pattern = fuzz_below(from, CHECK_PATTERN_COUNT + 1);
    made->input = check_image_create(gconv_shape_row_bytes(shape), shape->height,
                                     check_sample_bytes(shape->depth), &made->random);
    if (pattern < CHECK_PATTERN_COUNT) {
        check_fill_pattern(&made->input, shape, (check_pattern)pattern, &made->random);
        return;
    }
    for (uint32_t y = 0; y < shape->height; y++)
        for (size_t i = 0; i < made->input.row_bytes; i++)
            check_image_row(&made->input, y)[i] = fuzz_byte(from);
    if (shape->depth == 32)
        limit_floats(&made->input);
}

void fuzz_job_make(fuzz_job *made, fuzz_bytes *from, const fuzz_job_limits *limits)
{
    *made = (fuzz_job){.job = gconv_job_default()};
    gconv_job *job = &made->job;
    made->random = check_random_for(fuzz_word(from), 0);
    choose_shape(job, from, limits);
    choose_computation(job, from, limits->extreme);
    job->filter_count = 1 + fuzz_below(from, limits->filters);
    for (int s = 0; s < job->filter_count; s++)
        made->filters[s] = make_filter(from, limits, &made->random);
    job->filters = (const gconv_filter *const *)made->filters;
    limit_work(job, limits);
    fill_image(made, from);
}

void fuzz_job_free(fuzz_job *made)
{
    for (int s = 0; s < made->job.filter_count; s++)
        gconv_filter_free(made->filters[s]);
    check_image_free(&made->input);
}

/* ---- The definition -------------------------------------------------------------------------- */

static double white(const gconv_job *job)
{
    return job->input.depth == 16 ? 65535 : 255;
}

static bool premultiplies(const gconv_job *job)
{
    return job->input.channels % 2 == 0 && job->alpha == GCONV_ALPHA_PREMULTIPLY;
}

size_t fuzz_chain_values(const gconv_job *job)
{
    return job->input.width * (size_t)judge_channels(job);
}

/* The index that a border puts in the place of one outside; -1 for the constant. */
static int64_t inside(gconv_border border, int64_t at, int64_t size)
{
    int64_t period = border == GCONV_BORDER_WRAP     ? size
                     : border == GCONV_BORDER_MIRROR ? 2 * size
                     : size > 1                      ? 2 * size - 2
                                                     : 1;
    if (at >= 0 && at < size)
        return at;
    if (border == GCONV_BORDER_CONSTANT)
        return -1;
    if (border == GCONV_BORDER_REPLICATE)
        return at < 0 ? 0 : size - 1;
    at %= period;
    at += at < 0 ? period : 0;
    if (at < size)
        return at;
    return border == GCONV_BORDER_MIRROR ? period - 1 - at : period - at;
}

/* The constant border of a step's input, a float32 like all that steps compute with. `divisor` is
 * the product of those of the steps before it. */
static double constant_of(const gconv_job *job, int channel, double divisor)
{
    int channels = judge_channels(job);
    if (channels % 2 == 0 && channel == channels - 1)
        return (double)(float)(white(job) * divisor);
    double level = job->border_value * white(job) / 255;
    return (double)(float)(level * (premultiplies(job) ? white(job) : 1) * divisor);
}

static double *load_image(const fuzz_job *made)
{
    const gconv_job *job = &made->job;
    size_t channels = (size_t)judge_channels(job), all = (size_t)job->input.channels;
    double *image = fuzz_allocate(fuzz_chain_values(job) * job->input.height * sizeof *image);
    double *to = image;
    for (uint32_t y = 0; y < job->input.height; y++)
        for (size_t x = 0; x < job->input.width; x++)
            for (size_t c = 0; c < channels; c++) {
                const unsigned char *row = check_image_row(&made->input, y);
                *to = check_sample(row, job->input.depth, x * all + c);
                if (premultiplies(job) && c + 1 < all)
                    *to *= check_sample(row, job->input.depth, x * all + all - 1);
                to++;
            }
    return image;
}

static double sum_at(const gconv_job *job, const gconv_filter *filter, const double *image,
                     double constant, int64_t x, int64_t y, int c)
{
    int channels = judge_channels(job), direction = job->correlate ? 1 : -1;
    int64_t width = job->input.width;
    double sum = 0;
    for (int j = 0; j < filter->height; j++) {
        int64_t from_y =
            inside(job->border, y + direction * (j - filter->anchor_y), job->input.height);
        for (int i = 0; i < filter->width; i++) {
            int64_t from_x = inside(job->border, x + direction * (i - filter->anchor_x), width);
            bool outside = from_x < 0 || from_y < 0;
            double value = outside ? constant : image[(from_y * width + from_x) * channels + c];
            sum += (double)filter->weights[j * filter->width + i] * value;
        }
    }
    return sum;
}

double *fuzz_define_chain(const fuzz_job *made)
{
    const gconv_job *job = &made->job;
    int channels = judge_channels(job);
    double *image = load_image(made), divisor = 1;
    for (int s = 0; s < job->filter_count; s++) {
        double *next = fuzz_allocate(fuzz_chain_values(job) * job->input.height * sizeof *next);
        double *to = next;
        for (int64_t y = 0; y < job->input.height; y++)
            for (int64_t x = 0; x < job->input.width; x++)
                for (int c = 0; c < channels; c++)
                    *to++ =
                        sum_at(job, job->filters[s], image, constant_of(job, c, divisor), x, y, c);
        free(image);
        image = next;
        divisor *= job->filters[s]->divisor;
    }
    return image;
}

/* ---- The bound of rule 4 --------------------------------------------------------------------- */

static bool is_whole(double value)
{
    return value == trunc(value);
}

/* The largest |value| that enters the chain, as rules 4 and 82 count it: of this image, or of
 * any. */
static double largest_input(const fuzz_job *made, bool of_any)
{
    const gconv_job *job = &made->job;
    bool floats = job->input.depth == 32;
    double largest = floats ? 0x1p-60 : 0, most = floats ? 0x1p32 : white(job), *image;
    if (of_any)
        return most * (premultiplies(job) ? most : 1);
    image = load_image(made);
    for (size_t i = 0; i < fuzz_chain_values(job) * job->input.height; i++)
        largest = fmax(largest, fabs(image[i]));
    free(image);
    return largest;
}

static double with_border(const gconv_job *job, double largest, double divisor, bool *whole)
{
    for (int c = 0; job->border == GCONV_BORDER_CONSTANT && c < judge_channels(job); c++) {
        double constant = constant_of(job, c, divisor);
        *whole = *whole && is_whole(constant);
        largest = fmax(largest, fabs(constant));
    }
    return largest;
}

fuzz_verdict fuzz_judge(const fuzz_job *made, double extra_terms)
{
    static const double exact_limit = 16777216;
    const gconv_job *job = &made->job;
    fuzz_verdict verdict = {.exact = job->input.depth != 32};
    double of_any = largest_input(made, true), of_this = largest_input(made, false), divisor = 1;
    for (int s = 0; s < job->filter_count; s++) {
        const gconv_filter *filter = job->filters[s];
        int taps = filter->width * filter->height;
        double sum = 0;
        of_any = with_border(job, of_any, divisor, &verdict.exact);
        of_this = with_border(job, of_this, divisor, &verdict.exact);
        for (int i = 0; i < taps; i++) {
            sum += fabs((double)filter->weights[i]);
            verdict.exact = verdict.exact && is_whole((double)filter->weights[i]);
        }
        double rounding = 4 * (taps + extra_terms) * (0x1p-24 * sum * of_this + 0x1p-150);
        verdict.bound = rounding + sum * verdict.bound;
        verdict.exact = verdict.exact && of_any < exact_limit && of_any * sum < exact_limit;
        of_any *= sum;
        of_this *= sum;
        divisor *= filter->divisor;
    }
    return verdict;
}

/* ---- Images for results ---------------------------------------------------------------------- */

check_image fuzz_output_image(fuzz_job *made, const gconv_shape *shape)
{
    size_t unit = check_sample_bytes(shape->depth);
    check_image image =
        check_image_create(gconv_shape_row_bytes(shape), shape->height, unit, &made->random);
    check_image_poison(&image, 0xa5);
    return image;
}

check_image fuzz_chain_image(fuzz_job *made)
{
    check_image image = check_image_create(fuzz_chain_values(&made->job) * sizeof(float),
                                           made->job.input.height, sizeof(float), &made->random);
    check_image_poison(&image, 0xff); /* a NaN wherever nothing is written */
    return image;
}
