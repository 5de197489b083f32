#include "io/jpeg/fast/trials.h"

/* The files of trials/, one behind the other: the build makes it. */
extern const unsigned char gc_jpeg_trial_files[];

/* Hashes: of `unit_jpeg_trials --print` with libjpeg-turbo 2.1.5. */
static const struct {
    size_t size;
    gc_hash hash;
    uint32_t width, height;
    int components, sampling_x, sampling_y;
} trials[GC_JPEG_TRIALS] = {
    {2428, {0xc17c4010fcd49bc7, 0x700bf08d46168e65}, 65, 47, 3, 2, 2},
    {2410, {0x9a65ccde61bbffee, 0xf03041938045db01}, 38, 33, 3, 2, 1},
    {1079, {0xfa27beb81d994fc0, 0xe8a689a195f41cc5}, 30, 21, 3, 1, 1},
    {2701, {0x8d0fe48b879aebd3, 0xbd48469f98eb2c85}, 57, 50, 1, 1, 1},
    {446, {0x6ee92e471845686f, 0xb4b959d9763012cd}, 3, 1, 3, 2, 2},
    {9942, {0xdf07e7b094baf0a0, 0xe2ddce830dac59a5}, 96, 80, 3, 2, 2},
    {377, {0x4e86e95d4e420afb, 0x5a7b143e6d3f8949}, 16, 24, 1, 1, 1},
    {690, {0x42f613920717c969, 0x643c76f21e097c05}, 1, 19, 3, 2, 1},
};

gc_hash gc_jpeg_trial(int index, gconv_encoded *picture)
{
    size_t before = 0;
    for (int i = 0; i < index; i++)
        before += trials[i].size;
    *picture = (gconv_encoded){.bytes = gc_jpeg_trial_files + before,
                               .held = trials[index].size,
                               .size = trials[index].size,
                               .width = trials[index].width,
                               .height = trials[index].height,
                               .components = trials[index].components,
                               .sampling_x = trials[index].sampling_x,
                               .sampling_y = trials[index].sampling_y,
                               .orientation = 1};
    return trials[index].hash;
}
