#!/usr/bin/env python3
"""Judges the detectors of edges by a model in numpy (contract.md, rules 100 to 104), or by OpenCV.

The model knows nothing of gconv's code. Random jobs go to the program edges_answer. All samples of
its output must be those of the model, whatever computes them.

Usage: edges.py ANSWER [--seed N] [--count N] [--impl NAME] [--opencv IMAGE...]

--opencv compares --like opencv with cv2.Canny instead, on random images and on those that are
named. Exit status: 0 all equal, 1 something differs, 77 numpy or cv2 is missing.
"""
import argparse
import os
import random
import subprocess
import sys
from fractions import Fraction

try:
    import numpy as np
except ImportError:
    print("skipped: numpy is missing")
    sys.exit(77)

BORDERS = ["mirror", "mirror101", "replicate", "wrap", "constant"]
METHODS = ["laplace", "zero-crossing", "gradient", "canny"]
OPERATORS = [([1, 2, 1], [-1, 0, 1]), ([3, 10, 3], [-1, 0, 1]), ([1, 1, 1], [-1, 0, 1]),
             ([1, 4, 6, 4, 1], [-1, -2, 0, 2, 1]),
             ([1, 6, 15, 20, 15, 6, 1], [-1, -4, -5, 0, 5, 4, 1])]
GAUSS = [2, 4, 5, 4, 2]
LAPLACE = np.array([[0, 1, 0], [1, -4, 1], [0, 1, 0]])
SETS = ["portable", "avx2", "avx512"]


class Job:
    """What is computed: an image, and the members of gconv_job that matter."""

    def __init__(self, **members):
        self.__dict__.update(members)


# ---- The model -----------------------------------------------------------------------------------

def source(index, size, border):
    """The index that lies at `index`; -1 for the border constant."""
    if 0 <= index < size:
        return index
    if border == "replicate":
        return min(max(index, 0), size - 1)
    if border == "wrap":
        return index % size
    if border == "mirror":
        index %= 2 * size
        return min(index, 2 * size - 1 - index)
    if border == "mirror101":
        index %= max(2 * size - 2, 1)
        return min(index, 2 * size - 2 - index)
    return -1


def extend(image, reach, border, constant):
    """The image with `reach` rows and columns more on each side."""
    wider = np.full((image.shape[0] + 2 * reach, image.shape[1] + 2 * reach), constant, image.dtype)
    rows, columns = ([source(i - reach, size, border) for i in range(size + 2 * reach)]
                     for size in image.shape)
    y = [i for i, row in enumerate(rows) if row >= 0]
    x = [i for i, column in enumerate(columns) if column >= 0]
    wider[np.ix_(y, x)] = image[np.ix_([rows[i] for i in y], [columns[i] for i in x])]
    return wider


def correlate(image, weights, border, constant):
    reach = len(weights) // 2
    wider = extend(image, reach, border, constant)
    height, width = image.shape
    total = np.zeros(image.shape, dtype=image.dtype)
    for j, row in enumerate(weights):
        for i, weight in enumerate(row):
            total += int(weight) * wider[j:j + height, i:i + width]
    return total


def beside(image, down, right):
    """The neighbours of all pixels; 0 outside the image."""
    wider = np.pad(image, 1)
    height, width = image.shape
    return wider[1 + down:1 + down + height, 1 + right:1 + right + width]


def limit(threshold, unit, squared=False):
    exact = Fraction(threshold) * unit
    return int((exact * exact if squared else exact) // 1)


def crossing(job, values, unit):
    low, high = limit(job.threshold, unit), limit(job.threshold, 2 * unit)
    edges = np.zeros(values.shape, dtype=bool)
    for down, right in ((0, 1), (1, 0)):
        before, after = beside(values, -down, -right), beside(values, down, right)
        edges |= (values == 0) & (np.sign(before) * np.sign(after) < 0) & \
            (abs(before - after) > high)
        edges |= (np.sign(before) * np.sign(values) < 0) & (abs(before - values) > low) & \
            (abs(values) < abs(before))
        edges |= (np.sign(after) * np.sign(values) < 0) & (abs(after - values) > low) & \
            (abs(values) <= abs(after))
    return edges


def grow(weak, strong):
    """Pixels of `weak` that are connected with `strong`, by searching from one to the next."""
    edges, stack = strong.copy(), list(zip(*np.nonzero(strong)))
    while stack:
        y, x = stack.pop()
        for v in range(max(y - 1, 0), min(y + 2, weak.shape[0])):
            for u in range(max(x - 1, 0), min(x + 2, weak.shape[1])):
                if weak[v, u] and not edges[v, u]:
                    edges[v, u] = True
                    stack.append((v, u))
    return edges


def canny(job, across, down, size, low, high):
    """Rule 103, and rule 104 if job.like is 1."""
    a, b = abs(across), abs(down)
    lies, tangent = (1 << 15, 13573) if job.like else (408, 169)
    flat, steep = b * lies < a * tangent, b * lies > a * (tangent + 2 * lies)
    falls = ~flat & ~steep & ((across < 0) == (down < 0))
    peaks = np.zeros(size.shape, dtype=bool)
    for sector, (y, x) in ((flat, (0, 1)), (~flat & steep, (1, 0)), (falls, (1, 1)),
                           (~flat & ~steep & ~falls, (1, -1))):
        after = beside(size, y, x)
        strict = job.like and y * x != 0
        peaks |= sector & (size > beside(size, -y, -x)) & \
            ((size > after) if strict else (size >= after))
    return grow(peaks & (size > low), peaks & (size > high))


def gradient(job, values, constant):
    smooth, slope = (np.array(w) for w in OPERATORS[job.operator])
    across = correlate(values, np.outer(smooth, slope), job.border, constant)
    down = correlate(values, np.outer(slope, smooth), job.border, constant)
    if len(smooth) == 7:
        across, down = (np.rint(g / 16).astype(values.dtype) for g in (across, down))
    size = across**2 + down**2 if job.norm else abs(across) + abs(down)
    return across, down, size


def expected(job):
    """The output as levels of the output's depth."""
    white = 65535 if job.depth == 16 else 255
    unit, values = white // 255, job.image.astype(np.int64)
    constant = job.value * unit
    if not job.like:
        if job.blurs:
            values = correlate(values, np.outer(GAUSS, GAUSS), job.border, constant)
        divisor = 289 if job.blurs else 2
        unit, constant = unit * divisor, constant * divisor
    if job.method == "zero-crossing":
        edges = crossing(job, correlate(values, LAPLACE, job.border, constant), unit)
    else:
        across, down, size = gradient(job, values, constant)
        squared = job.norm == 1
        if job.method == "gradient":
            edges = size > limit(job.threshold, unit, squared)
        else:
            low, high = Fraction(job.low), Fraction(job.high)
            if job.operator == 4:
                low, high = low / 16, high / 16
            if job.like and squared:
                low, high = min(low, 32767), min(high, 32767)
            edges = canny(job, across, down, size, limit(low, unit, squared),
                          limit(high, unit, squared))
    return edges.astype(bool) ^ job.invert


# ---- Jobs ----------------------------------------------------------------------------------------

def maze(random_state, height, width, level):
    """Walls of a spiral, a comb or a random maze, one pixel wide."""
    image = np.zeros((height, width), dtype=np.int64)
    kind = random_state.randrange(3)
    if kind == 0:
        y, x, step, turns = 0, 0, (0, 1), 0
        while turns < 4:
            image[y, x] = level
            v, u = y + step[0], x + step[1]
            w, t = v + step[0], u + step[1]
            free = 0 <= v < height and 0 <= u < width and image[v, u] == 0 and \
                not (0 <= w < height and 0 <= t < width and image[w, t] != 0)
            if free:
                y, x, turns = v, u, 0
            else:
                step, turns = (step[1], -step[0]), turns + 1
    elif kind == 1:
        image[:, ::4] = level
        image[0 if random_state.random() < 0.5 else -1, :] = level
    else:
        image[::2, ::2] = level
        for y in range(0, height, 2):
            for x in range(0, width, 2):
                v, u = random_state.choice([(0, 1), (1, 0)])
                image[min(y + v, height - 1), min(x + u, width - 1)] = level
    return image


SIZES = [1, 2, 3, 4, 5, 7, 8, 13, 17, 31, 64, 65, 67, 101, 131]


def draw(r, depth, sizes=SIZES):
    most = 65535 if depth == 16 else 255
    height, width = r.choice(sizes), r.choice(sizes)
    noise = np.random.default_rng(r.randrange(1 << 30))
    kind = r.randrange(5)
    if kind == 0:
        image = noise.integers(0, most + 1, (height, width))
    elif kind == 1: # few levels: many ties
        image = noise.integers(0, 3, (height, width)) * (most // r.choice([2, 5, 60]))
    elif kind == 2:
        if r.random() < 0.03 and sizes == SIZES: # several regions of the GPU's kernels
            height, width = 263, 259
        image = maze(r, height, width, most // r.choice([1, 2, 7]))
        image = np.where(noise.random((height, width)) < 0.1, image // 2, image)
    else: # smooth
        y, x = np.mgrid[:height, :width]
        image = sum(np.sin(y * r.uniform(-.9, .9) + x * r.uniform(-.9, .9) + r.uniform(0, 7))
                    for _ in range(4))
        image = ((image + 4) / 8 * most).astype(np.int64)
    return np.clip(image, 0, most).astype(np.uint16 if depth == 16 else np.uint8)


def make(r, depths=(8, 16), sizes=SIZES):
    like = r.random() < 0.25
    depth = 8 if like else r.choice(depths)
    scale = r.choice([0.1, 1, 1, 4])
    low = round(r.uniform(0, 200) * scale, r.choice([0, 0, 2]))
    high = low + round(r.uniform(0, 200) * scale, r.choice([0, 0, 2]))
    return Job(image=draw(r, depth, sizes), depth=depth, out=r.choice([1, 8, 8, 16]), like=int(like),
               border="replicate" if like else r.choice(BORDERS), value=r.randrange(256),
               method="canny" if like else r.choice(METHODS[1:]),
               operator=r.choice([0, 3, 4] if like else [0, 1, 2]), norm=r.randrange(2),
               threshold=str(round(r.uniform(0, 60) * scale, r.choice([0, 0, 1, 3]))),
               low=f"{low:.2f}", high=f"{high:.2f}", invert=r.random() < 0.2,
               threads=r.choice([1, 1, 2, 3, 7]), by_rows=r.randrange(2),
               blurs=r.random() < 0.8)


def ask(program, job, implementation):
    """The output of the program, as black and white."""
    method = METHODS.index(job.method)
    blur = "identity" if job.like else "gauss5" if job.blurs else "1x1:0.5"
    filters = f"{blur};laplace3" if method == 1 else blur
    height, width = job.image.shape
    low, high, threshold = (float(t).hex() for t in (job.low, job.high, job.threshold))
    line = f"{implementation} {job.threads} {job.by_rows} {width} {height} {job.depth} {job.out} " \
        f"{BORDERS.index(job.border)} {float(job.value).hex()} {method} {job.operator} {job.norm} " \
        f"{job.like} {threshold} {low} {high} {int(job.invert)} {filters}\n"
    program.stdin.write(line.encode() + np.ascontiguousarray(job.image).tobytes())
    program.stdin.flush()
    answer = program.stdout.readline().decode().split(None, 1)
    if answer[0] != "ok":
        raise ValueError(f"{line}: {' '.join(answer)}")
    data = np.frombuffer(program.stdout.read(int(answer[1])), dtype=np.uint8)
    if job.out == 1:
        return np.unpackbits(data.reshape(height, -1), axis=1)[:, :width] != 0
    data = data.view(np.uint16 if job.out == 16 else np.uint8).reshape(height, width)
    if not np.isin(data, [0, 65535 if job.out == 16 else 255]).all():
        raise ValueError(f"{line}: samples between black and white")
    return data != 0


def start(answer, instructions):
    environment = dict(os.environ, GCONV_INSTRUCTIONS=instructions)
    return subprocess.Popen([answer], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            env=environment)


def differ(number, job, name, right, got):
    if (right == got).all():
        return 0
    y, x = np.argwhere(right != got)[0]
    members = {k: v for k, v in vars(job).items() if k != "image"}
    print(f"case {number}, {name}: {(right != got).sum()} of {right.size} pixels differ, the first "
          f"in row {y}, column {x} of {job.image.shape}: {members}")
    return 1


def judge(answer, seed, count, implementation, small):
    sets = SETS[:1] if small else SETS
    programs = {name: start(answer, name) for name in sets}
    failed = 0
    for number in range(count):
        r = random.Random(f"{seed} {number}")
        job = make(r, (8,) if implementation == "detector" else (8, 16),
                   [1, 7, 13, 67, 131] if small else SIZES)
        right = expected(job)
        name = r.choice(sets)
        failed += differ(number, job, f"{implementation} {name}", right,
                         ask(programs[name], job, implementation))
        if number % 4 == 0:
            failed += differ(number, job, "reference", right, ask(programs[name], job, "reference"))
    for name, program in programs.items(): # under a sanitizer its exit status says what was found
        program.stdin.close()
        if program.wait() != 0:
            print(f"{name}: exit status {program.returncode}")
            failed += 1
    print(f"{count} jobs, seed {seed}: {failed} differ from the model")
    return failed


# ---- OpenCV --------------------------------------------------------------------------------------

def pictures(files, r, count):
    import cv2
    for name in files:
        image = cv2.imread(name, cv2.IMREAD_GRAYSCALE)
        yield image
        yield cv2.GaussianBlur(image, (5, 5), 1.2)
    for _ in range(count):
        yield draw(r, 8)


def compare_with_opencv(answer, seed, count, files):
    try:
        import cv2
    except ImportError:
        print("skipped: python3-opencv is missing")
        return 77
    r = random.Random(seed)
    programs = {name: start(answer, name) for name in SETS}
    failed = pixels = images = 0
    for image in pictures(files, r, count):
        job = make(r)
        job.__dict__.update(image=image, like=1, border="replicate", method="canny", depth=8, out=8,
                            invert=False, operator=r.choice([0, 0, 3, 4]))
        if job.operator > 0: # their gradients are larger
            job.low, job.high = (str(float(t) * r.choice([1, 10, 100])) for t in (job.low, job.high))
            job.low, job.high = sorted((job.low, job.high), key=float)
        right = cv2.Canny(image, float(job.low), float(job.high),
                          apertureSize=[3, 0, 0, 5, 7][job.operator], L2gradient=job.norm == 1)
        name = r.choice(SETS)
        failed += differ(images, job, name, right != 0, ask(programs[name], job, "cpu"))
        images += 1
        pixels += image.size
    print(f"{images} images, {pixels} pixels: {failed} differ from OpenCV {cv2.__version__}")
    return failed != 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("answer")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--impl", default="cpu")
    parser.add_argument("--small", action="store_true") # for slow tools: one program, few sizes
    parser.add_argument("--opencv", nargs="*")
    given = parser.parse_args()
    if given.opencv is not None:
        return compare_with_opencv(given.answer, given.seed, given.count, given.opencv)
    return judge(given.answer, given.seed, given.count, given.impl, given.small) != 0


sys.exit(main())
