#!/usr/bin/env python3
"""gconv beside other libraries of image processing on a CPU, each as its users call it.

    LD_LIBRARY_PATH=BUILD PYTHONPATH=python benchmarks/libraries.py [options] [NAME=PYTHON...]
    benchmarks/libraries.py --chart PRINTED IMAGE.svg

Libraries take turns on one image in memory, each in a process of its own that is kept to one
processor. What counts is the processor time of a call, from array to array; of ImageMagick and
GraphicsMagick that of the program, from PGM to PGM. Prints medians, the medians of the rounds'
ratios to gconv, and how many samples are not the exact sum, rounded: the sum of samples times
weights is computed in double. Canny is compared with the first OpenCV.

NAME=PYTHON: a further library in an interpreter that has it, such as opencv=venv/bin/python. NAME
is one of those below; a number may follow it (opencv2). Libraries that are missing are left out.
IPP is called in the folder lib of that interpreter's environment. --chart draws what was printed.
"""

import argparse
import ctypes
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SIGMA, RADIUS = 2, 6
JOBS = {
    "gaussian": "Gaussian, sigma 2, 13x13, 8 bits grey",
    "gaussian-rgb": "Gaussian, sigma 2, 13x13, 8 bits RGB",
    "gaussian-16": "Gaussian, sigma 2, 13x13, 16 bits grey",
    "mean": "mean of 5x5, 8 bits grey",
    "mean-16": "mean of 5x5, 16 bits grey",
    "mean-rgb": "mean of 15x15, 8 bits RGB",
    "any5": "5x5 of any weights, 8 bits grey",
    "any31": "31x31 of any weights, 8 bits grey",
    "canny": "Canny, 100 and 200, 8 bits grey",
}
SIDES = {"mean": 5, "mean-16": 5, "mean-rgb": 15}
CALL_SECONDS = 2  # that a library has for the rounds of a job, after three of them


def gaussian_weights():
    weights = np.exp(-np.arange(-RADIUS, RADIUS + 1) ** 2 / (2 * SIGMA**2))
    return weights / weights.sum()


def any_weights(side):
    weights = np.random.default_rng(side).random((side, side)).astype(np.float32)
    return (weights / weights.sum()).astype(np.float32)


# ---- Libraries: what runs a job on an image, or None -------------------------------------------


def gconv(job, image):
    import gconv as module
    from gconv import cv

    version = module.__version__
    if job.startswith("gaussian"):
        return version, lambda: module.gaussian_filter(image, (SIGMA, SIGMA, 0)[:image.ndim], mode="nearest", radius=RADIUS)
    if job in SIDES:
        sides = (SIDES[job], SIDES[job], 1)[:image.ndim]
        return version, lambda: module.uniform_filter(image, sides, mode="nearest")
    if job == "canny":
        return version, lambda: cv.Canny(image, 100, 200)
    weights = any_weights(int(job[3:]))
    return version, lambda: module.correlate(image, weights, mode="nearest")


def gconv_ymm(job, image):
    os.environ["GCONV_INSTRUCTIONS"] = "avx2"
    return gconv(job, image)


def opencv(job, image):
    import cv2

    cv2.setNumThreads(1)
    side = (2 * RADIUS + 1,) * 2
    if job.startswith("gaussian"):
        return cv2.__version__, lambda: cv2.GaussianBlur(image, side, SIGMA, borderType=cv2.BORDER_REPLICATE)
    if job in SIDES:
        sides = (SIDES[job], SIDES[job])
        return cv2.__version__, lambda: cv2.blur(image, sides, borderType=cv2.BORDER_REPLICATE)
    if job == "canny":
        return cv2.__version__, lambda: cv2.Canny(image, 100, 200)
    weights = any_weights(int(job[3:]))
    return cv2.__version__, lambda: cv2.filter2D(image, -1, weights, borderType=cv2.BORDER_REPLICATE)


def scipy(job, image):
    import scipy
    from scipy import ndimage, signal

    if job.startswith("gaussian"):
        sigmas = (SIGMA, SIGMA, 0)[:image.ndim]
        return scipy.__version__, lambda: ndimage.gaussian_filter(image, sigmas, mode="nearest", radius=RADIUS)
    if job in SIDES:
        sides = (SIDES[job], SIDES[job], 1)[:image.ndim]
        return scipy.__version__, lambda: ndimage.uniform_filter(image, sides, mode="nearest")
    if job == "any5":
        weights = any_weights(5)
        return scipy.__version__, lambda: ndimage.correlate(image, weights, mode="nearest")
    if job == "any31":  # its users take fftconvolve, and round by themselves
        weights = any_weights(31)[::-1, ::-1]
        return scipy.__version__, lambda: np.rint(
            signal.fftconvolve(np.pad(image, 15, "edge").astype(np.float32), weights, "valid")).astype(np.uint8)
    return None


def scikit_image(job, image):
    import skimage
    from skimage import filters

    if not job.startswith("gaussian"):
        return None
    axis = {"channel_axis": 2} if image.ndim == 3 else {}
    return skimage.__version__, lambda: np.rint(filters.gaussian(
        image, SIGMA, mode="nearest", truncate=RADIUS / SIGMA, preserve_range=True, **axis)).astype(image.dtype)


def pillow(job, image):
    import PIL
    from PIL import Image, ImageFilter

    filters = {
        "gaussian": ImageFilter.GaussianBlur(SIGMA), "gaussian-rgb": ImageFilter.GaussianBlur(SIGMA),
        "mean": ImageFilter.BoxBlur(2), "mean-rgb": ImageFilter.BoxBlur(7),
        "any5": ImageFilter.Kernel((5, 5), any_weights(5)[::-1].ravel().tolist(), 1),
    }
    if job not in filters:
        return None
    picture = Image.fromarray(image)
    return PIL.__version__, lambda: np.asarray(picture.filter(filters[job]))


def libvips(job, image):
    os.environ["VIPS_CONCURRENCY"] = "1"
    import pyvips

    picture = pyvips.Image.new_from_array(image)
    version = ".".join(str(pyvips.version(i)) for i in range(3))

    def run(made):
        return np.frombuffer(made.write_to_memory(), image.dtype).reshape(image.shape)

    if job.startswith("gaussian"):  # the mask ends where weights fall below min_ampl
        return version, lambda: run(picture.gaussblur(SIGMA, min_ampl=0.005))
    if job == "canny":
        return None
    side = SIDES.get(job) or int(job[3:])
    matrix = np.ones((side, side)) / side**2 if job in SIDES else any_weights(side)
    mask = pyvips.Image.new_from_array(matrix.astype(float).tolist())
    return version, lambda: run(picture.conv(mask, precision="float").rint().cast(picture.format))


def kornia(job, image):
    os.environ["RAYON_NUM_THREADS"] = "1"
    import kornia_rs
    from kornia_rs import imgproc

    picture = image if image.ndim == 3 else image[:, :, None]
    calls = {
        "gaussian": lambda: imgproc.gaussian_blur(picture, (2 * RADIUS + 1,) * 2, (float(SIGMA),) * 2),
        "mean": lambda: imgproc.box_blur(picture, (SIDES[job],) * 2),
        "canny": lambda: imgproc.canny(picture, 100, 200),
    }
    call = calls.get(job.removesuffix("-rgb"))
    return call and (kornia_rs.__version__, lambda: np.asarray(call()).reshape(image.shape))


def ipp(job, image):
    """Intel's functions in C. What they need beside the image is made once."""
    folder = Path(sys.prefix) / "lib"
    if "IPP_NAMES" not in os.environ:  # the names by which it loads its parts, which its package lacks
        links = Path(tempfile.mkdtemp())
        for part in folder.glob("libipp*.so.12"):
            for name in (part.name, part.name + ".1"):
                (links / name).symlink_to(part)
        names = dict(os.environ, IPP_NAMES="1", LD_LIBRARY_PATH=str(links))
        os.execve(sys.executable, [sys.executable, *sys.argv], names)
    parts = {name: ctypes.CDLL(f"lib{name}.so.12", ctypes.RTLD_GLOBAL)
             for name in ("ippcore", "ippvm", "ipps", "ippi", "ippcc", "ippcv")}
    images, vision = parts["ippi"], parts["ippcv"]
    parts["ippcore"].ippInit()

    class Size(ctypes.Structure):
        _fields_ = [("width", ctypes.c_int), ("height", ctypes.c_int)]

    images.ippiGetLibVersion.restype = ctypes.POINTER(ctypes.c_int)
    version = images.ippiGetLibVersion()
    version = f"{version[0]}.{version[1]}"
    out, size, step = np.empty_like(image), Size(image.shape[1], image.shape[0]), image.strides[0]
    bits = {1: ("8u", 1), 2: ("16u", 5)}[image.itemsize]
    channels = image.size // (size.width * size.height)
    suffix = f"_{bits[0]}_C{channels if channels == 3 else 1}R"
    spec_size, room = ctypes.c_int(), ctypes.c_int()
    replicate, none = 1, (ctypes.c_uint16 * 3)()

    def check(status):
        if status < 0:
            raise ValueError(f"IPP status {status}")

    def bytes_of(count):
        array = np.empty(count.value + 64, np.uint8)
        return array, ctypes.c_void_p(array.ctypes.data + -array.ctypes.data % 64)

    at, to = ctypes.c_void_p(image.ctypes.data), ctypes.c_void_p(out.ctypes.data)
    border = none if channels == 3 else 0
    if job.startswith("gaussian"):
        side = 2 * RADIUS + 1
        check(vision.ippiFilterGaussianGetBufferSize(
            size, side, bits[1], channels, ctypes.byref(spec_size), ctypes.byref(room)))
        keep = [bytes_of(spec_size), bytes_of(room)]
        (_, spec), (_, buffer) = keep
        check(vision.ippiFilterGaussianInit(
            size, side, ctypes.c_float(SIGMA), replicate, bits[1], channels, spec, buffer))
        function = getattr(vision, "ippiFilterGaussianBorder" + suffix)
        arguments = at, step, to, step, size, border, spec, buffer
    elif job in SIDES:
        side = Size(SIDES[job], SIDES[job])
        check(images.ippiFilterBoxBorderGetBufferSize(size, side, bits[1], channels, ctypes.byref(room)))
        keep = [bytes_of(room)]
        function = getattr(images, "ippiFilterBoxBorder" + suffix)
        arguments = at, step, to, step, size, side, replicate, none, keep[0][1]
    elif job.startswith("any"):
        side = Size(int(job[3:]), int(job[3:]))
        weights = np.ascontiguousarray(any_weights(side.width))
        check(images.ippiFilterBorderGetSize(
            side, size, bits[1], 13, channels, ctypes.byref(spec_size), ctypes.byref(room)))
        keep = [bytes_of(spec_size), bytes_of(room)]
        (_, spec), (_, buffer) = keep
        check(images.ippiFilterBorderInit_32f(
            ctypes.c_void_p(weights.ctypes.data), side, bits[1], channels, 1, spec))
        function = images.ippiFilterBorder_8u_C1R
        arguments = at, step, to, step, size, replicate, none, spec, buffer
    else:
        return None

    def run(keep=keep):
        check(function(*arguments))
        return out

    return version, run


LIBRARIES = {f.__name__: f for f in (gconv, gconv_ymm, opencv, ipp, kornia, libvips, pillow, scipy, scikit_image)}


# ---- Programs ----------------------------------------------------------------------------------


def program(name, job, image):
    """From PGM or PPM to the same in a folder in memory, by one thread."""
    words = {
        "imagemagick": (["convert"], "-gaussian-blur"), "graphicsmagick": (["gm", "convert"], "-gaussian"),
    }[name]
    if not job.startswith("gaussian"):
        return None
    folder = tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    kind = "ppm" if image.ndim == 3 else "pgm"
    source, target = f"{folder}/in.{kind}", f"{folder}/out.{kind}"
    head = f"P{6 if image.ndim == 3 else 5}\n{image.shape[1]} {image.shape[0]}\n{np.iinfo(image.dtype).max}\n"
    big = image.astype(image.dtype.newbyteorder(">"))
    Path(source).write_bytes(head.encode() + big.tobytes())
    first = subprocess.run([words[0][0], "-version"], capture_output=True, text=True, check=True).stdout
    environment = dict(os.environ, OMP_NUM_THREADS="1", MAGICK_THREAD_LIMIT="1")

    def run():
        subprocess.run([*words[0], source, words[1], f"{RADIUS}x{SIGMA}", target], env=environment, check=True)
        return None

    def read():
        data = Path(target).read_bytes()
        return np.frombuffer(data[len(data) - image.nbytes:], big.dtype).reshape(image.shape)

    run.read = read
    return first.removeprefix("Version: ").split()[1], run


PROGRAMS = ("imagemagick", "graphicsmagick")


# ---- A process of a library --------------------------------------------------------------------


def cpu_seconds():
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def work(name, job, folder):
    """Runs the job once for each line of the input, and prints the processor time that it took."""
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[-1]})
    image = np.load(f"{folder}/{job}.npy")
    kind = name.rstrip("0123456789")
    try:
        made = program(kind, job, image) if kind in PROGRAMS else LIBRARIES[kind](job, image)
    except Exception as error:  # it is missing, or refuses
        print(json.dumps({"missing": f"{type(error).__name__}: {error}"}), flush=True)
        return
    if made is None:
        print(json.dumps({"missing": ""}), flush=True)
        return
    version, run = made
    result = run()
    np.save(f"{folder}/{job}-{name}.npy", run.read() if result is None else result)
    print(json.dumps({"version": version}), flush=True)
    for _ in sys.stdin:
        start = cpu_seconds()
        run()
        print(cpu_seconds() - start, flush=True)


# ---- The race ----------------------------------------------------------------------------------


def picture(job, width, height):
    """The sample still life side by side, with noise of three levels."""
    import gconv

    source = gconv.imread(Path(__file__).resolve().parent.parent / "samples/still-life.png")
    source = np.asarray(source)[..., :3]
    if not job.endswith("-rgb"):
        source = source.mean(axis=2) if source.ndim == 3 else source
    elif source.ndim == 2:
        source = np.stack([source] * 3, 2)
    times = (-(-height // source.shape[0]), -(-width // source.shape[1])) + (1,) * (source.ndim - 2)
    tiled = np.tile(source, times)[:height, :width].astype(float)
    tiled += np.random.default_rng(1).integers(-3, 4, tiled.shape)
    levels = 257 if job.endswith("-16") else 1
    noise = np.random.default_rng(2).integers(0, levels, tiled.shape)
    kind = np.uint16 if levels > 1 else np.uint8
    return np.ascontiguousarray(np.clip(np.rint(tiled) * levels + noise, 0, np.iinfo(kind).max).astype(kind))


def exact(job, image):
    """The sums of samples times weights in double, border replicate."""
    if job.startswith("any"):
        weights = any_weights(int(job[3:])).astype(float)
        reach = weights.shape[0] // 2
        padded = np.pad(image.astype(float), reach, "edge")
        spectrum = np.fft.rfft2(padded) * np.fft.rfft2(weights[::-1, ::-1], padded.shape)
        return np.fft.irfft2(spectrum, padded.shape)[2 * reach:, 2 * reach:]
    row = np.ones(SIDES[job]) / SIDES[job] if job in SIDES else gaussian_weights()
    reach, made = len(row) // 2, image.astype(float)
    for axis in (0, 1):
        padded = np.pad(made, [(reach, reach) if a == axis else (0, 0) for a in range(image.ndim)], "edge")
        made = sum(w * np.take(padded, range(i, i + image.shape[axis]), axis) for i, w in enumerate(row))
    return made


def judge(job, image, results):
    """By library: the share of samples that are off, and the largest distance in levels."""
    if job == "canny":
        first = next((results[name] for name in results if name.startswith("opencv")), None)
        return {name: (float(np.mean(made != first)), 0.0) for name, made in results.items() if first is not None}
    wanted = exact(job, image)
    off = {}
    for name, made in results.items():
        distance = np.abs(made.astype(float) - wanted)
        off[name] = float(np.mean(distance > 0.5 + 1e-6)), float(distance.max())
    return off


def race(job, names, given, folder):
    image = picture(job, given.width, given.height)
    np.save(f"{folder}/{job}.npy", image)
    workers, versions = {}, {}
    for name, python in names.items():
        worker = subprocess.Popen([python, __file__, "--work", name, job, folder], text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        told = json.loads(worker.stdout.readline() or '{"missing": "ended"}')
        if "version" in told:
            workers[name], versions[name] = worker, told["version"]
        elif told["missing"]:
            print(f"# {name}: {told['missing'].splitlines()[0][:90]}", file=sys.stderr)
    times = {name: [] for name in workers}
    for turn in range(given.rounds):
        for name, worker in workers.items():
            if turn >= 3 and sum(times[name]) > CALL_SECONDS:
                continue
            worker.stdin.write("\n")
            worker.stdin.flush()
            times[name].append(float(worker.stdout.readline()))
    for worker in workers.values():
        worker.stdin.close()
        worker.wait()
    off = judge(job, image, {name: np.load(f"{folder}/{job}-{name}.npy") for name in workers})
    own = times["gconv"]
    for name, taken in times.items():
        ratios = [t / o for t, o in zip(taken, own)]
        most = "-" if job == "canny" else f"{off[name][1]:.2f}"
        yield (f"{name:16} {versions[name]:10} {1e3 * statistics.median(taken):6.1f} {len(taken):7} "
               f"{statistics.median(ratios):11.2f} {100 * off[name][0]:7.3f} % {most:>12}")


def read(printed):
    """Ratios of what was printed, by job, then by library and version."""
    titles = {title: job for job, title in JOBS.items()}
    ratios = {}
    for line in printed.splitlines():
        title, row = line.rpartition(", ")[0], re.fullmatch(r"(\S+) +(\S+) +[\d.]+ +\d+ +([\d.]+) .*", line)
        if title in titles:
            at = ratios.setdefault(titles[title], {})
        elif row and row[1] != "gconv":
            name = row[1].rstrip("0123456789")
            at["gconv, AVX2" if name == "gconv_ymm" else f"{name} {row[2]}"] = float(row[3])
    return ratios


def draw(ratios, path):
    """A panel a job, with a bar a library: linear up to 1, logarithmic from there on."""
    LEFT, PANEL, UNIT, TOP, ROW = 150, 134, 26, 44, 17
    names = dict.fromkeys(name for at in ratios.values() for name in at)
    names = sorted(names, key=lambda name: not name.startswith("gconv"))
    bottom = TOP + ROW * len(names)
    width, height = LEFT + PANEL * len(ratios), bottom + 44
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
             f'height="{height}" font-family="sans-serif" font-size="12" role="img">',
             "<title>Processor time of other libraries over that of gconv</title>",
             f'<rect width="{width}" height="{height}" fill="#ffffff"/>']

    def text(x, y, words, anchor="start", size=12):
        lines.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{words}</text>')

    def place(ratio):
        return UNIT * (ratio if ratio < 1 else 1 + math.log10(ratio))

    for i, name in enumerate(names):
        text(LEFT - 8, TOP + ROW * (i + 0.75), name, "end")
    for j, job in enumerate(ratios):
        x = LEFT + PANEL * j
        title = JOBS[job].replace(", sigma 2, 13x13", "").replace(" of any weights", ", any")
        first, last = title.rsplit(", ", 1)
        text(x, 16, first + ",", size=11)
        text(x, 30, last, size=11)
        for ratio in (0, 1, 10, 100):
            text(x + place(ratio), bottom + 16, ratio, "middle", 11)
        for i, name in enumerate(names):
            end, y = x + place(ratios[job].get(name, 0)), TOP + ROW * i
            lines.append(f'<rect x="{x}" y="{y + 2}" width="{end - x:.1f}" height="{ROW - 4}" fill="#0072b2"/>')
            text(end + 4, y + 0.75 * ROW, f"{ratios[job][name]:.1f}" if name in ratios[job] else "-", size=10)
        lines.append(f'<path d="M{x} {TOP}V{bottom}H{x + PANEL - 30}M{x + UNIT} {TOP}V{bottom}" fill="none" stroke="#000000"/>')
    text(width / 2, height - 8, "processor time, gconv = 1", "middle")
    Path(path).write_text("\n".join(lines + ["</svg>", ""]))


def main():
    if sys.argv[1:2] == ["--work"]:
        work(*sys.argv[2:5])
        return
    parser = argparse.ArgumentParser()
    parser.add_argument("others", nargs="*", metavar="NAME=PYTHON")
    parser.add_argument("--jobs", default=",".join(JOBS))
    parser.add_argument("--width", type=int, default=2048)
    parser.add_argument("--height", type=int, default=1536)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--chart", nargs=2, metavar=("PRINTED", "IMAGE"))
    given = parser.parse_args()
    if given.chart:
        draw(read(Path(given.chart[0]).read_text()), given.chart[1])
        return
    names = {"gconv": sys.executable, "opencv": sys.executable}
    names.update(other.split("=", 1) for other in given.others)
    names.update((name, sys.executable) for name in (*LIBRARIES, *PROGRAMS) if name not in names)
    with tempfile.TemporaryDirectory() as folder:
        for job in given.jobs.split(","):
            print(f"\n{JOBS[job]}, {given.width}x{given.height}")
            print("library          version        ms  rounds  over gconv      off  most, levels")
            for row in race(job, names, given, folder):
                print(row, flush=True)


if __name__ == "__main__":
    main()
