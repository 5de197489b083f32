"""Processor time of a call beside scipy and OpenCV, on one processor, as the table of docs/python.md.

    LD_LIBRARY_PATH=build PYTHONPATH=python python3 python/tests/times.py [SIDE...]

Medians of 31 rounds in microseconds; in each round every one has its turn. The first column is
gconv_plan_run_memory, called by ctypes, with the plan that the function takes.
"""
import os
import statistics
import sys
import time

import cv2
import numpy
import scipy
from scipy import ndimage

import gconv
from gconv._library import library

ROUNDS = 31
RANDOM = numpy.random.default_rng(5)


def microseconds(call, times):
    begin = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - begin) / times * 1e6


def of_library(image, chosen):
    """A call of the library alone."""
    plan = gconv.Plan(image.shape, image.dtype, [chosen], correlate=True)
    out = numpy.empty_like(image)
    row, source, place, error = image.strides[0], image.ctypes.data, out.ctypes.data, plan._error_here
    keep = plan, image, out
    return lambda kept=keep: library.gconv_plan_run_memory(plan._plan, source, row, place, row, None,
                                                           error)


def cases(image):
    weights = RANDOM.random((5, 5))
    yield "Gaussian 9x9", [
        of_library(image, gconv.Filter("gaussian:1,9")), lambda: gconv.gaussian_filter(image, 1),
        lambda: ndimage.gaussian_filter(image, 1), lambda: cv2.GaussianBlur(image, (9, 9), 1)]
    yield "5x5, not separable", [
        of_library(image, gconv.Filter.weights(weights)), lambda: gconv.correlate(image, weights),
        lambda: ndimage.correlate(image, weights), lambda: cv2.filter2D(image, -1, weights)]


def print_times(side):
    image = RANDOM.integers(0, 256, (side, side), dtype=numpy.uint8)
    for name, calls in cases(image):
        often = [max(1, int(20000 / (1 + microseconds(call, 3)))) for call in calls]
        rounds = [[microseconds(call, times) for call, times in zip(calls, often)]
                  for _ in range(ROUNDS)]
        print(f"| {name} | {side} | " + " | ".join(
            f"{statistics.median(column):.1f}" for column in zip(*rounds)) + " |", flush=True)


os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
cv2.setNumThreads(1)
print(f"Python {sys.version.split()[0]}, numpy {numpy.__version__}, SciPy {scipy.__version__}, "
      f"OpenCV {cv2.__version__}, gconv {gconv.__version__}")
print("| filter | side | the library | gconv | scipy | OpenCV |\n|---|---|---|---|---|---|")
for _side in [int(text) for text in sys.argv[1:]] or [8, 64, 512]:
    print_times(_side)
