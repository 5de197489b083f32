#!/usr/bin/env python3
"""--nan spread and ignore against NumPy: both are computed here in double, ignore as convolve() of
astropy does it, sum by sum.

    tests/formats/nan.py GCONV [COUNT [SEED]]

COUNT is the number of random images, 8. Exits with 77 if NumPy is missing.
"""
import os
import random
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: no NumPy")
    sys.exit(77)

GCONV = os.path.abspath(sys.argv[1])
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 8
draw = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 41)
noise = np.random.default_rng(draw.randrange(1 << 32))
MODES = {"mirror": "symmetric", "mirror101": "reflect", "replicate": "edge", "wrap": "wrap", "constant:7": 7}


def filtered(image, *words, file="in.npy"):
    np.save("in.npy", image)
    subprocess.run([GCONV, "filter", "-q", *words, file, "out.npy"], check=True)
    return np.load("out.npy")


def convolve(image, weights, border, outside):
    height, width = weights.shape
    ay, ax = height // 2, width // 2
    pads = ((height - 1 - ay, ay), (width - 1 - ax, ax))
    if isinstance(border, int):
        padded = np.pad(image, pads, constant_values=outside)
    else:
        padded = np.pad(image, pads, border)
    out = np.zeros(image.shape)
    for j in range(height):
        for i in range(width):
            y, x = height - 1 - j, width - 1 - i
            out += weights[j, i] * padded[y:y + image.shape[0], x:x + image.shape[1]]
    return out


def random_filter():
    weights = noise.integers(0, 9, (draw.randint(1, 5), draw.randint(1, 5))).astype(float)
    weights[0, 0] += 1
    with open("k.txt", "w") as file:
        file.write("divisor 4\n" + "\n".join(" ".join("%d" % w for w in row) for row in weights) + "\n")
    return weights


def close(name, got, wanted):
    where = np.isnan(got) != np.isnan(wanted)
    if got.shape != wanted.shape or where.any():
        sys.exit(f"{name}: not a number at other places: {np.argwhere(where)[:5]}")
    if not np.allclose(got, wanted, rtol=1e-4, atol=1e-3, equal_nan=True):
        sys.exit(f"{name}: {np.nanmax(np.abs(got - wanted))}")


def try_image(border):
    image = ((noise.random((draw.randint(6, 40), draw.randint(6, 40))) - 0.3) * 300).astype("f4")
    missing = noise.random(image.shape) < draw.choice((0.02, 0.3, 0.8))
    image[missing] = noise.choice(np.array([np.nan, np.inf, -np.inf], "f4"), int(missing.sum()))
    weights, mode = random_filter(), MODES[border]
    values = np.where(missing, 0, image).astype(float)
    left = convolve((~missing).astype(float), weights, mode, 1)
    with np.errstate(all="ignore"):
        sums = convolve(values, weights, mode, mode) / left * weights.sum() / 4
        spread = convolve(image.astype(float), weights, mode, mode) / 4
    wanted = np.where(left > 0, sums, np.nan)
    for impl in "auto", "reference", "cpu:taps":
        got = filtered(image, "-k", "k.txt", "--border", border, "--nan", "ignore", "-i", impl, "--verify")
        close(f"ignore {border} {impl}", got, wanted)
    got = filtered(image, "-k", "k.txt", "--border", border, "--nan", "spread")
    close(f"spread {border}", np.where(np.isfinite(got), got, 0), np.where(np.isfinite(spread), spread, 0))
    for kind in np.isnan, np.isposinf, np.isneginf:
        if not np.array_equal(kind(got), kind(spread)):
            sys.exit(f"spread {border}: {kind}")


def try_others():
    """Colours, a wide filter by transforms, other formats, and what is refused."""
    image = (noise.random((40, 50, 3)) * 255).astype("f4")
    image[3:5, 7, 1] = np.nan
    got = filtered(image, "-k", "box3", "--nan", "ignore")
    values = np.where(np.isnan(image).any(axis=2)[..., None], 0, image).astype(float)
    left = convolve((~np.isnan(image).any(axis=2)).astype(float), np.ones((3, 3)), "symmetric", 1)
    for c in range(3):
        close("colours", got[..., c], convolve(values[..., c], np.ones((3, 3)), "symmetric", 0) / left)
    grey = image[..., 0].copy()
    grey[:20, :30] = np.nan
    assert np.isnan(filtered(grey, "-k", "gaussian:1", "--nan", "ignore")).sum() > 200
    assert np.isnan(filtered(grey, "-k", "box:31", "--nan", "ignore")).sum() == 5 * 15
    for name in "grey.pfm", "grey.tif":
        filtered(np.abs(grey), "-k", "box3", "--nan", "ignore")
        subprocess.run([GCONV, "filter", "-q", "-k", "box3", "--nan", "ignore", "in.npy", name], check=True)
        subprocess.run([GCONV, "filter", "-q", "-k", "identity", "--nan", "spread", name, "back.npy"], check=True)
        close(name, np.load("back.npy"), np.load("out.npy"))
    colour = image.copy()
    colour[0, 0, 0] = np.inf
    assert np.isnan(filtered(colour, "-k", "identity", "--nan", "ignore", "--grey")).sum() == 3
    done = subprocess.run([GCONV, "filter", "-k", "box3", "--nan", "ignore", "in.npy", "out.npy"], stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, b""), done.stderr
    for words, message in ((("-k", "box3"), "beyond 2^32: nan at x 0, y 0"), (("-k", "laplace3", "--nan", "ignore"), "sum"),
                           (("-k", "box3", "--nan", "ignore", "--depth", "16"), "an output of floats"),
                           (("-k", "box3", "--nan", "spread", "-i", "cpu"), "computed by 'reference'"),
                           (("-k", "box3", "--nan", "spread", "--verify"), "--verify")):
        np.save("in.npy", grey)
        done = subprocess.run([GCONV, "filter", *words, "in.npy", "out.npy"], stderr=subprocess.PIPE)
        assert done.returncode in (1, 2) and message in done.stderr.decode(), (words, done.stderr)
    np.save("in.npy", np.concatenate([image, image[..., :1]], axis=2))
    for nan in "spread", "ignore":
        done = subprocess.run([GCONV, "filter", "-k", "box3", "--nan", nan, "in.npy", "out.npy"], stderr=subprocess.PIPE)
        assert done.returncode == 1 and b"no alpha" in done.stderr, done.stderr
    np.save("in.npy", np.nan_to_num(np.load("in.npy")))
    for command in ("filter", "-q", "-k", "gaussian:1", "--journal", "j", "-o", "out", "in.npy"), ("check", "-q", "--verify", "j"):
        subprocess.run([GCONV, *command], check=True)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for number in range(COUNT):
        try_image(draw.choice(list(MODES)) if number >= len(MODES) else list(MODES)[number])
    try_others()
    os.chdir("/")
