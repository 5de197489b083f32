#!/usr/bin/env python3
"""WebP: images without loss come back as they were, those with loss nearly; alpha, metadata, damage,
animations. Pillow, if it is there, has to read and write the same.

    tests/formats/webp.py GCONV

Exits with 77 if the build of gconv has no WebP.
"""
import io
import os
import random
import struct
import subprocess
import sys
import tempfile

from command import GCONV, convert, formats, read, run, write


def pixels_of(name):
    """As PPM: what is transparent lies on white."""
    convert(name, "pixels.ppm")
    return read("pixels.ppm")


def make_ppm(draw, width, height):
    """A picture that compresses: waves and some noise."""
    rows = bytearray()
    for y in range(height):
        for x in range(width):
            rows += bytes((3 * x + y + draw.randrange(3)) % 256 for _ in range(3))
    return b"P6\n%d %d\n255\n" % (width, height) + bytes(rows)


def test_without_loss(draw):
    for width, height in ((1, 1), (37, 23), (64, 64)):
        write("a.ppm", make_ppm(draw, width, height))
        for level in ("0", "1", "6"):
            convert("a.ppm", "a.webp", "--compression", level)
            convert("a.webp", "b.ppm")
            assert read("a.ppm") == read("b.ppm"), (width, height, level)
    assert run("filter", "-q", "-k", "identity", "-f", "ppm", "-", "-", data=read("a.webp")).stdout == read("a.ppm")
    write("g.pgm", b"P5\n5 2\n255\n" + bytes(range(0, 250, 25)))
    convert("g.pgm", "g.webp")
    convert("g.webp", "g2.pgm")
    assert read("g2.pgm") == read("g.pgm")
    run("edges", "-q", "a.webp", "e.webp")
    run("edges", "-q", "a.ppm", "e.pgm")
    convert("e.webp", "e2.pgm")
    assert read("e2.pgm") == read("e.pgm")


def test_with_loss(draw):
    write("a.ppm", make_ppm(draw, 64, 64))
    sizes = []
    for quality in ("10", "90"):
        convert("a.ppm", "l.webp", "--quality", quality)
        sizes.append(len(read("l.webp")))
        assert pixels_of("l.webp") != read("a.ppm")
    assert sizes[0] < sizes[1]
    for level in "0", "9", "6":
        convert("a.ppm", level + ".webp", "--quality", "90", "--compression", level)
    assert read("6.webp") == read("l.webp") and len({read("0.webp"), read("6.webp"), read("9.webp")}) == 3
    write("wide.pgm", b"P5 16384 1 255\n" + bytes(16384))
    assert b"16383 x 16383 at most" in convert("wide.pgm", "w.webp", expect=1).stderr


def test_damage(draw):
    write("a.ppm", make_ppm(draw, 64, 64))
    for options in (("--quality", "90"), ()):
        convert("a.ppm", "a.webp", *options)
        whole = read("a.webp")
        write("cut.webp", whole[:-40])
        assert b"truncated" in run("edges", "cut.webp", "c.png", expect=1).stderr
        assert b"truncated" in run("filter", "-k", "box3", "--tolerant", "cut.webp", "c.ppm").stderr
        write("head.webp", whole[:16])
        assert b"truncated" in run("edges", "head.webp", "h.png", expect=1).stderr
        write("bad.webp", whole[:12] + b"VP8?" + whole[16:])
        assert b"WebP" in run("edges", "bad.webp", "h.png", expect=1).stderr
    canvas = b"VP8X" + struct.pack("<I", 10) + b"\0" * 4 + b"\x7f\x3e\0\x7f\x3e\0"
    write("huge.webp", b"RIFF" + struct.pack("<I", 4 + len(canvas)) + b"WEBP" + canvas)
    assert b"--max-pixels" in run("edges", "--max-pixels", "1000", "huge.webp", "h.png", expect=1).stderr


def test_bytes_behind(draw):
    """The file ends where its RIFF does: what follows is a warning, and is not read to its end."""
    write("a.ppm", make_ppm(draw, 60, 41))
    copy = ("filter", "-v", "-k", "identity", "-f", "ppm", "-", "-")
    for options in (("--quality", "90"), ()):
        convert("a.ppm", "a.webp", *options)
        whole = read("a.webp")
        alone = run(*copy, data=whole)
        assert b"ignored" not in alone.stderr
        for behind in (whole, b"\0", bytes(1 << 20)):
            done = run(*copy, data=whole + behind)
            assert done.stdout == alone.stdout
            assert done.stderr.count(b"bytes after the end of the image ignored") == 1, done.stderr
        write("more.webp", whole + whole)
        assert b"image ignored" in run("edges", "-v", "more.webp", "m.png").stderr
        endless = subprocess.run(["sh", "-c", 'cat a.webp /dev/zero | timeout 20 "$@"', "sh", GCONV, *copy],
                                 capture_output=True)
        assert endless.stdout == alone.stdout and endless.returncode == 0, endless.stderr
    parts = whole[8:] + chunk(b"MORE", b"x")
    inside = b"RIFF" + struct.pack("<I", len(parts)) + parts
    assert b"ignored" not in run(*copy, data=inside).stderr
    for size in (0, 4, 0xFFFFFFFF):
        write("lie.webp", whole[:4] + struct.pack("<I", size) + whole[8:])
        assert b"corrupt WebP" in run("edges", "lie.webp", "h.png", expect=1).stderr


def test_metadata(draw):
    write("a.ppm", make_ppm(draw, 8, 5))
    convert("a.ppm", "a.webp")
    image = read("a.webp")[12:]
    icc = bytes(16) + b"RGB " + bytes(16) + b"acsp" + bytes(92)
    exif = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"
    head = b"VP8X" + struct.pack("<I", 10) + b"\x28\0\0\0" + b"\x07\0\0\x04\0\0"
    parts = head + chunk(b"ICCP", icc) + image + chunk(b"EXIF", exif)
    write("m.webp", b"RIFF" + struct.pack("<I", 4 + len(parts)) + b"WEBP" + parts)
    convert("m.webp", "n.webp")
    kept = read("n.webp")
    assert icc in kept and b"EXIF" in kept and b"\x12\x01\x03\0\x01\0\0\0\x01\0" in kept
    assert pixels_of("n.webp").startswith(b"P6\n5 8\n")
    convert("m.webp", "s.webp", "--strip")
    assert b"ICCP" not in read("s.webp")


def chunk(name, data):
    return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def test_pillow(draw):
    try:
        from PIL import Image, features

        if not features.check("webp"):
            raise ImportError
    except ImportError:
        print("Pillow with WebP is not there: it compared nothing")
        return
    for mode in ("RGB", "RGBA"):
        image = Image.frombytes(mode, (40, 30), draw.randbytes(40 * 30 * len(mode)))
        for options in ({"lossless": True, "exact": True}, {"quality": 80}):
            image.save("p.webp", **options)
            convert("p.webp", "p.png")
            assert Image.open("p.webp").convert(mode).tobytes() == Image.open("p.png").tobytes(), (mode, options)
        image.save("q.png")
        convert("q.png", "q.webp")
        assert Image.open("q.webp").convert(mode).tobytes() == image.tobytes(), mode
    frames = io.BytesIO()
    image.save(frames, "WEBP", save_all=True, append_images=[image.rotate(90)])
    write("animated.webp", frames.getvalue())
    assert b"animated WebP" in run("edges", "animated.webp", "x.png", expect=1).stderr
    print("Pillow read and wrote the same")


def main():
    known = formats()
    if not known["webp"]["reads"]:
        print("skipped: " + known["webp"]["missing"])
        sys.exit(77)
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        draw = random.Random(1)
        for test in (test_without_loss, test_with_loss, test_damage, test_bytes_behind, test_metadata, test_pillow):
            test(draw)
        os.chdir("/")


main()
