#!/usr/bin/env python3
"""Files that tifffile, Pillow and vips write, read by gconv and by them: every sample is compared.

    tests/formats/peers.py GCONV [COUNT [SEED]]

COUNT is the number of files, 2000, which takes some minutes; the suite does not run it. Needs
/usr/bin/python3 with NumPy, tifffile and Pillow, and vips.
"""
import os
import random
import shutil
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import tifffile
from PIL import Image

GCONV = os.path.abspath(sys.argv[1])
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
draw = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
noise = np.random.default_rng(draw.randrange(1 << 30))
warnings.simplefilter("ignore")


def run(*command):
    return subprocess.run(command, capture_output=True, timeout=300)


def array_of(kind, channels):
    shape = (draw.randint(1, 90), draw.randint(1, 90)) + (() if channels == 1 else (channels,))
    if kind == "f4":
        return (noise.random(shape) * 255).astype(kind)
    waves = np.add.outer(np.arange(shape[0]) * 3, np.arange(shape[1]) * 5) * (256 if kind == "u2" else 1)
    waves = waves.reshape(waves.shape + (1,) * (len(shape) - 2))
    return (waves + noise.integers(0, 40, shape)).astype(kind)


# ---- Writers: each returns what the samples are --------------------------------------------------


def by_tifffile(name):
    channels = draw.choice((1, 2, 3, 4))
    image = array_of(draw.choice(("u1", "u2", "f4")), channels)
    planes = channels > 1 and draw.random() < 0.3
    data = np.moveaxis(image, 2, 0) if planes else image
    options = {"byteorder": draw.choice("<>"), "bigtiff": draw.random() < 0.3,
               "compression": draw.choice((None, None, "zlib"))}
    if draw.random() < 0.5:
        options["tile"] = (16 * draw.randint(1, 4), 16 * draw.randint(1, 4))
    else:
        options["rowsperstrip"] = draw.randint(1, 40)
    if channels > 1:
        options["planarconfig"] = "separate" if planes else "contig"
    if channels in (2, 4):
        options["extrasamples"] = ["unassalpha"]
    tifffile.imwrite(name, data, photometric="rgb" if channels > 2 else "minisblack", metadata=None, **options)
    return image


def by_pillow(name):
    mode = draw.choice(("1", "L", "LA", "P", "I;16", "RGB", "RGBA", "F"))
    if mode == "F":
        image = Image.fromarray(array_of("f4", 1))
    elif mode == "I;16":
        image = Image.fromarray(array_of("u2", 1))
    else:
        image = Image.fromarray(array_of("u1", {"LA": 2, "RGB": 3, "RGBA": 4}.get(mode, 1)))
        image = image.convert(mode)
    packed = draw.choice((None, "tiff_lzw", "tiff_adobe_deflate", "packbits"))
    image.save(name, compression=packed)
    return np.asarray(image.convert({"1": "L", "P": "RGB"}.get(mode, mode)))


def by_vips(name):
    image = array_of(draw.choice(("u1", "u1", "u2")), draw.choice((1, 2, 3, 4)))
    write = "made.tif"
    options = {"photometric": "rgb" if image.ndim == 3 and image.shape[2] > 2 else "minisblack", "metadata": None}
    if image.ndim == 3 and image.shape[2] in (2, 4):
        options["extrasamples"] = ["unassalpha"]
    tifffile.imwrite(write, image, **options)
    words = ["compression=" + draw.choice(("none", "lzw", "deflate", "packbits", "zstd"))]
    words += draw.choice(([], ["tile", "tile-width=%d" % (16 * draw.randint(1, 4)), "tile-height=32"]))
    words += draw.choice(([], ["predictor=horizontal"])) if "packbits" not in words[0] else []
    words += draw.choice(([], ["bigtiff"]))
    if image.dtype == np.uint8 and image.ndim == 2:
        bits = draw.choice((8, 8, 1, 2, 4))
        words += ["bitdepth=%d" % bits] if bits < 8 else []
        words += draw.choice(([], ["miniswhite"])) if bits < 8 else []
    done = run("vips", "copy", write, name + "[" + ",".join(words) + "]")
    assert done.returncode == 0, (words, done.stderr)
    return image if not any("bitdepth" in w for w in words) else None


def by_library(name):
    """WebP, AVIF, HEIC and JPEG XL of vips."""
    kind = draw.choice(("webp", "avif", "heic", "jxl"))
    image = array_of("u2" if kind == "jxl" and draw.random() < 0.4 else "u1", draw.choice((3, 4)))
    Image.fromarray(image).save("made.png") if image.dtype == np.uint8 else tifffile.imwrite(
        "made.png.tif", image, photometric="rgb", extrasamples=["unassalpha"] if image.shape[2] == 4 else None)
    source = "made.png" if image.dtype == np.uint8 else "made.png.tif"
    lossless = draw.random() < 0.5
    target = os.path.splitext(name)[0] + "." + kind
    words = (["lossless"] if lossless else ["Q=%d" % draw.randint(30, 95)]) + (["compression=av1"] if kind == "avif" else [])
    if kind in ("avif", "heic"):
        words.append("speed=9")
    done = run("vips", "copy", source, target + "[" + ",".join(words) + "]")
    return (image if lossless and (kind == "jxl" or kind == "webp" and image.shape[2] == 3) else None, target) if done.returncode == 0 else (None, None)


# ---- Readers -------------------------------------------------------------------------------------


def samples_of_vips(name, like):
    if run("vips", "rawsave", name, "out.raw").returncode != 0:
        return None
    raw = np.fromfile("out.raw", like.dtype)
    return raw.reshape(like.shape) if raw.size == like.size else raw


def samples_of_tifffile(name):
    try:
        image = tifffile.TiffFile(name).pages[0]
        data = image.asarray()
    except Exception: # a codec that it lacks
        return None
    if image.photometric == 3 or image.bitspersample not in (8, 16, 32) or image.photometric == 0:
        return None
    return np.moveaxis(data, 0, 2) if image.planarconfig == 2 and data.ndim == 3 else data


def samples_of_pillow(name):
    try:
        image = Image.open(name)
        if image.mode not in ("1", "L", "LA", "P", "I;16", "I;16B", "RGB", "RGBA", "F"):
            return None
        return np.asarray(image.convert({"1": "L", "P": "RGB"}.get(image.mode, image.mode)))
    except Exception: # a layout that it lacks
        return None


def compare(name, got, wanted, who, tally, made=None):
    """`made` is what is known to be in the file: what differs from it is the peer's fault."""
    if wanted is None or wanted.dtype.newbyteorder("=") != got.dtype: # no peer of these samples
        return True
    if 3 * wanted.size == got.size: # vips makes grey of a grey palette
        wanted = np.repeat(wanted.reshape(got.shape[:2]), 3)
    same = wanted.size == got.size and np.array_equal(wanted.reshape(got.shape), got)
    ours = not same and (made is None or not np.array_equal(made, got))
    how = "as" if same else "NOT AS" if ours else "read as they are, not as by"
    tally[who, how] = tally.get((who, how), 0) + 1
    if ours:
        print("%s: %s differs" % (name, who))
    return not ours


def main():
    wanted = {}
    os.mkdir("in")
    for i in range(COUNT):
        name = "in/%d.tif" % i
        writer = draw.choice((by_tifffile, by_tifffile, by_pillow, by_vips, by_vips, by_library))
        made = writer(name)
        image, name = made if writer is by_library else (made, name)
        if name:
            wanted[name] = image
    done = run(GCONV, "filter", "-q", "-k", "identity", "--alpha", "keep", "-f", "npy", "-o", "out", "in")
    failed = [line for line in done.stderr.decode().splitlines()]
    tally, good = {}, done.returncode == 0
    for line in failed[:20]:
        print(line)
    for name, image in wanted.items():
        ours = "out/" + os.path.splitext(os.path.basename(name))[0] + ".npy"
        if not os.path.exists(ours):
            continue
        got = np.load(ours)
        good &= compare(name, got, image, "what was written", tally)
        good &= compare(name, got, samples_of_vips(name, got), "vips", tally, image)
        if name.endswith(".tif"):
            good &= compare(name, got, samples_of_tifffile(name), "tifffile", tally, image)
        good &= compare(name, got, samples_of_pillow(name), "Pillow", tally, image)
    for (who, how), count in sorted(tally.items()):
        print("%5d files %s %s" % (count, how, who))
    sys.exit(not good)


assert shutil.which("vips"), "vips is not there"
with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    try:
        main()
    finally:
        os.chdir("/")
