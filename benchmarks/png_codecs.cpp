/* PNG in memory and from files: gconv beside other codecs, in turns, one thread, processor time. Every
 * result is compared with libpng's before the clock starts.
 *
 *     png_codecs FILE.png [ROUNDS]
 *
 * Prints milliseconds (median), the ratio to gconv (median of rounds), and the size of what was
 * written. png_codecs.sh compiles it, with the peers that are there. */
#include "gconv.h"

#include <png.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <functional>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#ifdef WITH_SPNG
#include <spng.h>
#endif
#ifdef WITH_LIBDEFLATE
#include <libdeflate.h>
#endif
#ifdef WITH_FPNG
#include "fpng.h"
#endif
#ifdef WITH_FPNGE
#include "fpnge.h"
#endif
#ifdef WITH_WUFFS
#define WUFFS_IMPLEMENTATION
#define WUFFS_CONFIG__STATIC_FUNCTIONS
#define WUFFS_CONFIG__MODULES
#define WUFFS_CONFIG__MODULE__ADLER32
#define WUFFS_CONFIG__MODULE__BASE
#define WUFFS_CONFIG__MODULE__CRC32
#define WUFFS_CONFIG__MODULE__DEFLATE
#define WUFFS_CONFIG__MODULE__PNG
#define WUFFS_CONFIG__MODULE__ZLIB
#include "wuffs-v0.4.c"
#endif

typedef std::vector<unsigned char> bytes;

static int width, height, channels;

[[noreturn]] static void fail(const char *what)
{
    fprintf(stderr, "png_codecs: %s failed\n", what);
    exit(1);
}

static double milliseconds()
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static bytes load(const char *path)
{
    bytes file;
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        fail(path);
    struct stat status;
    fstat(fileno(f), &status);
    file.resize((size_t)status.st_size);
    if (fread(file.data(), 1, file.size(), f) != file.size())
        fail(path);
    fclose(f);
    return file;
}

/* ---- Decoding -------------------------------------------------------------------------------- */

static bytes decode_libpng(const bytes &file)
{
    png_image image = {};
    image.version = PNG_IMAGE_VERSION;
    if (!png_image_begin_read_from_memory(&image, file.data(), file.size()))
        fail("libpng");
    channels = image.format & PNG_FORMAT_FLAG_COLOR ? 3 : 1;
    image.format = channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
    width = (int)image.width;
    height = (int)image.height;
    bytes pixels(PNG_IMAGE_SIZE(image));
    if (!png_image_finish_read(&image, NULL, pixels.data(), 0, NULL))
        fail("libpng");
    return pixels;
}

static bytes decode_gconv(const char *path)
{
    gconv_reader *reader = NULL;
    size_t row = (size_t)width * (size_t)channels;
    bytes pixels(row * (size_t)height);
    if (gconv_reader_open(path, NULL, &reader, NULL) != GCONV_OK ||
        gconv_reader_read(reader, (uint32_t)height, pixels.data(), row, NULL) != GCONV_OK ||
        gconv_reader_finish(reader, NULL) != GCONV_OK)
        fail("gconv");
    gconv_reader_free(reader);
    return pixels;
}

#ifdef WITH_SPNG
static bytes decode_spng(const bytes &file)
{
    spng_ctx *context = spng_ctx_new(0);
    size_t size = 0;
    spng_set_png_buffer(context, file.data(), file.size());
    if (spng_decoded_image_size(context, SPNG_FMT_PNG, &size) != 0)
        fail("spng");
    bytes pixels(size);
    if (spng_decode_image(context, pixels.data(), size, SPNG_FMT_PNG, 0) != 0)
        fail("spng");
    spng_ctx_free(context);
    return pixels;
}
#endif

#ifdef WITH_WUFFS
static bytes decode_wuffs(const bytes &file)
{
    wuffs_png__decoder *decoder = wuffs_png__decoder__alloc();
    wuffs_base__io_buffer source =
        wuffs_base__ptr_u8__reader((uint8_t *)file.data(), file.size(), true);
    wuffs_base__image_config config = wuffs_base__null_image_config();
    if (wuffs_png__decoder__decode_image_config(decoder, &config, &source).repr != NULL)
        fail("wuffs");
    uint32_t format = channels == 3 ? WUFFS_BASE__PIXEL_FORMAT__RGB : WUFFS_BASE__PIXEL_FORMAT__Y;
    wuffs_base__pixel_config__set(&config.pixcfg, format, 0, (uint32_t)width, (uint32_t)height);
    bytes pixels((size_t)width * (size_t)height * (size_t)channels);
    bytes work(wuffs_png__decoder__workbuf_len(decoder).max_incl);
    wuffs_base__pixel_buffer to = {};
    wuffs_base__pixel_buffer__set_from_slice(
        &to, &config.pixcfg, wuffs_base__make_slice_u8(pixels.data(), pixels.size()));
    if (wuffs_png__decoder__decode_frame(decoder, &to, &source, WUFFS_BASE__PIXEL_BLEND__SRC,
                                         wuffs_base__make_slice_u8(work.data(), work.size()), NULL)
            .repr != NULL)
        fail("wuffs");
    free(decoder);
    return pixels;
}
#endif

/* ---- Encoding -------------------------------------------------------------------------------- */

static void write_gconv(const bytes &pixels, const char *path)
{
    gconv_writer *writer = NULL;
    gconv_writer_options options = gconv_writer_options_default();
    options.format = GCONV_FORMAT_PNG;
    options.shape = gconv_shape{(uint32_t)width, (uint32_t)height, channels, 8};
    if (gconv_writer_open(path, &options, &writer, NULL) != GCONV_OK ||
        gconv_writer_write(writer, (uint32_t)height, pixels.data(),
                           (size_t)width * (size_t)channels, NULL) != GCONV_OK ||
        gconv_writer_finish(writer, NULL) != GCONV_OK)
        fail("gconv");
    gconv_writer_free(writer);
}

/* The first file is looked at; the others go to /dev/null. */
static bytes encode_gconv(const bytes &pixels)
{
    static bytes file;
    if (!file.empty()) {
        write_gconv(pixels, "/dev/null");
        return bytes();
    }
    char path[] = "/tmp/png_codecs-XXXXXX";
    close(mkstemp(path));
    write_gconv(pixels, path);
    file = load(path);
    unlink(path);
    return file;
}

static void take(png_structp png, png_bytep data, size_t size)
{
    bytes *file = (bytes *)png_get_io_ptr(png);
    file->insert(file->end(), data, data + size);
}

static void flush(png_structp)
{
}

/* Level 1, filter "up", runs alone: the fastest that zlib has. */
static bytes encode_libpng(const bytes &pixels)
{
    bytes file;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_set_write_fn(png, &file, take, flush);
    png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, 8,
                 channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_compression_level(png, 1);
    png_set_compression_strategy(png, Z_RLE);
    png_set_filter(png, 0, PNG_FILTER_UP);
    png_write_info(png, info);
    for (int y = 0; y < height; y++)
        png_write_row(png, &pixels[(size_t)y * (size_t)width * (size_t)channels]);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return file;
}

#ifdef WITH_LIBDEFLATE
static void put_chunk(bytes &file, const char *name, const bytes &data)
{
    bytes part(name, name + 4);
    part.insert(part.end(), data.begin(), data.end());
    uint32_t check = libdeflate_crc32(0, part.data(), part.size());
    for (int shift = 24; shift >= 0; shift -= 8)
        file.push_back((unsigned char)(data.size() >> shift));
    file.insert(file.end(), part.begin(), part.end());
    for (int shift = 24; shift >= 0; shift -= 8)
        file.push_back((unsigned char)(check >> shift));
}

/* Filter "up", and libdeflate's level 1. */
static bytes encode_libdeflate(const bytes &pixels)
{
    size_t row = (size_t)width * (size_t)channels;
    bytes filtered((row + 1) * (size_t)height), header(13), file;
    for (size_t y = 0; y < (size_t)height; y++) {
        unsigned char *to = &filtered[y * (row + 1)];
        const unsigned char *from = &pixels[y * row];
        *to++ = y > 0 ? 2 : 0;
        for (size_t i = 0; i < row; i++)
            to[i] = (unsigned char)(y > 0 ? from[i] - (from - row)[i] : from[i]);
    }
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(1);
    bytes packed(libdeflate_zlib_compress_bound(compressor, filtered.size()));
    packed.resize(libdeflate_zlib_compress(compressor, filtered.data(), filtered.size(),
                                           packed.data(), packed.size()));
    libdeflate_free_compressor(compressor);
    static const unsigned char signature[] = {137, 'P', 'N', 'G', 13, 10, 26, 10};
    file.assign(signature, signature + 8);
    for (int i = 0; i < 4; i++) {
        header[(size_t)i] = (unsigned char)(width >> (24 - 8 * i));
        header[(size_t)i + 4] = (unsigned char)(height >> (24 - 8 * i));
    }
    header[8] = 8;
    header[9] = channels == 3 ? 2 : 0;
    put_chunk(file, "IHDR", header);
    put_chunk(file, "IDAT", packed);
    put_chunk(file, "IEND", bytes());
    return file;
}
#endif

#ifdef WITH_FPNG
static bytes encode_fpng(const bytes &pixels)
{
    bytes file;
    if (!fpng::fpng_encode_image_to_memory(pixels.data(), (uint32_t)width, (uint32_t)height,
                                           (uint32_t)channels, file))
        fail("fpng");
    return file;
}
#endif

#ifdef WITH_FPNGE
static bytes encode_fpnge(const bytes &pixels, int level)
{
    struct FPNGEOptions options;
    FPNGEFillOptions(&options, level, FPNGE_CICP_NONE);
    static bytes room(FPNGEOutputAllocSize(1, (size_t)channels, (size_t)width, (size_t)height));
    size_t size =
        FPNGEEncode(1, (size_t)channels, pixels.data(), (size_t)width,
                    (size_t)width * (size_t)channels, (size_t)height, room.data(), &options);
    return bytes(room.begin(), room.begin() + (ptrdiff_t)size);
}
#endif

/* ---- Turns ----------------------------------------------------------------------------------- */

struct contender {
    std::string name;
    std::function<bytes()> run;
    std::vector<double> times;
    size_t size;
};

static double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

static void compare(const char *title, std::vector<contender> &all, const bytes &expected,
                    bool decodes, int rounds)
{
    for (contender &c : all) {
        bytes result = c.run();
        c.size = decodes ? 0 : result.size();
        if ((decodes ? result : decode_libpng(result)) != expected)
            fail(("the result of " + c.name).c_str());
    }
    for (int n = 0; n < rounds; n++)
        for (contender &c : all) {
            double start = milliseconds();
            c.run();
            c.times.push_back(milliseconds() - start);
        }
    printf("%s\n", title);
    for (contender &c : all) {
        std::vector<double> ratios;
        for (size_t n = 0; n < c.times.size(); n++)
            ratios.push_back(all[0].times[n] / c.times[n]);
        printf("  %-24s %8.1f ms   gconv takes %5.2f of it", c.name.c_str(), median(c.times),
               median(ratios));
        if (!decodes)
            printf("   %6.2f MB", 1e-6 * (double)c.size);
        printf("\n");
    }
}

int main(int count, char **arguments)
{
    if (count < 2)
        fail("png_codecs FILE.png [ROUNDS]: reading the arguments");
    const char *path = arguments[1];
    int rounds = count > 2 ? atoi(arguments[2]) : 21;
    bytes file = load(path), pixels = decode_libpng(file);
    std::vector<contender> decoders, encoders;
    auto add = [](std::vector<contender> &to, const char *name, std::function<bytes()> run) {
        to.push_back({name, run, {}, 0});
    };
    add(decoders, "gconv", [&] { return decode_gconv(path); });
    add(decoders, "libpng " PNG_LIBPNG_VER_STRING, [&] { return decode_libpng(file); });
    add(encoders, "gconv", [&] { return encode_gconv(pixels); });
    add(encoders, "libpng, zlib RLE", [&] { return encode_libpng(pixels); });
#ifdef WITH_SPNG
    add(decoders, "spng", [&] { return decode_spng(file); });
#endif
#ifdef WITH_WUFFS
    add(decoders, "wuffs", [&] { return decode_wuffs(file); });
#endif
#ifdef WITH_LIBDEFLATE
    add(encoders, "libdeflate 1, up", [&] { return encode_libdeflate(pixels); });
#endif
#ifdef WITH_FPNG
    fpng::fpng_init();
    if (channels == 3)
        add(encoders, "fpng", [&] { return encode_fpng(pixels); });
#endif
#ifdef WITH_FPNGE
    add(encoders, "fpnge 1", [&] { return encode_fpnge(pixels, 1); });
    add(encoders, "fpnge 4", [&] { return encode_fpnge(pixels, 4); });
#endif
    printf("%s: %d x %d, %d channels, %.2f MB\n", path, width, height, channels,
           1e-6 * (double)file.size());
    compare("decoding", decoders, pixels, true, rounds);
    compare("encoding", encoders, pixels, false, rounds);
    return 0;
}
