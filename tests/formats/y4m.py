#!/usr/bin/env python3
"""Y4M through gconv: luma is that of the frames as PGM, chroma is untouched or neutral, --planes all
filters each plane, all that the lines of a stream say is kept; then what is refused.

    tests/formats/y4m.py GCONV [COUNT [SEED]]

COUNT is the number of random streams, 6. If ffmpeg is there, it has to read what gconv writes.
"""
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

GCONV = os.path.abspath(sys.argv[1])
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 6
draw = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 41)
KINDS = {"420jpeg": (2, 2), "420": (2, 2), "422": (2, 1), "444": (1, 1), "411": (4, 1), "mono": None}


def gconv(data, *words, status=0):
    done = subprocess.run([GCONV, *words, "-", "-"], input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != status:
        sys.exit(f"{words}: {done.returncode}, {done.stderr}")
    return done.stderr.decode() if status else done.stdout


def same(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: {len(got)} bytes differ from {len(wanted)}: {got[:80]}")


def samples(count, bits):
    if bits == 8:
        return draw.randbytes(count)
    return struct.pack(f"<{count}H", *(draw.randrange(1 << bits) for _ in range(count)))


class Stream:
    def __init__(self):
        kind = draw.choice(list(KINDS))
        self.bits = draw.choice((8, 8, 9, 10, 12, 16)) if kind in ("420", "422", "444", "mono") else 8
        colours = kind + ("" if self.bits == 8 else ("" if kind == "mono" else "p") + str(self.bits))
        width, height = draw.randint(1, 40), draw.randint(1, 30)
        self.sides = [(width, height)]
        if KINDS[kind]:
            across, down = KINDS[kind]
            self.sides += 2 * [(-(-width // across), -(-height // down))]
        words = [f"W{width}", f"H{height}", "F30000:1001", draw.choice(("Ip", "I?")), "A4:3", "XCOLORRANGE=LIMITED"]
        words += ["C" + colours] if kind != "420jpeg" or draw.random() < 0.5 else ["XYSCSS=" + colours.upper()]
        draw.shuffle(words)
        self.line = ("YUV4MPEG2 " + " ".join(words) + "\n").encode()
        self.frames = [[samples(w * h, self.bits) for w, h in self.sides] for _ in range(draw.randint(1, 4))]
        self.heads = [draw.choice((b"FRAME\n", b"FRAME Ip XA=1\n")) for _ in self.frames]

    def data(self, frames=None, first=0):
        frames = self.frames if frames is None else frames
        return self.line + b"".join(h + b"".join(f) for h, f in zip(self.heads[first:], frames))

    def filtered(self, plane, index, *words):
        """The plane as a PGM of 8 or 16 bits through gconv."""
        (width, height), most = self.sides[index], (1 << self.bits) - 1
        count, wide = width * height, self.bits > 8
        if wide:
            plane = struct.pack(f">{count}H", *struct.unpack(f"<{count}H", plane))
        out = gconv(f"P5 {width} {height} {most}\n".encode() + plane, *words, "-f", "pgm")
        full = int(out.split()[3])
        values = out[-count:] if full == 255 else struct.unpack(f">{count}H", out[-2 * count:])
        values = [(v * most + full // 2) // full for v in values]
        return struct.pack(f"<{count}{'H' if wide else 'B'}", *values)


def try_stream():
    stream = Stream()
    blur = ("filter", "-k", "gauss5")
    for planes in "luma", "all":
        same("identity", gconv(stream.data(), "filter", "-k", "identity", "--planes", planes), stream.data())
    luma = [[stream.filtered(f[0], 0, *blur)] + f[1:] for f in stream.frames]
    same("luma", gconv(stream.data(), *blur), stream.data(luma))
    planes = [[stream.filtered(p, i, *blur) for i, p in enumerate(f)] for f in stream.frames]
    same("planes", gconv(stream.data(), *blur, "--planes", "all"), stream.data(planes))
    grey = (1 << stream.bits - 1).to_bytes(2, "little") if stream.bits > 8 else b"\x80"
    for words in (("edges",), ("edges", "-j", "1", "--method", "canny"), ("sketch",), (*blur, "--grey", "--depth", "16")):
        drawn = [[stream.filtered(f[0], 0, *words)] + [grey * (len(p) // len(grey)) for p in f[1:]]
                 for f in stream.frames]
        same(words, gconv(stream.data(), *words), stream.data(drawn))
    last = len(stream.frames)
    first = draw.randint(1, last)
    same("page", gconv(stream.data(), *blur, "--page", f"{first}-{last}"), stream.data(luma[first - 1:], first - 1))
    assert f"no page {last + 1}: the file has {last}" in gconv(stream.data(), *blur, "--page", "1-9", status=1)
    assert gconv(stream.data(), "edges", "-f", "pgm").count(b"P5") >= len(stream.frames)
    cut = stream.data()[:-draw.randint(1, len(stream.frames[-1][-1]))]
    assert "truncated" in gconv(cut, *blur, status=1)
    same("tolerant", len(gconv(cut, *blur, "--tolerant")) * b"a", len(stream.data()) * b"a")


def refuse():
    for line, message in ((b"W2 H2 C444alpha", "the colours '444alpha'"), (b"W0 H2", "of 0"), (b"H2", "of 0"),
                          (b"W99999 H99999", "--max-pixels"), (b"W99999999999 H2", "more than 2147483647"),
                          (b"W2 H2 C420p17", "420p17"), (b"W2 H2 C420p7", "420p7"), (b"W2 H2 C", "colours ''"),
                          (b"W2 H2 C42010", "42010"), (b"W2 H2 " + b"X" * 5000, "of up to 4 KiB"),
                          (b"W2 H2 X\0", "line of text")):
        got = gconv(b"YUV4MPEG2 " + line + b"\nFRAME\n" + b"a" * 9000, "edges", status=1)
        assert message in got, (line, got)
    frame = b"YUV4MPEG2 W2 H2 C420p10\nFRAME\n" + b"\0\4" * 6
    for data, message in ((frame, "a sample of 1024 in frames of 10 bits"), (frame[:24] + b"\nGRAME\nabcdef", "FRAME"),
                          (frame[:20], "truncated"), (frame[:-12].replace(b"FRAME", b"FRAMES"), "FRAME")):
        assert message in gconv(data, "edges", status=1), (data, message)
    for most, name in (b"255", b""), (b"65535", b"16"):
        pgm = b"P5 2 1 " + most + b" " + b"ab" * (2 if name else 1)
        made = gconv(2 * pgm, "filter", "-k", "identity", "-f", "y4m")
        assert made.startswith(b"YUV4MPEG2 W2 H1 F25:1 Ip A0:0 Cmono" + name + b"\nFRAME\n") and len(made) > 50, made
        same("mono", gconv(made, "filter", "-k", "identity", "-f", "pgm").count(pgm[-2:]), 4 if name else 2)
    assert "one size" in gconv(b"P5 1 1 255 aP5 2 1 255 ab", "edges", "-f", "y4m", status=2)
    small = b"YUV4MPEG2 W2 H2\nFRAME\nabcdef"
    for more in b"\nGRAMEabcdef", small: # the frames behind are not lost without a word
        assert "begin with FRAME" in gconv(small + more, "edges", status=1)
        same("tolerant", gconv(small + more, "edges", "--tolerant"), gconv(small, "edges"))
    with open("in.y4m", "wb") as file:
        file.write(small)
    subprocess.run([GCONV, "edges", "-o", "batch", "in.y4m"], check=True)
    with open("batch/in.y4m", "rb") as file:
        same("batch", file.read(), gconv(small, "edges"))
    assert "one size" in gconv(small, "edges", "--rows", "0:1", status=2)
    assert "pages are frames" in gconv(small, "filter", "-k", "box3", "--planes", "all", "--page", "1", status=2)
    assert "no chroma" in gconv(small, "filter", "-k", "box3", "--planes", "all", "--grey", status=2)
    assert "1 to 2147483647" in gconv(small, "edges", "--page", "4294967296", status=2)
    assert "interlaced" in gconv(small.replace(b"H2", b"H2 It"), "edges", "-v", "--page", "2", status=1)


def ask_ffmpeg():
    if shutil.which("ffmpeg") is None:
        print("no ffmpeg: its streams were not tried")
        return
    run = ["ffmpeg", "-v", "error", "-nostdin"]
    for form in "yuv420p", "yuv444p10le", "gray12le":
        made = subprocess.run([*run, "-f", "lavfi", "-i", "testsrc=s=64x48:d=0.2", "-pix_fmt", form, "-strict", "-1", "-f",
                               "yuv4mpegpipe", "-"], stdout=subprocess.PIPE, check=True).stdout
        with open("out.y4m", "wb") as file:
            file.write(gconv(made, "filter", "-k", "box3"))
        raw = subprocess.run([*run, "-i", "out.y4m", "-f", "rawvideo", "-pix_fmt", form, "-"], stdout=subprocess.PIPE,
                             check=True).stdout
        with open("out.y4m", "rb") as file:
            same(form, raw, b"".join(file.read().split(b"FRAME\n")[1:]))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for _ in range(COUNT):
        try_stream()
    refuse()
    ask_ffmpeg()
    os.chdir("/")
