#!/usr/bin/env python3
"""Random images, written as PNG by gconv's own compression and read back by other programs: libspng,
Pillow and ImageMagick, those that are installed. No part of the suite.

    tests/png_readers.py [BUILD_DIR [COUNT]]

COUNT is 2000. ImageMagick reads every 50th image. unit_png_pack does the same with libpng:
GCONV_PNG_IMAGES=100000 BUILD_DIR/tests/unit_png_pack
"""
import ctypes
import ctypes.util
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

COLOURS = {1: 0, 2: 4, 3: 2, 4: 6}  # of PNG, by channels
CHUNK = 1000  # images that gconv writes in one call
MAGICK_STEP = 50


def chunk(kind, data):
    check = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)


def write_png(path, image):
    """An image without filters, by zlib."""
    width, height, channels, depth, rows = image
    bytes_a_row = width * channels * depth // 8
    lines = b"".join(b"\0" + rows[y * bytes_a_row : (y + 1) * bytes_a_row] for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, depth, COLOURS[channels], 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header))
        file.write(chunk(b"IDAT", zlib.compress(lines, 1)) + chunk(b"IEND", b""))


def make_image(draw):
    """Noise of any width, one value, a few values by turns, or a ramp with some noise."""
    width, height = draw.choice((4, 40, 400)), draw.choice((4, 40, 100))
    width, height = draw.randint(1, width), draw.randint(1, height)
    channels, depth = draw.randint(1, 4), draw.choice((8, 8, 16))
    count = width * height * channels * depth // 8
    kind = draw.randrange(5)
    if kind == 0:
        rows = draw.randbytes(count)
    elif kind == 1:
        rows = bytes([draw.randrange(256)]) * count
    elif kind == 2:
        some = draw.randbytes(draw.randint(1, 4))
        rows = (b"".join(bytes([byte]) * draw.randint(1, 300) for byte in some) * count)[:count]
    elif kind == 3:
        noise, step = draw.randbytes(count), draw.randint(1, 64)
        mask = (1 << draw.randint(0, 4)) - 1
        rows = bytes((i // step + (noise[i] & mask)) & 255 for i in range(count))
    else:
        rows = bytes(draw.choices((0, 255), k=count))
    return width, height, channels, depth, rows


class Spng:
    """libspng, which gives samples as the file has them."""

    RAW = 512

    def __init__(self):
        self.library = ctypes.CDLL(ctypes.util.find_library("spng") or "libspng.so.0")
        self.library.spng_ctx_new.restype = ctypes.c_void_p

    def read(self, path):
        with open(path, "rb") as file:
            data = file.read()
        library, size = self.library, ctypes.c_size_t()
        context = ctypes.c_void_p(library.spng_ctx_new(0))
        library.spng_set_png_buffer(context, data, ctypes.c_size_t(len(data)))
        failed = library.spng_decoded_image_size(context, self.RAW, ctypes.byref(size))
        rows = ctypes.create_string_buffer(size.value)
        failed = failed or library.spng_decode_image(context, rows, size, self.RAW, 0)
        library.spng_ctx_free(context)
        return None if failed else rows.raw


def read_by_pillow(path, image):
    """The samples; of 16 bits in colour the higher bytes alone, as Pillow has them."""
    from PIL import Image

    with Image.open(path) as picture:
        picture.load()
        found = picture.tobytes()
        if picture.mode.startswith("I"):  # 16-bit grey, as 16-bit or 32-bit numbers
            size = len(found) * 2 // len(image[4])
            found = b"".join(found[i : i + 2][::-1] for i in range(0, len(found), size))
    return found


def same_by_pillow(path, image):
    channels, depth, rows = image[2:]
    if channels == 2 and depth == 16:
        return True  # Pillow makes four channels of it
    found = read_by_pillow(path, image)
    return found == (rows if len(found) == len(rows) else rows[::2])


def same_by_magick(path, image):
    channels, depth, rows = image[2:]
    kind = {1: "gray", 2: "graya", 3: "rgb", 4: "rgba"}[channels]
    command = ["convert", path, "-depth", str(depth), "-endian", "MSB", kind + ":-"]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout == rows


def find_readers():
    readers = {}
    try:
        spng = Spng()
        readers["libspng"] = lambda path, image: spng.read(path) == image[4]
    except OSError:
        pass
    try:
        import PIL

        readers["Pillow " + PIL.__version__] = same_by_pillow
    except ImportError:
        pass
    if shutil.which("convert"):
        readers["ImageMagick"] = same_by_magick
    return readers


def check(gconv, images, readers, counts):
    with tempfile.TemporaryDirectory() as work:
        source, target = os.path.join(work, "in"), os.path.join(work, "out")
        os.mkdir(source)
        for n, image in enumerate(images):
            write_png(os.path.join(source, "%d.png" % n), image)
        options = ["-q", "-k", "1x1: 1", "--alpha", "keep", "-f", "png", "-o", target, source]
        subprocess.run([gconv, "filter"] + options, check=True)
        for n, image in enumerate(images):
            path = os.path.join(target, "%d.png" % n)
            for name, reads_alike in readers.items():
                if name == "ImageMagick" and n % MAGICK_STEP != 0:
                    continue
                counts[name] += 1
                if not reads_alike(path, image):
                    kept = shutil.copy(path, os.path.join(tempfile.gettempdir(), "differs.png"))
                    sys.exit("%s reads other samples: %s" % (name, kept))


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else "build"
    left = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    readers = find_readers()
    counts = dict.fromkeys(readers, 0)
    draw = random.Random(1)
    while left > 0:
        images = [make_image(draw) for _ in range(min(left, CHUNK))]
        check(os.path.join(build, "gconv"), images, readers, counts)
        left -= len(images)
    for name, count in counts.items():
        print("%s: %d images" % (name, count))
    return 0 if counts else 77


sys.exit(main())
