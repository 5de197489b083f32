#!/usr/bin/env python3
"""TIFF files of all layouts that gconv reads, made here and judged by the rules 110 to 114 of
contract.md; then what gconv writes, what it refuses, metadata, and damage.

    tests/formats/tiff.py GCONV [COUNT [SEED]]

COUNT is the number of random files, 150. If tifffile is there, it has to read the same samples. Exits
with 77 if the build of gconv has no TIFF.
"""
import os
import random
import struct
import subprocess
import sys
import tempfile
import zlib

from command import GCONV, convert, formats, read, run, write

NONE, LZW, OLD_JPEG, DEFLATE, PACKBITS = 1, 5, 6, 8, 32773
WHITE_IS_ZERO, BLACK_IS_ZERO, RGB, PALETTE = 0, 1, 2, 3
SIZES = {2: "s", 3: "H", 4: "I", 5: "II", 7: "s", 11: "f", 12: "d", 16: "Q"}


# ---- A writer of TIFF ----------------------------------------------------------------------------


def pack_bits(values, bits):
    """Samples of one row, the first bit highest."""
    whole = 0
    for value in values:
        whole = whole << bits | value
    pad = -len(values) * bits % 8
    return (whole << pad).to_bytes((len(values) * bits + pad) // 8, "big")


def pack_row(values, kind, order):
    bits, floats = kind
    if floats:
        return struct.pack(order + "%d%s" % (len(values), "d" if bits == 64 else "f"), *values)
    if bits == 16:
        return struct.pack(order + "%dH" % len(values), *values)
    return bytes(values) if bits == 8 else pack_bits(values, bits)


def lzw(data):
    """Literals alone; the table is cleared before codes get longer."""
    codes = []
    for at in range(0, len(data), 200):
        codes += [256] + list(data[at : at + 200])
    return pack_bits(codes + [257], 9)


def packbits(data):
    pieces = (data[at : at + 100] for at in range(0, len(data), 100))
    return b"".join(bytes([len(piece) - 1]) + piece for piece in pieces)


COMPRESS = {NONE: bytes, LZW: lzw, DEFLATE: zlib.compress, PACKBITS: packbits}


def tag(number, kind, *values):
    return number, kind, values


def lay_directory(order, big, at, tags, more):
    """A directory at an offset, with its values behind it. `more` is the offset of the next one."""
    entry, offset, room = ("HHQ", "Q", 8) if big else ("HHI", "I", 4)
    tags = sorted(tags)
    body, values = b"", b""
    end = at + (8 if big else 2) + len(tags) * (20 if big else 12) + (8 if big else 4)
    for number, kind, given in tags:
        if kind in (2, 7):
            data, count = given[0], len(given[0])
        else:
            data = struct.pack(order + SIZES[kind][0] * len(given), *given)
            count = len(given) // len(SIZES[kind])
        if len(data) > room:
            field = struct.pack(order + offset, end + len(values))
            values += data + b"\0" * (len(data) % 2)
        else:
            field = data.ljust(room, b"\0")
        body += struct.pack(order + entry, number, kind, count) + field
    count = struct.pack(order + ("Q" if big else "H"), len(tags))
    return count + body + struct.pack(order + offset, more) + values


def units_of(image):
    """Strips or tiles: for each plane the lists of samples of its rows."""
    width, height, samples = image["width"], image["height"], image["samples"]
    across, down = image["tile"] or (width, image["rows"])
    planes = range(samples) if image["separate"] else [None]
    for plane in planes:
        for top in range(0, height, down):
            for left in range(0, width, across):
                bottom = top + down if image["tile"] else min(top + down, height)
                rows = []
                for y in range(top, bottom):
                    row = []
                    for x in range(left, left + across):
                        inside = x < width and y < height
                        pixel = image["pixels"][y][x] if inside else [0] * samples
                        row += pixel if plane is None else [pixel[plane]]
                    rows.append(row)
                yield rows


def predict(row, step, bits):
    return [v if i < step else (v - row[i - step]) % (1 << bits) for i, v in enumerate(row)]


def make_tiff(*images, order="<", big=False):
    """A file of several images."""
    data = bytearray(16)
    links = []
    for image in images:
        offsets, sizes = [], []
        step = 1 if image["separate"] else image["samples"]
        for rows in units_of(image):
            if image["predictor"]:
                rows = [predict(row, step, image["kind"][0]) for row in rows]
            raw = b"".join(pack_row(row, image["kind"], order) for row in rows)
            packed = COMPRESS.get(image["compression"], bytes)(raw)
            offsets.append(len(data))
            sizes.append(len(packed))
            data += packed + b"\0" * (len(packed) % 2)
        where, how_many = (324, 325) if image["tile"] else (273, 279)
        kind = 16 if big else 4
        tags = [
            tag(256, 4, image["width"]),
            tag(257, 4, image["height"]),
            tag(258, 3, *[image["kind"][0]] * image["samples"]),
            tag(259, 3, image["compression"]),
            tag(262, 3, image["photometric"]),
            tag(277, 3, image["samples"]),
            tag(284, 3, 2 if image["separate"] else 1),
            tag(where, kind, *offsets),
            tag(how_many, kind, *sizes),
        ]
        if image["tile"]:
            tags += [tag(322, 4, image["tile"][0]), tag(323, 4, image["tile"][1])]
        else:
            tags.append(tag(278, 4, image["rows"]))
        if image["predictor"]:
            tags.append(tag(317, 3, 2))
        if image["kind"][1]:
            tags.append(tag(339, 3, *[3] * image["samples"]))
        links.append((len(data), tags + image["tags"]))
        data += lay_directory(order, big, len(data), tags + image["tags"], 0)
    for i, (at, tags) in enumerate(links):
        more = links[i + 1][0] if i + 1 < len(links) else 0
        laid = lay_directory(order, big, at, tags, more)
        data[at : at + len(laid)] = laid
    mark = b"II" if order == "<" else b"MM"
    if big:
        data[:16] = mark + struct.pack(order + "HHHQ", 43, 8, 0, links[0][0])
    else:
        data[:8] = mark + struct.pack(order + "HI", 42, links[0][0])
    return bytes(data)


def make_image(draw, width, height, samples=1, kind=(8, False), **what):
    most = (1 << kind[0]) - 1
    value = (lambda: draw.uniform(-9, 300)) if kind[1] else (lambda: draw.randint(0, most))
    single = struct.Struct("f")
    value_of = (lambda: single.unpack(single.pack(value()))[0]) if kind[1] else value
    image = {
        "width": width,
        "height": height,
        "samples": samples,
        "kind": kind,
        "photometric": RGB if samples >= 3 else BLACK_IS_ZERO,
        "separate": False,
        "tile": None,
        "rows": 4,
        "compression": NONE,
        "predictor": False,
        "tags": [],
        "alpha": None,
        "palette": None,
        "pixels": [[[value_of() for _ in range(samples)] for _ in range(width)] for _ in range(height)],
    }
    image.update(what)
    return image


# ---- A reader of what gconv writes ---------------------------------------------------------------


def read_tags(data):
    """Images of uncompressed strips, little-endian: a list of dicts of tags."""
    found, (at,) = [], struct.unpack_from("<I", data, 4)
    while at != 0:
        (count,) = struct.unpack_from("<H", data, at)
        tags = {}
        for i in range(count):
            number, kind, many = struct.unpack_from("<HHI", data, at + 2 + 12 * i)
            field = ("%d" % many + SIZES[kind]) if kind in (2, 7) else SIZES[kind] * many
            place = at + 10 + 12 * i
            if struct.calcsize("<" + field) > 4:
                (place,) = struct.unpack_from("<I", data, place)
            tags[number] = struct.unpack_from("<" + field, data, place)
        found.append(tags)
        (at,) = struct.unpack_from("<I", data, at + 2 + 12 * count)
    return found


def read_samples(data, tags):
    body = b"".join(data[o : o + n] for o, n in zip(tags[273], tags[279]))
    bits = tags[258][0]
    code = {8: "B", 16: "H", 32: "f"}[bits]
    values = struct.unpack("<%d%s" % (len(body) * 8 // bits, code), body)
    return tags[277][0], bits, list(values)


# ---- What the rules say --------------------------------------------------------------------------


def expected(image):
    """Channels, depth and samples."""
    bits, floats = image["kind"]
    colours = 3 if image["photometric"] in (RGB, PALETTE) else 1
    depth = 32 if floats else 8 if bits <= 8 or image["palette"] else 16
    full, most = (1 << depth) - 1, (1 << bits) - 1
    in_file = 3 if image["photometric"] == RGB else 1
    out = []
    for row in image["pixels"]:
        for pixel in row:
            level = (lambda v: v) if floats else (lambda v: (v * full + most // 2) // most)
            if image["palette"]:
                shift = 8 if max(image["palette"]) > 255 else 0
                taken = [image["palette"][(c << bits) + pixel[0]] >> shift for c in range(3)]
            else:
                taken = [level(v) for v in pixel[:in_file]]
            if image["photometric"] == WHITE_IS_ZERO:
                taken = [full - v for v in taken]
            if image["alpha"]:
                alpha = level(pixel[in_file])
                if image["alpha"] == 1:
                    taken = [min(full, (v * full + alpha // 2) // alpha) if alpha else 0 for v in taken]
                taken.append(alpha)
            out += taken
    return colours + (1 if image["alpha"] else 0), depth, out


def random_image(draw):
    photometric = draw.choice([WHITE_IS_ZERO, BLACK_IS_ZERO, RGB, RGB, PALETTE])
    floats = photometric in (BLACK_IS_ZERO, RGB) and draw.random() < 0.15
    bits = 32 if floats else draw.choice([1, 2, 4, 8, 8, 16, 16, draw.randint(1, 16)])
    if photometric == PALETTE:
        bits = draw.choice([1, 2, 4, 8])
    alpha = draw.choice([None, None, 1, 2]) if not floats else draw.choice([None, 2])
    in_file = 3 if photometric == RGB else 1
    compression = draw.choice([NONE, NONE, LZW, DEFLATE, PACKBITS])
    image = make_image(
        draw,
        draw.randint(1, 70),
        draw.randint(1, 40),
        in_file + (1 if alpha else 0),
        (bits, floats),
        photometric=photometric,
        separate=draw.random() < 0.3,
        tile=draw.choice([None, None, (16, 32), (48, 16)]),
        rows=draw.choice([1, 3, 16, 40]),
        compression=compression,
        predictor=compression in (LZW, DEFLATE) and bits in (8, 16) and draw.random() < 0.5,
        alpha=alpha,
    )
    if alpha:
        image["tags"].append(tag(338, 3, alpha))
    if photometric == PALETTE:
        top = draw.choice([255, 65535])
        image["palette"] = [draw.randint(0, top) for _ in range(3 << bits)]
        image["tags"].append(tag(320, 3, *image["palette"]))
    return image


# ---- Tests ---------------------------------------------------------------------------------------


def judge(name, image):
    data = read(name)
    tags = read_tags(data)[0]
    got, want = read_samples(data, tags), expected(image)
    told = {k: v for k, v in image.items() if k not in ("pixels", "tags", "palette")}
    assert (tags[256][0], tags[257][0]) == (image["width"], image["height"]), told
    assert got == want, (name, told, got[:2], want[:2])


def test_layouts(count, seed):
    draw = random.Random(seed)
    os.mkdir("in")
    images = {}
    for i in range(count):
        images["%d.tif" % i] = image = random_image(draw)
        order, big = draw.choice("<>"), draw.random() < 0.2
        write("in/%d.tif" % i, make_tiff(image, order=order, big=big))
    plain = "--alpha", "keep", "--compression", "none"
    run("filter", "-q", "-k", "identity", *plain, "-o", "out", "in")
    for name, image in images.items():
        judge("out/" + name, image)
    # Rows in other bands, without a file to seek in, and part of the rows.
    for name in list(images)[:8]:
        piped = run("filter", "-q", "-k", "identity", *plain, "-", "-", data=read("in/" + name))
        assert piped.stdout == read("out/" + name), name
    return images


def test_tifffile(images):
    try:
        import numpy
        import tifffile
    except ImportError:
        print("tifffile is not there: it read nothing")
        return
    checked = 0
    for name, image in images.items():
        bits, floats = image["kind"]
        if image["compression"] == LZW or image["predictor"] or image["palette"] or bits not in (8, 16, 32):
            continue # needs imagecodecs
        got = tifffile.imread("in/" + name).reshape(-1).tolist()
        pixels = image["pixels"]
        flat = [v for row in pixels for pixel in row for v in pixel]
        if image["separate"]:
            flat = [p[s] for s in range(image["samples"]) for row in pixels for p in row]
        assert got == flat, name
        checked += 1
    print("tifffile read %d of these files, too" % checked)


def test_outputs(draw):
    image = make_image(draw, 61, 33, 4, (16, False), alpha=2, tags=[tag(338, 3, 2)])
    write("a.tif", make_tiff(image))
    for level in ("none", "deflate", "lzw", "1", "9"):
        run("filter", "-q", "-k", "identity", "--alpha", "keep", "--compression", level, "a.tif", "b.tif")
        run("filter", "-q", "-k", "identity", "--alpha", "keep", "--compression", "none", "b.tif", "c.tif")
        judge("c.tif", image)
    run("filter", "-q", "-k", "laplace3", "--depth", "32", "--alpha", "keep", "a.tif", "f.tif")
    run("filter", "-q", "-k", "identity", "--compression", "deflate", "--alpha", "keep", "f.tif", "g.tif")
    run("filter", "-q", "-k", "identity", "--alpha", "keep", "g.tif", "h.tif")
    assert read_tags(read("f.tif"))[0][341][0] == 65535
    run("edges", "-q", "a.tif", "e.tif")
    run("edges", "-q", "a.tif", "e.png")
    run("filter", "-q", "-k", "identity", "e.tif", "e1.tif")
    run("filter", "-q", "-k", "identity", "e.png", "e2.tif")
    assert read_tags(read("e.tif"))[0][258] == (1,) and read("e1.tif") == read("e2.tif")


def test_pages(draw):
    pages = [make_image(draw, 9 + i, 7, 1 + 2 * (i % 2), (8, False)) for i in range(3)]
    small = make_image(draw, 4, 3, tags=[tag(254, 4, 1)])
    write("p.tif", make_tiff(pages[0], small, pages[1], pages[2], order=">"))
    run("filter", "-q", "-k", "identity", "p.tif", "q.tif")
    data = read("q.tif")
    found = read_tags(data)
    assert len(found) == 3
    for tags, page in zip(found, pages):
        assert read_samples(data, tags) == expected(page)
    run("filter", "-q", "-k", "identity", "--page", "2", "p.tif", "two.tif")
    judge("two.tif", pages[1])
    piped = run("filter", "-q", "-k", "identity", "-", "-", data=read("p.tif")).stdout
    assert piped == data
    told = run("edges", "p.tif", "q.png", expect=1).stderr
    assert b"--format tiff holds all, --page N takes one" in told, told
    assert b"no page 4: the file has 3" in run("edges", "--page", "4", "p.tif", "q.png", expect=1).stderr
    circle = bytearray(make_tiff(pages[0]))
    at = struct.unpack_from("<I", circle, 4)[0]
    count = struct.unpack_from("<H", circle, at)[0]
    struct.pack_into("<I", circle, at + 2 + 12 * count, at)
    write("circle.tif", bytes(circle))
    assert b"the directory of page 2" in run("edges", "circle.tif", "c.tif", expect=1).stderr


def links_of(data):
    """Where the offset of each directory stands."""
    links = [4]
    while (at := struct.unpack_from("<I", data, links[-1])[0]) != 0:
        links.append(at + 2 + 12 * struct.unpack_from("<H", data, at)[0])
    return links


def test_damaged_pages(draw):
    """No page is lost without an error."""
    whole = make_tiff(*[make_image(draw, 9, 7) for _ in range(3)])
    links = links_of(whole)
    second = struct.unpack_from("<I", whole, links[1])[0]
    beyond, widthless = bytearray(whole), bytearray(whole)
    struct.pack_into("<I", beyond, links[1], 0x7000000)
    struct.pack_into("<H", widthless, second + 2, 60000) # the first entry is ImageWidth
    for damaged in (bytes(beyond), bytes(widthless), whole[: second + 20]):
        for options in (["filter", "-q", "-k", "identity"], ["edges", "-q"]):
            write("d.tif", damaged)
            told = run(*options, "d.tif", "none.tif", expect=1).stderr
            assert b"the directory of page 2" in told and not os.path.exists("none.tif"), told
            run(*options, "--in-place", "d.tif", expect=1)
            assert read("d.tif") == damaged
        told = run("filter", "-k", "identity", "--tolerant", "d.tif", "t.tif").stderr
        assert told.count(b"the directory of page 2") == 1 and len(read_tags(read("t.tif"))) == 1, told
        os.remove("t.tif")


def test_what_is_lost(draw):
    """EXIF in a directory of its own, and directories that are no page."""
    page, small = make_image(draw, 9, 7), make_image(draw, 4, 3, tags=[tag(254, 4, 1)])
    below = make_image(draw, 9, 7, tags=[tag(330, 4, 8)])
    lost = [(make_tiff(page, small), b"smaller version"), (make_tiff(below), b"smaller version")]
    for number in (34665, 34853):
        page = make_image(draw, 9, 7, tags=[tag(number, 4, 8)])
        lost.append((make_tiff(page), b"EXIF of a TIFF"))
    for data, words in lost:
        write("l.tif", data)
        assert run("filter", "-k", "identity", "l.tif", "m.tif").stderr.count(words) == 1
        assert words in run("edges", "-v", "l.tif", "m.tif").stderr
        assert words not in run("edges", "l.tif", "m.tif").stderr
        assert words in run("filter", "-k", "box3", "--in-place", "l.tif", expect=1).stderr
        assert read("l.tif") == data
        run("filter", "-q", "-k", "box3", "--in-place", "--tolerant", "l.tif")
        for command in ("edges",), ("filter", "-k", "box3", "--strip"): # they keep none of it
            write("l.tif", data)
            assert run(*command, "--in-place", "l.tif").stderr == b""
    jpeg = b"\xff\xd8\xff\xe1" + struct.pack(">H", 52) + b"Exif\0\0" + struct.pack(
        "<2sHIHHHIHHHHIII6x", b"II", 42, 8, 2, 274, 3, 1, 6, 0, 271, 2, 4, 0x00414141, 0)
    write("p.pgm", b"P5 8 8 255\n" + bytes(64))
    run("filter", "-q", "-k", "identity", "p.pgm", "p.jpg")
    write("j.jpg", jpeg + read("p.jpg")[2:])
    assert b"EXIF dropped but for the orientation" in run("filter", "-v", "-k", "identity", "j.jpg", "j.tif").stderr
    assert b"EXIF" not in run("filter", "-v", "-k", "identity", "j.tif", "k.tif").stderr


def sparse(width, height, **what):
    """A file whose pixels have no place in it."""
    blank = {"samples": 1, "separate": False, "tile": None, "compression": NONE, **what}
    count = what.get("units", 1)
    where, how_many = (324, 325) if blank["tile"] else (273, 279)
    tags = [tag(256, 4, width), tag(257, 4, height), tag(258, 3, *[8] * blank["samples"])]
    tags += [tag(259, 3, blank["compression"]), tag(262, 3, 1), tag(277, 3, blank["samples"])]
    tags += [tag(284, 3, 2 if blank["separate"] else 1)]
    tags += [tag(where, 4, *[0] * count), tag(how_many, 4, *[0] * count)]
    if blank["tile"]:
        tags += [tag(322, 4, blank["tile"][0]), tag(323, 4, blank["tile"][1])]
    else:
        tags += [tag(278, 4, height)]
    return b"II" + struct.pack("<HI", 42, 8) + lay_directory("<", False, 8, tags, 0)


def peak(*arguments):
    """The memory that a run takes at most, in bytes."""
    child = subprocess.Popen([GCONV, *arguments], stderr=subprocess.PIPE)
    told = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    assert status == 0, (arguments, told)
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def test_sparse(draw):
    """Pixels without a place are 0, in strips of any size; memory follows the image."""
    del draw
    write("s.tif", sparse(6000, 3000, compression=DEFLATE))
    run("filter", "-q", "-k", "identity", "s.tif", "s.pgm")
    assert not any(read("s.pgm")[-6000 * 3000 :])
    write("t.tif", sparse(1024, 1, tile=(16, 1 << 18), units=64))
    write("u.tif", sparse(4096, 4096, samples=16, separate=True, units=16))
    for name, most in (("t.tif", 100 << 20), ("u.tif", 200 << 20)):
        taken = peak("filter", "-q", "-k", "identity", "-j", "1", name, "v.pgm")
        assert taken < most, (name, taken)


def test_planes(draw):
    """Of separate planes, those of colours and alpha are read, alpha from any place."""
    image = make_image(draw, 20, 9, 6, photometric=RGB, separate=True, compression=DEFLATE,
                       tags=[tag(338, 3, 0, 0, 2)])
    for tile in (None, (16, 16)):
        image["tile"] = tile
        write("a.tif", make_tiff(image))
        run("filter", "-q", "-k", "identity", "--alpha", "keep", "--compression", "none", "a.tif", "b.tif")
        flat = [v for row in image["pixels"] for p in row for v in (p[0], p[1], p[2], p[5])]
        data = read("b.tif")
        assert read_samples(data, read_tags(data)[0]) == (4, 8, flat)


def test_fill_order(draw):
    """FillOrder 2: the first bit of a byte is the lowest."""
    turned = bytes(int(f"{v:08b}"[::-1], 2) for v in range(256))
    for bits in (8, 16):
        image = make_image(draw, 30, 20, kind=(bits, False), rows=20, tags=[tag(266, 3, 2)])
        data = make_tiff(image)
        first, size = read_tags(data)[0][273][0], 600 * bits // 8
        write("f.tif", data[:first] + data[first : first + size].translate(turned) + data[first + size :])
        run("filter", "-q", "-k", "identity", "f.tif", "g.tif")
        judge("g.tif", image)


def test_many_warnings(draw):
    """libtiff may say much about a file."""
    data = make_tiff(*[make_image(draw, 2, 2) for _ in range(40)])
    no_size = [struct.pack("<HHII", 279, 4, 1, size) for size in (4, 0)]
    write("w.tif", data.replace(*no_size))
    told = run("filter", "-v", "-k", "identity", "w.tif", "x.tif").stderr
    assert told.count(b"TIFF: ") <= 21 and told.count(b"further warnings of libtiff left out") == 1, told


def test_metadata(draw):
    icc = bytes(16) + b"GRAY" + bytes(16) + b"acsp" + bytes(100)
    image = make_image(
        draw,
        8,
        5,
        tags=[tag(34675, 7, icc), tag(282, 5, 300, 1), tag(283, 5, 150, 1), tag(296, 3, 3), tag(274, 3, 6)],
    )
    write("m.tif", make_tiff(image, order=">"))
    run("filter", "-q", "-k", "identity", "m.tif", "n.tif")
    tags = read_tags(read("n.tif"))[0]
    assert tags[34675][0] == icc and tags[256] == (5,) and tags[257] == (8,)
    assert (tags[282][0] / tags[282][1], tags[283][0] / tags[283][1], tags[296][0]) == (150, 300, 3)
    assert tags.get(274, (1,)) == (1,)
    samples = read_samples(read("n.tif"), tags)[2]
    pixels = image["pixels"]
    assert samples == [pixels[4 - y][x][0] for x in range(8) for y in range(5)]
    run("filter", "-q", "-k", "identity", "--no-auto-orient", "m.tif", "k.tif")
    assert read_tags(read("k.tif"))[0][274] == (6,)
    told = run("filter", "-k", "identity", "--no-auto-orient", "m.tif", "k.png").stderr
    assert told == b"gconv: k.png: warning: libpng rejects the ICC profile: dropped\n", told
    run("filter", "-q", "-k", "identity", "k.png", "l.tif")
    assert read_samples(read("l.tif"), read_tags(read("l.tif"))[0])[2] == samples
    run("filter", "-q", "-k", "identity", "--strip", "m.tif", "s.tif")
    assert not {34675, 282, 274} & set(read_tags(read("s.tif"))[0])


def test_copied_tags(draw):
    """GeoTIFF, GDAL and the description go to a TIFF, edges have the place alone."""
    place = [tag(34735, 3, 1, 1, 0, 1, 1024, 0, 1, 1), tag(33550, 12, 0.5, 0.25, 0.0),
             tag(33922, 12, *range(12)), tag(34737, 2, b"WGS 84|\0")]
    text = [tag(270, 2, b"<OME/>\0"), tag(42113, 2, b"-9999\0"), tag(42112, 2, b"<GDALMetadata/>\0")]
    text += [tag(n, 2, b"%d\0" % n) for n in (271, 272, 305, 306, 315, 316, 33432)]
    wrong = [tag(34736, 3, 1, 2)]
    page = make_image(draw, 9, 7, tags=place + text + wrong)
    for order, big in (("<", False), (">", True)):
        write("g.tif", make_tiff(page, order=order, big=big))
        kept = lambda tags: {t[0]: t[2] for t in tags}
        for words, wanted in (
            (["filter", "-k", "box3"], place + text),
            (["filter", "-k", "box3", "--page", "1"], place + text[1:]),
            (["filter", "-k", "box3", "--strip"], []),
            (["edges"], place),
        ):
            run(*words, "-q", "g.tif", "h.tif")
            found = read_tags(read("h.tif"))[0]
            assert {n: found[n] for n in kept(place + text + wrong) if n in found} == kept(wanted), words
        told = run("filter", "-v", "-k", "box3", "g.tif", "h.png").stderr
        assert b"GeoTIFF tags dropped" in told and b"comment dropped" in told, told
    turned = tag(274, 3, 6)
    for tags, name, output in (place + [turned], b"GeoTIFF", "h.tif"), (place[1:3] + [turned], b"GeoTIFF", "h.tif"), \
            (place[1:3], b"GeoTIFF", "h.png"), (text[1:2], b"GDAL", "h.png"), (text[3:4], b"text", "h.png"):
        write("g.tif", make_tiff(make_image(draw, 9, 7, tags=tags)))
        assert name + b" tags dropped" in run("filter", "-v", "-k", "box3", "g.tif", output).stderr, (tags, output)
        assert output == "h.png" or 33922 not in read_tags(read("h.tif"))[0]
    for numbers, others in ((50839,), b""), ((50838, 50839, 65000), b" and others"):
        write("g.tif", make_tiff(make_image(draw, 9, 7, tags=[tag(n, 3, 1, 2, 3) for n in numbers] + place)))
        assert b"a private tag is not kept" in run("filter", "-k", "box3", "--in-place", "g.tif", expect=1).stderr
        told = run("filter", "-k", "box3", "--in-place", "--tolerant", "g.tif").stderr
        assert told == b"gconv: g.tif: warning: TIFF tag %d%s dropped: private tags are not kept\n" % (numbers[0], others)
        assert run("filter", "-k", "box3", "--in-place", "g.tif").stderr == b""
    write("g.tif", make_tiff(make_image(draw, 9, 7, tags=[tag(270, 2, b'{"shape": [9, 7]}\0')])))
    assert b"comment" not in run("filter", "-v", "-k", "box3", "g.tif", "h.tif").stderr
    assert 270 not in read_tags(read("h.tif"))[0]
    write("g.tif", make_tiff(make_image(draw, 9, 7, tags=[tag(270, 2, bytes([88]) * (8 << 20) + b"\0")])))
    assert b"more than 8 MiB" in run("filter", "-k", "box3", "g.tif", "h.tif").stderr
    assert b"would be lost" in run("filter", "-k", "box3", "--in-place", "g.tif", expect=1).stderr
    run("edges", "-q", "--in-place", "g.tif")


def test_missing(draw):
    """Samples that GDAL_NODATA says are missing are told: floats that are there, whole ones that may be."""
    for kind, there, text, told in (
        ((32, True), -9999.0, b"-9999", True), ((32, True), -9998.0, b"-9999", False), ((64, True), 2.5, b"2.5e0 ", True),
        ((32, True), 0.0, b"nan", False), ((8, False), 9, b"0", True), ((8, False), 9, b"256", False),
        ((16, False), 9, b"65535", True), ((8, False), 9, b"-1", False), ((8, False), 9, b"", False),
    ):
        image = make_image(draw, 9, 7, 1, kind, tags=[tag(42113, 2, text + b"\0")])
        image["pixels"][6][8][0] = there
        write("g.tif", make_tiff(image))
        for command in (["filter", "-k", "box3"], ["edges", "--white", "255"]):
            warning = b"samples of %g count like others, though GDAL_NODATA" % float(text) if told else b"GDAL_NODATA"
            assert (warning in run(*command, "-v", "g.tif", "h.tif").stderr) == told, (kind, there, text)
            alone = run(*command, "g.tif", "h.tif").stderr
            assert (b"gconv: samples count like others, though GDAL_NODATA" in alone) == told, (kind, there, text)
            batch = run(*command, "-o", "out", "--update", "g.tif", "h.tif").stderr
            assert batch.count(b"GDAL_NODATA") == told, batch


def test_long_files(draw):
    """Pages of a BigTIFF become one, as they may exceed 4 GiB together."""
    for big, pages, mark in ((True, 2, 43), (True, 1, 42), (False, 2, 42)):
        write("b.tif", make_tiff(*[make_image(draw, 9, 7) for _ in range(pages)], big=big))
        run("filter", "-q", "-k", "identity", "b.tif", "c.tif")
        assert read("c.tif")[2] == mark
        run("filter", "-q", "-k", "identity", "-f", "pgm", "b.tif", "b.pgm")
        run("filter", "-q", "-k", "identity", "c.tif", "c.pgm")
        assert read("b.pgm") == read("c.pgm")


def test_guess(draw):
    """So do those of another TIFF that would exceed 4 GiB, if all were compressed like the first."""
    del draw
    packed = zlib.compress(bytes(4000 * 4000))
    same = [tag(256, 4, 4000), tag(257, 4, 4000), tag(258, 3, 8), tag(259, 3, DEFLATE), tag(262, 3, 1)]
    strip = [tag(277, 3, 1), tag(278, 4, 4000), tag(273, 4, 1000), tag(279, 4, len(packed))]
    pages = [lay_directory("<", False, at, same + strip, more) for at, more in ((8, 500), (500, 0))]
    data = (b"II" + struct.pack("<HI", 42, 8) + pages[0]).ljust(500, b"\0") + pages[1]
    for filler, mark in ((0, 42), (5 << 20, 43)):
        write("g.tif", data.ljust(1000, b"\0") + packed + bytes(filler))
        run("filter", "-q", "-k", "identity", "--compression", "1", "g.tif", "h.tif")
        assert read("h.tif")[2] == mark


def test_doubles(draw):
    """Floats of 64 bits are those of 32 bits that are nearest, and a warning says if any changed."""
    for what in ({}, {"tile": (16, 16), "separate": True}, {"compression": DEFLATE, "rows": 3}):
        image = make_image(draw, 20, 9, 3, (32, True), photometric=RGB, **what)
        write("f.tif", make_tiff(image))
        image["kind"] = (64, True)
        for order in "<>":
            write("d.tif", make_tiff(image, order=order))
            assert b"rounded" not in run("filter", "-k", "box3", "d.tif", "dd.tif").stderr
            run("filter", "-q", "-k", "box3", "f.tif", "ff.tif")
            assert read("dd.tif") == read("ff.tif")
        image["pixels"][3][3][1] += 2.0**-40
        write("d.tif", make_tiff(image))
        assert b"rounded to 32 bits" in run("filter", "-k", "box3", "d.tif", "dd.tif").stderr
        assert b"precision of 64 bits" in run("filter", "-k", "box3", "--in-place", "d.tif", expect=1).stderr
        run("filter", "-k", "box3", "--in-place", "--strip", "d.tif", expect=1)
        assert read("d.tif") == make_tiff(image)
        for options in (["--strip"], ["--overlay", "red"], []):
            write("d.tif", make_tiff(image))
            assert b"rounded to 32 bits" in run("edges", *options, "--in-place", "d.tif").stderr


def test_dark_floats(draw):
    """Colours that are black are told, whatever alpha and samples that are not taken are."""
    for separate in (False, True):
        for samples, alpha in ((4, 2), (4, None), (2, 2), (1, None)):
            colours = samples - (samples % 2 == 0)
            image = make_image(draw, 9, 7, samples, (32, True), separate=separate)
            image["tags"] = [tag(338, 3, alpha)] if alpha else []
            image["pixels"] = [[[1.5] * colours + [255.0] * (samples - colours)] * 9] * 7
            write("k.tif", make_tiff(image))
            assert b"no sample exceeds 1.5 in" in run("edges", "k.tif", "k.pgm").stderr, (samples, alpha, separate)
            image["pixels"][6] = [[1.5] * (colours - 1) + [-17.0] + [255.0] * (samples - colours)] * 9
            write("k.tif", make_tiff(image))
            assert b"no sample" not in run("edges", "k.tif", "k.pgm").stderr, (samples, alpha, separate)


def test_threads(draw):
    """Other threads decode ahead: neither pixels nor messages depend on them."""
    for what in ({"rows": 2, "compression": LZW}, {"tile": (16, 16), "compression": DEFLATE, "separate": True}):
        image = make_image(draw, 50, 90, 3, **what)
        whole = make_tiff(image)
        tags = read_tags(whole)[0]
        middle = max(tags[273 if 273 in tags else 324]) // 2
        write("t.tif", whole)
        write("bad.tif", whole[:middle] + b"\xff" * 60 + whole[middle + 60 :])
        for threads in "1", "4":
            convert("t.tif", "t" + threads + ".tif", "-j", threads, "--compression", "none")
            judge("t" + threads + ".tif", image)
            write(threads, run("filter", "-k", "identity", "-j", threads, "bad.tif", "x.tif", expect=1).stderr)
        assert read("1") == read("4") and b"corrupt TIFF" in read("1")
    run("filter", "-q", "-k", "box3", "-j", "4", "--journal", "j.jsonl", "-o", "journaled", "t.tif")
    run("check", "-q", "--verify", "j.jsonl")


def test_compressing(draw):
    """Threads that compress strips make the same file, of one page and of several."""
    kinds = ((8, False), (16, False), (32, True))
    images = [random_pages(draw, kind, pages) for kind in kinds for pages in (1, 2)]
    for compression in "lzw", "deflate", "9":
        for image in images:
            write("s.tif", image)
            for threads in "1", "2", "5":
                convert("s.tif", threads + ".tif", "-j", threads, "--compression", compression)
            assert read("1.tif") == read("2.tif") == read("5.tif")
            convert("5.tif", "plain.tif", "-j", "1", "--compression", "none")
            convert("s.tif", "direct.tif", "-j", "24", "--compression", "none")
            assert read("plain.tif") == read("direct.tif")


def test_kept_compression(draw):
    """Each page is compressed as it was, by deflate for what gconv does not write, or as it is asked."""
    kept = {NONE: NONE, LZW: LZW, DEFLATE: DEFLATE, PACKBITS: DEFLATE}
    images = [make_image(draw, 40, 30, 3, compression=compression) for compression in kept]
    write("k.tif", make_tiff(*images))
    for command in (("filter", "-k", "identity"), ("filter", "-k", "identity", "--strip"), ("edges",)):
        run(*command, "-q", "k.tif", "l.tif")
        assert [tags[259][0] for tags in read_tags(read("l.tif"))] == list(kept.values()), command
        run(*command, "-q", "--compression", "none", "k.tif", "l.tif")
        assert all(tags[259] == (NONE,) for tags in read_tags(read("l.tif"))), command
    run("filter", "-k", "identity", "--in-place", "k.tif")
    assert [tags[259][0] for tags in read_tags(read("k.tif"))] == list(kept.values())


def test_fast_deflate(draw):
    """Level 6 goes past libtiff where this costs no size. Heads of zlib streams tell who made them."""
    fast = b"without fast paths" not in run("--version").stdout
    noise = bytes(int(draw.gauss(128, 12)) & 255 for _ in range(300 * 1000))
    words = [bytes(draw.randrange(256) for _ in range(50)) for _ in range(4)]
    text = b"".join(words[draw.randrange(4)] for _ in range(6000))
    for samples, expected in (noise, b"\x78\x01" if fast else b"\x78\x9c"), (text, b"\x78\x9c"):
        write("s.pgm", b"P5 1000 300 255\n" + samples)
        sizes = {}
        for level in "deflate", "5":
            run("filter", "-q", "-k", "identity", "--compression", level, "s.pgm", level + ".tif")
            run("filter", "-q", "-k", "identity", level + ".tif", "s2.pgm")
            assert read("s2.pgm").endswith(samples)
            data = read(level + ".tif")
            sizes[level] = len(data)
            strip = read_tags(data)[0][273][0]
            assert level != "deflate" or data[strip : strip + 2] == expected, data[strip : strip + 2]
        assert sizes["deflate"] <= 1.02 * sizes["5"], sizes


def test_tiles(draw):
    """A large image has tiles if it is compressed; the last ones hold 0 beyond it."""
    width, height = (1 << 17) + 1, 1025
    noise = bytes(draw.randrange(256) for _ in range(1000)) * 300
    for name, head, row_bytes, end in (
        ("large.pbm", b"P4\n%d %d\n" % (width, height), width // 8, b"\x80"),
        ("large.pgm", b"P5\n%d %d\n255\n" % (width, height), width, b""),
    ):
        write(name, head + b"".join(noise[y % 7 :][:row_bytes] + end for y in range(height)))
        for threads in "1", "3":
            convert(name, threads + ".tif", "-j", threads, "--compression", "1")
        assert read("1.tif") == read("3.tif")
        tags = read_tags(read("3.tif"))[0]
        assert tags[322] == tags[323] == (256,) and len(tags[324]) == 513 * 5
        convert("3.tif", "back" + name)
        assert read("back" + name) == read(name)
    convert(name, "strips.tif", "--compression", "none")
    assert 322 not in read_tags(read("strips.tif"))[0]


def random_pages(draw, kind, pages):
    """Large enough for several strips; the values change little from row to row."""
    width, height = 600, 900
    image = make_image(draw, width, 8, 1, kind)
    image["pixels"] = [image["pixels"][y // 150 % 8] for y in range(height)]
    image["height"], image["rows"] = height, 60
    return make_tiff(*[image] * pages)


def test_left_out(draw):
    """What libtiff leaves of a strip, as of a JPEG that is too narrow, is no memory of the program."""
    del draw
    for name in ("narrow.ppm", "again.ppm"):
        os.environ["MALLOC_PERTURB_"] = str(len(name))
        run("filter", "-q", "-k", "identity", NARROW, name)
    del os.environ["MALLOC_PERTURB_"]
    assert read("narrow.ppm") == read("again.ppm")


REFUSED = {
    "CMYK or other separations, which gconv does not read; 'vips colourspace": ({"photometric": 5}, 4, (8, False), []),
    "LogLuv": ({"photometric": 32845}, 3, (16, False), []),
    "old kind": ({"compression": OLD_JPEG}, 1, (8, False), []),
    "compression 9999": ({"compression": 9999}, 1, (8, False), []),
    "L*a*b*": ({"photometric": 8}, 3, (8, False), []),
    "transparency mask": ({"photometric": 4}, 1, (1, False), []),
    "a camera's raw image": ({"photometric": 32803}, 1, (8, False), []),
    "raw image, which gconv does not read; 'darktable-cli'": ({}, 1, (8, False), [tag(50706, 7, b"\1\4\0\0")]),
    "this is a camera's": ({}, 1, (8, False), [tag(254, 4, 1), tag(330, 4, 8)]),
    "interpretation 77": ({"photometric": 77}, 1, (8, False), []),
    "not compressed by JPEG": ({"photometric": 6}, 3, (8, False), []),
    "samples with a sign, which gconv does not read; 'vips cast": ({}, 1, (8, False), [tag(339, 3, 2)]),
    "complex": ({}, 1, (8, False), [tag(339, 3, 6)]),
    "of 24 bits": ({}, 1, (24, False), []),
    "whole samples of 64 bits": ({}, 1, (64, False), []),
    "floats of 16 bits": ({}, 1, (16, False), [tag(339, 3, 3)]),
    "17 samples a pixel": ({"photometric": 2}, 17, (8, False), []),
    "floats whose 0": ({"photometric": 0}, 1, (32, True), []),
}


def test_refusals(draw):
    for what, (more, samples, kind, tags) in REFUSED.items():
        image = make_image(draw, 5, 4, samples, kind, **more)
        image["tags"] = tags
        write("r.tif", make_tiff(image))
        told = run("edges", "r.tif", "r.png", expect=1).stderr.decode()
        assert what in told and told.count("\n") == 1 and not os.path.exists("r.png"), (what, told)
    extra = make_image(draw, 5, 4, 4, photometric=RGB)
    write("x.tif", make_tiff(extra))
    assert b"1 of 4 samples a pixel" in run("edges", "x.tif", "x.png").stderr
    for options, status in ((["--page", "1"], 2), ([], 1)): # what is left out would be lost
        run("filter", "-q", "-k", "box3", "--in-place", *options, "x.tif", expect=status)
        assert read("x.tif") == make_tiff(extra)
    huge = make_tiff(make_image(draw, 5, 4)).replace(struct.pack("<HHII", 256, 4, 1, 5),
                                                     struct.pack("<HHII", 256, 4, 1, 2000000000))
    write("huge.tif", huge)
    assert b"--max-pixels" in run("edges", "huge.tif", "h.png", expect=1).stderr
    tile = make_tiff(make_image(draw, 5, 4, tile=(16, 16))).replace(
        struct.pack("<HHII", 322, 4, 1, 16), struct.pack("<HHII", 322, 4, 1, 1 << 24))
    write("tile.tif", tile)
    assert b"larger than their image" in run("edges", "tile.tif", "h.png", expect=1).stderr


def test_damage(draw):
    image = make_image(draw, 30, 40, rows=10)
    whole = make_tiff(image)
    # The directory first, then the strips: a file that is cut lacks pixels.
    at = struct.unpack_from("<I", whole, 4)[0]
    for compression in (NONE, DEFLATE):
        image["compression"] = compression
        whole = make_tiff(image)
        at = struct.unpack_from("<I", whole, 4)[0]
        move = len(whole) - at
        tags = [t for t in directory_of(whole, at)]
        moved = [(n, k, tuple(v + move + 2 for v in values) if n == 273 else values) for n, k, values in tags]
        head = b"II" + struct.pack("<HI", 42, 16) + bytes(8)
        laid = lay_directory("<", False, 16, moved, 0).ljust(move + 2, b"\0")
        write("d.tif", (head + laid + whole[16:at])[:-100])
        assert b"truncated" in run("filter", "-k", "identity", "d.tif", "t.tif", expect=1).stderr
        whatever = "--tolerant", "--compression", "none"
        assert b"truncated" in run("filter", "-k", "identity", *whatever, "d.tif", "t.tif").stderr
        data = read("t.tif")
        samples = read_samples(data, read_tags(data)[0])[2]
        assert samples[:900] == expected(image)[2][:900] and samples[-90:] == [0] * 90


def directory_of(data, at):
    tags = read_tags(data[:4] + struct.pack("<I", at) + data[8:])[0]
    kinds = {258: 3, 259: 3, 262: 3, 277: 3, 284: 3}
    return [(number, kinds.get(number, 4), values) for number, values in sorted(tags.items())]


TESTS = (
    test_outputs,
    test_pages,
    test_damaged_pages,
    test_what_is_lost,
    test_sparse,
    test_planes,
    test_fill_order,
    test_many_warnings,
    test_metadata,
    test_copied_tags,
    test_guess,
    test_doubles,
    test_threads,
    test_compressing,
    test_kept_compression,
    test_fast_deflate,
    test_tiles,
    test_left_out,
    test_long_files,
    test_refusals,
    test_damage,
)


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 150
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    known = formats()
    if not known["tiff"]["reads"]:
        print("skipped: " + known["tiff"]["missing"])
        sys.exit(77)
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        draw = random.Random(seed)
        images = test_layouts(count, seed)
        test_tifffile(images)
        for test in TESTS:
            test(draw)
        os.chdir("/")
    print("%d files, seed %d" % (count, seed))


NARROW = os.path.abspath(os.path.join(os.path.dirname(__file__), "../fuzz/corpus/tiff/narrow-jpeg"))
main()
