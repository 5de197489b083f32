#!/usr/bin/env python3
"""BMP files of all kinds that gconv reads, made here and by Pillow, and what gconv writes.

    tests/formats/bmp.py GCONV [COUNT [SEED]]

COUNT is the number of random files, 60. Without Pillow only the files that are made here are tried.
"""
import os
import random
import struct
import subprocess
import sys
import tempfile

try:
    from PIL import Image
except ImportError:
    Image = None

GCONV = os.path.abspath(sys.argv[1])
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 60
draw = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 41)
FIELDS = {  # masks of red, green, blue and alpha
    16: ((0x7C00, 0x3E0, 0x1F, 0), (0xF800, 0x7E0, 0x1F, 0), (0xF00, 0xF0, 0xF, 0xF000)),
    32: ((0xFF0000, 0xFF00, 0xFF, 0), (0xFF, 0xFF00, 0xFF0000, 0xFF000000), (0x3FF00000, 0xFFC00, 0x3FF, 0),
         (0xFF000000, 0xFF0000, 0xFF00, 0)),
}


def level(pixel, mask):
    """The sample of a field, of which the upper 8 bits count."""
    value = (pixel & mask) // (mask & -mask)
    most = mask // (mask & -mask)
    while most > 255:
        value, most = value >> 1, most >> 1
    return (value * 255 + most // 2) // most


def pack(indices, bits):
    whole = 0
    for index in indices:
        whole = whole << bits | index
    pad = -len(indices) * bits % 8
    return (whole << pad).to_bytes((len(indices) * bits + pad) // 8, "big")


def random_file():
    """A file, and its size, channels and samples."""
    bits = draw.choice((1, 2, 4, 8, 16, 24, 32))
    width, height = draw.randint(1, 40), draw.randint(1, 12)
    size = draw.choice((12, 16, 40, 52, 56, 64, 108, 124))
    masks, method, channels, palette, extra = None, 0, 3, b"", b""
    if bits in FIELDS:
        masks = FIELDS[bits][0]
        if size in (40, 52, 56, 108, 124) and draw.random() < 0.7:
            method, masks = 3, draw.choice(FIELDS[bits][1:])
            if masks[3] and size in (40, 52):
                method, size = 6, 40
            extra = struct.pack("<4I", *masks)[: 16 if method == 6 else 12] if size == 40 else b""
        channels = 4 if masks[3] else 3
    rows, lines = [], []
    colours = draw.randint(1, 1 << bits) if bits <= 8 and size >= 36 else 1 << min(bits, 8)
    if bits <= 8:
        grey = draw.random() < 0.5
        table = [bytes([draw.randrange(256)] * 3) if grey else draw.randbytes(3) for _ in range(colours)]
        grey = all(c[0] == c[1] == c[2] for c in table)
        channels = 1 if grey else 3
        palette = b"".join(c[::-1] + b"\0" * (size != 12) for c in table)
    for _ in range(height):
        if bits <= 8:
            line = [draw.randrange(colours) for _ in range(width)]
            rows.append(b"".join(table[i][:channels] for i in line))
            lines.append(pack(line, bits))
        elif bits == 24:
            line = draw.randbytes(3 * width)
            rows.append(b"".join(line[i : i + 3][::-1] for i in range(0, 3 * width, 3)))
            lines.append(line)
        else:
            line = [draw.randrange(1 << bits) for _ in range(width)]
            rows.append(bytes(level(p, m) for p in line for m in masks[:channels]))
            lines.append(struct.pack("<%d%s" % (width, "H" if bits == 16 else "I"), *line))
    down = size != 12 and draw.random() < 0.4
    if not down:
        lines.reverse()
    gap = draw.randbytes(draw.choice((0, 0, 5)))
    if size == 12:
        head = struct.pack("<IHHHH", 12, width, height, 1, bits)
    else:
        head = struct.pack("<IiiHHIIIIII", size, width, -height if down else height, 1, bits, method, 0, 0, 0,
                           colours if bits <= 8 and colours < 1 << bits else 0, 0)
        head = (head + struct.pack("<4I", *(masks if method else (0, 0, 0, 0)))).ljust(size, b"\0")[:size]
    body = b"".join(line + b"\0" * (-len(line) % 4) for line in lines)
    before = head + extra + palette + gap
    file = b"BM" + struct.pack("<IHHI", 14 + len(before) + len(body), 0, 0, 14 + len(before)) + before + body
    return file, (width, height, channels), b"".join(rows)


def read_pam(data):
    head, _, body = data.partition(b"ENDHDR\n")
    field = dict(line.split(b" ", 1) for line in head.split(b"\n")[1:-1])
    return tuple(int(field[key]) for key in (b"WIDTH", b"HEIGHT", b"DEPTH")), body


def identity(folder, out, *words):
    subprocess.run([GCONV, "filter", "-k", "identity", "--alpha", "keep", *words, "-o", out, folder], check=True)


def load(path):
    with open(path, "rb") as file:
        return file.read()


def main():
    os.mkdir("in")
    wanted = {}
    for i in range(COUNT):
        file, shape, samples = random_file()
        with open(f"in/{i}.bmp", "wb") as out:
            out.write(file)
        wanted[str(i)] = shape, samples
    for i, mode in enumerate(("1", "L", "P", "RGB") if Image is not None else ()):
        image = Image.frombytes("RGB", (37, 11), draw.randbytes(37 * 33)).convert(mode)
        image.save(f"in/{mode}.bmp")
        plain = image.convert("L" if mode in "1L" else "RGB")
        wanted[mode] = (37, 11, len(plain.getbands())), plain.tobytes()
    identity("in", "pam", "-f", "pam")
    identity("in", "bmp", "-q")
    identity("bmp", "again", "-f", "pam")
    for name, (shape, samples) in wanted.items():
        assert read_pam(load(f"pam/{name}.pam")) == (shape, samples), name
        if shape[2] != 4:
            assert read_pam(load(f"again/{name}.pam")) == (shape, samples), name
            if Image is not None:
                image = Image.open(f"bmp/{name}.bmp")
                assert image.convert("L" if shape[2] == 1 else "RGB").tobytes() == samples, name
    subprocess.run([GCONV, "edges", "-f", "bmp", "-o", "edges", "in"], check=True)
    subprocess.run([GCONV, "edges", "-f", "pbm", "-o", "edges", "in"], check=True)
    for name in wanted if Image is not None else ():
        bits = [Image.open(f"edges/{name}.{kind}").convert("L").tobytes() for kind in ("bmp", "pbm")]
        assert bits[0] == bits[1], name


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
    os.chdir("/")
if Image is None:
    print("no Pillow: its files were not tried")
