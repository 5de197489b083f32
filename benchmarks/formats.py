#!/usr/bin/env python3
"""gauss5 from file to file in TIFF and WebP, in turns with vips, OpenCV and ImageMagick.

    benchmarks/formats.py GCONV [--pixels MILLIONS] [--turns N] [--only WORDS]

Prints the least time of each program in seconds, gconv's over that of the best other one, and the
memory that gconv took. For raw TIFF also over `cat` of the file plus the filter in memory. Needs
NumPy and tifffile; peers that lack are left out.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
import tifffile

WEIGHTS = (1, 4, 6, 4, 1)
CASES = { # name: samples, channels, extension, gconv's option, vips' options, convert's
    "raw16": ("u2", 1, "tif", ["--compression", "none"], "[compression=none]", ["-compress", "none"]),
    "raw8rgb": ("u1", 3, "tif", ["--compression", "none"], "[compression=none]", ["-compress", "none"]),
    "deflate16": ("u2", 1, "tif", ["--compression", "deflate"], "[compression=deflate,predictor=horizontal]", ["-compress", "zip"]),
    "lzw16": ("u2", 1, "tif", ["--compression", "lzw"], "[compression=lzw,predictor=horizontal]", ["-compress", "lzw"]),
    "lzw8rgb": ("u1", 3, "tif", ["--compression", "lzw"], "[compression=lzw,predictor=horizontal]", ["-compress", "lzw"]),
    "webp": ("u1", 3, "webp", ["--quality", "90"], "[Q=90]", ["-quality", "90"]),
    "webp-lossless": ("u1", 3, "webp", [], "[lossless]", ["-define", "webp:lossless=true"]),
}
OPENCV = """
import cv2, numpy, sys, time
start = time.monotonic()
image = cv2.imread(sys.argv[1], cv2.IMREAD_UNCHANGED)
k = numpy.array([1, 4, 6, 4, 1]) / 16
options = [int(n) for n in sys.argv[3:]]
cv2.imwrite(sys.argv[2], cv2.sepFilter2D(image, -1, k, k, borderType=cv2.BORDER_REFLECT), options)
print(time.monotonic() - start)
"""


def picture(kind, channels, width, height):
    """Waves and noise: it compresses by a half or so."""
    y, x = np.ogrid[:height, :width]
    full = np.iinfo(kind).max
    noise = np.random.default_rng(1)
    planes = [((np.sin(x / 97 + c) + np.cos(y / 71) + 2) / 4 * full * 0.9).astype(kind) +
              noise.integers(0, full // 60 + 1, (height, width), dtype=kind) for c in range(channels)]
    return planes[0] if channels == 1 else np.stack(planes, 2)


def timed(command):
    """Seconds, those that the program tells if it does, and the most memory in MB."""
    start = time.monotonic()
    # A child's memory counts what this program had when it forked, unless another one forks it.
    done = subprocess.run(["/usr/bin/time", "-o", "memory", "-f", "%M", *command], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    taken = time.monotonic() - start
    with open("memory") as file:
        megabytes = int(file.read().split()[-1]) / 1024
    seconds = float(done.stdout) if re.fullmatch(rb"[0-9.]+\n", done.stdout) else taken
    return (None if done.returncode else seconds), megabytes


def commands(gconv, case):
    kind, _, extension, ours, vips, convert = CASES[case]
    source = "in." + case + "." + extension
    ways = {"gconv": [gconv, "filter", "-q", "-k", "gauss5", *ours, source, "g." + extension]}
    if shutil.which("vips"):
        ways["vips"] = ["vips", "conv", source, "v." + extension + vips, "mask.mat", "--precision", "integer"]
    options = {"raw16": "259 1", "raw8rgb": "259 1", "lzw16": "259 5", "lzw8rgb": "259 5", "deflate16": "259 8",
               "webp": "64 90", "webp-lossless": "64 101"}[case].split()
    if subprocess.run(["/usr/bin/python3", "-c", "import cv2"], capture_output=True).returncode == 0:
        ways["opencv"] = ["/usr/bin/python3", "-c", OPENCV, source, "o." + extension, *options]
    if shutil.which("convert"):
        kernel = "5x5:" + ",".join(str(a * b / 256) for a in WEIGHTS for b in WEIGHTS)
        ways["convert"] = ["convert", source, "-morphology", "Convolve", kernel, *convert, "c." + extension]
    if case.startswith("raw"):
        ways["cat"] = ["sh", "-c", 'cat "$1" > cat.out', "sh", source]
    return ways


def measure(gconv, case, pixels, turns):
    kind, channels = CASES[case][:2]
    side = int((pixels * 1e6) ** 0.5)
    image = picture(kind, channels, side, side)
    tifffile.imwrite("made.tif", image, photometric="rgb" if channels == 3 else "minisblack", rowsperstrip=max(1, 262144 // image[0].nbytes))
    ways = commands(gconv, case)
    source = "in." + case + "." + CASES[case][2]
    subprocess.run([gconv, "filter", "-q", "-k", "identity", *CASES[case][3], "made.tif", source], check=True)
    best, memory = {}, 0
    for _ in range(turns):
        for name, command in ways.items():
            seconds, megabytes = timed(command)
            memory = max(memory, megabytes if name == "gconv" else 0)
            if seconds is not None:
                best[name] = min(seconds, best.get(name, seconds))
    peers = [s for n, s in best.items() if n not in ("gconv", "cat")]
    line = "%-14s " % case + " ".join("%s %.3f" % pair for pair in best.items()) + "  %.0f MB" % memory
    if peers:
        line += "  %.2f of the best" % (best["gconv"] / min(peers))
    if "cat" in best:
        bench = [gconv, "bench", "-q", "-k", "gauss5", "--impl", "cpu", "--sizes", "%dx%d" % (side, side), "--samples",
                 "%s%d" % ("grey" if channels == 1 else "rgb", 8 * int(kind[1])), "--time", "1", "--csv"]
        rows = [r.split(",") for r in subprocess.run(bench, capture_output=True, text=True).stdout.splitlines() if r[:1] != "#"]
        if len(rows) > 1 and "shortest_seconds" in rows[0]:
            filtered = float(rows[1][rows[0].index("shortest_seconds")])
            line += "  filter %.3f, %.2f of cat and filter" % (filtered, best["gconv"] / (best["cat"] + filtered))
    print(line, flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gconv")
    parser.add_argument("--pixels", type=float, default=25)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    gconv = os.path.abspath(given.gconv)
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as work:
        os.chdir(work)
        with open("mask.mat", "w") as file:
            file.write("5 5 256 0\n" + "\n".join(" ".join(str(a * b) for a in WEIGHTS) for b in WEIGHTS) + "\n")
        for case in CASES:
            if given.only in case:
                measure(gconv, case, given.pixels, given.turns)
        os.chdir("/")


main()
