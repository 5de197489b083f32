/* The floor of files.sh: decodes an image with the library and the settings that gconv uses, and
 * throws the rows away.
 *
 *     files_decode FILE [grey]     grey: of a colour JPEG the Y plane alone, as `gconv edges` does
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h> /* needs stdio.h before it */
#include <png.h>

enum { ROWS_AT_ONCE = 16, BUFFER_BYTES = 256 * 1024 };

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL)
        exit(1);
    return memory;
}

static void decode_png(FILE *file)
{
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    if (setjmp(png_jmpbuf(png)) != 0)
        exit(1);
    png_init_io(png, file);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_read_info(png, info);
    png_read_update_info(png, info);
    unsigned char *row = allocate(png_get_rowbytes(png, info), 1);
    for (png_uint_32 y = 0; y < png_get_image_height(png, info); y++)
        png_read_row(png, row, NULL);
    png_read_end(png, NULL);
    png_destroy_read_struct(&png, &info, NULL);
    free(row);
}

static void decode_jpeg(FILE *file, int grey)
{
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&jpeg);
    jpeg_stdio_src(&jpeg, file);
    jpeg_read_header(&jpeg, TRUE);
    if (grey)
        jpeg.out_color_space = JCS_GRAYSCALE;
    jpeg_start_decompress(&jpeg);
    size_t row_bytes = (size_t)jpeg.output_width * (size_t)jpeg.output_components;
    unsigned char *rows = allocate(ROWS_AT_ONCE, row_bytes);
    JSAMPROW pointers[ROWS_AT_ONCE];
    for (size_t i = 0; i < ROWS_AT_ONCE; i++)
        pointers[i] = rows + i * row_bytes;
    while (jpeg.output_scanline < jpeg.output_height)
        jpeg_read_scanlines(&jpeg, pointers, ROWS_AT_ONCE);
    jpeg_finish_decompress(&jpeg);
    jpeg_destroy_decompress(&jpeg);
    free(rows);
}

int main(int argc, char **argv)
{
    FILE *file = argc >= 2 ? fopen(argv[1], "rb") : NULL;
    if (file == NULL) {
        fputs("usage: files_decode FILE [grey]\n", stderr);
        return 2;
    }
    setvbuf(file, NULL, _IOFBF, BUFFER_BYTES);
    int first = getc(file);
    ungetc(first, file);
    if (first == 0xff)
        decode_jpeg(file, argc == 3);
    else
        decode_png(file);
    fclose(file);
    return 0;
}
