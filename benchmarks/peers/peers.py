#!/usr/bin/env python3
"""The Python peers of gconv_peers: cuDNN through PyTorch, CuPy, and the edges chain in PyTorch.

Times and columns are those of gconv_peers: medians between two events, launches queued behind a
kernel that holds the stream, random pictures, buffer sets of 640 MiB in rotation, every result
checked once against float64. CSV rows are appended.
"""
import argparse
import math
import os
import statistics
import time

SIDES = (3, 5, 7, 9, 11, 13, 15, 17, 21, 25, 31, 43)
CUPY_SIDES = tuple(side for side in SIDES if side <= 21)
BATCH = 16  # launches queued behind one hold
SLOW = 5e3  # microseconds from which on a batch is one launch
HOLD_CYCLES = 20_000_000  # 10 milliseconds: Python queues slowly
MAX_SAMPLE = 255.0
GAUSS_LINE = (2, 4, 5, 4, 2)
GAUSS_DIVISOR = 17 * 17
LAPLACE = ((0, 1, 0), (1, -4, 1), (0, 1, 0))
THRESHOLD = 16
HEADER = "group,name,filter_width,filter_height,microseconds,gflops,ratio_to_copy,max_error"


class Torch:
    """What the measurements need of PyTorch."""

    def __init__(self):
        import torch

        self.module = torch
        if not torch.cuda.is_available():
            raise ImportError("it sees no GPU")
        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.benchmark = True
        torch.manual_seed(1)
        torch.set_grad_enabled(False)

    def version(self):
        return f"{self.module.__version__}, cuDNN {self.module.backends.cudnn.version()}"

    def event(self):
        return self.module.cuda.Event(enable_timing=True)

    def microseconds(self, start, stop):
        return 1e3 * start.elapsed_time(stop)

    def hold(self):
        self.module.cuda._sleep(HOLD_CYCLES)

    def synchronize(self):
        self.module.cuda.synchronize()

    def float_picture(self, size):
        return self.module.rand((size, size), device="cuda") * MAX_SAMPLE

    def gray_picture(self, size):
        return self.module.randint(0, 256, (size, size), dtype=self.module.uint8, device="cuda")

    def weights(self, side):
        weights = self.module.rand((side, side), device="cuda") * 2 - 1
        return weights / weights.abs().sum()

    def double(self, array):
        return array.double()

    def pad(self, array, margin, mode):
        options = {"mode": "replicate"} if mode == "edge" else {"value": 0.0}
        return self.module.nn.functional.pad(array[None, None], (margin,) * 4, **options)[0, 0]

    def zeros_like(self, array):
        return self.module.zeros_like(array)


class Cupy:
    """What the measurements need of CuPy."""

    def __init__(self):
        import cupy
        import cupyx.scipy.ndimage
        import cupyx.scipy.signal

        self.module = cupy
        self.ndimage = cupyx.scipy.ndimage
        self.signal = cupyx.scipy.signal
        if cupy.cuda.runtime.getDeviceCount() < 1:
            raise ImportError("it sees no GPU")
        cupy.random.seed(1)
        self.spin = cupy.RawKernel(
            'extern "C" __global__ void spin(long long cycles)'
            "{ long long start = clock64(); while (clock64() - start < cycles) { } }",
            "spin",
        )

    def version(self):
        return self.module.__version__

    def event(self):
        return self.module.cuda.Event()

    def microseconds(self, start, stop):
        return 1e3 * self.module.cuda.get_elapsed_time(start, stop)

    def hold(self):
        self.spin((1,), (1,), (self.module.int64(HOLD_CYCLES),))

    def synchronize(self):
        self.module.cuda.Device().synchronize()

    def float_picture(self, size):
        return self.module.random.random((size, size), dtype=self.module.float32) * self.module.float32(
            MAX_SAMPLE
        )

    def weights(self, side):
        weights = self.module.random.random((side, side), dtype=self.module.float32) * 2 - 1
        return weights / abs(weights).sum()

    def double(self, array):
        return array.astype(self.module.float64)

    def pad(self, array, margin, mode):
        return self.module.pad(array, margin, mode=mode)

    def zeros_like(self, array):
        return self.module.zeros_like(array)


def correlate(library, picture, weights, mode="constant"):
    """Textbook correlation in float64, as a sum of shifted pictures."""
    rows, columns = picture.shape
    side = len(weights)
    padded = library.pad(library.double(picture), side // 2, mode)
    total = library.zeros_like(library.double(picture))
    for j in range(side):
        for i in range(side):
            total += float(weights[j][i]) * padded[j : j + rows, i : i + columns]
    return total


def float_error(library, picture, weights, result):
    reference = correlate(library, picture, weights)
    return float(abs(library.double(result) - reference).max())


def float_tolerance(side, size):
    """The bound of rule 4; cuDNN may choose an FFT, which has its own term."""
    return 4 * (side * side + 32 * 2 * math.log2(size)) * MAX_SAMPLE / 2**24


def edges_error(library, picture, result):
    """Of the pixels on the wrong side of the threshold, the greatest distance from it, in levels."""
    gauss = [[a * b for a in GAUSS_LINE] for b in GAUSS_LINE]
    smooth = correlate(library, picture, gauss, "edge")
    response = abs(correlate(library, smooth, LAPLACE, "edge"))
    wrong = (response > THRESHOLD * GAUSS_DIVISOR) != (result != 0)
    distance = abs(response - THRESHOLD * GAUSS_DIVISOR) / GAUSS_DIVISOR
    return max(float((distance * wrong).max()), 1e-300 if bool(wrong.any()) else 0.0)


def time_batch(library, work, inputs, outputs, first, count):
    pairs = []
    library.hold()
    for i in range(first, first + count):
        start, stop = library.event(), library.event()
        start.record()
        outputs[i % len(inputs)] = work(inputs[i % len(inputs)])
        stop.record()
        pairs.append((start, stop))
    library.synchronize()
    return [library.microseconds(start, stop) for start, stop in pairs]


def time_work(library, work, inputs, seconds):
    """Median microseconds of a launch; results are kept, so that they rotate as the inputs do."""
    outputs = [None] * len(inputs)
    done = len(inputs) + 1
    warm = time_batch(library, work, inputs, outputs, 0, done)
    count = 1 if warm[-1] > SLOW else BATCH
    times = []
    end = time.monotonic() + seconds
    while len(times) < 3 or time.monotonic() < end:
        times += time_batch(library, work, inputs, outputs, done, count)
        done += count
    return statistics.median(times)


class Table:
    """Prints rows, and appends them to a CSV file if there is one."""

    def __init__(self, path, size, seconds):
        self.size = size
        self.seconds = seconds
        self.copy = {}
        self.csv = open(path, "a", encoding="utf-8") if path else None
        if self.csv and os.path.getsize(path) == 0:
            print(HEADER, file=self.csv)
        print(f"\n{'group':9} {'name':42} {'filter':>7} {'us':>10} {'GFLOP/s':>9} {'x copy':>8} max error")

    def measure(self, library, group, name, side, inputs, work, error, tolerance, pool):
        """Checks work's result for the first input, then times it. pool names the kind of picture;
        a row of the group floors is its copy, the unit of the ratio."""
        label = f"{group:9} {name:42} {f'{side}x{side}' if side else '-':>7}"
        try:
            max_error = error(work(inputs[0]))
            if not max_error <= tolerance:
                print(f"{label} WRONG: max error {max_error:.3g}, allowed {tolerance:.3g}", flush=True)
                self.row(group, name, side, None, None, None, max_error)
                return
            us = time_work(library, work, inputs, self.seconds)
        except Exception as failure:  # a peer that cannot do the job must not end the others
            print(f"{label} failed: {failure}", flush=True)
            return
        if group == "floors":
            self.copy[pool] = min(us, self.copy.get(pool, us))
        ratio = us / self.copy[pool] if pool in self.copy else None
        gflops = 2e-3 * side * side * self.size**2 / us if side else None
        rate = f"{gflops:9.0f}" if gflops else f"{'-':>9}"
        times = f"{ratio:8.3f}" if ratio else f"{'-':>8}"
        print(f"{label} {us:10.2f} {rate} {times} {max_error:.3g}", flush=True)
        self.row(group, name, side, us, gflops, ratio, max_error)

    def row(self, group, name, side, us, gflops, ratio, max_error):
        if self.csv:
            figures = ["" if value is None else f"{value:.6g}" for value in (us, gflops, ratio)]
            print(group, name, side, side, *figures, f"{max_error:.6g}", sep=",", file=self.csv)

    def close(self):
        if self.csv:
            self.csv.close()


def pictures(make, size, pixel_bytes):
    """As many as gconv_peers has."""
    count = max(4, math.ceil((640 << 20) / (2 * pixel_bytes * size * size)))
    return [make(size) for _ in range(count)]


def measure_torch_float(table, library):
    torch = library.module
    inputs = pictures(library.float_picture, table.size, 4)
    table.measure(library, "floors", "copy float32 by torch clone", 0, inputs, lambda x: x.clone(),
                  lambda y: float((y != inputs[0]).sum()), 0, "float")
    for side in SIDES:
        weights = library.weights(side)
        rows = weights.tolist()
        table.measure(library, "float", "cuDNN by torch conv2d", side, inputs,
                      lambda x: torch.nn.functional.conv2d(x[None, None], weights[None, None],
                                                           padding=side // 2)[0, 0],
                      lambda y: float_error(library, inputs[0], rows, y),
                      float_tolerance(side, table.size), "float")


def edges_by_conv(torch):
    """Gauss, Laplace and threshold as two convolutions with undivided weights."""
    line = torch.tensor(GAUSS_LINE, dtype=torch.float32, device="cuda")
    gauss = torch.outer(line, line)[None, None]
    laplace = torch.tensor(LAPLACE, dtype=torch.float32, device="cuda")[None, None]
    pad, conv = torch.nn.functional.pad, torch.nn.functional.conv2d

    def chain(x):
        smooth = conv(pad(x.float()[None, None], (2,) * 4, mode="replicate"), gauss)
        response = conv(pad(smooth, (1,) * 4, mode="replicate"), laplace)
        return (response.abs() > THRESHOLD * GAUSS_DIVISOR)[0, 0]

    return chain


def edges_by_shifts(torch):
    """The same as sums of shifted pictures, which a compiler can fuse."""

    def pad(x, margin):
        return torch.nn.functional.pad(x[None, None], (margin,) * 4, mode="replicate")[0, 0]

    def chain(x):
        rows, columns = x.shape
        wide = pad(x.float(), 2)
        lines = sum(w * wide[:, i : i + columns] for i, w in enumerate(GAUSS_LINE))
        smooth = pad(sum(w * lines[j : j + rows] for j, w in enumerate(GAUSS_LINE)), 1)
        response = (smooth[:-2, 1:-1] + smooth[2:, 1:-1] + smooth[1:-1, :-2] + smooth[1:-1, 2:]
                    - 4 * smooth[1:-1, 1:-1])
        return response.abs() > THRESHOLD * GAUSS_DIVISOR

    return chain


def measure_torch_edges(table, library):
    torch = library.module
    inputs = pictures(library.gray_picture, table.size, 1)
    table.measure(library, "floors", "copy 8-bit by torch clone", 0, inputs, lambda x: x.clone(),
                  lambda y: float((y != inputs[0]).sum()), 0, "gray")
    chains = (
        ("torch conv2d", edges_by_conv(torch)),
        ("torch.compile conv2d", torch.compile(edges_by_conv(torch))),
        ("torch shifted sums", edges_by_shifts(torch)),
        ("torch.compile shifted sums", torch.compile(edges_by_shifts(torch))),
    )
    for name, chain in chains:
        table.measure(library, "edges", name, 0, inputs, chain,
                      lambda y: edges_error(library, inputs[0], y), 0.01, "gray")


def measure_cupy(table, library):
    inputs = pictures(library.float_picture, table.size, 4)
    table.measure(library, "floors", "copy float32 by cupy copy", 0, inputs, lambda x: x.copy(),
                  lambda y: float((y != inputs[0]).sum()), 0, "float")
    for side in CUPY_SIDES:
        weights = library.weights(side)
        rows = weights[::-1, ::-1].tolist()
        functions = (
            ("CuPy ndimage.convolve", lambda x: library.ndimage.convolve(x, weights, mode="constant")),
            ("CuPy signal.convolve2d", lambda x: library.signal.convolve2d(x, weights, mode="same")),
        )
        for name, work in functions:
            table.measure(library, "float", name, side, inputs, work,
                          lambda y: float_error(library, inputs[0], rows, y),
                          float_tolerance(side, table.size), "float")


def load(kind):
    """The library, or None and a line that says why."""
    name = kind.__name__.lower()
    try:
        library = kind()
    except Exception as reason:  # a broken installation raises anything
        print(f"# {name}: not usable here: {reason}")
        return None
    print(f"# {name}: {library.version()}")
    return library


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=4096, help="pixels a side")
    parser.add_argument("--seconds", type=float, default=0.2, help="how long each time is taken")
    parser.add_argument("--csv", help="append the rows to this file")
    options = parser.parse_args()
    torch, cupy = load(Torch), load(Cupy)
    table = Table(options.csv, options.size, options.seconds)
    if torch:
        measure_torch_float(table, torch)
        measure_torch_edges(table, torch)
        torch.module.cuda.empty_cache()
    if cupy:
        measure_cupy(table, cupy)
    table.close()


if __name__ == "__main__":
    main()
