#!/usr/bin/env python3
"""JPEG output: sampling factors, tables of quantisation and scans are what the options say.

    tests/formats/jpeg.py GCONV
"""
import os
import random
import struct
import subprocess
import sys
import tempfile


def convert(source, target, *options):
    subprocess.run([GCONV, "filter", "-q", "-k", "identity", *options, source, target], check=True, timeout=60)
    return segments(target)


def segments(name):
    """Of a JPEG: the marker of its frame, its components' sampling factors and tables, its scans."""
    with open(name, "rb") as file:
        data = file.read()
    at, tables, scans = 2, {}, 0
    while data[at + 1] != 0xD9:
        marker, size = data[at + 1], struct.unpack_from(">H", data, at + 2)[0]
        body = data[at + 4 : at + 2 + size]
        at += 2 + size
        while marker == 0xDB and body:
            width = 1 + (body[0] >> 4)
            tables[body[0] & 15], body = body[1 : 1 + 64 * width], body[1 + 64 * width :]
        if marker in (0xC0, 0xC1, 0xC2):
            frame, parts = marker, [body[6 + 3 * i : 9 + 3 * i] for i in range(body[5])]
        if marker == 0xDA:
            scans += 1
            while data[at] != 0xFF or data[at + 1] == 0 or 0xD0 <= data[at + 1] <= 0xD7:
                at += 1
    return frame, [part[1] for part in parts], [tables[part[2]] for part in parts], scans


def with_exif(source, target, orientation):
    with open(source, "rb") as file:
        data = file.read()
    exif = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0" + struct.pack("<IHH", orientation, 0, 0)
    with open(target, "wb") as file:
        file.write(data[:2] + b"\xff\xe1" + struct.pack(">H", 2 + len(exif)) + exif + data[2:])


# The order in which a file stores the 64 steps: along diagonals.
ZIGZAG = sorted(range(64), key=lambda i: (i // 8 + i % 8, (i // 8 if (i // 8 + i % 8) % 2 else i % 8)))


def turned(table):
    plain = {place: step for place, step in zip(ZIGZAG, table)}
    return bytes(plain[i % 8 * 8 + i // 8] for i in ZIGZAG)


def main():
    draw = random.Random(5)
    with open("a.ppm", "wb") as file:
        file.write(b"P6 40 24 255\n" + draw.randbytes(40 * 24 * 3))
    factors = {"420": [0x22, 0x11, 0x11], "422": [0x21, 0x11, 0x11], "444": [0x11, 0x11, 0x11]}
    plain = convert("a.ppm", "plain.jpg")
    assert plain[:2] == (0xC0, factors["420"]) and plain[3] == 1, plain
    assert convert("a.ppm", "p.jpg", "--progressive", "--chroma", "420")[0] == 0xC2
    assert segments("p.jpg")[3] > 1 and segments("p.jpg")[2] == plain[2]
    assert convert("a.ppm", "other.jpg", "--quality", "same", "--chroma", "same") == plain
    for chroma, wanted in factors.items():
        first = convert("a.ppm", "b.jpg", "--chroma", chroma, "--quality", "37")
        assert first[1] == wanted and first[2] != plain[2]
        for strip in ((), ("--strip",)):
            assert convert("b.jpg", "c.jpg", "--quality", "same", "--chroma", "same", *strip) == first
        assert convert("b.jpg", "c.jpg")[1:3] == plain[1:3]
        with_exif("b.jpg", "turned.jpg", 6)
        after = convert("turned.jpg", "c.jpg", "--quality", "same", "--chroma", "same")
        assert after[1] == [(f & 15) << 4 | f >> 4 for f in wanted], (chroma, after[1])
        assert after[2] == [turned(t) for t in first[2]]
        subprocess.run([GCONV, "edges", "--quality", "same", "b.jpg", "e.jpg"], check=True)
        assert segments("e.jpg")[1:3] == ([0x11], first[2][:1])
    try:
        from PIL import Image
    except ImportError:
        print("Pillow is not there: CMYK was not tried")
        return
    Image.frombytes("CMYK", (16, 16), draw.randbytes(1024)).save("cmyk.jpg", quality=61)
    assert convert("cmyk.jpg", "c.jpg", "--quality", "same")[2] == convert("a.ppm", "d.jpg", "--quality", "61")[2]


GCONV = os.path.abspath(sys.argv[1])
with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    main()
    os.chdir("/")
