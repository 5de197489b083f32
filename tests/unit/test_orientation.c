/* The orientation that EXIF gives is applied to the pixels. */
#include "container_support.h"
#include "exif_support.h"

#include "io/exif.h"
#include "io/orient.h"

/* Where the upright pixel (x, y) is stored: EXIF 2.32, the orientation tag. */
static void stored_place(int orientation, const gconv_shape *stored, uint32_t x, uint32_t y,
                         uint32_t *column, uint32_t *row)
{
    uint32_t right = stored->width - 1;
    uint32_t bottom = stored->height - 1;
    const uint32_t places[9][2] = {
        {0, 0}, {x, y},          {right - x, y},          {right - x, bottom - y}, {x, bottom - y},
        {y, x}, {y, bottom - x}, {right - y, bottom - x}, {right - y, x},
    };
    *column = places[orientation][0];
    *row = places[orientation][1];
}

static void check_upright(const picture *stored, const picture *upright, int orientation)
{
    bool swaps = orientation >= 5;
    assert_int_equal(upright->shape.width, swaps ? stored->shape.height : stored->shape.width);
    assert_int_equal(upright->shape.height, swaps ? stored->shape.width : stored->shape.height);
    for (uint32_t y = 0; y < upright->shape.height; y++)
        for (uint32_t x = 0; x < upright->shape.width; x++)
            for (int c = 0; c < stored->shape.channels; c++) {
                uint32_t column;
                uint32_t row;
                stored_place(orientation, &stored->shape, x, y, &column, &row);
                assert_int_equal(sample_at(upright, x, y, c), sample_at(stored, column, row, c));
            }
}

TEST(orientation_is_applied)
{
    static const int channels[] = {1, 2, 3, 4};
    gconv_reader_options leave = as_stored();
    leave.auto_orient = false;
    for (int orientation = 1; orientation <= GC_ORIENTATION_COUNT; orientation++)
        for (size_t i = 0; i < 8; i++) {
            OWNED_PICTURE source = make_picture(71, 40, channels[i % 4], i < 4 ? 8 : 16);
            must_write("turn.png", GCONV_FORMAT_PNG, &source);
            blob whole = load_file("turn.png");
            unsigned char exif[EXIF_BYTES];
            make_exif(exif, orientation, i & 1);
            add_chunk(&whole, "eXIf", exif, sizeof exif);
            save_file("turn.png", whole.bytes, whole.size);
            free(whole.bytes);
            picture upright = must_read("turn.png", NULL);
            check_upright(&source, &upright, orientation);
            free_picture(&upright);
            OWNED_PICTURE stored = must_read("turn.png", &leave);
            assert_same_picture(&stored, &source);
        }
}

/* The largest pixels are four float32. */
TEST(rows_of_pixels_of_any_size_are_mirrored)
{
    for (size_t size = 1; size <= 16; size++)
        for (uint32_t width = 1; width <= 6; width++) {
            unsigned char row[6 * 16];
            for (size_t i = 0; i < width * size; i++)
                row[i] = (unsigned char)(i + 1);
            gc_orient_mirror_row(row, width, size);
            for (uint32_t x = 0; x < width; x++)
                for (size_t i = 0; i < size; i++)
                    assert_int_equal(row[x * size + i], (width - 1 - x) * size + i + 1);
        }
}

TEST(jpeg_exif_turns_the_picture)
{
    gconv_reader_options leave = as_stored();
    leave.auto_orient = false;
    picture source = make_picture(40, 30, 3, 8);
    must_write("turn.jpg", GCONV_FORMAT_JPEG, &source);
    free_picture(&source);
    blob whole = load_file("turn.jpg");
    unsigned char exif[EXIF_BYTES];
    make_exif(exif, 8, true);
    add_exif_to_jpeg(&whole, exif, sizeof exif);
    save_file("turn.jpg", whole.bytes, whole.size);
    free(whole.bytes);
    OWNED_PICTURE stored = must_read("turn.jpg", &leave);
    OWNED_PICTURE upright = must_read("turn.jpg", NULL);
    check_upright(&stored, &upright, 8);
}

const test_suite suite = {.setup = enter_scratch, .teardown = remove_scratch};
