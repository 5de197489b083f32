#!/usr/bin/env python3
"""AVIF, HEIC and JPEG XL: images without loss come back as they were, those with loss nearly; alpha,
metadata, damage, limits.

    tests/formats/modern.py GCONV

Formats that the build or the machine lacks are passed over; exits with 77 if it lacks all.
"""
import os
import random
import struct
import subprocess
import sys
import tempfile

from command import GCONV, convert, formats, read, run, write

EXIF = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"
ICC = bytes(16) + b"RGB " + bytes(16) + b"acsp" + bytes(92)


def make_pam(draw, channels, most, width=33, height=20):
    kind = {1: "GRAYSCALE", 2: "GRAYSCALE_ALPHA", 3: "RGB", 4: "RGB_ALPHA"}[channels]
    head = f"P7\nWIDTH {width}\nHEIGHT {height}\nDEPTH {channels}\nMAXVAL {most}\nTUPLTYPE {kind}\nENDHDR\n"
    samples = [(7 * x + 3 * y + draw.randrange(9)) * (most // 255) % (most + 1)
               for y in range(height) for x in range(width * channels)]
    return head.encode() + struct.pack(">%d%s" % (len(samples), "B" if most == 255 else "H"), *samples)


def without_loss(kind, draw):
    for channels in (1, 2, 3, 4) if kind == "jxl" else (2, 4):
        for most in (255, 65535) if kind == "jxl" else (255,):
            write("a.pam", make_pam(draw, channels, most))
            convert("a.pam", "a." + kind)
            convert("a." + kind, "b.pam")
            if kind == "jxl":
                assert read("a.pam") == read("b.pam"), (channels, most)
            elif channels > 2: # others become RGB
                assert read("a.pam") == read("b.pam"), (kind, channels)
            else:
                assert b"RGB" in read("b.pam")[:90]
                run("filter", "-q", "-k", "identity", "--grey", "--alpha", "keep", "b.pam", "c.pam")
                run("filter", "-q", "-k", "identity", "--grey", "--alpha", "keep", "a.pam", "d.pam")
                assert read("c.pam") == read("d.pam")
    piped = run("filter", "-q", "-k", "identity", "--alpha", "keep", "-f", "pam", "-", "-", data=read("a." + kind))
    assert piped.stdout == read("b.pam")
    run("edges", "-q", "a.pam", "e." + kind)
    run("edges", "-q", "a.pam", "e.pgm")
    convert("e." + kind, "f.pgm")
    assert read("e.pgm") == read("f.pgm")


def with_loss(kind, draw):
    write("a.pam", make_pam(draw, 3, 255, 60, 45))
    sizes = []
    for quality in ("20", "95"):
        convert("a.pam", "l." + kind, "--quality", quality)
        convert("l." + kind, "l.pam")
        sizes.append(len(read("l." + kind)))
        pairs = list(zip(read("a.pam")[-8100:], read("l.pam")[-8100:]))
        assert 0 < sum(abs(x - y) for x, y in pairs) / len(pairs) < 90
    assert sizes[0] < sizes[1]
    if kind != "jxl":
        convert("a.pam", "m." + kind, "--quality", "95", "--chroma", "444")
        assert read("m." + kind) != read("l." + kind)


def metadata(kind, draw):
    write("a.pam", make_pam(draw, 3, 255, 20, 11))
    convert("a.pam", "a.jpg")
    exif, icc = b"Exif\0\0" + EXIF, b"ICC_PROFILE\0\1\1" + ICC
    parts = b"".join(struct.pack(">BBH", 255, marker, 2 + len(body)) + body
                     for marker, body in ((0xE1, exif), (0xE2, icc)))
    write("a.jpg", read("a.jpg")[:2] + parts + read("a.jpg")[2:])
    for options in (), ("--quality", "90"):
        told = run("filter", "-v", "-k", "identity", *options, "a.jpg", "m." + kind).stderr
        assert (b"libjxl does not take it" in told) == (kind == "jxl") # the profile is no real one
        convert("m." + kind, "m.jpg")
        assert struct.pack(">HH", 20, 11) in read("m.jpg") # upright
        assert b"Exif\0\0II*\0" in read("m.jpg") and EXIF not in read("m.jpg")
        assert (ICC in read("m.jpg")) == (kind != "jxl")
    told = run("filter", "-v", "--no-auto-orient", "-k", "identity", "a.jpg", "o." + kind).stderr
    assert b"do not turn it as its EXIF says" in told, told
    convert("a.jpg", "s." + kind, "--strip")
    convert("s." + kind, "s.jpg")
    assert b"Exif" not in read("s.jpg") and b"ICC" not in read("s.jpg")


def damage(kind, draw):
    write("a.pam", make_pam(draw, 3, 255, 40, 40))
    convert("a.pam", "a." + kind)
    whole = read("a." + kind)
    for cut in (20, len(whole) // 2, len(whole) - 3):
        write("cut." + kind, whole[:cut])
        told = run("edges", "cut." + kind, "c.png", expect=1).stderr # libjxl may say more
        assert told.count(b"\n") == 1 or kind == "jxl", told
        assert not os.path.exists("c.png")
    if kind == "jxl":
        assert b"truncated" in run("filter", "-k", "box3", "--tolerant", "cut.jxl", "c.ppm").stderr
    for _ in range(6):
        bad = bytearray(whole)
        for _ in range(3):
            bad[draw.randrange(13, len(bad))] = draw.randrange(256)
        write("bad." + kind, bytes(bad))
        status = subprocess.run([GCONV, "edges", "-q", "bad." + kind, "bad.png"], capture_output=True).returncode
        assert status in (0, 1), status
    told = run("edges", "--max-pixels", "1000", "a." + kind, "h.png", expect=1).stderr
    assert b"--max-pixels" in told, told
    if kind != "jxl": # libheif reads no longer ones
        write("wide.pgm", b"P5 32769 1 255 " + bytes(32769))
        assert b"at most 32768 x 32768" in convert("wide.pgm", "wide." + kind, expect=1).stderr
        at = whole.index(b"ispe") + 8
        write("bad." + kind, whole[:at] + struct.pack(">II", 32769, 1) + whole[at + 8:])
        assert b"\\n" not in run("edges", "bad." + kind, "bad.png", expect=1).stderr


def told_losses(kind, draw):
    """What no output keeps is told without -v, and does not vanish from a file that is replaced."""
    files = {"jxl": (("jxl/depth.jxl", b"1 extra channels are no alpha"),),
             "avif": (("heif/two.avif", b"1 of 2 images are not the primary one"), ("p3", b"the colour space of CICP 12/13"))}
    for name, message in files[kind]:
        if name == "p3":
            write("a.pam", make_pam(draw, 3, 255))
            convert("a.pam", "lost." + kind)
            head, tail = read("lost." + kind).split(b"nclx")
            write("lost." + kind, head + b"nclx\0\x0c\0\x0d" + tail[4:])
        else:
            write("lost." + kind, read(os.path.join(CORPUS, name)))
        before = read("lost." + kind)
        assert message in run("filter", "-k", "box3", "lost." + kind, "l.png").stderr, name
        assert message in run("filter", "-k", "box3", "--in-place", "lost." + kind, expect=1).stderr, name
        assert before == read("lost." + kind)
        run("filter", "-q", "-k", "box3", "--in-place", "--tolerant", "lost." + kind)


def told_extras(kind, draw):
    """An alpha that calls itself something else is a map; bytes behind the boxes are told, too."""
    if kind == "jxl":
        return
    write("a.pam", make_pam(draw, 4, 255))
    convert("a.pam", "a." + kind)
    data = read("a." + kind)
    write("map." + kind, data.replace(b"auxiliary:alpha", b"auxiliary:gains").replace(b"auxid:1\0", b"auxid:7\0"))
    write("more." + kind, data + b"bytes behind")
    for name, message, lost in (("map", b"a map beside the image", b"a map beside the image"),
                                ("more", b"bytes after the end", b"bytes follow the end")):
        name += "." + kind
        assert message not in run("filter", "-v", "-k", "box3", "a." + kind, "l.png").stderr
        assert message in run("filter", "-v", "-k", "box3", name, "l.png").stderr, name
        assert lost in run("filter", "-v", "-k", "box3", "--in-place", name, expect=1).stderr, name


def in_place(kind, draw):
    """Bits that gconv does not write are not lost by surprise."""
    del draw
    deep = os.path.join(CORPUS, "heif/avif-10.avif")
    if kind != "avif":
        return
    told = b"AVIF is written with 8 bits, fewer than the input has"
    assert told in run("filter", "-k", "box3", deep, "d.avif").stderr
    assert told not in run("filter", "-k", "box3", "--depth", "8", deep, "d.avif").stderr
    assert told not in run("filter", "-k", "box3", deep, "d.jpg").stderr
    for words, status in ((), 1), (("--depth", "8"), 0), (("--tolerant",), 0):
        write("deep.avif", read(deep))
        told = run("filter", "-q", "-k", "box3", "--in-place", *words, "deep.avif", expect=status).stderr
        assert (b"8 bits, and would lose some; --depth 8 or" in told) == (read("deep.avif") == read(deep)) == (status == 1)


def circles(kind, draw):
    """Images that are made of each other are refused: libheif would begin threads without an end."""
    if kind == "jxl":
        return
    write("a.pam", make_pam(draw, 4, 255))
    convert("a.pam", "a." + kind)
    data = read("a." + kind)
    meta, at = data.index(b"meta") - 4, data.index(b"iref") - 4
    meta_size, size = (struct.unpack_from(">I", data, i)[0] for i in (meta, at))
    refers = lambda word, one, other: struct.pack(">I4sHHH", 14, word, one, 1, other)
    same = data[at + 12 : at + size]
    for wanted, references in (
        (0, same), # the alpha of an image
        (1, refers(b"auxl", 2, 2)),
        (1, same + refers(b"dimg", 2, 1)), # which has the image as a tile
        (1, same + refers(b"dimg", 2, 1)[3:].rjust(14, b"\x7f")), # of a box that is cut
        (1, b"".join(refers(b"dimg", i + 1, i) for i in range(5))),
        (1, struct.pack(">I4sIHI", 18, b"auxl", 2, 1, 2)),
    ):
        boxes = struct.pack(">I4sI", 12 + len(references), b"iref", len(references) == 18 and 1 << 24) + references
        head = data[:meta] + struct.pack(">I", meta_size - size + len(boxes)) + data[meta + 4 : at]
        write("r." + kind, head + boxes + data[at + size :])
        told = run("edges", "-q", "r." + kind, "r.png", expect=wanted).stderr
        assert (b"made of each other" in told) == (wanted == 1), (references, told)


def grids(kind, draw):
    """A grid that states another size than its image is refused before libheif allocates it."""
    if kind == "avif":
        told = run("edges", "-q", os.path.join(CORPUS, "heif", "grid"), "g.png", expect=1).stderr
        assert b"28019x26161" in told, told


def main():
    known = formats()
    libraries = run("info").stdout
    kinds = [k for k, library in (("avif", b"libheif"), ("heic", b"libheif"), ("jxl", b"libjxl"))
             if known[k]["reads"] and library + b" not there" not in libraries]
    if not kinds:
        print("skipped: this build or machine has none of them")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for kind in kinds:
            # HEIC shares all but the encoder with AVIF.
            for test in (without_loss, with_loss, metadata, damage, told_losses, told_extras, circles, grids,
                         in_place)[: 1 if kind == "heic" else 9]:
                test(kind, random.Random(1))
        os.chdir("/")


CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fuzz/corpus")
main()
