/* The kernels that a search tries: passes, which read borders in place, or tiles, which read
 * extended images. For tiles a plane counts as an extended image. */
#include "gpu/tune/tuner.cuh"

static bool is_tiles(const gc_search *s)
{
    return s->layout.tuning.form == GC_FORM_TILES;
}

void gc_contender_compile(const gc_search *s, const gc_tuning &tuning, gc_contender *contender)
{
    gc_layout layout = s->layout;
    layout.tuning = tuning;
    const gconv_device_info *device = &s->tuner->device;
    contender->tiles = {gc_tuning_tiling(&tuning, layout.width, layout.height), layout.width,
                        layout.height};
    contender->compiled =
        is_tiles(s) ? gc_compiled_create(device, GC_JIT_UNKEPT, &contender->tiles, &contender->why)
                    : gc_pass_compile(layout, s->weights, s->weight_count, device, GC_JIT_UNKEPT,
                                      &contender->kernel, &contender->why);
}

void gc_contender_release(gc_contender *contender)
{
    gc_pass_release(&contender->kernel);
    gc_compiled_release(&contender->tiles);
}

int gc_search_columns(const gc_search *s, const gc_tuner_view &image)
{
    return image.width - (is_tiles(s) ? s->layout.width - 1 : 0);
}

int gc_search_rows(const gc_search *s, const gc_tuner_view &image)
{
    return image.height - (is_tiles(s) ? s->layout.height - 1 : 0);
}

static size_t plane_offset(const gc_search *s, int set)
{
    size_t side = (size_t)s->tuner->side;
    return (size_t)set * side * side * gc_tuner_sample_bytes(s->layout.input);
}

void *gc_search_output(const gc_search *s, int set)
{
    return s->tuner->outputs + plane_offset(s, set);
}

static gc_pass pass_of(const gc_search *s, const gc_tuner_view &image, int set)
{
    gc_pass pass = {};
    pass.input = s->tuner->inputs + plane_offset(s, set);
    pass.output = gc_search_output(s, set);
    pass.input_pitch = pass.output_pitch = image.pitch;
    pass.width = image.width;
    pass.height = pass.rows = pass.input_rows = image.height;
    pass.input_type = s->layout.input;
    pass.output_type = s->layout.output;
    pass.border = s->layout.border;
    pass.finish = s->finish;
    return pass;
}

static gc_gpu_step step_of(const gc_search *s, const gc_tuner_view &image, int set)
{
    gc_gpu_step step = {};
    step.input = (const float *)(s->tuner->inputs + plane_offset(s, set));
    step.output = (float *)gc_search_output(s, set);
    step.input_pitch = step.output_pitch = image.pitch;
    step.width = gc_search_columns(s, image);
    step.height = gc_search_rows(s, image);
    step.channels = 1;
    step.taps = s->tuner->weights;
    step.filter_width = s->layout.width;
    step.filter_height = s->layout.height;
    return step;
}

gconv_status gc_contender_launch(const gc_search *s, const gc_contender &contender,
                                 const gc_tuner_view &image, int set, gconv_error *error)
{
    if (is_tiles(s))
        return gc_compiled_launch(contender.tiles, step_of(s, image, set), s->tuner->stream, error);
    gc_pass pass = pass_of(s, image, set);
    return gc_pass_launch(contender.kernel, pass, 1, s->tuner->stream, error);
}
