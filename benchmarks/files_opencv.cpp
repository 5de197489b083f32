/* The strongest peer of files.sh: what one would write by hand on OpenCV's core and imgproc, with
 * libpng and libjpeg called directly and all cores in use.
 *
 *     files_opencv edges IN OUT.png [IN OUT.png]...    5x5 Gaussian, Laplacian, threshold 5, 1 bit
 *     files_opencv canny IN OUT.png [IN OUT.png]...    cv::Canny with 100 and 200, 1 bit
 *     files_opencv filter IN OUT                       disc in 9x9 over RGB, to PNG level 1 or JPEG
 *     files_opencv smooth IN OUT [IN OUT]...           5x5 Gaussian over RGB, to PNG level 1 or JPEG
 *
 * Several files are worked on in parallel, one a thread; of one file the strips are. PNG is written
 * as OpenCV's own imwrite does (level 1, SUB, Z_RLE), edges without a filter. */
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include <jpeglib.h>
#include <png.h>
#include <zlib.h>

namespace
{

const int strip_rows = 64;

/* body(0) to body(count - 1) on all cores. cv::parallel_for_ keeps to one where Debian's TBB sees
 * but one. */
void in_parallel(int count, const std::function<void(int)> &body)
{
    std::atomic<int> next(0);
    auto work = [&] {
        for (int i = next++; i < count; i = next++)
            body(i);
    };
    int others = std::min(count, int(std::thread::hardware_concurrency())) - 1;
    std::vector<std::thread> threads;
    for (int i = 0; i < others; i++)
        threads.emplace_back(work);
    work();
    for (auto &thread : threads)
        thread.join();
}

FILE *open_file(const std::string &name, const char *mode)
{
    FILE *file = std::fopen(name.c_str(), mode);
    if (file == nullptr)
        std::exit(1);
    return file;
}

cv::Mat read_jpeg(FILE *file, bool grey)
{
    jpeg_decompress_struct jpeg;
    jpeg_error_mgr errors;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&jpeg);
    jpeg_stdio_src(&jpeg, file);
    jpeg_read_header(&jpeg, TRUE);
    jpeg.out_color_space = grey ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_start_decompress(&jpeg);
    cv::Mat image(int(jpeg.output_height), int(jpeg.output_width), grey ? CV_8UC1 : CV_8UC3);
    while (jpeg.output_scanline < jpeg.output_height) {
        JSAMPROW row = image.ptr(int(jpeg.output_scanline));
        jpeg_read_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_decompress(&jpeg);
    jpeg_destroy_decompress(&jpeg);
    return image;
}

cv::Mat read_png(FILE *file, bool grey)
{
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
    png_infop info = png_create_info_struct(png);
    if (setjmp(png_jmpbuf(png)) != 0)
        std::exit(1);
    png_init_io(png, file);
    png_read_info(png, info);
    bool colour = (png_get_color_type(png, info) & PNG_COLOR_MASK_COLOR) != 0;
    png_read_update_info(png, info);
    int width = int(png_get_image_width(png, info));
    int height = int(png_get_image_height(png, info));
    cv::Mat image(height, width, colour && !grey ? CV_8UC3 : CV_8UC1);
    cv::Mat rgb(strip_rows, width, CV_8UC3);
    for (int y = 0; y < height; y++) {
        bool converts = colour && grey;
        png_read_row(png, converts ? rgb.ptr(y % strip_rows) : image.ptr(y), nullptr);
        int done = y % strip_rows + 1;
        if (converts && (done == strip_rows || y + 1 == height)) {
            cv::Mat to = image.rowRange(y + 1 - done, y + 1);
            cv::cvtColor(rgb.rowRange(0, done), to, cv::COLOR_RGB2GRAY);
        }
    }
    png_read_end(png, nullptr);
    png_destroy_read_struct(&png, &info, nullptr);
    return image;
}

cv::Mat read_image(const std::string &name, bool grey)
{
    FILE *file = open_file(name, "rb");
    int first = std::getc(file);
    std::ungetc(first, file);
    cv::Mat image = first == 0xff ? read_jpeg(file, grey) : read_png(file, grey);
    std::fclose(file);
    return image;
}

void write_png(const std::string &name, const cv::Mat &rows, int width, int depth, int filter)
{
    FILE *file = open_file(name, "wb");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
    png_infop info = png_create_info_struct(png);
    if (setjmp(png_jmpbuf(png)) != 0)
        std::exit(1);
    png_init_io(png, file);
    png_set_IHDR(png, info, png_uint_32(width), png_uint_32(rows.rows), depth,
                 rows.channels() == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_compression_level(png, 1);
    png_set_compression_strategy(png, Z_RLE);
    png_set_filter(png, PNG_FILTER_TYPE_BASE, filter);
    png_write_info(png, info);
    for (int y = 0; y < rows.rows; y++)
        png_write_row(png, rows.ptr(y));
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    std::fclose(file);
}

void write_jpeg(const std::string &name, const cv::Mat &image)
{
    FILE *file = open_file(name, "wb");
    jpeg_compress_struct jpeg;
    jpeg_error_mgr errors;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, file);
    jpeg.image_width = JDIMENSION(image.cols);
    jpeg.image_height = JDIMENSION(image.rows);
    jpeg.input_components = image.channels();
    jpeg.in_color_space = image.channels() == 3 ? JCS_RGB : JCS_GRAYSCALE;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 90, TRUE);
    jpeg_start_compress(&jpeg, TRUE);
    for (int y = 0; y < image.rows; y++) {
        JSAMPROW row = const_cast<JSAMPROW>(image.ptr(y));
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    std::fclose(file);
}

void pack_row(const float *row, int width, float threshold, unsigned char *bits)
{
    for (int x = 0; x < width; x += 8) {
        unsigned byte = 0;
        int count = std::min(8, width - x);
        for (int i = 0; i < count; i++)
            byte |= unsigned(std::abs(row[x + i]) > threshold) << (7 - i);
        bits[x / 8] = static_cast<unsigned char>(byte);
    }
}

/* A strip's filters read the rows around it: a range of rows is a view of the whole image. */
void find_edges(const cv::Mat &image, int first, int last, cv::Mat &bits)
{
    const float gauss[] = {2, 4, 5, 4, 2};
    const cv::Mat side(1, 5, CV_32F, const_cast<float *>(gauss));
    int above = std::max(first - 1, 0), below = std::min(last + 1, image.rows);
    cv::Mat smooth, response;
    cv::sepFilter2D(image.rowRange(above, below), smooth, CV_32F, side, side, cv::Point(-1, -1), 0,
                    cv::BORDER_REFLECT);
    cv::Laplacian(smooth.rowRange(first - above, last - above), response, CV_32F, 1, 1, 0,
                  cv::BORDER_REFLECT);
    for (int y = first; y < last; y++)
        pack_row(response.ptr<float>(y - first), image.cols, 5 * 289, bits.ptr(y));
}

void edges(const std::string &in, const std::string &out)
{
    cv::Mat image = read_image(in, true);
    cv::Mat bits(image.rows, (image.cols + 7) / 8, CV_8UC1);
    in_parallel((image.rows + strip_rows - 1) / strip_rows, [&](int i) {
        find_edges(image, i * strip_rows, std::min((i + 1) * strip_rows, image.rows), bits);
    });
    write_png(out, bits, image.cols, 1, PNG_FILTER_NONE);
}

void canny(const std::string &in, const std::string &out)
{
    cv::Mat image = read_image(in, true), found, bits(image.rows, (image.cols + 7) / 8, CV_8UC1);
    cv::setNumThreads(int(std::thread::hardware_concurrency()));
    cv::Canny(image, found, 100, 200);
    in_parallel(image.rows, [&](int y) {
        for (int x = 0; x < bits.cols; x++) {
            const unsigned char *from = found.ptr(y) + 8 * x;
            unsigned byte = 0;
            for (int i = 0; i < std::min(8, image.cols - 8 * x); i++)
                byte |= (from[i] & 1U) << (7 - i);
            bits.at<unsigned char>(y, x) = static_cast<unsigned char>(byte);
        }
    });
    write_png(out, bits, image.cols, 1, PNG_FILTER_NONE);
}

void write_image(const std::string &name, const cv::Mat &image)
{
    if (name.size() > 4 && name.compare(name.size() - 4, 4, ".jpg") == 0)
        write_jpeg(name, image);
    else
        write_png(name, image, image.cols, 8, PNG_FILTER_SUB);
}

/* Filters strips by body(rows of the image, rows of the result). */
void filter_strips(const std::string &in, const std::string &out,
                   const std::function<void(const cv::Mat &, cv::Mat &)> &body)
{
    cv::Mat image = read_image(in, false);
    cv::Mat result(image.size(), image.type());
    in_parallel((image.rows + strip_rows - 1) / strip_rows, [&](int i) {
        cv::Range rows(i * strip_rows, std::min((i + 1) * strip_rows, image.rows));
        cv::Mat to = result.rowRange(rows);
        body(image.rowRange(rows), to);
    });
    write_image(out, result);
}

void filter(const std::string &in, const std::string &out)
{
    cv::Mat disc(9, 9, CV_32F);
    for (int y = -4; y <= 4; y++)
        for (int x = -4; x <= 4; x++)
            disc.at<float>(y + 4, x + 4) = x * x + y * y <= 18 ? 1.0F : 0.0F;
    disc /= cv::sum(disc)[0];
    filter_strips(in, out, [&](const cv::Mat &rows, cv::Mat &to) {
        cv::filter2D(rows, to, -1, disc, cv::Point(-1, -1), 0, cv::BORDER_REFLECT);
    });
}

void smooth(const std::string &in, const std::string &out)
{
    const float gauss[] = {2 / 17.F, 4 / 17.F, 5 / 17.F, 4 / 17.F, 2 / 17.F};
    const cv::Mat side(1, 5, CV_32F, const_cast<float *>(gauss));
    filter_strips(in, out, [&](const cv::Mat &rows, cv::Mat &to) {
        cv::sepFilter2D(rows, to, -1, side, side, cv::Point(-1, -1), 0, cv::BORDER_REFLECT);
    });
}

} // namespace

int main(int argc, char **argv)
{
    std::string command = argc >= 4 ? argv[1] : "";
    auto *run = command == "edges"    ? edges
                : command == "canny"  ? canny
                : command == "filter" ? filter
                : command == "smooth" ? smooth
                                      : nullptr;
    if (argc % 2 != 0 || run == nullptr) {
        std::fputs("usage: files_opencv edges|canny|filter|smooth IN OUT [IN OUT]...\n", stderr);
        return 2;
    }
    cv::setNumThreads(1);
    in_parallel((argc - 2) / 2, [&](int i) { run(argv[2 + 2 * i], argv[3 + 2 * i]); });
    return 0;
}
